#!/usr/bin/env python3
"""mfu history through the command line (MFU_BIN): adding from many processes, cut-off lines, what is
usual, and --against history."""

import csv
import fcntl
import gzip
import json
import os
import pathlib
import subprocess
import unittest
from concurrent.futures import ThreadPoolExecutor

from driven import FULL, HALF_OF_PEAK, MFU, Cli, run_document
from watched import HANG, wait_until_open


class WithHistory(Cli):
    def setUp(self):
        super().setUp()
        self.db = str(self.folder / "history.jsonl")

    def report(self, name, tflops=140.0):
        result = self.mfu("calc", "--tflops", f"{tflops}T", "--peak", "312T", "--gpus", "8", "--json")
        return self.write(name, result.stdout)

    def add(self, report, *options, code=0, **environment):
        result = self.mfu("history", "add", report, "--db", self.db, *options, **environment)
        self.assertEqual(result.returncode, code, result.stderr.decode())
        return result

    def shown(self, *options, action="show"):
        result = self.mfu("history", action, "--db", self.db, "--json", *options)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return json.loads(result.stdout)

    def lines(self):
        return pathlib.Path(self.db).read_bytes().split(b"\n")


class History(WithHistory):
    def test_records_from_eight_processes(self):
        # A thousand where the proof `grids` asks for it.
        each = 125 if FULL else 12
        report = self.report("report.json")
        loop = (f'i=0; while [ $i -lt {each} ]; do "$0" history add "$1" --db "$2" --job "w$3" '
                '--label "$i" >"$2.out$3" || exit 1; i=$((i+1)); done')

        def worker(number):
            return subprocess.run(["sh", "-c", loop, MFU, report, self.db, str(number)],
                                  timeout=HANG, check=False).returncode

        with ThreadPoolExecutor(8) as pool:
            self.assertEqual(list(pool.map(worker, range(8))), [0] * 8)
        lines = self.lines()
        self.assertEqual(lines.pop(), b"")
        self.assertEqual(len(lines), 8 * each)
        seen = set()
        for line in lines:
            record = json.loads(line)
            seen.add((record["job"], record["label"]))
        self.assertEqual(len(seen), 8 * each)
        self.assertEqual(len(self.shown()["entries"]), 8 * each)

    def test_a_lock_that_is_never_let_go(self):
        report = self.report("report.json")
        self.add(report, "--job", "a")
        whole = pathlib.Path(self.db).read_bytes()
        with open(self.db, "ab") as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            result = subprocess.run([MFU, "history", "add", report, "--db", self.db],
                                    capture_output=True, timeout=HANG, check=False)
            # Who only reads waits for nobody.
            self.assertEqual(len(self.shown()["entries"]), 1)
        said = result.stderr.decode()
        self.assertEqual(result.returncode, 2, said)
        self.assertIn(self.db, said)
        self.assertIn("another process has held its lock for 10 s: nothing was added", said)
        self.assertIn("hint: end that process", said)
        self.assertEqual(pathlib.Path(self.db).read_bytes(), whole)
        self.add(report, "--job", "a")

    def test_a_lock_that_is_let_go_is_waited_for(self):
        report = self.report("report.json")
        self.add(report, "--job", "a")
        before = pathlib.Path(self.db).read_bytes()
        with open(self.db, "ab") as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            with subprocess.Popen([MFU, "history", "add", report, "--db", self.db],
                                  stdout=subprocess.DEVNULL) as adding:
                wait_until_open(adding, self.db)
                self.assertIsNone(adding.poll())
                self.assertEqual(pathlib.Path(self.db).read_bytes(), before)
                fcntl.flock(other, fcntl.LOCK_UN)
                self.assertEqual(adding.wait(HANG), 0)
        self.assertEqual(len(self.shown()["entries"]), 2)

    def test_a_cut_off_line_stays_and_is_not_glued_to(self):
        report = self.report("report.json")
        self.add(report, "--job", "a")
        whole = pathlib.Path(self.db).read_bytes()
        for cut in (1, 10, len(whole) // 2, len(whole) - 1):
            pathlib.Path(self.db).write_bytes(whole + whole[:cut])
            result = self.mfu("history", "show", "--db", self.db, "--json")
            answer = json.loads(result.stdout)
            # All but the newline is a whole record.
            expected = 2 if cut == len(whole) - 1 else 1
            self.assertEqual(len(answer["entries"]), expected)
            if expected == 1:
                self.assertEqual(answer["notes"][0]["code"], "history-cut-off")
            self.add(report, "--job", "a")
            self.assertEqual(len(self.shown()["entries"]), expected + 1)
            self.assertTrue(pathlib.Path(self.db).read_bytes().startswith(whole + whole[:cut] + b"\n"))
            strict = self.mfu("history", "show", "--db", self.db, "--strict")
            self.assertEqual(strict.returncode, 0 if expected == 2 else 2)

    def test_lines_that_are_no_records(self):
        self.add(self.report("report.json"), "--job", "a")
        with open(self.db, "ab") as file:
            file.write(b'{"schema": "mfu.history/2", "job": "a"}\nhello\n\n{"a": NaN}\n[1]\n\xff\xfe\n')
        self.add(self.report("report.json"), "--job", "a")
        answer = self.shown()
        self.assertEqual(len(answer["entries"]), 2)
        notes = {note["code"]: note["count"] for note in answer["notes"]}
        self.assertEqual(notes, {"history-version": 1, "history-line": 4})

    def test_values_that_cannot_be(self):
        self.add(self.report("report.json"), "--job", "a")
        record = json.loads(self.lines()[0])
        with open(self.db, "a", encoding="utf-8") as file:
            for key, value in (("mfu", 7), ("mfu", -0.4), ("mfu", "0.4"), ("step_seconds", 1e300),
                               ("gpus", 0), ("job", None), ("job", ""), ("fingerprint", 3),
                               ("tokens_per_step", [])):
                file.write(json.dumps({**record, key: value}) + "\n")
            file.write(json.dumps({**record, "relative_ci": [5, -5], "label": {}}) + "\n")
        answer = self.shown()
        self.assertEqual(len(answer["entries"]), 2)
        notes = {note["code"]: note["count"] for note in answer["notes"]}
        self.assertEqual(notes, {"history-values": 9})

    def test_lines_as_other_systems_end_them_and_names_as_people_write_them(self):
        self.add(self.report("report.json"), "--job", "na\nme \u00fc \x1b[31m", "--label", "a\tb")
        whole = pathlib.Path(self.db).read_bytes()
        self.assertEqual(whole.count(b"\n"), 1)
        pathlib.Path(self.db).write_bytes(b"\xef\xbb\xbf" + whole.replace(b"\n", b"\r\n"))
        self.add(self.report("report.json"), "--job", "na\nme \u00fc \x1b[31m")
        answer = self.shown()
        self.assertEqual([entry["job"] for entry in answer["entries"]],
                         ["na\nme \u00fc \x1b[31m"] * 2)
        for form in ("text", "md", "csv"):
            shown = self.mfu("history", "show", "--db", self.db, "--out", form).stdout
            self.assertNotIn(b"\x1b", shown)

    def test_what_is_no_history_is_not_added_to(self):
        report = self.report("report.json")
        self.add(report)
        packed = self.write("history.jsonl.gz", gzip.compress(pathlib.Path(self.db).read_bytes()))
        for path, words in ((packed, "gzip"), (report, "not a history"),
                            (self.write("train.sh", "#!/bin/sh\n"), "not a history")):
            before = pathlib.Path(path).read_bytes()
            result = self.mfu("history", "add", self.report("r.json"), "--db", path)
            self.assert_refused(result, words)
            self.assertEqual(pathlib.Path(path).read_bytes(), before)
        for start in (b"\n", b'{"sch', b"# kept by the team\n" + pathlib.Path(self.db).read_bytes()):
            path = self.write("other.jsonl", start)
            result = self.mfu("history", "add", report, "--db", path)
            self.assertEqual(result.returncode, 0, result.stderr.decode())

    def test_what_cannot_be_added(self):
        report = self.report("report.json")
        self.assert_refused(self.mfu("history", "add", report, "--db",
                                     str(self.folder / "none" / "history.jsonl")), "folder")
        self.assert_refused(self.mfu("history", "add", report, "--db", str(self.folder)),
                            "cannot be appended to")
        self.assert_refused(self.mfu("history", "add", self.write("x.json", "{}"), "--db", self.db),
                            "not an mfu report")
        self.assertFalse(os.path.exists(self.db))
        self.assert_refused(self.mfu("history", "add", "--db", self.db), "no report to add")
        self.assert_refused(self.mfu("history", "add", report), "--db")
        self.assert_refused(self.mfu("history", "ad", report, "--db", self.db), "did you mean 'add'")
        impossible = self.report("impossible.json", 500.0)
        self.assert_refused(self.mfu("history", "add", impossible, "--db", self.db), "impossible")
        self.assert_refused(self.mfu("history", "show", "--db", self.db), "history.jsonl")
        self.assert_refused(self.mfu("history", "add", report, "--db", "/dev/null"), "not a file")
        self.add(report)
        os.chmod(self.db, 0o444)
        if os.geteuid() != 0:
            self.assert_refused(self.mfu("history", "add", report, "--db", self.db), "not writable")
        full = self.mfu("history", "add", report, "--db", "/dev/full")
        self.assertEqual(full.returncode, 2)

    def test_what_is_usual_and_when_it_changed(self):
        for i in range(10):
            self.add(self.report("r.json", 140 + 0.3 * (i % 3)), "--job", "n", "--label", f"a{i}")
        for i in range(6):
            self.add(self.report("r.json", 126 + 0.3 * (i % 3)), "--job", "n", "--label", f"b{i}")
        baseline = self.shown("--job", "n", action="baseline")["baseline"]
        self.assertAlmostEqual(baseline["mfu"], 126.3 / 312, delta=0.002)
        self.assertEqual(baseline["entries"], 6)
        self.assertEqual([change["label"] for change in baseline["changes"]], ["b0"])
        self.assertAlmostEqual(baseline["changes"][0]["speed"], 126.3 / 140.3 - 1, delta=0.005)
        screen = self.mfu("history", "show", "--db", self.db).stdout.decode()
        self.assertIn("from b0 on", screen)
        self.assertTrue(all(len(line) <= 80 for line in screen.splitlines()), screen)
        self.assert_refused(self.mfu("history", "show", "--db", self.db, "--job", "m"), "no records")

    def test_forms_for_people_and_for_sheets(self):
        for i in range(4):
            self.add(self.report("r.json", 140 + i), "--job", "a|b", "--label", f"=v{i}")
        self.add(self.report("r.json", 100), "--job", "other")
        sheet = self.mfu("history", "show", "--db", self.db, "--out", "csv").stdout.decode()
        rows = list(csv.DictReader(sheet.splitlines()))
        self.assertEqual([row["label"] for row in rows], ["'=v0", "'=v1", "'=v2", "'=v3", ""])
        self.assertAlmostEqual(float(rows[3]["mfu_ratio"]), 143 / 312, places=12)
        self.assertEqual(rows[4]["job"], "other")
        self.assertTrue(all(None not in row and None not in row.values() for row in rows))
        for action in ("show", "baseline"):
            text = self.mfu("history", action, "--db", self.db, "--out", "md").stdout.decode()
            self.assertIn("5 records of 2 jobs", text)
            self.assertIn("a\\|b", text)
            self.assertIn("usual MFU", text)
        self.assert_refused(self.mfu("history", "show", "--db", self.db, "--out", "junit"),
                            "md and csv")

    def test_records_that_were_not_measured_alike_are_not_on_one_line(self):
        for gpus in ("8", "8", "8", "16"):
            result = self.mfu("calc", "--tflops", "140T", "--peak", "312T", "--gpus", gpus, "--json")
            self.add(self.write("r.json", result.stdout), "--job", "n")
        answer = self.shown("--job", "n")
        self.assertEqual([(one["gpus"], one["entries"] if "entries" in one else None)
                          for one in answer["baselines"]], [(8, 3), (16, None)])

    def test_the_time_can_be_given(self):
        self.add(self.report("r.json"), env={"SOURCE_DATE_EPOCH": "0"})
        self.add(self.report("r.json"), "--time", "yesterday")
        times = [entry["time"] for entry in self.shown()["entries"]]
        self.assertEqual(times, ["1970-01-01T00:00:00Z", "yesterday"])


class Against(WithHistory):
    def run_file(self, name, stall):
        return self.write(name, run_document(flops=HALF_OF_PEAK, chip="a100", stall=stall))

    def test_a_run_against_what_is_usual(self):
        for i in range(5):
            path = self.run_file("run.json", 0.02 + 0.001 * i)
            report = self.write("r.json", self.mfu("diagnose", path, "--json").stdout)
            self.add(report, "--job", "nightly")
        options = ["--against", "history", "--db", self.db, "--job", "nightly", "--json"]
        usual = json.loads(self.mfu("diagnose", self.run_file("u.json", 0.022), *options).stdout)
        self.assertAlmostEqual(usual["history"]["speed"], 0, delta=0.005)
        slow = self.run_file("slow.json", 0.2)
        result = self.mfu("diagnose", slow, *options, "--max-regression", "5%")
        self.assertEqual(result.returncode, 1, result.stderr.decode())
        answer = json.loads(result.stdout)
        self.assertLess(answer["history"]["speed_ci"][1], 0)
        shown = self.mfu("diagnose", slow, *options[:-1]).stdout.decode()
        self.assertIn("slower than usual", shown)
        other = json.loads(self.mfu("diagnose", slow, *options[:-2], "weekly", "--json",
                                    "--max-regression", "5%").stdout)
        self.assertIsNone(other["history"]["speed"])
        self.assertTrue(other["gates"][0]["passed"])

    def test_a_gate_without_a_baseline_says_so(self):
        report = self.write("r.json", self.mfu("diagnose", self.run_file("run.json", 0.02),
                                               "--json").stdout)
        for _ in range(3):
            self.add(report, "--job", "nightly")
        run = self.run_file("slow.json", 0.2)
        gate = ["--against", "history", "--db", self.db, "--max-regression", "5%", "--job"]
        typo = self.mfu("diagnose", run, *gate, "nightlo")
        self.assertEqual(typo.returncode, 0)
        self.assertIn("no records of 'nightlo' (did you mean 'nightly'?)", typo.stderr.decode())
        self.assert_refused(self.mfu("diagnose", run, *gate, "nightlo", "--strict"), "nightlo")
        right = self.mfu("diagnose", run, *gate, "nightly", "--strict")
        self.assertEqual(right.returncode, 1, right.stderr.decode())
        # Without a gate nothing hangs on it.
        quiet = self.mfu("diagnose", run, *gate[:4], "--job", "nightlo", "--strict")
        self.assertEqual(quiet.returncode, 0, quiet.stderr.decode())

    def test_a_log_against_what_is_usual(self):
        def log(seconds):
            return self.write("log.jsonl", "".join(
                json.dumps({"step": i, "step_time": seconds * (1 + 0.002 * (i % 5))}) + "\n"
                for i in range(60)))
        for i in range(4):
            report = self.write("r.json",
                                self.mfu("log", log(1 + 0.002 * i), "--gpus", "8", "--json").stdout)
            self.add(report, "--job", "nightly")
        options = ["--gpus", "8", "--against", "history", "--db", self.db, "--job", "nightly",
                   "--max-regression", "3%"]
        self.assertEqual(self.mfu("log", log(1.0), *options).returncode, 0)
        slow = self.mfu("log", log(1.1), *options)
        self.assertEqual(slow.returncode, 1, slow.stderr.decode())

    def test_options_that_do_not_go_together(self):
        run = self.run_file("run.json", 0.02)
        self.assert_refused(self.mfu("diagnose", run, "--against", "history"), "--db")
        self.assert_refused(self.mfu("diagnose", run, "--db", self.db), "--against history")
        self.assert_refused(self.mfu("diagnose", run, "--max-regression", "3%"), "with what")
        self.assert_refused(self.mfu("diagnose", run, "--against", "yesterday", "--db", self.db),
                            "--against history")


class References(Cli):
    def test_the_list(self):
        items = {item["id"]: item for item in
                 json.loads(self.mfu("list", "references", "--json").stdout)["items"]}
        megascale = items["megascale-016"]
        self.assertIn("55.2 %", megascale["title"])
        self.assertIn("56.5 %", megascale["text"])
        self.assertIn("12,288", megascale["text"])
        self.assertIn("41.2 %", items["megascale-012"]["title"])
        self.assertIn("hearsay", items["hearsay-diverged"]["text"])
        self.assertIn("23 %", items["hearsay-diverged"]["title"])
        self.assertIn("30 to 60 %", items["usual-range"]["title"])
        for item in items.values():
            self.assertTrue(item["text"], item["id"])
            self.assertTrue(item["source"] or item["id"] == "usual-range", item["id"])

    def test_a_point_restated_to_its_own_convention_is_itself(self):
        # MPT 7B on 128 H100: llm-foundry's own convention gives llm-foundry's own figure.
        answer = json.loads(self.mfu(
            "calc", "--model", "llama-2-7b", "--chip", "h100-sxm", "--gpus", "128", "--seq-len",
            "2048", "--batch", "1024", "--step-time", "2s", "--convention", "llm-foundry",
            "--json").stdout)
        points = answer["reference_points"]
        point = next(point for point in points["nearest"] if point["text"].startswith("MPT 7B, 128 x"))
        self.assertIn("45.7 % (45.7 % by this convention)", point["text"])
        self.assertAlmostEqual(point["restated_mfu"], point["mfu"], delta=0.0006)
        self.assertEqual(point["standing"], "reproduced")
        self.assertEqual(point["gpus"], 128)
        self.assertEqual(point["convention"], "llm-foundry")
        self.assertTrue(point["source"])
        self.assertEqual(points["usual_range"], [0.3, 0.6])
        self.assertIn(points["position"], ("below", "within", "above"))
        self.assertIn(point["text"], points["summary"])

    def test_every_form_has_the_placement(self):
        run = run_document(flops=HALF_OF_PEAK, chip="a100")
        calc = ["calc", "--model", "llama-2-7b", "--chip", "a100", "--gpus", "8", "--seq-len",
                "4096", "--batch", "64", "--step-time", "8s"]
        for command in (calc, ["diagnose", self.write("run.json", run)]):
            answer = json.loads(self.mfu(*command, "--json").stdout)
            points = answer["reference_points"]
            self.assertTrue(points["nearest"], command)
            self.assertIn("of LLM training", points["summary"])
            for form in ("text", "md"):
                shown = self.mfu(*command, "--out", form).stdout.decode()
                self.assertIn("of LLM training", " ".join(shown.split()), form)
            # A finding of the run it is not.
            self.assertFalse(any("LLM training" in text for text in
                                 answer.get("verdict", {}).get("also", [])))
        nothing = json.loads(self.mfu("diagnose", self.write("bare.json", run_document()),
                                      "--json").stdout)
        self.assertIsNone(nothing["reference_points"])

    def test_a_scale_that_nobody_published(self):
        answer = json.loads(self.mfu("calc", "--params", "1M", "--convention", "6n",
                                     "--tokens-per-s-per-gpu", "1M", "--gpus", "1", "--peak", "100T",
                                     "--json").stdout)
        self.assertFalse(any("usual 30 to 60" in text for text in answer["advice"]))
        self.assertEqual(answer["reference_points"]["nearest"], [])
        self.assertIsNone(answer["reference_points"]["summary"])


if __name__ == "__main__":
    unittest.main()
