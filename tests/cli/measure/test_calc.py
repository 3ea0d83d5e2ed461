#!/usr/bin/env python3
"""calc, flops, whatif, list and explain through the real binary (MFU_BIN)."""

import json
import os
import sys
import unittest

from driven import FULL, Cli, run_document

LLAMA = ["--model", "llama-3.1-8b", "--gpus", "64", "--seq-len", "8192", "--batch", "512"]
MEASURED = [*LLAMA, "--chip", "h100-sxm", "--step-time", "12.9s"]
TOY = {"name": "toy-7b", "layers": 40, "hidden": 5120, "ffn_hidden": 13824, "heads": 40,
       "vocab": 32000, "gated_mlp": True, "tied_embeddings": False}


class Asked(Cli):
    def answer(self, *arguments, code=0, **options):
        result = self.mfu(*arguments, "--json", **options)
        self.assertEqual(result.returncode, code, result.stderr.decode())
        return json.loads(result.stdout)


class Calc(Asked):
    def test_the_numbers_of_the_design(self):
        answer = self.answer("calc", *MEASURED)
        self.assertEqual([row["convention"] for row in answer["results"]],
                         ["palm", "exact-causal", "6n"])
        for row, giga in zip(answer["results"], (61.07, 51.47, 48.18)):
            self.assertAlmostEqual(row["flops_per_token"] / 1e9, giga, delta=0.005)
        self.assertAlmostEqual(answer["headline"]["mfu"], 0.31356, places=5)
        self.assertAlmostEqual(answer["headline"]["tokens_per_second"], 512 * 8192 / 12.9)
        self.assertEqual(answer["headline"]["status"], "ok")
        self.assertEqual(answer["setup"]["params"], 8030261248)
        self.assertIn("convention=palm attention=full", answer["setup"]["fingerprint"])
        self.assertIn("peak=989.4T precision=bf16 clock=datasheet@1830MHz",
                      answer["setup"]["fingerprint"])

    def test_an_a100_at_140_of_312(self):
        result = self.mfu("calc", "--tflops", "140T", "--peak", "312T")
        self.assertEqual(result.returncode, 0)
        self.assertTrue(result.stdout.startswith(b"  MFU 44.9 %"), result.stdout)

    def test_three_ways_to_say_the_throughput_agree(self):
        wanted = self.answer("calc", *MEASURED)["headline"]["mfu"]
        for given in (["--tokens-per-s", "325139.845"], ["--tokens-per-s-per-gpu", "5080.31"],
                      ["--tflops", "310.2366"]):
            with self.subTest(given=given):
                answer = self.answer("calc", *LLAMA, "--chip", "h100-sxm", *given)
                self.assertAlmostEqual(answer["headline"]["mfu"], wanted, places=5)

    def test_hfu_with_recomputation(self):
        answer = self.answer("calc", *MEASURED, "--recompute", "full")
        self.assertAlmostEqual(answer["headline"]["hfu"] / answer["headline"]["mfu"], 4 / 3)
        self.assertIn(b"HFU 41.8 %", self.mfu("calc", *MEASURED, "--recompute", "full").stdout)

    def test_a_hardware_count_has_no_mfu(self):
        answer = self.answer("calc", *MEASURED, "--convention", "narayanan-2021")
        self.assertIsNone(answer["results"][0]["flops_per_token"])
        self.assertIsNone(answer["headline"]["mfu"])
        self.assertIn("hardware", answer["headline"]["mfu_missing"])
        self.assertGreater(answer["headline"]["hfu"], 0)

    def test_without_a_peak_the_rest_is_given(self):
        answer = self.answer("calc", *LLAMA, "--step-time", "12.9s")
        self.assertEqual(answer["headline"]["status"], "no-peak")
        self.assertIsNone(answer["headline"]["mfu"])
        self.assertIn("--peak", answer["headline"]["mfu_missing"])
        self.assertAlmostEqual(answer["headline"]["achieved_flops_per_second_per_gpu"] / 1e12, 310.2,
                               delta=0.1)

    def test_all_that_is_missing_at_once(self):
        self.assert_refused(self.mfu("calc"), "--model", "--step-time", "--gpus", "--chip")
        self.assert_refused(self.mfu("calc", "--model", "gpt2", "--step-time", "1s"), "--seq-len",
                            "--batch", "--gpus", "--chip")
        self.assert_refused(self.mfu("calc", "--tflops", "140T"), "--chip", "--peak")

    def test_what_is_wrong_is_not_missing_too(self):
        result = self.mfu("calc", *LLAMA, "--chip", "h100-sxm", "--step-time", "12.9")
        self.assert_refused(result, "'12.9' has no unit")
        self.assertEqual(result.stderr.count(b"mfu: error:"), 1, result.stderr)

    def test_numbers_without_units_are_asked_about(self):
        for option, value, question in (("--peak", "989.4", "989.4T or 989.4P?"),
                                        ("--seq-len", "8k", "8,000 or 8,192?"),
                                        ("--min-mfu", "40", "40 or 40%?"),
                                        ("--step-time", "12.9", "no unit")):
            with self.subTest(option=option):
                arguments = list(MEASURED)
                if option in arguments:
                    at = arguments.index(option)
                    del arguments[at:at + 2]
                self.assert_refused(self.mfu("calc", *arguments, option, value), question)

    def test_zero_negative_and_nonsense(self):
        for option in ("--gpus", "--seq-len", "--batch", "--step-time", "--peak"):
            unit = {"--step-time": "s", "--peak": "T"}.get(option, "")
            for value in ("0", "-3", "x"):
                with self.subTest(option=option, value=value):
                    arguments = [*LLAMA, "--tokens-per-s", "1000", f"{option}={value}{unit}"]
                    if option in LLAMA:
                        at = arguments.index(option)
                        del arguments[at:at + 2]
                    self.assert_refused(self.mfu("calc", *arguments), option)

    def test_names_are_guessed(self):
        self.assert_refused(self.mfu("calc", *MEASURED, "--convention", "plam"),
                            "did you mean 'palm'?")
        self.assert_refused(self.mfu("calc", *MEASURED, "--attention", "causl"),
                            "did you mean 'causal'?")
        self.assert_refused(self.mfu("calc", *MEASURED[2:], "--model", "llama-3.1-9b"),
                            "llama-3.1-8b")
        self.assert_refused(self.mfu("calc", "--tflops", "140T", "--chip", "h1000"), "--peak")
        self.assert_refused(self.mfu("calc", "--modle", "x"), "did you mean '--model'?")

    def test_contradictions_name_their_factor(self):
        agree = self.mfu("calc", *MEASURED, "--tokens-per-s", "326000")  # 0.3 % apart
        self.assertEqual(agree.returncode, 0, agree.stderr)
        self.assert_refused(self.mfu("calc", *MEASURED, "--tokens-per-s", "5080"), "factor of 64",
                            "number of GPUs")
        self.assert_refused(self.mfu("calc", *MEASURED, "--tokens-per-s", "81285",
                                     "--accumulation", "4"), "factor of 4", "accumulation")
        self.assert_refused(self.mfu("calc", *MEASURED, "--tokens-per-step", "8388608"),
                            "factor of 2")
        self.assert_refused(self.mfu("calc", *MEASURED, "--tokens-per-s", "300000"), "8.4 %")
        self.assert_refused(self.mfu("calc", *MEASURED, "--tflops", "155.1T"), "--tflops",
                            "factor of 2")

    def test_a_name_against_its_size(self):
        model = json.dumps(TOY)
        result = self.mfu("calc", *MEASURED[2:], "--model", model)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(b"7B", result.stderr)
        self.assertIn(b"13.02B", result.stderr)
        result = self.mfu("calc", *MEASURED[2:], "--model", "llama-2-7b", "--params", "13B")
        self.assertIn(b"13B", result.stderr)
        self.assertIn(b"6.738B", result.stderr)
        self.assert_refused(self.mfu("calc", *MEASURED[2:], "--model", model, "--strict"), "--strict")

    def test_over_100_per_cent(self):
        fast = [*MEASURED[:-1], "1.9s"]
        answer = self.answer("calc", *fast)
        self.assertEqual(answer["headline"]["status"], "impossible")
        self.assertGreater(len(answer["headline"]["impossible_because"]), 1)
        self.assertIn("512", answer["headline"]["impossible_because"][0])
        self.assertIn(b"IMPOSSIBLE", self.mfu("calc", *fast).stdout)
        self.assert_refused(self.mfu("calc", *fast, "--strict"), "impossible")
        self.assert_refused(self.mfu("calc", *fast, "--min-mfu", "40%"), "impossible")

    def test_gate(self):
        self.assertEqual(self.mfu("calc", *MEASURED, "--min-mfu", "30%").returncode, 0)
        result = self.mfu("calc", *MEASURED, "--min-mfu", "40%", "--json")
        self.assertEqual(result.returncode, 1)
        self.assertFalse(json.loads(result.stdout)["gates"][0]["passed"])

    def test_clocks_and_precisions(self):
        peaks = {}
        for clock in ("datasheet", "max", "1830", "1830MHz", "1.83GHz"):
            answer = self.answer("calc", *MEASURED, "--clock", clock)
            peaks[clock] = answer["setup"]["peak_flops_per_gpu"] / 1e12
        self.assertAlmostEqual(peaks["datasheet"], 989.4)
        self.assertAlmostEqual(peaks["max"], 1070.5, delta=0.1)
        self.assertEqual(peaks["1830"], peaks["1.83GHz"])
        self.assertEqual(peaks["1830"], peaks["1830MHz"])
        fp8 = self.answer("calc", *MEASURED, "--precision", "fp8")
        self.assertEqual(fp8["setup"]["peak_flops_per_gpu"], 1978.9e12)
        self.assert_refused(self.mfu("calc", *MEASURED, "--clock", "measured"), "telemetry")

    def test_only_parameters(self):
        answer = self.answer("calc", "--params", "7B", "--tokens-per-s-per-gpu", "3,700",
                             "--peak", "312T")
        self.assertEqual(answer["setup"]["convention"], "6n")
        self.assertAlmostEqual(answer["headline"]["mfu"], 6 * 7e9 * 3700 / 312e12)
        self.assertEqual([note["code"] for note in answer["notes"]], ["convention-6n"])

    def test_lengths_file(self):
        path = self.write("lengths.txt", "# documents\n4096\n\n2048  # short\n2048\n")
        packed = self.answer("calc", *MEASURED, "--convention", "exact-causal", "--lengths", path)
        whole = self.answer("calc", *MEASURED, "--convention", "exact-causal")
        self.assertLess(packed["headline"]["mfu"], whole["headline"]["mfu"])
        bad = self.write("bad.txt", "4096\nlong\n")
        self.assert_refused(self.mfu("calc", *MEASURED, "--lengths", bad), "bad.txt:2")

    def test_model_files(self):
        path = self.write("model.json", TOY)
        answer = self.answer("calc", *MEASURED[2:], "--model", path)
        self.assertEqual(answer["inputs"][0]["path"], path)
        inline = self.answer("calc", *MEASURED[2:], "--model", json.dumps(TOY))
        self.assertEqual(answer["headline"], inline["headline"])
        broken = self.write("broken.json", "{\"layers\": ")
        self.assert_refused(self.mfu("calc", *MEASURED[2:], "--model", broken), "broken.json")
        self.assert_refused(self.mfu("calc", *MEASURED[2:], "--model", "no/such.json"), "no/such")

    def test_locale_does_not_matter(self):
        wanted = self.mfu("calc", *MEASURED).stdout
        for name in ("de_DE.UTF-8", "C"):
            self.assertEqual(self.mfu("calc", *MEASURED, env={"LC_ALL": name}).stdout, wanted)

    def test_lines_fit(self):
        helps = [[command, "--help"] for command in ("calc", "flops", "whatif", "list", "explain")]
        for command in (*helps, ["--help"], ["calc", *MEASURED], ["whatif", *MEASURED, "--reported", "30%"],
                        ["flops", *LLAMA[:2], "--seq-len", "8192"], ["list", "conventions"],
                        ["list", "models"], ["list", "chips"], ["explain", "palm"]):
            result = self.mfu(*command)
            self.assertEqual(result.returncode, 0, result.stderr)
            for line in result.stdout.decode().splitlines():
                self.assertLessEqual(len(line), 80, line)


class Rows(Asked):
    def test_many_rows_in_one_call(self):
        rows = [{"id": "a", "step_time": "12.9s"}, {"id": "b", "tokens_per_s": 325140},
                {"id": "c", "step_time": 12.9}, {"step_tim": "1s"}, {"id": "e", "tflops": "310T"}]
        path = self.write("rows.jsonl", "\n".join(map(json.dumps, rows)) + "\n\nnot json\n")
        result = self.mfu("calc", *LLAMA, "--chip", "h100-sxm", "--rows", path)
        self.assertEqual(result.returncode, 2)
        answers = [json.loads(line) for line in result.stdout.decode().splitlines()]
        self.assertEqual([answer["row"] for answer in answers], [1, 2, 3, 4, 5, 7])
        self.assertEqual(answers[0]["id"], "a")
        self.assertAlmostEqual(answers[0]["headline"]["mfu"], 0.31356, places=5)
        self.assertAlmostEqual(answers[1]["headline"]["mfu"], 0.31356, places=5)
        self.assertIn("no unit", answers[2]["error"]["message"])
        self.assertIn("step_tim", answers[3]["error"]["message"])
        self.assertEqual(answers[5]["error"]["kind"], "format")
        self.assertIn(":7", answers[5]["error"]["place"])

    def test_a_row_is_the_same_as_a_call(self):
        row = {"model": TOY, "seq_len": 4096, "tokens_per_s_per_gpu": 1000, "peak": "312T"}
        result = self.mfu("calc", "--rows", "-", stdin=json.dumps(row).encode())
        self.assertEqual(result.returncode, 0, result.stdout)
        alone = self.answer("calc", "--model", json.dumps(TOY), "--seq-len", "4096",
                            "--tokens-per-s-per-gpu", "1000", "--peak", "312T")
        answer = json.loads(result.stdout)
        self.assertEqual(answer["results"], alone["results"])
        self.assertEqual(answer["headline"], alone["headline"])


class Flops(Asked):
    def test_components_sum_and_shares(self):
        answer = self.answer("flops", "--model", "mixtral-8x7b", "--seq-len", "4096", "--batch", "16",
                             "--convention", "exact-full")
        both = [row["forward_flops_per_token"] + row["backward_flops_per_token"]
                for row in answer["components"]]
        total = answer["total"]["flops_per_token"]
        self.assertAlmostEqual(sum(both) / total, 1.0, places=14)
        self.assertAlmostEqual(sum(row["share"] for row in answer["components"]), 1.0, places=12)
        self.assertEqual(answer["total"]["flops_per_step"], total * 16 * 4096)
        self.assertEqual(answer["setup"]["params"], 46702792704)
        self.assertGreater(len(answer["results"]), 20)

    def test_missing(self):
        self.assert_refused(self.mfu("flops"), "--model", "--seq-len")


class WhatIf(Asked):
    def test_every_convention_and_the_peaks_around(self):
        answer = self.answer("whatif", *MEASURED)
        self.assertGreater(len(answer["results"]), 20)
        peaks = {(row["clock"], row["dense"]): row for row in answer["peaks"]}
        self.assertAlmostEqual(peaks[("datasheet", False)]["peak_flops_per_gpu"], 2 * 989.4e12)
        self.assertTrue(peaks[("datasheet", True)]["used"])
        self.assertIn(("max", True), peaks)

    def detect(self, figure, *more):
        return self.answer("whatif", *MEASURED, "--reported", figure, *more)["matches"]

    def test_the_detective_finds_what_was_done(self):
        mfu = self.answer("calc", *MEASURED)["headline"]["mfu"]
        cases = {f"{100 * mfu:.3f}%": "palm",
                 f"{50 * mfu:.4f}%": "2:4 sparse",
                 f"{100 * mfu / 3:.4f}%": "backward pass missing",
                 f"{6400 * mfu:.3f}%": "not divided by the 64 GPUs",
                 "26.429%": "exact-causal"}
        for figure, wanted in cases.items():
            with self.subTest(figure=figure):
                matches = self.detect(figure)
                self.assertTrue(matches[0]["tied"])
                near = [row["hypothesis"] for row in matches if row["tied"]]
                self.assertIn(wanted, " / ".join(near))
                self.assertLess(abs(matches[0]["relative_error"]), 0.01)

    def test_fewest_changes_first_and_ties_said(self):
        matches = self.detect("26.4%")
        changes = [row["changes"] for row in matches if row["tied"]]
        self.assertEqual(changes, sorted(changes))
        text = self.mfu("whatif", *MEASURED, "--reported", "26.4%").stdout.decode()
        self.assertIn("a tie that the", text)
        self.assertIn("of them", text)

    def test_tflops_and_accumulation(self):
        answer = self.answer("whatif", *MEASURED, "--accumulation", "8", "--reported", "2481.9T")
        near = [row["hypothesis"] for row in answer["matches"] if row["tied"]]
        self.assertIn("accumulation (8) counted twice", " / ".join(near))
        self.assertIsNone(answer["matches"][0]["peak_flops_per_gpu"])
        self.assert_refused(self.mfu("whatif", *MEASURED, "--reported", "74.13"), "74.13T?")

    def test_rebase(self):
        answer = self.answer("whatif", "--rebase", "29%", "--from-peak", "312T", "--to-peak",
                             "165.2T")
        self.assertAlmostEqual(answer["headline"]["mfu"], 0.29 * 312 / 165.2)
        self.assert_refused(self.mfu("whatif", "--rebase", "29%"), "--from-peak", "--to-peak")
        self.assert_refused(self.mfu("whatif", "--rebase", "29%", "--from-peak", "312T", "--to-chip",
                                     "no-such-chip"), "--to-peak")


class Catalogue(Asked):
    def test_lists(self):
        for what, wanted in (("conventions", "palm"), ("models", "llama-3.1-8b"),
                             ("chips", "h100-sxm5-80gb"), ("terms", "hfu")):
            items = self.answer("list", what)["items"]
            self.assertIn(wanted, [item["id"] for item in items])
            self.assertEqual(set(items[0]), {"id", "title", "text", "source"})
        self.assert_refused(self.mfu("list", "model"), "did you mean 'models'?")
        self.assert_refused(self.mfu("list"), "what to list?")

    def test_everything_listed_can_be_explained(self):
        for what in ("conventions", "models", "chips", "terms"):
            items = self.answer("list", what)["items"]
            # A process each: all of them where the proof `grids` asks for it.
            for item in items if FULL else [items[0], *items[5::10], items[-1]]:
                with self.subTest(id=item["id"]):
                    self.assertTrue(self.answer("explain", item["id"])["items"][0]["text"])
        self.assert_refused(self.mfu("explain", "pallm"), "did you mean 'palm'?")


class WorkOfARun(Asked):
    def document(self, model, **workload):
        document = run_document(chip="NVIDIA A100-SXM4-80GB")
        document["model"] = model
        document["workload"] = {"seq_len": 2048, "global_batch": 8, **workload}
        return document

    def test_work_is_counted_from_the_model(self):
        for model in ("gpt2-xl", dict(TOY, name="own")):
            path = self.write("run.json", self.document(model, recompute="full"))
            answer = self.answer("diagnose", path)
            given = json.dumps(model) if isinstance(model, dict) else model
            work = self.answer("flops", "--model", given, "--seq-len", "2048", "--batch", "8")
            self.assertEqual(answer["setup"]["flops_per_step"], work["total"]["flops_per_step"])
            self.assertEqual(answer["setup"]["convention"], "palm")
            self.assertIn("attention=full", answer["setup"]["fingerprint"])
            self.assertEqual(answer["setup"]["params"], work["setup"]["params"])
            self.assertAlmostEqual(answer["headline"]["hfu"] / answer["headline"]["mfu"], 4 / 3)
            self.assertIn(b"HFU ", self.mfu("diagnose", path).stdout)

    def test_a_model_beside_the_run(self):
        self.write("own.json", TOY)
        path = self.write("run.json", self.document("own.json"))
        answer = self.answer("diagnose", path, cwd=os.sep)
        self.assertIsNotNone(answer["headline"]["mfu"])
        self.assertEqual(len(answer["inputs"]), 2)

    def test_an_unknown_model_is_a_note(self):
        path = self.write("run.json", self.document("toy"))
        answer = self.answer("diagnose", path)
        self.assertIsNone(answer["headline"]["mfu"])
        self.assertIn("work-not-counted", [note["code"] for note in answer["notes"]])


if __name__ == "__main__":
    sys.exit(unittest.main())
