"""Profiler traces that are wrong in a way that must be seen: clocks that jump, work whose record was
lost, steps without a length, files of another kind, numbers that no job has."""

import json
import random
import sys
import unittest

from driven import Cli, run_document
from made_traces import STEP_US, make_trace, write_traces


def is_kernel(event, name):
    return event["cat"] == "kernel" and name in event["name"]


class HostileTraces(Cli):
    def write_ranks(self, name, change, ranks=4, **options):
        (self.folder / name).mkdir()
        for rank in range(ranks):
            trace = make_trace(rank, ranks, **options)
            change(rank, trace)
            self.write(f"{name}/rank{rank}.json", trace)
        return str(self.folder / name)

    def report(self, *arguments):
        done = self.mfu("diagnose", "--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return json.loads(done.stdout)

    def codes(self, document):
        return [note["code"] for note in document["notes"]]

    def test_a_clock_that_jumps_makes_nobody_late(self):
        draw = random.Random(5)
        jumps = [draw.uniform(-300, 300) for _ in range(12)]

        def jump(rank, trace):
            if rank != 2:
                return
            for event in trace["traceEvents"]:
                event["ts"] += jumps[min(11, max(0, int((event["ts"] - 1_000) // STEP_US)))]

        trace = self.report(self.write_ranks("jump", jump, steps=12))["trace"]
        # By the clock alone it would be 0.3 ms late; its durations know better.
        for late in trace["late"]:
            self.assertLess(late["late_s"], 60e-6 * late["collectives"])
        late = self.report(self.write_ranks("late", jump, steps=12, late=1))["trace"]
        self.assertEqual(late["late"][0]["rank"], 1)

    def negative(self, every):
        def change(_, trace):
            kernels = [event for event in trace["traceEvents"] if is_kernel(event, "gemm")]
            for event in kernels[::every]:
                event["dur"] = -event["dur"]

        return change

    def test_lost_work_is_no_stall(self):
        folder = self.write_ranks("half", self.negative(2), steps=12)
        document = self.report(folder)
        self.assertEqual(document["verdict"]["family"], "inconclusive")
        self.assertEqual(document["trace"]["ranks"][1]["lost_activities"], 6)
        self.assertEqual(document["trace"]["ranks"][1]["activities"], 60)
        screen = self.mfu("diagnose", folder).stdout.decode()
        self.assertIn("6 of 60 GPU activities of rank 0 could not be read", screen)
        self.assertIn("record the trace again", screen)
        # The reduced document carries it.
        run = str(self.folder / "run.json")
        self.assertEqual(self.mfu("reduce", folder, "-o", run).returncode, 0)
        self.assertEqual(self.mfu("diagnose", run).stdout.decode(), screen)

    def test_little_lost_work_does_not_silence_the_verdict(self):
        def change(rank, trace):
            if rank == 0:
                self.negative(12)(rank, trace)

        document = self.report(self.write_ranks("few", change, steps=12, slow=1,
                                                compute_us=12_000, late_us=3_500))
        self.assertEqual(document["trace"]["ranks"][0]["lost_activities"], 1)
        self.assertEqual(document["verdict"]["family"], "straggler")

    def steps_of_length(self, length, which=lambda number: number % 3 == 1):
        def change(_, trace):
            for event in trace["traceEvents"]:
                if event["name"].startswith("ProfilerStep") and which(
                        int(event["name"].split("#")[1])):
                    event["dur"] = length

        return change

    def test_a_step_without_a_length_ends_where_the_next_begins(self):
        wanted = self.report(self.write_ranks("whole", lambda *_: None, steps=12, slow=1))
        for name, length in (("zero", 0), ("negative", -5)):
            document = self.report(
                self.write_ranks(name, self.steps_of_length(length), steps=12, slow=1))
            self.assertIn("step-without-length", self.codes(document))
            self.assertEqual(document["steps"]["used"], wanted["steps"]["used"])
            self.assertEqual(document["parts"], wanted["parts"])

    def test_a_last_step_without_a_length_is_told(self):
        document = self.report(self.write_ranks(
            "last", self.steps_of_length(0, lambda number: number == 21), steps=12))
        self.assertIn("step-left-out", self.codes(document))

    def test_other_kinds_in_a_folder_are_named(self):
        (self.folder / "t").mkdir()
        timeline = [{"ph": "M", "name": "thread_name", "pid": 0, "tid": 0,
                     "args": {"name": "PP rank 0 compute"}},
                    {"ph": "X", "name": "forward-compute", "pid": 0, "tid": 0, "ts": 0, "dur": 5,
                     "args": {"step": 1, "microbatch": 0}}]
        self.write("t/timeline.json", timeline)
        self.assert_refused(self.mfu("diagnose", str(self.folder / "t")), "a pipeline timeline",
                            "name the file: mfu diagnose", "timeline.json")
        write_traces(self.folder / "u")
        self.write("u/run.json", run_document())
        done = self.mfu("diagnose", str(self.folder / "u"))
        self.assertEqual(done.returncode, 0)
        self.assertIn("run.json", done.stderr.decode())
        self.assertIn("a timing document", done.stderr.decode())

    def test_subgroups_have_their_own_collectives(self):
        def halves(rank, trace):
            for event in trace["traceEvents"]:
                if is_kernel(event, "nccl"):
                    event["args"].update({
                        "Collective name": "allreduce", "Group size": 2,
                        "Process Group Name": str(rank // 2),
                        "Process Group Ranks": str([0, 1] if rank < 2 else [2, 3])})

        trace = self.report(self.write_ranks("halves", halves, steps=12))["trace"]
        self.assertEqual((trace["paired"], trace["collectives"]), (48, 48))

    def test_numbers_that_no_job_has(self):
        for field, value in (("rank", 2**41), ("rank", -1), ("world_size", -1),
                             ("world_size", 2**40)):
            trace = make_trace(0, steps=9)
            trace["distributedInfo"][field] = value
            path = self.write("odd.json", trace)
            traces = self.mfu("diagnose", path)
            self.assertEqual(traces.returncode, 0)
            self.assertIn(str(value), traces.stderr.decode())
            run = str(self.folder / "run.json")
            self.assertEqual(self.mfu("reduce", path, "-o", run).returncode, 0)
            self.assertEqual(self.mfu("diagnose", run).stdout, traces.stdout)
        path = self.write("steps.json", make_trace(0, steps=9, first_step=2**62))
        self.assertEqual(self.mfu("reduce", path, "-o", run).returncode, 0)
        self.assertEqual(self.mfu("diagnose", run).stdout, self.mfu("diagnose", path).stdout)
        trace = make_trace(0, steps=9)
        for event in trace["traceEvents"]:
            if "device" in event["args"] if "args" in event else False:
                event["args"]["device"] = 2**30
        path = self.write("device.json", trace)
        run = str(self.folder / "run.json")
        self.assertEqual(self.mfu("reduce", path, "-o", run).returncode, 0)
        self.assertEqual(self.mfu("diagnose", run).returncode, 0)

    def test_words_that_hold_a_collective_are_none(self):
        def rename(to):
            def change(_, trace):
                for event in trace["traceEvents"]:
                    if is_kernel(event, "gemm"):
                        event["name"] = to

            return change

        wanted = None
        for name in ("gemm_kernel", "batch_compute_scores_kernel", "small_reduce_kernel",
                     "softmax_oneshot_topk_kernel", "graph_compact", "WallGatherKernel"):
            folder = self.write_ranks(name, rename(name), steps=12, slow=2)
            parts = self.report(folder)["parts"]
            wanted = wanted or parts
            self.assertEqual(parts, wanted, name)
        for name in ("fused_all_reduce_kernel", "oneShotAllReduceKernel", "hcom_broadcast_",
                     "two_shot_all_reduce", "vllm::cross_device_reduce_1stage"):
            folder = self.write_ranks(name.replace(":", "_"), rename(name), steps=12, slow=2)
            rank = self.report(folder)["trace"]["ranks"][0]
            self.assertLess(rank["in_steps"]["compute_s"], 0.6 * 12 * 0.005, name)

    def test_a_length_that_ran_below_zero(self):
        for length in (2**32 - 6, (2**32 - 6) / 1000, 7 * 3600e6):
            def change(rank, trace, length=length):
                kernels = [event for event in trace["traceEvents"] if is_kernel(event, "gemm")]
                if rank == 1:
                    kernels[3]["dur"] = length

            document = self.report(self.write_ranks(f"wrap{length}", change, steps=12))
            self.assertEqual(document["trace"]["ranks"][1]["lost_activities"], 1)
            self.assertLess(document["headline"]["step_seconds"], 0.03)

    def test_a_cut_trace_gives_no_verdict(self):
        folder = self.write_ranks("cut", lambda *_: None, steps=12, slow=1)
        path = self.folder / "cut" / "rank3.json"
        text = path.read_text()
        path.write_text(text[:text.index('"traceName"') - 60])
        document = self.report(folder)
        self.assertEqual(document["verdict"]["family"], "inconclusive")
        self.assertIn("rank 3 stops in the middle",
                      self.mfu("diagnose", folder).stdout.decode().replace("\n", " "))

    def test_exchanges_of_pairs_move_no_clock(self):
        def pairs(rank, trace):
            shift = 1_500 if rank >= 2 else 0  # the other pair meets later
            for event in list(trace["traceEvents"]):
                if is_kernel(event, "gemm"):
                    copy = json.loads(json.dumps(event))
                    copy.update(name="ncclKernel_SendRecv_RING_SIMPLE", dur=300,
                                ts=event["ts"] + shift)
                    copy["args"].update(stream=30, correlation=event["args"]["correlation"] + 10**6)
                    trace["traceEvents"].append(copy)

        trace = self.report(self.write_ranks("pairs", pairs, steps=12))["trace"]
        self.assertIsNone(trace["clock_offset_s"])
        reductions = [one for one in trace["list"] if one["kind"] == "allreduce"]
        self.assertEqual(len(reductions), 24)
        self.assertLess(max(one["end_spread_s"] for one in reductions), 5e-6)

    def test_an_activity_with_a_time_of_its_own(self):
        def stray(rank, trace):
            if rank == 2:
                trace["traceEvents"].append({
                    "ph": "X", "cat": "gpu_memset", "name": "Memset (Device)", "pid": 0, "tid": 7,
                    "ts": -3_600e6, "dur": 2, "args": {"device": 0, "stream": 7}})

        document = self.report(self.write_ranks("stray", stray, steps=12, with_steps=False))
        self.assertIn("stray-activity", self.codes(document))
        self.assertLess(document["headline"]["step_seconds"], 1)

    def test_windows_that_overlap_take_no_longer(self):
        # 60,000 steps under one that lasts as long as all of them: was a minute, and is a moment.
        events = [{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#0", "pid": 1, "tid": 1,
                   "ts": 0, "dur": 6e7}]
        for step in range(1, 60_001):
            events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}",
                           "pid": 1, "tid": 1, "ts": step * 1000, "dur": 900})
            events.append({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7,
                           "ts": step * 1000, "dur": 500, "args": {"device": 0, "stream": 7}})
        path = self.write("rank0.json", {"traceEvents": events})
        self.assertIn(self.mfu("reduce", path, "-o", str(self.folder / "r.json")).returncode, (0, 2))

    def test_an_event_that_is_none(self):
        path = self.write("long.json", {"traceEvents": [
            {"ph": "X", "cat": "kernel", "name": "g" * 5_000_000, "ts": 1, "dur": 5}]})
        self.assert_refused(self.mfu("diagnose", path), "none of the trace's events can be read")

    def test_no_compute_says_where_to_look(self):
        def no_compute(_, trace):
            trace["traceEvents"] = [event for event in trace["traceEvents"]
                                    if not is_kernel(event, "gemm") and
                                    not is_kernel(event, "adam")]

        self.assert_refused(self.mfu("diagnose", self.write_ranks("idle", no_compute, steps=9)),
                            "no rank has any compute time", "ProfilerActivity.CUDA")


if __name__ == "__main__":
    sys.exit(unittest.main())
