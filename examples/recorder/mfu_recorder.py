"""Records where the time of each training step goes, for `mfu diagnose`.

One file, no dependencies, Python 3.8 or later: copy it beside your training script. Each rank writes
one JSON Lines file in the format mfu.run/1.

    from mfu_recorder import Recorder

    with Recorder(f"rank{rank}.jsonl", rank=rank, node=socket.gethostname(), gpu=local_rank,
                  header={"workload": {"seq_len": 4096, "global_batch": 256}}) as rec:
        for n in range(steps):
            with rec.step(n):
                batch = next(loader)            # in no bucket: counts as stall
                with rec.compute():
                    loss = forward_and_backward(batch)
                with rec.comm("dp"):
                    all_reduce()
                with rec.compute():
                    optimizer.step()

Seconds of a step go to exactly one bucket: `compute`, `comm` (waiting for the peers included, unless
the header says "waits_in": "separate" and `wait` is used), and `stall`, which is the rest of the
step: what was timed as stall, and all that was timed as nothing.

A line is written when a step ends, whole and with one write, so a crash loses no finished step.
Opened again after a crash, the file is continued: no second header, a line that was cut off is
removed, and a step that is repeated replaces the earlier one when the file is read.

Misuse (buckets that overlap, a header that changed) raises RecorderError. A full disk does not stop
the job: it is warned about once, and `lost` counts the steps that are missing from the file.
"""

import contextlib
import json
import operator
import os
import time
import warnings

try:
    import fcntl
except ImportError:  # not on every system; only the guard against two writers goes
    fcntl = None

__all__ = ["Recorder", "RecorderError"]

_PARTS_OF = {"forward": "compute", "backward": "compute"}
_BUCKETS = ("compute", "comm", "stall", "wait", "forward", "backward")


class RecorderError(Exception):
    """The recorder was used in a way that would make the numbers wrong."""


class Recorder:
    """Times the steps of one rank. Not for use from several threads.

    path    the file of this rank; one file has one writer
    rank    global rank
    node, gpu, switch, coords
            host name, local index, leaf switch, {"tp": 0, "pp": 1, "dp": 3}: where the rank is
    header  keys of mfu.run/1 that hold for the whole job (model, workload, hardware, parallelism,
            waits_in ...); the same on every rank
    groups  kinds of communication groups that will be named in comm(); naming them here gives zero,
            not "missing", for the steps before the first use
    clock   returns seconds; must never go backwards
    """

    def __init__(self, path, rank, node=None, gpu=None, switch=None, coords=None, header=None,
                 groups=(), clock=time.perf_counter):
        self.path = os.fspath(path)
        self.rank = rank
        self.lost = 0
        self._clock = clock
        self._groups = list(groups)
        self._parts = []       # forward, backward: once seen, in every sample
        self._step = None      # id of the open step
        self._open = None      # (bucket, group, time it began)
        self._begun = 0.0
        self._sums = {}
        self._by_group = {}
        self._comm_kinds = set()

        head = {"schema": "mfu.run/1"}
        head.update(header or {})
        if head["schema"] != "mfu.run/1":
            raise RecorderError("this recorder writes mfu.run/1, not %s" % head["schema"])
        if head.get("time_unit", "s") != "s":
            raise RecorderError("this recorder writes seconds: leave time_unit out")
        for key in ("steps", "ranks"):
            if key in head:
                raise RecorderError("the header must not hold '%s'" % key)
        self._separate = head.get("waits_in") == "separate"

        place = {"rank": rank}
        for key, value in (("node", node), ("gpu", gpu), ("switch", switch), ("coords", coords)):
            if value is not None:
                place[key] = value

        self._file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            self._lock()
            # As they read back from the file: tuples are lists there.
            if not self._continues(json.loads(_text(head)), json.loads(_text(place))):
                self._append(_text(head) + "\n" + _text(place) + "\n")
        except BaseException:
            os.close(self._file)
            self._file = None
            raise

    # -- steps ---------------------------------------------------------------------------------

    @contextlib.contextmanager
    def step(self, number):
        """One step. Nothing is written when an exception leaves it: it was not a complete step."""
        self.begin_step(number)
        try:
            yield self
        except BaseException:
            self._step = self._open = None
            raise
        self.end_step()

    def begin_step(self, number):
        number = _step_number(number)
        if self._step is not None:
            raise RecorderError("step %d begins while step %d is open" % (number, self._step))
        self._step = number
        self._sums = dict.fromkeys(_BUCKETS, 0.0)
        self._by_group = {}
        self._comm_kinds = set()
        self._begun = self._clock()

    def end_step(self):
        now = self._clock()
        self._need_step("end_step")
        if self._open is not None:
            raise RecorderError("step %d ends while '%s' is open" % (self._step, self._open[0]))
        sums = self._sums
        number, self._step = self._step, None
        # stall is the rest of the step, whether it was timed or not.
        rest = now - self._begun - sums["compute"] - sums["comm"] - sums["wait"]
        self.write(number, sums["compute"], sums["comm"], max(0.0, rest),
                   wait=sums["wait"] if self._separate else None,
                   comm_by_group={name: self._by_group.get(name, 0.0) for name in self._groups},
                   **{name: sums[name] for name in self._parts})

    def write(self, number, compute, comm, stall, wait=None, forward=None, backward=None,
              comm_by_group=None):
        """Writes a step that was measured elsewhere (accelerator events, say). All in seconds."""
        sample = {"rank": self.rank, "step": _step_number(number)}
        for name, value in (("compute", compute), ("comm", comm), ("stall", stall), ("wait", wait),
                            ("forward", forward), ("backward", backward)):
            if value is not None:
                sample[name] = _seconds(name, value)
        if ("wait" in sample) != self._separate:
            raise RecorderError("'wait' goes with \"waits_in\": \"separate\" in the header, "
                                "and only with it")
        if comm_by_group:
            sample["comm_by_group"] = {name: _seconds(name, value)
                                       for name, value in comm_by_group.items()}
        try:
            self._append(_text(sample) + "\n")
        except OSError as error:
            self.lost += 1
            if self.lost == 1:
                warnings.warn("%s: step %d is not recorded: %s" % (self.path, number, error))

    # -- buckets -------------------------------------------------------------------------------

    def compute(self):
        """Work of the accelerator."""
        return self._bucket("compute")

    def forward(self):
        """Compute, and known to be the forward pass."""
        return self._bucket("forward")

    def backward(self):
        """Compute, and known to be the backward pass."""
        return self._bucket("backward")

    def comm(self, group=None):
        """Communication that nothing hides. group: tp, dp, pp, world ...; always or never."""
        return self._bucket("comm", group)

    def wait(self):
        """Waiting for peers; only with "waits_in": "separate" in the header."""
        return self._bucket("wait")

    def stall(self):
        """Input, host, checkpoint: no work and no peer. Not needed: it is the rest of the step."""
        return self._bucket("stall")

    @contextlib.contextmanager
    def _bucket(self, name, group=None):
        self.start(name, group)
        try:
            yield
        finally:
            # After an exception that the step itself catches, the time was still spent here.
            if self._open is not None:
                self.stop()

    def start(self, name, group=None):
        """The same without `with`: start("compute") ... stop()."""
        self._need_step(name)
        if name not in _BUCKETS:
            raise RecorderError("no bucket is called '%s'; there are %s" % (name, ", ".join(_BUCKETS)))
        if self._open is not None:
            raise RecorderError("'%s' begins while '%s' is open: the buckets of a step must not "
                                "overlap" % (name, self._open[0]))
        if name == "wait" and not self._separate:
            raise RecorderError("'wait' needs \"waits_in\": \"separate\" in the header")
        if name == "comm":
            if group is not None and group not in self._groups:
                self._groups.append(group)
            self._comm_kinds.add(group is not None)
            if len(self._comm_kinds) == 2:
                raise RecorderError("name the group of every comm of a step or of none: "
                                    "comm_by_group has to sum to comm")
        self._open = (name, group, self._clock())

    def stop(self):
        now = self._clock()
        if self._open is None:
            raise RecorderError("stop() without start()")
        name, group, begun = self._open
        self._open = None
        seconds = now - begun
        self._sums[name] += seconds
        if name in _PARTS_OF:
            self._sums[_PARTS_OF[name]] += seconds
            if name not in self._parts:
                self._parts.append(name)
        if group is not None:
            self._by_group[group] = self._by_group.get(group, 0.0) + seconds

    def _need_step(self, what):
        if self._step is None:
            raise RecorderError("'%s' outside a step" % what)

    # -- the file ------------------------------------------------------------------------------

    def close(self):
        """Lines are in the file when their step ends: closing only releases the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def _append(self, text):
        """All of it or nothing: half a line in the middle would make the file unreadable."""
        if self._file is None:
            raise RecorderError("%s is closed" % self.path)
        data = text.encode("ascii")
        before = os.fstat(self._file).st_size
        try:
            if os.write(self._file, data) == len(data):
                return
        except OSError:
            os.ftruncate(self._file, before)
            raise
        os.ftruncate(self._file, before)
        raise OSError("the disk took only part of the line")

    def _lock(self):
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RecorderError("%s is being written by another process: give each rank its own "
                                "file" % self.path) from None
        except OSError:
            pass  # some network file systems cannot lock; then nothing guards against two writers

    def _continues(self, head, place):
        """Prepares an existing file. False: it is empty, and begins with the header."""
        end = _whole_lines(self._file)
        size = os.fstat(self._file).st_size
        if end < size:
            os.ftruncate(self._file, end)  # the line that was being written when the job died
        if end == 0:
            return False
        with open(self.path, "r", encoding="utf-8") as lines:
            first, second = lines.readline(), lines.readline()
        self._agree(first, head, "header")
        if second:
            self._agree(second, place, "rank line")
            return True
        self._append(_text(place) + "\n")  # died between the two lines
        return True

    def _agree(self, line, wanted, name):
        try:
            found = json.loads(line)
            keys = set(found) | set(wanted)
        except (ValueError, TypeError):
            raise RecorderError("%s exists, and its %s is not from this recorder"
                                % (self.path, name)) from None
        for key in sorted(keys):
            if found.get(key) != wanted.get(key):
                raise RecorderError(
                    "%s was begun with another %s (%s was %s, is %s): start a new file"
                    % (self.path, name, key, json.dumps(found.get(key)),
                       json.dumps(wanted.get(key))))


def _step_number(number):
    try:
        whole = -1 if isinstance(number, bool) else operator.index(number)
    except TypeError:
        whole = -1
    if whole < 0:
        raise RecorderError("a step is a whole number from 0, not %r" % (number,))
    return whole


def _seconds(name, value):
    if not 0.0 <= value < float("inf"):
        raise RecorderError("%s is %r, not a time in seconds" % (name, value))
    return round(float(value), 9)


def _text(value):
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def _whole_lines(file):
    """Where the last whole line ends. Reads from the end: files grow long."""
    end = os.fstat(file).st_size
    while end > 0:
        begin = max(0, end - 65536)
        block = os.pread(file, end - begin, begin)
        newline = block.rfind(b"\n")
        if newline >= 0:
            return begin + newline + 1
        end = begin
    return 0
