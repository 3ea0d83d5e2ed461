#!/usr/bin/env python3
"""mfu log through the real binary (MFU_BIN): logs written here, gates, and every form of output read
by a parser of its own."""

import csv
import gzip
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree

from driven import MFU, Cli, run_document

SHAPE = {"num_layers": 32, "hidden_size": 4096, "ffn_hidden_size": 14336, "num_attention_heads": 32,
         "num_query_groups": 8, "group_query_attention": True, "swiglu": True, "seq_length": 8192,
         "micro_batch_size": 1, "global_batch_size": 128, "world_size": 64, "data_parallel_size": 64,
         "tensor_model_parallel_size": 1, "pipeline_model_parallel_size": 1, "bf16": True,
         "padded_vocab_size": 128256, "untie_embeddings_and_output_weights": True,
         "max_position_embeddings": 8192, "position_embedding_type": "rope"}
# FLOPs of a token of that shape as Megatron-LM counts them, worked out by hand below.
LAYERS, HIDDEN, FFN, VOCAB, SEQ = 32, 4096, 14336, 128256, 8192


def megatron_flops_per_token():
    """12 L h^2 x ((1 + 1/4 + s / 2h) + 3 f / 2h ... ) written as matrix products, all times 3 passes
    and 2 FLOPs: queries and output h^2 each, keys and values h^2/4 each, causal halves the scores."""
    attention = 2 * HIDDEN * HIDDEN + 2 * HIDDEN * HIDDEN / 4
    scores = HIDDEN * SEQ  # two products of h x s, causal: half of them
    mlp = 3 * HIDDEN * FFN
    return 6 * (LAYERS * (attention + scores + mlp) + HIDDEN * VOCAB)


def step_line(iteration, milliseconds, tflops=None, batch=128, total=500):
    text = (f" [2026-01-01 00:00:00] iteration {iteration:8d}/{total:8d} | consumed samples: "
            f"{iteration * batch:12d} | elapsed time per iteration (ms): {milliseconds:.1f} | ")
    if tflops is not None:
        text += f"throughput per GPU (TFLOP/s/GPU): {tflops:.1f} | "
    return text + (f"learning rate: 3.0E-05 | global batch size: {batch:5d} | lm loss: 2.5E+00 | "
                   "loss scale: 1.0 | grad norm: 0.5 | number of skipped iterations:   0 | "
                   "number of nan iterations:   0 |")


def arguments_block(**changes):
    lines = ["------------------------ arguments ------------------------"]
    for name, value in {**SHAPE, **changes}.items():
        if value is not None:
            lines.append(f"  {name} {'.' * (48 - len(name))} {value}")
    lines.append("-------------------- end of arguments ---------------------")
    return lines


def wiggle(index):
    return 1 + 0.004 * ((7 * index) % 11 - 5) / 5


def megatron_log(milliseconds=3100.0, steps=60, first=9000.0, tflops=True, slow_every=0, **changes):
    work = megatron_flops_per_token() * SHAPE["global_batch_size"] * SEQ / SHAPE["world_size"]
    lines = arguments_block(**changes)
    for index in range(1, steps + 1):
        took = milliseconds * wiggle(index)
        if index == 1 and first:
            took = first
        elif slow_every and index % slow_every == 0:
            took *= 1.4
        lines.append(step_line(index, took, work / took / 1e9 if tflops else None))
    return "\n".join(lines) + "\n"


class Log(Cli):
    def answer(self, *arguments, code=0, **options):
        result = self.mfu("log", *arguments, "--json", **options)
        self.assertEqual(result.returncode, code, result.stderr.decode())
        return json.loads(result.stdout)


class Answer(Log):
    def test_a_megatron_log_needs_only_the_chip(self):
        path = self.write("train.log", megatron_log())
        answer = self.answer(path, "--chip", "h100-sxm")
        self.assertEqual(answer["command"], "log")
        self.assertEqual(answer["setup"]["format"], "megatron-lm")
        self.assertEqual(answer["setup"]["gpus"], 64)
        self.assertEqual(answer["setup"]["tokens_per_step"], 128 * 8192)
        self.assertEqual(answer["setup"]["reference"], "median")
        self.assertEqual(answer["steps"]["warmup"], 1)
        self.assertEqual(answer["steps"]["used"], 59)
        self.assertAlmostEqual(answer["steps"]["p50_seconds"], 3.1, delta=0.002)
        self.assertEqual(answer["headline"]["step_seconds"], answer["steps"]["p50_seconds"])
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
                        f"{answer['steps']['p50_seconds']!r}s", "--json")
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
        self.assertIn("does not reproduce", answer["reported"]["missing"])

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

    def test_usage(self):
        self.assert_refused(self.mfu("log"), "no log")
        path = self.write("train.log", megatron_log())
        self.assert_refused(self.mfu("log", path, "--chpi", "a100"), "did you mean '--chip'?")
        self.assert_refused(self.mfu("log", path, "--max-regression", "3%"), "--baseline")
        self.assert_refused(self.mfu("log", path, "--max-step", "13"), "no unit")
        self.assert_refused(self.mfu("log", path, "--format", "megatron"), "megatron-lm")
        self.assert_refused(self.mfu("log", self.write("x.log", "hello\n")), "no training log")
        self.assert_refused(self.mfu("log", path, "--skip", "99"), "no step")

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
            rest, _ = process.communicate(text[4096:], timeout=60)
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

    def test_noise_passes_and_is_said_to_be_noise(self):
        lines = arguments_block()
        for index in range(1, 25):
            lines.append(step_line(index, 3140 * (1.08 if index % 2 else 0.92)
                                   + 70 * ((5 * index) % 7 - 3)))
        path = self.write("new.log", "\n".join(lines) + "\n")
        arguments = ["log", path, "--chip", "h100-sxm", "--max-regression", "0.5%", "--baseline",
                     self.baseline]
        result = self.mfu(*arguments)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("noise", " ".join(result.stdout.decode().split()))

    def test_too_few_steps_pass_and_say_so(self):
        text = "\n".join(arguments_block() + [step_line(7, 4000), step_line(8, 4000)]) + "\n"
        path = self.write("new.log", text)
        result = self.mfu("log", path, "--chip", "h100-sxm", "--max-regression", "3%", "--baseline",
                          self.baseline)
        self.assertEqual(result.returncode, 0)
        self.assertIn("too few steps", " ".join(result.stdout.decode().split()))

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
        refused("{", "no report")
        refused({"schema": "mfu.run/1"}, "no report")
        refused({"schema": "mfu.report/9"}, "another version")
        failed = self.mfu("log", "/no/such/file", "--json").stdout.decode()
        refused(failed, "a command that failed")
        flops = self.mfu("flops", "--model", "gpt2", "--seq-len", "1024", "--json").stdout.decode()
        refused(flops, "no baseline")


class Forms(Log):
    """Every form by a parser that is not ours."""

    def setUp(self):
        super().setUp()
        # Names that are markup, formulas and control characters somewhere.
        self.path = self.write('=a|b,"<c>&%@x`\n.log', megatron_log())

    def written(self, form, *arguments, code=0, env=None):
        path = str(self.folder / ("out." + form))
        result = self.mfu(*arguments, "--out", f"{form}:{path}", env=env)
        self.assertEqual(result.returncode, code, result.stderr)
        with open(path, "rb") as file:
            return file.read().decode(), result

    def commands(self):
        log = ("log", self.path, "--chip", "h100-sxm", "--min-mfu", "99%", "--max-step", "1h")
        calc = ("calc", "--params", "7B", "--tokens-per-s-per-gpu", "3700", "--chip", "a100",
                "--min-mfu", "99%")
        run = self.write("run.json", run_document(slow_rank=3))
        return ((log, 1), (calc, 1), (("diagnose", run, "--fail-on", "straggler"), 1))

    def test_junit(self):
        for arguments, code in self.commands():
            with self.subTest(command=arguments[0]):
                text, _ = self.written("junit", *arguments, code=code)
                root = ElementTree.fromstring(text.encode())
                self.assertEqual(root.tag, "testsuites")
                suite = root.find("testsuite")
                cases = suite.findall("testcase")
                self.assertEqual(int(suite.get("tests")), len(cases))
                self.assertEqual(int(suite.get("failures")), len(suite.findall("testcase/failure")))
                self.assertEqual(int(suite.get("failures")), 1)
        text, _ = self.written("junit", "log", self.path)
        self.assertEqual(len(ElementTree.fromstring(text.encode()).findall(".//testcase")), 1)

    def test_prometheus(self):
        for arguments, code in self.commands():
            with self.subTest(command=arguments[0]):
                text, _ = self.written("prom", *arguments, code=code)
                samples = prometheus_samples(self, text)
                self.assertIn("mfu_report_info", samples)
                self.assertTrue(any(value == 0 for _, value in samples["mfu_gate_passed"]))
                if arguments[0] == "log":
                    labels, value = samples["mfu_step_seconds"][0]
                    self.assertAlmostEqual(value, 3.1, delta=0.01)
                    self.assertEqual(labels["input"], self.path.replace("\n", "?"))
                if arguments[0] == "diagnose":
                    total = sum(value for _, value in samples["mfu_part_seconds"])
                    self.assertAlmostEqual(total, samples["mfu_step_seconds"][0][1], places=9)

    def test_prometheus_replaces_the_file_in_one_move(self):
        target = self.folder / "out.prom"
        target.write_text("old\n")
        before = target.stat().st_ino
        self.written("prom", "log", self.path)
        self.assertNotEqual(target.stat().st_ino, before)
        self.assertEqual([name for name in os.listdir(self.folder) if name.endswith(".tmp")], [])
        # What fails leaves the old one, and nothing beside it.
        target.write_text("old\n")
        result = self.mfu("log", "/no/such/log", "--out", f"prom:{target}")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(target.read_text(), "old\n")
        self.assertEqual([name for name in os.listdir(self.folder) if name.endswith(".tmp")], [])

    def test_csv(self):
        headers = set()
        for arguments, code in self.commands():
            with self.subTest(command=arguments[0]):
                text, _ = self.written("csv", *arguments, code=code)
                rows = list(csv.reader(io.StringIO(text)))
                self.assertEqual(len(rows), 2)
                self.assertEqual(len(rows[0]), len(rows[1]))
                headers.add(tuple(rows[0]))
                values = dict(zip(*rows))
                self.assertEqual(values["command"], arguments[0])
                self.assertEqual(values["gates_failed"], "1")
                for cell in rows[1]:
                    self.assertFalse(cell[:1] in ("=", "+", "@"), cell)
        self.assertEqual(len(headers), 1)

    def test_markdown(self):
        for arguments, code in self.commands():
            with self.subTest(command=arguments[0]):
                text, _ = self.written("md", *arguments, code=code)
                self.assertTrue(text.startswith(f"### mfu {arguments[0]}: "), text)
                self.assertIn("**FAILED:**", text)
                for line in text.splitlines():
                    bare = re.sub(r"`[^`]*`", "", line)
                    self.assertNotRegex(bare, r"<|(?<!\\)`|(?<!\w)@")
                    if line.startswith("|"):
                        self.assertEqual(len(re.findall(r"(?<!\\)\|", line)), 3, line)

    def test_github(self):
        summary = self.folder / "summary.md"
        summary.write_text("before\n")
        environment = {"GITHUB_STEP_SUMMARY": str(summary)}
        for arguments, code in self.commands():
            with self.subTest(command=arguments[0]):
                result = self.mfu(*arguments, "--out", "github", env=environment)
                self.assertEqual(result.returncode, code, result.stderr)
                self.check_annotations(result.stdout.decode(), 1)
        text = summary.read_text()
        self.assertTrue(text.startswith("before\n### mfu log: "), text[:80])
        self.assertEqual(text.count("### mfu "), 3)
        # Standard output stays what was asked for.
        result = self.mfu("log", self.path, "--json", "--out", "github", env=environment)
        json.loads(result.stdout)
        self.check_annotations(result.stderr.decode(), 0)
        self.assert_refused(self.mfu("log", self.path, "--out", "github",
                                     env={"GITHUB_STEP_SUMMARY": ""}), "GITHUB_STEP_SUMMARY")
        self.written("github", "log", self.path)

    def check_annotations(self, text, errors):
        found = [line for line in text.splitlines() if line.startswith("::")]
        self.assertTrue(0 < len(found) <= 10)
        for line in found:
            match = re.fullmatch(r"::(notice|warning|error) title=([^:,\r\n]+)::(.+)", line)
            self.assertIsNotNone(match, line)
            self.assertNotRegex(match[2] + match[3], r"%(?!25|0D|0A|3A|2C)")
        self.assertEqual(sum(line.startswith("::error") for line in found), errors)

    def test_a_log_cannot_give_commands_to_the_runner(self):
        text = megatron_log().replace("  bf16 ", "  model_name .... ::error::owned\n  bf16 ")
        path = self.write("a\n::error::owned.log", text)
        result = self.mfu("log", path, "--out", "github",
                          env={"GITHUB_STEP_SUMMARY": str(self.folder / "s.md")})
        self.assertEqual(result.returncode, 0, result.stderr)
        for line in (result.stdout + result.stderr).decode().splitlines():
            self.assertFalse(line.startswith("::error"), line)

    def test_forms_that_have_no_sense_are_refused_before_anything_is_written(self):
        target = self.write("list.md", "old")
        for form in ("md", "csv", "junit", "prom"):
            result = self.mfu("list", "models", "--out", f"{form}:{target}")
            self.assert_refused(result, "mfu list has no form as")
            self.assertEqual(result.stdout, b"")
            with open(target, encoding="utf-8") as file:
                self.assertEqual(file.read(), "old")
        self.assert_refused(self.mfu("log", self.path, "--out", "html"), "html")


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

    def test_scores_say_who_and_not_where(self):
        text = ("GPU relative performance:\n" +
                "".join(f"  Rank={rank} Node=n{rank // 4} Score={0.62 if rank == 6 else 0.98}\n"
                        for rank in range(8)))
        self.assert_refused(self.mfu("diagnose", self.write("nvrx.log", text)), "rank 6 with 0.62",
                            "not where")

    def test_a_log_without_ranks_and_what_is_none(self):
        self.assert_refused(self.mfu("diagnose", self.write("train.log", megatron_log())),
                            "nothing rank by rank", "mfu log")
        self.assert_refused(self.mfu("diagnose", self.write("x.txt", "hello there\n")),
                            "not a timing document")


class Action(Log):
    """The script of the composite action, as the runner calls it."""

    def act(self, code=0, **inputs):
        script = pathlib.Path(os.environ.get("SOURCE", ".")) / ".github/actions/mfu/run.sh"
        for name in ("summary.md", "outputs"):
            (self.folder / name).write_text("")
        environment = {**os.environ, "MFU_PROGRAM": MFU, "MFU_LOG": "train.log",
                       "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
                       "GITHUB_OUTPUT": str(self.folder / "outputs"), **inputs}
        result = subprocess.run(["bash", str(script.resolve())], cwd=self.folder, env=environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual(result.returncode, code, result.stderr.decode())
        return result

    def test_answer_summary_and_outputs(self):
        self.write("train.log", megatron_log())
        result = self.act(MFU_OPTIONS="--chip h100-sxm\n  --convention 6n", MFU_MIN_MFU="20%")
        self.assertIn(b"::notice title=mfu log::MFU ", result.stdout)
        outputs = dict(line.split("=", 1) for line in
                       (self.folder / "outputs").read_text().splitlines())
        self.assertGreater(float(outputs["mfu"]), 0.2)
        self.assertAlmostEqual(float(outputs["step-seconds"]), 3.1, delta=0.01)
        self.assertIn("### mfu log: MFU ", (self.folder / "summary.md").read_text())
        report = json.loads((self.folder / "mfu.json").read_text())
        self.assertEqual(report["setup"]["convention"], "6n")

    def test_gates(self):
        self.write("train.log", megatron_log())
        options = {"MFU_OPTIONS": "--chip h100-sxm"}
        self.act(**options, MFU_BASELINE="none.json")  # the first run
        os.rename(self.folder / "mfu.json", self.folder / "old.json")
        self.act(**options, MFU_BASELINE="old.json")
        self.write("train.log", megatron_log(milliseconds=3500.0))
        result = self.act(code=1, **options, MFU_BASELINE="old.json", MFU_JUNIT="mfu.xml")
        self.assertIn(b"::error title=mfu log::--max-regression 3%25", result.stdout)
        self.assertEqual(len(ElementTree.parse(self.folder / "mfu.xml").findall(".//failure")), 1)

    def test_inputs_are_no_script(self):
        self.write("train.log", megatron_log())
        self.act(code=2, MFU_OPTIONS="$(touch owned) `touch owned` ; touch owned")
        self.assertFalse((self.folder / "owned").exists())


NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\S+)")


def prometheus_samples(test, text):
    """The text format as node_exporter's collector takes it: no timestamps, one HELP and TYPE before
    the samples of a metric, no metric in two places, no series twice."""
    test.assertTrue(text.endswith("\n"))
    samples, announced, current, series = {}, {}, None, set()
    for line in text.splitlines():
        test.assertNotIn("\r", line)
        if line.startswith("# "):
            match = re.fullmatch(rf"# (HELP|TYPE) ({NAME}) (.+)", line)
            test.assertIsNotNone(match, line)
            kinds = announced.setdefault(match[2], [])
            test.assertNotIn(match[1], kinds)
            test.assertNotIn(match[2], samples)
            if match[1] == "TYPE":
                test.assertIn(match[3], ("gauge", "counter"))
            kinds.append(match[1])
            continue
        match = SAMPLE.fullmatch(line)
        test.assertIsNotNone(match, line)
        name = match[1]
        test.assertTrue(name.startswith("mfu_"))
        test.assertEqual(announced.get(name), ["HELP", "TYPE"], name)
        test.assertNotIn((name, match[2]), series)
        series.add((name, match[2]))
        if name != current:
            test.assertNotIn(name, samples)
        current = name
        labels = dict(pair.split("=", 1) for pair in re.findall(LABEL, match[2] or ""))
        labels = {key: re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], value[1:-1])
                  for key, value in labels.items()}
        samples.setdefault(name, []).append((labels, float(match[3])))
    test.assertEqual(set(announced), set(samples))
    return samples


if __name__ == "__main__":
    sys.exit(unittest.main())
