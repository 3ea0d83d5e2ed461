#!/usr/bin/env python3
"""Chrome traces of JAX and XLA, and traces of profilers that are refused with a way out (MFU_BIN)."""

import gzip
import io
import json
import tarfile
import unittest

from driven import Cli

STEPS = 10
STEP_US = 6_800


def jax_trace(devices=4, slow=None, kind="TPU", steps=STEPS, step_lane=True):
    """On each device and step: 6 ms of fusions (9 ms on `slow`, the step then 9.8 ms) inside
    a while, 0.2 ms of infeed before, an all-reduce that ends together on all, 0.4 ms of it transfer."""
    events = [{"ph": "M", "pid": 701, "name": "process_name", "args": {"name": "/host:CPU"}},
              {"ph": "X", "pid": 701, "tid": 1, "name": "PjitFunction(step)", "ts": 0, "dur": 9e4}]
    step_us = STEP_US + (3_000 if slow is not None else 0)
    for device in range(devices):
        pid = 3 + device
        events.append({"ph": "M", "pid": pid, "name": "process_name",
                       "args": {"name": f"/device:{kind}:{device}"}})
        for tid, lane in enumerate(["Steps", "XLA Modules", "XLA Ops", "Framework Name Scope"], 1):
            events.append({"ph": "M", "pid": pid, "tid": tid, "name": "thread_name",
                           "args": {"name": lane}})

        def on(tid, name, start, end, **args):
            events.append({"ph": "X", "pid": pid, "tid": tid, "name": name, "ts": start,
                           "dur": end - start, "args": args})
        for step in range(steps):
            at = 1_000 + step * step_us
            busy = 9_000 if device == slow else 6_000
            meet = at + 200 + (9_000 if slow is not None else 6_000) + 10 * (devices - 1)
            if step_lane:
                on(1, str(40 + step), at, at + step_us)
            on(2, "jit_step(123)", at, at + step_us)
            on(4, "transformer", at, at + step_us)
            on(3, "infeed.3", at, at + 200, hlo_category="infeed")
            on(3, "while.7", at + 200, at + 200 + busy, hlo_category="while")
            for part in range(10):
                begin = at + 200 + part * busy // 10
                on(3, f"fusion.{part}", begin, begin + busy // 10, hlo_category="loop fusion")
            on(3, "all-reduce.11", at + 200 + busy + 10 * device, meet + 400 + device,
               hlo_category="all-reduce")
    return {"displayTimeUnit": "ns", "metadata": {"highres-ticks": True}, "traceEvents": events}


class Jax(Cli):
    def trace(self, name="host.trace.json", **options):
        return self.write(name, json.dumps(jax_trace(**options)))

    def diagnosed(self, path, *more):
        result = self.mfu("diagnose", path, "--json", *more)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return json.loads(result.stdout)

    def test_parts_of_a_step(self):
        report = self.diagnosed(self.trace())
        parts = {part["id"]: part["seconds"] for part in report["parts"]}
        self.assertAlmostEqual(parts["compute"], 6.0e-3, delta=5e-5)
        self.assertAlmostEqual(parts["exposed_transfer"], 0.4e-3, delta=5e-5)
        self.assertAlmostEqual(sum(parts.values()), report["headline"]["step_seconds"], delta=1e-9)
        self.assertEqual(report["inputs"][0]["format"], "xla")

    def test_a_slow_device_is_named(self):
        verdict = self.diagnosed(self.trace(devices=8, slow=5))["verdict"]
        self.assertEqual(verdict["family"], "straggler")
        self.assertEqual(verdict["culprits"]["ranks"], [5])

    def test_each_device_is_a_rank_and_a_note_says_so(self):
        report = self.diagnosed(self.trace(devices=12))
        codes = [note["code"] for note in report["notes"]]
        self.assertIn("rank-assumed", codes)
        self.assertEqual(len(report["trace"]["ranks"]), 12)

    def test_packed_and_of_a_gpu_host(self):
        path = self.folder / "h.trace.json.gz"
        path.write_bytes(gzip.compress(json.dumps(jax_trace(kind="GPU")).encode()))
        self.assertEqual(len(self.diagnosed(str(path))["trace"]["ranks"]), 4)

    def test_without_steps_the_span_is_one(self):
        report = self.diagnosed(self.trace(step_lane=False))
        self.assertIn("no-steps-in-trace", [note["code"] for note in report["notes"]])

    def test_host_alone_is_refused(self):
        trace = jax_trace(devices=0)
        path = self.write("cpu.trace.json", json.dumps(trace))
        result = self.mfu("diagnose", path)
        self.assertEqual(result.returncode, 2)
        self.assertIn("host alone", result.stderr.decode())

    def refused(self, data, *words, name="x.json"):
        path = self.folder / name
        path.write_bytes(data)
        for command in (["diagnose", str(path)],
                        ["reduce", str(path), "-o", str(self.folder / "r.json")]):
            result = self.mfu(*command)
            self.assertEqual(result.returncode, 2, (command, result.stderr))
            for word in words:
                self.assertIn(word, result.stderr.decode())

    def test_what_is_not_read_says_what_to_give(self):
        ascend = [{"name": "process_name", "pid": 7, "ph": "M", "args": {"name": "Ascend Hardware"}},
                  {"name": "MatMul", "pid": 7, "tid": 1, "ts": "1.5", "dur": 3, "ph": "X"}]
        self.refused(json.dumps(ascend).encode(), "step_trace_time.csv")
        packet = bytes([0x0A, 6, 0x08, 1, 0x12, 2, 1, 2])
        self.refused(packet * 40, "traceconv", name="a.pftrace")
        plane = b"\x08\x01\x12\x09/host:CPU"
        self.refused(b"\x0a" + bytes([len(plane)]) + plane, ".trace.json.gz", name="h.xplane.pb")
        self.refused(b'{"rocprofiler-sdk-tool": [{"metadata": {"pid": 3}}]}', "torch.profiler")
        self.refused(b'[{"ph":"X","cat":"render","name":"Frame","ts":1,"dur":2,"pid":1,"tid":1}]',
                     "ProfilerActivity.CUDA")
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            archive.addfile(tarfile.TarInfo("rank0.json"), io.BytesIO(b""))
        self.refused(packed.getvalue(), "tar -xf", name="traces.tar")


if __name__ == "__main__":
    unittest.main()
