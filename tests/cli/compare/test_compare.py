#!/usr/bin/env python3
"""mfu compare through the command line (MFU_BIN): runs, logs, saved reports, refusals and gates."""

import csv
import gzip
import json
import math
import pathlib
import re
import unittest

from driven import Cli, HALF_OF_PEAK, MFU, run_document


def steps_log(seconds, **more):
    """JSON Lines, a step a line."""
    return "".join(json.dumps({"step": i + 1, "step_time": value, **more}) + "\n"
                   for i, value in enumerate(seconds))


def wiggled(mean, count=200, by=0.004):
    return [mean * (1 + by * math.sin(1.7 * i)) for i in range(count)]


class Compare(Cli):
    def report(self, name, command, *arguments):
        result = self.mfu(command, *arguments, "--json")
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return self.write(name, result.stdout)

    def compared(self, *arguments, code=0):
        result = self.mfu("compare", *arguments, "--json")
        self.assertEqual(result.returncode, code, result.stderr.decode())
        return json.loads(result.stdout)

    def run_file(self, name, flops=HALF_OF_PEAK, chip="a100", **options):
        return self.write(name, run_document(flops=flops, chip=chip, **options))

    def refused(self, *arguments):
        answer = self.compared(*arguments, code=2)
        self.assertFalse(answer["comparable"])
        self.assertEqual(answer["exit_code"], 2)
        return [reason["code"] for reason in answer["reasons"]]


class Runs(Compare):
    def setUp(self):
        super().setUp()
        self.before = self.run_file("before.json", slow_rank=3)
        self.after = self.run_file("after.json")

    def test_the_factor_that_was_fixed_moved(self):
        answer = self.compared(self.before, self.after, "--expect", "balance")
        self.assertTrue(answer["comparable"])
        self.assertEqual(answer["delta"]["verdict"], "better")
        self.assertTrue(answer["delta"]["significant"])
        self.assertEqual(answer["moved"], "balance")
        self.assertTrue(answer["expected"]["as_expected"])
        total = sum(factor["log_ratio"] for factor in answer["factors"])
        self.assertAlmostEqual(total, answer["delta"]["log_ratio"], places=12)
        ratio = answer["after"]["mfu"] / answer["before"]["mfu"]
        self.assertAlmostEqual(math.log(ratio), total, places=12)
        for side in ("before", "after"):
            self.assertAlmostEqual(sum(part[side] for part in answer["parts"]),
                                   answer[side]["step_seconds"], places=12)
        seconds = sum(factor["seconds"] for factor in answer["factors"])
        self.assertAlmostEqual(seconds, answer["delta"]["step_seconds"], places=12)

    def test_another_factor_was_aimed_at(self):
        answer = self.compared(self.before, self.after, "--expect", "own-stall")
        self.assertFalse(answer["expected"]["as_expected"])
        self.assertIn("not own stalls", json.dumps(answer["expected"]))
        # Of half of the ranks that were slow the median is one of the others; of more it is not.
        def slowed(ranks):
            document = run_document(flops=HALF_OF_PEAK, chip="a100", slow_rank=0)
            for row in document["ranks"]:
                if row["rank"] not in range(ranks):
                    continue
                row["compute"] = [value + (0.3 if row["rank"] else 0.0) for value in row["compute"]]
                row["comm"] = [0.03] * len(row["comm"])
            name = self.write(f"slowed{ranks}.json", document)
            return self.compared(name, self.after, "--expect", "balance")
        self.assertEqual(slowed(4)["moved"], "balance")
        self.assertEqual(slowed(5)["moved"], "single_gpu")
        refused = self.mfu("compare", self.before, self.after, "--expect", "balnce")
        self.assert_refused(refused, "did you mean 'balance'")

    def test_saved_reports_say_what_the_runs_say(self):
        direct = self.compared(self.before, self.after)
        saved = self.compared(self.report("b.json", "diagnose", self.before),
                              self.report("a.json", "diagnose", self.after))
        self.assertAlmostEqual(saved["delta"]["log_ratio"], direct["delta"]["log_ratio"], places=12)
        self.assertEqual(saved["moved"], direct["moved"])
        self.assertEqual(saved["delta"]["verdict"], direct["delta"]["verdict"])
        for one, other in zip(saved["factors"], direct["factors"]):
            self.assertEqual(one["id"], other["id"])
            self.assertAlmostEqual(one["log_ratio"], other["log_ratio"], places=12)
        low, high = saved["delta"]["speed_ci"]
        self.assertLessEqual(low, direct["delta"]["speed"])
        self.assertGreaterEqual(high, direct["delta"]["speed"])

    def test_standard_input_is_whatever_it_holds(self):
        run = pathlib.Path(self.after).read_bytes()
        direct = self.compared(self.before, self.after)
        report = self.mfu("diagnose", self.after, "--json").stdout
        for piped in (run, gzip.compress(run), report, gzip.compress(report)):
            result = self.mfu("compare", self.before, "-", "--json", stdin=piped)
            self.assertEqual(result.returncode, 0, result.stderr.decode())
            answer = json.loads(result.stdout)
            self.assertAlmostEqual(answer["delta"]["log_ratio"], direct["delta"]["log_ratio"],
                                   places=12)
            self.assertEqual(answer["moved"], "balance")
        slow, quick = (steps_log(wiggled(value)).encode() for value in (1.1, 1.0))
        lines = self.write("before.jsonl", slow)
        for piped in (quick, gzip.compress(quick)):
            result = self.mfu("compare", lines, "-", "--json", stdin=piped)
            self.assertEqual(result.returncode, 0, result.stderr.decode())
            self.assertAlmostEqual(json.loads(result.stdout)["delta"]["speed"], 0.1, delta=0.002)
        for piped in (b"", b"{}", b"nothing\n", run[:len(run) // 2], report[:len(report) // 2]):
            result = self.mfu("compare", self.before, "-", stdin=piped)
            self.assert_refused(result, "")
        self.assert_refused(self.mfu("compare", "-", "-", stdin=run), "cannot be both")

    def test_a_report_and_its_own_run_are_one_measurement(self):
        saved = self.report("b.json", "diagnose", self.before)
        for pair in ((self.before, saved), (saved, self.before)):
            answer = self.compared(*pair)
            self.assertTrue(answer["same_measurement"])
            self.assertEqual(answer["delta"]["verdict"], "no-change")
        log = self.write("log.jsonl", steps_log([1.0 + 0.1 * (i % 7 == 0) + 0.003 * (i % 5)
                                                 for i in range(100)], tflops=100.0))
        options = ["--chip", "a100", "--gpus", "8"]
        saved = self.report("l.json", "log", log, *options)
        self.assertTrue(self.compared(log, saved, *options)["same_measurement"])

    def test_ranks_that_one_side_did_not_record_are_told(self):
        document = run_document(flops=HALF_OF_PEAK, chip="a100")
        document["ranks"] = document["ranks"][:6]
        fewer = self.write("fewer.json", document)
        for after in (fewer, self.report("f.json", "diagnose", fewer)):
            answer = self.compared(self.before, after)
            notes = [note for note in answer["notes"] if note["code"] == "ranks-not-recorded"]
            self.assertEqual([note["count"] for note in notes], [1])
            self.assertIn("6 of 8 GPUs", notes[0]["text"])
            self.assertEqual(self.mfu("compare", self.before, after, "--strict").returncode, 2)
        codes = [note["code"] for note in self.compared(self.before, self.after)["notes"]]
        self.assertNotIn("ranks-not-recorded", codes)

    def test_options_say_of_both_sides_what_they_say_in_diagnose(self):
        answer = self.compared(self.before, self.after, "--steps", "3..9", "--ranks", "0-3")
        for side, path in (("before", self.before), ("after", self.after)):
            alone = json.loads(self.mfu("diagnose", path, "--steps", "3..9", "--ranks", "0-3",
                                        "--json").stdout)
            self.assertEqual(answer[side]["step_seconds"], alone["headline"]["step_seconds"])
        self.assert_refused(self.mfu("compare", self.before, self.after, "--telemetry", "n0.csv"),
                            "of which of the two", "mfu diagnose before.json --telemetry")
        answer = self.compared(self.before, self.after, "--params", "7B")
        note = next(note for note in answer["notes"] if note["code"] == "options-of-logs")
        self.assertIn("--params", note["text"])
        self.assertEqual(note["count"], 2)

    def test_options_say_of_both_logs_what_they_say_in_log(self):
        def rows(name, seconds):
            return self.write(name, "n,dt\n" + "".join(
                f"{i},{1000 * seconds * (1 + 0.002 * (i % 5))}\n" for i in range(60)))
        logs = rows("b.csv", 4.0), rows("a.csv", 3.8)
        options = ["--columns", "step_time=dt:ms,step=n", "--params", "7B", "--convention", "6n",
                   "--tokens-per-step", "1048576", "--gpus", "64", "--chip", "a100"]
        answer = self.compared(*logs, *options)
        for side, path in zip(("before", "after"), logs):
            alone = json.loads(self.mfu("log", path, *options, "--json").stdout)
            usual = alone["headline"]["mfu"] / alone["steps"]["mean_over_p50"]
            self.assertAlmostEqual(answer[side]["mfu"], usual, places=12)
        self.assertAlmostEqual(answer["delta"]["speed"], 2 / 1.9 - 1, delta=1e-3)
        self.assert_refused(self.mfu("compare", *logs, *options, "--ranks", "0"),
                            "steps and ranks of a log", "--skip N")
        self.assert_refused(self.mfu("compare", *logs, "--columns", "step_time=none"), "none")

    def test_the_same_file_twice(self):
        answer = self.compared(self.before, self.before)
        self.assertEqual(answer["delta"]["log_ratio"], 0)
        self.assertEqual(answer["delta"]["verdict"], "no-change")
        self.assertTrue(answer["same_measurement"])
        self.assertIn("same-measurement", [note["code"] for note in answer["notes"]])

    def test_what_differs_is_refused_and_listed(self):
        other = self.run_file("other.json", chip="h100-sxm")
        codes = self.refused(self.before, other)
        self.assertIn("peak", codes)
        self.assertIn("clock", codes)
        document = run_document(flops=HALF_OF_PEAK, chip="a100")
        document["workload"] = {"flops_per_step": 0.9 * HALF_OF_PEAK, "tokens_per_step": 1e6}
        document["convention"] = "6n"
        document["hardware"]["count"] = 16
        codes = self.refused(self.before, self.write("more.json", document))
        self.assertIn("convention", codes)
        self.assertIn("gpus", codes)
        result = self.mfu("compare", self.before, other)
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stdout, b"")
        self.assertIn("mfu: error: measured against different peaks", result.stderr.decode())

    def test_reconverted_against_one_peak(self):
        other = self.run_file("other.json", chip="h100-sxm")
        answer = self.compared(self.before, other, "--reconvert")
        self.assertTrue(answer["comparable"])
        self.assertTrue(answer["reconverted"])
        self.assertIn("peak", [reason["code"] for reason in answer["reasons"]])
        plain = self.compared(self.before, self.after)
        self.assertAlmostEqual(answer["delta"]["log_ratio"], plain["delta"]["log_ratio"], places=12)
        total = sum(factor["log_ratio"] for factor in answer["factors"])
        self.assertAlmostEqual(total, answer["delta"]["log_ratio"], places=12)
        for side in ("before", "after"):
            self.assertAlmostEqual(sum(part[side] for part in answer["parts"]),
                                   answer[side]["step_seconds"], places=12)

    def test_runs_without_work_compare_by_the_step(self):
        answer = self.compared(self.run_file("b.json", None, None, slow_rank=3),
                               self.run_file("a.json", None, None))
        self.assertIsNone(answer["delta"]["mfu"])
        self.assertEqual(answer["moved"], "balance")
        total = sum(factor["log_ratio"] for factor in answer["factors"])
        self.assertAlmostEqual(total, answer["delta"]["log_ratio"], places=12)
        self.assertTrue(any("the work per step" in text for text in answer["cautions"]))

    def test_more_than_one_difference_is_no_one_cause(self):
        document = run_document(flops=HALF_OF_PEAK, chip="a100")
        document["parallelism"] = {"tp": 2, "dp": 4}
        document["workload"]["microbatches"] = 4
        one = run_document(flops=HALF_OF_PEAK, chip="a100")
        one["workload"]["microbatches"] = 2
        answer = self.compared(self.write("b.json", one), self.write("a.json", document))
        self.assertEqual(sorted(answer["causes"]), ["layout", "microbatches"])
        self.assertIn("cannot be credited", answer["credit"])

    def test_the_gate(self):
        worse = self.mfu("compare", self.after, self.before, "--max-regression", "3%")
        self.assertEqual(worse.returncode, 1, worse.stderr.decode())
        self.assertIn(b"FAILED", worse.stdout)
        for limit, first, second in (("30%", self.after, self.before),
                                     ("3%", self.before, self.after),
                                     ("3%", self.after, self.after)):
            result = self.mfu("compare", first, second, "--max-regression", limit)
            self.assertEqual(result.returncode, 0, result.stdout.decode())
        self.assert_refused(self.mfu("compare", self.after, self.before, "--max-regression", "3"),
                            "3 or 3%")

    def test_every_form(self):
        for form in ("text", "json", "md", "csv", "junit", "prom", "github"):
            path = self.folder / form
            result = self.mfu("compare", self.after, self.before, "--max-regression", "3%", "--out",
                              f"{form}:{path}")
            self.assertEqual(result.returncode, 1, result.stderr.decode())
            self.assertGreater(len(path.read_bytes()), 100, form)
        self.assertIn("**FAILED:**", (self.folder / "md").read_text())
        self.assertIn("<failure", (self.folder / "junit").read_text())
        self.assertIn("mfu_factor_change_ratio", (self.folder / "prom").read_text())
        self.assertIn("worse", (self.folder / "csv").read_text())

    def test_figures_of_after_are_under_its_name(self):
        sheet = self.mfu("compare", self.before, self.after, "--out", "csv").stdout.decode()
        row = next(csv.DictReader(sheet.splitlines()))
        self.assertEqual(row["input"], self.after)
        answer = self.compared(self.before, self.after)
        self.assertAlmostEqual(float(row["mfu_ratio"]), answer["after"]["mfu"], places=12)
        metrics = self.mfu("compare", self.before, self.after, "--out", "prom").stdout.decode()
        self.assertIn(f'mfu_utilization_ratio{{command="compare",input="{self.after}"}}', metrics)

    def test_the_gate_has_its_interval_in_the_direction_of_its_word(self):
        for pair, word in (((self.before, self.after), "faster"),
                           ((self.after, self.before), "slower")):
            shown = self.mfu("compare", *pair, "--max-regression", "3%").stdout.decode()
            found = re.search(r"([\d.]+) % (\w+) \(95 %: \+([\d.]+) to \+([\d.]+) %\)",
                              " ".join(shown.split()))
            self.assertIsNotNone(found, shown)
            self.assertEqual(found[2], word)
            self.assertLessEqual(float(found[3]), float(found[1]))
            self.assertLessEqual(float(found[1]), float(found[4]))

    def test_what_is_refused_leaves_no_empty_file(self):
        other = self.run_file("h100.json", chip="h100-sxm")
        path = self.folder / "refused.xml"
        self.refused(self.before, other, "--out", f"junit:{path}")
        self.assertFalse(path.exists())
        path.write_text("kept")
        self.refused(self.before, other, "--out", f"junit:{path}")
        self.assertEqual(path.read_text(), "kept")

    def test_the_screen_is_narrow(self):
        shown = self.mfu("compare", self.before, self.after).stdout.decode()
        self.assertIn("BETTER", shown)
        self.assertTrue(all(len(line) <= 80 for line in shown.splitlines()), shown)

    def test_arguments(self):
        self.assert_refused(self.mfu("compare"), "nothing to compare")
        self.assert_refused(self.mfu("compare", self.before), "one is missing")
        self.assert_refused(self.mfu("compare", self.before, self.after, self.after), "more than two")
        self.assert_refused(self.mfu("compare", self.before, str(self.folder / "none")), "none")
        self.assert_refused(self.mfu("compare", self.before, self.after, "--reconvrt"),
                            "--reconvert")


class Reports(Compare):
    """Saved reports that are not what they should be."""

    def setUp(self):
        super().setUp()
        self.good = self.report("good.json", "diagnose", self.run_file("run.json"))

    def changed(self, name, change):
        report = json.loads(pathlib.Path(self.good).read_text())
        change(report)
        return self.write(name, report)

    def test_another_version(self):
        path = self.changed("new.json", lambda r: r.update(schema="mfu.report/2"))
        self.assert_refused(self.mfu("compare", self.good, path), "another version")

    def test_cut_off(self):
        text = pathlib.Path(self.good).read_text()
        for share in (0.1, 0.5, 0.99):
            path = self.write("cut.json", text[:int(share * len(text))])
            self.assert_refused(self.mfu("compare", self.good, path), "cut off")

    def test_a_command_that_failed_or_measures_nothing(self):
        failed = self.mfu("calc", "--json")
        self.assert_refused(self.mfu("compare", self.good, self.write("f.json", failed.stdout)),
                            "failed")
        peak = self.mfu("peak", "h100-sxm", "--json")
        self.assert_refused(self.mfu("compare", self.good, self.write("p.json", peak.stdout)),
                            "measures nothing")
        # A plan has a convention and a peak, and is a wish.
        plan = self.mfu("plan", "--params", "7B", "--tokens", "1T", "--json")
        self.assertEqual(plan.returncode, 0, plan.stderr.decode())
        self.assert_refused(self.mfu("compare", self.good, self.write("w.json", plan.stdout)),
                            "mfu plan, which measures nothing")
        compared = self.mfu("compare", self.good, self.good, "--json")
        self.assert_refused(self.mfu("compare", self.good, self.write("c.json", compared.stdout)),
                            "mfu compare, which measures nothing")

    def test_no_numbers(self):
        def emptied(report):
            report["headline"]["mfu"] = None
            report["headline"]["step_seconds"] = None
        self.assertIn("unmeasured", self.refused(self.good, self.changed("e.json", emptied)))
        self.assertIn("missing-mfu", self.refused(
            self.good, self.changed("m.json", lambda r: r["headline"].update(mfu=None))))
        text = pathlib.Path(self.good).read_text()
        nan = self.write("nan.json", text.replace('"mfu": ', '"mfu": NaN, "x": ', 1))
        self.assert_refused(self.mfu("compare", self.good, nan), "broken")

    def test_values_of_another_kind(self):
        for key in ("setup", "headline", "factors", "parts", "steps"):
            for value in (None, 1, "x", [], [None, 3], {}):
                path = self.changed("odd.json", lambda r, k=key, v=value: r.update({k: v}))
                result = self.mfu("compare", self.good, path, "--json")
                self.assertIn(result.returncode, (0, 2), result.stderr.decode())

    def test_an_impossible_figure(self):
        fast = self.report("fast.json", "calc", "--tflops", "500T", "--peak", "312T")
        slow = self.report("slow.json", "calc", "--tflops", "100T", "--peak", "312T")
        self.assertIn("impossible", self.refused(slow, fast))
        self.assertIn("impossible", self.refused(slow, fast, "--reconvert"))

    def test_what_cannot_be_restated(self):
        log = self.write("log.jsonl", steps_log(wiggled(1.0)))
        result = self.mfu("compare", self.good, log, "--reconvert")
        self.assertEqual((result.returncode, result.stdout), (2, b""))
        self.assertIn("do not hold enough to restate", result.stderr.decode())

    def test_a_run_of_one_step(self):
        one = self.write("one.json", run_document(flops=HALF_OF_PEAK, chip="a100", steps=1,
                                                      stall=0.1))
        answer = self.compared(self.good, one)
        self.assertIsNone(answer["delta"]["verdict"])
        self.assertIsNone(answer["delta"]["speed_ci"])


class Contract(Compare):
    def test_what_is_null_in_a_setup_has_its_reason(self):
        run = self.run_file("run.json")
        bare = self.run_file("bare.json", None, None)
        log = self.write("log.jsonl", steps_log(wiggled(1.0)))
        for command in (["diagnose", run], ["diagnose", bare], ["log", log],
                        ["calc", "--tflops", "140T", "--peak", "312T"]):
            setup = json.loads(self.mfu(*command, "--json").stdout)["setup"]
            for key, value in setup.items():
                if value is None:
                    self.assertIn(key, setup["missing"], command)


if __name__ == "__main__":
    unittest.main()
