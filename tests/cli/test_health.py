#!/usr/bin/env python3
"""Telemetry beside a run: `mfu diagnose --telemetry`, every format, and what it may and may not do."""

import json
import unittest

from driven import HALF_OF_PEAK, RANKS, STEPS, Cli, run_document

HEAD = ("timestamp, index, uuid, pci.bus_id, name, clocks.current.sm [MHz], clocks.max.sm [MHz], "
        "temperature.gpu, power.draw [W], enforced.power.limit [W], power.default_limit [W], "
        "utilization.gpu [%], clocks_event_reasons.active, ecc.errors.uncorrected.volatile.total")
NAME = "NVIDIA A100-SXM4-40GB"


def smi(node, samples=10, odd=None, head=HEAD, **fields):
    """Eight samples of four GPUs under load; `odd`: {index: {field: value}}."""
    lines = [head]
    for s in range(samples):
        for gpu in range(4):
            row = {"clock": 1410, "max": 1410, "temperature": 60, "power": 380, "limit": 400,
                   "default": 400, "utilization": 99, "reasons": "0x0", "ecc": 0}
            row.update(fields)
            row.update((odd or {}).get(gpu, {}))
            for key, value in row.items():
                if callable(value):
                    row[key] = value(s)
            lines.append(
                f"2026/07/14 08:12:{s:02}.353, {gpu}, GPU-{node}-{gpu}, 00000000:{gpu + 16:02X}:00.0, "
                f"{NAME}, {row['clock']} MHz, {row['max']} MHz, {row['temperature']}, "
                f"{row['power']} W, {row['limit']} W, {row['default']} W, {row['utilization']} %, "
                f"{row['reasons']}, {row['ecc']}")
    return "\n".join(lines) + "\n"


class Health(Cli):
    def diagnose(self, document, *arguments):
        done = self.mfu("diagnose", self.write("run.json", document), "--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def with_files(self, document, **files):
        """`files`: node to text, in files that are named after the node."""
        return self.diagnose(document, "--telemetry",
                             *[self.write(f"{node}.csv", text) for node, text in files.items()])

    @staticmethod
    def facts(answer, check):
        return [fact for fact in answer["verdict"]["health"] if fact["check"] == check]

    def one(self, answer, check):
        found = self.facts(answer, check)
        self.assertEqual(len(found), 1, found)
        return found[0]

    # -- causes of a straggler

    def test_heat(self):
        hot = {1: {"clock": 1085, "temperature": 91, "reasons": "0x0000000000000048"}}
        answer = self.with_files(run_document(slow_rank=5, chip="a100-sxm4-40gb"), n0=smi("n0"),
                                 n1=smi("n1", odd=hot))
        verdict = answer["verdict"]
        self.assertEqual((verdict["family"], verdict["culprits"]["ranks"], verdict["cause"]),
                         ("straggler", [5], "thermal"))
        clock = self.one(answer, "clock")
        self.assertEqual((clock["stance"], clock["value"], clock["peers"]), ("supports", 1085, 1410))
        throttle = self.one(answer, "throttle")
        self.assertEqual((throttle["reason"], throttle["value"], throttle["peers"]),
                         ("hw_thermal_slowdown", 1, 0))
        heat = self.one(answer, "temperature")
        self.assertEqual((heat["stance"], heat["value"], heat["limit"]), ("supports", 91, 89))
        self.assertEqual(self.one(answer, "ecc")["stance"], "contradicts")
        self.assertEqual(self.one(answer, "xid")["stance"], "not-measured")
        self.assertEqual(self.one(answer, "memory-temperature")["stance"], "not-measured")
        text = " ".join(verdict["evidence"])
        self.assertIn("1,085 MHz", text)
        self.assertIn("1,410 MHz", text)
        self.assertIn("HW thermal slowdown in 100 %", text)
        self.assertEqual([i["format"] for i in answer["inputs"]],
                         ["mfu.run/1 json", "nvidia-smi CSV", "nvidia-smi CSV"])
        screen = self.mfu("diagnose", str(self.folder / "run.json"), "--telemetry",
                          str(self.folder / "n0.csv"), str(self.folder / "n1.csv")).stdout.decode()
        self.assertIn("straggler (heat), rank 5", screen)
        self.assertIn("not measured: memory temperature, Xid", " ".join(screen.split()))
        self.assertNotIn("temperatures, clocks, power", screen)

    def test_a_power_cap(self):
        capped = {1: {"clock": 1085, "power": 250, "limit": 250, "reasons": "0x4"}}
        answer = self.with_files(run_document(slow_rank=5), n0=smi("n0"), n1=smi("n1", odd=capped))
        self.assertEqual(answer["verdict"]["cause"], "power")
        power = self.one(answer, "power")
        self.assertEqual((power["stance"], power["limit"], power["rated"]), ("supports", 250, 400))

    def test_low_clocks_alone(self):
        answer = self.with_files(run_document(slow_rank=5), n0=smi("n0"),
                                 n1=smi("n1", odd={1: {"clock": 1085}}))
        self.assertEqual(answer["verdict"]["cause"], "clocks")
        self.assertEqual(self.one(answer, "throttle")["stance"], "contradicts")

    def test_a_clock_that_explains_too_little_is_no_cause(self):
        # 4 % lower, and 30 % slower.
        answer = self.with_files(run_document(slow_rank=5), n0=smi("n0"),
                                 n1=smi("n1", odd={1: {"clock": 1355}}))
        self.assertIsNone(answer["verdict"]["cause"])
        clock = self.one(answer, "clock")
        self.assertEqual(clock["stance"], "neutral")
        self.assertLess(clock["explains"], 0.2)

    def test_the_same_clocks_speak_against_them(self):
        answer = self.with_files(run_document(slow_rank=5), n0=smi("n0"), n1=smi("n1"))
        self.assertIsNone(answer["verdict"]["cause"])
        for check in ("clock", "throttle", "temperature", "power", "ecc"):
            self.assertEqual(self.one(answer, check)["stance"], "contradicts", check)

    def test_what_the_clock_does_not_show(self):
        # The same clock, and half of its peers' power: something else holds it back.
        answer = self.with_files(run_document(slow_rank=5), n0=smi("n0"),
                                 n1=smi("n1", odd={1: {"power": 190}}))
        self.assertEqual(answer["verdict"]["cause"], "power")
        self.assertEqual(self.one(answer, "clock")["stance"], "contradicts")
        self.assertIn("does not show in the clock", self.one(answer, "power")["text"])

    def test_memory_errors_are_differences(self):
        old = self.with_files(run_document(slow_rank=5), n0=smi("n0"),
                              n1=smi("n1", odd={1: {"ecc": 7}}))
        self.assertIsNone(old["verdict"]["cause"])
        self.assertEqual(self.one(old, "ecc")["stance"], "contradicts")
        new = self.with_files(run_document(slow_rank=5), n0=smi("n0"),
                              n1=smi("n1", odd={1: {"ecc": lambda s: 7 + s // 5}}))
        self.assertEqual(new["verdict"]["cause"], "ecc")
        self.assertEqual(self.one(new, "ecc")["value"], 1)
        # One sample has no difference.
        single = self.with_files(run_document(slow_rank=5), n0=smi("n0", samples=1),
                                 n1=smi("n1", samples=1, odd={1: {"ecc": 7}}))
        self.assertEqual(self.one(single, "ecc")["stance"], "not-measured")

    def test_a_counter_that_begins_anew(self):
        # 2 GiB and on, then from 3 on: the driver was loaded again.
        values = [2147483640 + s if s < 5 else s - 2 for s in range(10)]
        answer = self.with_files(run_document(slow_rank=5), n0=smi("n0"),
                                 n1=smi("n1", odd={1: {"ecc": lambda s: values[s]}}))
        self.assertEqual(self.one(answer, "ecc")["value"], 8)

    def test_a_flag_at_idle_is_no_evidence(self):
        # Half of the samples are idle, and throttled; under load nothing is.
        idle = {1: {"utilization": lambda s: 0 if s % 2 else 99,
                    "clock": lambda s: 210 if s % 2 else 1410,
                    "reasons": lambda s: "0x44" if s % 2 else "0x0"}}
        answer = self.with_files(run_document(slow_rank=5), n0=smi("n0"), n1=smi("n1", odd=idle))
        self.assertIsNone(answer["verdict"]["cause"])
        self.assertEqual(self.one(answer, "throttle")["stance"], "contradicts")
        self.assertEqual(self.one(answer, "clock")["value"], 1410)

    def test_a_power_cap_flag_far_under_the_limit_is_none(self):
        far = {1: {"clock": 1085, "power": 39, "reasons": "0x4"}}
        answer = self.with_files(run_document(slow_rank=5), n0=smi("n0"), n1=smi("n1", odd=far))
        self.assertEqual(answer["verdict"]["cause"], "clocks")

    def test_a_slow_node(self):
        document = run_document(ranks=8)
        for rank in document["ranks"]:
            slow = rank["node"] == "n1"
            for s in range(STEPS):
                own = 1.3 if slow else 1.0
                rank["compute"][s] = own + 0.001 * ((rank["rank"] + s) % 3)
                rank["comm"][s] = 1.34 - rank["compute"][s]
        answer = self.with_files(document, n0=smi("n0"), n1=smi("n1", clock=1085, temperature=91))
        self.assertEqual(answer["verdict"]["culprits"]["nodes"], ["n1"])
        self.assertEqual(answer["verdict"]["cause"], "thermal")

    # -- whatever telemetry says, the timings decide

    def test_a_hot_device_that_is_not_slow_is_a_remark(self):
        hot = {1: {"temperature": 90, "reasons": "0x20"}}
        answer = self.with_files(run_document(chip="a100-sxm4-40gb"), n0=smi("n0"),
                                 n1=smi("n1", odd=hot))
        self.assertEqual(answer["verdict"]["family"], "healthy")
        self.assertIsNone(answer["verdict"]["cause"])
        remarks = answer["health"]["remarks"]
        self.assertEqual([(r["check"], r["ranks"]) for r in remarks],
                         [("throttle", [5]), ("temperature", [5])])
        for remark in remarks:
            self.assertIn("do not stand out", remark["text"])

    def test_low_clocks_on_a_healthy_run(self):
        flops = HALF_OF_PEAK
        answer = self.with_files(run_document(flops=flops, chip="a100-sxm4-40gb"),
                                 n0=smi("n0", clock=1200, reasons="0x4"),
                                 n1=smi("n1", clock=1200, reasons="0x4"))
        self.assertEqual(answer["verdict"]["family"], "healthy")

    # -- single-GPU efficiency

    def split(self, answer):
        single = answer["factors"][0]
        self.assertEqual(single["id"], "single_gpu")
        parts = {part["id"]: part["value"] for part in single.get("parts", [])}
        return single["value"], parts

    def test_the_clock_times_the_kernels(self):
        document = run_document(flops=HALF_OF_PEAK, chip="a100-sxm4-40gb")
        answer = self.with_files(document, n0=smi("n0", clock=1269), n1=smi("n1", clock=1269))
        value, parts = self.split(answer)
        self.assertAlmostEqual(parts["clock"], 0.9)
        self.assertAlmostEqual(parts["clock"] * parts["kernels"], value, delta=1e-15)
        self.assertEqual(answer["health"]["clock_mhz"], 1269)
        plain = self.diagnose(document)
        self.assertEqual(self.split(plain), (value, {}))
        screen = self.mfu("diagnose", str(self.folder / "run.json"), "--telemetry",
                          str(self.folder / "n0.csv"), str(self.folder / "n1.csv")).stdout.decode()
        self.assertIn("clock  1,269 MHz of the peak's 1,410 MHz: x 0.900", screen)

    def test_all_hot(self):
        # 0.6 of the peak at their clock, 0.3 of the datasheet's.
        document = run_document(flops=0.6 * HALF_OF_PEAK, chip="a100-sxm4-40gb")
        files = {node: smi(node, clock=705, temperature=90, reasons="0x48") for node in ("n0", "n1")}
        answer = self.with_files(document, **files)
        verdict = answer["verdict"]
        self.assertEqual((verdict["family"], verdict["cause"]), ("single-gpu-efficiency", "thermal"))
        self.assertEqual(self.one(answer, "clock")["stance"], "supports")
        # Without telemetry the kernels have it.
        self.assertEqual(self.diagnose(document)["verdict"]["cause"], "kernels")

    def test_slow_kernels_at_full_clocks(self):
        document = run_document(flops=0.5 * HALF_OF_PEAK, chip="a100-sxm4-40gb")
        answer = self.with_files(document, n0=smi("n0"), n1=smi("n1"))
        self.assertEqual(answer["verdict"]["cause"], "kernels")
        self.assertEqual(self.one(answer, "clock")["stance"], "contradicts")

    def test_kernels_are_judged_at_the_clock_that_they_had(self):
        # 0.43 of the datasheet's peak; 0.48 at a clock that the chip's own power limit holds down.
        document = run_document(flops=0.86 * HALF_OF_PEAK, chip="a100-sxm4-40gb")
        files = {node: smi(node, clock=1260, power=399, reasons="0x4") for node in ("n0", "n1")}
        answer = self.with_files(document, **files)
        self.assertEqual(answer["verdict"]["family"], "healthy")
        self.assertIn("at the clock it runs at", " ".join(answer["verdict"]["evidence"]))

    def test_the_device_names_the_chip_of_a_run_with_work(self):
        answer = self.with_files(run_document(flops=HALF_OF_PEAK), n0=smi("n0"), n1=smi("n1"))
        self.assertEqual(answer["setup"]["chip"], "a100-sxm4-40gb")
        self.assertEqual(self.codes(answer)["chip-from-telemetry"], "info")
        answer = self.with_files(run_document(), n0=smi("n0"), n1=smi("n1"))
        self.assertIsNone(answer["setup"]["chip"])

    def test_measured_clock(self):
        document = run_document(flops=HALF_OF_PEAK, chip="a100-sxm4-40gb")
        files = [self.write(f"{n}.csv", smi(n, clock=1269)) for n in ("n0", "n1")]
        answer = self.diagnose(document, "--clock", "measured", "--telemetry", *files)
        self.assertEqual(answer["setup"]["clock_mhz"], 1269)

    # -- in the run itself

    def test_telemetry_in_the_run(self):
        document = run_document(slow_rank=5)
        for rank in document["ranks"]:
            slow = rank["rank"] == 5
            rank["telemetry"] = {"sm_clock_mhz": [1085 if slow else 1410] * STEPS,
                                 "temperature_c": 88 if slow else 60,
                                 "throttle_reasons": ["HW Thermal Slowdown"] if slow else [],
                                 "xid": []}
        answer = self.diagnose(document)
        self.assertEqual(answer["verdict"]["cause"], "thermal")
        self.assertEqual(self.one(answer, "xid")["stance"], "contradicts")
        self.assertEqual(self.one(answer, "ecc")["stance"], "not-measured")
        document["ranks"][5]["telemetry"] = {"xid": [94]}
        self.assertEqual(self.diagnose(document)["verdict"]["cause"], "xid")
        document["ranks"][5]["telemetry"] = {"xid": [31]}  # the application's own
        self.assertIsNone(self.diagnose(document)["verdict"]["cause"])

    # -- joining

    def joined(self, answer):
        return [rank["rank"] for rank in answer["health"]["ranks"]]

    def codes(self, answer):
        return {note["code"]: note["severity"] for note in answer["notes"]}

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

    # -- questions that people asked in public (ids of the collection)

    def test_d211_two_speeds_at_one_clock(self):
        # Four ranks in lock-step flip between 63 and 94 ms; the clock is the same, the power is not.
        slow = [(s // 3) % 2 == 1 for s in range(STEPS)]
        document = run_document(ranks=4)
        for rank in document["ranks"]:
            rank["compute"] = [0.094 if late else 0.063 for late in slow]
            rank["comm"] = [0.0] * STEPS
            rank["stall"] = [0.0] * STEPS
            rank["telemetry"] = {"sm_clock_mhz": [2400] * STEPS,
                                 "power_w": [60 if late else 90 for late in slow]}
        answer = self.diagnose(document)
        modes = answer["health"]["two_modes"]
        self.assertAlmostEqual(modes["ratio"], 1.492, delta=0.003)
        self.assertEqual((modes["slow_steps"], modes["of"]), (STEPS // 2, STEPS))
        self.assertEqual((modes["fast_power_w"], modes["slow_power_w"]), (90, 60))
        self.assertIn("the clock does not show it", modes["text"])
        # An onset is no second mode, nor are two pauses.
        for steps in ([s >= 12 for s in range(STEPS)], [s in (5, 15) for s in range(STEPS)]):
            for rank in document["ranks"]:
                rank["compute"] = [0.094 if late else 0.063 for late in steps]
            self.assertIsNone(self.diagnose(document)["health"]["two_modes"])

    def test_d051_a_spread_of_a_thousandth_is_no_straggler(self):
        # 129.44 to 129.54 TFLOP/s, with power, temperature and clock beside them.
        document = run_document(ranks=3)
        for rank, rate in zip(document["ranks"], (129.44, 129.49, 129.54)):
            rank["compute"] = [129.54 / rate] * STEPS
            rank["comm"] = [1.03 - 129.54 / rate] * STEPS
            rank["telemetry"] = {"sm_clock_mhz": 1980 - rank["rank"], "temperature_c": 60,
                                 "power_w": 650}
        answer = self.diagnose(document)
        self.assertEqual(answer["verdict"]["family"], "healthy")
        self.assertEqual(answer["verdict"]["culprits"]["ranks"], [])
        self.assertEqual(answer["health"]["remarks"], [])

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
