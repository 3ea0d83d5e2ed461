#!/usr/bin/env python3
"""Small mistakes in src/diagnose (mutations.txt), each made alone in a copy of the tree: do the unit and
property tests notice? tests/proof/mutations.py SHARE

SHARE: of the list, evenly spread. At least nine in ten must be noticed."""

import pathlib
import re
import shutil
import subprocess
import sys

from builds import BUILDS, JOBS, ROOT, run

LIST = pathlib.Path(__file__).with_name("mutations.txt")
TESTS = ("mfu_unit", "mfu_property")
COPIED = ("CMakeLists.txt", "cmake", "include", "src", "apps", "tests", "examples", "LICENSE",
          "README.md", "CHANGELOG.md")


def mutations():
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            fields = [field.strip().replace("\\|", "|") for field in re.split(r"(?<!\\)\|(?!\|)", line)]
            yield fields


def copied(name):
    """Outdated files would be compiled: the copy is made anew, with the times of the originals."""
    target = BUILDS / "mutations" / name
    source = ROOT / name
    if source.is_dir():
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target)
    elif source.exists():
        shutil.copy2(source, target)


def noticed_by(folder, build):
    """The first test program that fails, "compiler", or None."""
    made = subprocess.run(["cmake", "--build", build, "--parallel", JOBS, "--target", *TESTS],
                          capture_output=True, text=True, check=False)
    if made.returncode != 0:
        return "compiler"
    for test in TESTS:
        try:
            done = subprocess.run([build / "bin" / test, "--abort"], cwd=folder, capture_output=True,
                                  timeout=600, check=False)
        except subprocess.TimeoutExpired:
            return test + " (does not end)"
        if done.returncode != 0:
            return test
    return None


def main():
    chosen = list(mutations())
    chosen = chosen[::max(1, round(1 / float(sys.argv[1])))]
    folder = BUILDS / "mutations"
    folder.mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        copied(name)
    build = folder / "build"
    run("cmake", "-S", folder, "-B", build, "-G", "Ninja", "-DMFU_BUILD_BENCH=OFF",
        "-DMFU_BUILD_TESTS=ON", "-DCMAKE_BUILD_TYPE=Release", stdout=subprocess.DEVNULL)
    if (by := noticed_by(folder, build)) is not None:
        sys.exit(f"{by} fails without any mistake")
    noticed = 0
    for file, old, new, kind in chosen:
        path = folder / "src" / "diagnose" / file
        text = path.read_text(encoding="utf-8")
        if text.count(old) != 1:
            sys.exit(f"{LIST.name}: {file} has {text.count(old)} times: {old}")
        path.write_text(text.replace(old, new), encoding="utf-8")
        by = noticed_by(folder, build)
        path.write_text(text, encoding="utf-8")
        noticed += by is not None
        print(f"{by or 'NOT NOTICED':14}  {kind:9}  {file}: {old}", flush=True)
    print(f"noticed {noticed} of {len(chosen)}")
    if noticed < 0.9 * len(chosen):
        sys.exit(1)


if __name__ == "__main__":
    main()
