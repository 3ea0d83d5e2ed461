#!/usr/bin/env python3
"""mfu log on real logs, which are kept outside of the repository (MFU_SHARED_DIR); skipped, and said
so, where they are not there. What the reader takes from each file is tested beside the reader; here
is what comes out in the end."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

MFU = os.environ.get("MFU_BIN", "mfu")
LOGS = pathlib.Path(os.environ.get("MFU_SHARED_DIR", "../shared")) / "corpus" / "logs"


def answer(name, *arguments):
    result = subprocess.run([MFU, "log", str(LOGS / name), *arguments, "--json"],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if result.returncode != 0:
        raise AssertionError(result.stderr.decode())
    return json.loads(result.stdout)


class RealLogs(unittest.TestCase):
    def test_a_megatron_log_needs_no_flag_but_the_chip(self):
        for name, tflops, seconds in (("megatron_core_llama31_8b_dp2tp4.log", 23.3, 8.0577),
                                      ("megatron_core_mistral7b_tp2dp4.log", 20.8, 8.5620),
                                      ("megatron_core_qwen7b_dp2tp4pp2.log", 70.8, 10.3782)):
            with self.subTest(name=name):
                found = answer(name, "--chip", "a100-sxm-40gb", "--convention", "megatron-lm",
                               "--skip", "5", "--statistic", "median")
                self.assertAlmostEqual(found["steps"]["p50_seconds"], seconds, delta=0.0005)
                own = found["results"][0]["model_flops_per_second_per_gpu"] / 1e12
                self.assertLess(abs(own / found["reported"]["tflops"] - 1), 0.01)
                self.assertAlmostEqual(found["reported"]["tflops"], tflops, delta=0.1)
                self.assertEqual(found["reported"]["figures"][0]["convention"], "megatron-lm")

    def test_the_first_step_is_warm_up_and_the_profiled_ones_are_outliers(self):
        found = answer("megatron_core_llama31_8b_dp2tp4.log", "--chip", "a100-sxm-40gb")
        self.assertEqual(found["steps"]["warmup"], 1)
        self.assertEqual(found["steps"]["outliers"], 3)
        self.assertGreater(found["steps"]["outlier_share"], 0.1)

    def test_no_step_of_maxtext_above_the_peak_counts(self):
        found = answer("maxtext_understand_logs.log", "--chip", "h100-sxm")
        self.assertAlmostEqual(found["steps"]["p50_seconds"], 5.667, delta=0.005)
        self.assertGreaterEqual(found["steps"]["left_out"], 2)
        self.assertAlmostEqual(found["reported"]["tflops"], 134.924, delta=0.1)

    def test_over_100_per_cent_is_told(self):
        found = answer("prime_rl_mfu_over_100.log", "--segment", "1")
        self.assertGreater(found["reported"]["mfu"], 3.3)
        self.assertIn("impossible", found["reported"]["figures"][0]["text"])
        self.assertIn("logged-mfu-above-100", [note["code"] for note in found["notes"]])

    def test_seconds_and_hardware_flops_of_bloom(self):
        found = answer("bloom176b_chronicles_lines.log", "--model", "bloom-176b", "--seq-len", "2048",
                       "--gpus", "384", "--chip", "a100")
        self.assertAlmostEqual(found["steps"]["p50_seconds"], 106, delta=2)
        self.assertEqual(found["reported"]["figures"][0]["kind"], "hardware-flops")
        self.assertIn("hardware count", found["reported"]["reproduced_by"])

    def test_the_peak_that_torchtitan_assumed(self):
        found = answer("torchtitan_b200_all_ranks_noprefix.log")
        self.assertAlmostEqual(found["reported"]["figures"][0]["against_flops"] / 1e12, 2250, delta=5)

    def test_all_of_them_answer_or_say_what_is_missing(self):
        for path in sorted(LOGS.iterdir()):
            with self.subTest(name=path.name):
                result = subprocess.run([MFU, "log", str(path), "--chip", "a100"],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
                self.assertIn(result.returncode, (0, 2), result.stderr)
                self.assertEqual(result.returncode == 2, "startup" in path.name, result.stderr)


if __name__ == "__main__":
    if not LOGS.is_dir():
        print("skipped: the real logs are not here")
        sys.exit(77)
    sys.exit(unittest.main())
