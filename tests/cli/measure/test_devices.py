#!/usr/bin/env python3
"""Devices, clocks and chips from files through the command line (MFU_BIN): telemetry, slices, the
user's own chips, and what a result over the peak may mean."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

from driven import MFU
from peaks import WithFolder, answer, call, chip, tera

SHARED = pathlib.Path(os.environ.get("MFU_SHARED_DIR", "/nonexistent"))


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
                            ("0x20B510DE", "a100-pcie-80gb"), ("0x223710DE", "a10g")):
            path = self.smi(f"0, GPU-1, NVIDIA Graphics Device, {pci}, [N/A], [N/A], [N/A], [N/A], 90 %")
            self.assertEqual(chip("--telemetry", path)["id"], wanted)
        path = self.smi("0, GPU-1, NVIDIA H100, 0x233910DE, [N/A], [N/A], [N/A], [N/A], 90 %")
        self.refused("--telemetry", path, about="custom")

    def test_a_device_that_is_not_what_it_says(self):
        path = self.smi("0, GPU-1, NVIDIA H100 80GB HBM3, [N/A], 143771 MiB, 1755 MHz, 1700 MHz, "
                        "350.00 W, 99 %")
        remarks = " ".join(answer("--telemetry", path)["remarks"])
        for words in ("140.4 GiB", "1755 MHz", "350 W"):
            self.assertIn(words, remarks)
        agrees = self.smi("0, GPU-1, NVIDIA L40S, 0x26B910DE, 46068 MiB, 2520 MHz, 2400 MHz, "
                          "350.00 W, 99 %")
        self.assertNotIn("device", " ".join(answer("--telemetry", agrees)["remarks"]))
        self.assertIn("is from l40s, not h100-sxm5-80gb", call("h100-sxm", "--telemetry", agrees).stdout)

    def test_several_kinds_of_devices(self):
        path = self.smi("0, GPU-1, NVIDIA L40S, [N/A], [N/A], [N/A], [N/A], [N/A], 9 %",
                        "1, GPU-2, NVIDIA L4, [N/A], [N/A], [N/A], [N/A], [N/A], 9 %")
        self.refused("--telemetry", path, about="l40s and l4")

    def test_clocks_of_other_devices_do_not_count(self):
        path = self.write("mixed.csv", "name, clocks.sm, utilization.gpu\n"
                          "NVIDIA H100 80GB HBM3, 1500 MHz, 99 %\n"
                          "NVIDIA H100 PCIe, 1100 MHz, 99 %\nNVIDIA H100 PCIe, 1100 MHz, 99 %\n")
        self.assertEqual(chip("h100-sxm", "--telemetry", path, "--clock", "measured")["clock_mhz"],
                         1500)
        self.refused("--telemetry", path, "--clock", "measured", about="h100-sxm5-80gb and h100-pcie")
        done = subprocess.run([MFU, "calc", "--tflops", "400T", "--chip", "h100-sxm", "--telemetry",
                               path, "--strict"], stderr=subprocess.PIPE, stdout=subprocess.PIPE,
                              check=False)
        self.assertEqual(done.returncode, 2)

    def test_a_sliced_device_is_said(self):
        path = self.write("mig.csv", "index, name, mig.mode.current, clocks.sm\n"
                          "0, NVIDIA H100 80GB HBM3, Enabled, 1980 MHz\n")
        self.assertIn("cut into slices", " ".join(call("--telemetry", path).stdout.split()))

    def test_files_that_are_none(self):
        self.refused("--telemetry", self.write("empty.csv", ""))
        self.refused("--telemetry", self.write("other.csv", "a,b\n1,2\n"), about="known nvidia-smi column")
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
            sliced = any("slices" in remark for remark in found["remarks"])
            self.assertEqual(sliced, "mig" in name)


ACME = {"schema": "mfu.chips/1", "chips": [
    {"id": "acme-x1", "name": "Acme X1", "unit_kind": "core", "units": 64, "max_mhz": 1500,
     "memory_gib": 96, "bandwidth_gb_per_s": 4000, "power_w": 500, "aliases": ["X1 Ultra"],
     "source": "our own measurement",
     "rates": [{"precision": "bf16", "flop_per_clock_per_unit": 4096, "mhz": 1500},
               {"precision": "fp8", "tflops": 800}]}]}


class AboveThePeak(WithFolder):
    """A result over the peak: what clock it would need, and what else it may be."""

    def excuses(self, *arguments):
        done = subprocess.run([MFU, "calc", "--json", *arguments], stdout=subprocess.PIPE,
                              check=False)
        return json.loads(done.stdout)["headline"]["impossible_because"]

    def test_the_clock_that_a_measured_figure_implies(self):
        card = {"schema": "mfu.chips/1", "chips": [
            {"id": "card-2080ti", "unit_kind": "lane", "units": 4352,
             "rates": [{"precision": "fp32", "flop_per_clock_per_unit": 2, "mhz": 1545}]}]}
        path = self.write("card.json", json.dumps(card))
        found = answer("card-2080ti", "--chips", path, "--precision", "fp32", "--tflops", "15.8768T")
        self.assertAlmostEqual(found["chips"][0]["peak_flops"] / 1e9, 13447.7, delta=0.1)
        self.assertAlmostEqual(found["inverse"]["clock_mhz"], 1824, delta=0.2)

    def test_a_faster_clock_is_an_explanation(self):
        lines = " ".join(self.excuses("--tflops", "1000T", "--chip", "h100-sxm"))
        self.assertIn("1850 MHz or more", lines)
        self.assertIn("93.4 %", lines)

    def test_sparsity_only_where_there_is_some(self):
        for chip_name, tflops, package in (("mi250x", "300T", "card of two dies"),
                                           ("tpu-v3", "120T", "chip of two cores"),
                                           ("v100-sxm2", "200T", None)):
            precision = ["--precision", "fp16"] if chip_name.startswith("v100") else []
            lines = " ".join(self.excuses("--tflops", tflops, "--chip", chip_name, *precision))
            self.assertNotIn("sparsity", lines)
            if package:
                self.assertIn(package, lines)
        self.assertIn("sparsity", " ".join(self.excuses("--tflops", "1200T", "--chip", "h100-sxm")))

    def test_a_sparse_peak_in_a_diagnosis(self):
        run = {"schema": "mfu.run/1", "steps": list(range(12)), "workload": {"flops_per_step": 1e14},
               "hardware": {"chip": "h100-sxm", "precision": "bf16", "peak_tflops": 1979},
               "ranks": [{"rank": 0, "compute": [1.0] * 12, "comm": [0.1] * 12, "stall": [0] * 12}]}
        path = self.write("run.json", json.dumps(run))
        done = subprocess.run([MFU, "diagnose", path], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=True, encoding="utf-8")
        self.assertIn("2:4 sparse", done.stderr)
        done = subprocess.run([MFU, "diagnose", path, "--strict"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 2)


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
                               ({"name": 7}, "not a string"), ({"aliases": "X"}, "not a list")):
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
