#!/usr/bin/env python3
"""mfu compare through the command line (MFU_BIN): questions that people asked in public about a
before and an after."""

import json
import math
import pathlib
import unittest

from test_compare import Compare, steps_log, wiggled


class Asked(Compare):
    """Rows of the collection of public questions; their arithmetic is typed anew."""

    def test_d016_the_gain_is_all_in_the_tail(self):
        # 185.5 -> 182.3 minutes: long steps by garbage collection, gone.
        usual = 182.3 * 60 / 4000
        slow = wiggled(usual, 4000, 0.002)
        extra = (185.5 - 182.3) * 60 / 40
        for i in range(50, 4000, 100):
            slow[i] += extra
        before = self.write("before.jsonl", steps_log(slow))
        after = self.write("after.jsonl", steps_log(wiggled(usual, 4000, 0.002)))
        answer = self.compared(before, after)
        factors = {factor["id"]: factor for factor in answer["factors"]}
        self.assertAlmostEqual(1 + answer["delta"]["speed"], 185.5 / 182.3, delta=2e-4)
        saved = 1 - answer["after"]["step_seconds"] / answer["before"]["step_seconds"]
        self.assertAlmostEqual(100 * saved, 1.73, delta=0.02)
        self.assertEqual(answer["moved"], "slow_steps")
        self.assertAlmostEqual(factors["usual_step"]["log_ratio"], 0, delta=1e-4)
        self.assertEqual(answer["delta"]["verdict"], "better")
        # The saved reports tell the same.
        saved = self.compared(self.report("b.json", "log", before),
                              self.report("a.json", "log", after))
        self.assertAlmostEqual(saved["delta"]["speed"], answer["delta"]["speed"], places=9)
        self.assertEqual(saved["moved"], "slow_steps")
        self.assertEqual(saved["delta"]["verdict"], "better")

    def test_d066_a_changed_formula_is_no_changed_speed(self):
        common = ["--model", "llama-2-7b", "--seq-len", "8192", "--batch", "4", "--step-time", "5s",
                  "--peak", "459T", "--gpus", "1"]
        before = self.report("b.json", "calc", *common, "--convention", "maxtext-2025-06")
        after = self.report("a.json", "calc", *common, "--convention", "maxtext")
        work = [json.loads(pathlib.Path(path).read_text())["setup"]["flops_per_step"] / 1e12
                for path in (before, after)]
        self.assertAlmostEqual(work[0], 1721.22, delta=0.17)
        self.assertAlmostEqual(work[1], 1510.11, delta=0.15)
        codes = self.refused(before, after)
        self.assertIn("convention", codes)
        self.assertIn("formula", codes)
        answer = self.compared(before, after, "--reconvert")
        self.assertAlmostEqual(answer["delta"]["log_ratio"], 0, places=12)
        self.assertEqual(answer["delta"]["verdict"], "no-change")

    def test_d066_the_work_of_a_step_is_in_the_rate_and_its_time(self):
        common = ["--peak", "459T", "--gpus", "64", "--step-time", "5s"]
        before = self.report("b.json", "calc", *common, "--tflops", "344.2T")
        after = self.report("a.json", "calc", *common, "--tflops", "302.0T")
        self.assertIn("work", self.refused(before, after))
        # Half the rate in twice the time is the same work, and half the speed.
        slow = self.report("s.json", "calc", "--peak", "459T", "--gpus", "64", "--step-time", "10s",
                           "--tflops", "172.1T")
        self.assertAlmostEqual(self.compared(before, slow)["delta"]["speed"], -0.5, places=9)

    def test_longer_sequences_are_no_changed_formula(self):
        common = ["--model", "llama-2-7b", "--step-time", "5s", "--peak", "459T", "--gpus", "1"]
        before = self.report("b.json", "calc", *common, "--seq-len", "8192", "--batch", "4")
        after = self.report("a.json", "calc", *common, "--seq-len", "4096", "--batch", "8")
        result = self.mfu("compare", before, after)
        self.assertEqual(result.returncode, 2)
        said = result.stderr.decode()
        self.assertIn("the sequence length differs, so a token is not the same amount of work", said)
        self.assertNotIn("formula", said)

    def test_logs_of_tokens_a_second_need_no_work_a_step(self):
        def lines(rate):
            return "".join(json.dumps({"step": i, "tps": rate * (1 + 0.004 * math.sin(1.7 * i))}) + "\n"
                           for i in range(100))
        sides = [self.write("b.jsonl", lines(1e6)), self.write("a.jsonl", lines(0.95e6))]
        columns = ["--columns", "tokens_per_s=tps"]
        known = ["--model", "llama-2-7b", "--seq-len", "4096", "--gpus", "64", "--chip", "h100-sxm"]
        answer = self.compared(*sides, *columns, *known)
        self.assertAlmostEqual(answer["delta"]["speed"], -0.05, delta=0.002)
        self.assertEqual(answer["cautions"], [])
        bare = self.mfu("compare", *sides, *columns)
        self.assert_refused(bare, "neither an MFU nor a step time")
        self.assertIn("hint: --model", bare.stderr.decode())

    def test_what_is_wrong_with_an_option_says_of_which_of_the_two(self):
        one = self.write("b.jsonl", steps_log(wiggled(2.0)))
        self.assert_refused(self.mfu("compare", one, one, "--segment", "2"), "b.jsonl (--segment)")

    def test_d114_the_same_tokens_by_two_counts(self):
        rate = ["--tokens-per-s-per-gpu", "792.8", "--peak", "312T", "--gpus", "128"]
        profiler = self.report("p.json", "calc", "--tflops", "13.36T", *rate)
        trainer = self.report("t.json", "calc", "--tflops", "125.18T", *rate)
        self.assertIn("formula", self.refused(profiler, trainer))

    def test_d127_weak_scaling(self):
        before = self.report("b.json", "calc", "--tflops", "0.267T", "--peak", "1T", "--gpus", "8")
        after = self.report("a.json", "calc", "--tflops", "0.265T", "--peak", "1T", "--gpus", "64")
        self.assertEqual(self.refused(before, after), ["gpus"])
        answer = self.compared(before, after, "--reconvert")
        self.assertAlmostEqual(100 * (1 + answer["delta"]["speed"]), 99.3, delta=0.1)
        self.assertEqual(answer["causes"], ["scale"])
        self.assertIsNone(answer["delta"]["verdict"])

    def test_d128_accumulation(self):
        # N so that 712k tokens/s are 9.37 %.
        params = 0.0937 * 64 * 989e12 / 6 / 712e3
        common = ["--params", f"{params:.0f}", "--convention", "6n", "--gpus", "64", "--peak", "989T",
                  "--batch", "1024", "--seq-len", "4096"]
        before = self.report("b.json", "calc", *common, "--tokens-per-s", "712k", "--accumulation",
                             "1")
        after = self.report("a.json", "calc", *common, "--tokens-per-s", "546k", "--accumulation",
                            "2")
        answer = self.compared(before, after)
        self.assertAlmostEqual(answer["before"]["mfu"], 0.0937, delta=1e-4)
        self.assertAlmostEqual(answer["after"]["mfu"], 0.0718, delta=2e-4)
        self.assertAlmostEqual(1 + answer["delta"]["speed"], 0.766, delta=0.0023)
        self.assertEqual(answer["causes"], ["microbatches"])

    def test_d170_embeddings_in_or_out(self):
        # The same tokens a second; N with and without embeddings: 0.55626 and 0.51983.
        common = ["--convention", "6n", "--tokens-per-s-per-gpu", "10k", "--peak", "989T"]
        counts = [0.55626 * 989e12 / 6 / 1e4, 0.51983 * 989e12 / 6 / 1e4]
        with_them = self.report("w.json", "calc", "--params", f"{counts[0]:.0f}", *common)
        without = self.report("o.json", "calc", "--params", f"{counts[1]:.0f}", *common)
        answer = self.compared(with_them, without, code=2)
        self.assertEqual([reason["code"] for reason in answer["reasons"]], ["formula"])
        reason = answer["reasons"][0]
        self.assertAlmostEqual(reason["after"] / reason["before"], 0.9345, delta=5e-4)

    def test_d202_the_first_step_is_warm_up(self):
        before = self.write("b.jsonl", steps_log(wiggled(0.14475, 100)))
        after = self.write("a.jsonl", steps_log([5.59] + wiggled(0.152834, 100)))
        answer = self.compared(before, after)
        steps = answer["after"]["step_seconds"] / answer["before"]["step_seconds"]
        self.assertAlmostEqual(100 * (steps - 1), 5.585, delta=0.05)
        self.assertEqual(answer["delta"]["verdict"], "worse")
        self.assertEqual(answer["moved"], "usual_step")


if __name__ == "__main__":
    unittest.main()
