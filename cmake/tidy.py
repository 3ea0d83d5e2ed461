#!/usr/bin/env python3
"""Runs clang-tidy, with the checks of .clang-tidy, over src and apps.

  cmake/tidy.py BUILD_DIR [FOLDER-OR-FILE...]

BUILD_DIR is a configured build: its compile_commands.json says how a room is compiled. Files of a room
are looked at together, as they are compiled, so that headers are read once for many of them. A file that
was clean is not looked at again until it, a header that it includes, the flags, .clang-tidy or the tool
change: what was clean is kept by content in XDG_CACHE_HOME/mfu-tidy, for all checkouts and any number
of runs at once. MFU_JOBS: runs at once. Exit code 77: skipped, and why.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Versions differ in what they find; one is enforced, so that the answer is the same everywhere.
VERSION = 14
# More files at once save little, and keep the other processors waiting at the end.
BATCH = 16
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
KEPT_DAYS = 90


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def tool():
    for name in (f"clang-tidy-{VERSION}", "clang-tidy"):
        path = shutil.which(name)
        if path:
            said = subprocess.run([path, "--version"], stdout=subprocess.PIPE, text=True).stdout
            if f"version {VERSION}." in said:
                return path, said
    return skip(f"clang-tidy {VERSION} is not installed")


def flags_of(command):
    """Of a compile command, without the compiler, the file and the output."""
    words = shlex.split(command)
    kept, left = [], iter(words[next(i for i, word in enumerate(words) if word.startswith("-")):])
    for word in left:
        if word in ("-o", "-c", "-include"):  # what is included is another compiler's precompiled header
            next(left)
        elif word != "-Winvalid-pch":
            kept.append(word)
    return tuple(kept)


class Flags:
    """How each file is compiled: by its own command, or as one of many of its target."""

    def __init__(self, build):
        try:
            commands = json.loads((build / "compile_commands.json").read_text())
        except FileNotFoundError:
            skip(f"{build} has no compile_commands.json; configure it first")
        self.files, self.targets = {}, {}
        for entry in commands:
            found = re.search(r"CMakeFiles/(mfu\w*)\.dir/", entry["command"])
            if found:
                flags = flags_of(entry["command"])
                self.files[entry["file"]] = flags
                if "/Unity/" in entry["file"]:
                    self.targets[found[1]] = flags

    def __call__(self, file):
        own = self.files.get(str(ROOT / file))
        target = "mfu" if file.parts[0] == "apps" else f"mfu_{file.parts[1]}"
        return own or self.targets[target]


class Contents:
    """What a file is made of: a hash of it and of all that it includes."""

    def __init__(self):
        self.own = {}
        self.reached = {}

    def read(self, path):
        if path not in self.own:
            data = path.read_bytes()
            ours = path.is_relative_to(ROOT)
            names = INCLUDE.findall(data.decode("utf-8", errors="replace")) if ours else []
            self.own[path] = (hashlib.sha256(data).digest(), names)
        return self.own[path]

    @staticmethod
    def find(name, quoted, beside):
        folders = [ROOT / "include", ROOT / "src", ROOT / "apps" / "mfu", pathlib.Path("/usr/include"),
                   pathlib.Path("/usr/local/include")]
        for folder in ([beside] if quoted else []) + folders:
            path = folder / name
            if path.is_file():
                return pathlib.Path(os.path.normpath(path))
        return None  # the compiler's own, which comes with the tool's version

    def reach(self, path):
        if path not in self.reached:
            seen, left = set(), [path]
            while left:
                file = left.pop()
                if file in seen:
                    continue
                seen.add(file)
                for quote, name in self.read(file)[1]:
                    found = self.find(name, quote == '"', file.parent)
                    if found is not None:
                        left.append(found)
            self.reached[path] = seen
        return self.reached[path]

    def key(self, path, more):
        whole = hashlib.sha256(more.encode())
        for file in sorted(self.reach(path)):
            name = os.path.relpath(file, ROOT) if file.is_relative_to(ROOT) else str(file)
            whole.update(name.encode() + b"\0" + self.read(file)[0])
        return whole.hexdigest()


def cache_folder(build):
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    for folder in (pathlib.Path(base) / "mfu-tidy", build / "tidy"):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK):
                return folder
        except OSError:
            pass
    return None


def is_clean(cache, key):
    if cache is None or not (cache / key).exists():
        return False
    try:
        os.utime(cache / key)  # still of use
    except OSError:
        pass
    return True


def keep_clean(cache, keys):
    for key in keys if cache is not None else []:
        (cache / key).touch()


def forget_old(cache):
    if cache is None:
        return
    oldest = time.time() - KEPT_DAYS * 86400
    for entry in os.scandir(cache):
        try:
            if entry.stat().st_mtime < oldest:
                os.unlink(entry.path)
        except OSError:
            pass  # another run was faster


def look_at(tidy, files, flags, folder):
    """What clang-tidy says about these files of one room; empty when it finds nothing."""
    unit = pathlib.Path(tempfile.mkstemp(suffix=".cpp", prefix="files-", dir=folder)[1])
    unit.write_text("".join(f'#include "{ROOT / file}"\n' for file in files))
    done = subprocess.run(
        [tidy, "--quiet", f"--config-file={ROOT / '.clang-tidy'}", str(unit), "--", *flags,
         "-Wno-unknown-warning-option"],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode == 0:
        return ""
    noise = re.compile(r"^(\d+ warnings?.* generated|Suppressed |Use -header-filter|\s*$)|"
                       rf"^In file included from {re.escape(str(unit))}")
    said = "\n".join(line for line in done.stdout.splitlines() if not noise.match(line))
    return said.replace(f"{ROOT}/", "") or f"clang-tidy ended with {done.returncode}"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    tidy, version = tool()
    flags = Flags(build)
    asked = [pathlib.Path(os.path.relpath(name, ROOT)) for name in sys.argv[2:]]
    files = sorted(path.relative_to(ROOT) for folder in ("src", "apps")
                   for path in (ROOT / folder).rglob("*.cpp"))
    files = [file for file in files
             if not asked or any(file == one or one in file.parents for one in asked)]
    cache = cache_folder(build)
    settings = (ROOT / ".clang-tidy").read_text() + version + pathlib.Path(__file__).read_text()
    contents = Contents()
    batches, keys = {}, {}
    for file in files:
        how = flags(file)
        key = contents.key(ROOT / file, settings + " ".join(how).replace(str(ROOT), ""))
        if not is_clean(cache, key):
            keys[file] = key
            batches.setdefault((file.parts[:2], how), []).append(file)
    work = []
    for (_, how), todo in batches.items():
        count = -(-len(todo) // BATCH)
        work += [(how, todo[part::count]) for part in range(count)]
    work.sort(key=lambda one: -sum((ROOT / file).stat().st_size for file in one[1]))
    found = False
    jobs = int(os.environ.get("MFU_JOBS") or os.cpu_count() or 1)
    with tempfile.TemporaryDirectory(prefix="mfu-tidy-") as folder, \
            concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        runs = {pool.submit(look_at, tidy, todo, how, folder): todo for how, todo in work}
        for run in concurrent.futures.as_completed(runs):
            if run.result():
                found = True
                print(run.result(), flush=True)
            else:
                keep_clean(cache, [keys[file] for file in runs[run]])
    forget_old(cache)
    if found:
        sys.exit("clang-tidy found something above")
    print(f"clang-tidy: {len(files)} files clean ({len(keys)} looked at now)")


if __name__ == "__main__":
    main()
