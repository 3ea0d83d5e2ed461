#!/usr/bin/env python3
"""mfu log through the real binary (MFU_BIN): answers, pipes and gates, on logs written here."""

import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

from driven import MFU, Cli
from train_log import Log, arguments_block, megatron_log, step_line, wiggle
from watched import HANG


class Answer(Log):
    def test_a_megatron_log_needs_only_the_chip(self):
        path = self.write("train.log", megatron_log())
        answer = self.answer(path, "--chip", "h100-sxm")
        self.assertEqual(answer["command"], "log")
        self.assertEqual(answer["setup"]["format"], "megatron-lm")
        self.assertEqual(answer["setup"]["gpus"], 64)
        self.assertEqual(answer["setup"]["tokens_per_step"], 128 * 8192)
        self.assertEqual(answer["setup"]["reference"], "mean")
        self.assertEqual(answer["headline"]["statistic"], "mean")
        self.assertEqual(answer["steps"]["warmup"], 1)
        self.assertEqual(answer["steps"]["used"], 59)
        self.assertAlmostEqual(answer["steps"]["p50_seconds"], 3.1, delta=0.002)
        self.assertEqual(answer["headline"]["step_seconds"], answer["steps"]["mean_seconds"])
        self.assertEqual(answer["headline"]["status"], "ok")
        # The log's own figure, by its own convention, without a flag.
        figure = answer["reported"]["figures"][0]
        self.assertEqual(figure["convention"], "megatron-lm")
        self.assertLess(abs(figure["relative_error"]), 0.01)
        self.assertIn("megatron-lm", answer["reported"]["reproduced_by"])
        own = self.answer(path, "--chip", "h100-sxm", "--convention", "megatron-lm")
        self.assertAlmostEqual(own["results"][0]["model_flops_per_second_per_gpu"] / 1e12,
                               answer["reported"]["tflops"], delta=0.1)
        sources = {source["what"]: source["from"] for source in answer["sources"]}
        self.assertEqual(sources["chip"], "--chip")
        self.assertIn("arguments block, line", sources["GPUs"])
        self.assertIn("arguments block, line", sources["sequence"])

    def test_the_mfu_is_that_of_calc(self):
        path = self.write("train.log", megatron_log())
        answer = self.answer(path, "--chip", "h100-sxm", "--model", "llama-3.1-8b")
        calc = self.mfu("calc", "--model", "llama-3.1-8b", "--chip", "h100-sxm", "--gpus", "64",
                        "--seq-len", "8192", "--batch", "128", "--step-time",
                        f"{answer['steps']['mean_seconds']!r}s", "--json")
        wanted = json.loads(calc.stdout)
        self.assertAlmostEqual(answer["headline"]["mfu"], wanted["headline"]["mfu"], places=12)
        self.assertEqual(answer["setup"]["fingerprint"], wanted["setup"]["fingerprint"])

    def test_the_screen(self):
        path = self.write("train.log", megatron_log(slow_every=5))
        result = self.mfu("log", path, "--chip", "h100-sxm")
        self.assertEqual(result.returncode, 0, result.stderr)
        text = result.stdout.decode()
        for line in text.splitlines():
            self.assertLessEqual(len(line), 80, line)
        for wanted in ("MFU ", "warm-up", "every 5 steps", "reproduced by megatron-lm",
                       "arguments block, line", "palm", "exact-causal"):
            self.assertIn(wanted, text)

    def test_an_option_stands_over_the_log_and_both_are_said(self):
        path = self.write("train.log", megatron_log())
        answer = self.answer(path, "--chip", "h100-sxm", "--gpus", "32", "--seq-len", "4096",
                             "--batch", "64")
        self.assertEqual(answer["setup"]["gpus"], 32)
        self.assertEqual(answer["setup"]["tokens_per_step"], 64 * 4096)
        sources = {source["what"]: source["from"] for source in answer["sources"]}
        self.assertIn("--gpus; the log says 64", sources["GPUs"])
        self.assertIn("--seq-len; the log says 8,192", sources["sequence"])
        self.assertIn("--batch; the log says 128", sources["batch"])

    def test_a_figure_that_does_not_reproduce(self):
        text = megatron_log(tflops=False)
        odd = re.sub(r"(\| )(learning rate)", r"\1throughput per GPU (TFLOP/s/GPU): 123.4 | \2", text)
        answer = self.answer(self.write("train.log", odd), "--chip", "h100-sxm")
        self.assertAlmostEqual(answer["reported"]["tflops"], 123.4, delta=0.5)
        self.assertIsNone(answer["reported"]["reproduced_by"])
        self.assertIn("not reproduced", answer["reported"]["missing"])

    def test_nanogpt_stands_on_the_a100(self):
        lines = ["iter 0: loss 4.2874, time 9371.30ms, mfu -100.00%"]
        for index in range(1, 30):
            lines.append(f"iter {index * 10}: loss 3.1, time {200 * wiggle(index):.2f}ms, mfu 30.00%")
        path = self.write("train.log", "\n".join(lines) + "\n")
        answer = self.answer(path, "--chip", "h100-sxm", "--model", "gpt2", "--seq-len", "1024",
                             "--batch", "480", "--gpus", "8")
        self.assertEqual(answer["reported"]["figures"][0]["against_flops"], 312e12)
        self.assertAlmostEqual(answer["reported"]["mfu"], 0.30, places=2)
        self.assertEqual(answer["steps"]["warmup"], 1)
        self.assertEqual(answer["setup"]["peak_flops_per_gpu"], 989.4e12)

    def test_asynchronous_dispatch_is_refused(self):
        seconds = [44.9, 0.319, 0.002] + [5.67 * wiggle(index) for index in range(17)]
        text = "".join(f"completed step: {index}, seconds: {took:.3f}, TFLOP/s/device: "
                       f"{764.6 / took:.3f}, Tokens/s/device: {49152 / took:.3f}, "
                       "total_weights: 65536, loss: 10.8\n" for index, took in enumerate(seconds))
        answer = self.answer(self.write("train.log", text), "--peak", "197T")
        reasons = answer["steps"]["left_out_by_reason"]
        self.assertEqual(reasons["too_short"] + reasons["over_peak"], 2)
        self.assertEqual(reasons["warmup"], 1)
        self.assertAlmostEqual(answer["steps"]["p50_seconds"], 5.67, delta=0.01)
        self.assertIn("steps-refused", [note["code"] for note in answer["notes"]])
        self.assertIn("as-logged:maxtext", answer["setup"]["fingerprint"])
        self.assertAlmostEqual(answer["headline"]["mfu"], 134.9 / 197, delta=0.002)

    def test_over_100_per_cent_is_impossible(self):
        path = self.write("train.log", megatron_log(milliseconds=310.0, first=0, tflops=False))
        answer = self.answer(path, "--chip", "h100-sxm")
        self.assertEqual(answer["headline"]["status"], "impossible")
        self.assertTrue(answer["headline"]["impossible_because"])
        self.assert_refused(self.mfu("log", path, "--chip", "h100-sxm", "--min-mfu", "40%"),
                            "impossible")

    def test_what_is_missing_is_said_and_the_steps_are_given(self):
        text = "".join(step_line(index, 3100 * wiggle(index)) + "\n" for index in range(1, 30))
        answer = self.answer(self.write("train.log", text))
        self.assertEqual(answer["headline"]["status"], "no-model")
        self.assertIsNone(answer["headline"]["mfu"])
        for option in ("--model", "--gpus", "--seq-len", "--chip"):
            self.assertIn(option, answer["headline"]["mfu_missing"])
        self.assertAlmostEqual(answer["steps"]["p50_seconds"], 3.1, delta=0.01)
        self.assert_refused(self.mfu("log", "-", "--min-mfu", "40%", stdin=text.encode()),
                            "MFU is not known")

    def test_segments(self):
        text = megatron_log(tflops=False)
        resumed = "".join(step_line(index, 3500 * wiggle(index)) + "\n" for index in range(40, 90))
        path = self.write("train.log", text + resumed)
        both = self.answer(path)
        self.assertEqual(len(both["steps"]["segments"]), 2)
        self.assertAlmostEqual(both["steps"]["segments"][1]["change"], 3500 / 3100 - 1, delta=0.01)
        self.assertAlmostEqual(self.answer(path, "--segment", "last")["steps"]["p50_seconds"], 3.5,
                               delta=0.01)
        self.assertAlmostEqual(self.answer(path, "--segment", "1")["steps"]["p50_seconds"], 3.1,
                               delta=0.01)
        self.assert_refused(self.mfu("log", path, "--segment", "3"), "segment 3", "last or all")
        self.assert_refused(self.mfu("log", path, "--segment", "x"), "--segment")

    def test_columns_of_csv(self):
        rows = ["step,dt,tok"] + [f"{i},{1000 * wiggle(i):.3f},65536" for i in range(1, 40)]
        path = self.write("steps.csv", "\n".join(rows) + "\n")
        answer = self.answer(path, "--columns", "step=step,step_time=dt:ms,tokens=tok", "--params",
                             "7B", "--gpus", "8", "--chip", "a100")
        self.assertAlmostEqual(answer["headline"]["mfu"], 6 * 7e9 * 65536 / 8 / 312e12, delta=0.001)
        self.assert_refused(self.mfu("log", path, "--columns", "step_tim=dt"), "step_tim")
        self.assert_refused(self.mfu("log", path, "--columns", "dt"), "--columns")
        self.assert_refused(self.mfu("log", path, "--columns", "step_time=dtt:ms"), "no column 'dtt'",
                            "did you mean 'dt'?")
        self.assert_refused(self.mfu("log", path, "--columns", "step_time=dt:ms,step_time=tok"),
                            "two columns")

    def test_the_example_is_as_it_is_made(self):
        example = pathlib.Path(os.environ.get("SOURCE", ".")) / "examples/train.log"
        self.assertEqual(example.read_text(encoding="utf-8"), megatron_log(steps=80, slow_every=10))

    def test_usage(self):
        self.assert_refused(self.mfu("log"), "no log")
        path = self.write("train.log", megatron_log())
        self.assert_refused(self.mfu("log", path, "--chpi", "a100"), "did you mean '--chip'?")
        self.assert_refused(self.mfu("log", path, "--max-regression", "3%"), "--baseline")
        self.assert_refused(self.mfu("log", path, "--max-step", "13"), "no unit")
        self.assert_refused(self.mfu("log", path, "--format", "megatron"), "megatron-lm")
        self.assert_refused(self.mfu("log", self.write("x.log", "hello\n")), "not a training log")
        self.assert_refused(self.mfu("log", path, "--skip", "99"), "no step")

    def test_formats_are_listed(self):
        result = self.mfu("list", "logs", "--json")
        names = [item["id"] for item in json.loads(result.stdout)["items"]]
        for name in ("megatron-lm", "torchtitan", "csv"):
            self.assertIn(name, names)
        for line in self.mfu("list", "logs").stdout.decode().splitlines():
            self.assertLessEqual(len(line), 80, line)

    def test_a_step_above_the_peak_is_refused(self):
        # At 60 % of the peak a step of half the usual time is more than the GPU can do.
        seconds = [1700 * wiggle(index) for index in range(30)]
        seconds[12] = 800
        lines = arguments_block() + [step_line(100 + index, took)
                                     for index, took in enumerate(seconds)]
        answer = self.answer(self.write("train.log", "\n".join(lines) + "\n"), "--chip", "h100-sxm")
        self.assertEqual(answer["steps"]["left_out_by_reason"]["over_peak"], 1)

    def test_help_fits(self):
        result = self.mfu("log", "--help")
        self.assertEqual(result.returncode, 0)
        for line in result.stdout.decode().splitlines():
            self.assertLessEqual(len(line), 80, line)

    def test_the_locale_does_not_matter(self):
        path = self.write("train.log", megatron_log())
        wanted = self.mfu("log", path, "--chip", "a100").stdout
        self.assertEqual(self.mfu("log", path, "--chip", "a100", env={"LC_ALL": "de_DE.UTF-8"}).stdout,
                         wanted)


class Pipes(Log):
    def test_standard_input_and_gzip(self):
        text = megatron_log().encode()
        plain = self.answer("-", "--chip", "h100-sxm", stdin=text)
        packed = self.answer("-", "--chip", "h100-sxm", stdin=gzip.compress(text))
        self.assertEqual(plain["steps"], packed["steps"])
        self.assertEqual(plain["inputs"][0]["bytes"], len(text))

    def test_nothing_is_passed_on_unless_asked(self):
        text = megatron_log().encode()
        result = self.mfu("log", "-", "--chip", "h100-sxm", stdin=text)
        self.assertNotIn(b"elapsed time per iteration", result.stdout)
        report = str(self.folder / "mfu.json")
        result = self.mfu("log", "-", "--tee", "--chip", "h100-sxm", "--out", "json:" + report,
                          stdin=text)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, text)
        self.assertIn(b"MFU ", result.stderr)
        with open(report, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["exit_code"], 0)
        self.assert_refused(self.mfu("log", "-", "--tee", "--json", stdin=text), "--tee")

    def test_a_live_pipe_is_passed_on_as_it_comes(self):
        with subprocess.Popen([MFU, "log", "-", "--tee"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            text = megatron_log().encode()
            process.stdin.write(text[:4096])
            process.stdin.flush()
            passed = b""
            while len(passed) < 1024:  # blocks for good where nothing comes before the end
                passed += os.read(process.stdout.fileno(), 4096)
            self.assertTrue(text.startswith(passed))
            rest, _ = process.communicate(text[4096:], timeout=HANG)
            self.assertTrue(rest.endswith(text[-64:]))
        self.assertEqual(process.returncode, 0)


class Gates(Log):
    def setUp(self):
        super().setUp()
        self.path = self.write("train.log", megatron_log())
        self.baseline = self.save("old.json", megatron_log())

    def save(self, name, text, *more):
        log = self.write(name + ".log", text)
        result = self.mfu("log", log, "--chip", "h100-sxm", *more, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return self.write(name, result.stdout.decode())

    def gate(self, text, *more, code=0):
        path = self.write("new.log", text)
        answer = self.answer(path, "--chip", "h100-sxm", *more, code=code)
        self.assertEqual(len(answer["gates"]), 1)
        return answer["gates"][0]

    def test_min_mfu_and_max_step(self):
        text = megatron_log()
        self.assertTrue(self.gate(text, "--min-mfu", "20%")["passed"])
        self.assertFalse(self.gate(text, "--min-mfu", "60%", code=1)["passed"])
        self.assertTrue(self.gate(text, "--max-step", "3.2s")["passed"])
        gate = self.gate(text, "--max-step", "3s", code=1)
        self.assertFalse(gate["passed"])
        self.assertAlmostEqual(gate["value"], 3.1, delta=0.01)

    def regression(self, text, limit="3%", code=0):
        return self.gate(text, "--max-regression", limit, "--baseline", self.baseline, code=code)

    def test_a_regression_fails(self):
        gate = self.regression(megatron_log(milliseconds=3300.0), code=1)
        self.assertFalse(gate["passed"])
        self.assertAlmostEqual(gate["value"], 1 - 3100 / 3300, delta=0.002)
        result = self.mfu("log", self.write("new.log", megatron_log(milliseconds=3300.0)), "--chip",
                          "h100-sxm", "--max-regression", "3%", "--baseline", self.baseline)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"FAILED", result.stdout)

    def test_what_is_within_the_limit_or_quicker_passes(self):
        self.assertTrue(self.regression(megatron_log(milliseconds=3150.0))["passed"])
        self.assertTrue(self.regression(megatron_log(milliseconds=2900.0))["passed"])
        self.assertTrue(self.regression(megatron_log())["passed"])

    def test_what_noise_could_do_is_said_and_passes_beyond_noise(self):
        lines = arguments_block()
        for index in range(1, 25):
            lines.append(step_line(index, 3140 * (1.08 if index % 2 else 0.92)
                                   + 70 * ((5 * index) % 7 - 3)))
        path = self.write("new.log", "\n".join(lines) + "\n")
        arguments = ["log", path, "--chip", "h100-sxm", "--max-regression", "0.5%", "--baseline",
                     self.baseline]
        result = self.mfu(*arguments)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("noise alone could do that", " ".join(result.stdout.decode().split()))
        self.assertEqual(self.mfu(*arguments, "--beyond-noise").returncode, 0)

    def test_too_few_steps_fail_and_say_that_the_noise_is_not_known(self):
        text = "\n".join(arguments_block() + [step_line(7, 4000), step_line(8, 4000)]) + "\n"
        path = self.write("new.log", text)
        result = self.mfu("log", path, "--chip", "h100-sxm", "--max-regression", "3%", "--baseline",
                          self.baseline)
        self.assertEqual(result.returncode, 1)
        self.assertIn("noise is not known", " ".join(result.stdout.decode().split()))
        result = self.mfu("log", path, "--chip", "h100-sxm", "--max-regression", "3%", "--baseline",
                          self.baseline, "--beyond-noise")
        self.assertEqual(result.returncode, 0)

    def test_another_fingerprint_is_refused_with_both(self):
        for more in (["--convention", "6n"], ["--clock", "max"], ["--precision", "fp8"]):
            with self.subTest(more=more):
                result = self.mfu("log", self.path, "--chip", "h100-sxm", *more,
                                  "--max-regression", "3%", "--baseline", self.baseline)
                self.assert_refused(result, "not comparable", "convention=palm", "989.4T")

    def test_what_is_no_baseline(self):
        def refused(content, *texts):
            path = self.write("b.json", content)
            result = self.mfu("log", self.path, "--chip", "h100-sxm", "--max-regression", "3%",
                              "--baseline", path)
            self.assert_refused(result, *texts)
        refused("{", "not an mfu report")
        refused({"schema": "mfu.run/1"}, "not an mfu report")
        refused({"schema": "mfu.report/9"}, "another version")
        failed = self.mfu("log", "/no/such/file", "--json").stdout.decode()
        refused(failed, "a command that failed")
        flops = self.mfu("flops", "--model", "gpt2", "--seq-len", "1024", "--json").stdout.decode()
        refused(flops, "no baseline")


class ByRank(Cli):
    """diagnose on logs that say something rank by rank."""

    def diagnosed(self, *paths):
        result = self.mfu("diagnose", *paths, "--json")
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return json.loads(result.stdout)

    def timers(self, slow, steps=24, ranks=8):
        lines = arguments_block(world_size=ranks, data_parallel_size=ranks)
        for step in range(1, steps + 1):
            lines.append(step_line(step, 1100.0))
            own = [600 * (1.5 if rank == slow else 1) + 2 * ((7 * rank + 3 * step) % 5)
                   for rank in range(ranks)]
            lines.append("times across ranks (ms):")
            for name, values in (("forward-compute", [value / 3 for value in own]),
                                 ("backward-compute", [value * 2 / 3 for value in own]),
                                 ("all-grads-sync", [960 - value for value in own])):
                lines.append(f"  {name}:")
                lines += [f"     rank {rank:2d}: {value:.2f}" for rank, value in enumerate(values)]
        return "\n".join(lines) + "\n"

    def test_megatron_timers_of_all_ranks(self):
        answer = self.diagnosed(self.write("train.log", self.timers(slow=5)))
        self.assertEqual(answer["verdict"]["family"], "straggler")
        self.assertEqual(answer["verdict"]["culprits"]["ranks"], [5])
        self.assertAlmostEqual(answer["headline"]["step_seconds"], 1.1, delta=0.02)
        self.assertIn("timers-as-run", [note["code"] for note in answer["notes"]])
        healthy = self.diagnosed(self.write("train.log", self.timers(slow=None)))
        self.assertEqual(healthy["verdict"]["culprits"]["ranks"], [])

    def test_ascend_rows_in_one_file_or_several(self):
        header = ("Step,Type,Index,Computing,Communication(Not Overlapped),Overlapped,Communication,"
                  "Free,Stage,Bubble,Preparing")
        rows = {}
        for rank in range(8):
            rows[rank] = []
            for step in range(1, 25):
                own = 700000 * (1.4 if rank == 2 else 1) + 900 * ((7 * rank + 3 * step) % 5)
                rows[rank].append(f"{step},rank,{rank},{own},{1010000 - own},1000,{1011000 - own},"
                                  "15000,0,0,0")
        whole = self.write("cluster.csv", "\n".join([header] + sum(rows.values(), [])) + "\n")
        answer = self.diagnosed(whole)
        self.assertEqual(answer["verdict"]["family"], "straggler")
        self.assertEqual(answer["verdict"]["culprits"]["ranks"], [2])
        parts = [self.write(f"r{rank}.csv", "\n".join([header] + rows[rank]) + "\n")
                 for rank in (7, 2, 0, 1, 3, 4, 5, 6)]
        several = self.diagnosed(*parts)
        self.assertEqual(several["parts"], answer["parts"])
        self.assertEqual(several["verdict"], answer["verdict"])

    def test_from_standard_input(self):
        text = self.timers(slow=5)
        wanted = self.diagnosed(self.write("train.log", text))
        for stdin in (text.encode(), gzip.compress(text.encode())):
            result = self.mfu("diagnose", "-", "--json", stdin=stdin)
            self.assertEqual(result.returncode, 0, result.stderr.decode())
            answer = json.loads(result.stdout)
            self.assertEqual(answer["verdict"], wanted["verdict"])
            self.assertEqual(answer["inputs"][0]["path"], "-")
            self.assertEqual(answer["inputs"][0]["bytes"], len(stdin))
        # Any other pipe is read once, too.
        pipe = str(self.folder / "pipe")
        os.mkfifo(pipe)
        with subprocess.Popen(["cp", self.write("train.log", text), pipe]):
            self.assertEqual(self.diagnosed(pipe)["verdict"], wanted["verdict"])
        # Longer than what is looked at first, and no log at all.
        padded = "# nothing\n" * 60000 + text
        result = self.mfu("diagnose", "-", "--json", stdin=padded.encode())
        self.assertEqual(json.loads(result.stdout)["verdict"], wanted["verdict"])
        self.assert_refused(self.mfu("diagnose", "-", stdin=megatron_log().encode()),
                            "without per-rank values", "mfu log")
        self.assert_refused(self.mfu("diagnose", "-", stdin=b"hello there\n"),
                            "not a timing document: it starts with")
        self.assert_refused(self.mfu("diagnose", "-", stdin=b""), "empty")

    def test_what_is_told_twice_counts_once(self):
        path = self.write("train.log", self.timers(slow=5))
        wanted = self.diagnosed(path)
        self.assertEqual(self.diagnosed(path, path)["parts"], wanted["parts"])
        # A resumed run goes over its last steps again.
        text = self.timers(slow=5)
        again = text[text.index(" [2026-01-01 00:00:00] iteration       11/"):]
        self.assertEqual(self.diagnosed(self.write("again.log", text + again))["parts"],
                         wanted["parts"])

    def test_scores_say_who_and_not_where(self):
        text = ("GPU relative performance:\n" +
                "".join(f"  Rank={rank} Node=n{rank // 4} Score={0.62 if rank == 6 else 0.98}\n"
                        for rank in range(8)))
        done = self.mfu("diagnose", self.write("nvrx.log", text), "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        verdict = json.loads(done.stdout)["verdict"]
        self.assertEqual((verdict["family"], verdict["culprits"]["ranks"]), ("straggler", [6]))
        self.assertIn("0.62", " ".join([verdict["summary"], *verdict["evidence"]]))

    def test_scores_among_which_nobody_stands_out_are_an_answer(self):
        def scores(lowest):
            return ("GPU relative performance:\n" +
                    "".join(f"  Rank={rank} Node=n{rank // 4} "
                            f"Score={lowest if rank == 6 else 1.0}\n" for rank in range(8)))
        path = self.write("nvrx.log", scores(0.97))
        done = self.mfu("diagnose", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"healthy as far as scores tell", done.stdout)
        self.assertIn(b"rank 6", done.stdout)
        done = self.mfu("diagnose", path, "--json", "--fail-on", "straggler")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["verdict"]["family"], "healthy")
        self.assertTrue(report["gates"][0]["passed"])
        self.assertEqual(len(report["inputs"]), 1)
        self.assertEqual(self.mfu("diagnose", path, "--fail-on", "healthy").returncode, 1)
        self.assertEqual(self.mfu("diagnose", path, "--min-mfu", "40%").returncode, 2)
        slow = self.write("slow.log", scores(0.94))
        self.assertEqual(self.mfu("diagnose", slow).returncode, 0)
        self.assertEqual(self.mfu("diagnose", slow, "--fail-on", "straggler").returncode, 1)

    def test_a_log_without_ranks_and_what_is_none(self):
        self.assert_refused(self.mfu("diagnose", self.write("train.log", megatron_log())),
                            "without per-rank values", "mfu log")
        self.assert_refused(self.mfu("diagnose", self.write("x.txt", "hello there\n")),
                            "not a timing document")


if __name__ == "__main__":
    sys.exit(unittest.main())
