#!/usr/bin/env python3
"""The verdict on jobs of the second generator (tests/faults/second), of seeds that calibrate nothing:
tests/proof/second.py JOBS

What is promised of 3,000 jobs and more; fewer only show that it runs, with wider bounds."""

import re
import sys

from builds import build, run

FIRST = 9001  # odd seeds from here on were never looked at


def figure(text, pattern):
    return [float(number.replace(",", "")) for number in re.search(pattern, text).groups()]


def main():
    jobs = int(sys.argv[1])
    many = jobs >= 3000
    folder = build("release", ["mfu_second_score"], "-DCMAKE_BUILD_TYPE=Release")
    table = run(folder / "bin" / "mfu_second_score", "--from", FIRST, "--to", FIRST + 2 * jobs - 2,
                "--odd", capture_output=True, text=True)
    print(table, flush=True)
    right, of = figure(table, r"right (\d+) of (\d+)")
    alarms, healthy = figure(table, r"false alarms (\d+) of (\d+) healthy")
    wrong, sure = figure(table, r"confidence >= 0\.95: (\d+) wrong of (\d+)")
    held, stated = figure(table, r"holds the twin's step: (\d+) of (\d+)")
    [error] = figure(table, r"calibration error ([\d.]+)")
    broken = [name for name, holds in (
        ("right in 97 %", right >= (0.97 if many else 0.9) * of),
        ("false alarms 0.5 %", alarms <= max(1, 0.005 * healthy)),
        ("sure and wrong 2 %", wrong <= (0.02 if many else 0.05) * sure),
        ("calibration 0.03", error <= (0.03 if many else 0.1)),
        ("interval 90 to 99 %", 0.9 * stated <= held <= 0.99 * stated or not many),
    ) if not holds]
    if broken:
        sys.exit("not so: " + ", ".join(broken))


if __name__ == "__main__":
    main()
