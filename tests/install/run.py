#!/usr/bin/env python3
"""Installs this build into a temporary place, and builds and runs two outside projects against it:
main.cpp, and the program that docs/library.md shows.

Usage: run.py CMAKE BUILD_DIR COMPILER "FLAGS"
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
EXAMPLE = ROOT / "examples" / "straggler-steady.json"
DOCUMENT = ROOT / "docs" / "library.md"


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}\n"
                 f"exit code {done.returncode}")
    return done.stdout


def wanted(condition, what, said=""):
    if not condition:
        sys.exit(f"{what}\n{said}")


def documents(place):
    """A run with a slow node that does not state its work, and the same with that node mended."""
    before = json.loads(EXAMPLE.read_text())
    del before["workload"]["flops_per_step"], before["convention"]
    after = json.loads(json.dumps(before))
    slow = max(after["ranks"], key=lambda rank: sum(rank["compute"]))["node"]
    well = [rank["compute"] for rank in after["ranks"] if rank["node"] != slow]
    for rank in after["ranks"]:
        if rank["node"] == slow:
            rank["compute"] = well.pop()
    for s in range(len(after["steps"])):
        saved = max(r["compute"][s] for r in before["ranks"]) - max(
            r["compute"][s] for r in after["ranks"])
        for old, rank in zip(before["ranks"], after["ranks"]):
            step = sum(old[key][s] for key in ("compute", "comm", "stall", "wait")) - saved
            rest = sum(rank[key][s] for key in ("compute", "comm", "stall"))
            rank["wait"][s] = max(0.0, step - rest)
    files = []
    for name, document in (("before.json", before), ("after.json", after)):
        files.append(place / name)
        files[-1].write_text(json.dumps(document))
    return files, slow


def parts_of(said):
    """What main.cpp printed, by the name of the part."""
    pieces = re.split(r"^== (.*)\n", said, flags=re.MULTILINE)
    wanted(pieces[0] == "", "output before the first part", said)
    return dict(zip(pieces[1::2], pieces[2::2]))


def fields(text):
    return dict(line.partition(" ")[::2] for line in text.splitlines())


def check_consumer(said, mfu, before, after, slow):
    parts = parts_of(said)
    wanted(run(mfu, "--version").split()[-1] == parts["version"].strip(), "another version", said)

    verdict = fields(parts["verdict"])
    wanted((verdict["family"], verdict["locality"], verdict["persistence"], verdict["node"]) ==
           ("straggler", "node", "steady", slow), "another verdict", parts["verdict"])
    wanted(0.0 < float(verdict["confidence"]) <= 1.0 and 0.0 < float(verdict["mfu"]) < 1.0 and
           float(verdict["step_if_fixed"]) > 0.0, "odd figures", parts["verdict"])
    wanted(verdict["product_over_mfu"] == verdict["sum_over_step"] == "1.000000",
           "factors do not multiply to the MFU, or parts do not sum to the step", parts["verdict"])

    # The words are the program's own.
    wanted(parts["diagnose"] == run(mfu, "diagnose", before), "not what mfu diagnose prints",
           parts["diagnose"])
    wanted(json.loads(parts["diagnose json"]) == json.loads(run(mfu, "diagnose", "--json", before)),
           "not what mfu diagnose --json prints", parts["diagnose json"])

    calc, _, words = parts["calc"].partition("\n")
    wanted(calc == "mfu 0.314" and "MFU 31.4 %" in words, "another MFU", parts["calc"])

    lines = parts["compare"].splitlines()
    wanted(lines[:2] == ["outcome better", "moved balance"], "the mended run is not better",
           parts["compare"])
    # All but what the two are called, which stands on top.
    wanted(parts["compare"].partition("\n\n")[2] ==
           run(mfu, "compare", before, after).partition("\n\n")[2],
           "not what mfu compare prints", parts["compare"])

    # F T = U P G W: 61.07 GFLOP a token, 1024 GPUs of 989.4 TFLOP/s at 40 %.
    plan, _, words = parts["plan"].partition("\n")
    hours = 61.07e9 * 1e12 / (0.4 * 989.4e12 * 1024) / 3600
    wanted(abs(float(plan.split()[1]) - hours / 24) < 0.01 and f"{hours:.1f} hours" in words,
           "another time", parts["plan"])

    answers = parts["no answer"].splitlines()
    wanted(len(answers) == 3 and answers[0].startswith("kind ") and
           int(answers[1].split()[1]) > 1 and answers[2] == "kind usage",
           "what has no answer got one", parts["no answer"])
    wanted("there-is-no-such-file.json" in parts["error"], "no place in the error", parts["error"])


def check_documented(said, mfu, before, slow):
    wanted(f"slow: {slow}\n" in said and "after: better, by " in said, "another answer", said)
    verdict = [line for line in run(mfu, "diagnose", before).splitlines() if "VERDICT" in line]
    wanted(verdict and verdict[0] in said, "not the verdict of mfu diagnose", said)
    found = re.search(r"^\{.*", said, re.MULTILINE | re.DOTALL)
    wanted(found and json.loads(found[0])["command"] == "compare", "no JSON of a comparison", said)


def main():
    cmake, build_dir, compiler, flags = sys.argv[1:5]
    shown = re.findall(r"^```cpp\n(.*?)^```$", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)
    wanted(len(shown) == 1, f"{DOCUMENT.name} shows {len(shown)} programs")
    with tempfile.TemporaryDirectory(prefix="mfu-install-") as name:
        place = pathlib.Path(name)
        prefix = place / "prefix"
        run(cmake, "--install", build_dir, "--prefix", prefix)
        mfu = prefix / "bin" / "mfu"
        for file in (mfu, prefix / "include" / "mfu" / "mfu.hpp"):
            wanted(file.exists(), f"{file.relative_to(prefix)} was not installed")
        documented = place / "documented.cpp"
        documented.write_text(shown[0])
        run(cmake, "-S", HERE, "-B", place / "build", "-G", "Ninja",
            f"-DCMAKE_CXX_COMPILER={compiler}", f"-DCMAKE_CXX_FLAGS={flags}",
            f"-DCMAKE_PREFIX_PATH={prefix}", f"-DDOCUMENTED={documented}")
        run(cmake, "--build", place / "build")
        (before, after), slow = documents(place)
        check_consumer(run(place / "build" / "consumer", before, after), mfu, before, after, slow)
        check_documented(run(place / "build" / "documented", before, after), mfu, before, slow)
        for config in prefix.rglob("*.cmake"):
            if os.fspath(build_dir) in config.read_text():
                sys.exit(f"{config.name} points into the build tree")
    print("the installed library does what the program does, and so does the documented program")


if __name__ == "__main__":
    main()
