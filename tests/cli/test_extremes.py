"""Input that once gave a crash, a hang, a lost gate or a sure wrong answer."""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from driven import Cli, run_document

SPEED = ("--chip", "h100-sxm", "--gpus", "64", "--seq-len", "8192", "--batch", "512")
SHAPE = {"layers": 4, "hidden": 256, "heads": 8, "kv_heads": 2, "vocab": 1000,
         "ffn_hidden": 512, "gated_mlp": True}


class Counts(Cli):
    """Numbers that no job has are refused with their place, at once."""

    def diagnosed(self, **changes):
        document = run_document()
        document.update(changes)
        return self.mfu("diagnose", self.write("x.json", document))

    def test_stages_and_indices(self):
        self.assert_refused(self.diagnosed(parallelism={"pp": 100_000_000}), "parallelism.pp")
        document = run_document()
        del document["parallelism"]
        document["ranks"][3]["coords"] = {"pp": 2147483647}
        self.assert_refused(self.mfu("diagnose", self.write("x.json", document)), "coords.pp", "rank 3")

    def test_microbatches(self):
        for work in ({"microbatches": 2**30, "virtual_stages": 2**30}, {"microbatches": 2**31}):
            self.assert_refused(self.diagnosed(workload=work), "too large")
        # Many, but possible: answered, and not by replaying each.
        many = self.diagnosed(workload={"microbatches": 10**7}, parallelism={"pp": 8})
        self.assertEqual(many.returncode, 0, many.stderr)

    def test_work_and_peak(self):
        for hardware in ({"peak_tflops": 1e300}, {"peak_tflops": 1e-300}):
            self.assert_refused(self.diagnosed(hardware=hardware), "hardware.peak_tflops", "unit")
        self.assert_refused(self.diagnosed(workload={"flops_per_step": 1e308}), "workload.flops_per_step")

    def test_the_largest_rank(self):
        path = self.write("x.json", run_document())
        self.assert_refused(self.mfu("diagnose", path, "--ranks", "9223372036854775807"), "--ranks"[2:])

    def test_a_long_run(self):
        steps = 50_000
        ranks = [{"rank": r, "compute": [1.0 + 0.001 * ((s * 7 + r) % 5) for s in range(steps)],
                  "comm": [0.1] * steps, "stall": [0.01] * steps} for r in range(2)]
        path = self.write("x.json", {"schema": "mfu.run/1", "steps": list(range(steps)), "ranks": ranks})
        self.assertEqual(self.mfu("diagnose", path).returncode, 0)


class Options(Cli):
    def test_an_empty_value_is_no_value(self):
        path = self.write("x.json", run_document())
        for option in ("--min-mfu", "--fail-on", "--steps", "--skip", "--ranks", "--reference"):
            self.assert_refused(self.mfu("diagnose", path, option, ""), option, "empty")
            self.assert_refused(self.mfu("diagnose", path, option + "="), option, "empty")

    def test_an_input_is_not_overwritten(self):
        path = self.write("x.json", run_document())
        before = Path(path).read_bytes()
        self.assert_refused(self.mfu("diagnose", path, "--out", "json:" + path), "is an input")
        self.assertEqual(Path(path).read_bytes(), before)

    def test_two_results_for_one_file(self):
        path = self.write("x.json", run_document())
        out = str(self.folder / "report")
        self.assert_refused(self.mfu("diagnose", path, "--out", "json:" + out, "--out", "text:" + out),
                            "two results")


class Answers(Cli):
    def test_a_resumed_recorder_writes_its_header_with_keys_in_any_order(self):
        header = {"schema": "mfu.run/1", "model": "toy", "time_unit": "s"}
        lines = [header] + [{"rank": r, "step": s, "compute": 1.0, "comm": 0.1, "stall": 0.0}
                            for s in range(10) for r in range(2)]
        lines.insert(9, dict(sorted(header.items())))
        path = self.write("x.jsonl", "\n".join(json.dumps(line) for line in lines) + "\n")
        self.assertEqual(self.mfu("diagnose", path).returncode, 0)

    def test_telemetry_with_holes_prints_no_nan(self):
        document = run_document(slow_rank=2)
        steps = len(document["steps"])
        for rank in document["ranks"]:
            clock = 1400 if rank["rank"] == 2 else 1900
            rank["telemetry"] = {"sm_clock_mhz": [None if s % 2 else clock for s in range(steps)],
                                 "throttle_reasons": ["HW Thermal Slowdown"] if rank["rank"] == 2 else []}
        answer = self.mfu("diagnose", self.write("x.json", document), "--json")
        report = json.loads(answer.stdout)
        self.assertEqual(report["verdict"]["culprits"]["ranks"], [2])
        self.assertEqual(report["verdict"]["cause"], "thermal")
        self.assertNotIn(b"nan", answer.stdout)

    def test_the_reason_why_a_model_gives_no_mfu_is_told(self):
        document = run_document(chip="a100")
        document["model"] = "nope"
        document["workload"] = {"seq_len": 1024, "global_batch": 8}
        text = self.mfu("diagnose", self.write("x.json", document)).stdout.decode()
        self.assertIn("unknown model 'nope'", " ".join(text.split()))

    def test_a_healthy_screen_quotes_the_bar_that_applied(self):
        document = run_document()
        for rank in document["ranks"]:
            rank["comm"] = [value + 0.09 for value in rank["comm"]]
        text = " ".join(self.mfu("diagnose", self.write("x.json", document)).stdout.decode().split())
        self.assertIn("healthy", text)
        self.assertIn("(material from 15 %)", text)

    def test_misspelt_header_keys_are_told(self):
        document = run_document()
        document["hardwear"] = {}
        answer = self.mfu("diagnose", self.write("x.json", document))
        self.assertIn(b"hardwear", answer.stderr)


class Calculations(Cli):
    def calc(self, *arguments):
        return self.mfu("calc", *arguments)

    def test_params_that_contradict_the_shape(self):
        shape = json.dumps({**SHAPE, "params": 7e9})
        speed = ("--gpus", "1", "--seq-len", "1024", "--tokens-per-s-per-gpu", "1000", "--chip", "a100")
        told = self.calc("--model", shape, *speed)
        self.assertIn(b"7.00B", told.stderr)
        self.assertIn(b"2.74M", told.stderr)
        self.assert_refused(self.calc("--model", shape, *speed, "--strict"), "params")

    def test_keys_that_change_the_count(self):
        for key, value in (("encoder_layers", 4), ("attention", "linear"), ("is_encoder_decoder", True)):
            answer = self.mfu("flops", "--model", json.dumps({**SHAPE, key: value}), "--seq-len", "128")
            self.assert_refused(answer, key)

    def test_the_figure_that_is_impossible_is_named(self):
        answer = self.calc("--model", "llama-3.1-8b", *SPEED, "--step-time", "4.5s",
                           "--recompute", "full", "--strict")
        self.assert_refused(answer, "HFU of 119.8 %")

    def test_billions_without_their_letter(self):
        self.assert_refused(self.calc("--params", "7", *SPEED, "--step-time", "1s"), "7B?")

    def test_all_that_is_missing_in_one_json_message(self):
        error = json.loads(self.calc("--json", "--model", "llama-3.1-8b").stdout)["error"]
        for option in ("--seq-len", "--step-time", "--gpus", "--chip"):
            self.assertIn(option, error["message"])

    def test_a_figure_moved_to_a_card(self):
        answer = self.mfu("whatif", "--rebase", "29%", "--from-peak", "312T", "--to-chip", "rtx-4090")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn(b"54.8 %", answer.stdout)


if __name__ == "__main__":
    unittest.main()
