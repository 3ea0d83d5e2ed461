#!/usr/bin/env python3
"""The promise of the verdict on many synthetic jobs: tests/proof/accuracy.py JOBS-OF-EACH-KIND

The checks of tests/faults and tests/property on that many jobs of each kind, in an optimised build, and
the table of `mfu_make_job --accuracy` with the seeds that the README speaks of. With as many jobs as
there, its figures must be the README's, and with any number no healthy job is accused."""

import os
import re
import subprocess
import sys

from builds import ROOT, build, run

SAID = re.compile(r"`mfu_make_job --accuracy (\d+) (\d+)`")
ROW = re.compile(r"^(.+?) +(\d+) of +(\d+) +[\d.]+ %$", re.MULTILINE)
# The rows of the table whose figures stand in the README.
TOLD = ("family right", "culprit exact")


def main():
    count = int(sys.argv[1])
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    said = SAID.search(readme)
    if not said:
        sys.exit("the README does not say with which seeds the accuracy was measured")
    folder = build("release", ["mfu_make_job", "mfu_faults", "mfu_property"],
                   "-DCMAKE_BUILD_TYPE=Release")
    table = run(folder / "bin" / "mfu_make_job", "--accuracy", count, said[2],
                stdout=subprocess.PIPE, text=True)
    print(table, flush=True)
    rows = {name.strip(): (int(right), int(of)) for name, right, of in ROW.findall(table)}
    calm, healthy = rows["healthy jobs that are not accused"]
    if healthy == 0 or calm != healthy:
        sys.exit(f"{healthy - calm} of {healthy} healthy jobs are accused")
    for name in TOLD:
        right, of = next(figures for row, figures in rows.items() if row.startswith(name))
        told = f"{right:,} of {of:,}"
        if count == int(said[1]) and told not in readme:
            sys.exit(f"{name}: {told}; the README says something else")
    environment = dict(os.environ, MFU_FAULTS_RUNS=str(count))
    for test in ("mfu_faults", "mfu_property"):
        run(folder / "bin" / test, env=environment)


if __name__ == "__main__":
    main()
