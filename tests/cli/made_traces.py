"""Kineto traces of a small data-parallel job, as PyTorch's profiler writes them."""

import gzip
import json

STEP_US = 20_000
BASE_NS = 1_711_964_646_000_000_000


def make_trace(rank, ranks=4, steps=3, late=None, late_us=3_000, slow=None, compute_us=5_000,
               first_step=10, with_steps=True, with_rank=True, shift_us=0):
    """Each step: rank-dependent compute, then two all-reduces that end together on all ranks.

    `late` idles before its kernels, `slow` computes longer; both come late by `late_us`.
    """
    events = []
    correlation = 0

    def kernel(name, stream, start, end, launched, category="kernel"):
        nonlocal correlation
        correlation += 1
        common = {"ph": "X", "pid": 0}
        events.append({**common, "cat": category, "name": name, "tid": stream,
                       "ts": start + shift_us, "dur": end - start,
                       "args": {"device": 0, "stream": stream, "correlation": correlation}})
        events.append({**common, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 77,
                       "tid": 77, "ts": launched + shift_us, "dur": 2,
                       "args": {"correlation": correlation}})

    for step in range(steps):
        begin = 1_000 + step * STEP_US
        if with_steps:
            events.append({"ph": "X", "cat": "user_annotation", "pid": 77, "tid": 77,
                           "name": f"ProfilerStep#{first_step + step}", "ts": begin + shift_us,
                           "dur": STEP_US - 10})
        launched = begin + 50
        start = begin + 200
        if rank == late:
            start += late_us
        length = compute_us + (late_us if rank == slow else 0)
        copied = start + 100
        kernel("Memcpy HtoD (Pageable -> Device)", 7, start, copied, launched, "gpu_memcpy")
        kernel("gemm_kernel", 7, copied, copied + length, launched)
        arrived = copied + length + 10 * rank
        behind = late_us if (late is not None or slow is not None) else 0
        meet = begin + 300 + compute_us + behind + 10 * ranks
        for _ in range(2):
            end = meet + 400
            kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long)", 20,
                   arrived, end + rank, launched)
            arrived = end + 200 + 10 * rank
            meet = end + 200 + 10 * ranks
        kernel("adam_kernel", 7, end + 1_000, end + 3_000, launched)
    trace = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}],
             "traceEvents": events, "traceName": "made", "displayTimeUnit": "ms",
             "baseTimeNanoseconds": BASE_NS}
    if with_rank:
        trace["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": ranks}
    return trace


def write_traces(folder, ranks=4, packed=False, **options):
    """rank0.json ... in `folder`; their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for rank in range(ranks):
        text = json.dumps(make_trace(rank, ranks, **options)).encode()
        path = folder / (f"rank{rank}.json" + (".gz" if packed else ""))
        path.write_bytes(gzip.compress(text, mtime=0) if packed else text)
        paths.append(str(path))
    return paths
