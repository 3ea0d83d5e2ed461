"""What the tests of telemetry share: made files of nvidia-smi, and a run that they stand beside."""

import json

from driven import Cli

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


class Diagnosed(Cli):
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

    @staticmethod
    def joined(answer):
        return [rank["rank"] for rank in answer["health"]["ranks"]]

    @staticmethod
    def codes(answer):
        return {note["code"]: note["severity"] for note in answer["notes"]}
