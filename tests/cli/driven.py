"""What the command-line tests share: the binary (MFU_BIN), run documents, and how it is called."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from watched import HANG

MFU = os.environ.get("MFU_BIN", "mfu")
# Whole grids, where a usual run takes a part of them.
FULL = bool(os.environ.get("MFU_FULL"))
STEPS = 24
RANKS = 8


def run_document(slow_rank=None, stall=0.02, flops=None, chip=None, steps=STEPS, ranks=RANKS):
    """A data-parallel job in seconds: a rank that computes longer makes the others wait."""
    rows = []
    for rank in range(ranks):
        own = 1.3 if rank == slow_rank else 1.0
        longest = 1.3 if slow_rank is not None else 1.0
        compute, comm, stalls = [], [], []
        for step in range(steps):
            wiggle = 0.001 * ((7 * rank + 3 * step) % 5)
            compute.append(round(own + wiggle, 6))
            comm.append(round(longest + 0.006 - own - wiggle + 0.03, 6))
            stalls.append(stall)
        rows.append({"rank": rank, "node": f"n{rank // 4}", "gpu": rank % 4,
                     "compute": compute, "comm": comm, "stall": stalls})
    document = {"schema": "mfu.run/1", "model": "toy", "waits_in": "comm",
                "parallelism": {"dp": ranks}, "steps": list(range(steps)), "ranks": rows}
    if flops:
        document["workload"] = {"flops_per_step": flops}
        document["convention"] = "palm"
    if chip:
        document["hardware"] = {"chip": chip, "precision": "bf16", "count": ranks}
    return document


# 8 x 312 TFLOP/s for about a second.
HALF_OF_PEAK = 0.5 * 8 * 312e12


class Cli(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, content):
        path = self.folder / name
        if isinstance(content, (dict, list)):
            content = json.dumps(content)
        if isinstance(content, str):
            content = content.encode()
        path.write_bytes(content)
        return str(path)

    def mfu(self, *arguments, stdin=b"", env=None, **options):
        environment = dict(os.environ)
        environment.update(env or {})
        return subprocess.run([MFU, *arguments], input=stdin, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=environment, timeout=HANG, check=False,
                              **options)

    def assert_refused(self, result, *texts):
        message = result.stderr.decode(errors="replace")
        self.assertEqual(result.returncode, 2, message)
        self.assertTrue(message.startswith("mfu: error: "), message)
        for text in texts:
            self.assertIn(text, message)
