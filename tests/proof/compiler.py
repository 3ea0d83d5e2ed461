#!/usr/bin/env python3
"""Another compiler, clang, takes all of the code without a warning, and the tests pass with it:
tests/proof/compiler.py TESTS, the tests of ctest whose names match."""

import sys

from builds import JOBS, build_with_clang, run


def main():
    tests = sys.argv[1]
    folder = build_with_clang(["mfu", f"mfu_{tests}"] if tests.isalpha() else ["all"])
    run("ctest", "--test-dir", folder, "--output-on-failure", "--no-tests=error", "--parallel", JOBS,
        "-R", tests)


if __name__ == "__main__":
    main()
