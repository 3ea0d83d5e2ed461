#!/usr/bin/env python3
"""Golden screens: what `mfu diagnose` prints for every example, byte for byte.

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


def screen(files):
    result = subprocess.run([MFU, "diagnose", *map(str, files)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, timeout=120, check=False)
    if result.returncode != 0:
        raise SystemExit(f"{files[0].name}: exit {result.returncode}\n"
                         + result.stderr.decode(errors="replace"))
    return result.stdout


def check(name, files, update):
    golden = HERE / f"{name}.txt"
    shown = screen(files)
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
        f"golden/{name}.txt", f"mfu diagnose {files[0].name}"))
    return False


def main():
    update = "--update" in sys.argv[1:]
    found = examples()
    if not found:
        print("skipped: no examples")
        sys.exit(SKIPPED)
    good = [check(name, files, update) for name, files in found.items()]
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
