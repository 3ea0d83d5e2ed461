#!/usr/bin/env python3
"""Which traces are of one capture of one job: joined, or set aside and named."""

import json
import unittest

from driven import Cli
from made_traces import STEP_US, make_trace

DAY_US = 86_400_000_000


def another_time(trace, shift_us=-DAY_US):
    """The same rank's trace of another day: its steps are a little longer or shorter each."""
    for event in trace["traceEvents"]:
        step = event["ts"] // STEP_US
        event["ts"] += shift_us + 700 * ((5 * step) % 4)
    return trace


def only_host(trace):
    trace["traceEvents"] = [event for event in trace["traceEvents"]
                            if event["name"].startswith("ProfilerStep")]
    return trace


class Captures(Cli):
    def traces(self, folder, traces):
        """rankN.json of a dictionary, rank to trace; the folder."""
        place = self.folder / folder
        place.mkdir(parents=True, exist_ok=True)
        for rank, trace in traces.items():
            (place / f"rank{rank}_trace.json").write_text(json.dumps(trace))
        return str(place)

    def job(self, **changed):
        """Eight ranks, twelve steps; `changed`: r3=function of that rank's trace."""
        found = {}
        for rank in range(8):
            trace = make_trace(rank, ranks=8, steps=12)
            found[rank] = changed.get(f"r{rank}", lambda same: same)(trace)
        return self.traces("job", found)

    def diagnose(self, *arguments):
        done = self.mfu("diagnose", *arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        answer = json.loads(done.stdout)
        return answer, {note["code"] for note in answer["notes"]}

    def assert_set_aside(self, folder, rank, code):
        answer, codes = self.diagnose(folder)
        self.assertIn(code, codes)
        self.assertEqual(len(answer["trace"]["ranks"]), 7)
        self.assertEqual(answer["setup"]["gpus"], 8)
        self.assertEqual(answer["verdict"]["family"], "inconclusive")
        self.assertIn(f"not rank {rank}", " ".join(answer["verdict"]["evidence"]))
        reduced = str(self.folder / "reduced.json")
        done = self.mfu("reduce", folder, "-o", reduced)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        again, _ = self.diagnose(reduced)
        self.assertEqual(again["verdict"]["family"], "inconclusive")
        self.assertEqual(again["setup"]["gpus"], 8)

    def test_all_of_one_capture(self):
        answer, codes = self.diagnose(self.job())
        self.assertEqual(answer["verdict"]["family"], "stall")  # half of the made step
        self.assertFalse(codes & {"capture-of-another-job", "captures-joined"})

    def test_a_rank_of_another_day(self):
        self.assert_set_aside(self.job(r5=another_time), 5, "capture-of-another-job")

    def test_a_clock_that_is_wrong_is_not_another_day(self):
        def wrong(trace):
            for event in trace["traceEvents"]:
                event["ts"] += DAY_US
            return trace

        answer, codes = self.diagnose(self.job(r5=wrong))
        self.assertNotIn("capture-of-another-job", codes)
        self.assertEqual(answer["verdict"]["family"], "stall")  # half of the made step

    def test_a_rank_of_another_device_and_day(self):
        def other(trace):
            trace["deviceProperties"][0]["name"] = "NVIDIA A100-SXM4-80GB"
            return another_time(trace)

        self.assert_set_aside(self.job(r0=other), 0, "capture-of-another-job")

    def test_a_rank_of_a_smaller_job(self):
        def smaller(trace):
            trace["distributedInfo"]["world_size"] = 4
            return trace

        self.assert_set_aside(self.job(r1=smaller), 1, "capture-of-another-job")

    def test_a_rank_without_gpu_activity(self):
        self.assert_set_aside(self.job(r6=only_host), 6, "no-gpu-activity")

    def test_a_rank_without_anything(self):
        def empty(trace):
            trace["traceEvents"] = []
            return trace

        self.assert_set_aside(self.job(r2=empty), 2, "trace-without-activity")

    def test_without_any_gpu_there_is_nothing_to_compare_with(self):
        everywhere = {f"r{rank}": only_host for rank in range(8)}
        done = self.mfu("diagnose", self.job(**everywhere))
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"no rank has any compute time", done.stderr)

    # -- several captures of one job

    def captures(self, numbers, first_step=lambda number: number, without=()):
        for number in numbers:
            self.traces(f"out/profile_trace/iteration_{number}", {
                rank: make_trace(rank, ranks=4, steps=3, first_step=first_step(number),
                                 shift_us=number * 1_000_000)
                for rank in range(4) if (number, rank) not in without})
        return str(self.folder / "out" / "profile_trace")

    def test_captures_are_joined_as_steps(self):
        folder = self.captures((100, 200, 1000))
        answer, codes = self.diagnose(folder)
        self.assertIn("captures-joined", codes)
        self.assertEqual(answer["steps"]["used"],
                         [100, 101, 102, 200, 201, 202, 1000, 1001, 1002])
        self.assertEqual(answer["verdict"]["family"], "stall")  # half of the made step
        self.write("out/config.json", {"seed": 1})
        above, _ = self.diagnose(str(self.folder / "out"))
        self.assertEqual(above["steps"], answer["steps"])
        one, _ = self.diagnose(folder + "/iteration_200")
        self.assertEqual(one["steps"]["used"], [200, 201, 202])

    def test_step_numbers_that_begin_anew_are_counted_on(self):
        answer, _ = self.diagnose(self.captures((100, 200, 300), first_step=lambda number: 2))
        self.assertEqual(answer["steps"]["used"], list(range(9)))

    def test_steps_that_a_rank_lacks_are_not_compared(self):
        answer, _ = self.diagnose(self.captures((100, 200, 300), without={(200, 3)}))
        self.assertEqual(answer["steps"]["used"], [100, 101, 102, 300, 301, 302])

    def test_folders_that_differ_by_more_than_a_number_are_two_jobs(self):
        for name in ("before", "after"):
            self.traces(f"t/{name}", {0: make_trace(0), 1: make_trace(1)})
        done = self.mfu("diagnose", str(self.folder / "t"))
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"two traces of rank 0", done.stderr)

    # -- what belongs to a step

    def test_a_collective_after_the_last_compute_belongs_to_its_step(self):
        def without_the_end(trace):
            trace["traceEvents"] = [event for event in trace["traceEvents"]
                                    if event["name"] != "adam_kernel"]
            return trace

        changed = {f"r{rank}": without_the_end for rank in range(8)}
        answer, _ = self.diagnose(self.job(**changed))
        parts = {part["id"]: part["seconds"] for part in answer["parts"]}
        self.assertAlmostEqual(parts["unattributed"], 0.0, delta=2e-5)
        self.assertAlmostEqual(parts["exposed_transfer"], 0.00082, delta=4e-5)

    def test_copies_that_are_listed_as_kernels_are_no_compute(self):
        def copies(trace):
            for event in trace["traceEvents"]:
                if event["name"] == "adam_kernel":
                    event["name"] = "dma_request"
            return trace

        changed = {f"r{rank}": copies for rank in range(8)}
        answer, _ = self.diagnose(self.job(**changed))
        parts = {part["id"]: part["seconds"] for part in answer["parts"]}
        self.assertAlmostEqual(parts["compute"], 0.005, delta=1e-5)


if __name__ == "__main__":
    unittest.main()
