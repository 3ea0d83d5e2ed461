"""Notes about pipeline timelines."""

import json

from raising import raises

COMPUTE, PIPELINE, TENSOR, DATA, MISC = range(5)
KINDS = ("compute", "pp-comm", "tp-comm", "dp-comm", "misc")


class Timeline:
    """Lanes are numbered five to a worker, as recorders do. Times in seconds."""

    def __init__(self, dp_size=1, stages=1, without=()):
        self.events = []
        self.dp_size = dp_size
        self.ahead = {}
        for dp in range(dp_size):
            for stage in range(stages):
                for kind in range(5):
                    if (dp, stage, kind) not in without:
                        self.events.append({
                            "ph": "M", "name": "thread_name", "pid": dp,
                            "tid": self.lane(dp, stage, kind),
                            "args": {"name": f"PP rank {stage}, TP rank 0, {KINDS[kind]}"}})

    def lane(self, dp, stage, kind):
        return 5 * (stage * self.dp_size + dp) + kind

    def op(self, name, dp, stage, kind, begin, end, sequence, step=7):
        begin += self.ahead.get((dp, stage), 0.0)
        end += self.ahead.get((dp, stage), 0.0)
        self.events.append({
            "name": name, "cat": name, "ph": "X", "pid": dp, "tid": self.lane(dp, stage, kind),
            "ts": round(begin * 1e6), "dur": round(end * 1e6) - round(begin * 1e6),
            "args": {"step": step, "model_chunk": 0, "mb_id": -1, "seq_id": sequence}})

    def two_stages(self, step=7, at=0.0):
        """One microbatch over two stages."""
        self.op("forward-compute", 0, 0, COMPUTE, at, at + 1.0, 0, step)
        self.op("forward-send", 0, 0, PIPELINE, at + 1.0, at + 1.1, 0, step)
        self.op("forward-recv", 0, 1, PIPELINE, at + 1.0, at + 1.1, 0, step)
        self.op("forward-compute", 0, 1, COMPUTE, at + 1.1, at + 2.1, 0, step)
        self.op("backward-compute", 0, 1, COMPUTE, at + 2.1, at + 3.1, 0, step)
        self.op("backward-send", 0, 1, PIPELINE, at + 3.1, at + 3.2, 0, step)
        self.op("backward-recv", 0, 0, PIPELINE, at + 3.1, at + 3.2, 0, step)
        self.op("backward-compute", 0, 0, COMPUTE, at + 3.2, at + 4.2, 0, step)

    def reduced(self, count=5, repeated=False):
        """Replicas that compute and reduce together."""
        for dp in range(self.dp_size):
            for k in range(count):
                begin = k + 0.001 * ((k * 7 + dp * 3) % 5)
                self.op("forward-compute", dp, 0, COMPUTE, begin, begin + 0.3, k)
                self.op("grads-reduce-scatter", dp, 0, DATA, begin + 0.3,
                        k + 0.8 + 1e-5 * (k % 3), 3 if repeated else k)

    def diagnosed(self, case):
        return ["diagnose", case.write("timeline.json", json.dumps(self.events))]


@raises("event-without-place", "event-without-step", "event-time", "lane-without-name",
        "timeline-incomplete-step")
def events_that_cannot_be_used(case):
    timeline = Timeline(stages=2)
    timeline.two_stages()
    timeline.op("forward-compute", 0, 0, COMPUTE, 20.0, 21.0, 0, 8)
    timeline.op("forward-compute", 0, 0, COMPUTE, 3.0, 2.0, 0)
    timeline.op("forward-compute", 0, 7, COMPUTE, 3.0, 4.0, 0)
    event = dict(timeline.events[-1])
    timeline.events.append({key: value for key, value in event.items() if key != "tid"})
    timeline.events.append({**event, "tid": 0, "args": {}})
    return timeline.diagnosed(case)


@raises("timeline-unknown-operation", "timeline-misc-lane")
def operations_that_nobody_knows(case):
    timeline = Timeline(dp_size=2)
    timeline.reduced()
    for dp in range(2):
        timeline.op("rotary-cache", dp, 0, COMPUTE, 5.0, 5.5, 0)
        timeline.op("step", dp, 0, MISC, 0.0, 5.5, 0)
    return timeline.diagnosed(case)


@raises("timeline-sequence-repeats")
def numbers_that_repeat(case):
    timeline = Timeline(dp_size=2)
    timeline.reduced(repeated=True)
    return timeline.diagnosed(case)


@raises("timeline-single-end")
def a_reduction_of_one_replica(case):
    timeline = Timeline(dp_size=2)
    timeline.reduced()
    timeline.op("grads-reduce-scatter", 1, 0, DATA, 5.0, 5.2, 9)
    return timeline.diagnosed(case)


@raises("timeline-impossible-order")
def a_receive_before_its_send(case):
    timeline = Timeline(stages=2)
    timeline.ahead[0, 1] = -1.5
    timeline.two_stages()
    return timeline.diagnosed(case)


@raises("timeline-impossible-order=info")
def one_receive_too_early_of_many(case):
    timeline = Timeline(stages=2)
    for step in range(60):
        if step == 30:
            timeline.ahead[0, 1] = -1.5
        timeline.two_stages(step, 10.0 * step)
        timeline.ahead.clear()
    return timeline.diagnosed(case)


@raises("timeline-clock-offset")
def a_clock_that_is_ahead(case):
    timeline = Timeline(dp_size=2)
    timeline.ahead[1, 0] = 0.05
    timeline.reduced()
    return timeline.diagnosed(case)


@raises("timeline-no-replay")
def an_order_that_contradicts_itself(case):
    timeline = Timeline(dp_size=2)
    for dp in range(2):
        timeline.op("forward-compute", dp, 0, COMPUTE, 0.0, 1.0, 0)
        timeline.op("grads-reduce-scatter", dp, 0, DATA, 2.0, 3.0, dp)
        timeline.op("grads-reduce-scatter", dp, 0, DATA, 2.1, 3.0, 1 - dp)
    return timeline.diagnosed(case)


@raises("timeline-replay-bounded")
def more_kinds_of_operations_than_are_replayed(case):
    timeline = Timeline()
    for kind in range(400):
        timeline.op(f"kind-{kind}", 0, 0, COMPUTE, kind, kind + 1.0, kind)
    timeline.op("forward-compute", 0, 0, COMPUTE, 400.0, 401.0, 400)
    return timeline.diagnosed(case)


@raises("other-kind-left-out")
def a_timeline_beside_traces(case):
    folder = case.folder / "mixed"
    folder.mkdir()
    timeline = Timeline()
    timeline.op("forward-compute", 0, 0, COMPUTE, 0.0, 1.0, 0)
    (folder / "timeline.json").write_text(json.dumps(timeline.events))
    from made_traces import make_trace
    (folder / "rank0.json").write_text(json.dumps(make_trace(0, ranks=1)))
    return ["diagnose", str(folder)]
