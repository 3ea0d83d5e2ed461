#!/usr/bin/env python3
"""mfu log and what people and machines do to it: broken logs, broken baselines, interrupts, names that
are commands to somebody."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import unittest

from driven import MFU
from train_log import Log, arguments_block, megatron_log, step_line, wiggle
from watched import HANG, close, interrupt, wait_until_caught, wait_until_read


def printed_times(times):
    """A Megatron log with these texts where the milliseconds of a step stand."""
    lines = [step_line(index + 1, 1.0).replace("(ms): 1.0 ", f"(ms): {text} ")
             for index, text in enumerate(times)]
    return "\n".join(arguments_block() + lines) + "\n"


class Broken(Log):
    def test_times_that_are_none(self):
        good = [f"{3100 * wiggle(index):.1f}" for index in range(20)]
        # Every second line has no time: the others are steps of their own, not means of two.
        for text in ("0.0", "nan", "-12.5", "inf"):
            with self.subTest(text=text):
                mixed = [word for one in good for word in (one, text)]
                answer = self.answer(self.write("train.log", printed_times(mixed)))
                self.assertEqual(answer["steps"]["left_out_by_reason"]["without_time"], 20)
                self.assertEqual(answer["steps"]["steps_a_line"], 1)
                self.assertAlmostEqual(answer["steps"]["p50_seconds"], 3.1, delta=0.01)
                none = self.mfu("log", self.write("train.log", printed_times([text] * 20)))
                self.assert_refused(none, "no step of the log has a time")

    def test_figures_beyond_all_measure_are_left_out_and_counted(self):
        good = [f"{3100 * wiggle(index):.1f}" for index in range(20)]
        for text in ("1e308", "9" * 200, "1e-300", "123456789012.0"):
            with self.subTest(text=text):
                path = self.write("train.log", printed_times(good + [text] * 3))
                answer = self.answer(path, "--chip", "h100-sxm")
                notes = {note["code"]: note for note in answer["notes"]}
                self.assertEqual(notes["implausible-values"]["count"], 3)
                self.assertEqual(answer["steps"]["left_out_by_reason"]["without_time"], 3)
                self.assertAlmostEqual(answer["steps"]["mean_seconds"], 3.1, delta=0.01)
                none = self.mfu("log", self.write("train.log", printed_times([text] * 20)))
                self.assert_refused(none, "no step of the log has a time")

    def test_a_job_that_none_is(self):
        lines = arguments_block(world_size=10**18, global_batch_size=10**15, seq_length=10**12)
        text = "\n".join(lines + [step_line(index, 3100 * wiggle(index)) for index in range(1, 30)])
        answer = self.answer(self.write("train.log", text + "\n"), "--chip", "h100-sxm")
        self.assertIsNone(answer["setup"]["gpus"])
        self.assertIn("--gpus", answer["headline"]["mfu_missing"])
        self.assertIn("implausible-setup", [note["code"] for note in answer["notes"]])

    def test_no_clock_goes_back(self):
        line = ("[titan] 2026-02-24 19:{:02d}:00,508 - root - INFO - step: {:2d}  loss:  7.6  memory: "
                "66.91GiB(37.51%)  tps: 10,050\n")
        back = "".join(line.format(59 - step, step) for step in range(1, 40))
        answer = self.answer(self.write("train.log", back), "--seq-len", "8192", "--batch", "16",
                             "--gpus", "8")
        self.assertAlmostEqual(answer["steps"]["p50_seconds"], 16 * 8192 / 8 / 10050, delta=0.01)

    def test_a_peak_under_every_step(self):
        # All steps cannot be nonsense: then it is the peak.
        path = self.write("train.log", megatron_log())
        answer = self.answer(path, "--peak", "10T")
        self.assertEqual(answer["headline"]["status"], "impossible")
        self.assertEqual(answer["steps"]["used"], 59)
        self.assert_refused(self.mfu("log", path, "--peak", "10T", "--skip", "60"),
                            "60 skipped as asked", "--skip")

    def test_a_format_that_it_is_not(self):
        path = self.write("train.log", megatron_log())
        self.assert_refused(self.mfu("log", path, "--format", "csv"), "csv", "--format")

    def test_bytes_of_any_kind(self):
        text = megatron_log()
        wanted = self.answer(self.write("train.log", text), "--chip", "h100-sxm")["headline"]
        for name, content in (("crlf", text.replace("\n", "\r\n").encode()),
                              ("cr", text.replace("\n", "\r").encode()),
                              ("bom", b"\xef\xbb\xbf" + text.encode()),
                              ("long", b"x" * 10_000_000 + b"\n" + text.encode()),
                              ("binary", bytes(range(256)) * 400 + b"\n" + text.encode())):
            with self.subTest(name=name):
                found = self.answer(self.write(name, content), "--chip", "h100-sxm")
                self.assertEqual(found["headline"], wanted)
        for name, content, message in (("utf16", text.encode("utf-16"), "UTF-16"),
                                       ("nothing", b"", "empty"), ("zeros", b"\0" * 5000, "no format's words")):
            with self.subTest(name=name):
                self.assert_refused(self.mfu("log", self.write(name, content)), message)
        self.assert_refused(self.mfu("log", str(self.folder)), "directory")
        self.assert_refused(self.mfu("log", *[self.write("train.log", text)] * 2), "more than one")


class Baselines(Log):
    def test_a_baseline_that_somebody_touched(self):
        log = self.write("train.log", megatron_log())
        report = self.answer(log, "--chip", "h100-sxm")

        def held_against(change):
            touched = json.loads(json.dumps(report))
            change(touched)
            return self.mfu("log", log, "--chip", "h100-sxm", "--max-regression", "3%", "--baseline",
                            self.write("b.json", touched))

        for value in (0, -1, 5, 1e308):
            result = held_against(lambda r, v=value: r["headline"].update(mfu=v))
            self.assert_refused(result, "headline.mfu", "is impossible")
        result = held_against(lambda r: r["headline"].update(mfu=1e-300))
        self.assertLess(max(map(len, result.stdout.decode().splitlines())), 81)
        result = held_against(lambda r: r["setup"].pop("fingerprint"))
        self.assert_refused(result, "not a complete report")
        for interval in ([-5, 5], [5, -5], [1e308, 1e308], ["a", "b"], [0], None):
            result = held_against(lambda r, i=interval: r["steps"].update(p50_relative_ci=i))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertNotIn(b"nan", result.stdout)
        self.assert_refused(self.mfu("log", "-", "--max-regression", "3%", "--baseline", "-"),
                            "named twice")


class Interrupted(Log):
    """Ctrl-C on `train | mfu log -` reaches both; what was read is answered."""

    def start(self, *arguments, **options):
        process = subprocess.Popen([MFU, "log", "-", *arguments], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.addCleanup(close, process)
        self.addCleanup(process.kill)
        return process

    def feed(self, process, text):
        """Returns once mfu (--tee) has passed it on."""
        process.stdin.write(text)
        process.stdin.flush()
        passed = 0
        while passed < len(text):
            passed += len(os.read(process.stdout.fileno(), 65536))

    def test_what_the_job_still_says_is_read(self):
        report = str(self.folder / "mfu.json")
        process = self.start("--tee", "--chip", "h100-sxm", "--out", "json:" + report)
        text = megatron_log().encode()
        self.feed(process, text[:8000])
        interrupt(process)
        self.assertIsNone(process.poll())
        rest, said = process.communicate(text[8000:], timeout=HANG)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(rest, text[8000:])
        self.assertIn(b"MFU 32.6 %", said)
        self.assertIn(b"59 of 60", said)
        with open(report, encoding="utf-8") as file:
            answer = json.load(file)
        self.assertEqual(answer["exit_code"], 130)
        self.assertIn("interrupted", [note["code"] for note in answer["notes"]])

    def test_a_second_one_ends_the_log_and_a_pipe_that_nobody_closes(self):
        process = self.start("--tee", "--chip", "h100-sxm")
        text = megatron_log().encode()
        self.feed(process, text[:text.index(b"iteration       31/")])
        interrupt(process)
        interrupt(process)
        said = process.stderr.read()
        self.assertEqual(process.wait(HANG), 130)
        self.assertIn(b"MFU 32.6 %", said)

    def test_nothing_to_answer_is_quiet(self):
        target = self.folder / "out.prom"
        process = self.start("--chip", "h100-sxm", "--out", f"prom:{target}")
        process.stdin.write(b"no step\n")
        wait_until_read(process)
        interrupt(process)
        interrupt(process)
        self.assertEqual(process.wait(HANG), 130)
        self.assertEqual(process.stderr.read() + process.stdout.read(), b"")
        self.assertEqual(os.listdir(self.folder), [])

    def test_at_every_moment(self):
        """Somebody leans on Ctrl-C, from any moment on: 130, or the answer was out before."""
        text = megatron_log().encode()
        path = self.write("train.log", text)
        draw = random.Random(20240613)
        for name, of_log in (("pipe", "-"), ("file", path)):
            for _ in range(20):
                process = subprocess.Popen([MFU, "log", of_log, "--chip", "h100-sxm", "--json"],
                                           stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                           stderr=subprocess.PIPE)
                self.addCleanup(close, process)
                if name == "pipe":
                    process.stdin.write(text)
                    process.stdin.close()
                wait_until_caught(process)
                for _ in range(draw.randrange(3000)):
                    process.poll()  # not time: as far as it comes meanwhile
                interrupts = 0
                while process.poll() is None:
                    process.send_signal(signal.SIGINT)
                    interrupts += 1
                with self.subTest(name=name, interrupts=interrupts):
                    out, said = process.stdout.read(), process.stderr.read()
                    self.assertEqual(said, b"")
                    self.assertIn(process.returncode, (0, 130))
                    if process.returncode == 0:
                        self.assertEqual(json.loads(out)["exit_code"], 0)

    def test_while_it_is_being_loaded(self):
        """No program has a handler before its first instruction: then the signal is what ends it, which
        a shell calls 130, too."""
        for _ in range(20):
            process = self.start("--chip", "h100-sxm")
            while process.poll() is None:
                process.send_signal(signal.SIGINT)
            self.assertIn(process.returncode, (130, -signal.SIGINT))
            self.assertEqual(process.stderr.read() + process.stdout.read(), b"")
            close(process)

    def test_the_whole_group(self):
        job = ("import signal, sys\n"
               "for line in open(sys.argv[1]): print(line, end='', flush=True)\n"
               "signal.pause()\n")
        log = self.write("train.log", megatron_log())
        # As a shell makes a pipeline: one group, and nobody else has the ends of the pipe.
        trainer = subprocess.Popen([sys.executable, "-c", job, log], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, preexec_fn=os.setpgrp)
        mfu = subprocess.Popen([MFU, "log", "-", "--tee", "--chip", "h100-sxm"],
                               stdin=trainer.stdout, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=lambda: os.setpgid(0, trainer.pid))
        trainer.stdout.close()
        passed = b""
        while not passed.endswith(megatron_log().encode()[-100:]):
            passed += os.read(mfu.stdout.fileno(), 65536)
        os.killpg(trainer.pid, signal.SIGINT)
        _, said = mfu.communicate(timeout=HANG)
        trainer.wait(HANG)
        self.assertEqual(mfu.returncode, 130)
        self.assertIn(b"MFU 32.6 %", said)


class Commands(Log):
    """Names out of logs and of files are no commands to whoever reads what mfu prints."""

    HOSTILE = "::error::x ##[add-mask]y @all #1 www.example.com <b> `z`"

    def test_of_the_runner(self):
        text = megatron_log(model_name=self.HOSTILE)
        path = self.write("a ::error::b ##[error]c.log", text)
        forms = ("text", "json", "md", "csv", "junit", "prom")
        for form in forms:
            with self.subTest(form=form):
                result = self.mfu("log", path, "--chip", "h100-sxm", "--out", form, "-v")
                self.assertEqual(result.returncode, 0, result.stderr)
                for line in (result.stdout + result.stderr).decode().splitlines():
                    self.assertFalse(line.lstrip().startswith("::"), line)
                    self.assertNotIn("##[", line)
        # At any width that a line is broken at.
        for blanks in range(0, 80, 3):
            name = "m" * blanks + " ::error::x"
            path = self.write("train.log", megatron_log(model_name=name))
            shown = self.mfu("log", path, "--chip", "h100-sxm", "-v")
            for line in (shown.stdout + shown.stderr).decode().splitlines():
                self.assertFalse(line.lstrip().startswith("::"), line)

    def test_of_a_page(self):
        path = self.write("@all #1 GH-2 www.example.com https_x.log", megatron_log())
        lines = self.mfu("log", path, "--chip", "no-such\n", "--out", "md")
        self.assertEqual(lines.returncode, 2)
        cut = self.write("@all #1 www.example.com.log", megatron_log()[:-150])
        shown = self.mfu("log", cut, "--chip", "h100-sxm", "--out", "md").stdout.decode()
        bare = re.sub(r"`[^`]*`", "", shown)
        self.assertNotRegex(bare, r"@(?!&#8203;)|www\.|(?<!&)#\d")


if __name__ == "__main__":
    sys.exit(unittest.main())
