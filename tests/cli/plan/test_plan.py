#!/usr/bin/env python3
"""plan through the real binary (MFU_BIN): published runs, every unknown, units, forms, screens."""

import csv
import io
import json
import math
import random
import subprocess
import sys
import unittest

from driven import MFU, Cli

DAY = 86400.0
LLAMA = ["--model", "llama-3.1-8b", "--chip", "h100-sxm"]
WHOLE = [*LLAMA, "--tokens", "15T", "--gpus", "1024", "--mfu", "38%"]
FAILURES = ["--mtbf", "50000h/gpu", "--checkpoint-time", "60s", "--restart-time", "10m"]


class Plan(Cli):
    def answer(self, *arguments, code=0):
        result = self.mfu("plan", *arguments, "--json")
        self.assertEqual(result.returncode, code, result.stderr.decode())
        return json.loads(result.stdout)

    def plan(self, *arguments, code=0):
        return self.answer(*arguments, code=code)["plan"]


class Limits(Plan):
    def gates(self, *arguments, code):
        answer = self.answer(*arguments, code=code)
        return [(gate["id"], gate["passed"]) for gate in answer["gates"]]

    def test_a_broken_limit_fails_whatever_else_is_open(self):
        self.assertEqual(self.gates("--params", "8B", "--chip", "h100-sxm", "--gpus", "64", "--time",
                                    "30d", "--deadline", "10d", code=1), [("deadline", False)])
        self.assertEqual(self.gates("--gpu-hours", "1000", "--price", "2/h", "--budget", "100",
                                    code=1), [("budget", False)])

    def test_what_no_mfu_can_do_in_time_fails(self):
        self.assertEqual(self.gates("--params", "8B", "--chip", "h100-sxm", "--gpus", "64",
                                    "--tokens", "15T", "--deadline", "1d", code=1),
                         [("deadline", False)])

    def test_decimal_commas_and_scales_that_are_no_currency_are_refused(self):
        for arguments in (["--price", "2,5/h"], ["--deadline", "1,5d"], ["--budget", "1T"],
                          ["--budget", "1.5MM"], ["--mtbf", ",1h/job"], ["--tokens", "15"]):
            given = [*LLAMA, "--gpus", "64", "--mfu", "38%"]
            if "--tokens" not in arguments:
                given += ["--tokens", "1T"]
            self.assertEqual(self.mfu("plan", *given, *arguments).returncode, 2, arguments)
        plan = self.plan(*WHOLE, "--price", "2/h", "--budget", "5M$")
        self.assertEqual(plan["budget"], 5e6)
        self.assertEqual(self.plan(*WHOLE, "--price", "2/h", "--budget", "5,000,000")["budget"], 5e6)

    def test_steps_that_the_tokens_contradict(self):
        done = self.mfu("plan", *WHOLE, "--tokens-per-step", "4000000", "--schedule", "cosine",
                        "--steps", "100")
        self.assertEqual(done.returncode, 2)
        self.assertIn("the tokens make 3750000", done.stderr.decode())


class Published(Plan):
    """Under 6n, the default convention, each within 3 %."""

    def near(self, value, published):
        self.assertLess(abs(value / published - 1), 0.03, (value, published))

    def test_total_flops(self):
        for arguments, flops in (
                (["--model", "llama-3.1-405b", "--tokens", "15.6T"], 3.8e25),
                (["--model", "gpt3-175b", "--tokens", "300B"], 3.14e23),
                (["--params", "70B", "--tokens", "1.4T"], 5.76e23)):
            with self.subTest(arguments=arguments):
                answer = self.answer(*arguments)
                self.near(answer["plan"]["total_flops"], flops)
                self.assertEqual(answer["setup"]["convention"], "6n")

    def test_deepseek_v3_from_its_gpu_hours(self):
        for model in (["--params", "37B"], ["--model", "deepseek-v3"]):
            plan = self.plan(*model, "--tokens", "14.8T", "--chip", "h800", "--gpu-hours", "2.664M")
            self.near(plan["mfu"], 0.346)
            self.assertEqual(plan["unknown"], "mfu")
            self.assertEqual(plan["open"], ["gpus", "seconds"])

    def test_palm_540b(self):
        plan = self.plan("--model", "palm-540b", "--tokens", "780B", "--chip", "tpu-v4", "--gpus",
                         "6144", "--mfu", "45.7%")
        self.assertGreater(plan["seconds"] / DAY, 37)
        self.assertLess(plan["seconds"] / DAY, 39)


class Unknown(Plan):
    def given(self, values):
        arguments = [*LLAMA]
        for name, value in values.items():
            arguments += [name, value]
        return self.plan(*arguments)

    def test_each_unknown_comes_back(self):
        dice = random.Random(9)
        for extra in ({}, {"--goodput": "0.9"},
                      {"--mtbf": "2000h/gpu", "--checkpoint-time": "30s", "--restart-time": "5m"},
                      {"--mtbf": "3h/job", "--checkpoint-time": "30s", "--restart-time": "5m"}):
            whole = {"--tokens": repr(10 ** dice.uniform(10, 13.5)),
                     "--gpus": str(dice.randint(1, 4000)), "--mfu": repr(dice.uniform(0.05, 0.9)),
                     "--price": repr(dice.uniform(0.5, 5)) + "/h", **extra}
            forward = self.given(whole)
            found = {"--tokens": forward["tokens"], "--gpus": forward["gpus"],
                     "--mfu": forward["mfu"]}
            for unknown, value in found.items():
                for by in ({"--time": repr(forward["seconds"]) + "s"},
                           {"--deadline": repr(forward["seconds"]) + "s"},
                           {"--gpu-hours": repr(forward["gpu_hours"])},
                           {"--cost": repr(forward["cost"])}, {"--budget": repr(forward["cost"])}):
                    if unknown == "--gpus" and by.keys() & {"--gpu-hours", "--cost", "--budget"}:
                        continue  # they hold no time
                    inverse = {key: text for key, text in whole.items() if key != unknown}
                    with self.subTest(unknown=unknown, by=by, extra=extra):
                        back = self.given({**inverse, **by})
                        key = unknown[2:]
                        self.assertEqual(back["unknown"], key)
                        self.assertLess(abs(back[key] / value - 1), 1e-9)
                        self.assertLess(abs(back["seconds"] / forward["seconds"] - 1), 1e-9)
            price = self.given({**{k: v for k, v in whole.items() if k != "--price"},
                                "--budget": repr(forward["cost"])})
            self.assertEqual(price["unknown"], "price")
            self.assertLess(abs(price["price_per_gpu_hour"] / forward["price_per_gpu_hour"] - 1), 1e-9)

    def test_what_is_not_determined_is_named(self):
        plan = self.plan(*LLAMA, "--tokens", "1T", "--mfu", "40%")
        self.assertEqual(plan["open"], ["gpus", "seconds"])
        self.assertEqual(plan["settled_by_any_of"], ["gpus", "seconds"])
        self.assertIsNone(plan["gpus"])
        self.assertIn("gpus", plan["missing"])
        shown = self.mfu("plan", *LLAMA, "--tokens", "1T").stdout.decode()
        self.assertIn("Not determined: GPUs, time and MFU", shown)
        self.assertIn("two of --gpus, --deadline and --mfu", " ".join(shown.split()))
        # Nothing at all to go by: everything that would help, at once.
        self.assert_refused(self.mfu("plan"), "--model", "--chip", "--tokens", "--gpus",
                            "--deadline", "--mfu")

    def test_contradictions(self):
        self.assert_refused(self.mfu("plan", *WHOLE, "--time", "30d"), "--time: says 30.0 days",
                            "--tokens, --gpus and --mfu give 21.7 days")
        self.assert_refused(self.mfu("plan", *WHOLE, "--gpu-hours", "1M"), "--gpu-hours: says")
        self.assert_refused(self.mfu("plan", *WHOLE, "--price", "2/h", "--cost", "2M"), "--cost: says")
        self.plan(*WHOLE, "--time", "21.7d")

    def test_limits_are_gates(self):
        answer = self.answer(*WHOLE, "--deadline", "30d", "--price", "2/h", "--budget", "1M", code=1)
        gates = {gate["id"]: gate["passed"] for gate in answer["gates"]}
        self.assertEqual(gates, {"deadline": True, "budget": False})
        late = self.plan(*WHOLE, "--deadline", "10d", code=1)["deadline_held_by"]
        held = self.plan(*LLAMA, "--tokens", "15T", "--mfu", "38%", "--gpus",
                         str(math.ceil(late["gpus"])), "--deadline", "10d")
        self.assertLessEqual(held["seconds"], 10 * DAY)

    def test_more_than_the_peak(self):
        plan = self.plan(*LLAMA, "--tokens", "1T", "--gpus", "8", "--deadline", "1d", code=1)
        self.assertEqual(plan["status"], "impossible")
        self.assertIn(b"IMPOSSIBLE", self.mfu("plan", *LLAMA, "--tokens", "1T", "--gpus", "8",
                                              "--deadline", "1d").stdout)

    def test_another_convention_is_named(self):
        answer = self.answer(*WHOLE, "--convention", "palm", "--seq-len", "8192")
        self.assertEqual(answer["setup"]["convention"], "palm")
        self.assertAlmostEqual(answer["setup"]["flops_per_token"] / 1e9, 61.07, delta=0.01)
        self.assertAlmostEqual(answer["optimal"]["flops"], 6 * 8030261248 * 15e12, delta=1e14)
        self.assert_refused(self.mfu("plan", *WHOLE, "--convention", "palm"), "seq")
        self.assert_refused(self.mfu("plan", *WHOLE, "--convention", "narayanan-2021", "--seq-len",
                                     "2048"), "--convention")


class Units(Plan):
    def test_nonsense(self):
        for option, value, text in (
                ("--deadline", "30", "30 days or 30 hours?"), ("--deadline", "soon", "--deadline"),
                ("--deadline", "0d", "zero"), ("--deadline", "-3d", "negative"),
                ("--mfu", "38", "38 or 38%?"), ("--mfu", "140%", "more than 100%"),
                ("--mfu", "0%", "more than 0"), ("--target-mfu", "55", "55 or 55%?"),
                ("--price", "free", "not an amount of money"), ("--price", "2.5", "per what time?"),
                ("--price", "2.5/mile", "mile"), ("--price", "-2/h", "negative"),
                ("--price", "0/h", "zero"), ("--price", "nan/h", "money"),
                ("--price", "1e400/h", "money"), ("--budget", "lots", "money"),
                ("--tokens", "15 trillion", "--tokens"), ("--tokens", "0", "zero"),
                ("--tokens", "-1T", "--tokens"), ("--tokens", "nan", "--tokens"),
                ("--gpus", "0", "zero"), ("--gpus", "1.5", "whole"), ("--gpus", "8k", "8,192"),
                ("--gpus", "-8", "--gpus"), ("--gpu-hours", "0", "zero"),
                ("--mtbf", "3h", "of one GPU, or of the job?"), ("--mtbf", "3h/node", "gpu nor job"),
                ("--goodput", "95", "95 or 95%?"), ("--fit", "hofmann-2022", "hoffmann-2022"),
                ("--loss", "300", "not a loss"), ("--batch-law", "kaplan", "kaplan-2020"),
                ("--schedule", "cosin", "cosine"), ("--convention", "7n", "--convention")):
            with self.subTest(option=option, value=value):
                rest = [LLAMA[0], LLAMA[1], LLAMA[2], LLAMA[3]]
                self.assert_refused(self.mfu("plan", *rest, option, value), text)

    def test_all_that_is_wrong_at_once(self):
        result = self.mfu("plan", *LLAMA, "--deadline", "30", "--mfu", "38", "--price", "free",
                          "--gpus", "0")
        self.assert_refused(result, "--deadline", "--mfu", "--price", "--gpus")
        self.assertEqual(result.stderr.count(b"mfu: error"), 4)

    def test_money_of_two_currencies(self):
        self.assert_refused(self.mfu("plan", *WHOLE, "--price", "$2/h", "--budget", "EUR 1M"),
                            "currency")
        self.assertEqual(self.plan(*WHOLE, "--price", "EUR 2/h")["currency"], "EUR")
        self.assertEqual(self.plan(*WHOLE, "--price", "2$/h")["currency"], "$")

    def test_an_option_that_needs_another(self):
        for arguments, text in ((["--checkpoint-time", "60s"], "--mtbf"),
                                (["--mtbf", "3h/job"], "--checkpoint-time"),
                                (["--peak-lr", "3e-4"], "--schedule"),
                                (["--noise-scale-loss", "2"], "--noise-scale"),
                                (["--batch-law", "inverse-loss"], "--noise-scale"),
                                (["--batch", "512"], "--seq-len"),
                                (["--schedule", "cosine"], "--steps")):
            with self.subTest(arguments=arguments):
                self.assert_refused(self.mfu("plan", *WHOLE, *arguments), text)

    def test_hostile_sizes(self):
        for arguments in (["--tokens", "1e30"], ["--gpus", "1e15"], ["--tokens", "10k"]):
            values = {"--tokens": "1T", "--gpus": "512", "--mfu": "40%"}
            values[arguments[0]] = arguments[1]
            flat = [word for pair in values.items() for word in pair]
            with self.subTest(arguments=arguments):
                plan = self.plan(*LLAMA, *flat, *FAILURES) if arguments[0] != "--gpus" else \
                    self.plan(*LLAMA, *flat)
                self.assertGreater(plan["seconds"], 0)
        self.assert_refused(self.mfu("plan", *LLAMA, "--tokens", "1e308", "--gpus", "1", "--mfu",
                                     "40%"), "too large")
        self.assert_refused(self.mfu("plan", *WHOLE, "--mtbf", "1s/job", "--checkpoint-time", "9d",
                                     "--restart-time", "9d"), "nothing gets done")
        self.assert_refused(self.mfu("plan", *LLAMA, "--tokens", "1T", "--mfu", "40%", "--time",
                                     "1d", "--mtbf", "100h/gpu", *FAILURES[2:]), "more GPUs fail more often")


class Parts(Plan):
    def test_efficiency_against_hardware(self):
        rows = {row["id"]: row for row in self.plan(
            *LLAMA, "--tokens", "1T", "--gpus", "512", "--mfu", "30%", "--target-mfu", "60%",
            "--price", "2/h")["variants"]}
        half = rows["as-planned"]["seconds"] / 2
        self.assertAlmostEqual(rows["target-mfu"]["seconds"], half)
        self.assertAlmostEqual(rows["twice-the-gpus"]["seconds"], half)
        self.assertAlmostEqual(rows["target-by-gpus"]["gpus"], 1024)
        self.assertAlmostEqual(rows["target-mfu"]["cost"], rows["as-planned"]["cost"] / 2)

    def test_energy_is_the_power_limit(self):
        plan = self.plan(*WHOLE)
        self.assertAlmostEqual(plan["energy_joules"], plan["gpu_hours"] * 3600 * 700, delta=1)
        self.assertIn(b"at most", self.mfu("plan", *WHOLE).stdout)
        self.assertIsNone(self.plan(*LLAMA[:2], "--peak", "1P", "--tokens", "1T", "--mfu", "40%",
                                    "--gpus", "8")["energy_joules"])

    def test_sizes_by_rule_and_fits(self):
        answer = self.answer("--params", "70B", "--tokens", "1.4T")["optimal"]
        self.assertEqual(answer["trained"], "near")
        self.assertEqual([row["id"] for row in answer["sizes"]],
                         ["chinchilla", "hoffmann-2022", "besiroglu-2024"])
        self.assertAlmostEqual(answer["loss"], 1.9366, delta=0.001)
        other = self.answer("--params", "70B", "--tokens", "1.4T", "--fit", "besiroglu-2024")
        self.assertAlmostEqual(other["optimal"]["loss"], 1.9737, delta=0.001)
        # A budget alone has a best size, too.
        alone = self.answer("--chip", "h100-sxm", "--gpus", "256", "--mfu", "40%", "--deadline",
                            "14d")
        self.assertGreater(alone["optimal"]["sizes"][0]["params"], 1e9)
        self.assertEqual(alone["plan"]["open"], ["tokens"])

    def test_goodput_parts_sum_to_the_wall_time(self):
        answer = self.answer(*WHOLE, *FAILURES)
        goodput = answer["goodput"]
        self.assertAlmostEqual(sum(part["share"] for part in goodput["parts"]), 1)
        self.assertAlmostEqual(goodput["goodput"], answer["plan"]["goodput"])
        self.assertAlmostEqual(answer["plan"]["step_seconds_total"],
                               answer["plan"]["seconds"] * goodput["goodput"])
        self.assertAlmostEqual(goodput["job_mtbf_seconds"], 50000 * 3600 / 1024)
        slower = self.answer(*WHOLE, *FAILURES, "--checkpoint-interval", "5m")
        self.assertGreater(slower["plan"]["seconds"], answer["plan"]["seconds"])

    def test_batch(self):
        answer = self.answer(*WHOLE, "--tokens-per-step", "4194304", "--seq-len", "8192", "--loss",
                             "2")["batch"]
        self.assertAlmostEqual(answer["critical_batch_tokens"], 2e8 / 2 ** (1 / 0.21), delta=1)
        own = [row for row in answer["rows"] if row["batch_tokens"] == 4194304]
        self.assertAlmostEqual(own[0]["even_mfu"], 0.38)
        self.assertAlmostEqual(own[0]["tokens"], 15e12)
        self.assertEqual(answer["most_data_parallel_replicas"],
                         answer["critical_batch_tokens"] // 8192)
        rule = self.answer(*WHOLE, "--noise-scale", "2M", "--noise-scale-loss", "3", "--loss", "2",
                           "--batch-law", "inverse-loss")["batch"]
        self.assertAlmostEqual(rule["critical_batch_tokens"], 3e6)
        self.assertEqual(rule["law"], "inverse-loss")
        none = self.answer("--chip", "h100-sxm", "--gpus", "8", "--mfu", "40%", "--time", "1d",
                           "--tokens-per-step", "4096")
        self.assertIsNone(none["batch"])
        self.assertIn("--noise-scale", none["batch_missing"])

    def test_schedules(self):
        base = [*WHOLE, "--tokens-per-step", "4194304"]
        for shape in ("cosine", "linear", "wsd"):
            with self.subTest(shape=shape):
                answer = self.answer(*base, "--schedule", shape, "--peak-lr", "3e-4", "--warmup",
                                     "2000 steps")
                rows = answer["schedule"]
                self.assertEqual(rows[-1]["step"], math.ceil(15e12 / 4194304))
                self.assertAlmostEqual(rows[-1]["learning_rate"], 3e-5)
                self.assertAlmostEqual(rows[0]["learning_rate"], 3e-4 / 2000)
                peak = [row for row in rows if row["phase"] == "peak"]
                self.assertEqual((peak[0]["step"], peak[0]["learning_rate"]), (2000, 3e-4))
        # Without --peak-lr: GPT-3's table where it reaches.
        self.assertAlmostEqual(
            self.answer("--params", "13B", "--schedule", "cosine", "--steps", "1000", "--tokens",
                        "1T")["schedule_shape"]["peak_learning_rate"], 1e-4)
        self.assertIsNone(
            self.answer("--params", "405B", "--schedule", "cosine", "--steps", "1000", "--tokens",
                        "1T")["schedule_shape"]["peak_learning_rate"])

    def test_schedules_that_do_not_fit(self):
        base = [*WHOLE, "--steps", "1000"]
        for arguments, text in ((["--schedule", "cosine", "--warmup", "100%"], "--warmup"),
                                (["--schedule", "cosine", "--warmup", "1000 steps"], "--warmup"),
                                (["--schedule", "cosine", "--warmup", "2000"], "2000 steps"),
                                (["--schedule", "cosine", "--warmup", "-1%"], "negative"),
                                (["--schedule", "wsd", "--warmup", "50%", "--decay", "60%"], "--decay"),
                                (["--schedule", "wsd", "--decay", "0%"], "--decay"),
                                (["--schedule", "linear", "--decay", "10%"], "only wsd"),
                                (["--schedule", "cosine", "--peak-lr", "3"], "not a learning rate"),
                                (["--schedule", "cosine", "--peak-lr", "0"], "not a learning rate"),
                                (["--schedule", "cosine", "--final-lr", "10"], "10 or 10%?"),
                                (["--schedule", "cosine", "--points", "1e9"], "--points")):
            with self.subTest(arguments=arguments):
                self.assert_refused(self.mfu("plan", *base, *arguments), text)

    def test_unusual_inputs_get_a_remark(self):
        for arguments, text in (
                (["--schedule", "cosine", "--steps", "1000", "--warmup", "10%"], "warm-up"),
                (["--schedule", "cosine", "--steps", "1000", "--peak-lr", "0.1"], "peak rate"),
                (["--schedule", "cosine", "--steps", "1000", "--final-lr", "90%"], "last rate"),
                (["--schedule", "wsd", "--steps", "1000", "--decay", "80%"], "decay")):
            with self.subTest(arguments=arguments):
                advice = " ".join(self.answer(*WHOLE, *arguments)["advice"])
                self.assertIn(text, advice)
        for mfu, text in (("80%", "above"), ("3%", "below")):
            advice = self.answer(*LLAMA, "--tokens", "1T", "--gpus", "8", "--mfu", mfu)["advice"]
            self.assertIn(text, " ".join(advice))
        self.assertEqual(self.answer(*WHOLE)["advice"], [])

    def test_explain_has_every_constant(self):
        for term, text in (("hoffmann-2022", "406.4"), ("besiroglu-2024", "2085.43"),
                           ("kaplan-2020", "0.21"), ("young-daly", "Daly 2006"),
                           ("peak-rate", "2005.14165"), ("mtbf", "419")):
            result = self.mfu("explain", term)
            self.assertEqual(result.returncode, 0)
            self.assertIn(text, " ".join(result.stdout.decode().split()))


class Shown(Plan):
    FULL = [*WHOLE, "--target-mfu", "55%", "--price", "$2.5/h", *FAILURES, "--tokens-per-step",
            "4194304", "--seq-len", "8192", "--schedule", "cosine", "--deadline", "30d"]

    def test_answer_first_and_80_columns(self):
        for arguments in (self.FULL, WHOLE, LLAMA + ["--tokens", "1e30", "--gpus", "1e12", "--mfu",
                                                     "1%", "--price", "$1e12/h"]):
            text = self.mfu("plan", *arguments).stdout.decode()
            self.assertRegex(text.split("\n\n")[1].splitlines()[0], r"^  \S.*(days|years)")
            for line in text.splitlines():
                self.assertLessEqual(len(line), 80, line)

    def test_the_answer_is_the_unknown(self):
        for given, start in ((["--tokens", "1T", "--mfu", "40%", "--deadline", "7d"], "  202 GPUs"),
                             (["--gpus", "64", "--mfu", "40%", "--deadline", "7d"], "  317.9B tokens"),
                             (["--tokens", "1T", "--gpus", "512", "--deadline", "7d"], "  MFU 15.7 %")):
            text = self.mfu("plan", *LLAMA, *given).stdout.decode()
            self.assertIn("\n" + start, text)

    def test_forms(self):
        rows = list(csv.DictReader(io.StringIO(
            self.mfu("plan", *self.FULL, "--out", "csv").stdout.decode())))
        self.assertGreaterEqual(len(rows), 200)
        self.assertEqual(float(rows[-1]["share_of_peak"]), 0.1)
        self.assertEqual([float(row["step"]) for row in rows],
                         sorted({float(row["step"]) for row in rows}))
        every = self.mfu("plan", "--params", "1B", "--schedule", "linear", "--steps", "1000",
                         "--tokens", "1B", "--points", "all", "--out", "csv").stdout.decode()
        self.assertEqual(len(every.splitlines()), 1001)
        self.assert_refused(self.mfu("plan", *WHOLE, "--out", "csv"), "--schedule")
        markdown = self.mfu("plan", *self.FULL, "--out", "md").stdout.decode()
        self.assertTrue(markdown.startswith("### mfu plan: 22.4 days"))
        for title in ("What efficiency is worth", "Size and tokens", "Learning rate"):
            self.assertIn(f"#### {title}", markdown)
        for form in ("prom", "junit"):
            result = self.mfu("plan", *self.FULL, "--out", form)
            self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(b"mfu_plan_seconds", self.mfu("plan", *self.FULL, "--out", "prom").stdout)
        summary = str(self.folder / "summary.md")
        result = self.mfu("plan", *self.FULL, "--out", "github:" + summary)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(b"::notice", result.stdout)

    def test_nulls_have_reasons(self):
        for arguments in (self.FULL, WHOLE, LLAMA + ["--tokens", "1T"],
                          ["--chip", "h100-sxm", "--gpus", "8", "--mfu", "40%", "--time", "1d"]):
            answer = self.answer(*arguments)
            for section in ("setup", "plan"):
                for key, value in answer[section].items():
                    if value is None and not key.endswith("_held_by") and key != "open_text":
                        self.assertIn(key, answer[section]["missing"], (section, arguments))

    def test_the_same_in_any_locale(self):
        known = self.mfu("plan", *self.FULL).stdout
        other = subprocess.run([MFU, "plan", *self.FULL], stdout=subprocess.PIPE, check=True,
                               env={"LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8"}).stdout
        self.assertEqual(known.replace("→".encode(), b"->"), other.replace("→".encode(), b"->"))


if __name__ == "__main__":
    sys.exit(unittest.main())
