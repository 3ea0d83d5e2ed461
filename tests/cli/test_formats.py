#!/usr/bin/env python3
"""log, diagnose, compare and `mfu FILE` agree on what a file is (MFU_BIN).

Whoever reads it names the format in the report; whoever does not refuses by that name.
"""

import gzip
import json
import unittest

from driven import HALF_OF_PEAK, Cli, run_document
from made_traces import make_trace
from train_log import megatron_log

SCORES = "GPU individual perf scores: {0: 1.0, 1: 0.99}\n"
STEP_LINES = "".join(json.dumps({"step": i, "step_time_ms": 250.5 + i % 3, "tokens": 4096}) + "\n"
                     for i in range(40))
CONFIG = {"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2,
          "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 256}


def json_lines_of(document):
    """The same run with a line for the header and one for each rank and step."""
    header = {key: value for key, value in document.items() if key not in ("steps", "ranks")}
    lines = [json.dumps(header)]
    for row in document["ranks"]:
        for i, step in enumerate(document["steps"]):
            lines.append(json.dumps({"rank": row["rank"], "step": step, "compute": row["compute"][i],
                                     "comm": row["comm"][i], "stall": row["stall"][i]}))
    return "\n".join(lines) + "\n"


class Formats(Cli):
    def commands(self, path):
        return {"log": ["log", path], "diagnose": ["diagnose", path],
                "compare": ["compare", path, path], "file": [path]}

    def check(self, path, called, read_as):
        """`read_as`: by command, the format in the report; the others refuse by `called`."""
        for name, arguments in self.commands(path).items():
            with self.subTest(file=path, command=name):
                result = self.mfu(*arguments, "--json")
                if name in read_as:
                    self.assertEqual(result.returncode, 0, result.stderr.decode())
                    answer = json.loads(result.stdout)
                    self.assertEqual(answer["inputs"][0]["format"], read_as[name])
                else:
                    self.assert_refused(result, called)
                    self.assertIn(called, json.loads(result.stdout)["error"]["message"])

    def run_file(self):
        return run_document(flops=HALF_OF_PEAK, chip="a100-sxm-80gb")

    def test_timing_documents(self):
        run = self.run_file()
        for path, kind in (
                (self.write("run.json", run), "mfu.run/1 json"),
                (self.write("run.json.gz", gzip.compress(json.dumps(run).encode())),
                 "mfu.run/1 json (gzip)"),
                (self.write("bom.json", b"\xef\xbb\xbf" + json.dumps(run).encode()),
                 "mfu.run/1 json"),
                (self.write("run.jsonl", json_lines_of(run)), "mfu.run/1 jsonl")):
            self.check(path, "is a timing document, not a training log",
                       {"diagnose": kind, "compare": kind, "file": kind})

    def test_traces(self):
        path = self.write("rank0.json", make_trace(0, ranks=1))
        self.check(path, "is a profiler trace, not a training log",
                   {"diagnose": "kineto", "compare": "kineto", "file": "kineto"})

    def test_training_logs(self):
        # Nothing rank by rank: diagnose says so, and calls it what the others read it as.
        for path, kind in ((self.write("train.log", megatron_log()), "megatron-lm"),
                           (self.write("steps.jsonl", STEP_LINES), "json-lines"),
                           (self.write("blank.jsonl", "\n\n" + STEP_LINES), "json-lines")):
            self.check(path, "a training log without per-rank values",
                       {"log": kind, "compare": kind, "file": kind})

    def test_values_by_rank(self):
        path = self.write("scores.log", SCORES)
        for arguments in (["diagnose", path], [path]):
            answer = json.loads(self.mfu(*arguments, "--json").stdout)
            self.assertEqual(answer["inputs"][0]["format"], "nvrx")
        self.assert_refused(self.mfu("log", path), "mfu diagnose reads its per-rank values")
        self.assert_refused(self.mfu("compare", path, path), "as far as scores tell")

    def test_saved_reports_and_histories(self):
        log = self.write("train.log", megatron_log())
        report = self.write("report.json",
                            self.mfu("log", log, "--chip", "h100-sxm", "--json").stdout)
        self.check(report, "is a saved report of mfu", {"compare": "mfu.report/1"})
        history = str(self.folder / "history.jsonl")
        added = self.mfu("history", "add", report, "--db", history)
        self.assertEqual(added.returncode, 0, added.stderr)
        self.check(history, "is a history of mfu", {"file": "mfu.history/1"})

    def test_what_no_command_answers_alone(self):
        smi = ("timestamp, index, clocks.sm [MHz]\n" +
               "2026/01/01 00:00:00.000, 0, 1980 MHz\n" * 5)
        self.check(self.write("smi.csv", smi), "is telemetry (nvidia-smi CSV)", {})
        dmon = "# gpu    pwr  gtemp\n# Idx      W      C\n    0    300     60\n"
        self.check(self.write("dmon.txt", dmon), "is telemetry (nvidia-smi dmon)", {})
        chips = {"schema": "mfu.chips/1", "chips": []}
        self.check(self.write("chips.json", chips), "is a table of chips", {})

    def test_a_model_config_is_counted(self):
        path = self.write("config.json", CONFIG)
        answer = json.loads(self.mfu(path, "--seq-len", "512", "--json").stdout)
        self.assertEqual(answer["command"], "flops")
        self.assertEqual(answer["inputs"][0]["format"], "model")
        self.assert_refused(self.mfu(path), "the sequence length is not given")
        for command in ("log", "diagnose"):
            self.assert_refused(self.mfu(command, path), "is a model config")
        self.assert_refused(self.mfu("compare", path, path), "is a model config")

    def test_foreign_bytes(self):
        for name, content, called in (("a.zst", b"\x28\xb5\x2f\xfd....", "is zstd data"),
                                      ("a.xz", b"\xfd7zXZ\x00....", "is xz data"),
                                      ("a.bz2", b"BZh91AY&SY", "is bzip2 data"),
                                      ("a.parquet", b"PAR1....", "is a Parquet file"),
                                      ("a.txt", "step 1".encode("utf-16"), "is UTF-16 text")):
            self.check(self.write(name, content), called, {})

    def test_a_pipe_is_what_the_file_is(self):
        run = json.dumps(self.run_file()).encode()
        self.assert_refused(self.mfu("log", "-", stdin=run),
                            "is a timing document, not a training log")
        steps = STEP_LINES.encode()
        self.assert_refused(self.mfu("diagnose", "-", stdin=steps),
                            "a training log without per-rank values")
        answer = json.loads(self.mfu("log", "-", "--json", stdin=steps).stdout)
        self.assertEqual(answer["inputs"][0]["format"], "json-lines")
        # What is said to be a log is read as one.
        self.assert_refused(self.mfu("log", "-", "--columns", "step_time=dt", stdin=run),
                            "dt")

    def test_a_file_is_no_command_and_a_command_no_file(self):
        self.assert_refused(self.mfu("no-such-file.json"), "unknown command 'no-such-file.json'")
        self.assert_refused(self.mfu("diagnos"), "did you mean 'diagnose'?")
        self.write("plan", "not a plan\n")
        result = self.mfu("plan", cwd=self.folder)
        self.assertNotIn("not a plan", result.stderr.decode())
        # The options of the command go with it.
        path = self.write("run.json", self.run_file())
        gated = self.mfu(path, "--min-mfu", "99%")
        self.assertEqual(gated.returncode, 1, gated.stderr)


if __name__ == "__main__":
    unittest.main()
