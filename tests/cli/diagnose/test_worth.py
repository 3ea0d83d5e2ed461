#!/usr/bin/env python3
"""What fixes are worth, and what the advice says, through the command line (MFU_BIN)."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from driven import MFU
from watched import HANG

SOURCE = pathlib.Path(os.environ.get("MFU_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[3]))
EXAMPLES = SOURCE / "examples"


def run(*arguments, code=0):
    done = subprocess.run([MFU, "diagnose", *map(str, arguments)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=HANG, check=False)
    if done.returncode != code:
        raise AssertionError(f"{arguments}: exit {done.returncode}\n{done.stderr.decode()}")
    return done.stdout.decode(), done.stderr.decode()


def answer(*arguments):
    return json.loads(run("--json", *arguments)[0])


def job(**changes):
    """16 ranks of 2 nodes, tensor-parallel groups of 8 dealt to both nodes in turn; transfer takes a
    third of the step on all of them."""
    ranks = [{"rank": r, "node": f"n{r % 2}", "gpu": r // 2,
              "compute": [1.0 + 0.001 * ((r * s) % 5) for s in range(12)], "comm": [0.5] * 12,
              "comm_by_group": {"tp": [0.4] * 12, "dp": [0.1] * 12}, "stall": [0.01] * 12}
             for r in range(16)]
    document = {"schema": "mfu.run/1", "waits_in": "comm", "steps": list(range(12)),
                "parallelism": {"tp": 8, "dp": 2}, "ranks": ranks}
    document.update(changes)
    return document


def slow_between(first, last, steps=60, extra=0.4, all_ranks=False, **changes):
    """8 data-parallel ranks; in steps first..last-1 rank 5 (or all) computes longer."""
    ranks = []
    for r in range(8):
        slow = [all_ranks or r == 5 if first <= s < last else False for s in range(steps)]
        compute = [1.0 + 0.001 * ((7 * r + 3 * s) % 5) + (extra if slow[s] else 0.0)
                   for s in range(steps)]
        ranks.append({"rank": r, "node": f"n{r // 4}", "gpu": r % 4, "compute": compute,
                      "stall": [0.005] * steps})
    for s in range(steps):
        longest = max(rank["compute"][s] for rank in ranks)
        for rank in ranks:
            rank.setdefault("comm", []).append(longest - rank["compute"][s] + 0.05)
    document = {"schema": "mfu.run/1", "waits_in": "comm", "steps": list(range(100, 100 + steps)),
                "parallelism": {"dp": 8}, "ranks": ranks, "convention": "palm",
                "workload": {"flops_per_step": 0.55 * 989.4e12 * 8},
                "hardware": {"chip": "h100-sxm", "precision": "bf16", "count": 8}}
    document.update(changes)
    return document


class Worth(unittest.TestCase):
    def file(self, document):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / "run.json"
        path.write_text(json.dumps(document))
        return path

    def left(self, document):
        report = answer(self.file(document), "--steps-left", 1000, "--price", "2/h")
        text = run(self.file(document), "--steps-left", 1000, "--price", "2/h")[0]
        return report, text

    def test_what_began_late_is_priced_as_it_is_at_the_end(self):
        report, text = self.left(slow_between(40, 60))
        self.assertEqual(report["verdict"]["persistence"], "onset")
        end = report["worth"]["end_state"]
        self.assertEqual((end["first_step"], end["steps"]), (140, 20))
        saved = next(row for row in end["alone"] if row["family"] == "straggler")
        # 0.4 s in each step that is left, not the 0.13 s of the mean over the recorded ones.
        self.assertAlmostEqual(saved["saves"]["seconds_left"], 400.0, delta=4.0)
        self.assertAlmostEqual(saved["saves"]["cost_left"], 400.0 * 8 / 3600 * 2, delta=0.1)
        recorded = next(row for row in report["worth"]["alone"] if row["family"] == "straggler")
        self.assertEqual(recorded["saves"], saved["saves"])
        self.assertLess(report["worth"]["chain"][0]["step_seconds"],
                        end["chain"][0]["step_seconds"])
        product = end["chain"][-1]["mfu"]
        for step in end["chain"]:
            product *= step["ratio"]
        self.assertAlmostEqual(product, end["chain"][0]["mfu"], places=14)
        self.assertIn("from step 140 on", text)

    def test_of_what_is_gone_nothing_is_left(self):
        for all_ranks, family in ((False, "straggler"), (True, "single-gpu-efficiency")):
            report, text = self.left(slow_between(0, 26, all_ranks=all_ranks, extra=0.3))
            self.assertEqual(report["verdict"]["family"], family)
            self.assertEqual(report["findings"][0]["gone_since_step"], 126)
            for row in report["worth"]["alone"]:
                if row["family"] == family:
                    self.assertEqual(row["saves"]["seconds_left"], 0.0)
                    self.assertEqual(row["saves"]["cost_left"], 0.0)
            self.assertIn("gone since step 126", text)
            self.assertIn("nothing is left", " ".join(text.split()))

    def test_one_state_has_no_end_state(self):
        self.assertIsNone(answer(self.file(slow_between(0, 60)))["worth"]["end_state"])
        # Bursts that come back are priced as over the whole run.
        document = slow_between(0, 0)
        for rank in document["ranks"]:
            rank["stall"] = [1.0 if s % 12 == 3 else 0.005 for s in range(60)]
        report, _ = self.left(document)
        self.assertIsNone(report["worth"]["end_state"])
        self.assertAlmostEqual(report["worth"]["alone"][0]["saves"]["seconds_left"], 83.0, delta=1)

    def test_low_clocks_and_slow_kernels_multiply(self):
        clock, kernels, target = 0.7, 0.3, 0.45
        document = slow_between(0, 0)
        document["workload"]["flops_per_step"] = clock * kernels * 989.4e12 * 8 * 1.002
        for rank in document["ranks"]:
            rank["telemetry"] = {"sm_clock_mhz": 1830 * clock, "temperature_c": 50,
                                 "power_w": 400, "throttle_reasons": []}
        report = answer(self.file(document))
        causes = {finding["cause"] for finding in report["findings"]}
        self.assertLessEqual({"kernels", "clocks"}, causes)
        chain = report["worth"]["chain"]
        saved = chain[2]["step_seconds"] - chain[3]["step_seconds"]
        self.assertAlmostEqual(saved, 1.002 * (1.0 - clock * kernels / target), delta=0.005)
        alone = next(row for row in report["worth"]["alone"]
                     if row["family"] == "single-gpu-efficiency")
        self.assertAlmostEqual(alone["step_seconds"], 1.059 - saved, delta=0.01)

    def test_the_chain_multiplies_to_the_mfu(self):
        for example in sorted(EXAMPLES.glob("*.json")):
            report = answer(example)
            chain = report["worth"]["chain"]
            self.assertEqual([step["id"] for step in chain],
                             ["actual", "bursts_and_links", "balanced", "gpu_at_target"])
            product = chain[-1]["mfu"]
            for before, step in zip(chain, chain[1:]):
                self.assertLessEqual(step["step_seconds"], before["step_seconds"])
                product *= step["ratio"]
            mfu = report["headline"]["mfu"]
            self.assertLessEqual(abs(product / mfu - 1), 16 * 2.3e-16, example)
            self.assertEqual(chain[0]["step_seconds"], report["headline"]["step_seconds"])
            for alone in report["worth"]["alone"]:
                self.assertLessEqual(alone["step_seconds"], chain[0]["step_seconds"])

    def test_the_verdict_and_the_table_say_the_same(self):
        for name, family in (("stall", "stall"), ("straggler-steady", "straggler"),
                             ("single-gpu", "single-gpu-efficiency"),
                             ("imbalance-data", "imbalance")):
            report = answer(EXAMPLES / f"{name}.json")
            alone = {entry["family"]: entry for entry in report["worth"]["alone"]}
            self.assertAlmostEqual(alone[family]["step_seconds"],
                                   report["verdict"]["recoverable"]["step_seconds"], places=9)

    def test_money_for_the_rest_of_the_job(self):
        report = answer(EXAMPLES / "stall.json", "--price", "2.5/h", "--steps-left", "50,000")
        worth = report["worth"]
        saved = report["headline"]["step_seconds"] - worth["alone"][0]["step_seconds"]
        saves = worth["alone"][0]["saves"]
        self.assertAlmostEqual(saves["seconds_left"], saved * 50000)
        self.assertAlmostEqual(saves["gpu_hours_left"], saved * 50000 * 16 / 3600)
        self.assertAlmostEqual(saves["cost_left"], 2.5 * saves["gpu_hours_left"])
        self.assertAlmostEqual(saves["gpu_hours_a_day"],
                               24 * 16 * saved / report["headline"]["step_seconds"])
        tokens = report["setup"]["tokens_per_step"] * 50000
        same = answer(EXAMPLES / "stall.json", "--price", "2.5/h", "--tokens-left", f"{tokens:.0f}")
        self.assertEqual(same["worth"], worth)

    def test_the_screen_shows_the_table_when_asked(self):
        plain, _ = run(EXAMPLES / "stall.json")
        self.assertNotIn("What a fix is worth", plain)
        for asked in (["--worth"], ["--price", "2.5/h"], ["--steps-left", "100"]):
            text, _ = run(EXAMPLES / "stall.json", *asked)
            self.assertIn("What a fix is worth", text)
            self.assertTrue(all(len(line) <= 80 for line in text.splitlines()))

    def test_nonsense_is_refused_all_at_once(self):
        _, said = run(EXAMPLES / "stall.json", "--price", "2.5", "--steps-left", "3.5",
                      "--tokens-left", "2X", code=2)
        for part in ("for how long?", "'3.5' is not a number of steps", "'2X' is not a number",
                     "say the same thing"):
            self.assertIn(part, said)
        for bad in ("2.5/d", "-1/h", "0/h", "/h", "free"):
            run(EXAMPLES / "stall.json", f"--price={bad}", code=2)

    def test_tokens_need_the_tokens_of_a_step(self):
        path = self.file(job())
        _, said = run(path, "--tokens-left", "2T", code=2)
        self.assertIn("--steps-left", said)
        self.assertEqual(answer(path, "--tokens-left", "2M", "--tokens-per-step", "1000")["worth"]
                         ["steps_left"], 2000)

    def test_the_threshold_of_transfer_is_settable(self):
        path = self.file(job())
        self.assertEqual(answer(path)["verdict"]["family"], "communication")
        report = answer(path, "--communication-materiality", "40%")
        self.assertEqual(report["verdict"]["family"], "healthy")
        self.assertEqual(report["thresholds"]["communication_materiality"], 0.4)
        self.assertEqual(answer(path)["thresholds"]["communication_materiality"], 0.15)
        run(path, "--communication-materiality", "40", code=2)

    def test_the_target_is_always_said(self):
        self.assertIn("the target is\n         45.0 %", run(EXAMPLES / "single-gpu.json")[0])
        for name in ("healthy", "stall"):
            text = " ".join(run(EXAMPLES / f"{name}.json", "--target-efficiency", "0.4")[0].split())
            self.assertIn("target efficiency 40 % per GPU", text)

    def test_groups_that_cross_needlessly_are_named_with_the_exchange(self):
        path = self.file(job())
        report = answer(path)
        self.assertEqual(report["verdict"]["family"], "communication")
        crossing = report["placement"]["needless"][0]
        self.assertEqual((crossing["axis"], crossing["places"], crossing["needless"]),
                         ("tp", "node", 2))
        self.assertEqual(crossing["example"]["least"], 1)
        actions = "\n".join(report["verdict"]["actions"])
        self.assertIn("2 of 2 tp groups cross nodes needlessly", actions)
        self.assertIn("exchange rank", actions)
        # The ranks exchanged as it says: nothing is left to mend.
        document = job()
        by_rank = {rank["rank"]: rank for rank in document["ranks"]}
        for exchange in report["placement"]["exchanges"]:
            for one, other in zip(exchange["ranks"], exchange["with_ranks"]):
                self.assertEqual(by_rank[one]["node"], exchange["place"])
                self.assertEqual(by_rank[other]["node"], exchange["with_place"])
                by_rank[one]["node"], by_rank[other]["node"] = (by_rank[other]["node"],
                                                                by_rank[one]["node"])
        mended = answer(self.file(document))
        self.assertEqual(mended["placement"]["needless"], [])
        self.assertNotIn("cross", "\n".join(mended["verdict"]["actions"]))

    def test_what_the_run_does_is_not_advised(self):
        document = json.loads((EXAMPLES / "stall.json").read_text())
        before = answer(EXAMPLES / "stall.json")["verdict"]["actions"]
        self.assertIn("more loader workers or deeper prefetch", before)
        document["job"] = {"loader_workers": 4}
        after = answer(self.file(document))["verdict"]["actions"]
        self.assertIn("more than the current 4 loader workers, or deeper prefetch", after)


if __name__ == "__main__":
    unittest.main(verbosity=0)
