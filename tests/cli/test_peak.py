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
import tempfile
import unittest

from driven import MFU

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
    "8.6": None, "sm_86": None, "compute_90": None, "inf2": None, "trn3u": None, "V4": 275,
    "v5litepod-8": 197, "TPU v7": 1153.5, "GeForce RTX 2080 Ti": None, "MI308X": None, "gfx942": None,
    "gfx90a": None, "gfx942 228 CU": 980.6, "gfx942 304 CU 256 GB": 1307.4,
    "gfx950 256 CU 2400MHz": 2516.6, "H100 SXM PCIe": None, "L4 L40": None, "NVIDIA ": None,
}
SHORT_NAMES = {
    "h100-sxm": "h100-sxm5-80gb", "a100": "a100-sxm4-80gb", "h200": "h200-sxm", "b200": "b200",
    "mi300x": "mi300x", "gb200": "gb200", "l40s": "l40s", "a10g": "a10g", "4090": "rtx-4090",
    "v5p": "tpu-v5p", "t4": "t4", "h800": "h800-sxm", "b300": "b300", "mi355x": "mi355x",
}


def call(*arguments):
    return subprocess.run([MFU, "peak", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=60, check=False, encoding="utf-8")


def answer(*arguments):
    done = call("--json", *arguments)
    if done.returncode != 0:
        raise AssertionError(f"{arguments}: {done.stderr}")
    return json.loads(done.stdout)


def chip(*arguments):
    chips = answer(*arguments)["chips"]
    assert len(chips) == 1, arguments
    return chips[0]


def tera(*arguments):
    return chip(*arguments)["peak_flops"] / 1e12


class WithFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def refused(self, *arguments, about=""):
        done = call(*arguments)
        self.assertEqual(done.returncode, 2, (arguments, done.stdout))
        self.assertEqual(done.stdout, "")
        self.assertIn("hint:", done.stderr, arguments)
        self.assertIn(about, done.stderr, arguments)
        return done.stderr


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
        self.assertAlmostEqual(chip("h100-pcie")["bandwidth_bytes_per_s"], 2.0e12, delta=0.05e12)
        self.assertEqual(chip("gh200")["package_devices"], 1)
        self.assertAlmostEqual(tera("trn2", "--precision", "bf16") / 4, 166.8, delta=0.1)
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
                                 (["--tflops", "1.23e9T"], "No figure"),
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


SMI = ("index, uuid, name, pci.device_id, memory.total [MiB], clocks.max.sm [MHz], clocks.sm [MHz], "
       "power.max_limit [W], utilization.gpu [%]\n")


class Devices(WithFolder):
    def smi(self, *rows):
        return self.write("smi.csv", SMI + "".join(row + "\n" for row in rows))

    def test_measured_clock(self):
        path = self.smi("0, GPU-1, NVIDIA H100 80GB HBM3, 0x233010DE, 81559 MiB, 1980 MHz, 345 MHz, "
                        "700.00 W, 0 %",
                        "0, GPU-1, NVIDIA H100 80GB HBM3, 0x233010DE, 81559 MiB, 1980 MHz, 1755 MHz, "
                        "700.00 W, 99 %")
        found = chip("--telemetry", path, "--clock", "measured")
        self.assertEqual(found["id"], "h100-sxm5-80gb")
        self.assertEqual((found["clock"], found["clock_mhz"]), ("measured", 1755))
        self.assertAlmostEqual(found["peak_flops"] / 1e12, 948.9, delta=0.1)
        idle = self.smi("0, GPU-1, NVIDIA H100 80GB HBM3, 0x233010DE, 81559 MiB, 1980 MHz, 345 MHz, "
                        "700.00 W, 0 %")
        self.refused("--telemetry", idle, "--clock", "measured", about="under load")

    def test_pci_ids_stand_in_for_names(self):
        for pci, wanted in (("0x233010DE", "h100-sxm5-80gb"), ("0x233110DE", "h100-pcie"),
                            ("0x232110DE", "h100-nvl"), ("0x233510DE", "h200-sxm"),
                            ("0x290110DE", "b200"), ("0x294110DE", "gb200"), ("0x26B910DE", "l40s"),
                            ("0x20B510DE", "a100-pcie-80gb"), ("0x223710DE", "a10g"),
                            ("0x1EB810DE", "t4"), ("0x20B010DE", "a100-sxm4-40gb"),
                            ("0x232910DE", "h20"), ("0x233B10DE", "h200-nvl"),
                            ("0x234810DE", "gh200-144gb"), ("0x318210DE", "b300"),
                            ("0x31C210DE", "gb300"), ("0x27B810DE", "l4"), ("0x26B510DE", "l40"),
                            ("0x223010DE", "rtx-a6000"), ("0x26B110DE", "rtx-6000-ada")):
            path = self.smi(f"0, GPU-1, NVIDIA Graphics Device, {pci}, [N/A], [N/A], [N/A], [N/A], 90 %")
            self.assertEqual(chip("--telemetry", path)["id"], wanted)
        path = self.smi("0, GPU-1, NVIDIA H100, 0x233910DE, [N/A], [N/A], [N/A], [N/A], 90 %")
        self.refused("--telemetry", path, about="custom")
        for pci in ("0x223810DE", "0x1E3010DE", "0x2BB910DE", "0x123410DE", "0x23301002"):
            path = self.smi(f"0, GPU-1, NVIDIA Graphics Device, {pci}, [N/A], [N/A], [N/A], [N/A], 90 %")
            self.refused("--telemetry", path, about="hint")

    def test_a_device_that_is_not_what_it_says(self):
        path = self.smi("0, GPU-1, NVIDIA H100 80GB HBM3, [N/A], 143771 MiB, 1755 MHz, 1700 MHz, "
                        "350.00 W, 99 %")
        remarks = " ".join(answer("--telemetry", path)["remarks"])
        for words in ("140.4 GiB", "1755 MHz", "350 W"):
            self.assertIn(words, remarks)
        agrees = self.smi("0, GPU-1, NVIDIA L40S, 0x26B910DE, 46068 MiB, 2520 MHz, 2400 MHz, "
                          "350.00 W, 99 %")
        self.assertNotIn("device", " ".join(answer("--telemetry", agrees)["remarks"]))
        self.assertIn("not of", call("h100-sxm", "--telemetry", agrees).stdout)

    def test_several_kinds_of_devices(self):
        path = self.smi("0, GPU-1, NVIDIA L40S, [N/A], [N/A], [N/A], [N/A], [N/A], 9 %",
                        "1, GPU-2, NVIDIA L4, [N/A], [N/A], [N/A], [N/A], [N/A], 9 %")
        self.refused("--telemetry", path, about="l40s and l4")

    def test_files_that_are_none(self):
        self.refused("--telemetry", self.write("empty.csv", ""))
        self.refused("--telemetry", self.write("other.csv", "a,b\n1,2\n"), about="known column")
        done = call("--telemetry", os.path.join(self.folder.name, "none.csv"))
        self.assertEqual(done.returncode, 2)

    def test_slices(self):
        self.assertAlmostEqual(tera("NVIDIA H100 80GB HBM3 MIG 3g.40gb"), 989.4 * 60 / 132, delta=0.1)
        self.assertAlmostEqual(tera("NVIDIA A100-SXM4-40GB MIG 1g.5gb"), 312 * 14 / 108, delta=0.1)
        self.refused("MIG 3g.40gb Device 0", about="not named")
        self.refused("NVIDIA B200 MIG 4g.90gb", about="--units")
        self.assertAlmostEqual(tera("b200", "--units", "72"), 2250 * 72 / 148, delta=0.1)
        self.refused("b200", "--units", "149")
        self.refused("b200", "--units", "7.5")
        self.refused("--units", "7")

    def test_captures(self):
        folder = SHARED / "corpus" / "telemetry"
        if not folder.exists():
            self.skipTest("no captures here")
        for name, mhz in (("nvidia_smi_query_h100_load.csv", 1980),
                          ("nvidia_smi_query_h100_mig_load.csv", 1980)):
            found = answer("--telemetry", str(folder / name), "--clock", "measured")
            self.assertEqual(found["chips"][0]["id"], "h100-sxm5-80gb")
            self.assertEqual(found["chips"][0]["clock_mhz"], mhz)
            self.assertEqual(found["remarks"][0][:9], "Two clock")


ACME = {"schema": "mfu.chips/1", "chips": [
    {"id": "acme-x1", "name": "Acme X1", "unit_kind": "core", "units": 64, "max_mhz": 1500,
     "memory_gib": 96, "bandwidth_gb_per_s": 4000, "power_w": 500, "aliases": ["X1 Ultra"],
     "source": "our own measurement",
     "rates": [{"precision": "bf16", "flop_per_clock_per_unit": 4096, "mhz": 1500},
               {"precision": "fp8", "tflops": 800}]}]}


class UserChips(WithFolder):
    def acme(self, **changes):
        document = json.loads(json.dumps(ACME))
        document["chips"][0].update(changes)
        return self.write("chips.json", json.dumps(document))

    def test_a_chip_of_ones_own(self):
        path = self.acme()
        found = chip("acme-x1", "--chips", path)
        self.assertAlmostEqual(found["peak_flops"], 64 * 4096 * 1500e6)
        self.assertTrue(found["user_defined"])
        self.assertEqual(chip("x1 ultra", "--chips", path)["id"], "acme-x1")
        self.assertIn("your own", call("acme-x1", "--chips", path).stdout)
        self.assertAlmostEqual(tera("acme-x1", "--chips", path, "--precision", "fp8"), 800)
        self.refused("acme-x1", "--chips", path, "--precision", "fp8", "--clock", "1000")
        self.assertEqual(answer("--chips", path)["chips"][0]["id"], "acme-x1")
        self.assertEqual(chip("h100-sxm", "--chips", path)["id"], "h100-sxm5-80gb")

    def test_calc_and_diagnose_take_it(self):
        path = self.acme()
        done = subprocess.run([MFU, "calc", "--json", "--tflops", "100T", "--chip", "acme-x1",
                               "--chips", path], stdout=subprocess.PIPE, check=True)
        self.assertAlmostEqual(json.loads(done.stdout)["headline"]["mfu"], 100 / 393.216, delta=1e-6)
        run = {"schema": "mfu.run/1", "steps": list(range(12)),
               "workload": {"flops_per_step": 1e14}, "hardware": {"chip": "X1 Ultra"},
               "ranks": [{"rank": 0, "compute": [1.0] * 12, "comm": [0.1] * 12, "stall": [0] * 12}]}
        document = self.write("run.json", json.dumps(run))
        done = subprocess.run([MFU, "diagnose", "--json", document, "--chips", path],
                              stdout=subprocess.PIPE, check=True)
        self.assertAlmostEqual(json.loads(done.stdout)["setup"]["peak_flops_per_gpu"], 393.216e12)

    def test_it_may_stand_in_for_a_known_one(self):
        path = self.acme(id="b100")
        self.assertAlmostEqual(tera("b100", "--chips", path), 393.216, delta=0.001)

    def test_wrong_files(self):
        rate = ACME["chips"][0]["rates"][0]
        for changes, about in (({"units": 0}, "units"), ({"units": 1.5}, "whole"),
                               ({"max_mhz": 1.5}, "MHz"), ({"colour": "red"}, "colour"),
                               ({"memroy_gib": 1}, "memory_gib"), ({"id": "Acme X1"}, "acme-x1"),
                               ({"rates": []}, "no rates"), ({"rates": [{"tflops": 1}]}, "precision"),
                               ({"rates": [{"precision": "bf17", "tflops": 1}]}, "bf17"),
                               ({"rates": [dict(rate, tflops=786)]}, "contradicts"),
                               ({"rates": [rate, rate]}, "twice"),
                               ({"rates": [{"precision": "bf16", "mhz": 1500}]}, "no peak"),
                               ({"name": 7}, "not a text"), ({"aliases": "X"}, "not a list")):
            with self.subTest(changes=changes):
                self.refused("acme-x1", "--chips", self.acme(**changes), about=about)
        for text in ("", "[]", "{}", '{"schema": "mfu.chips/2", "chips": []}', "{\"schema\": 1}",
                     '{"schema": "mfu.chips/1", "chips": [', '{"schema": "mfu.chips/1"}'):
            with self.subTest(text=text):
                done = call("--chips", self.write("chips.json", text))
                self.assertEqual(done.returncode, 2)
                self.assertIn("chips.json", done.stderr)
        twice = json.loads(json.dumps(ACME))
        twice["chips"].append(twice["chips"][0])
        self.refused("--chips", self.write("chips.json", json.dumps(twice)), about="two chips")


class DiagnoseClock(WithFolder):
    def run_file(self, clock=None, chip="h100-sxm"):
        rank = {"rank": 0, "compute": [1.0] * 12, "comm": [0.1] * 12, "stall": [0] * 12,
                "telemetry": {"sm_clock_mhz": [1700, 1755, 1800] * 4}}
        run = {"schema": "mfu.run/1", "steps": list(range(12)), "workload": {"flops_per_step": 3e14},
               "hardware": {"chip": chip, "precision": "bf16"}, "ranks": [rank]}
        if clock:
            run["clock"] = clock
        return self.write(f"run-{clock}.json", json.dumps(run))

    def setup_of(self, *arguments):
        done = subprocess.run([MFU, "diagnose", "--json", *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["setup"]

    def test_measured_from_the_runs_telemetry(self):
        for arguments in ([self.run_file("measured")], [self.run_file(), "--clock", "measured"]):
            setup = self.setup_of(*arguments)
            self.assertEqual((setup["clock"], setup["clock_mhz"]), ("measured", 1755))
            self.assertAlmostEqual(setup["peak_flops_per_gpu"] / 1e12, 948.9, delta=0.1)
            self.assertIn("clock=measured@1755MHz", setup["fingerprint"])

    def test_options_replace_what_the_file_says(self):
        setup = self.setup_of(self.run_file(), "--chip", "NVIDIA A100-SXM4-80GB", "--clock", "max")
        self.assertEqual(setup["chip"], "a100-sxm4-80gb")
        self.assertAlmostEqual(setup["peak_flops_per_gpu"] / 1e12, 311.9, delta=0.05)
        setup = self.setup_of(self.run_file(chip="no such chip"), "--peak", "400T", "--gpus", "4")
        self.assertEqual((setup["peak_flops_per_gpu"], setup["gpus"]), (400e12, 4))

    def test_a_model_for_a_run_that_names_none(self):
        setup = self.setup_of(self.run_file(), "--model", "llama-3.1-8b", "--seq-len", "8192",
                              "--batch", "1")
        self.assertAlmostEqual(setup["flops_per_step"] / (61.0727e9 * 8192), 1, delta=1e-3)


if __name__ == "__main__":
    sys.exit(unittest.main())
