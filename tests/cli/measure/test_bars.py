#!/usr/bin/env python3
"""Which progress bar is the training, and how long its steps are (MFU_BIN): logs that tqdm itself
draws on a simulated clock. Skipped, and said so, where tqdm (python3-tqdm) is not installed."""

import json
import sys
import unittest

import made_bars
from driven import FULL, Cli

WITHIN = 0.02
# Two levels: the usual step is one of them.
TWO_LEVELS = (made_bars.mean_since_start, made_bars.slower_later)
SECONDS = (0.12, 0.35, 0.7, 2.0, 9.0, 31.0) if FULL else (0.35, 2.0)


class Bars(Cli):
    def answer(self, text):
        return self.mfu("log", self.write("train.log", text), "--json")

    def test_every_layout_gives_the_step_time(self):
        for layout in made_bars.LAYOUTS:
            for seconds in SECONDS:
                with self.subTest(layout=layout.__name__, seconds=seconds):
                    text, mean = made_bars.made(layout, seconds)
                    result = self.answer(text)
                    self.assertEqual(result.returncode, 0, result.stdout.decode())
                    steps = json.loads(result.stdout)["steps"]
                    self.assertLess(abs(steps["mean_seconds"] / mean - 1), WITHIN)
                    if layout not in TWO_LEVELS:
                        self.assertLess(abs(steps["p50_seconds"] / mean - 1), WITHIN)

    def test_what_nobody_can_tell_is_asked_by_name(self):
        for layout in made_bars.UNCLEAR:
            for seconds in SECONDS:
                with self.subTest(layout=layout.__name__, seconds=seconds):
                    result = self.answer(made_bars.made(layout, seconds)[0])
                    self.assert_refused(result, "which progress bar is the training is not clear",
                                        "the undescribed one of ")

    def test_the_way_out_is_one(self):
        """The hint's command leaves the lines of one bar, and that is read."""
        text, _ = made_bars.made(made_bars.two_alike, 2.0)
        kept = "\n".join(line for line in text.replace("\r", "\n").split("\n") if "/130 " in line)
        self.assert_refused(self.answer(text), "grep '/100 '")
        steps = json.loads(self.answer(kept).stdout)["steps"]
        self.assertLess(abs(steps["mean_seconds"] / 1.4 - 1), WITHIN)

    def test_bars_of_something_else_are_no_training(self):
        console = made_bars.Console(1)
        made_bars.never_training(console, 1.0)
        self.assert_refused(self.answer(console.text()), "no progress bar counts training steps",
                            "'Map' of 300", "'Loading checkpoint shards' of 4", "mfu calc")

    def test_what_was_chosen_and_set_aside_is_said(self):
        text, _ = made_bars.made(made_bars.tokenising, 2.0)
        answer = json.loads(self.answer(text).stdout)
        notes = {note["code"]: note["text"] for note in answer["notes"]}
        self.assertIn("times-from-bar", notes)
        for name in ("of 150", "'Map'", "'Tokenizing'", "'Loading checkpoint shards'"):
            self.assertIn(name, notes["bars-set-aside"])

    def test_an_evaluation_is_a_pause_and_no_step(self):
        text, _ = made_bars.made(made_bars.evaluation_inside, 2.0)
        answer = json.loads(self.answer(text).stdout)
        pauses = {pause["kind"]: pause for pause in answer["steps"]["pauses"]}
        self.assertEqual(pauses["evaluation"]["count"], 4)  # the fifth is after the last step
        self.assertLess(abs(pauses["evaluation"]["seconds"] - 4 * 14), 4)


if __name__ == "__main__":
    if made_bars.tqdm is None:
        print("skipped: tqdm (package python3-tqdm) is not installed")
        sys.exit(77)
    unittest.main()
