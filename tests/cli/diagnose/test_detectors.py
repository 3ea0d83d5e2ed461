#!/usr/bin/env python3
"""Reports of straggler detectors are answers: who stands out over all reports (MFU_BIN)."""

import json
import unittest

from driven import Cli


def nvrx(reports, ranks=8):
    """reports: for each, {rank: score}; others 0.99."""
    lines = []
    for low in reports:
        lines.append("GPU relative performance:")
        lines += [f"  Rank={rank} Node=n{rank // 4} Score={low.get(rank, 0.99):.2f}"
                  for rank in range(ranks)]
    return "\n".join(lines) + "\n"


def megatron(lowest, of=64):
    lines = []
    for rank, flops in lowest:
        lines.append(f" | MnRtt/Rnk: 3453.08ms/8 | MxRtt/Rnk: 3468.20ms/0 | "
                     f"MnEtpt/Rnk: {flops:.2f}TF/{rank} | MxEtpt/Rnk: 400.00TF/{of - 1} |")
        lines.append(f"^^^^ Bottom 2 Ranks with lowest Etpt(TF): {flops:.2f}/{rank}, 396.00/3,")
    return "\n".join(lines) + "\n"


def greyhound(reports):
    return "".join("[2025-05-04 14:20:55.103770] Esimated iteration time: {" +
                   ", ".join(f"'rank{rank}': {us:.1f}" for rank, us in enumerate(times)) + "}\n"
                   for times in reports)


class Detectors(Cli):
    def judged(self, text, *more, code=0):
        path = self.write("detector.log", text)
        result = self.mfu("diagnose", path, "--json", *more)
        self.assertEqual(result.returncode, code, result.stderr.decode())
        return json.loads(result.stdout)["verdict"]

    def test_over_all_reports_and_not_the_last(self):
        verdict = self.judged(nvrx([{5: 0.60}] * 9 + [{}]))
        self.assertEqual((verdict["family"], verdict["culprits"]["ranks"]), ("straggler", [5]))
        self.assertIn("0.639", " ".join(verdict["evidence"]))
        once = self.judged(nvrx([{}] * 39 + [{2: 0.60}]))
        self.assertEqual(once["family"], "healthy")

    def test_the_gate(self):
        slow = nvrx([{5: 0.60}] * 4)
        self.judged(slow, "--fail-on", "straggler", code=1)
        self.judged(slow, "--fail-on", "stall")
        self.judged(nvrx([{}] * 4), "--fail-on", "straggler")

    def test_half_of_the_ranks_is_not_a_straggler(self):
        verdict = self.judged(nvrx([{0: 0.6, 1: 0.6, 2: 0.6, 3: 0.6}] * 4))
        self.assertEqual(verdict["family"], "inconclusive")

    def test_megatron_names_the_rank_that_is_low_again_and_again(self):
        verdict = self.judged(megatron([(17, 280.0)] * 6))
        self.assertEqual((verdict["family"], verdict["culprits"]["ranks"]), ("straggler", [17]))
        self.assertEqual(self.judged(megatron([(r, 394.0) for r in range(9)]))["family"], "healthy")

    def test_equal_times_prove_nothing(self):
        verdict = self.judged(greyhound([[1126199.5, 1128187.5, 1127000.0]] * 3))
        self.assertEqual(verdict["family"], "inconclusive")
        slow = self.judged(greyhound([[1.1e6, 1.1e6, 1.9e6, 1.1e6]] * 3))
        self.assertEqual((slow["family"], slow["culprits"]["ranks"]), ("straggler", [2]))


if __name__ == "__main__":
    unittest.main()
