#!/usr/bin/env python3
"""Runs what the Markdown files show, so that documented output is real output.

  ```console blocks   each line `$ COMMAND` is run in the repository root, with the folder of mfu
                      first in PATH; what follows it must be what it prints (stdout and stderr)
  ```json blocks      documents: mfu must answer them
  ```sh blocks        not run; programs and files of the repository that they name must exist
  [text](path)        links to files of the repository must lead to one

  tests/readme.py            check; MFU_BIN names the built mfu
  tests/readme.py --update   write the real output into the blocks
"""

import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(os.environ.get("MFU_SOURCE_DIR", pathlib.Path(__file__).resolve().parent.parent))
FILES = ["README.md", "CONTRIBUTING.md", "examples/README.md", "examples/recorder/README.md",
         "docs/library.md"]
FENCE = re.compile(r"^```(console|json|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)#:\s]+)(?:#[^)]*)?\)")
# Programs that a reader has, or gets from somewhere else.
FOREIGN = {"git", "cd", "sudo", "apt-get", "cmake", "ctest", "ninja", "python3", "mpirun", "torchrun",
           "mfu", "cat", "zcat", "gzip", "export", "clang-format"}


def run(command, text=""):
    env = {key: value for key, value in os.environ.items()
           if not key.startswith("LC_") and key not in ("LANG", "COLUMNS", "NO_COLOR", "LANGUAGE")}
    env["PATH"] = str(pathlib.Path(os.environ["MFU_BIN"]).resolve().parent) + ":" + env["PATH"]
    env["LC_ALL"] = "C.UTF-8"
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, env=env, input=text.encode(),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = done.stdout.decode("utf-8", errors="replace")
    # A sanitizer's report is never meant to be documented.
    if "Sanitizer" in text or done.returncode in (70, 126, 127) or done.returncode < 0:
        sys.exit(f"$ {command}\n{text}\nexit code {done.returncode}")
    return text if not text or text.endswith("\n") else text + "\n"


def console(body):
    """The block with real output in place of the written one."""
    out, lines = [], body.splitlines(keepends=True)
    if lines and not lines[0].startswith("$ "):
        sys.exit(f"a console block must begin with a command: {lines[0]!r}")
    for line in lines:
        if line.startswith("$ "):
            out += [line, run(line[2:].strip())]
    return "".join(out)


def shell(body, problem):
    """Looks for the programs and files that a block for the reader names."""
    for line in body.replace("\\\n", " ").splitlines():
        line = line.partition(" #")[0].strip()
        if not line or line.startswith("#"):
            continue
        for command in re.split(r"&&|\|\||[|;]", line):
            words = shlex.split(command)
            while words and re.fullmatch(r"\w+=.*", words[0]):
                words.pop(0)
            if not words:
                continue
            program = words[0]
            if program not in FOREIGN and not os.access(ROOT / program, os.X_OK):
                problem(f"'{program}' is not a program of this repository")
            for word in words[1:]:
                inside = word.startswith(("cmake/", "examples/", "tests/", ".ci/"))
                if inside and "*" not in word and not (ROOT / word).exists():
                    problem(f"{word} does not exist")


def main():
    update = "--update" in sys.argv[1:]
    if not os.environ.get("MFU_BIN"):
        if update:
            sys.exit("set MFU_BIN to the built mfu")
        print("skipped: MFU_BIN is not set")
        sys.exit(77)
    problems = []
    blocks = 0
    for name in FILES:
        path = ROOT / name
        if not path.exists():
            continue
        text = path.read_text(encoding="utf-8")

        def replace(match):
            nonlocal blocks
            blocks += 1
            kind, body = match[1], match[2]
            line = text.count("\n", 0, match.start()) + 1
            if kind == "sh":
                shell(body, lambda wrong: problems.append(f"{name}:{line}: {wrong}"))
                return match[0]
            if kind == "json":
                said = run("mfu diagnose - || echo refused", body)
                if said.endswith("refused\n"):
                    problems.append(f"{name}:{line}: {said}")
                return match[0]
            real = console(body)
            if real != body and not update:
                diff = difflib.unified_diff(body.splitlines(), real.splitlines(), "written", "real",
                                            lineterm="")
                problems.append(f"{name}:{line}: not what mfu prints\n" + "\n".join(diff))
            return f"```{kind}\n{real}```"

        new = FENCE.sub(replace, text)
        if update and new != text:
            path.write_text(new, encoding="utf-8")
            print(f"{name}: updated")
        for link in LINK.findall(text):
            if not (path.parent / link).exists():
                problems.append(f"{name}: the link to {link} leads nowhere")
    for problem in problems:
        print(problem)
    if problems:
        sys.exit("run tests/readme.py --update if the new output is right")
    print(f"{blocks} blocks are as they say")


if __name__ == "__main__":
    main()
