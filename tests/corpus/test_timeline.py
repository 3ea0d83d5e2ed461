#!/usr/bin/env python3
"""Published pipeline timelines against their published analysis; runs where the shared corpus is."""

import gzip
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

    def published(self, name):
        return json.loads((STRAGGLER / f"bytedance_result-{name}.json").read_text())

    def test_slowdown_against_the_ideal(self):
        for name, rounded in (("AR", 1.973), ("ST", 1.179)):
            replay = self.reports[name]["replay"]
            published = self.published(name)
            self.near(replay["slowdown"], rounded, 0.003)
            self.near(replay["slowdown"], published["blocking_slowdown"], 0.003)
            self.near(replay["launch_slowdown"], published["launch_slowdown"], 0.003)

    def test_length_of_each_replay(self):
        """Not their ratio alone: what is recorded, replayed and ideal is the published one."""
        for name in ("AR", "ST"):
            replay = self.reports[name]["replay"]
            published = self.published(name)
            for ours, theirs in (("recorded_step_seconds", "step_t_base"),
                                 ("replayed_step_seconds", "step_t_nodelay"),
                                 ("ideal_step_seconds", "step_t_noblk")):
                with self.subTest(run=name, replay=ours):
                    steps = published[theirs].values()
                    self.assertEqual(replay["steps"], len(steps))
                    self.near(replay[ours], sum(steps) / len(steps), 0.003)

    def test_one_worker_at_its_peers_median(self):
        replay = self.reports["AR"]["replay"]
        self.assertEqual(replay["worst_rank"], 0)
        self.near(replay["worst_rank_at_peers_step_seconds"], 22.90, 0.03)

    def test_even_stages(self):
        self.near(self.reports["ST"]["replay"]["balanced_stages_step_seconds"], 1.872, 0.01)

    def test_nobody_waits_for_less_than_a_step(self):
        for name in ("AR", "ST"):
            replay = self.reports[name]["replay"]
            self.assertLess(replay["no_waits_step_seconds"], replay["replayed_step_seconds"])

    def test_every_part_of_the_published_analysis(self):
        for name in ("AR", "ST"):
            published = self.published(name)
            replay = self.reports[name]["replay"]
            for ours, theirs in (("slowdown_by_dp", "blocking_decompose_by_dp_rank"),
                                 ("slowdown_by_stage", "blocking_decompose_by_stage"),
                                 ("slowdown_by_op_type", "blocking_decompose_by_optype")):
                self.assertEqual(sorted(replay[ours]), sorted(published[theirs]))
                for part, wanted in published[theirs].items():
                    with self.subTest(run=name, part=part):
                        self.near(replay[ours][part], wanted, 0.003)

    def test_the_clocks_of_the_recorded_runs_agree(self):
        for name in ("AR", "ST"):
            self.assertEqual([note["code"] for note in self.reports[name]["notes"]
                              if note["code"].startswith("timeline-")], [])

    def test_a_clock_that_is_ahead_is_noticed(self):
        """The same events, one process a quarter of a second ahead: only durations are used."""
        with gzip.open(STRAGGLER / "bytedance_timeline-ST.json.gz") as stream:
            events = json.load(stream)
        for event in events:
            if event["ph"] == "X" and event["pid"] == 1:
                event["ts"] += 250e3
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "ahead.json")
            with open(path, "w", encoding="utf-8") as stream:
                json.dump(events, stream)
            ahead = report(path)
        codes = [note["code"] for note in ahead["notes"]]
        self.assertTrue({"timeline-impossible-order", "timeline-clock-offset"} & set(codes), codes)
        self.assertIsNone(ahead.get("replay"))
        verdict = ahead["verdict"]
        self.assertNotIn(verdict["family"], ("communication", "stall"))

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
