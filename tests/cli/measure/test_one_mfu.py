#!/usr/bin/env python3
"""One MFU: log, compare, diagnose and history say the same of the same steps, and the gate judges the
steps that were recorded."""

import json
import random
import unittest

from driven import FULL, Cli

FLOPS_A_TOKEN = 6 * 7e9
PAIRS = 500 if FULL else 60
SHAPES = ("same", "share", "half", "every-nth", "drift", "two-levels")


def series(random_of, shape, factor, steps=40):
    """Step times of about a second: some of them longer by the factor."""
    nth = random_of.choice((2, 3, 5, 8))
    share = random_of.uniform(0.1, 0.6)
    values = []
    for step in range(steps):
        slow = {"same": False, "share": random_of.random() < share, "half": step >= steps // 2,
                "every-nth": step % nth == 0, "two-levels": (step // 7) % 2 == 0}.get(shape, False)
        own = factor if slow else 1.0
        if shape == "drift":
            own = 1.0 + (factor - 1.0) * step / steps
        values.append(round(own * (1.0 + 0.004 * random_of.uniform(-1, 1)), 6))
    return values


def csv_of(values):
    return "step,dt,tokens\n" + "".join(f"{i},{value!r},131072\n"
                                        for i, value in enumerate(values, start=1))


class OneMfu(Cli):
    columns = ("--columns", "step=step,step_time=dt,tokens=tokens", "--params", "7B", "--gpus", "64",
               "--chip", "a100", "--convention", "6n", "--skip", "0")

    def log(self, name, values, *more):
        path = self.write(name, csv_of(values))
        done = self.mfu("log", path, *self.columns, *more, "--json")
        self.assertIn(done.returncode, (0, 1), done.stderr.decode())
        return json.loads(done.stdout), done.returncode

    def run_of(self, values):
        """The same steps as a run of two ranks."""
        ranks = [{"rank": rank, "compute": [0.9 * value for value in values],
                  "comm": [0.1 * value for value in values], "stall": [0.0] * len(values)}
                 for rank in (0, 1)]
        return self.write("run.json", {
            "schema": "mfu.run/1", "waits_in": "comm", "ranks": ranks,
            "workload": {"flops_per_step": FLOPS_A_TOKEN * 131072},
            "hardware": {"chip": "a100", "precision": "bf16", "count": 64}})

    def test_all_commands_say_the_same(self):
        random_of = random.Random(17)
        for shape in SHAPES:
            values = series(random_of, shape, 1.7)
            answer, _ = self.log("steps.csv", values)
            mean = sum(values) / len(values)
            wanted = FLOPS_A_TOKEN * 131072 / (64 * 312e12 * mean)
            with self.subTest(shape=shape):
                head = answer["headline"]
                self.assertEqual(head["statistic"], "mean")
                self.assertAlmostEqual(head["mfu"] / wanted, 1.0, delta=1e-12)
                self.assertAlmostEqual(head["step_seconds"] / mean, 1.0, delta=1e-12)
                saved = self.write("saved.json", json.dumps(answer))
                both = json.loads(self.mfu("compare", saved, saved, "--json").stdout)
                self.assertAlmostEqual(both["before"]["mfu"] / wanted, 1.0, delta=1e-12)
                database = str(self.folder / f"{shape}.jsonl")
                done = self.mfu("history", "add", saved, "--db", database, "--job", "j")
                self.assertEqual(done.returncode, 0, done.stderr.decode())
                with open(database, encoding="utf-8") as file:
                    record = json.loads(file.read())
                self.assertAlmostEqual(record["mfu"] / wanted, 1.0, delta=1e-12)
                self.assertEqual(record["statistic"], "mean")
                done = self.mfu("diagnose", self.run_of(values), "--json")
                self.assertEqual(done.returncode, 0, done.stderr.decode())
                run = json.loads(done.stdout)["headline"]
                if not json.loads(done.stdout)["steps"]["warmup"]:
                    self.assertAlmostEqual(run["mfu"] / wanted, 1.0, delta=1e-12)
                    self.assertEqual(run["statistic"], "mean")

    def test_the_gate_judges_the_recorded_means(self):
        random_of = random.Random(4)
        judged = {True: 0, False: 0}
        for pair in range(PAIRS):
            before = series(random_of, random_of.choice(SHAPES), random_of.uniform(1.0, 2.0))
            shape = random_of.choice(SHAPES)
            after = series(random_of, shape, random_of.uniform(1.0, 2.5))
            if pair % 3 == 0:
                scale = random_of.uniform(0.98, 1.1) * (sum(before) / sum(after))
                after = [value * scale for value in after]
            base, _ = self.log("before.csv", before)
            saved = self.write("base.json", json.dumps(base))
            change = sum(after) / sum(before) - 1.0
            if 0.025 <= change < 0.05:
                continue
            _, code = self.log("after.csv", after, "--baseline", saved, "--max-regression", "3%")
            judged[change >= 0.05] += 1
            self.assertEqual(code, 1 if change >= 0.05 else 0, (shape, change))
        self.assertGreater(min(judged.values()), PAIRS // 10)

    def test_each_statistic_is_its_own(self):
        values = [1.0] * 30 + [3.0] * 20
        median, _ = self.log("steps.csv", values, "--statistic", "median")
        mean, _ = self.log("steps.csv", values)
        self.assertEqual(median["headline"]["step_seconds"], 1.0)
        self.assertEqual(mean["headline"]["step_seconds"], 1.8)
        self.assertEqual(mean["headline"]["usual_step_seconds"], 1.0)
        saved = self.write("median.json", json.dumps(median))
        # Held against the mean of the same steps.
        again, code = self.log("steps.csv", values, "--baseline", saved, "--max-regression", "1%")
        self.assertEqual(code, 0, again["gates"])
        self.assertAlmostEqual(again["gates"][0]["value"], 0.0)
        # A report from before there was a choice is of the median, and holds enough to restate it.
        for key in ("statistic", "usual_step_seconds", "p95_seconds", "wall_seconds"):
            del median["headline"][key]
        older = self.write("older.json", json.dumps(median))
        again, code = self.log("steps.csv", values, "--baseline", older, "--max-regression", "1%")
        self.assertEqual(code, 0, again["gates"])
        for key in ("mean_seconds", "mean_over_p50"):
            del median["steps"][key]
        bare = self.write("bare.json", json.dumps(median))
        done = self.mfu("log", self.write("s.csv", csv_of(values)), *self.columns, "--baseline", bare,
                        "--max-regression", "1%")
        self.assert_refused(done, "median", "--statistic median")
        _, code = self.log("steps.csv", values, "--statistic", "median", "--baseline", bare,
                           "--max-regression", "1%")
        self.assertEqual(code, 0)

    def test_records_of_another_statistic_are_another_series(self):
        database = str(self.folder / "h.jsonl")
        values = series(random.Random(1), "same", 1.0)
        for name, more in (("a", ()), ("b", ("--statistic", "median"))):
            answer, _ = self.log("steps.csv", values, *more)
            saved = self.write(f"{name}.json", json.dumps(answer))
            self.mfu("history", "add", saved, "--db", database, "--job", "j")
        shown = self.mfu("history", "show", "--db", database, "--json").stdout.decode()
        self.assertIn('"statistic": "mean"', shown)
        self.assertIn('"statistic": "median"', shown)
        answer, code = self.log("steps.csv", [1.5 * value for value in values], "--against",
                                "history", "--db", database, "--job", "j", "--max-regression", "3%")
        self.assertIn("history-not-alike", [note["code"] for note in answer["notes"]])
        self.assertEqual(code, 0)  # one record is no baseline

    def test_two_speeds_are_told(self):
        for shape in ("half", "two-levels"):
            values = series(random.Random(3), shape, 3.0)
            done = self.mfu("log", self.write("t.csv", csv_of(values)), *self.columns)
            self.assertIn("two speeds", done.stdout.decode(), shape)
        values = [1.0 if step % 2 else 5.0 for step in range(60)]
        answer, _ = self.log("t.csv", values)
        self.assertEqual(answer["steps"]["levels"]["period_lines"], 2.0)
        self.assertAlmostEqual(answer["steps"]["levels"]["time_share"], 5 / 6)
        answer, _ = self.log("t.csv", series(random.Random(3), "same", 1.0))
        self.assertIsNone(answer["steps"]["levels"])

    def test_wall_needs_time_stamps(self):
        path = self.write("t.csv", csv_of([1.0] * 20))
        self.assert_refused(self.mfu("log", path, *self.columns, "--statistic", "wall"),
                            "no time stamps")
        self.assert_refused(self.mfu("log", path, *self.columns, "--statistic", "mode"),
                            "no statistic", "mean, median or wall")
        lines = ["2026-01-05 10:%02d:%02d | step=%d step_time=1.0s" % (
            (2 * step) // 60, (2 * step) % 60, step) for step in range(1, 31)]
        path = self.write("t.log", "\n".join(lines) + "\n")
        done = self.mfu("log", path, "--json", "--skip", "0")
        if done.returncode == 0 and json.loads(done.stdout)["headline"]["wall_seconds"]:
            self.assertAlmostEqual(json.loads(done.stdout)["headline"]["wall_seconds"], 2.0)


if __name__ == "__main__":
    unittest.main()
