#!/usr/bin/env python3
"""What a log of any format states of its run is used, and shown with its line (MFU_BIN)."""

import json
import unittest

from driven import Cli

NANOGPT = "".join(f"iter {i}: loss 3.0, time {500 + i % 3}.00ms\n" for i in range(20))
PEFT = "trainable params: 20,971,520 || all params: 8,051,232,768 || trainable%: 0.2605\n"


class Stated(Cli):
    def answer(self, text, *options):
        result = self.mfu("log", self.write("train.log", text), *options, "--json")
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return json.loads(result.stdout)

    def test_the_world_size_and_the_parameters_are_not_asked_for(self):
        text = "[INFO] world_size: 16\n" + PEFT + NANOGPT
        answer = self.answer(text, "--chip", "h100-sxm", "--tokens-per-step", "524288")
        sources = {source["what"]: source for source in answer["sources"]}
        self.assertEqual(sources["GPUs"]["value"], "16")
        self.assertEqual(sources["GPUs"]["from"], "world size, line 1")
        self.assertIn("8,051,232,768 parameters", sources["model"]["value"])
        self.assertIn("20,971,520", sources["trainable"]["value"])
        # 4 FLOPs of a frozen weight and token, not 6.
        expected = 4 * 8051232768 * 524288 / (0.501 * 16 * 989.4e12)
        self.assertLess(abs(answer["headline"]["mfu"] / expected - 1), 0.02)
        screen = self.mfu("log", self.write("train.log", text)).stdout.decode()
        self.assertLess(screen.index("Taken from"), screen.index("world size, line 1"))
        self.assertNotIn("--gpus", screen)
        self.assertNotIn("--params", screen)

    def test_an_option_stands_over_what_the_log_states(self):
        text = "[INFO] world_size: 16\n" + PEFT + NANOGPT
        answer = self.answer(text, "--chip", "h100-sxm", "--tokens-per-step", "524288", "--gpus",
                             "8", "--params", "7B", "--trainable", "all")
        sources = {source["what"]: source for source in answer["sources"]}
        self.assertEqual(sources["GPUs"]["from"], "--gpus; the log says 16 (world size, line 1)")
        expected = 6 * 7e9 * 524288 / (0.501 * 8 * 989.4e12)
        self.assertLess(abs(answer["headline"]["mfu"] / expected - 1), 0.02)

    def test_two_sizes_are_none(self):
        answer = self.answer("world_size: 16\nworld_size: 8\n" + NANOGPT)
        self.assertNotIn("GPUs", [source["what"] for source in answer["sources"]])

    def test_a_summary_has_the_batch(self):
        text = ("{'train_runtime': 1000.0, 'train_samples_per_second': 64.0, "
                "'train_steps_per_second': 0.5}\n")
        sources = {source["what"]: source for source in self.answer(text)["sources"]}
        self.assertEqual(sources["batch"]["value"], "128 sequences")
        self.assertIn("train_samples_per_second over", sources["batch"]["from"])
        coarse = text.replace("0.5}", "0.007}")
        self.assertNotIn("batch", [s["what"] for s in self.answer(coarse)["sources"]])

    def test_dates_give_the_time_where_nothing_else_does(self):
        text = "".join(f"2025-01-17 10:{i // 6:02d}:{i % 6 * 10:02d} INFO step {i} | loss 2.31\n"
                       for i in range(60))
        answer = self.answer(text)
        self.assertEqual(answer["inputs"][0]["format"], "timestamped-steps")
        self.assertAlmostEqual(answer["steps"]["mean_seconds"], 10.0)
        sources = {source["what"]: source["from"] for source in answer["sources"]}
        self.assertIn("derived", sources["speed"])

    def test_a_throughput_of_the_run_is_labelled(self):
        line = ':::MLLOG {{"time_ms": 1, "event_type": "POINT_IN_TIME", "key": "{}", "value": {}, ' \
               '"metadata": {{}}}}\n'
        text = line.format("global_batch_size", 64) + line.format("tracked_stats",
                                                                  '{"throughput": 3351.4}')
        answer = self.answer(text)
        self.assertIn("throughput-only", [note["code"] for note in answer["notes"]])
        sources = {source["what"]: source["from"] for source in answer["sources"]}
        self.assertIn("the log has no step times", sources["speed"])


if __name__ == "__main__":
    unittest.main()
