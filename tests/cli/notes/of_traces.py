"""Notes about traces of PyTorch's profiler, and how the ranks' traces fit together."""

import gzip
import json

from made_traces import make_trace
from raising import raises

KERNEL = '{"ph":"X","cat":"kernel","name":"%s","pid":0,"tid":7,"ts":%s,"dur":%s%s}'


def diagnosed(case, *traces, names=None):
    """Each trace a dictionary or its text; rank0.json ..."""
    paths = []
    for rank, trace in enumerate(traces):
        name = names[rank] if names else f"rank{rank}.json"
        paths.append(case.write(name, trace if isinstance(trace, (str, bytes)) else json.dumps(trace)))
    return ["diagnose", *paths]


def one(change=lambda trace: None, **options):
    trace = make_trace(0, ranks=1, **options)
    change(trace)
    return trace


def with_events(*texts, **options):
    """A sound trace and these events, as text."""
    text = json.dumps(one(**options))
    at = text.index('"traceEvents": [') + len('"traceEvents": [')
    return text[:at] + "".join(event + "," for event in texts) + text[at:]


def steps_of(trace):
    return [event for event in trace["traceEvents"] if event["name"].startswith("ProfilerStep")]


def kernels_of(trace):
    return [event for event in trace["traceEvents"] if "device" in event.get("args", {})]


# -- the document

@raises("truncated-tail")
def a_trace_that_stops_in_the_middle(case):
    return diagnosed(case, json.dumps(one())[:-600])


@raises("truncated-gzip")
def gzip_that_is_cut_off(case):
    return diagnosed(case, gzip.compress(json.dumps(one(steps=40)).encode())[:-400])


@raises("malformed-event")
def an_event_whose_quotes_do_not_match(case):
    return diagnosed(case, with_events('{"ph":"X","cat":"cpu_op","name":"a"b","ts":1,"dur":1}'))


@raises("malformed-metadata")
def metadata_that_is_no_json(case):
    return diagnosed(case, json.dumps(one()).replace('"traceName": "made"', '"traceName" "made"'))


@raises("trailing-bytes")
def something_behind_the_end(case):
    return diagnosed(case, json.dumps(one()) + "{}")


@raises("trailing-comma", "missing-comma", "control-character", "invalid-escape", "not-utf8")
def what_writers_get_wrong(case):
    op = '{"ph":"X","cat":"cpu_op","name":"%s","pid":7,"tid":7,"ts":1100,"dur":1}'
    text = with_events(op % "a\tb", op % "a\\qb", op % "NAME")
    text = text.replace('"ts":1100,"dur":1},', '"ts":1100,"dur":1}', 1)
    text = text.replace('], "traceName"', ',], "traceName"')
    return diagnosed(case, text.encode().replace(b"NAME", b"\xff\xfe"))


# -- events

@raises("time-as-text", "negative-duration", "overflowing-duration", "event-without-time",
        "odd-token", "begin-end-event")
def times_that_cannot_be(case):
    return diagnosed(case, with_events(
        KERNEL % ("a", '"1250.5"', "10", ""), KERNEL % ("b", "1260", "-1", ""),
        KERNEL % ("c", "1270", "4294967295000", ""), KERNEL % ("d", "N/A", "4", ""),
        KERNEL % ("e", "1280", "5", ',"args":{"x":inf,"device":0}'),
        '{"ph":"B","cat":"kernel","name":"f","pid":0,"tid":7,"ts":1290}',
        KERNEL % ("g", "1300", "5", ',"x":inf')))


@raises("base-time-unused")
def a_base_beside_the_time_of_day(case):
    return diagnosed(case, one(shift_us=1_712_195_495_502_094))


@raises("metadata-unread")
def a_base_that_is_no_number(case):
    return diagnosed(case, json.dumps(one()).replace('"baseTimeNanoseconds": 1711964646000000000',
                                                     '"baseTimeNanoseconds": 17e'))


@raises("stray-activity")
def an_activity_an_hour_before(case):
    def stray(trace):
        trace["traceEvents"].append({
            "ph": "X", "cat": "gpu_memset", "name": "Memset (Device)", "pid": 0, "tid": 7,
            "ts": -3_600e6, "dur": 2, "args": {"device": 0, "stream": 7}})

    return diagnosed(case, one(stray, steps=40))


@raises("several-devices", "too-many-devices")
def kernels_on_three_hundred_devices(case):
    return diagnosed(case, with_events(*[
        KERNEL % ("a", 1250 + device, 1, f',"args":{{"device":{device}}}')
        for device in range(1, 300)]))


# -- steps

@raises("no-steps-in-trace")
def a_trace_without_steps(case):
    return diagnosed(case, one(with_steps=False))


@raises("step-without-length", "step-left-out")
def steps_without_a_length(case):
    def shorten(trace):
        for event in steps_of(trace)[1::3]:
            event["dur"] = 0
        steps_of(trace)[-1]["dur"] = 0

    return diagnosed(case, one(shorten, steps=12))


@raises("step-without-gpu-work")
def a_step_that_launches_nothing(case):
    def idle(trace):
        steps = steps_of(trace)
        first, last = steps[1]["ts"], steps[2]["ts"]
        trace["traceEvents"] = [event for event in trace["traceEvents"]
                                if event in steps or not first <= event["ts"] < last]

    return diagnosed(case, one(idle, steps=6))


@raises("activity-without-launch")
def an_activity_whose_launch_was_not_recorded(case):
    return diagnosed(case, with_events(KERNEL % ("a", 1250, 10, ',"args":{"device":0}')))


@raises("launches-unlinked")
def activities_without_their_launches(case):
    def unlink(trace):
        trace["traceEvents"] = [event for event in trace["traceEvents"]
                                if event.get("cat") != "cuda_runtime"]

    return diagnosed(case, one(unlink))


@raises("host-after-last-kernel")
def a_host_that_goes_on(case):
    def stretch(trace):
        steps_of(trace)[-1]["dur"] = 80_000

    return diagnosed(case, one(stretch))


@raises("no-gpu-activity")
def a_trace_of_the_host(case):
    host = make_trace(3, ranks=4)
    host["traceEvents"] = steps_of(host)
    return diagnosed(case, *[make_trace(rank, ranks=4) for rank in range(3)], host)


@raises("steps-by-order")
def ranks_that_count_from_different_numbers(case):
    return diagnosed(case, make_trace(0, ranks=2), make_trace(1, ranks=2, first_step=110))


# -- ranks

@raises("rank-assumed")
def a_trace_that_says_no_rank(case):
    return diagnosed(case, one(with_rank=False), names=["trace.json"])


@raises("rank-contradicts-name")
def a_name_of_another_rank(case):
    return diagnosed(case, one(), names=["rank3.json"])


@raises("rank-impossible", "world-size-impossible")
def a_rank_and_a_job_that_cannot_be(case):
    def far(trace):
        trace["distributedInfo"].update(rank=10 ** 13, world_size=10 ** 13)

    return diagnosed(case, one(far), names=["trace.json"])


@raises("ranks-missing", "capture-of-another-job")
def some_ranks_of_jobs_of_two_sizes(case):
    return diagnosed(case, make_trace(0, ranks=4), make_trace(1, ranks=8))


@raises("captures-joined")
def two_captures_of_one_job(case):
    for number in (100, 200):
        folder = case.folder / "traces" / f"iteration_{number}"
        folder.mkdir(parents=True)
        for rank in (0, 1):
            trace = make_trace(rank, ranks=2, first_step=number, shift_us=number * 100_000)
            (folder / f"rank{rank}_trace.json").write_text(json.dumps(trace))
    return ["diagnose", str(case.folder / "traces")]


@raises("world-size-too-small")
def a_rank_beyond_the_job(case):
    def small(trace):
        trace["distributedInfo"].update(world_size=1)
        return trace

    return diagnosed(case, small(make_trace(0, ranks=2)), small(make_trace(1, ranks=2)))


@raises("not-a-trace")
def a_folder_with_notes_in_it(case):
    folder = case.folder / "traces"
    folder.mkdir()
    (folder / "rank0.json").write_text(json.dumps(one()))
    (folder / "notes.json").write_text('{"hello": 1}')
    return ["diagnose", str(folder)]


@raises("trace-evidence-apart")
def two_reduced_halves(case):
    halves = []
    for half in (0, 1):
        paths = [case.write(f"rank{rank}.json",
                            json.dumps(make_trace(rank, ranks=4)))
                 for rank in (2 * half, 2 * half + 1)]
        halves.append(str(case.folder / f"half{half}.json"))
        done = case.mfu("reduce", *paths, "-o", halves[-1])
        case.assertEqual(done.returncode, 0, done.stderr)
    return ["diagnose", *halves]
