"""Profiler traces through the command line: files, folders, patterns, gzip, reduce, progress."""

import json
import os
import pty
import subprocess
import sys
import tempfile
import unittest

from driven import MFU, Cli, run_document
from made_traces import make_trace, write_traces
from watched import HANG, close, read_terminal, wait_until_read


class Traces(Cli):
    def report(self, *arguments):
        done = self.mfu("diagnose", "--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return json.loads(done.stdout)

    def text(self, *arguments, **options):
        done = self.mfu("diagnose", *arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout.decode()

    def test_the_late_rank_is_named_and_its_peers_are_waiters(self):
        paths = write_traces(self.folder / "t", late=2)
        document = self.report(*paths)
        trace = document["trace"]
        self.assertEqual(trace["pairing"], "paired")
        self.assertEqual(trace["paired"], 6)
        self.assertTrue(trace["waits_separate"])
        firsts = [one["last_rank"] for one in trace["list"][0::2]]
        self.assertEqual(firsts, [2, 2, 2])
        self.assertAlmostEqual(trace["list"][0]["late_s"], 0.00302, delta=2e-5)
        self.assertAlmostEqual(trace["list"][0]["longest_wait_s"], 0.00302, delta=4e-5)
        self.assertEqual(document["verdict"]["family"], "inconclusive")
        self.assertEqual(document["setup"]["gpus"], 4)
        self.assertEqual(len(trace["ranks"]), 4)
        screen = self.text(*paths)
        self.assertIn("Across ranks", screen)
        self.assertIn("rank 2 is last in", screen)
        self.assertIn("only 3 usable steps", screen)
        self.assertLessEqual(max(map(len, screen.splitlines())), 80)

    def test_the_parts_sum_to_the_step(self):
        document = self.report(*write_traces(self.folder / "t", late=2))
        for rank in document["trace"]["ranks"]:
            for name in ("in_steps", "gpu_span", "host_windows"):
                split = rank[name]
                parts = sum(split[key] for key in ("compute_s", "exposed_comm_s",
                                                   "exposed_memory_s", "idle_s"))
                self.assertAlmostEqual(parts, split["window_s"], delta=1e-12)
            self.assertGreater(rank["in_steps"]["exposed_memory_s"], 0)
        total = sum(part["seconds"] for part in document["parts"])
        self.assertAlmostEqual(total, document["headline"]["step_seconds"], delta=1e-12)

    def test_a_slow_rank_over_many_steps_is_a_straggler(self):
        document = self.report(*write_traces(self.folder / "t", slow=1, steps=12,
                                             compute_us=12_000, late_us=3_500))
        self.assertEqual(document["verdict"]["family"], "straggler")
        self.assertEqual(document["verdict"]["culprits"]["ranks"], [1])

    def test_folder_pattern_gzip_and_order_say_the_same(self):
        plain = write_traces(self.folder / "plain", late=1)
        packed = write_traces(self.folder / "packed", late=1, packed=True)
        wanted = self.text(*plain)
        self.assertEqual(self.text(*reversed(plain)), wanted)
        self.assertEqual(self.text(*packed), wanted)
        for given in ("plain", "packed", "plain/*.json", "p*ed/rank[0-3].json.gz"):
            self.assertEqual(self.text(str(self.folder / given)), wanted, given)
        for threads in ("1", "2", "7"):
            self.assertEqual(self.text(*plain, "--threads", threads), wanted)
        self.assertEqual(self.report(*packed)["inputs"][0]["format"], "kineto (gzip)")

    def test_what_a_folder_holds_beside_traces_is_left_out(self):
        write_traces(self.folder / "t")
        self.write("t/config.json", {"hidden_size": 8})
        document = self.report(str(self.folder / "t"))
        self.assertIn("not-a-trace", [note["code"] for note in document["notes"]])
        self.assertEqual(len(document["inputs"]), 4)
        (self.folder / "none").mkdir()
        self.assert_refused(self.mfu("diagnose", str(self.folder / "none")),
                            "holds no trace", "*.json.gz")
        self.assert_refused(self.mfu("diagnose", str(self.folder / "x*.json")), "no file matches")

    def test_two_traces_of_one_rank_are_refused_with_both_names(self):
        paths = write_traces(self.folder / "t")
        other = self.write("other.json", make_trace(3))
        self.assert_refused(self.mfu("diagnose", *paths, other), "two traces of rank 3",
                            "other.json", "rank3.json")

    def test_traces_and_documents_are_not_mixed(self):
        trace = self.write("rank0.json", make_trace(0))
        run = self.write("run.json", run_document())
        self.assert_refused(self.mfu("diagnose", trace, run), "run.json", "not a profiler trace")
        self.assert_refused(self.mfu("diagnose", run, trace), "rank0.json", "is a profiler trace")

    def test_one_rank_of_many_has_no_verdict_across_ranks(self):
        path = self.write("rank2.json", make_trace(2, steps=12))
        screen = self.text(path)
        self.assertIn("one rank of 4", screen)
        self.assertIn("inconclusive", screen)
        document = self.report(path)
        self.assertEqual(document["trace"]["pairing"], "none")
        self.assertEqual(document["trace"]["list"], [])

    def test_a_missing_rank_may_be_the_late_one(self):
        paths = write_traces(self.folder / "t", late=3, steps=12)
        screen = self.text(*paths[:3])
        self.assertIn("among the 3 of 4 ranks recorded", screen)
        self.assertIn("inconclusive", screen)

    def test_a_rank_that_nothing_names(self):
        alone = self.write("a.json", make_trace(0, with_rank=False))
        document = self.report(alone)
        self.assertIn("rank-assumed", [note["code"] for note in document["notes"]])
        other = self.write("b.json", make_trace(1, with_rank=False))
        self.assert_refused(self.mfu("diagnose", alone, other), "does not say which rank")

    def test_traces_without_steps_are_one_span(self):
        paths = write_traces(self.folder / "t", with_steps=False, late=1)
        document = self.report(*paths)
        self.assertIn("no-steps-in-trace", [note["code"] for note in document["notes"]])
        self.assertEqual(document["steps"]["used"], [0])
        self.assertIn("captured span", self.text(*paths))
        self.assertEqual(document["trace"]["paired"], 6)

    def test_a_clock_offset_between_hosts_is_removed_and_said(self):
        folder = self.folder / "t"
        write_traces(folder, late=2)
        for rank in (2, 3):
            self.write(f"t/rank{rank}.json", make_trace(rank, late=2, shift_us=50_000))
        screen = self.text(str(folder))
        self.assertIn("offset", screen)
        self.assertIn("rank 2 is last in", screen)

    def test_standard_input(self):
        trace = json.dumps(make_trace(1)).encode()
        self.assertIn("one rank of 4", self.text("-", stdin=trace))

    def timeline(self, name, workers, ahead_us=0):
        """A pipeline timeline of one stage: 3 steps of a forward and a reduction of gradients."""
        events = []
        for dp in range(workers):
            for lane, kind in enumerate(("compute", "pp-comm", "tp-comm", "dp-comm", "misc")):
                events.append({"ph": "M", "name": "thread_name", "pid": dp, "tid": lane,
                               "args": {"name": f"PP rank 0, TP rank 0, {kind}"}})
            for step in range(3):
                begin = 1e6 * step + (ahead_us if dp == workers - 1 else 0)
                for kind, lane, at, duration in (
                        ("forward-compute", 0, 0, 4e5 + 1e5 * dp),
                        ("gc", 0, 9e5, 0),
                        ("grads-reduce-scatter", 3, 4e5 + 1e5 * dp, 4e5 - 1e5 * dp)):
                    events.append({"ph": "X", "cat": kind, "name": kind, "pid": dp, "tid": lane,
                                   "ts": begin + at, "dur": duration, "args": {"step": step}})
        path = self.folder / name
        path.write_text(json.dumps(events))
        return path

    def test_a_timeline_of_one_worker_has_no_peers_and_no_stages(self):
        path = self.timeline("one.json", 1)
        replay = self.report(path)["replay"]
        self.assertAlmostEqual(replay["replayed_step_seconds"], 0.8, delta=1e-9)
        for key in ("worst_rank", "worst_rank_at_peers_step_seconds",
                    "balanced_stages_step_seconds"):
            self.assertIsNone(replay[key], key)
        screen = self.text(path)
        self.assertIn("Replay of the recorded schedule", screen)
        self.assertNotIn("peers' median leaves", screen)
        self.assertNotIn("balanced across the stages", screen)

    def test_a_timeline_whose_clocks_differ_is_not_replayed(self):
        agreeing = self.report(self.timeline("two.json", 2))
        self.assertEqual(agreeing["replay"]["worst_rank"], 1)
        self.assertAlmostEqual(agreeing["replay"]["worst_rank_at_peers_step_seconds"], 0.7,
                               delta=1e-9)
        path = self.timeline("ahead.json", 2, ahead_us=2e5)
        done = self.mfu("diagnose", "--json", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        ahead = json.loads(done.stdout)
        notes = {note["code"]: note for note in ahead["notes"]}
        self.assertIn("200.0 ms", notes["timeline-clock-offset"]["text"])
        run = str(self.folder / "reduced.json")
        self.assertEqual(self.mfu("reduce", path, "-o", run).returncode, 0)
        direct, reduced = self.mfu("diagnose", path), self.mfu("diagnose", run)
        self.assertEqual((reduced.stdout, reduced.stderr), (direct.stdout, direct.stderr))
        self.assertIn(b"ahead.json (step 0, dp ", self.mfu("diagnose", path).stderr)
        self.assertIsNone(ahead.get("replay"))
        self.assertNotIn("Replay of the", self.text(path))
        # Compute is each worker's own, whatever its clock says.
        self.assertAlmostEqual(ahead["parts"][0]["seconds"], agreeing["parts"][0]["seconds"],
                               delta=1e-9)


class Reduce(Cli):
    def test_the_reduced_run_gives_the_report_of_its_traces(self):
        folder = self.folder / "t"
        write_traces(folder, late=2, steps=9)
        self.write("t/rank3.json", make_trace(3, late=2, steps=8))  # a step less: there is a note
        run = str(self.folder / "run.json")
        done = self.mfu("reduce", str(folder), "-o", run)
        self.assertEqual((done.returncode, done.stdout), (0, b""), done.stderr)
        for options in ([], ["--ranks", "0-2"], ["--steps", "11..14"], ["--skip", "2"]):
            traces = self.mfu("diagnose", str(folder), *options)
            reduced = self.mfu("diagnose", run, *options)
            self.assertEqual(traces.returncode, 0)
            self.assertEqual(reduced.stdout, traces.stdout)
            self.assertEqual(reduced.stderr, traces.stderr)
            documents = []
            for given in (str(folder), run):
                document = json.loads(self.mfu("diagnose", given, "--json", *options).stdout)
                del document["inputs"]
                documents.append(document)
            self.assertEqual(documents[0], documents[1])
        self.assertEqual(self.mfu("reduce", str(folder), "-o", "-").stdout,
                         (self.folder / "run.json").read_bytes())
        self.assertEqual(self.mfu("reduce", str(folder), "-o", "-", "--threads", "1").stdout,
                         (self.folder / "run.json").read_bytes())
        self.assertEqual([name for name in os.listdir(self.folder) if "tmp" in name], [])

    def test_refusals(self):
        path = self.write("rank0.json", make_trace(0))
        run = self.write("run.json", run_document())
        before = (self.folder / "rank0.json").read_bytes()
        self.assert_refused(self.mfu("reduce", path, "-o", path), "is an input")
        self.assert_refused(self.mfu("reduce", str(self.folder / "rank*.json"), "-o", path),
                            "is an input")
        self.assertEqual((self.folder / "rank0.json").read_bytes(), before)
        self.assert_refused(self.mfu("reduce", path), "no file to write to")
        self.assert_refused(self.mfu("reduce", "-o", "x.json"), "no trace to reduce")
        self.assert_refused(self.mfu("reduce", run, "-o", str(self.folder / "x.json")),
                            "timing document already")
        self.assert_refused(self.mfu("reduce", path, "-o", str(self.folder / "no" / "x.json")),
                            "cannot be written")
        self.assert_refused(self.mfu("reduce", path, "-o", str(self.folder)), "cannot be written")
        self.assert_refused(self.mfu("reduce", path, "-o", "x.json", "--threads", "0"),
                            "--threads")
        self.assertFalse((self.folder / "x.json").exists())

    def test_an_older_result_stays_until_the_new_one_is_whole(self):
        good = self.write("rank0.json", make_trace(0))
        bad = self.write("rank1.json", "no trace at all")
        target = self.write("run.json", "before")
        self.assert_refused(self.mfu("reduce", good, bad, "-o", target), "rank1.json")
        self.assertEqual((self.folder / "run.json").read_text(), "before")
        self.assertEqual(self.mfu("reduce", good, "-o", target).returncode, 0)
        self.assertEqual(json.loads((self.folder / "run.json").read_text())["schema"],
                         "mfu.run/1")

    def test_a_report_of_the_reduction(self):
        path = self.write("rank0.json", make_trace(0))
        done = self.mfu("reduce", path, "-o", str(self.folder / "r.json"), "--json")
        document = json.loads(done.stdout)
        self.assertEqual(document["command"], "reduce")
        self.assertEqual(document["inputs"][0]["format"], "kineto")


class Progress(Cli):
    def begun(self, stderr):
        """A trace that has begun to come; the rest of it."""
        text = json.dumps(make_trace(0)).encode()
        process = subprocess.Popen([MFU, "diagnose", "-"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=stderr)
        self.addCleanup(close, process)
        process.stdin.write(text[:100])
        wait_until_read(process)
        return process, text[100:]

    def ended(self, process, rest):
        out, said = process.communicate(rest, timeout=HANG)
        self.assertEqual(process.returncode, 0)
        self.assertIn(b"In the trace", out)
        self.assertNotIn(b"reading", out)
        return said

    def test_a_line_on_a_terminal_erased_at_the_end_and_none_where_nobody_looks(self):
        unseen, unseen_rest = self.begun(subprocess.PIPE)
        master, slave = pty.openpty()
        shown, shown_rest = self.begun(slave)
        os.close(slave)
        said = read_terminal(master, b"mfu: reading")
        self.assertIn(b"mfu: reading", said)
        self.ended(shown, shown_rest)
        said += read_terminal(master)
        os.close(master)
        # Nothing of the line is left: blanks over it, and back.
        last = said[:said.rfind(b"\r")].rsplit(b"\r", 1)[-1] if b"note" not in said else b" "
        self.assertEqual(last.strip(), b"", said)
        # The other one began earlier, so it would have said so by now.
        self.assertNotIn(b"reading", self.ended(unseen, unseen_rest))


class Pipes(unittest.TestCase):
    def test_a_pipe_in_a_folder_is_not_waited_for(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkfifo(os.path.join(folder, "rank1.json"))
            with open(os.path.join(folder, "rank0.json"), "w", encoding="utf-8") as file:
                json.dump(make_trace(0), file)
            done = subprocess.run([MFU, "diagnose", folder], capture_output=True, timeout=HANG,
                                  check=False)
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    sys.exit(unittest.main())
