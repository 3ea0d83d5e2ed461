"""Real profiler traces with known facts. Skipped, and said so, where the shared corpus is not."""

import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

BIN = os.environ["MFU_BIN"]
SOURCE = Path(os.environ.get("MFU_SOURCE_DIR", Path(__file__).resolve().parents[2]))
KINETO = Path(os.environ.get("MFU_SHARED_DIR", SOURCE.parent / "shared")) / "corpus" / "kineto"


def run(*arguments):
    return subprocess.run([BIN, *arguments], capture_output=True, check=False)


def report(*paths):
    done = run("diagnose", *map(str, paths), "--json")
    if done.returncode != 0:
        raise AssertionError(done.stderr.decode())
    return json.loads(done.stdout)


class EightRanks(unittest.TestCase):
    """One DLRM step on eight V100s of one host."""

    @classmethod
    def setUpClass(cls):
        cls.document = report(KINETO / "dlrm_8rank")
        cls.screen = run("diagnose", str(KINETO / "dlrm_8rank")).stdout.decode()

    def test_late_arrivers(self):
        trace = self.document["trace"]
        self.assertEqual(trace["pairing"], "paired")
        self.assertEqual([one["last_rank"] for one in trace["list"]], [7] * 5 + [5, 5, 4])
        self.assertAlmostEqual(trace["list"][0]["late_s"], 7.6e-3, delta=0.05e-3)
        tallies = {late["rank"]: late["collectives"] for late in trace["late"]}
        self.assertEqual(tallies, {7: 5, 5: 2, 4: 1})
        self.assertIn("rank 7 is last in 5 of 8 collectives", self.screen)

    def test_ends_agree_to_microseconds(self):
        spreads = [one["end_spread_s"] for one in self.document["trace"]["list"]]
        self.assertLess(max(spreads), 8e-6)
        self.assertIsNone(self.document["trace"]["clock_offset_s"])

    def test_compute_is_balanced_and_long_steps_wait(self):
        seconds = [rank["in_steps"]["compute_s"] for rank in self.document["trace"]["ranks"]]
        self.assertAlmostEqual(min(seconds), 1.03e-3, delta=0.01e-3)
        self.assertAlmostEqual(max(seconds), 1.25e-3, delta=0.01e-3)
        line = next(line for line in self.document["trace"]["summary"]
                    if line.startswith("longest"))
        self.assertRegex(line, r"rank 1 \(")
        self.assertRegex(line, r"waiters?, not the cause")

    def test_no_verdict_from_one_step(self):
        verdict = self.document["verdict"]
        self.assertEqual(verdict["family"], "inconclusive")
        self.assertEqual(verdict["culprits"]["ranks"], [])
        self.assertIn("only 1 usable steps", self.screen)

    def test_reduced_it_is_the_same(self):
        done = run("reduce", str(KINETO / "dlrm_8rank"), "-o", "-")
        again = subprocess.run([BIN, "diagnose", "-"], input=done.stdout, capture_output=True,
                               check=True)
        self.assertEqual(again.stdout.decode(), self.screen)

    def test_one_of_eight(self):
        path = next((KINETO / "dlrm_8rank").glob("worker7_*"))
        done = run("diagnose", str(path)).stdout.decode()
        self.assertIn("one rank of 8", done)
        self.assertNotIn("straggler", done)


class InputBound(unittest.TestCase):
    """The same model with no worker and with four that load its input."""

    def idle(self, name):
        document = report(KINETO / name)
        rank = document["trace"]["ranks"][0]
        screen = run("diagnose", str(KINETO / name)).stdout.decode()
        return (rank["idle_share_of_gpu_span"], rank["idle_share_of_host_windows"],
                re.sub(r"\s+", " ", screen))

    def test_idle_by_both_definitions(self):
        for name, span, windows in (("resnet50_input_bound_num_workers0.json.gz", 39.4, 44.0),
                                    ("resnet50_num_workers4.json.gz", 23.3, 27.6)):
            with self.subTest(name=name):
                of_span, of_windows, screen = self.idle(name)
                self.assertAlmostEqual(100 * of_span, span, delta=0.05)
                self.assertAlmostEqual(100 * of_windows, windows, delta=0.05)
                self.assertIn(f"{span} % of first to last GPU activity", screen)
                self.assertIn(f"{windows} % of the ProfilerStep windows", screen)


if __name__ == "__main__":
    if not KINETO.is_dir():
        print("skipped: the shared corpus is not here")
        sys.exit(77)
    sys.exit(unittest.main())
