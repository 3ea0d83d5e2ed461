#!/usr/bin/env python3
"""Rules for every file of the repository that a compiler does not check.

  tests/style.py            what a reader of text can see
  tests/style.py --format   and that clang-format would leave the files as they are
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(os.environ.get("MFU_SOURCE_DIR", pathlib.Path(__file__).resolve().parent.parent))

CPP = {".cpp", ".hpp"}
# Text whose lines we write ourselves. Stored inputs and expected outputs keep their bytes.
TEXT = CPP | {".py", ".sh", ".cmake", ".md", ".txt", ".yml", ".in"}
MAX_LINES = 500
EXCUSE = "Over 500 lines because"
# Versions lay code out differently; one is enforced, so that the answer is the same everywhere.
CLANG_FORMAT = 14
FORBIDDEN_NAMES = {"utils", "util", "common", "helpers", "helper", "misc"}
USING = re.compile(r"^\s*using [\w:]*::(\w+);", re.MULTILINE)
# A path of the machine that a file was written on. Tests may use /tmp.
MACHINE_PATH = re.compile(r"(?<![\w./-])/(?:work|home|root|Users)(?:/|\b)(?!s\b)")
TMP_PATH = re.compile(r"(?<![\w.}-])/tmp/")
# Words of the place where this is made say nothing to a reader.
WORKPLACE = re.compile("|".join(["issues " + "show", r"\bsub" + "agent", r"this " + "session",
                                 r"\bthe " + "workplace"]), re.IGNORECASE)


def files():
    """Files that git tracks or would track; without git, all but build folders."""
    try:
        listed = subprocess.run(
            ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
        names = [name for name in listed.decode().split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*")
                 if not {"build", ".git", "__pycache__"} & set(path.relative_to(ROOT).parts)]
    for name in sorted(set(names)):
        path = ROOT / name
        if path.is_file() and not path.is_symlink():
            yield pathlib.PurePosixPath(name), path


def check_file(name, path, problems):
    def problem(text, line=0):
        problems.append(f"{name}:{line}: {text}" if line else f"{name}: {text}")

    for part in (*name.parts[:-1], name.name.split(".")[0]):
        if part.lower() in FORBIDDEN_NAMES:
            problem(f"'{part}' says nothing: name the file after the idea in it")

    data = path.read_bytes()
    if b"\0" in data[:4096] or name.suffix == ".gz":
        return
    text = data.decode("utf-8", errors="replace")
    stored = "data" in name.parts or "corpus" in name.parts or "golden" in name.parts
    own = (name.suffix in TEXT or name.name.startswith(".") or name.suffix == "" or
           len(name.parts) == 1) and not (stored and name.suffix not in CPP | {".py"})

    lines = text.split("\n")
    if name.suffix in CPP | {".py", ".sh", ".cmake"} and len(lines) - 1 > MAX_LINES:
        if not any(EXCUSE in line for line in lines[:10]):
            problem(f"{len(lines) - 1} lines: split it, or say '{EXCUSE}' on top")
    if own:
        if text and not text.endswith("\n"):
            problem("no newline at the end")
        for number, line in enumerate(lines, 1):
            if "\t" in line:
                problem("tab", number)
            if "\r" in line:
                problem("carriage return", number)
            elif line != line.rstrip():
                problem("blanks at the end of the line", number)
    in_tests = name.parts[0] in ("tests", "bench")
    for number, line in enumerate(lines, 1):
        if str(name) != "tests/style.py":
            if MACHINE_PATH.search(line) and not stored:
                problem("a path of one machine", number)
            if TMP_PATH.search(line) and not in_tests:
                problem("a fixed path in /tmp", number)
            if WORKPLACE.search(line):
                problem("speaks of the place where it was written", number)

    if name.suffix == ".cpp":
        for found in USING.finditer(text):
            if len(re.findall(rf"\b{found[1]}\b", text)) == 1:
                problem(f"nothing uses what 'using' names: {found[1]}",
                        text.count("\n", 0, found.start(1)) + 1)

    if name.parts[:2] == ("include", "mfu"):
        if not text.startswith("//"):
            problem("a public header begins with a comment: what it is for, units, errors")
        if "#pragma once" not in text:
            problem("no #pragma once")


def clang_format():
    for name in (f"clang-format-{CLANG_FORMAT}", "clang-format"):
        tool = shutil.which(name)
        if tool:
            said = subprocess.run([tool, "--version"], stdout=subprocess.PIPE, text=True).stdout
            if f"version {CLANG_FORMAT}." in said:
                return tool
    return None


def check_format(problems):
    tool = clang_format()
    if tool is None:
        print(f"skipped: clang-format {CLANG_FORMAT} is not installed; the other rules were checked")
        return
    sources = [str(path) for name, path in files() if name.suffix in CPP]
    for start in range(0, len(sources), 50):
        done = subprocess.run([tool, "--dry-run", "-Werror", "--style=file", *sources[start:start + 50]],
                              cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            seen = re.findall(r"^(.*?):(\d+):\d+: error:", done.stdout, re.MULTILINE)
            for file in sorted({file for file, _ in seen}):
                count = sum(1 for other, _ in seen if other == file)
                problems.append(f"{os.path.relpath(file, ROOT)}: clang-format would change it "
                                f"({count} places)")
            if not seen:
                problems.append(done.stdout.strip())


def main():
    problems = []
    count = 0
    for name, path in files():
        count += 1
        check_file(name, path, problems)
    if "--format" in sys.argv[1:]:
        check_format(problems)
    for problem in problems:
        print(problem)
    if problems:
        sys.exit(f"{len(problems)} problems in {count} files")
    print(f"{count} files follow the rules")


if __name__ == "__main__":
    main()
