#!/usr/bin/env python3
"""`mfu diagnose --telemetry`: every format, joined to the ranks, and whatever else is in the files."""

import unittest

from driven import RANKS, run_document
from telemetry_files import HEAD, NAME, Diagnosed, smi


class Telemetry(Diagnosed):
    # -- joining

    def test_nodes_by_option_by_name_and_by_folder(self):
        document = run_document(slow_rank=5)
        for names in (["n0=a.csv", "n1=b.csv"], ["smi-n0.csv", "smi.n1.csv"]):
            paths = []
            for i, name in enumerate(names):
                node, _, file = name.rpartition("=")
                path = self.write(file, smi(f"n{i}"))
                paths.append(f"{node}={path}" if node else path)
            answer = self.diagnose(document, "--telemetry", *paths)
            self.assertEqual(self.joined(answer), list(range(RANKS)))
            self.assertEqual(self.codes(answer), {})
        (self.folder / "n1").mkdir()
        path = self.write("n1/smi.csv", smi("n1"))
        answer = self.diagnose(document, "--telemetry", path)
        self.assertEqual(self.joined(answer), [4, 5, 6, 7])
        self.assertEqual(self.codes(answer), {"telemetry-partial": "info"})

    def test_the_order_of_the_files_does_not_matter(self):
        document = run_document(slow_rank=5)
        paths = [self.write(f"{n}.csv", smi(n, odd={1: {"clock": 1000}})) for n in ("n0", "n1")]
        first = self.diagnose(document, "--telemetry", *paths)
        second = self.diagnose(document, "--telemetry", *reversed(paths))
        self.assertEqual(first, second)

    def test_what_cannot_be_joined_is_said(self):
        document = run_document(slow_rank=5)
        answer = self.diagnose(document, "--telemetry", self.write("smi.csv", smi("n1")))
        self.assertEqual(self.codes(answer)["telemetry-not-joined"], "loss")
        self.assertEqual(self.joined(answer), [])
        answer = self.diagnose(document, "--telemetry", "n7=" + self.write("smi.csv", smi("n1")))
        self.assertEqual(self.codes(answer)["telemetry-not-joined"], "loss")
        done = self.mfu("diagnose", str(self.folder / "run.json"), "--strict", "--telemetry",
                        str(self.folder / "smi.csv"))
        self.assertEqual(done.returncode, 2)

    def test_uuids_alone_find_no_rank(self):
        text = "uuid, clocks.sm [MHz], utilization.gpu [%]\nGPU-a, 1085, 99\nGPU-b, 1410, 99\n"
        answer = self.diagnose(run_document(slow_rank=5), "--telemetry", self.write("n1.csv", text))
        self.assertIn("telemetry-not-joined", self.codes(answer))
        # dcgm-exporter knows which index a UUID has.
        lines = "".join(
            f'DCGM_FI_DEV_GPU_TEMP{{gpu="{i}",UUID="GPU-{u}",Hostname="n1"}} 60\n'
            for i, u in enumerate("ab"))
        answer = self.diagnose(run_document(slow_rank=5), "--telemetry",
                               self.write("n1.csv", text), self.write("exporter.prom", lines))
        self.assertEqual(self.joined(answer), [4, 5])
        self.assertEqual(answer["health"]["ranks"][0]["sm_clock_mhz"], 1085)

    def test_two_nodes_in_one_file(self):
        head = "hostname, index, clocks.sm [MHz], utilization.gpu [%]\n"
        rows = "".join(f"n{r // 4}.cluster, {r % 4}, {1085 if r == 5 else 1410}, 99\n"
                       for r in range(RANKS))
        answer = self.diagnose(run_document(slow_rank=5), "--telemetry",
                               self.write("all.csv", head + rows))
        self.assertEqual(answer["verdict"]["cause"], "clocks")
        # Without the column nothing tells them apart.
        head = "index, uuid, clocks.sm [MHz], utilization.gpu [%]\n"
        rows = "".join(f"{r % 4}, GPU-{r}, 1410, 99\n" for r in range(RANKS))
        answer = self.diagnose(run_document(slow_rank=5), "--telemetry",
                               "n1=" + self.write("all.csv", head + rows))
        self.assertEqual(self.codes(answer)["telemetry-not-joined"], "loss")
        self.assertEqual(self.joined(answer), [])

    def test_ranks_without_an_index_are_taken_in_order(self):
        document = run_document(slow_rank=1, ranks=4)
        for rank in document["ranks"]:
            del rank["gpu"], rank["node"]
        answer = self.diagnose(document, "--telemetry",
                               self.write("smi.csv", smi("x", odd={1: {"clock": 1085}})))
        self.assertEqual(self.codes(answer)["telemetry-by-order"], "assumption")
        self.assertEqual(answer["verdict"]["cause"], "clocks")

    # -- the other formats

    def test_dmon(self):
        lines = ["#Date       Time        gpu    pwr  gtemp  mtemp     sm  pviol  tviol   pclk",
                 "#YYYYMMDD   HH:MM:SS    Idx      W      C      C      %      %   bool    MHz"]
        for s in range(10):
            for gpu in range(4):
                slow = gpu == 1
                lines.append(f" 20260714   08:12:{s:02}     {gpu}   300   {90 if slow else 60}  -  99"
                             f"  0  {1 if slow else 0}  {1085 if slow else 1410}")
        answer = self.diagnose(run_document(slow_rank=5), "--telemetry",
                               self.write("n1.dmon", "\n".join(lines) + "\n"))
        self.assertEqual(answer["inputs"][1]["format"], "nvidia-smi dmon")
        self.assertEqual(answer["health"]["ranks"][1]["sm_clock_mhz"], 1085)
        self.assertEqual(self.one(answer, "throttle")["reason"], "thermal_violation")

    def test_dcgmi_dmon(self):
        lines = ["#Entity   SMCLK   TMPTR   POWER   GPUTL   XIDER   DVCCTR", "ID"]
        for s in range(6):
            for gpu in (2, 1, 3, 0):
                slow = gpu == 1
                lines.append(f"GPU {gpu}     " + ("N/A  " * 6 if s == 0 else
                             f"{1085 if slow else 1410}  {90 if slow else 60}  300  99  0  "
                             f"{72 if slow else 0}"))
        text = "\n".join(lines) + "\n"
        document = run_document(slow_rank=5)
        answer = self.diagnose(document, "--telemetry", self.write("n1.txt", text),
                               self.write("n0.txt", text.replace("1085", "1410")
                                          .replace(" 90 ", " 60 ").replace(" 72", " 0")))
        self.assertEqual(answer["inputs"][1]["format"], "dcgmi dmon")
        self.assertEqual(answer["verdict"]["cause"], "thermal")

    def prom(self, slow, scrapes=4, **metrics):
        lines = []
        for s in range(scrapes):
            for gpu in range(4):
                labels = (f'gpu="{gpu}",UUID="GPU-{gpu}",pci_bus_id="00000000:{gpu + 16:02X}:00.0",'
                          'Hostname="n1.cluster.local",modelName="' + NAME + '"')
                values = {"SM_CLOCK": 1085 if gpu == slow else 1410, "GPU_UTIL": 99,
                          "XID_ERRORS": 0, "MEMORY_TEMP": 9223372036854775792}
                for name, value in metrics.items():
                    values[name] = value(gpu, s)
                for name, value in values.items():
                    if s == 0 and gpu == 0:
                        lines.append(f"# HELP DCGM_FI_DEV_{name} Something.")
                    lines.append(f"DCGM_FI_DEV_{name}{{{labels}}} {value} {1700000000000 + 1000 * s}")
        return "\n".join(lines) + "\n"

    def test_dcgm_exporter(self):
        # Nanoseconds: throttled for 0.9 s of every second.
        text = self.prom(1, CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN_NS=lambda gpu, s:
                         5_000_000_000 + (900_000_000 * s if gpu == 1 else 0))
        answer = self.diagnose(run_document(slow_rank=5), "--telemetry",
                               self.write("metrics.prom", text))
        self.assertEqual(answer["inputs"][1]["format"], "dcgm-exporter")
        self.assertEqual(answer["verdict"]["cause"], "thermal")
        self.assertAlmostEqual(self.one(answer, "throttle")["value"], 0.9)
        # A blank is no temperature.
        self.assertIsNone(answer["health"]["ranks"][0]["memory_temperature_c"])

    def test_an_old_xid_is_none_of_this_run(self):
        document = run_document(slow_rank=5)
        stood = self.prom(None, XID_ERRORS=lambda gpu, s: 94 if gpu == 1 else 0)
        answer = self.diagnose(document, "--telemetry", self.write("metrics.prom", stood))
        self.assertIsNone(answer["verdict"]["cause"])
        self.assertTrue(self.one(answer, "xid")["before"])
        came = self.prom(None, XID_ERRORS=lambda gpu, s: 94 if gpu == 1 and s > 1 else 0)
        answer = self.diagnose(document, "--telemetry", self.write("metrics.prom", came))
        self.assertEqual(answer["verdict"]["cause"], "xid")

    LOG = ("Nov 30 08:10:54 n1 kernel: usb 1-1: new device\n"
           "Nov 30 08:10:55 n1 kernel: NVRM: Xid (PCI:0000:11:00): 94, pid=1234, name=python3, "
           "Contained: memory\n"
           "Nov 30 08:10:56 n1 kernel: NVRM: Xid (PCI:0000:11:00): 9")

    def test_a_kernel_log(self):
        document = run_document(slow_rank=5)
        answer = self.diagnose(document, "--telemetry", self.write("n0.csv", smi("n0")),
                               self.write("n1.csv", smi("n1")), self.write("kern.log", self.LOG))
        self.assertEqual(answer["verdict"]["cause"], "xid")
        xid = [fact for fact in self.facts(answer, "xid") if fact.get("code") == 94]
        self.assertEqual([(x["stance"], x["count"]) for x in xid], [("supports", 1)])
        self.assertEqual(self.codes(answer)["telemetry-line"], "loss")  # cut in its number
        # Without the place on the bus of any device it is of some GPU of that node.
        answer = self.diagnose(document, "--telemetry", str(self.folder / "kern.log"))
        self.assertIsNone(answer["verdict"]["cause"])
        self.assertTrue(self.one(answer, "xid")["on_node"])
        self.assertIn("xid-device-unknown", self.codes(answer))

    def test_a_kernel_log_without_xids_says_that_there_was_none(self):
        log = self.write("dmesg-n1.txt", "[    0.000000] Linux version 6.1\n[   12.5] done\n")
        answer = self.diagnose(run_document(slow_rank=5), "--telemetry", log)
        self.assertEqual(self.one(answer, "xid")["stance"], "contradicts")

    def test_off_the_bus_without_an_xid(self):
        log = ("[  100.1] NVRM: The NVIDIA GPU 0000:11:00.0\n"
               "[  100.1] NVRM: (PCI ID: 10de:20b0) installed in this system has\n"
               "[  100.1] NVRM: fallen off the bus and is not responding to commands.\n")
        answer = self.diagnose(run_document(slow_rank=5), "--telemetry",
                               self.write("n1.csv", smi("n1")), "n1=" + self.write("log", log))
        self.assertEqual(self.one(answer, "xid")["code"], 79)

    # -- hostile

    def test_margins_are_no_temperatures(self):
        head = "index, temperature.gpu.tlimit, clocks.sm [MHz], utilization.gpu [%]\n"
        rows = "".join(f"{i}, {1 if i == 1 else 28}, {1085 if i == 1 else 1410}, 99\n"
                       for i in range(4))
        answer = self.diagnose(run_document(slow_rank=5), "--telemetry",
                               self.write("n1.csv", head + rows))
        rank = answer["health"]["ranks"][1]
        self.assertIsNone(rank["temperature_c"])
        self.assertEqual(rank["margin_c"], 1)
        self.assertEqual(answer["verdict"]["cause"], "thermal")

    def test_every_missing_value(self):
        for absent in ("[N/A]", "N/A", "[Not Supported]", "ERR!", "[Unknown Error]", "-", "",
                       "[GPU requires reset]"):
            head = ("index, clocks.sm [MHz], utilization.gpu [%], temperature.gpu, "
                    "clocks_event_reasons.active, ecc.errors.uncorrected.volatile.total\n")
            rows = f"0, {absent}, 99, {absent}, {absent}, {absent}\n" * 3
            answer = self.diagnose(run_document(slow_rank=5), "--telemetry",
                                   self.write("n1.csv", head + rows))
            self.assertEqual(self.joined(answer), [], absent)
            self.assertNotIn("telemetry-value", self.codes(answer))

    def test_clocks_of_zero_cut_lines_and_strange_bytes(self):
        text = smi("n1", odd={1: {"clock": 0}}) + HEAD + "\n" + smi("n1")[:-40]
        answer = self.diagnose(run_document(slow_rank=5), "--telemetry",
                               self.write("n1.csv", text.encode() + b"\xff\xfe\x80, 1\n"))
        self.assertEqual(answer["health"]["ranks"][1]["sm_clock_mhz"], 1410)
        self.assertEqual(self.codes(answer)["telemetry-line"], "loss")

    def test_refusals(self):
        run = self.write("run.json", run_document())
        self.assert_refused(self.mfu("diagnose", run, "--telemetry",
                                     self.write("w.csv", "\ufeffindex\n".encode("utf-16-le"))),
                            "UTF-16")
        self.assert_refused(self.mfu("diagnose", run, "--telemetry", run), "--format=csv")
        self.assert_refused(self.mfu("diagnose", run, "--telemetry", "n1="), "names no file")
        self.assert_refused(self.mfu("diagnose", run, "--telemetry", str(self.folder / "no.csv")),
                            "no.csv")
        self.assert_refused(self.mfu("diagnose", "--telemetry", run, run), "--telemetry")

    def test_out_of_order(self):
        # The counter of the thermal slowdown, its lines shuffled: 0.5 s of each second.
        head = ("timestamp, index, utilization.gpu [%], clocks.sm [MHz], "
                "clocks_event_reasons_counters.hw_thermal_slowdown [us]\n")
        rows = [f"2026/07/14 08:12:{s:02}.000, 1, 99 %, 1085 MHz, {10**9 + 500_000 * s} us\n"
                for s in range(20)]
        shuffled = [rows[7 * i % 20] for i in range(20)]
        for lines in (rows, shuffled):
            answer = self.diagnose(run_document(slow_rank=5), "--telemetry",
                                   self.write("n1.csv", head + "".join(lines)))
            self.assertAlmostEqual(self.one(answer, "throttle")["value"], 0.5)


if __name__ == "__main__":
    unittest.main()
