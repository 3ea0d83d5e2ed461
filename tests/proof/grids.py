#!/usr/bin/env python3
"""The tests of the command line that `test` runs over a part of their grid: all of it.

tests/proof/grids.py RUNS: how often, one after the other."""

import os
import pathlib
import sys

from builds import ROOT, build, run

TESTS = ("measure/test_calc.py", "compare/test_history.py")


def main():
    folder = build("release", ["mfu"], "-DCMAKE_BUILD_TYPE=Release")
    environment = dict(os.environ, MFU_FULL="1", MFU_BIN=str(folder / "bin" / "mfu"),
                       MFU_SOURCE_DIR=str(ROOT), PYTHONPATH=str(ROOT / "tests" / "cli"))
    for _ in range(int(sys.argv[1])):
        for test in TESTS:
            run(sys.executable, pathlib.Path("tests", "cli", test), env=environment)


if __name__ == "__main__":
    main()
