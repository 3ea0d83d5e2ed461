#!/usr/bin/env python3
"""plan through the real binary (MFU_BIN), by a hostile user: GPUs that fail and money, what is not
pre-training, spellings of numbers, conventions without a model, every form of every answer."""

import csv
import io
import json
import re
import sys
import unittest

from driven import Cli

LLAMA = ["--model", "llama-3.1-8b", "--chip", "h100-sxm"]
WHOLE = [*LLAMA, "--tokens", "15T", "--gpus", "1024", "--mfu", "38%"]
WORK = [*LLAMA, "--tokens", "15T", "--mfu", "38%"]
FAILURES = ["--mtbf", "2000h/gpu", "--checkpoint-time", "60s", "--restart-time", "10m"]


def unexplained(value, path="", above=()):
    """Paths of nulls without a reason: in `missing` beside them, as KEY_missing, or, of the schedule's
    rows, with its shape."""
    found = []
    if isinstance(value, dict):
        for key, one in value.items():
            shape = above[0].get("schedule_shape") or {} if above and path.startswith(".schedule[") else {}
            said = (key in (value.get("missing") or {}) or key + "_missing" in value
                    or key in shape.get("missing", {}))
            if one is None and not said:
                found.append(f"{path}.{key}")
            found += unexplained(one, f"{path}.{key}", above or (value,))
    elif isinstance(value, list):
        for at, one in enumerate(value):
            found += unexplained(one, f"{path}[{at}]", above)
    return found


class Plan(Cli):
    def answer(self, *arguments, code=0):
        result = self.mfu("plan", *arguments, "--json")
        self.assertEqual(result.returncode, code, result.stderr.decode())
        return json.loads(result.stdout, parse_constant=self.fail)

    def plan(self, *arguments, code=0):
        return self.answer(*arguments, code=code)["plan"]

    def shown(self, *arguments):
        return " ".join(self.mfu("plan", *arguments).stdout.decode().split())


class FailingGpus(Plan):
    def test_gpu_hours_and_money_say_how_many_gpus(self):
        forward = self.plan(*WORK, "--gpus", "512", "--price", "2/h", *FAILURES)
        for given in (["--gpu-hours", repr(forward["gpu_hours"]), "--price", "2/h"],
                      ["--cost", repr(forward["cost"]), "--price", "2/h"],
                      ["--budget", repr(forward["cost"]), "--price", "2/h"]):
            with self.subTest(given=given):
                back = self.plan(*WORK, *FAILURES, *given)
                self.assertEqual((back["unknown"], back["open"], back["status"]), ("gpus", [], "ok"))
                self.assertTrue(back["gpus_at_most"])
                for key in ("gpus", "seconds", "cost"):
                    self.assertLess(abs(back[key] / forward[key] - 1), 1e-9, key)
        text = self.shown(*WORK, *FAILURES, "--gpu-hours", "600000")
        self.assertRegex(text, r"at most [\d,]+ GPUs")
        self.assertIn("enough for no more", text)

    def test_at_most_is_rounded_down(self):
        plan = self.plan(*WORK, *FAILURES, "--gpu-hours", "600000")
        whole = int(plan["gpus"])
        self.assertIn(f"at most {whole:,} GPUs", self.shown(*WORK, *FAILURES, "--gpu-hours", "600000"))
        one = self.plan(*WORK, *FAILURES, "--gpus", str(whole))
        more = self.plan(*WORK, *FAILURES, "--gpus", str(whole + 1))
        self.assertLessEqual(one["gpu_hours"], 600000)
        self.assertGreater(more["gpu_hours"], 600000)

    def test_what_not_even_one_gpu_can_do(self):
        self.assert_refused(self.mfu("plan", *WORK, *FAILURES, "--gpu-hours", "500k"),
                            "--gpu-hours: says 500,000 GPU-hours", "at least, with one GPU")
        self.assert_refused(self.mfu("plan", *WORK, *FAILURES, "--price", "2/h", "--cost", "1M"),
                            "--cost: says", "at least, with one GPU")
        answer = self.answer(*WORK, *FAILURES, "--price", "2/h", "--budget", "1M", code=1)
        gate = answer["gates"][0]
        self.assertEqual((gate["id"], gate["passed"]), ("budget", False))
        least = self.plan(*WORK, "--gpus", "1", *FAILURES, "--price", "2/h")["cost"]
        self.assertAlmostEqual(answer["plan"]["least_cost"], least, delta=1e-6 * least)
        self.assertAlmostEqual(gate["value"], least, delta=1e-6 * least)
        self.assertIn("is exceeded", " ".join(answer["advice"]))
        self.assertEqual(answer["plan"]["settled_by_any_of"], ["gpus", "seconds", "gpu_hours"])
        self.assertIn("open", answer["plan"]["status"])

    def test_one_gpu_that_always_fails(self):
        for given in (["--gpu-hours", "600k"], ["--price", "2/h", "--budget", "1M"]):
            self.assert_refused(self.mfu("plan", *WORK, *given, "--mtbf", "1s/gpu", *FAILURES[2:]),
                                "more GPUs fail more often")

    def test_a_budget_beside_a_deadline(self):
        forward = self.plan(*WORK, "--gpus", "512", "--price", "2/h", *FAILURES)
        cost, days = forward["cost"], forward["seconds"] / 86400
        given = [*WORK, *FAILURES, "--price", "2/h"]
        held = self.answer(*given, "--budget", repr(cost * 1.1), "--deadline", f"{days!r}d")
        self.assertLess(abs(held["plan"]["gpus"] / 512 - 1), 1e-9)
        self.assertEqual([(gate["id"], gate["passed"]) for gate in held["gates"]], [("budget", True)])
        dear = self.answer(*given, "--budget", repr(cost * 0.99), "--deadline", f"{days!r}d", code=1)
        self.assertEqual([(gate["id"], gate["passed"]) for gate in dear["gates"]], [("budget", False)])

    def test_two_numbers_of_gpus_take_the_same_time(self):
        days = self.plan(*WORK, "--gpus", "512", *FAILURES)["seconds"] / 86400
        plan = self.plan(*WORK, *FAILURES, "--time", f"{days!r}d")
        self.assertLess(abs(plan["gpus"] / 512 - 1), 1e-9)
        other = self.plan(*WORK, *FAILURES, "--gpus", str(round(plan["gpus_too"])))
        self.assertLess(abs(other["seconds"] / plan["seconds"] - 1), 1e-3)
        self.assertIn("take just as long", self.shown(*WORK, *FAILURES, "--time", f"{days!r}d"))


    def test_a_deadline_that_no_number_of_gpus_meets_is_a_gate(self):
        failing = ["--mtbf", "500h/gpu", *FAILURES[2:]]
        answer = self.answer(*WORK, *failing, "--deadline", "2d", code=1)
        gate = answer["gates"][0]
        self.assertEqual((gate["id"], gate["passed"]), ("deadline", False))
        plan = answer["plan"]
        self.assertEqual(gate["value"], plan["least_seconds"])
        self.assertEqual((plan["gpus"], plan["seconds"], plan["status"]), (None, None, "open"))
        self.assertEqual(plan["settled_by_any_of"], ["gpus", "gpu_hours"])
        fastest = self.plan(*WORK, *failing, "--gpus", str(int(plan["fastest_gpus"])))["seconds"]
        self.assertAlmostEqual(plan["least_seconds"], fastest, delta=1e-9 * fastest)
        for more in ("0.9", "1.1"):
            gpus = str(round(plan["fastest_gpus"] * float(more)))
            self.assertGreater(self.plan(*WORK, *failing, "--gpus", gpus)["seconds"], fastest)
        self.assertIsNone(plan["deadline_held_by"]["gpus"])
        mfu = plan["deadline_held_by"]["mfu"]
        if mfu <= 1:
            held = self.answer(*WORK[:-1], repr(mfu * 1.0001), *failing, "--deadline", "2d")
            self.assertEqual(held["gates"], [])
        text = self.shown(*WORK, *failing, "--deadline", "2d")
        self.assertIn("the fastest number", text)
        self.assertIn("at least, FAILED", text)
        self.assertRegex(text, r"at least [\d.]+ days, with [\d,]+ GPUs")
        # A statement is not a limit.
        self.assert_refused(self.mfu("plan", *WORK, *failing, "--time", "2d"), "fast enough")
        paid = self.answer(*WORK, *failing, "--deadline", "2d", "--price", "2/h", "--budget", "3M",
                           code=1)
        self.assertEqual([(gate["id"], gate["passed"]) for gate in paid["gates"]], [("deadline", False)])
        self.assertIsNotNone(paid["plan"]["gpus"])

    def test_a_rate_of_the_job_does_not_follow_the_gpus(self):
        for mtbf, said in (("3h/job", True), ("50000h/gpu", False)):
            left_out = self.answer(*WHOLE, "--mtbf", mtbf, *FAILURES[2:])["left_out"]["failures"]
            self.assertEqual("whatever its size" in left_out, said)

    def test_no_progress_is_no_answer(self):
        for mtbf in ("10s/job", "40h/gpu"):
            given = [*WORK, "--gpus", "16384", "--mtbf", mtbf, "--checkpoint-time", "60s",
                     "--restart-time", "10m"]
            self.assert_refused(self.mfu("plan", *given), "--mtbf", "nothing gets done")
        self.assert_refused(self.mfu("plan", *WHOLE, "--mtbf", "50000h/gpu", *FAILURES[2:],
                                     "--checkpoint-interval", "60d"),
                            "--checkpoint-interval", "60.0 days apart", "the best interval is")


class NotPretraining(Plan):
    def test_no_verdict_on_size_and_tokens(self):
        for kind, word in (("none", "forward passes only"), ("lora", "fine-tuning")):
            for given in (WHOLE, ["--params", "8B", *WHOLE[2:]],
                          [*LLAMA[2:], "--gpus", "8", "--mfu", "40%", "--time", "1d"]):
                with self.subTest(kind=kind, given=given):
                    arguments = [*given, "--trainable", kind]
                    answer = self.answer(*arguments)
                    self.assertIsNone(answer["optimal"])
                    self.assertIn(word, answer["optimal_missing"])
                    self.assertIn(f"trainable={kind}", answer["setup"]["fingerprint"])
                    text = self.shown(*arguments)
                    self.assertIn(word, text)
                    for form in ("text", "md"):
                        out = self.mfu("plan", *arguments, "--out", form).stdout.decode()
                        self.assertIn("No verdict on size", " ".join(out.split()))
                        for verdict in ("Over-trained", "Under-trained", "Besiroglu", "near 20"):
                            self.assertNotIn(verdict, out)
        self.assertIsNotNone(self.answer(*WHOLE, "--trainable", "all")["optimal"])

    def test_nor_on_batch_rate_and_mfu(self):
        lora = [*WHOLE, "--trainable", "lora"]
        answer = self.answer(*lora, "--tokens-per-step", "4194304", "--schedule", "cosine")
        self.assertIsNone(answer["batch"])
        self.assertIn("--noise-scale", answer["batch_missing"])
        self.assertIsNone(answer["schedule_shape"]["peak_learning_rate"])
        self.assertIsNotNone(self.answer(*lora, "--noise-scale", "2M")["batch"])
        none = [*WHOLE, "--trainable", "none"]
        self.assertIn("no gradient", self.answer(*none, "--noise-scale", "2M")["batch_missing"])
        self.assert_refused(self.mfu("plan", *none, "--schedule", "cosine", "--steps", "9"),
                            "--schedule: forward passes alone")
        for mfu in ("3%", "80%"):
            given = [*LLAMA, "--tokens", "1T", "--gpus", "8", "--mfu", mfu, "--trainable", "none"]
            self.assertEqual(self.answer(*given)["advice"], [])


class Spellings(Plan):
    def test_a_comma_and_a_scale(self):
        for option, value, one, other in (
                ("--gpu-hours", "2,664M", "2664M", "2.664M"), ("--tokens", "1,400B", "1400B", "1.400B"),
                ("--budget", "$1,500k", "1500k", "1.500k"), ("--cost", "EUR 1,500 k", "1500k", "1.500k"),
                ("--noise-scale", "2,000k", "2000k", "2.000k"), ("--gpu-hours", "2_664M", "2664M",
                                                                  "2.664M")):
            with self.subTest(option=option, value=value):
                self.assert_refused(self.mfu("plan", *LLAMA, option, value),
                                    f"{option}: '{value}': {one} or {other}?")
        plan = self.plan("--params", "37B", "--tokens", "14,800,000,000,000", "--chip", "h800",
                         "--gpu-hours", "2,664,000")
        self.assertLess(abs(plan["mfu"] / 0.346 - 1), 0.03)
        self.assertEqual(self.plan(*WHOLE, "--price", "2/h", "--budget", "1,500,000")["budget"], 1.5e6)

    def test_warmup(self):
        given = [*WHOLE, "--schedule", "cosine", "--steps", "100000", "--warmup"]
        for value, text, hint in (("2000", "2000 of what?", '"2000 steps"'), ("50", "50 steps or 50%?", "50%"),
                                  ("2k", "neither a share nor steps", "2000 steps"),
                                  ("375M tokens", "neither a share nor steps", "2000 steps"),
                                  ("1.5", "1.5 of what?", "1%"), ("1", "1 step or 1%?", "1%"),
                                  ("30d", "neither a share nor steps", "1%")):
            with self.subTest(value=value):
                result = self.mfu("plan", *given, value)
                self.assert_refused(result, text, hint)
                self.assertNotIn(b"2000%", result.stderr)
        for value, steps in (("2000 steps", 2000), ("2,000 steps", 2000), ("2%", 2000), ("0.02", 2000),
                             ("1 step", 1), ("0%", 0)):
            with self.subTest(value=value):
                self.assertEqual(self.answer(*given, value)["schedule_shape"]["warmup_steps"], steps)

    def test_units_of_another_kind(self):
        for option, value in (("--deadline", "30GB"), ("--deadline", "30d/job"), ("--time", "5T"),
                              ("--time", "inf d"), ("--deadline", "nand"), ("--price", "2.5/GB"),
                              ("--price", "2.5/h/h"), ("--price", "%/h"), ("--budget", "30d"),
                              ("--budget", "5%"), ("--mtbf", "5%/gpu"), ("--mtbf", "30/job"),
                              ("--gpus", "40%"), ("--mfu", "38d"), ("--tokens", "15Td"),
                              ("--gpu-hours", "30h"), ("--goodput", "9h"), ("--noise-scale", "5%")):
            with self.subTest(option=option, value=value):
                rest = [] if option != "--mtbf" else FAILURES[2:]
                self.assert_refused(self.mfu("plan", *LLAMA, option, value, *rest), option)
        per_day = self.plan(*WHOLE, "--price", "60/d")["cost"]
        self.assertAlmostEqual(per_day, self.plan(*WHOLE, "--price", "2.5/h")["cost"], delta=1e-3)

    def test_every_number_not_finite_or_not_positive(self):
        for option, unit in (("--deadline", "d"), ("--time", "d"), ("--gpu-hours", ""), ("--price", "/h"),
                             ("--budget", ""), ("--cost", ""), ("--tokens", ""), ("--gpus", ""),
                             ("--mfu", ""), ("--target-mfu", ""), ("--goodput", ""),
                             ("--noise-scale", ""), ("--loss", ""), ("--seq-len", ""),
                             ("--tokens-per-step", ""), ("--params", "")):
            for value in ("nan", "inf", "-inf", "-1", "0", "1e999", "--", "", " "):
                with self.subTest(option=option, value=value):
                    given = LLAMA if option != "--params" else LLAMA[2:]
                    result = self.mfu("plan", *given, f"{option}={value}{unit}")
                    self.assertEqual(result.returncode, 2, result.stdout.decode()[:300])


class Alone(Plan):
    def test_a_schedule_needs_nothing_of_the_run(self):
        out = self.mfu("plan", "--schedule", "cosine", "--steps", "1000", "--peak-lr", "3e-4", "--out",
                       "csv")
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertEqual(out.stdout.decode().splitlines()[-1].split(",")[::2], ["1000", "0.1", "end"])
        for given in (["--schedule", "wsd", "--steps", "1000"],
                      ["--params", "70B", "--schedule", "cosine", "--steps", "1"]):
            if given[-1] == "1":
                given += ["--warmup", "0%"]
            answer = self.answer(*given)
            self.assertEqual(answer["plan"]["status"], "open")
            self.assertEqual(answer["schedule_shape"]["steps"], float(given[given.index("--steps") + 1]))
            self.assertIn("steps" if "1000" in given else " 1 step ", self.shown(*given))
        self.assert_refused(self.mfu("plan", "--schedule", "cosine"), "tokens are not known")
        self.assert_refused(self.mfu("plan", "--schedule", "cosine", "--steps", "9", "--warmup",
                                     "10 steps"), "leave nothing")

    def test_nor_does_a_critical_batch(self):
        answer = self.answer("--params", "7B", "--loss", "2.2")
        self.assertAlmostEqual(answer["batch"]["critical_batch_tokens"], 2e8 / 2.2 ** (1 / 0.21), delta=1)
        self.assertIn("critical batch 4.682M tokens", self.shown("--loss", "2.2"))
        self.assertEqual(self.answer("--noise-scale", "2M")["batch"]["critical_batch_tokens"], 2e6)
        self.assert_refused(self.mfu("plan", "--params", "7B", "--tokens-per-step", "4194304"),
                            "tokens are not known")
        self.assert_refused(self.mfu("plan", "--loss", "2.2", "--trainable", "none"), "not known")


class Words(Plan):
    def test_where_rule_and_fit_disagree(self):
        text = self.shown("--model", "llama-3.1-405b", "--tokens", "15.6T")
        self.assertIn("too large for its tokens. Rule and fit disagree", text)
        self.assertNotIn("buy a smaller model", text)
        self.assertIn("buy a smaller model", self.shown(*WHOLE))
        # The corrected fit agrees with the rule.
        text = self.shown("--model", "llama-3.1-405b", "--tokens", "15.6T", "--fit", "besiroglu-2024")
        self.assertIn("buy a smaller model", text)

    def test_no_share_is_cut_to_nothing(self):
        text = self.shown("--params", "8B", "--tokens", "10k")
        self.assertIn("less than 0.1 %", text)
        self.assertIn("1.3e-6", text)
        self.assertNotRegex(text, r" 0 %| 0\.0 ")

    def test_a_goodput_that_nobody_gave_is_no_figure(self):
        for form in ("md", "prom", "junit"):
            self.assertNotIn(b"goodput", self.mfu("plan", *WHOLE, "--out", form).stdout)
            self.assertIn(b"goodput", self.mfu("plan", *WHOLE, *FAILURES, "--out", form).stdout)
        self.assertIn(b"| 7.23e23 FLOP |", self.mfu("plan", *WHOLE, "--out", "md").stdout)


class Sources(Plan):
    # What the project's own notes of those papers confirm.
    CONFIRMED = ("appendix B", "table 3", "section 4.1", "table 4")

    def test_the_power_limit_stands_where_it_is_said_to(self):
        self.assertIn("mfu peak CHIP", " ".join(self.mfu("explain", "energy-bound").stdout.decode().split()))
        self.assertIn("700 W", self.mfu("peak", "h100-sxm").stdout.decode())

    def test_no_number_of_a_section_or_table_from_memory(self):
        for term in ("plan", "usual-mfu", "effective-compute", "chinchilla", "hoffmann-2022",
                     "besiroglu-2024", "critical-batch", "noise-scale", "kaplan-2020", "inverse-loss",
                     "schedule", "peak-rate", "goodput", "young-daly", "mtbf"):
            text = " ".join(self.mfu("explain", term).stdout.decode().split())
            for found in re.findall(r"(?:section|table|appendix|equation|figure) (?:[A-Z]\b|[\d.]+\d|\d)", text):
                self.assertIn(found, self.CONFIRMED, term)
                self.assertIn(term, ("plan", "usual-mfu", "effective-compute"))


class Points(Plan):
    def test_all_is_all_or_refused(self):
        given = ["--params", "1B", "--tokens", "1T", "--schedule", "cosine", "--points", "all"]
        self.assert_refused(self.mfu("plan", *given, "--steps", "5,000,001"), "--points",
                            "5,000,001 steps are more rows")
        self.assertEqual(len(self.answer(*given, "--steps", "20000")["schedule"]), 20000)


class Labels(Plan):
    def test_what_cannot_be_counted_gives_no_label(self):
        budget = ["--chip", "h100-sxm", "--gpus", "1024", "--mfu", "38%", "--time", "10d"]
        for convention in ("palm", "exact-causal", "megatron-lm", "nanogpt"):
            for given in (budget, [*budget, "--seq-len", "4096"], ["--params", "8B", *budget]):
                with self.subTest(convention=convention, given=given):
                    self.assert_refused(self.mfu("plan", *given, "--convention", convention),
                                        "--convention", "6n")
        setup = self.answer(*budget)["setup"]
        self.assertEqual(setup["fingerprint"][:46], "convention=6n recompute=none trainable=all pea")
        bare = self.answer("--params", "8B", *budget, "--convention", "palm", "--attention", "none")
        self.assertIn("attention=none", bare["setup"]["fingerprint"])
        self.assertEqual(bare["setup"]["flops_per_token"], 48e9)


class Impossible(Plan):
    GIVEN = ["--params", "8B", "--chip", "h100-sxm", "--tokens", "15T", "--gpus", "8", "--time", "1d"]

    def test_no_form_has_the_mfu_as_a_figure(self):
        for form in ("prom", "junit", "md"):
            out = self.mfu("plan", *self.GIVEN, "--out", form).stdout.decode()
            self.assertNotIn("mfu_utilization_ratio", out)
            self.assertNotIn('name="mfu_ratio"', out)
            self.assertNotIn("| MFU |", out)
            self.assertTrue("impossible" in out.lower(), out)
        self.assertIn("mfu_utilization_ratio", self.mfu("plan", *WHOLE, "--out", "prom").stdout.decode())


    def test_nor_has_calc(self):
        given = ["--params", "8B", "--chip", "a100", "--gpus", "8", "--convention", "6n", "--tokens-per-s"]
        for form in ("prom", "junit", "csv", "md"):
            out = self.mfu("calc", *given, "1e6", "--out", form).stdout.decode()
            self.assertNotRegex(out, r"utilization_ratio|hfu_ratio\{|name=\"[mh]fu_ratio|19\.2\d")
            self.assertIn("impossible", out.lower())
        self.assertIn("MFU 1923.1 %", self.mfu("calc", *given, "1e6", "--out", "md").stdout.decode())
        self.assertIn("mfu_utilization_ratio", self.mfu("calc", *given, "2e4", "--out",
                                                        "prom").stdout.decode())


class Forms(Plan):
    ANSWERS = {
        "whole": WHOLE, "impossible": Impossible.GIVEN, "open": [*LLAMA, "--tokens", "1T"],
        "no-model": ["--chip", "h100-sxm", "--gpus", "8", "--mfu", "40%", "--time", "1d"],
        "no-peak": ["--params", "8B", "--tokens", "1T"],
        "bare-peak": ["--params", "8B", "--tokens", "1T", "--peak", "1P", "--mfu", "40%", "--gpus", "8"],
        "moe": ["--model", "mixtral-8x7b", "--chip", "h100-sxm", "--tokens", "1T", "--gpus", "64", "--mfu",
                "30%"],
        "moe-v3": ["--model", "deepseek-v3", "--chip", "h800", "--tokens", "14.8T", "--gpu-hours",
                   "2.664M"],
        "tpu": ["--model", "palm-540b", "--tokens", "780B", "--chip", "tpu-v4", "--gpus", "6144", "--mfu",
                "45.7%", "--price", "EUR 3/h"],
        "fp8": [*WHOLE, "--precision", "fp8"], "mix": [*WHOLE, "--precision", "bf16=0.7,fp8=0.3"],
        "lora": [*WHOLE, "--trainable", "lora", "--tokens-per-step", "4194304"],
        "hours": [*WORK, *FAILURES, "--gpu-hours", "600000", "--price", "2/h"],
        "dear": [*WORK, *FAILURES, "--budget", "1M", "--price", "€2/h"],
        "full": [*WHOLE, "--target-mfu", "55%", "--price", "$2.5/h", *FAILURES, "--tokens-per-step",
                 "4194304", "--seq-len", "8192", "--schedule", "wsd", "--deadline", "30d"],
        "late": [*WHOLE, "--deadline", "1d", "--price", "2/h", "--budget", "1k", "--batch", "100",
                 "--seq-len", "8192"],
        "in-vain": [*WORK, "--mtbf", "500h/gpu", *FAILURES[2:], "--deadline", "1d"],
        "batch": ["--loss", "2.2"], "schedule": ["--schedule", "linear", "--steps", "100"],
        "tiny": ["--params", "100k", "--tokens", "10k", "--peak", "1e18", "--mfu", "100%", "--gpus", "1"],
        "huge": [*LLAMA, "--tokens", "1e30", "--gpus", "1e12", "--mfu", "1%", "--price", "$1e12/h"],
    }

    def test_every_form_of_every_answer(self):
        for name, given in self.ANSWERS.items():
            with self.subTest(answer=name):
                code = 1 if name in ("dear", "late", "in-vain") else 0
                answer = self.answer(*given, code=code)
                self.assertEqual(unexplained(answer), [])
                for columns in ("80",):
                    text = self.mfu("plan", *given, env={"COLUMNS": columns}).stdout.decode()
                    self.assertGreater(len(text), 100)
                    for line in text.splitlines():
                        self.assertLessEqual(len(line), int(columns), line)
                for form in ("md", "prom", "junit"):
                    result = self.mfu("plan", *given, "--out", form)
                    self.assertEqual(result.returncode, code, (form, result.stderr))
                    self.assertNotRegex(result.stdout.decode(), r"\b(nan|inf)\b")
                if "--schedule" in given:
                    rows = list(csv.DictReader(io.StringIO(
                        self.mfu("plan", *given, "--out", "csv").stdout.decode())))
                    self.assertTrue(all(None not in row and None not in row.values() for row in rows))

    def test_money_signs_are_text_in_every_form(self):
        for price in ("$2/h", "€2/h", "EUR 2/h", "2 USD/h", "£2/d"):
            answer = self.answer(*WHOLE, "--price", price)
            self.assertTrue(answer["plan"]["currency"])
        for price in (b"\xff2/h", b"\xc3(2/h", b"\x802/h", "\u202e2/h".encode(), b"a\nb2/h"):
            result = self.mfu("plan", *WHOLE, "--price", price, "--json")
            self.assertEqual(result.returncode, 2, result.stdout[:200])


    def test_energy_that_is_not_known_is_said_to_be(self):
        for given in (["--chip", "tpu-v4"], ["--peak", "1P"]):
            answer = self.answer("--params", "8B", *given, "--tokens", "1T", "--gpus", "8", "--mfu", "40%")
            self.assertIsNone(answer["plan"]["energy_joules"])
            self.assertIn("power limit", answer["left_out"]["energy"])


class Contradictions(Plan):
    def test_they_are_named(self):
        gpus = ["--gpus", "100", "--gpu-hours", "1000", "--time", "30d", "--chip", "h100-sxm"]
        self.assert_refused(self.mfu("plan", *gpus), "--time: says 30.0 days", "10.0 hours")
        self.assert_refused(self.mfu("plan", *WHOLE, "--time", "10d", "--deadline", "5d"), "--time")
        # A time beside a deadline is judged by it; a cost beside a budget, too.
        answer = self.answer(*WHOLE, "--time", "21.7d", "--deadline", "20d", code=1)
        self.assertFalse(answer["gates"][0]["passed"])
        answer = self.answer(*WHOLE, "--price", "2/h", "--cost", "1.068M", "--budget", "1M", code=1)
        self.assertFalse(answer["gates"][0]["passed"])
        self.assert_refused(self.mfu("plan", *WHOLE, "--price", "2/h", "--cost", "9M"), "--cost")
        self.assert_refused(self.mfu("plan", *WHOLE, "--goodput", "90%", *FAILURES), "--goodput")


if __name__ == "__main__":
    sys.exit(unittest.main())
