#!/usr/bin/env python3
"""Questions that people asked in public about an MFU, answered through the command line (MFU_BIN).

One entry a thread: what is asked of the tool, and the value that the arithmetic gives. The facts are
typed anew; the ids are those of the collection that they come from.
"""

import json
import subprocess
import sys
import tempfile
import unittest

from driven import MFU
from watched import HANG

GPT2 = {"layers": 12, "hidden": 768, "heads": 12, "vocab": 50257, "gated_mlp": False,
        "tied_embeddings": True}
# A card with 44,902 tokens and 512 positions; a character model; a model without norms' weights.
SMALL_VOCABULARY = dict(GPT2, vocab=44902, family="gpt2", learned_pos_emb=True, seq_len=512)
CHARACTERS = {"layers": 6, "hidden": 384, "heads": 6, "vocab": 65, "gated_mlp": False,
              "tied_embeddings": True, "family": "gpt2", "bias": False, "norm_bias": False}
DEPTH_20 = {"layers": 20, "hidden": 1280, "heads": 10, "vocab": 65536, "gated_mlp": False}
WINDOWED = {"layers": 4, "hidden": 512, "heads": 8, "vocab": 1000, "gated_mlp": False}
WIDE = {"layers": 40, "hidden": 6144, "heads": 48, "vocab": 51200, "gated_mlp": False}


def run(command, *options, **named):
    """The tool's JSON answer; keyword arguments are options, dicts are models."""
    arguments = [MFU, command, "--json", *options]
    for name, value in named.items():
        arguments.append("--" + name.replace("_", "-"))
        arguments.append(json.dumps(value) if isinstance(value, dict) else str(value))
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=HANG,
                          check=False)
    if done.returncode != 0:
        raise AssertionError(f"{arguments}: {done.stderr.decode()}")
    return json.loads(done.stdout)


def mfu(**named):
    return 100 * run("calc", **named)["headline"]["mfu"]


def tflops(**named):
    return run("calc", **named)["headline"]["achieved_flops_per_second_per_gpu"] / 1e12


def rebased(**named):
    return 100 * run("whatif", **named)["headline"]["mfu"]


def peak(*options, chip, **named):
    """TFLOP/s of one device."""
    return run("peak", chip, *options, **named)["chips"][0]["peak_flops"] / 1e12


def total(**named):
    """FLOPs of one token."""
    answer = run("flops", **named)["total"]
    return answer["flops_per_token"]


def step_tflops(**named):
    return run("flops", **named)["total"]["flops_per_step"] / 1e12


def core(**named):
    """Forward FLOPs of scores and values, one token."""
    for component in run("flops", **named)["components"]:
        if component["id"] == "scores_values":
            return component["forward_flops_per_token"]
    raise AssertionError("no scores_values")


def mean_keys(model, **named):
    width = 2 * model["hidden"]  # of queries and values together
    return core(model=model, **named) / (2 * width * model["layers"])


def windowed(window):
    return dict(WINDOWED, window=window, local_layers=WINDOWED["layers"])


def h800_hours(hours, peak):
    return mfu(params="37B", convention="6n", peak=peak,
               tokens_per_s_per_gpu=14.8e12 / (hours * 3600))


def prefill(length, window):
    named = {"seq_len": length, "convention": "exact-causal"}
    return mean_keys(WINDOWED, **named) / mean_keys(windowed(window), **named)


LLAMA_2 = {"model": "llama-2-7b", "seq_len": 4096, "chip": "h100-sxm"}
LLAMA_13 = {"model": "llama-2-13b", "chip": "a100"}
NANO = {"convention": "nanogpt", "chip": "a100"}
NANOCHAT = {"model": DEPTH_20, "seq_len": 2048, "tokens_per_s": "529882", "gpus": 8}
MAXTEXT = {"model": "llama-2-7b", "batch": 4}
MIXTRAL = {"model": "mixtral-8x7b", "seq_len": 2048, "batch": 128, "step_time": "5361.6ms",
           "gpus": 16, "chip": "h100-sxm", "router": "skip"}
MEGATRON_18B = {"model": WIDE, "params": "18.55B", "seq_len": 2048, "gpus": 128,
                "tokens_per_s": 49.55 * 2048, "peak": "312T"}
LORA_BASE, LORA = 70553706496, 175636480


def lora_factor():
    frozen = total(params=LORA_BASE, convention="6n", trainable="lora")
    adapters = total(params=LORA, convention="6n")
    return (frozen + adapters) / total(params=LORA_BASE + LORA, convention="6n")


def tied_difference():
    named = {"seq_len": 2048, "convention": "exact-full"}
    return total(model=dict(DEPTH_20, tied_embeddings=True), **named) - total(
        model=dict(DEPTH_20, tied_embeddings=False), **named)


def ratio(one, other, **shared):
    return mfu(**one, **shared) / mfu(**other, **shared)


SEVEN_BILLION = {"model": "llama-2-7b", "seq_len": 4096, "gpus": 4, "tokens_per_step": 10**8}
# A job of 76,477.73 tokens a second that is 337.59 % of this peak.
ONE_PEAK = {"params": "1B", "convention": "6n", "peak": 6e9 * 76477.73 / 3.3759}
MOE = {"hidden": 512, "heads": 8, "vocab": 2, "experts": 8, "top_k": 2, "moe_ffn": 1024,
       "gated_mlp": True}


def blocks_by_symbol():
    """Four layers of attention and experts, over two blocks that are written as two symbols each."""
    named = {"seq_len": 1024, "convention": "exact-causal"}
    whole = total(model=dict(MOE, layers=4, moe_layers=4), **named)
    return whole / total(model=dict(MOE, layers=4, pattern="*E*E"), **named)


# id, what is asked, the value, tolerance in per cent of it.
ROWS = [
    ("D001", lambda: rebased(rebase="104%", from_peak="312T", to_chip="h100-sxm"), 32.8, 0.1),
    ("D002", lambda: rebased(rebase="29%", from_peak="312T", to_peak="165.2T"), 54.8, 0.2),
    ("D002", lambda: mfu(model="gpt2", seq_len=1024, gpus=8,
                         tokens_per_s=600000 * 491520 / 345600, **NANO), 29.2, 0.2),
    ("D004", lambda: tflops(model=SMALL_VOCABULARY, seq_len=512, tokens_per_step=262144, gpus=2,
                            step_time="33785.5ms", **NANO), 3.0, 0.3),
    ("D004", lambda: mfu(model=SMALL_VOCABULARY, seq_len=512, tokens_per_step=262144, gpus=2,
                         step_time="33785.5ms", **NANO), 0.96, 0.3),
    ("D004", lambda: mfu(model=SMALL_VOCABULARY, seq_len=512, tokens_per_step=262144, gpus=2,
                         step_time="33785.5ms", convention="nanogpt", peak="12.15T"), 24.7, 0.2),
    ("D005", lambda: mfu(model=CHARACTERS, seq_len=256, batch=64 * 40, step_time="893.76ms", gpus=1,
                         **NANO), 16.68, 0.05),
    ("D002", lambda: rebased(rebase="29%", from_peak="312T", to_chip="NVIDIA GeForce RTX 4090"), 54.8,
     0.2),
    ("D008", lambda: tflops(model="gpt2", seq_len=1024, attention="causal", gpus=1,
                            tokens_per_s=91886), 73.8, 0.3),
    ("D012", lambda: mfu(convention="exact-full", chip="a100", **NANOCHAT), 74.13, 0.05),
    ("D012", lambda: mfu(convention="exact-full", peak="989T", **NANOCHAT), 23.38, 0.05),
    ("D012", lambda: mfu(convention="exact-causal", chip="a100", **NANOCHAT), 67.45, 0.05),
    ("D017", lambda: ratio({"chip": "a100"}, {"chip": "h100-sxm"}, model="gpt2", seq_len=1024, gpus=1,
                           tokens_per_s=100000), 3.17, 1),
    ("D017", lambda: ratio({"chip": "rtx-4090"}, {"chip": "h100-sxm"}, model="gpt2", seq_len=1024,
                           gpus=1, tokens_per_s=100000), 5.99, 1),
    ("D019", lambda: peak(chip="rtx-4090", precision="fp16_fp16acc") / peak(chip="rtx-4090"), 2.0,
     0.1),
    ("D034", lambda: peak("--sparse", chip="a100") / peak(chip="a100"), 2.0, 0.01),
    ("D037", lambda: peak(chip="b200", clock=1965), 2382.4, 0.05),
    ("D037", lambda: peak(chip="gb200", clock=2062), 2567.6, 0.05),
    ("D037", lambda: run("peak", "b200", tflops="2250T")["inverse"]["clock_mhz"], 1855.8, 0.05),
    ("D041", lambda: peak(chip="mi300x", clock="max"), 1307.4, 0.05),
    ("D046", lambda: peak(chip="NVIDIA GeForce RTX 3070 Ti") / peak(chip="rtx-3070-ti",
                                                                     precision="fp32"), 2.0, 0.01),
    ("D034", lambda: ratio({"peak": "156T"}, {"chip": "a100"}, model="llama-2-7b", seq_len=4096,
                           tokens_per_s_per_gpu=3000), 2.0, 0.01),
    ("D096", blocks_by_symbol, 2.0, 0.1),
    ("D128", lambda: ratio({"tokens_per_s": 546000}, {"tokens_per_s": 712000}, model="llama-3.1-8b",
                           seq_len=4096, gpus=64, chip="h100-sxm"), 0.766, 0.3),
    ("D138", lambda: ratio({"chip": "h100-sxm", "step_time": "1270s"},
                           {"chip": "a100", "step_time": "700s"}, **SEVEN_BILLION), 0.174, 0.5),
    ("D021", lambda: mfu(tflops="420T", peak="989.5T"), 42.45, 0.1),
    ("D021", lambda: mfu(tflops="420T", chip="NVIDIA H200"), 42.45, 0.1),
    ("D022", lambda: mfu(tflops="400T", peak="989.5T"), 40.4, 0.1),
    ("D022", lambda: mfu(tflops="400T", chip="NVIDIA H100 80GB HBM3"), 40.4, 0.1),
    ("D023", lambda: mfu(tokens_per_s_per_gpu=9600, **LLAMA_2), 45.5, 0.1),
    ("D023", lambda: mfu(tokens_per_s_per_gpu=9600, convention="exact-full", **LLAMA_2), 44.7, 0.1),
    ("D023", lambda: mfu(tokens_per_s_per_gpu=9600, convention="exact-causal", **LLAMA_2), 41.6,
     0.1),
    ("D025", lambda: mfu(tokens_per_s_per_gpu=1000, **LLAMA_2), 4.74, 0.5),
    ("D025", lambda: mfu(tokens_per_s_per_gpu=7500, **LLAMA_2), 35.5, 0.5),
    ("D028", lambda: run("calc", tflops="100T", chip="h100-pcie", clock="1620")["setup"][
        "peak_flops_per_gpu"] / 1e12, 756.45, 0.05),
    ("D028", lambda: peak(chip="NVIDIA H100 PCIe", clock=1620), 756.45, 0.05),
    ("D033", lambda: mfu(tflops="275.6T", chip="NVIDIA B300 SXM6 AC"), 12.25, 0.05),
    ("D033", lambda: mfu(tflops="329.8T", chip="b300"), 14.66, 0.05),
    ("D033", lambda: mfu(tflops="275.6T", peak="2250T"), 12.25, 0.05),
    ("D033", lambda: mfu(tflops="329.8T", peak="2250T"), 14.66, 0.05),
    ("D038", lambda: rebased(rebase="152%", from_peak="312T", to_peak="2300T"), 20.6, 0.2),
    ("D039", lambda: rebased(rebase="563%", from_peak="312T", to_peak="2500T"), 70.3, 0.1),
    ("D038", lambda: rebased(rebase="152%", from_peak="312T", to_chip="mi350x"), 20.6, 0.4),
    ("D039", lambda: rebased(rebase="563%", from_peak="312T", to_chip="mi355x"), 69.8, 0.1),
    ("D042", lambda: mfu(tflops="147T", chip="AMD Instinct MI250X"), 76.8, 0.1),
    ("D042", lambda: mfu(tflops="147T", peak="191.5T"), 76.8, 0.1),
    ("D045", lambda: run("peak", "v4-8")["devices_in_name"] * peak(chip="v4-8"), 1100, 0.2),
    ("D045", lambda: mfu(model="llama-3.2-1b", seq_len=4096, convention="exact-full",
                         tokens_per_s=53000, gpus=4, peak="275T"), 43.5, 0.2),
    ("D045", lambda: mfu(model="llama-3.2-1b", seq_len=4096, convention="exact-full",
                         tokens_per_s_per_gpu=42000, chip="h100-sxm"), 38.3, 0.2),
    ("D061", lambda: mfu(tflops="378T", peak="312T"), 121.2, 0.1),
    ("D061", lambda: mfu(tflops="378T", chip="a100"), 121.2, 0.1),
    ("D061", lambda: mfu(tflops="189T", peak="312T"), 60.6, 0.1),
    ("D064", lambda: float(mfu(tokens_per_s_per_gpu=9600, convention="6n-kaplan", **LLAMA_2)
                           < mfu(tokens_per_s_per_gpu=9600, convention="6n", **LLAMA_2)), 1, 0),
    ("D066", lambda: step_tflops(seq_len=8192, convention="maxtext-2025-06", **MAXTEXT), 1721.22,
     0.01),
    ("D066", lambda: step_tflops(seq_len=8192, convention="maxtext", **MAXTEXT), 1510.11, 0.01),
    ("D066", lambda: step_tflops(seq_len=129024, convention="maxtext-2025-06", **MAXTEXT), 125194.4,
     0.01),
    ("D066", lambda: step_tflops(seq_len=129024, convention="maxtext", **MAXTEXT), 72826.86, 0.01),
    ("D069", lambda: mean_keys(windowed(512), seq_len=2048, convention="exact"), 448.125, 0.05),
    ("D069", lambda: mean_keys(WINDOWED, seq_len=2048, convention="exact")
     / mean_keys(windowed(512), seq_len=2048, convention="exact"), 2.286, 0.05),
    ("D080", lambda: mfu(model="llama-3.1-405b", seq_len=8192, tokens_per_s_per_gpu=109,
                         convention="torchtitan", peak="989T"), 28.9, 0.2),
    ("D080", lambda: mfu(model="llama-3.1-405b", seq_len=8192, tokens_per_s_per_gpu=109,
                         convention="exact-causal", peak="989T"), 27.8, 0.1),
    ("D081", lambda: mfu(model="llama-3-70b", seq_len=8192, tokens_per_s_per_gpu=200,
                         convention="torchtitan", peak="989T"), 9.74, 0.2),
    ("D081", lambda: mfu(model="llama-3-70b", seq_len=8192, tokens_per_s_per_gpu=200,
                         convention="exact-causal", peak="989T"), 9.08, 0.2),
    ("D082", lambda: tflops(convention="exact-full", **MIXTRAL), 243.6, 0.1),
    ("D082", lambda: mfu(convention="exact-full", **MIXTRAL), 24.6, 0.1),
    ("D082", lambda: tflops(convention="exact-causal", **MIXTRAL), 238.7, 0.1),
    ("D084", lambda: mfu(tflops="20T", peak="312T"), 6.4, 0.5),
    ("D101", lambda: core(model=WINDOWED, seq_len=202752, convention="exact-full")
     / core(model=WINDOWED, seq_len=2048, convention="exact-full"), 99.0, 0.01),
    ("D103", lambda: 100 * total(params="7B", convention="6n", trainable="none")
     / (total(params="7B", convention="6n", trainable="none") + total(params="7B", convention="6n")),
     25.0, 0.01),
    ("D104", lora_factor, 0.66749, 0.01),
    ("D107", lambda: mfu(seq_len=4096, tokens_per_s_per_gpu=2357, **LLAMA_13), 66.6, 0.2),
    ("D107", lambda: mfu(seq_len=4096, tokens_per_s_per_gpu=1900, **LLAMA_13), 53.7, 0.2),
    ("D108", lambda: tflops(seq_len=2048, tokens_per_s_per_gpu=2170, convention="6n", **LLAMA_13),
     169.3, 0.2),
    ("D108", lambda: tflops(seq_len=2048, tokens_per_s_per_gpu=2170, **LLAMA_13), 180.4, 0.2),
    ("D114", lambda: mfu(**MEGATRON_18B), 29.8, 1.0),
    ("D114", lambda: run("calc", recompute="full", **MEGATRON_18B)["results"][0][
        "hardware_flops_per_second_per_gpu"] / 1e12, 124.0, 1.0),
    ("D135", tied_difference, 0, 0),
    ("D140", lambda: mfu(tokens_per_s=76477.73, gpus=1, **ONE_PEAK), 337.59, 0.02),
    ("D140", lambda: mfu(tokens_per_s=76957.79, gpus=8, **ONE_PEAK), 42.46, 0.02),
    ("D171", lambda: h800_hours(2.79e6, "1513T"), 21.6, 0.2),
    ("D171", lambda: h800_hours(2.79e6, "1979T"), 16.5, 0.2),
    ("D171", lambda: h800_hours(2.664e6, "989.4T"), 34.6, 0.2),
    ("D184", lambda: prefill(32768, 4096), 4.27, 0.2),
    ("D231", lambda: mfu(tflops="1.8P", chip="b200"), 80.0, 0.5),
    ("D231", lambda: mfu(tflops="1.8P", peak="2250T"), 80.0, 0.5),
    ("D231", lambda: mfu(tflops="0.9P", peak="2.25P"), 40.0, 0.5),
]


class Demand(unittest.TestCase):
    def test_every_row(self):
        for identifier, ask, wanted, tolerance in ROWS:
            with self.subTest(row=identifier, wanted=wanted):
                got = ask()
                self.assertLessEqual(abs(got - wanted), tolerance / 100 * abs(wanted) + 1e-12,
                                     f"{identifier}: {got} instead of {wanted}")

    def test_packed_documents(self):
        for identifier, documents, alone, wanted in (("D094", [512, 512], [1024], 2.0),
                                                     ("D095", [1024] * 8, [8192], 8.0)):
            with self.subTest(row=identifier):
                answers = []
                for lengths in (documents, alone):
                    rows = json.dumps({"model": WINDOWED, "seq_len": sum(lengths), "id": identifier,
                                       "lengths": lengths, "convention": "exact-causal",
                                       "tokens_per_s_per_gpu": 1000})
                    done = subprocess.run([MFU, "calc", "--rows", "-"], input=rows.encode(),
                                          stdout=subprocess.PIPE, timeout=HANG, check=True)
                    answers.append(json.loads(done.stdout)["results"][0]["flops_per_token"])
                linear = total(model=WINDOWED, seq_len=1024, convention="exact-causal",
                               attention="none")
                self.assertAlmostEqual((answers[1] - linear) / (answers[0] - linear), wanted,
                                       delta=1e-9)

    def test_sparse_headline_is_said_and_answered_both_ways(self):
        # D023: the thread divides by 1979, the figure with 2:4 sparsity.
        answer = run("calc", model="llama-2-7b", seq_len=4096, tokens_per_s_per_gpu=9600,
                     peak="1979T")
        self.assertAlmostEqual(100 * answer["headline"]["mfu"], 22.7, delta=0.05)
        said = " ".join(answer["advice"])
        self.assertIn("2:4 sparsity", said)
        self.assertIn("45.5 %", said)

    def test_over_100_is_impossible_and_says_what_would_explain_it(self):
        # D061 and D140: the attention counted twice over; eight GPUs against one GPU's peak.
        answer = run("calc", tflops="3375.9T", peak="1000T")
        self.assertEqual(answer["headline"]["status"], "impossible")
        self.assertIn("8", " ".join(answer["headline"]["impossible_because"]))
        self.assertIn("42.2 %", " ".join(answer["headline"]["impossible_because"]))

    def test_over_the_lanes_at_the_listed_clock_is_a_higher_clock(self):
        # D056: a card outside the table ran above the clock that its makers list.
        rate = {"precision": "fp32", "flop_per_clock_per_unit": 128, "mhz": 1545}
        chips = {"schema": "mfu.chips/1", "chips": [
            {"id": "rtx-2080-ti", "units": 68, "unit_kind": "SM", "rates": [rate]}]}
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(chips, file)
            file.flush()
            answer = run("peak", "rtx-2080-ti", chips=file.name, precision="fp32", tflops="15876.8G")
        self.assertAlmostEqual(answer["chips"][0]["peak_flops"] / 1e9, 13447.7, delta=0.05)
        self.assertAlmostEqual(answer["inverse"]["clock_mhz"], 1824, delta=1.8)

    def test_the_wrong_thread_is_put_right(self):
        # D069: half the window is not the mean; the tool says so where it explains the window.
        self.assertIn("Not w/2", run("explain", "window")["items"][0]["text"])

    def test_tokens_of_one_micro_step_over_the_time_of_the_whole(self):
        # D014: the printed tokens per second are too low by the accumulation.
        asked = [MFU, "calc", "--model", "gpt2", "--seq-len", "1024", "--gpus", "1", "--chip", "a100",
                 "--batch", "32", "--step-time", "1s", "--tokens-per-s", "8192"]
        done = subprocess.run(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=HANG,
                              check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"by a factor of 4", done.stderr)
        self.assertIn(b"accumulation", done.stderr)

    def test_enough_rows(self):
        covered = {row[0] for row in ROWS} | {"D014", "D056", "D094", "D095"}
        # A figure over a peak, or moved to another, counts nothing.
        bare = {"D001", "D021", "D022", "D028", "D033", "D038", "D039", "D042", "D061", "D084",
                "D140", "D231"}
        self.assertGreaterEqual(len(covered - bare), 30)


if __name__ == "__main__":
    sys.exit(unittest.main())
