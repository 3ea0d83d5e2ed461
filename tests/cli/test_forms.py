#!/usr/bin/env python3
"""The forms for CI, each read by a parser that is not ours, and the action that uses them."""

import csv
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree

from driven import MFU, run_document
from made_traces import make_trace
from train_log import Log, megatron_log


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
                if arguments[0] == "diagnose":
                    shares = [float(share) for share in
                              re.findall(r"^\| [a-z -]+ \| .* m?s, (-?[\d.]+) % \|$", text, re.M)]
                    self.assertGreater(len(shares), 3)
                    self.assertAlmostEqual(sum(shares), 100.0, places=6)
                for line in text.splitlines():
                    bare = re.sub(r"`[^`]*`", "", line)
                    self.assertNotRegex(bare, r"<|(?<!\\)`|(?<!\w)@")
                    if line.startswith("|"):
                        self.assertEqual(len(re.findall(r"(?<!\\)\|", line)), 3, line)

    def test_traces_and_replays_have_their_block(self):
        trace = self.write("trace.json", make_trace(0))
        text, _ = self.written("md", "diagnose", trace)
        self.assertIn("**In the trace**", text)

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
            self.assert_refused(result, f"mfu list has no {form} output")
            self.assertEqual(result.stdout, b"")
            with open(target, encoding="utf-8") as file:
                self.assertEqual(file.read(), "old")
        self.assert_refused(self.mfu("log", self.path, "--out", "html"), "html")


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

    def test_an_old_report_is_not_taken_for_this_one(self):
        self.write("mfu.json", {"headline": {"mfu": 0.99, "step_seconds": 1.0}})
        self.write("train.log", "no log\n")
        self.act(code=2)
        self.assertEqual((self.folder / "outputs").read_text(), "")

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
