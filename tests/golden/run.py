#!/usr/bin/env python3
"""Golden screens: what `mfu diagnose` prints for every example, and other commands for the command
lines below, byte for byte.

    run.py            compare; a difference is shown and fails
    run.py --update   write the screens anew; look at the difference before it is committed
"""

import difflib
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = pathlib.Path(os.environ.get("MFU_SOURCE_DIR", HERE.parent.parent))
MFU = os.environ.get("MFU_BIN", "mfu")
SUFFIXES = (".json", ".jsonl", ".json.gz", ".jsonl.gz")
SKIPPED = 77

LLAMA = ["--model", "llama-3.1-8b", "--chip", "h100-sxm", "--gpus", "64", "--seq-len", "8192",
         "--batch", "512", "--step-time", "12.9s"]
# Screens that need no file: their names, and the command lines.
SCREENS = {
    "calc": ["calc", *LLAMA],
    "calc-recompute": ["calc", *LLAMA, "--recompute", "full"],
    "calc-ratio": ["calc", "--tflops", "140T", "--peak", "312T"],
    "calc-impossible": ["calc", *LLAMA[:-1], "1.9s"],
    "flops": ["flops", "--model", "mixtral-8x7b", "--seq-len", "4096", "--batch", "128"],
    "whatif": ["whatif", *LLAMA, "--reported", "26.43%"],
    "whatif-rebase": ["whatif", "--rebase", "104%", "--from-peak", "312T", "--to-chip", "h100-sxm"],
    "explain": ["explain", "palm", "mfu", "hfu"],
    "plan": ["plan", "--model", "llama-3.1-8b", "--tokens", "15T", "--gpus", "1024", "--chip",
             "h100-sxm", "--mfu", "30%", "--target-mfu", "55%", "--price", "$2.5/h", "--mtbf",
             "50000h/gpu", "--checkpoint-time", "60s", "--restart-time", "10m",
             "--tokens-per-step", "4194304", "--seq-len", "8192", "--schedule", "cosine"],
}


def name_of(path):
    for suffix in sorted(SUFFIXES, key=len, reverse=True):
        if path.name.endswith(suffix):
            return path.name[: -len(suffix)]
    return None


def examples():
    """Name and files of each example; a folder of files is one run."""
    found = {}
    folder = SOURCE / "examples"
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if path.is_file() and name_of(path):
            found[name_of(path)] = [path]
        elif path.is_dir():
            files = sorted(file for file in path.iterdir() if file.is_file() and name_of(file))
            if files:
                found[path.name] = files
    return found


def screen(name, arguments):
    result = subprocess.run([MFU, *arguments], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, timeout=600, check=False)
    if result.returncode != 0:
        raise SystemExit(f"{name}: exit {result.returncode}\n"
                         + result.stderr.decode(errors="replace"))
    return result.stdout


def check(name, arguments, update):
    golden = HERE / f"{name}.txt"
    shown = screen(name, arguments)
    wide = [line for line in shown.decode().splitlines() if len(line) > 80]
    if wide:
        print(f"{name}: over 80 columns: {wide[0]}")
        return False
    if update:
        if not golden.exists() or golden.read_bytes() != shown:
            golden.write_bytes(shown)
            print(f"{name}: written")
        return True
    if not golden.exists():
        print(f"{name}: no golden screen; run with --update")
        return False
    if golden.read_bytes() == shown:
        return True
    sys.stdout.writelines(difflib.unified_diff(
        golden.read_text().splitlines(keepends=True), shown.decode().splitlines(keepends=True),
        f"golden/{name}.txt", f"mfu {arguments[0]}"))
    return False


def main():
    update = "--update" in sys.argv[1:]
    found = {name: ["diagnose", *map(str, files)] for name, files in examples().items()}
    if not found:
        print("skipped: no examples")
        sys.exit(SKIPPED)
    found.update(SCREENS)
    good = [check(name, arguments, update) for name, arguments in found.items()]
    for golden in sorted(HERE.glob("*.txt")):
        if golden.stem not in found:
            if update:
                golden.unlink()
            print(f"{golden.stem}: a golden screen without an example")
            good.append(update)
    if not all(good):
        sys.exit(1)
    print(f"{len(found)} screens")


if __name__ == "__main__":
    main()
