#!/usr/bin/env python3
"""mfu peak through the command line (MFU_BIN): the right peak for every name that a driver prints, at a
stated clock, or a refusal with the way out."""

import json
import math
import os
import pathlib
import re
import subprocess
import sys
import unittest

from driven import MFU
from peaks import WithFolder, answer, call, chip, tera

SHARED = pathlib.Path(os.environ.get("MFU_SHARED_DIR", "/nonexistent"))

# What drivers print, and dense bf16 (fp16 where there is no bf16) in TFLOP/s; None: refused.
DRIVER_NAMES = {
    "Tesla V100-SXM2-16GB": 125, "Tesla V100-SXM2-32GB": 125, "Tesla V100-PCIE-16GB": 112,
    "Tesla V100S-PCIE-32GB": 130, "Tesla T4": 65, "NVIDIA T4": 65, "NVIDIA T400": None,
    "NVIDIA A100-SXM4-40GB": 312, "A100-SXM4-40GB": 312, "NVIDIA A100-SXM4-80GB": 312,
    "NVIDIA A100-SXM-64GB": 312, "NVIDIA A100 80GB PCIe": 312, "NVIDIA A100-PCIE-40GB": 312,
    "NVIDIA A100-PG509-200": 312, "NVIDIA A800-SXM4-80GB": 312, "NVIDIA A800-SXM4-40GB": 312,
    "NVIDIA A800 80GB PCIe": 312, "NVIDIA A800 80GB PCIe LC": 312, "NVIDIA A800 40GB Active": 312,
    "NVIDIA A30": 165, "NVIDIA A10": 125, "NVIDIA A10G": 70, "NVIDIA A10M": None,
    "NVIDIA A40": 149.7, "NVIDIA RTX A6000": 154.8, "NVIDIA RTX A4000": 76.7,
    "NVIDIA RTX A1000": None, "NVIDIA RTX A400": None, "Quadro RTX 6000": None,
    "NVIDIA GeForce RTX 3090": 71, "GeForce RTX 3090": 71, "NVIDIA GeForce RTX 3090 Ti": 80,
    "NVIDIA GeForce RTX 4090": 165.2, "NVIDIA GeForce RTX 4090 D": None,
    "NVIDIA GeForce RTX 4090 Laptop GPU": None, "NVIDIA GeForce RTX 5090": 209.5,
    "NVIDIA GeForce RTX 5090 D": None, "NVIDIA GeForce RTX 5090 D v2": None,
    "NVIDIA GeForce RTX 5090 Laptop GPU": None, "NVIDIA GeForce RTX 4070 Ti SUPER": None,
    "NVIDIA L4": 121, "NVIDIA L40": 181.05, "NVIDIA L40S": 362.05, "NVIDIA L20": 119.5,
    "NVIDIA RTX 6000 Ada Generation": 364.2, "NVIDIA RTX 6000D": None,
    "NVIDIA RTX PRO 6000 Blackwell Workstation Edition": 503.8,
    "NVIDIA RTX PRO 6000 Blackwell Server Edition": 503.8,
    "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition": None,
    "NVIDIA H100 80GB HBM3": 989.4, "NVIDIA H100 PCIe": 756, "NVIDIA H100 NVL": 835.5,
    "NVIDIA H100": None, "NVIDIA H800": 989.4, "NVIDIA H800 PCIe": 756, "NVIDIA H800 NVL": 835.5,
    "NVIDIA H20": 148, "NVIDIA H20-3e": 148, "NVIDIA H20 NVL16": 148, "NVIDIA H200": 989.4,
    "NVIDIA H200 NVL": 835.5, "NVIDIA GH200 120GB": 989.4, "NVIDIA GH200 480GB": 989.4,
    "NVIDIA GH200 144G HBM3e": 989.4, "NVIDIA B200": 2250, "NVIDIA GB200": 2500,
    "NVIDIA B300 SXM6 AC": 2250, "NVIDIA GB300": 2500, "NVIDIA GB300 NVL": 2500,
    "AMD Instinct MI250X": 191.5, "AMD Instinct MI250": 181.05, "AMD Instinct MI300X": 1307.4,
    "AMD Instinct MI300X OAM": 1307.4, "AMD Instinct MI300A": 980.6, "AMD Instinct MI325X": 1307.4,
    "AMD Instinct MI350X": 2306.9, "AMD Instinct MI355X": 2516.6, "AMD Radeon Graphics": None,
    "": None, "NVIDIA Graphics Device": None, "a3mega": 989.4, "a3ultra": 989.4, "h100_80gb": None,
    "a100_40gb": 312, "NVIDIA H200-SXM-141GB": 989.4, "AMD Instinct MI350X 288GB HBM3e": 2306.9,
    "TPU v3": 61.5, "TPU v4": 275, "TPU v5 lite": 197, "TPU v5e": 197, "TPU v5": 459,
    "TPU v5p": 459, "TPU v6 lite": 918, "TPU7x": 1153.5, "trn1": 190, "trn1n": 190, "trn2": 667,
    "trn2n": 667, "trn2u": 667, "trn3": None, "Gaudi3": 1835, "HL-225": 432,
    "gfx942:sramecc+:xnack- 304 CU 192 GB": 1307.4, "gfx950 256 CU 2200MHz": 2306.9,
    "gfx950 256 CU": None, "gfx90a 110 CU": 191.5, "sm_90": None, "9.0": None, "cuda": None,
}
SHORT_NAMES = {
    "h100-sxm": "h100-sxm5-80gb", "a100": "a100-sxm4-80gb", "h200": "h200-sxm", "b200": "b200",
    "mi300x": "mi300x", "gb200": "gb200", "l40s": "l40s", "a10g": "a10g", "4090": "rtx-4090",
    "v5p": "tpu-v5p", "t4": "t4", "h800": "h800-sxm", "b300": "b300", "mi355x": "mi355x",
}


class Figures(WithFolder):
    def test_quoted_peaks(self):
        for arguments, wanted, mhz in (
                (["h100-sxm"], 989.4, 1830), (["h100-sxm", "--clock", "1830"], 989.4, 1830),
                (["h100-sxm", "--clock", "max"], 1070.5, 1980),
                (["h100-sxm", "--clock", "1980"], 1070.5, 1980), (["h100-pcie"], 756, 1620),
                (["a100", "--clock", "max"], 311.9, 1410), (["a100"], 312, 1410),
                (["b200", "--clock", "1965"], 2382.4, 1965), (["b200"], 2250, 1856),
                (["mi300x"], 1307.4, 2100), (["rtx-4090"], 165.2, 2520),
                (["rtx-4090", "--precision", "fp16"], 165.2, 2520),
                (["rtx-4090", "--precision", "fp16_fp16acc"], 330.3, 2520),
                (["gb200", "--clock", "2062"], 2567.6, 2062), (["mi250x"], 191.5, 1700)):
            with self.subTest(arguments=arguments):
                found = chip(*arguments)
                self.assertAlmostEqual(found["peak_flops"] / 1e12, wanted, delta=0.06)
                self.assertEqual(found["clock_mhz"], mhz)
                self.assertTrue(found["dense"])

    def test_a_card_of_two_dies(self):
        found = chip("AMD Instinct MI250X")
        self.assertEqual(found["package_devices"], 2)
        self.assertAlmostEqual(2 * found["peak_flops"] / 1e12, 383, delta=0.01)
        self.assertIn("card of two dies", call("mi250x").stdout)

    def test_every_driver_name(self):
        for name, wanted in DRIVER_NAMES.items():
            with self.subTest(name=name):
                if wanted is None:
                    self.refused(name)
                else:
                    self.assertAlmostEqual(tera(name) / wanted, 1, delta=0.0005)

    def test_the_table_of_peers(self):
        path = SHARED / "reference" / "peak-tables-of-peers.md"
        if not path.exists():
            self.skipTest("the table of peers is not there")
        text = path.read_text(encoding="utf-8")
        section = text[text.index("## A."):text.index("## B.")]
        rows = re.findall(r"^\| ((?:Tesla|NVIDIA|AMD) [^|]+?) \| ([\d.]*) ?\|", section, re.MULTILINE)
        self.assertGreater(len(rows), 45)
        for name, wanted in rows:
            with self.subTest(name=name):
                if wanted:
                    self.assertAlmostEqual(tera(name) / float(wanted), 1, delta=0.001)
                else:
                    self.refused(name)

    def test_short_names(self):
        for name, wanted in SHORT_NAMES.items():
            with self.subTest(name=name):
                self.assertEqual(chip(name)["id"], wanted)

    def test_no_figure_is_out_of_this_world(self):
        chips = answer()["chips"]
        self.assertGreaterEqual(len(chips), 60)
        for found in chips:
            with self.subTest(chip=found["id"]):
                self.assertTrue(math.isfinite(found["peak_flops"]))
                self.assertTrue(1e13 < found["peak_flops"] < 1e16)
                self.assertTrue(found["source"])
                if found["clock_basis"] == "unknown":
                    self.assertIsNone(found["clock_mhz"])
                    self.assertIn("clock_mhz", found["missing"])
                elif found["clock_basis"] == "documented":
                    worked_out = (found["units"] * found["flop_per_clock_per_unit"]
                                  * found["clock_mhz"] * 1e6)
                    self.assertAlmostEqual(worked_out / found["peak_flops"], 1, delta=0.005)


class ErrorsOfOthers(WithFolder):
    """What other tables got wrong, each looked up by its effect."""

    def test_names_inside_names(self):
        for name, other in (("NVIDIA L40S", "NVIDIA L40"), ("NVIDIA L40", "NVIDIA L4"),
                            ("NVIDIA GB200", "NVIDIA B200"), ("NVIDIA GB300", "NVIDIA B300 SXM6 AC"),
                            ("NVIDIA H200 NVL", "NVIDIA H200"), ("NVIDIA H200", "NVIDIA H20"),
                            ("NVIDIA A10G", "NVIDIA A10"), ("NVIDIA H800 NVL", "NVIDIA H800"),
                            ("NVIDIA H800 PCIe", "NVIDIA H800"), ("NVIDIA H100 NVL", "h100-sxm"),
                            ("NVIDIA RTX A4000", "NVIDIA A40"), ("v100s-pcie", "v100-pcie"),
                            ("NVIDIA GeForce RTX 3090 Ti", "NVIDIA GeForce RTX 3090")):
            with self.subTest(name=name):
                self.assertNotEqual(chip(name)["id"], chip(other)["id"])
                self.assertNotAlmostEqual(tera(name), tera(other), delta=1)

    def test_no_chip_is_a_default(self):
        for name in ("NVIDIA H100X", "NVIDIA Something New", "B400", "NVIDIA RTX A1000",
                     "NVIDIA GeForce RTX 4090 Laptop GPU", "MI308X", "a100x", "H100 CNX"):
            with self.subTest(name=name):
                self.assertNotIn("312", self.refused(name))

    def test_precisions_that_a_chip_has_not(self):
        self.refused("a100", "--precision", "fp8", about="has no fp8 peak")
        self.refused("v100-sxm2", "--precision", "bf16", about="has no bf16 peak")
        self.refused("t4", "--precision", "tf32", about="has no tf32 peak")

    def test_tensor_rates_not_those_of_the_cores(self):
        for name, tensor, cores in (("rtx-a6000", 154.8, 38.7), ("rtx-3090", 71, 35.6),
                                    ("rtx-4090", 165.2, 82.6)):
            self.assertAlmostEqual(tera(name), tensor, delta=0.05)
            self.assertAlmostEqual(tera(name, "--precision", "fp32"), cores, delta=0.05)
        self.assertAlmostEqual(tera("rtx-a6000", "--precision", "tf32"), 77.4, delta=0.05)

    def test_dense_is_not_sparse(self):
        for name, precision, dense in (("h100-sxm", "bf16", 989.4), ("h100-sxm", "fp8", 1978.9),
                                       ("h100-sxm", "tf32", 494.7), ("l4", "bf16", 121),
                                       ("l4", "fp8", 242.5), ("rtx-6000-ada", "bf16", 364.2),
                                       ("mi355x", "fp8", 5033.2), ("b200", "bf16", 2250)):
            self.assertAlmostEqual(tera(name, "--precision", precision), dense, delta=0.05)
            self.assertAlmostEqual(tera(name, "--precision", precision, "--sparse"), 2 * dense,
                                   delta=0.1)
        self.refused("v100-sxm2", "--sparse", about="no sparse")
        self.refused("mi250x", "--sparse", about="no sparse")

    def test_slips_in_figures(self):
        self.assertAlmostEqual(tera("mi350x"), 2306.9, delta=0.05)
        self.assertAlmostEqual(tera("trn1", "--precision", "tf32"), 190, delta=0.05)
        self.assertAlmostEqual(tera("b300", "--precision", "int8"), 150, delta=0.05)
        self.assertLess(chip("rtx-5090")["bandwidth_bytes_per_s"], 2e12)
        self.assertLess(chip("l4")["bandwidth_bytes_per_s"], 0.4e12)
        mi300x = chip("mi300x")
        self.assertEqual(mi300x["flop_per_clock_per_unit"], 2048)
        for found in answer()["chips"]:
            if found["achievable"]:
                self.assertLess(found["achievable"]["ratio"], 1, found["id"])
        self.assertAlmostEqual(chip("mi355x")["achievable"]["ratio"], 0.622, delta=0.001)

    def test_two_clocks_are_not_mixed(self):
        for name in ("b200", "gb200", "b300", "gb300"):
            self.assertEqual(chip(name)["clock"], "datasheet")
        self.refused("b300", "--clock", "max", about="maximum clock")

    def test_what_does_not_scale(self):
        for name in ("h20", "tpu-v6e", "gaudi3", "trn2", "b100"):
            with self.subTest(name=name):
                self.refused(name, "--clock", "1500", about="datasheet")
                self.assertTrue(chip(name)["not_scaled"] or chip(name)["missing"])


class Clocks(WithFolder):
    def test_the_inverse(self):
        found = answer("h100-sxm", "--tflops", "700T")
        self.assertAlmostEqual(found["inverse"]["clock_mhz"], 1294.7, delta=0.1)
        found = answer("b200", "--tflops", "2250T")["inverse"]
        self.assertAlmostEqual(found["clock_mhz"], 1855.8, delta=0.1)

    def test_traps_are_named(self):
        for arguments, words in ((["h100-sxm", "--tflops", "1979T"], "2:4 sparse"),
                                 (["h100-sxm", "--tflops", "1979T"], "989.4"),
                                 (["mi250x", "--tflops", "383T"], "card of two dies"),
                                 (["tpu-v3", "--tflops", "123T"], "chip of two cores"),
                                 (["gb200", "--tflops", "5000T"], "superchip board"),
                                 (["gb200", "--tflops", "5000T"], "2:4 sparse"),
                                 (["h100-nvl", "--tflops", "1671T"], "2:4 sparse"),
                                 (["--tflops", "624T"], "a100"), (["--tflops", "4500T"], "b200"),
                                 (["--tflops", "1.23e9T"], "Not a figure"),
                                 (["v4-8"], "4 devices"), (["v3-8"], "8 devices")):
            with self.subTest(arguments=arguments):
                done = call(*arguments)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(words, " ".join(done.stdout.split()))

    def test_clocks_that_cannot_be(self):
        for clock in ("1.98", "1980000", "5000", "-1", "fast", "nan", "0"):
            self.refused("h100-sxm", "--clock", clock)
        self.refused("h100-sxm", "--clock", "measured", about="telemetry")
        self.assertIn("above", call("h100-sxm", "--clock", "2100").stdout)
        self.refused("rtx-pro-6000-blackwell", "--clock", "base", about="base clock")

    def test_mixed_precision(self):
        blend = chip("h100-sxm", "--precision", "bf16=0.7,fp8=0.3")
        self.assertAlmostEqual(blend["peak_flops"], 0.7 * 989.4e12 + 0.3 * 1978.9e12, delta=1e6)
        self.assertEqual(blend["precision"], "bf16=0.7,fp8=0.3")
        self.assertEqual([rate["precision"] for rate in blend["rates"]], ["bf16", "fp8"])
        for wrong in ("bf16=0.7,fp8=0.7", "bf16=0.5", "bf16,fp8", "bf16=1,bf16=0", "=", "bf16=x"):
            self.refused("h100-sxm", "--precision", wrong)
        done = subprocess.run(
            [MFU, "calc", "--json", "--tflops", "400T", "--chip", "h100-sxm", "--precision",
             "bf16=0.7,fp8=0.3"], stdout=subprocess.PIPE, check=True)
        peaks = json.loads(done.stdout)["peaks"]
        self.assertEqual([row["precision"] for row in peaks], ["bf16=0.7,fp8=0.3", "bf16", "fp8"])
        for row, wanted in zip(peaks, (400 / 1286.25, 400 / 989.4, 400 / 1978.9)):
            self.assertAlmostEqual(row["mfu"], wanted, delta=1e-6)

    def test_unconfirmed_fields_are_marked(self):
        for found in answer()["chips"]:
            if not found["unconfirmed"]:
                continue
            with self.subTest(chip=found["id"]):
                screen = " ".join(call(found["id"]).stdout.split())
                for field in found["unconfirmed"]:
                    self.assertIn(field, screen)
        self.assertRegex(call().stdout, r"rtx-5090\*")


if __name__ == "__main__":
    sys.exit(unittest.main())
