#!/usr/bin/env python3
"""A folder or a pattern is taken as people have it (MFU_BIN)."""

import json
import unittest

from driven import Cli, run_document
from made_traces import write_traces


class Folders(Cli):
    def report(self, *arguments):
        result = self.mfu("diagnose", "--json", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return json.loads(result.stdout)

    def folder_of(self, **files):
        folder = self.folder / "job"
        folder.mkdir()
        for name, text in files.items():
            (folder / name.replace("__", ".")).write_text(text)
        return str(folder)

    def test_timing_documents(self):
        folder = self.folder_of(run__json=json.dumps(run_document(slow_rank=3)),
                                notes__txt="to do\n", config__json='{"hidden_size": 64}')
        report = self.report(folder)
        self.assertEqual(report["verdict"]["culprits"]["ranks"], [3])
        left = [note for note in report["notes"] if note["code"] == "other-kind-left-out"]
        self.assertEqual(left[0]["count"], 2)
        self.assertIn("config.json", left[0]["text"])
        self.assertIn("notes.txt", left[0]["text"])

    def test_json_lines_of_ranks(self):
        document = run_document(slow_rank=2)
        header = {key: document[key] for key in document if key not in ("steps", "ranks")}
        files = {}
        for row in document["ranks"]:
            lines = [json.dumps(header)]
            lines += [json.dumps({"rank": row["rank"], "step": step, "compute": row["compute"][i],
                                  "comm": row["comm"][i], "stall": row["stall"][i]})
                      for i, step in enumerate(document["steps"])]
            files[f"rank{row['rank']}__jsonl"] = "\n".join(lines) + "\n"
        folder = self.folder_of(**files)
        self.assertEqual(self.report(folder)["verdict"]["culprits"]["ranks"], [2])
        self.assertEqual(self.report(folder + "/*.jsonl")["verdict"]["culprits"]["ranks"], [2])

    def test_reports_of_a_detector(self):
        lines = "GPU relative performance:\n" + "".join(
            f"  Rank={rank} Node=n0 Score={0.6 if rank == 4 else 0.99}\n" for rank in range(8))
        folder = self.folder_of(detector__log=lines * 3, readme__txt="hello\n")
        for path in (folder, folder + "/*.log"):
            report = self.report(path)
            self.assertEqual(report["verdict"]["family"], "straggler")
            self.assertEqual(report["verdict"]["culprits"]["ranks"], [4])

    def test_traces_come_before_logs(self):
        folder = self.folder / "traces"
        write_traces(folder)
        (folder / "train.log").write_text("step 1 loss 3\n")
        self.assertEqual(len(self.report(str(folder))["trace"]["ranks"]), 4)

    def test_nothing_in_it(self):
        self.assert_refused(self.mfu("diagnose", self.folder_of(a__txt="hello\n")), "trace")


if __name__ == "__main__":
    unittest.main()
