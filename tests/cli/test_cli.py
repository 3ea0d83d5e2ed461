#!/usr/bin/env python3
"""The command line, driven through the real binary (MFU_BIN): exit codes, streams, errors."""

import gzip
import json
import os
import pathlib
import pty
import re
import resource
import signal
import subprocess
import sys
import unittest

from driven import HALF_OF_PEAK, MFU, Cli, run_document
from hostile_input import Hostile  # noqa: F401  (unittest finds it here)
from watched import HANG, close, read_terminal, wait_until_read


class Usage(Cli):
    def test_without_arguments_prints_help(self):
        result = self.mfu()
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"diagnose", result.stdout)

    def test_help_and_version(self):
        for arguments in (["--help"], ["diagnose", "--help"], ["diagnose", "-h"]):
            result = self.mfu(*arguments)
            self.assertEqual(result.returncode, 0)
            self.assertIn(b"Examples:", result.stdout)
            for line in result.stdout.decode().splitlines():
                self.assertLessEqual(len(line), 80, line)
        result = self.mfu("--version")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stdout.decode(), r"^mfu \d+\.\d+\.\d+\n$")

    def test_unknown_command_and_option_are_guessed(self):
        self.assert_refused(self.mfu("diagnos", "x"), "did you mean 'diagnose'?")
        path = self.write("run.json", run_document())
        self.assert_refused(self.mfu("diagnose", path, "--josn"), "did you mean '--json'?")
        self.assert_refused(self.mfu("--nonsense"), "unknown option '--nonsense'")

    def test_all_usage_errors_at_once(self):
        result = self.mfu("diagnose", "--josn", "--min-mfu", "40", "--fail-on", "stal", "--steps",
                          "9..1", "--ranks", "x", "--skip", "-", "--reference", "meen")
        self.assert_refused(result, "'--josn'", "40 or 40%?", "'stal'", "did you mean 'stall'?",
                            "--steps", "--ranks", "--skip", "did you mean 'mean'?", "no file")

    def test_a_model_that_nobody_knows_is_refused_with_the_near_names(self):
        path = self.write("run.json", run_document())
        self.assert_refused(self.mfu("diagnose", path, "--model", "llama-3.1-8x"), "llama-3.1-8b")
        self.assert_refused(self.mfu("diagnose", path, "--model", "nope"), "unknown model 'nope'")

    def test_an_option_against_the_run_is_told(self):
        document = run_document()
        document["workload"] = {"seq_len": 8192, "global_batch": 16}
        document["model"] = "llama-3.1-8b"
        path = self.write("run.json", document)

        def told(*arguments):
            done = self.mfu("diagnose", path, *arguments)
            self.assertEqual(done.returncode, 0, done.stderr)
            return " ".join((done.stdout + done.stderr).decode().split())
        self.assertIn("the run itself says 16 sequences per step, --batch says 32",
                      told("--batch", "32"))
        self.assertIn("the run itself says 131072 tokens per step, --tokens-per-step says 262144",
                      told("--tokens-per-step", "262144"))
        self.assertIn("--batch makes 131072 tokens per step, --tokens-per-step says 5000",
                      told("--batch", "16", "--tokens-per-step", "5000"))
        for same in (("--batch", "16"), ("--tokens-per-step", "131072"), ("--seq-len", "8192")):
            self.assertNotIn("the run itself says", told(*same))
        self.assert_refused(self.mfu("diagnose", path, "--batch", "32", "--strict"), "--batch")

    def test_missing_value(self):
        self.assert_refused(self.mfu("diagnose", "run.json", "--min-mfu"), "--min-mfu")

    def test_usage_error_with_json(self):
        result = self.mfu("diagnose", "--json")
        self.assertEqual(result.returncode, 2)
        answer = json.loads(result.stdout)
        self.assertEqual(answer["error"]["kind"], "usage")
        self.assertEqual(answer["exit_code"], 2)
        self.assertIn(b"mfu: error:", result.stderr)


class Diagnose(Cli):
    def test_text_and_json_agree(self):
        path = self.write("run.json", run_document(slow_rank=5))
        text = self.mfu("diagnose", path)
        self.assertEqual(text.returncode, 0, text.stderr)
        for line in text.stdout.decode().splitlines():
            self.assertLessEqual(len(line), 80, line)
        self.assertIn(b"VERDICT  straggler", text.stdout)
        answer = json.loads(self.mfu("diagnose", path, "--json").stdout)
        self.assertEqual(answer["schema"], "mfu.report/1")
        self.assertEqual(answer["verdict"]["family"], "straggler")
        self.assertEqual(answer["verdict"]["culprits"]["ranks"], [5])
        self.assertEqual(answer["inputs"][0]["path"], path)
        seconds = [part["seconds"] for part in answer["parts"]]
        self.assertAlmostEqual(sum(seconds), answer["headline"]["step_seconds"], places=12)
        product = 1.0
        for factor in answer["factors"]:
            product *= factor["value"]
        self.assertAlmostEqual(product, answer["headline"]["parallel_efficiency"], places=12)

    def test_mfu_is_printed_when_work_and_peak_are_known(self):
        path = self.write("run.json", run_document(flops=HALF_OF_PEAK, chip="NVIDIA A100-SXM4-80GB"))
        answer = json.loads(self.mfu("diagnose", path, "--json").stdout)
        step = answer["headline"]["step_seconds"]
        self.assertAlmostEqual(answer["headline"]["mfu"], 0.5 / step, places=12)
        self.assertEqual(answer["setup"]["fingerprint"],
                         "convention=palm peak=312T precision=bf16 clock=datasheet@1410MHz")
        self.assertIn(b"\n  MFU ", self.mfu("diagnose", path).stdout)

    def test_without_mfu_says_what_is_missing(self):
        path = self.write("run.json", run_document())
        result = self.mfu("diagnose", path)
        self.assertEqual(result.returncode, 0)
        self.assertIn(b"parallel efficiency", result.stdout)
        self.assertIn(b"flops_per_step", result.stdout)
        answer = json.loads(self.mfu("diagnose", path, "--json").stdout)
        self.assertIsNone(answer["headline"]["mfu"])
        self.assertIn("flops_per_step", answer["headline"]["mfu_missing"])

    def test_standard_input_gzip_and_lines_give_the_same_report(self):
        document = run_document(slow_rank=2)
        path = self.write("run.json", document)
        expected = self.mfu("diagnose", path).stdout
        plain = json.dumps(document).encode()
        self.assertEqual(self.mfu("diagnose", "-", stdin=plain).stdout, expected)
        packed = gzip.compress(plain)
        self.assertEqual(self.mfu("diagnose", "-", stdin=packed).stdout, expected)
        self.assertEqual(self.mfu("diagnose", self.write("run.gz", packed)).stdout, expected)
        header = {key: document[key] for key in document if key not in ("steps", "ranks")}
        lines = [json.dumps(header)]
        for rank in document["ranks"]:
            lines.append(json.dumps({key: rank[key] for key in ("rank", "node", "gpu")}))
            for at, step in enumerate(document["steps"]):
                lines.append(json.dumps({"rank": rank["rank"], "step": step,
                                         **{key: rank[key][at]
                                            for key in ("compute", "comm", "stall")}}))
        result = self.mfu("diagnose", self.write("run.jsonl", "\n".join(lines) + "\n"))
        self.assertEqual(result.stdout, expected)

    def test_selection(self):
        path = self.write("run.json", run_document(slow_rank=5))
        answer = json.loads(self.mfu("diagnose", path, "--json", "--steps", "4..20", "--skip",
                                     "2").stdout)
        self.assertEqual(answer["steps"]["used"][0], 6)
        self.assertEqual(answer["steps"]["used"][-1], 20)
        self.assert_refused(self.mfu("diagnose", path, "--steps", "100..200"))
        self.assert_refused(self.mfu("diagnose", path, "--ranks", "77"), "77")
        chosen = self.mfu("diagnose", path, "--ranks", "0,3-6", "--json")
        self.assertEqual(chosen.returncode, 0)
        self.assertEqual(json.loads(chosen.stdout)["setup"]["recorded_ranks"], 5)

    def test_one_rank_or_few_steps_is_inconclusive(self):
        for document in (run_document(ranks=1), run_document(steps=5)):
            answer = self.mfu("diagnose", self.write("run.json", document), "--json")
            self.assertEqual(answer.returncode, 0)
            verdict = json.loads(answer.stdout)["verdict"]
            self.assertEqual(verdict["family"], "inconclusive")
            self.assertTrue(verdict["evidence"])
            self.assertTrue(verdict["actions"])

    def test_verbose_talks_on_standard_error_only(self):
        path = self.write("run.json", run_document())
        quiet = self.mfu("diagnose", path)
        loud = self.mfu("diagnose", path, "-v")
        self.assertEqual(quiet.stdout, loud.stdout)
        self.assertIn(b"diagnosed", loud.stderr)


class Outputs(Cli):
    def test_out_writes_files_and_the_screen(self):
        path = self.write("run.json", run_document())
        report, screen = self.folder / "report.json", self.folder / "screen.txt"
        result = self.mfu("diagnose", path, "--out", f"json:{report}", "--out", f"text:{screen}")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(screen.read_bytes(), result.stdout)
        self.assertEqual(json.loads(report.read_text())["command"], "diagnose")
        result = self.mfu("diagnose", path, "--out", "json")
        self.assertEqual(json.loads(result.stdout)["command"], "diagnose")

    def test_a_shorter_result_replaces_a_longer_one(self):
        path = self.write("run.json", run_document())
        target = self.write("report.json", "x" * 100000)
        self.mfu("diagnose", path, "--out", f"json:{target}")
        json.loads(pathlib.Path(target).read_text())

    def test_outputs_are_opened_before_any_work(self):
        result = self.mfu("diagnose", "no-such-run.json", "--out", f"json:{self.folder}/no/x.json")
        self.assert_refused(result, "no/x.json", "cannot be written")
        self.assertNotIn(b"no-such-run", result.stderr)

    def test_a_failed_run_leaves_an_old_report_alone(self):
        target = self.write("report.json", "old")
        self.assert_refused(self.mfu("diagnose", "no-such-run.json", "--out", f"json:{target}"))
        self.assertEqual(pathlib.Path(target).read_text(), "old")

    def test_unknown_format_and_two_results_for_one_stream(self):
        path = self.write("run.json", run_document())
        self.assert_refused(self.mfu("diagnose", path, "--out", "jsno"), "did you mean 'json'?")
        self.assert_refused(self.mfu("diagnose", path, "--json", "--out", "text"), "two results")

    def test_a_pipe_gets_no_escape_bytes(self):
        path = self.write("run.json", run_document(slow_rank=1))
        result = self.mfu("diagnose", path, env={"TERM": "xterm-256color", "LANG": "C.UTF-8"})
        self.assertNotIn(b"\x1b", result.stdout + result.stderr)
        result.stdout.decode("ascii")

    def test_a_closed_pipe_is_quiet(self):
        path = self.write("run.json", run_document())
        for arguments in (["diagnose", path], ["diagnose", path, "--json"], ["--help"],
                          ["diagnose", "no-such-run.json", "--json"]):
            reading, writing = os.pipe()
            os.close(reading)
            result = subprocess.run([MFU, *arguments], stdout=writing, stderr=subprocess.PIPE,
                                    timeout=HANG, check=False)
            os.close(writing)
            self.assertEqual(result.returncode, 141, arguments)
            if "no-such-run.json" not in arguments:
                self.assertEqual(result.stderr, b"")

    def test_a_full_or_closed_standard_output_is_an_error(self):
        path = self.write("run.json", run_document())
        if os.path.exists("/dev/full"):
            with open("/dev/full", "wb") as full:
                result = subprocess.run([MFU, "diagnose", path], stdout=full,
                                        stderr=subprocess.PIPE, timeout=HANG, check=False)
            self.assertEqual(result.returncode, 2)
            self.assertIn(b"standard output", result.stderr)
        closed = subprocess.run(["sh", "-c", '"$0" diagnose "$1" >&-', MFU, path],
                                stderr=subprocess.PIPE, timeout=HANG, check=False)
        self.assertEqual(closed.returncode, 2)

    def test_a_closed_stdout_does_not_receive_the_result_in_a_file(self):
        path = self.write("run.json", run_document())
        target = self.folder / "report.json"
        subprocess.run(["sh", "-c", '"$0" diagnose "$1" --out "json:$2" >&-', MFU, path,
                        str(target)], stderr=subprocess.PIPE, timeout=HANG, check=False)
        json.loads(target.read_text())

    def test_interrupt_is_quiet(self):
        process = subprocess.Popen([MFU, "diagnose", "-"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(close, process)
        process.stdin.write(b'{"schema":"mfu.run/1",')
        wait_until_read(process)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(HANG), 130)
        self.assertEqual(process.stderr.read(), b"")

    def on_terminal(self, path, env):
        """What the binary writes to a pseudo-terminal."""
        environment = {key: value for key, value in os.environ.items()
                       if key not in ("NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG")}
        environment.update(env)
        master, slave = pty.openpty()
        process = subprocess.Popen([MFU, "diagnose", path], stdout=slave,
                                   stderr=subprocess.DEVNULL, env=environment)
        os.close(slave)
        output = read_terminal(master)
        os.close(master)
        self.assertEqual(process.wait(HANG), 0)
        return output

    def test_terminal_colour_and_utf8(self):
        path = self.write("run.json", run_document(slow_rank=1))
        shown = self.on_terminal(path, {"TERM": "xterm", "LANG": "en_US.UTF-8"})
        self.assertIn(b"\x1b[", shown)
        self.assertIn("█".encode(), shown)
        plain = self.on_terminal(path, {"TERM": "xterm", "NO_COLOR": "1", "LC_ALL": "C"})
        self.assertNotIn(b"\x1b", plain)
        plain.decode("ascii")
        self.assertNotIn(b"\x1b", self.on_terminal(path, {"TERM": "dumb"}))
        bare = re.sub(rb"\x1b\[[0-9;]*m", b"", self.on_terminal(path, {"TERM": "xterm"}))
        self.assertEqual(bare, plain)


class Gates(Cli):
    def setUp(self):
        super().setUp()
        self.known = self.write("known.json",
                                run_document(flops=HALF_OF_PEAK, chip="a100-sxm4-80gb"))
        self.slow = self.write("slow.json", run_document(slow_rank=3))

    def test_min_mfu(self):
        self.assertEqual(self.mfu("diagnose", self.known, "--min-mfu", "30%").returncode, 0)
        result = self.mfu("diagnose", self.known, "--min-mfu", "0.6", "--json")
        self.assertEqual(result.returncode, 1)
        answer = json.loads(result.stdout)
        self.assertEqual(answer["exit_code"], 1)
        self.assertEqual(answer["gates"][0]["id"], "min-mfu")
        self.assertIs(answer["gates"][0]["passed"], False)
        self.assertEqual(answer["gates"][0]["value"], answer["headline"]["mfu"])

    def test_a_gate_that_cannot_be_judged_is_not_passed(self):
        result = self.mfu("diagnose", self.slow, "--min-mfu", "30%", "--json")
        self.assert_refused(result, "flops_per_step")
        self.assertIn("error", json.loads(result.stdout))

    def test_fail_on(self):
        result = self.mfu("diagnose", self.slow, "--fail-on", "stall,straggler")
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"FAILED", result.stdout)
        self.assertEqual(self.mfu("diagnose", self.slow, "--fail-on", "stall").returncode, 0)

    def test_strict_accepts_whole_data_and_refuses_the_rest(self):
        result = self.mfu("diagnose", self.known, "--strict")
        self.assertEqual(result.returncode, 0, result.stderr)
        document = run_document()
        lines = [json.dumps({"schema": "mfu.run/1", "waits_in": "comm"})]
        for rank in document["ranks"]:
            for at, step in enumerate(document["steps"]):
                lines.append(json.dumps({"rank": rank["rank"], "step": step,
                                         **{key: rank[key][at]
                                            for key in ("compute", "comm", "stall")}}))
        cut = self.write("cut.jsonl", "\n".join(lines) + '\n{"rank":0,"step":99,"comp')
        loose = self.mfu("diagnose", cut)
        self.assertEqual(loose.returncode, 0, loose.stderr)
        self.assertIn(b"mfu: note:", loose.stderr)
        self.assert_refused(self.mfu("diagnose", cut, "--strict"), "--strict")

    def test_impossible(self):
        path = self.write("hot.json", run_document(flops=6 * HALF_OF_PEAK, chip="a100-sxm4-80gb"))
        result = self.mfu("diagnose", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(b"IMPOSSIBLE", result.stdout)
        answer = json.loads(self.mfu("diagnose", path, "--json").stdout)
        self.assertEqual(answer["headline"]["status"], "impossible")
        self.assertTrue(answer["headline"]["impossible_because"])
        self.assert_refused(self.mfu("diagnose", path, "--strict"), "impossible")
        self.assert_refused(self.mfu("diagnose", path, "--min-mfu", "30%"), "impossible")


class Locale(Cli):
    def test_the_locale_changes_nothing(self):
        path = self.write("run.json", run_document(flops=HALF_OF_PEAK, chip="a100-sxm4-80gb"))
        installed = subprocess.run(["locale", "-a"], stdout=subprocess.PIPE, check=False,
                                   stderr=subprocess.DEVNULL).stdout.decode().split()
        commas = [name for name in ("de_DE.UTF-8", "de_DE.utf8", "fr_FR.utf8") if name in installed]
        if os.environ.get("LOCPATH"):
            commas.append("de_DE.UTF-8")
        if not commas:
            print("skipped: no locale with a decimal comma is installed; tried the others")
        for arguments in (["diagnose", path], ["diagnose", path, "--json"], ["diagnose", "none"],
                          ["--help"]):
            expected = self.mfu(*arguments, env={"LC_ALL": "C"})
            for name in dict.fromkeys(commas + installed + ["de_DE.UTF-8"]):
                other = self.mfu(*arguments, env={"LC_ALL": name, "LANG": name})
                self.assertEqual(other.stdout, expected.stdout, name)
                self.assertEqual(other.stderr, expected.stderr, name)
                self.assertEqual(other.returncode, expected.returncode, name)


if __name__ == "__main__":
    # A core dump of a sanitizer build would be huge, and says nothing that its report does not.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.stdout.reconfigure(line_buffering=True)
    unittest.main(verbosity=1)
