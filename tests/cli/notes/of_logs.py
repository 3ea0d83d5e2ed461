"""Notes about training logs."""

import gzip
import os
import pathlib
import subprocess

from driven import MFU
from raising import raises
from train_log import arguments_block, megatron_log, step_line
from watched import HANG, interrupt

CHIP = ["--chip", "h100-sxm"]
SIZE = ["--model", "llama-3.1-8b", "--seq-len", "8192", "--batch", "128", "--gpus", "64"]


def logged(case, text, *options, name="train.log"):
    return ["log", case.write(name, text), *options]


def nanogpt(iteration, milliseconds=500.0, mfu=20.0):
    return f"iter {iteration}: loss 3.0, time {milliseconds:.2f}ms, mfu {mfu:.2f}%\n"


def nanogpts(numbers, milliseconds=500.0):
    return "".join(nanogpt(number, milliseconds) for number in numbers)


MLLOG = ':::MLLOG {{"namespace": "", "time_ms": {}, "event_type": "INTERVAL_START", ' \
        '"key": "{}", "value": {}, "metadata": {}}}\n'


# -- the file

@raises("cut-last-line")
def a_last_line_without_an_end(case):
    return logged(case, megatron_log() + step_line(61, 3100.0).split("00.0")[0], *CHIP)


@raises("truncated-tail")
def gzip_that_is_cut_off(case):
    return logged(case, gzip.compress(megatron_log().encode())[:-20], *CHIP, name="train.log.gz")


@raises("long-line")
def a_line_of_a_megabyte(case):
    return logged(case, megatron_log() + "x" * 1_000_000 + "\n", *CHIP)


DEEPSPEED = ("[2023-07-25 21:03:17,269] [INFO] [timer.py:215:stop] epoch=0/micro_step={0}/"
             "global_step={0}, RunningAvgSamplesPerSec=7.8, CurrSamplesPerSec=8.25\n")


@raises("two-signatures")
def one_line_of_another_format(case):
    return logged(case, nanogpts(range(12)) + DEEPSPEED.format(3), *CHIP, *SIZE)


# -- steps

@raises("ranks-merged")
def every_step_by_two_ranks(case):
    return logged(case, "".join(nanogpt(i) + nanogpt(i, 500.1) for i in range(12)), *CHIP, *SIZE)


@raises("resumed-run", "too-many-restarts")
def runs_that_start_again_and_again(case):
    text = "".join(nanogpt(1000 - i % 2 * 500, 500.0 + i % 2 * 400) for i in range(41_000))
    return logged(case, text, *CHIP, *SIZE)


@raises("long-warmup")
def a_start_that_goes_on(case):
    return logged(case, nanogpts(range(24), 2000.0) + nanogpts(range(24, 400)), *CHIP, *SIZE)


@raises("steps-merged")
def more_steps_than_are_kept(case):
    return logged(case, nanogpts(range(500_100)), *CHIP, *SIZE)


@raises("implausible-values", "implausible-setup")
def figures_of_a_broken_line(case):
    text = megatron_log(seq_length=10 ** 12) + step_line(61, 1e15) + "\n"
    return logged(case, text, *CHIP, "--model", "llama-3.1-8b", "--seq-len", "8192")


@raises("steps-refused")
def times_that_no_gpu_can_reach(case):
    text = "".join(nanogpt(i, 0.01 if i % 4 == 0 else 3100.0) for i in range(100))
    return logged(case, text, *CHIP, *SIZE)


@raises("batch-changes")
def a_batch_that_ramps_up(case):
    lines = arguments_block() + [step_line(i, 3100.0, batch=64 if i < 20 else 128)
                                 for i in range(1, 61)]
    return logged(case, "\n".join(lines) + "\n", *CHIP)


@raises("steps-not-numbered", "unit-assumed")
def a_table_of_few_words(case):
    return logged(case, "dt,loss\n" + "0.5,1.0\n" * 12, "--columns", "step_time=dt", *CHIP, *SIZE,
                  name="table.csv")


@raises("pauses-capped")
def more_pauses_than_are_kept(case):
    pause = "Saved Kineto trace\n"
    return logged(case, megatron_log() + pause * 100_001, *CHIP)


@raises("rank-values-capped")
def more_values_of_ranks_than_are_kept(case):
    times = ", ".join(f"'rank{rank}': 1" for rank in range(4000))
    report = f"Esimated iteration time: {{{times}}}\n"
    return logged(case, nanogpts(range(12)) + report * 251, *CHIP, *SIZE)


# -- formats

@raises("engine-time-only")
def rates_of_an_engine(case):
    return logged(case, "".join(DEEPSPEED.format(i) for i in range(12)), *CHIP, *SIZE)


@raises("smoothed-time")
def a_progress_bar(case):
    bars = "".join(f" 10%|#    | {i}/345 [00:07<06:50,  1.25s/it]\r" for i in range(12, 24))
    return logged(case, bars + "\n", *CHIP, *SIZE)


def bars(rows, total=345, each=2.0, name=""):
    """Of a progress bar that starts at its first row."""
    return "".join(f"{name} 10%|#    | {i}/{total} [{int(i * each) // 60:02d}:"
                   f"{int(i * each) % 60:02d}<06:50, {each:5.2f}s/it]\r" for i in rows)


@raises("times-from-bar", "bars-set-aside")
def a_bar_beside_another(case):
    return logged(case, bars(range(9), 8, 1.0, "Map:") + "\n" + bars(range(40)) + "\n", *CHIP, *SIZE)


@raises("bar-jumped")
def a_bar_that_starts_at_a_checkpoint(case):
    rows = "".join(f" 50%|#    | {200 + i}/345 [{(3 + 2 * i) // 60:02d}:{(3 + 2 * i) % 60:02d}<04:50,"
                   "  1.00it/s]\r" for i in range(1, 60))
    return logged(case, "  0%|     | 0/345 [00:00<?, ?it/s]\r 58%|#    | 200/345 [00:03<00:02, "
                        "66.67it/s]\r" + rows, *CHIP, *SIZE)


@raises("throughput-only")
def a_throughput_of_the_run(case):
    text = MLLOG.format(1000, "global_batch_size", 128, "{}")
    text += MLLOG.format(2000, "tracked_stats", '{"throughput": 99.5}', '{"step": [1, 400]}')
    return logged(case, text, *CHIP, *SIZE)


@raises("times-from-timestamps")
def lines_that_count_steps(case):
    text = "".join(f"2025-01-17 10:{i // 6:02d}:{i % 6 * 10:02d} INFO step {i} | loss 2.31\n"
                   for i in range(30))
    return logged(case, text, *CHIP, *SIZE)


@raises("mean-of-run", "coarse-rate")
def a_summary_alone(case):
    return logged(case, "{'train_runtime': 27301.4, 'train_samples_per_second': 3.663, "
                        "'train_steps_per_second': 0.007}\n", *CHIP, *SIZE)


@raises("times-from-events")
def events_that_count_samples(case):
    text = MLLOG.format(1000, "global_batch_size", 128, "{}")
    text += MLLOG.format(2000, "run_start", "null", "{}")
    for i in range(1, 13):
        text += MLLOG.format(2000 + 5000 * i, "train_loss", 1.5, f'{{"samples_count": {640 * i}}}')
    return logged(case, text, *CHIP, *SIZE)


@raises("mfu-not-yet")
def an_mfu_of_minus_one(case):
    return logged(case, nanogpt(0, 9371.81, -100.0) + nanogpts(range(1, 20)), *CHIP, *SIZE)


@raises("mfu-of-update")
def the_mfu_of_an_update(case):
    line = ("(TaskRunner pid=12) step:{} - actor/loss:0.1 - perf/mfu/actor:np.float64(0.39) - "
            "perf/throughput:1234.5 - perf/total_num_tokens:524288 - timing_s/step:45.25\n")
    return logged(case, "".join(line.format(i) for i in range(1, 13)), *CHIP, *SIZE)


@raises("above-any-chip")
def seconds_of_a_dispatch(case):
    line = "completed step: {}, seconds: {}, TFLOP/s/device: {}, Tokens/s/device: 8687.8, loss: 1\n"
    text = line.format(1, 0.002, 917442.0)
    text += "".join(line.format(i, 5.658, 135.158) for i in range(2, 20))
    return logged(case, text, *CHIP, *SIZE)


@raises("logged-mfu-above-100")
def an_mfu_that_cannot_be(case):
    line = ("03:22:14 [INFO] [TRAIN] [Rank 0] step: {}, loss: 0.4, tokens_per_second: 76477.73, "
            "mfu: 337.59\n")
    return logged(case, "".join(line.format(i) for i in range(12)), *CHIP, *SIZE)


@raises("arguments-differ")
def two_blocks_of_arguments(case):
    return logged(case, megatron_log(world_size=32) + megatron_log(), *CHIP)


@raises("batch-of-2020")
def arguments_of_2020(case):
    text = "".join(f"  {name} ...................... {value}\n" for name, value in
                   (("batch_size", 8), ("model_parallel_size", 4), ("num_layers", 24),
                    ("world_size", 16)))
    text += "".join(f" iteration {i:8d}/  500000 | elapsed time per iteration (ms): 700.0 | learning "
                    "rate 1.000E-04 | lm loss 5.000E+00 | loss scale 1024.0 |\n"
                    for i in range(100, 120))
    return logged(case, text, *CHIP, "--model", "llama-3.1-8b", "--seq-len", "8192")


# -- what an answer is made of

@raises("log-model-unclear")
def a_shape_that_cannot_be(case):
    return logged(case, megatron_log(num_query_groups=7), *CHIP, "--tokens-per-step", "1048576")


@raises("log-model-unknown", "log-chip-unknown")
def a_job_of_names_that_nobody_knows(case):
    text = MLLOG.format(1, "submission_benchmark", '"nobody-13b"', "{}")
    text += MLLOG.format(1, "submission_platform", '"abacus"', "{}")
    text += "".join(MLLOG.format(2000 + 5000 * i, "tracked_stats",
                                 '{"train_step_timing in s": 5.0}', "{}") for i in range(12))
    return logged(case, text)


@raises("flops-as-logged")
def flops_without_a_model(case):
    line = "completed step: {}, seconds: 5.6, TFLOP/s/device: 135.1, Tokens/s/device: 8687.8, loss: 1\n"
    return logged(case, "".join(line.format(i) for i in range(1, 20)), "--peak", "312T")


@raises("precision-assumed=info")
def a_log_without_its_precision(case):
    return logged(case, nanogpts(range(20)), *CHIP, *SIZE)


@raises("log-tokens-disagree")
def tokens_that_are_not_the_batch(case):
    lines = arguments_block()
    lines += [f"{step_line(i, 3100.0)} consumed tokens: {1000 * i} |" for i in range(1, 61)]
    return logged(case, "\n".join(lines) + "\n", *CHIP)


@raises("log-rate-disagrees")
def a_rate_that_times_and_tokens_do_not_make(case):
    rows = "".join(f'{{"step": {i}, "step_time_s": 2.0, "tokens": 4096, "tokens_per_second": 9000}}\n'
                   for i in range(1, 20))
    return logged(case, rows, *CHIP, "--model", "llama-3.1-8b", "--gpus", "8", name="log.jsonl")


def across_ranks(steps=24, ranks=8, with_steps=True):
    lines = arguments_block(world_size=ranks, data_parallel_size=ranks)
    for step in range(1, steps + 1):
        if with_steps:
            lines.append(step_line(step, 1100.0))
        lines.append("times across ranks (ms):")
        for name, share in (("forward-compute", 200), ("backward-compute", 400),
                            ("all-grads-sync", 360)):
            lines.append(f"  {name}:")
            lines += [f"     rank {rank:2d}: {share + rank + step % 5:.2f}" for rank in range(ranks)]
    return "\n".join(lines) + "\n"


@raises("timers-as-run")
def timers_of_all_ranks(case):
    return ["diagnose", case.write("train.log", across_ranks())]


@raises("no-rest-of-step")
def timers_without_their_steps(case):
    return ["diagnose", case.write("train.log", across_ranks(with_steps=False))]


@raises("interrupted", code=130)
def a_reading_that_is_broken_off(case):
    report = str(case.folder / "report.json")
    text = megatron_log().encode()
    with subprocess.Popen([MFU, "log", "-", "--tee", *CHIP, "--out", "json:" + report],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as reading:
        reading.stdin.write(text[:8000])
        reading.stdin.flush()
        passed = 0
        while passed < 8000:
            passed += len(os.read(reading.stdout.fileno(), 65536))
        interrupt(reading)
        reading.communicate(text[8000:], timeout=HANG)
    return pathlib.Path(report)
