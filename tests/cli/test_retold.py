"""The same run, told in another order, unit, container or split, gives the same report."""
import glob
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import retold

BIN = os.environ["MFU_BIN"]
SOURCE = Path(os.environ.get("MFU_SOURCE_DIR", Path(__file__).resolve().parents[2]))
SHARED = Path(os.environ.get("MFU_SHARED_DIR", SOURCE.parent / "shared"))


def diagnose(*arguments):
    done = subprocess.run([BIN, "diagnose", *map(str, arguments)], capture_output=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"exit {done.returncode}: {done.stderr.decode()}")
    return done.stdout.decode()


def report(*arguments):
    document = json.loads(diagnose(*arguments, "--json"))
    del document["inputs"]
    return document


def runs():
    paths = sorted(glob.glob(str(SOURCE / "examples" / "*.json")))
    return paths + sorted(glob.glob(str(SHARED / "corpus" / "run" / "*.json")))


class Retold(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)

    def path(self, name):
        return Path(self.dir.name) / name

    def close(self, a, b, where=""):
        """Equal, numbers within 1e-12 relative."""
        if isinstance(a, dict):
            self.assertEqual(list(a), list(b), where)
            for key in a:
                self.close(a[key], b[key], f"{where}.{key}")
        elif isinstance(a, list):
            self.assertEqual(len(a), len(b), where)
            for index, (x, y) in enumerate(zip(a, b)):
                self.close(x, y, f"{where}[{index}]")
        elif isinstance(a, float) and isinstance(b, (int, float)) and not isinstance(b, bool):
            # A remainder that is zero but for rounding has no relative precision of its own.
            self.assertTrue(math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12), f"{where}: {a} {b}")
        else:
            self.assertEqual(a, b, where)

    def same(self, original, *files):
        self.assertEqual(diagnose(original), diagnose(*files), f"{original} {files}")
        self.close(report(original), report(*files))

    def test_every_way_to_tell_it(self):
        found = runs()
        self.assertGreaterEqual(len(found), 8)
        for original in found:
            run = retold.load(original)
            has_step_series = any("step" in rank for rank in run["ranks"])
            with self.subTest(run=original):
                self.same(original, retold.write(self.path("a.json"), retold.dump(retold.shuffled(run, 3))))
                for unit in ("ms", "us", "ns"):
                    told = retold.in_unit(retold.shuffled(run, 5), unit)
                    self.same(original, retold.write(self.path(f"{unit}.json"), retold.dump(told)))
                told = retold.keys_reversed(retold.in_unit(run, "ms"))
                self.same(original, retold.write(self.path("k.json"), retold.dump(told)))
                self.same(original, retold.write(self.path("a.json.gz"), retold.dump(run), True))
                parts = retold.split(retold.shuffled(run, 7), 3)
                self.same(original, *[retold.write(self.path(f"p{i}.json"), retold.dump(part))
                                      for i, part in enumerate(parts)])
                if has_step_series:
                    continue  # a JSON Lines sample has no name for a wall time of its own
                self.same(original, retold.write(self.path("a.jsonl"), retold.json_lines(run, 11)))
                parts = retold.split(retold.in_unit(run, "us"), 2)
                self.same(original, *[
                    retold.write(self.path(f"p{i}.jsonl.gz"), retold.json_lines(part, i), True)
                    for i, part in enumerate(parts)])

    @staticmethod
    def parts(document):
        """Seconds of each part; the math at peak takes what it takes, so it counts with the kernels."""
        parts = [(part["id"], part["seconds"]) for part in document["parts"]]
        compute = sum(t for name, t in parts if name in ("model_math", "kernels_below_peak", "compute"))
        return [compute] + [t for name, t in parts if name not in ("model_math", "kernels_below_peak", "compute")]

    def test_all_times_longer(self):
        for original in runs():
            run = retold.load(original)
            before = report(original)
            for factor in (Decimal(2), Decimal("0.37")):
                told = retold.write(self.path("x.json"), retold.dump(retold.scaled(run, factor)))
                after = report(told)
                k = float(factor)
                for a, b in zip(self.parts(before), self.parts(after)):
                    self.assertTrue(math.isclose(a * k, b, rel_tol=1e-9, abs_tol=1e-9), (original, a, b))
                if before["headline"]["mfu"] is not None:
                    self.assertTrue(math.isclose(before["headline"]["mfu"] / k, after["headline"]["mfu"], rel_tol=1e-9))
                    continue  # another MFU can be another verdict
                for key in ("family", "locality", "culprits", "persistence", "cause"):
                    self.assertEqual(before["verdict"][key], after["verdict"][key])


if __name__ == "__main__":
    if not (SHARED / "corpus" / "run").is_dir():
        print(f"skipped for the real runs: no {SHARED / 'corpus' / 'run'}")
    unittest.main()
