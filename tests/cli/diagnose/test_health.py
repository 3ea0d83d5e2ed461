#!/usr/bin/env python3
"""Telemetry beside a run: what it says for and against a cause, and what it may not do."""

import unittest

from driven import HALF_OF_PEAK, STEPS, run_document
from telemetry_files import Diagnosed, smi


class Health(Diagnosed):
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
        self.assertIn("does not show what holds it back", self.one(answer, "power")["text"])

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


if __name__ == "__main__":
    unittest.main()
