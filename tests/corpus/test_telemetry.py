"""Real captures of nvidia-smi, and every device name and PCI id of the collected ones.

Skipped, and said so, where the shared corpus is not there.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BIN = os.environ["MFU_BIN"]
SOURCE = Path(os.environ.get("MFU_SOURCE_DIR", Path(__file__).resolve().parents[2]))
SHARED = Path(os.environ.get("MFU_SHARED_DIR", SOURCE.parent / "shared"))
CAPTURES = SHARED / "corpus" / "telemetry"
NAMES = SHARED / "reference" / "device-names.md"

DMON = """# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec    jpg    ofa   mclk   pclk
# Idx      W      C      C      %      %      %      %      %      %    MHz    MHz
"""


def peak(*arguments):
    return subprocess.run([BIN, "peak", "--json", *arguments], capture_output=True, check=False,
                          encoding="utf-8")


def chip_id(*arguments):
    """Nothing where the device is refused."""
    done = peak(*arguments)
    return json.loads(done.stdout)["chips"][0]["id"] if done.returncode == 0 else None


class Captures(unittest.TestCase):
    def measured(self, path, *chip):
        done = peak(*chip, "--telemetry", str(path), "--clock", "measured")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_under_load(self):
        answer = self.measured(CAPTURES / "nvidia_smi_query_h100_load.csv")
        self.assertEqual(answer["chips"][0]["id"], "h100-sxm5-80gb")
        self.assertEqual(answer["chips"][0]["clock_mhz"], 1980)
        self.assertEqual(answer["notes"], [])

    def test_the_slices_of_a_device_are_not_the_device(self):
        answer = self.measured(CAPTURES / "nvidia_smi_query_h100_mig_load.csv")
        self.assertEqual(answer["chips"][0]["clock_mhz"], 1980)
        self.assertEqual([note["code"] for note in answer["notes"]], ["mig-enabled"])

    def test_capped_by_power(self):
        answer = self.measured(CAPTURES / "nvidia_smi_h100_powercap.csv", "h100-sxm")
        self.assertEqual(answer["chips"][0]["clock_mhz"], 1590)
        self.assertAlmostEqual(answer["chips"][0]["peak_flops"] / 1e12, 859.7, delta=0.1)

    def test_idle_is_no_measurement(self):
        path = str(CAPTURES / "nvidia_smi_query_h100_idle.csv")
        self.assertEqual(chip_id("--telemetry", path), "h100-sxm5-80gb")
        done = peak("--telemetry", path, "--clock", "measured")
        self.assertEqual(done.returncode, 2)
        self.assertIn("under load", done.stderr)

    def test_a_card_that_is_not_in_the_table(self):
        done = peak("--telemetry", str(CAPTURES / "nvidia_smi_query_rtx2080s_windows_load.csv"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("RTX 2080 SUPER", done.stderr)

    def test_dmon(self):
        # The captures begin after the header.
        for name, mhz in (("nvidia_smi_dmon_h100.txt", 1980), ("nvidia_smi_dmon_h100_mig.txt", 1980)):
            text = (CAPTURES / name).read_text(encoding="utf-8")
            with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
                file.write(DMON + text)
                file.flush()
                self.assertEqual(self.measured(file.name, "h100-sxm")["chips"][0]["clock_mhz"], mhz)
        done = peak("h100-sxm", "--telemetry", str(CAPTURES / "nvidia_smi_dmon_h100.txt"))
        self.assertEqual(done.returncode, 2)


class Joined(unittest.TestCase):
    """The same captures beside a run: what each says of its device."""

    def health(self, text, ranks=1, node="host-0", name="telemetry"):
        rows = [{"rank": r, "node": node, "gpu": r, "compute": [1.0] * 12, "comm": [0.1] * 12,
                 "stall": [0.0] * 12} for r in range(ranks)]
        document = {"schema": "mfu.run/1", "steps": list(range(12)), "ranks": rows}
        with tempfile.TemporaryDirectory() as folder:
            run = Path(folder) / "run.json"
            run.write_text(json.dumps(document), encoding="utf-8")
            file = Path(folder) / name
            file.write_text(text, encoding="utf-8")
            done = subprocess.run([BIN, "diagnose", "--json", str(run), "--telemetry", str(file)],
                                  capture_output=True, check=False, encoding="utf-8")
            self.assertEqual(done.returncode, 0, done.stderr)
            answer = json.loads(done.stdout)
            return answer["inputs"][1]["format"], answer["health"]["ranks"], answer

    @staticmethod
    def capture(name):
        return (CAPTURES / name).read_text(encoding="utf-8")

    def test_under_load(self):
        form, ranks, answer = self.health(self.capture("nvidia_smi_query_h100_load.csv"))
        self.assertEqual(form, "nvidia-smi CSV")
        device = ranks[0]
        self.assertEqual((device["device"], device["sm_clock_mhz"], device["max_clock_mhz"]),
                         ("NVIDIA H100 80GB HBM3", 1980, 1980))
        self.assertEqual((device["temperature_c"], device["margin_c"],
                          device["memory_temperature_c"]), (59, 26, 54))
        self.assertEqual((device["power_w"], device["power_limit_w"], device["power_default_w"]),
                         (631.95, 700, 700))
        self.assertEqual(device["throttle"], [])
        # One sample: counters have no difference.
        self.assertIsNone(device["ecc_uncorrected"])
        self.assertEqual(answer["health"]["remarks"], [])

    def test_idle_is_no_measurement(self):
        _, ranks, answer = self.health(self.capture("nvidia_smi_query_h100_idle.csv"))
        self.assertEqual(answer["health"]["ranks_measured"]["clock"], 0)
        self.assertIsNone(answer["health"]["clock_mhz"])
        self.assertTrue(all(rank["idle_samples"] == 1 for rank in ranks))

    def test_slices_have_clocks_and_heat(self):
        _, ranks, _ = self.health(self.capture("nvidia_smi_query_h100_mig_load.csv"))
        self.assertEqual((ranks[0]["sm_clock_mhz"], ranks[0]["temperature_c"]), (1980, 53))

    def test_a_card_under_a_light_load(self):
        # 7 % utilisation, and "idle" for a reason at 97 W: no measurement of a job.
        _, ranks, _ = self.health(self.capture("nvidia_smi_query_rtx2080s_windows_load.csv"))
        self.assertEqual([rank["sm_clock_mhz"] for rank in ranks], [None] * len(ranks))

    def test_capped_by_power(self):
        _, ranks, _ = self.health(self.capture("nvidia_smi_h100_powercap.csv"))
        self.assertEqual(ranks[0]["sm_clock_mhz"], 1590)
        self.assertEqual([(seen["reason"], seen["share"]) for seen in ranks[0]["throttle"]],
                         [("sw_power_cap", 1)])

    def test_dmon(self):
        form, ranks, _ = self.health(DMON + self.capture("nvidia_smi_dmon_h100.txt"))
        self.assertEqual(form, "nvidia-smi dmon")
        device = ranks[0]
        self.assertEqual((device["samples"], device["sm_clock_mhz"], device["power_w"],
                          device["temperature_c"], device["memory_temperature_c"]),
                         (5, 1980, 634, 64, 58))

    def test_dcgmi_dmon(self):
        form, _, answer = self.health(self.capture("dcgmi_dmon_mixed.txt"), ranks=3)
        self.assertEqual(form, "dcgmi dmon")
        codes = {note["code"] for note in answer["notes"]}
        self.assertNotIn("telemetry-not-joined", codes)
        self.assertNotIn("telemetry-partial", codes)

    def test_dcgm_exporter(self):
        form, ranks, answer = self.health(self.capture("dcgm_exporter_metrics.prom"))
        self.assertEqual(form, "dcgm-exporter")
        self.assertEqual(ranks[0]["xid"], [])
        # A run that names another host has no such device.
        _, ranks, answer = self.health(self.capture("dcgm_exporter_metrics.prom"), node="n7")
        self.assertEqual(ranks, [])
        self.assertIn("telemetry-not-joined", {note["code"] for note in answer["notes"]})


class Names(unittest.TestCase):
    def test_a_name_and_its_pci_id_mean_the_same(self):
        text = NAMES.read_text(encoding="utf-8")
        pairs = re.findall(r"`((?:NVIDIA|Tesla|Quadro) [^`]+)` \(([0-9A-F]{4})[,)]", text)
        self.assertGreater(len(pairs), 35)
        for name, pci in pairs:
            with self.subTest(name=name, pci=pci), tempfile.NamedTemporaryFile("w") as file:
                file.write(f"name, pci.device_id\nNVIDIA Graphics Device, 0x{pci}10DE\n")
                file.flush()
                self.assertEqual(chip_id("--telemetry", file.name), chip_id(name))

    def test_a_refusal_has_a_way_out(self):
        names = re.findall(r"`((?:NVIDIA|Tesla|Quadro|AMD|TPU|trn|inf|GeForce)[^`{]*)`",
                           NAMES.read_text(encoding="utf-8"))
        self.assertGreater(len(names), 60)
        for name in names:
            with self.subTest(name=name):
                done = peak(name)
                self.assertIn(done.returncode, (0, 2))
                if done.returncode == 2:
                    self.assertIn("hint:", done.stderr)


if __name__ == "__main__":
    if not CAPTURES.exists() or not NAMES.exists():
        print("skipped: the shared captures are not there")
        sys.exit(77)
    unittest.main()
