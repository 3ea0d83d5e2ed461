#!/usr/bin/env python3
"""Published pipeline timelines against their published analysis; runs where the shared corpus is."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

MFU = os.environ["MFU_BIN"]
SHARED = pathlib.Path(os.environ.get("MFU_SHARED_DIR", "/nonexistent")) / "corpus"
STRAGGLER = SHARED / "straggler"


def report(path):
    done = subprocess.run([MFU, "diagnose", "--json", str(path)], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


class Timelines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.reports = {name: report(STRAGGLER / f"bytedance_timeline-{name}.json.gz")
                       for name in ("AR", "ST")}

    def near(self, value, wanted, within):
        self.assertLessEqual(abs(value / wanted - 1), within, (value, wanted))

    def test_family_and_culprit(self):
        verdict = self.reports["AR"]["verdict"]
        self.assertEqual((verdict["family"], verdict["culprits"]["ranks"], verdict["persistence"]),
                         ("straggler", [0], "steady"))
        verdict = self.reports["ST"]["verdict"]
        self.assertEqual((verdict["family"], verdict["culprits"]["stages"], verdict["cause"]),
                         ("imbalance", [3], "stage-partition"))

    def test_slowdown_against_the_ideal(self):
        self.near(self.reports["AR"]["replay"]["slowdown"], 1.973, 0.03)
        self.near(self.reports["ST"]["replay"]["slowdown"], 1.179, 0.03)

    def test_one_worker_at_its_peers_median(self):
        replay = self.reports["AR"]["replay"]
        self.assertEqual(replay["worst_rank"], 0)
        self.near(replay["worst_rank_at_peers_step_seconds"], 22.90, 0.03)

    def test_even_stages(self):
        self.near(self.reports["ST"]["replay"]["balanced_stages_step_seconds"], 1.872, 0.03)

    def test_parts_of_the_published_analysis(self):
        for name in ("AR", "ST"):
            published = json.loads((STRAGGLER / f"bytedance_result-{name}.json").read_text())
            replay = self.reports[name]["replay"]
            for ours, theirs in (("slowdown_by_dp", "blocking_decompose_by_dp_rank"),
                                 ("slowdown_by_stage", "blocking_decompose_by_stage"),
                                 ("slowdown_by_op_type", "blocking_decompose_by_optype")):
                for part, wanted in published[theirs].items():
                    if part not in replay[ours]:
                        continue  # sends and receives have one name there
                    with self.subTest(run=name, part=part):
                        self.near(replay[ours][part], wanted, 0.04)

    def test_columns_of_the_tables(self):
        """The published tables were made of the same events: compute and transfer agree."""
        for name in ("AR", "ST"):
            table = report(SHARED / "run" / f"bytedance-{name}-waits-separate.json")
            ours = self.reports[name]
            self.near(ours["headline"]["step_seconds"], table["headline"]["step_seconds"], 1e-4)
            self.near(ours["verdict"]["recoverable"]["step_seconds"],
                      table["verdict"]["recoverable"]["step_seconds"], 0.01)

    def test_a_reduced_timeline_gives_the_same_report(self):
        with tempfile.TemporaryDirectory() as folder:
            reduced = os.path.join(folder, "run.json")
            subprocess.run([MFU, "reduce", str(STRAGGLER / "bytedance_timeline-ST.json.gz"), "-o",
                            reduced], check=True, stdout=subprocess.DEVNULL)
            again = report(reduced)
            again.pop("inputs")
            first = dict(self.reports["ST"])
            first.pop("inputs")
            self.assertEqual(first, again)


if __name__ == "__main__":
    if not STRAGGLER.is_dir():
        print("skipped: the shared corpus is not here")
        sys.exit(77)
    sys.exit(unittest.main())
