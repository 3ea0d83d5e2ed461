#!/usr/bin/env python3
"""What nobody recorded: null and named, never zero; what is left if each reading were the right one."""

import json
import math
import unittest

from driven import HALF_OF_PEAK, Cli, run_document


class Unseen(Cli):
    def answer(self, document):
        done = self.mfu("diagnose", self.write("run.json", document), "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def adds_up(self, answer):
        parts = {part["id"]: part["seconds"] for part in answer["parts"]}
        factors = {factor["id"]: factor["value"] for factor in answer["factors"]}
        head = answer["headline"]
        known = [value for value in parts.values() if value is not None]
        self.assertAlmostEqual(sum(known), head["step_seconds"], places=12)
        product = math.prod(value for value in factors.values() if value is not None)
        self.assertAlmostEqual(product, head["mfu"] or head["parallel_efficiency"], places=12)
        return parts, factors

    def one_of_eight(self, **changes):
        document = run_document(flops=HALF_OF_PEAK, chip="a100-sxm4-40gb")
        document["ranks"] = document["ranks"][:1]
        document.update(changes)
        return document

    def test_one_rank_of_several(self):
        answer = self.answer(self.one_of_eight())
        parts, factors = self.adds_up(answer)
        self.assertIsNone(parts["imbalance_wait"])
        self.assertIsNone(factors["balance"])
        self.assertIn("waits-unknown", [note["code"] for note in answer["notes"]])
        self.assertIn("waiting for peers", [one["what"] for one in answer["unmeasured"]])

    def test_its_waits_are_in_transfer_wherever_they_were_recorded(self):
        document = self.one_of_eight(waits_in="stall")
        row = document["ranks"][0]
        row["comm"], row["stall"] = row["stall"], row["comm"]
        parts, _ = self.adds_up(self.answer(document))
        self.assertEqual(parts["own_stall"], 0.0)
        self.assertGreater(parts["exposed_transfer"], 0.05)

    def test_a_rank_that_is_alone_waits_for_nobody(self):
        document = run_document(ranks=1, flops=HALF_OF_PEAK / 8, chip="a100-sxm4-40gb")
        answer = self.answer(document)
        parts, factors = self.adds_up(answer)
        self.assertEqual((parts["imbalance_wait"], factors["balance"]), (0.0, 1.0))
        self.assertEqual(answer["unmeasured"], [])

    def test_ranks_without_compute(self):
        document = run_document()
        document["ranks"][5]["compute"] = [0.0] * len(document["steps"])
        answer = self.answer(document)
        what = {one["what"]: one["where"] for one in answer["unmeasured"]}
        self.assertEqual(what["compute"], "rank 5")

    def test_communication_that_is_zero(self):
        document = run_document()
        for row in document["ranks"]:
            row["comm"] = [0.0] * len(document["steps"])
        answer = self.answer(document)
        self.assertEqual(answer["verdict"]["family"], "inconclusive")
        self.assertIn("communication and waiting", [one["what"] for one in answer["unmeasured"]])

    def test_each_reading_has_what_its_fix_leaves(self):
        document = run_document()  # half of the ranks are slow: devices, or more work
        for row in document["ranks"]:
            slow = row["rank"] % 2 == 0
            row["compute"] = [value + 0.4 * slow for value in row["compute"]]
            row["comm"] = [value + 0.4 * (not slow) for value in row["comm"]]
        verdict = self.answer(document)["verdict"]
        self.assertEqual(verdict["family"], "inconclusive")
        left = {one["family"]: one["recoverable"]["step_seconds"] for one in verdict["readings"]}
        # Mended, all compute 1.0 s; the same work spread evenly is 1.2 s.
        self.assertAlmostEqual(left["imbalance"] - left["straggler"], 0.2, delta=0.01)
        self.assertEqual(verdict["recoverable"]["step_seconds"], left["straggler"])

    def test_a_named_verdict_is_its_only_reading(self):
        verdict = self.answer(run_document(slow_rank=3, flops=HALF_OF_PEAK,
                                           chip="a100-sxm4-40gb"))["verdict"]
        self.assertEqual([one["recoverable"] for one in verdict["readings"]],
                         [verdict["recoverable"]])


if __name__ == "__main__":
    unittest.main()
