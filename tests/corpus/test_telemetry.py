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
                          encoding="utf-8", timeout=60)


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
