"""Logs with real progress bars: tqdm itself draws them, on a clock that does not run by itself.

Each layout is a training of known step time among whatever else has a bar in such logs. tqdm is
Debian's python3-tqdm; where it is not installed, `tqdm` is None."""

import io
import random
import sys

try:
    import tqdm.std
    tqdm = tqdm.std
except ImportError:
    sys.path.append("/usr/lib/python3/dist-packages")  # where Debian's own python has it
    try:
        import tqdm.std
        tqdm = tqdm.std
    except ImportError:
        tqdm = None


class Console:
    """What a training writes, and the clock of its machine."""

    def __init__(self, seed):
        self.out = io.StringIO()
        self.now = 1.7e9
        self.random = random.Random(seed)
        self.steps = []  # seconds of the training steps, as they were

    def bar(self, total, **options):
        tqdm.time = lambda: self.now
        tqdm.tqdm.monitor_interval = 0
        options.setdefault("ncols", 100)
        return tqdm.tqdm(total=total, file=self.out, **options)

    def pass_by(self, seconds):
        self.now += seconds

    def say(self, text):
        self.out.write(text + "\n")

    def text(self):
        return self.out.getvalue()

    def step(self, bar, seconds, count=1):
        seconds *= self.random.uniform(0.97, 1.03)
        self.pass_by(seconds)
        self.steps.append(seconds)
        bar.update(count)

    def other(self, total, each, **options):
        """Another bar, from its start to its end."""
        bar = self.bar(total, **options)
        for _ in range(total):
            self.pass_by(each * self.random.uniform(0.8, 1.2))
            bar.update(1)
        bar.close()

    def loss(self, number):
        self.say(f"{{'loss': {2.5 - number * 1e-3:.4f}, 'grad_norm': 0.7, "
                 f"'learning_rate': 2e-05, 'epoch': {number / 500:.2f}}}")

    def train(self, total, seconds, upto=None, every=10, between=None, losses=True, **options):
        """`between(step)` is called after each; `seconds` may be a function of the step."""
        bar = self.bar(total, **options)
        for number in range(1, (upto or total) + 1):
            self.step(bar, seconds(number) if callable(seconds) else seconds)
            if losses and number % every == 0:
                self.loss(number)
            if between:
                between(number)
        if upto is None:
            bar.close()
        return bar

    def go_on(self, total, seconds, loading, at):
        """A run that goes on from a checkpoint: its bar jumps there, after some time."""
        bar = self.bar(total)
        self.pass_by(loading)
        bar.update(at)
        for number in range(at + 1, total + 1):
            self.step(bar, seconds)
            if number % 10 == 0:
                self.loss(number)
        bar.close()


def evaluation_before(console, seconds):
    console.other(625, 0.08)
    console.say("{'eval_loss': 2.9, 'eval_runtime': 50.0, 'eval_steps_per_second': 12.5}")
    console.train(300, seconds, upto=120)


def evaluation_inside(console, seconds):
    def between(number):
        if number % 40 == 0:
            start = console.now
            console.other(70, 0.2)
            console.say(f"{{'eval_loss': 2.0, 'eval_runtime': {console.now - start:.4f}}}")
    console.train(200, seconds, between=between)


def evaluation_after(console, seconds):
    console.train(90, seconds)
    console.other(4000, 0.07)


def same_total_before(console, seconds):
    console.other(200, 0.05)
    console.train(200, seconds)


def same_total_inside(console, seconds):
    def between(number):
        if number % 50 == 0:
            console.other(200, 0.05)
            console.say("{'eval_loss': 2.0, 'epoch': 1.0}")
    console.train(200, seconds, between=between)


def tokenising(console, seconds):
    console.other(40000, 0.004, desc="Map", unit=" examples")
    console.other(3000, 0.1, desc="Tokenizing")
    console.other(4, 20.0, desc="Loading checkpoint shards")
    console.train(150, seconds)


def described(console, seconds):
    console.train(94, seconds, upto=60, desc="Train")


def progress(console, seconds):
    console.other(300, 0.2, desc="Packing dataset")
    console.train(120, seconds, desc="Training Progress", losses=False)


def steps_bar(console, seconds):
    console.train(120, seconds, desc="Steps", losses=False)


def epochs(console, seconds):
    for epoch in (1, 2, 3):
        console.train(60, seconds, desc=f"Epoch {epoch}/3", losses=False)
        console.other(30, 0.1, desc="Validating")


def postfix(console, seconds):
    bar = console.bar(150)
    for number in range(150):
        console.step(bar, seconds)
        bar.set_postfix(loss=2.5 - number * 1e-3)
    bar.close()


def torchtune(console, seconds):
    bar = console.bar(150)
    for number in range(1, 151):
        console.step(bar, seconds)
        bar.set_description(f"1|{number}|Loss: {2.5 - number * 1e-3}")
    bar.close()


def nested(console, seconds):
    outer = console.bar(3, desc="Epoch")
    for _ in range(3):
        console.train(60, seconds, desc="Iteration", every=5)
        outer.update(1)
    outer.close()


def nested_plain(console, seconds):
    outer = console.bar(3)
    for _ in range(3):
        console.train(60, seconds, every=5, position=1, leave=False)
        outer.update(1)
    outer.close()


def four_ranks(console, seconds):
    bars = [console.bar(120, position=0) for _ in range(4)]
    for number in range(1, 121):
        console.step(bars[0], seconds)
        for bar in bars[1:]:
            bar.update(1)
        if number % 10 == 0:
            console.loss(number)


def four_named_ranks(console, seconds):
    """As srun -l has it: the rank in front of each line."""
    parts = [Console(1) for _ in range(4)]
    bars = [part.bar(120) for part in parts]
    for number in range(1, 121):
        console.step(bars[0], seconds)
        for part in parts:
            part.now = console.now
        for bar in bars[1:]:
            tqdm.time = lambda: console.now
            bar.update(1)
        if number % 10 == 0:
            parts[0].loss(number)
        for rank, part in enumerate(parts):
            console.out.write("".join(f"{rank}: {line}\n" for line in
                                      part.out.getvalue().replace("\r", "\n").split("\n") if line))
            part.out.seek(0)
            part.out.truncate()


def resumed(console, seconds):
    console.go_on(400, seconds, loading=3.0, at=240)


def started_again(console, seconds):
    console.train(300, seconds, upto=110)
    console.say("slurmstepd: error: *** STEP 1.0 CANCELLED ***")
    console.go_on(300, seconds, loading=2.0, at=100)


def mean_since_start(console, seconds):
    """Lightning draws its bar without smoothing."""
    bar = console.bar(500, desc="Epoch 0", smoothing=0)
    bar.set_postfix(v_num=0, refresh=False)
    for number in range(1, 201):
        console.step(bar, seconds if number <= 100 else 3 * seconds)
        bar.set_postfix(v_num=0, train_loss=2.1, refresh=False)


def slower_later(console, seconds):
    console.train(200, lambda number: seconds if number <= 100 else 3 * seconds)


def cut(console, seconds):
    console.train(300, seconds, upto=75)
    return lambda text: text[:-25]


def cut_head(console, seconds):
    console.train(120, seconds)

    def without_start(text):
        half = len(text) // 2
        console.steps = console.steps[len(console.steps) // 2:]
        return text[half:]
    return without_start


def lines_for_returns(console, seconds):
    console.other(625, 0.08)
    console.train(120, seconds)
    return lambda text: text.replace("\r", "\n")


def seldom(console, seconds):
    console.train(200, seconds, mininterval=10, every=25)


def unknown_length(console, seconds):
    bar = console.bar(None)
    for number in range(1, 121):
        console.step(bar, seconds)
        if number % 10 == 0:
            console.loss(number)


def batches(console, seconds):
    console.train(150, seconds, unit="batch", desc="Epoch 1")


LAYOUTS = (evaluation_before, evaluation_inside, evaluation_after, same_total_before,
           same_total_inside, tokenising, described, progress, steps_bar, epochs, postfix,
           torchtune, nested, nested_plain, four_ranks, four_named_ranks, resumed, started_again,
           mean_since_start, slower_later, cut, cut_head, lines_for_returns, seldom,
           unknown_length, batches)


# What nobody can tell: no loss, no description, and neither lasts much longer.

def two_alike(console, seconds):
    console.train(100, seconds, losses=False)
    console.train(130, 0.7 * seconds, losses=False)


def same_total_no_loss(console, seconds):
    console.other(200, 0.4 * seconds)
    console.train(200, seconds, losses=False)


def loops_in_loops(console, seconds):
    outer = console.bar(12)
    for _ in range(12):
        console.train(20, seconds, losses=False)
        outer.update(1)
    outer.close()


UNCLEAR = (two_alike, same_total_no_loss, loops_in_loops)


def never_training(console, seconds):
    console.other(300, seconds, desc="Map")
    console.other(4, 20.0, desc="Loading checkpoint shards")


def made(layout, seconds, seed=1):
    """The text of a log, and the mean seconds of its training steps."""
    console = Console(seed)
    last_touch = layout(console, seconds)
    text = console.text()
    if callable(last_touch):
        text = last_touch(text)
    return text, sum(console.steps) / len(console.steps)
