#!/usr/bin/env python3
"""Tests examples/recorder: its rules with a clock of our own, and runs of two real processes, whose
clocks are our own, too: what they record does not depend on how busy the machine is.

The runs are diagnosed with the built mfu (MFU_BIN); without it that part is skipped, and said so.
"""

import json
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "examples" / "recorder"))

from mfu_recorder import Recorder, RecorderError  # noqa: E402

STEPS = 24
FAST, SLOW, TRANSFER, INPUT = 0.018, 0.033, 0.003, 0.002
HANG = 600  # seconds; nothing takes that long


class Clock:
    """Time passes only when it is told to."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now

    def run(self, seconds):
        self.now += seconds


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="mfu-recorder-")
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "r0.jsonl"
        self.clock = Clock()

    def recorder(self, **more):
        recorder = Recorder(self.path, **{"rank": 0, "clock": self.clock, **more})
        self.addCleanup(recorder.close)
        return recorder

    def lines(self):
        text = self.path.read_text()
        self.assertTrue(text.endswith("\n"))
        return [json.loads(line) for line in text.splitlines()]


class Buckets(Case):
    def test_header_rank_and_one_line_a_step(self):
        rec = self.recorder(rank=3, node="n0", gpu=1, coords={"dp": 3},
                            header={"parallelism": {"dp": 4}})
        for n in (100, 101):
            with rec.step(n):
                with rec.compute():
                    self.clock.run(0.8)
                with rec.comm():
                    self.clock.run(0.15)
                with rec.stall():
                    self.clock.run(0.05)
        self.assertEqual(self.lines(), [
            {"schema": "mfu.run/1", "parallelism": {"dp": 4}},
            {"rank": 3, "node": "n0", "gpu": 1, "coords": {"dp": 3}},
            {"rank": 3, "step": 100, "compute": 0.8, "comm": 0.15, "stall": 0.05},
            {"rank": 3, "step": 101, "compute": 0.8, "comm": 0.15, "stall": 0.05}])

    def test_stall_is_the_rest_of_the_step(self):
        rec = self.recorder()
        with rec.step(0):
            self.clock.run(0.25)
            with rec.compute():
                self.clock.run(1)
            with rec.stall():
                self.clock.run(0.5)
            with rec.compute():
                self.clock.run(2)
            self.clock.run(0.125)
        self.assertEqual(self.lines()[-1],
                         {"rank": 0, "step": 0, "compute": 3.0, "comm": 0.0, "stall": 0.875})

    def test_methods_do_the_same(self):
        rec = self.recorder()
        rec.begin_step(7)
        rec.start("compute")
        self.clock.run(1)
        rec.stop()
        rec.start("comm")
        self.clock.run(0.5)
        rec.stop()
        rec.end_step()
        self.assertEqual(self.lines()[-1],
                         {"rank": 0, "step": 7, "compute": 1.0, "comm": 0.5, "stall": 0.0})

    def test_forward_and_backward_are_parts_of_compute(self):
        rec = self.recorder()
        with rec.step(0):
            with rec.forward():
                self.clock.run(1)
            with rec.backward():
                self.clock.run(2)
            with rec.compute():
                self.clock.run(0.5)
        self.assertEqual(self.lines()[-1], {"rank": 0, "step": 0, "compute": 3.5, "comm": 0.0,
                                            "stall": 0.0, "forward": 1.0, "backward": 2.0})

    def test_groups_sum_to_comm(self):
        rec = self.recorder(groups=["tp", "dp"])
        with rec.step(0):
            with rec.comm("dp"):
                self.clock.run(0.25)
            with rec.comm("dp"):
                self.clock.run(0.25)
            with rec.comm("world"):
                self.clock.run(0.125)
        sample = self.lines()[-1]
        self.assertEqual(sample["comm_by_group"], {"tp": 0.0, "dp": 0.5, "world": 0.125})
        self.assertEqual(sample["comm"], sum(sample["comm_by_group"].values()))
        rec.begin_step(1)
        rec.start("comm", "dp")
        rec.stop()
        with self.assertRaisesRegex(RecorderError, "sum to comm"):
            rec.start("comm")

    def test_wait_only_when_it_is_separate(self):
        rec = self.recorder(header={"waits_in": "separate"})
        with rec.step(0):
            with rec.wait():
                self.clock.run(0.5)
            with rec.comm():
                self.clock.run(0.25)
        self.assertEqual(self.lines()[-1], {"rank": 0, "step": 0, "compute": 0.0, "comm": 0.25,
                                            "stall": 0.0, "wait": 0.5})
        self.path.unlink()
        rec = self.recorder()
        with self.assertRaisesRegex(RecorderError, "waits_in"):
            with rec.step(0):
                with rec.wait():
                    pass

    def test_overlap_is_an_error(self):
        rec = self.recorder()
        with self.assertRaisesRegex(RecorderError, "'comm' begins while 'compute' is open"):
            with rec.step(0):
                with rec.compute():
                    with rec.comm():
                        pass
        rec.begin_step(1)
        rec.start("compute")
        with self.assertRaisesRegex(RecorderError, "step 1 ends while 'compute' is open"):
            rec.end_step()
        with self.assertRaisesRegex(RecorderError, "step 2 begins while step 1 is open"):
            rec.begin_step(2)

    def test_misuse_is_an_error(self):
        rec = self.recorder()
        for wrong in (lambda: rec.start("compute"), rec.stop, rec.end_step,
                      lambda: rec.begin_step(-1), lambda: rec.begin_step(1.5),
                      lambda: rec.begin_step(True), lambda: rec.begin_step("3"),
                      lambda: rec.write(0, -1, 0, 0), lambda: rec.write(0, float("nan"), 0, 0),
                      lambda: rec.write(0, 1, 0, 0, wait=1)):
            with self.assertRaises(RecorderError):
                wrong()
        rec.begin_step(0)
        with self.assertRaisesRegex(RecorderError, "no bucket is called 'computee'"):
            rec.start("computee")
        for header in ({"steps": []}, {"ranks": []}, {"time_unit": "ms"}, {"schema": "mfu.run/2"}):
            with self.assertRaises(RecorderError):
                Recorder(self.path.with_name("other"), rank=0, header=header)

    def test_a_step_that_fails_is_not_written(self):
        rec = self.recorder()
        with self.assertRaises(ZeroDivisionError):
            with rec.step(0):
                with rec.compute():
                    self.clock.run(1)
                    raise ZeroDivisionError
        self.assertEqual(len(self.lines()), 2)
        with rec.step(0):
            self.clock.run(1)
        self.assertEqual(self.lines()[-1]["stall"], 1.0)

    def test_times_from_elsewhere(self):
        rec = self.recorder(groups=["dp"])
        rec.write(5, 0.8, 0.1, 0.05, forward=0.3, backward=0.5, comm_by_group={"dp": 0.1})
        self.assertEqual(self.lines()[-1], {
            "rank": 0, "step": 5, "compute": 0.8, "comm": 0.1, "stall": 0.05, "forward": 0.3,
            "backward": 0.5, "comm_by_group": {"dp": 0.1}})


class Files(Case):
    def record(self, *steps, **more):
        with self.recorder(**more) as rec:
            for n in steps:
                with rec.step(n):
                    self.clock.run(1)

    def test_a_restart_continues_the_file(self):
        self.record(0, 1, 2, node="n0", header={"waits_in": "comm"})
        self.record(2, 3, node="n0", header={"waits_in": "comm"})
        lines = self.lines()
        self.assertEqual(sum("schema" in line for line in lines), 1)
        self.assertEqual([line["step"] for line in lines[2:]], [0, 1, 2, 2, 3])

    def test_a_cut_line_is_removed(self):
        self.record(0, 1, 2)
        whole = self.path.read_bytes()
        ends = [i + 1 for i, byte in enumerate(whole) if byte == ord("\n")]
        for cut in range(len(whole)):
            self.path.write_bytes(whole[:cut])
            self.record(9)
            lines = self.lines()
            kept = sum(end <= cut for end in ends)
            self.assertEqual(len(lines), max(kept, 2) + 1, cut)
            self.assertEqual(lines[0]["schema"], "mfu.run/1")
            self.assertEqual(lines[1], {"rank": 0})
            self.assertEqual(lines[-1]["step"], 9)

    def test_a_long_cut_line_is_removed(self):
        self.record(0)
        whole = self.path.read_bytes()
        self.path.write_bytes(whole + b"x" * 200000)
        self.record()
        self.assertEqual(self.path.read_bytes(), whole)

    def test_another_header_rank_or_node_is_refused(self):
        self.record(0, node="n0", header={"workload": {"seq_len": 8}})
        for more, key in (({"node": "n0"}, "workload"),
                          ({"node": "n1", "header": {"workload": {"seq_len": 8}}}, "node"),
                          ({"node": "n0", "rank": 1, "header": {"workload": {"seq_len": 8}}},
                           "rank")):
            with self.assertRaisesRegex(RecorderError, key + " was"):
                self.record(1, **more)
        self.assertEqual(len(self.lines()), 3)

    def test_a_file_of_something_else_is_left_alone(self):
        self.path.write_text("hello\nworld\n")
        with self.assertRaisesRegex(RecorderError, "not from this recorder"):
            self.recorder()
        self.assertEqual(self.path.read_text(), "hello\nworld\n")

    def test_one_writer(self):
        self.record()
        rec = self.recorder()
        with self.assertRaisesRegex(RecorderError, "another process"):
            Recorder(self.path, rank=0)
        rec.close()
        self.record(0)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_a_full_disk_does_not_stop_the_job(self):
        rec = self.recorder()
        real, rec._file = rec._file, os.open("/dev/full", os.O_RDWR)
        try:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                for n in range(3):
                    with rec.step(n):
                        self.clock.run(1)
        finally:
            os.close(rec._file)
            rec._file = real
        self.assertEqual(rec.lost, 3)
        self.assertEqual(len(said), 1)


def train(rank, path, barrier, times, steps, die_after=None):
    """A rank; `times` holds when each one came to the collective, by its own clock."""
    clock = Clock()
    with Recorder(path, rank=rank, node="local", gpu=rank, coords={"dp": rank}, clock=clock,
                  header={"job": {"name": "two processes"}, "parallelism": {"dp": 2},
                          "waits_in": "comm"}) as rec:
        for n in steps:
            wiggle = 1 + 0.01 * ((7 * rank + 3 * n) % 5)
            with rec.step(n):
                clock.run(INPUT)
                with rec.compute():
                    clock.run((SLOW if rank == 1 else FAST) * wiggle)
                with rec.comm():
                    times[rank] = clock.now
                    barrier.wait(HANG)  # a collective: nobody leaves before the last one comes
                    clock.now = max(times)
                    barrier.wait(HANG)  # and nobody comes again before all have seen that
                    clock.run(TRANSFER)
            if n == die_after:
                os.kill(os.getpid(), signal.SIGKILL)


def two_processes(folder, steps, die_after=None):
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(2)
    times = context.Array("d", 2, lock=False)
    paths = [folder / f"r{rank}.jsonl" for rank in range(2)]
    ranks = [context.Process(target=train,
                             args=(rank, paths[rank], barrier, times, steps, die_after))
             for rank in range(2)]
    for process in ranks:
        process.start()
    for process in ranks:
        process.join(HANG)
    return paths, [process.exitcode for process in ranks]


class RealClock(Case):
    def test_the_clock_that_nobody_gives_is_one_of_seconds(self):
        rec = Recorder(self.path, rank=0)
        self.addCleanup(rec.close)
        before = time.perf_counter()
        with rec.step(0):
            with rec.compute():
                began = time.perf_counter()
                while time.perf_counter() < began + 0.001:
                    pass
        passed = time.perf_counter() - before
        sample = self.lines()[-1]
        self.assertGreaterEqual(sample["compute"], 0.001)
        self.assertLessEqual(sample["compute"] + sample["stall"], passed)


class RealRun(unittest.TestCase):
    def diagnose(self, paths):
        binary = os.environ.get("MFU_BIN")
        if not binary:
            self.skipTest("MFU_BIN is not set")
        done = subprocess.run([binary, "diagnose", *map(str, paths), "--json"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        return json.loads(done.stdout)

    def check(self, report):
        headline, verdict = report["headline"], report["verdict"]
        said = json.dumps(verdict, indent=1)
        self.assertIn(verdict["family"], ("straggler", "imbalance"), said)
        if verdict["family"] == "straggler":
            self.assertEqual(verdict["culprits"]["ranks"], [1], said)
        total = sum(part["seconds"] for part in report["parts"])
        self.assertAlmostEqual(total / headline["step_seconds"], 1.0, delta=1e-9)
        least = INPUT + SLOW + TRANSFER
        self.assertTrue(least <= headline["step_seconds"] <= 1.05 * least, headline)
        print(f"two processes: {verdict['family']}, step {headline['step_seconds'] * 1e3:.1f} ms",
              flush=True)

    def test_the_slow_process_is_found(self):
        with tempfile.TemporaryDirectory(prefix="mfu-recorder-") as name:
            paths, codes = two_processes(pathlib.Path(name), range(STEPS))
            self.assertEqual(codes, [0, 0])
            for path in paths:
                self.assertEqual(len(path.read_text().splitlines()), STEPS + 2)
            self.check(self.diagnose(paths))

    def test_a_killed_job_goes_on_in_the_same_files(self):
        with tempfile.TemporaryDirectory(prefix="mfu-recorder-") as name:
            folder = pathlib.Path(name)
            paths, codes = two_processes(folder, range(STEPS), die_after=STEPS // 2)
            self.assertEqual(codes, [-signal.SIGKILL] * 2)
            with open(paths[0], "a") as file:
                file.write('{"rank":0,"st')  # as if it had died while it wrote
            paths, codes = two_processes(folder, range(STEPS // 2 - 2, STEPS))
            self.assertEqual(codes, [0, 0])
            report = self.diagnose(paths)
            self.check(report)
            # Three steps came twice on each rank; the reader says so.
            self.assertTrue(report["notes"], "repeated steps are worth a note")


if __name__ == "__main__":
    unittest.main()
