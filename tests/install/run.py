#!/usr/bin/env python3
"""Installs this build into a temporary place and builds an outside project against it.

Usage: run.py CMAKE BUILD_DIR COMPILER "FLAGS"
"""

import os
import pathlib
import subprocess
import sys
import tempfile

RUN = """{"schema":"mfu.run/1","steps":[1,2,3],"ranks":[
{"rank":0,"compute":[1,1,1],"comm":[0.1,0.1,0.1],"stall":[0,0,0]},
{"rank":1,"compute":[1,1,1],"comm":[0.1,0.1,0.1],"stall":[0,0,0]}]}
"""


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}\nexit code {done.returncode}")
    return done.stdout


def main():
    cmake, build_dir, compiler, flags = sys.argv[1:5]
    here = pathlib.Path(__file__).resolve().parent
    with tempfile.TemporaryDirectory(prefix="mfu-install-") as name:
        place = pathlib.Path(name)
        prefix = place / "prefix"
        run(cmake, "--install", build_dir, "--prefix", prefix)
        for wanted in ("bin/mfu", "include/mfu/mfu.hpp"):
            if not (prefix / wanted).exists():
                sys.exit(f"{wanted} was not installed")
        run(cmake, "-S", here, "-B", place / "build", "-G", "Ninja",
            f"-DCMAKE_CXX_COMPILER={compiler}", f"-DCMAKE_CXX_FLAGS={flags}",
            f"-DCMAKE_PREFIX_PATH={prefix}")
        run(cmake, "--build", place / "build")
        document = place / "run.json"
        document.write_text(RUN)
        said = run(place / "build" / "consumer", document)
        if "2 ranks, 3 steps" not in said:
            sys.exit(f"unexpected output: {said}")
        for config in prefix.rglob("*.cmake"):
            if os.fspath(build_dir) in config.read_text():
                sys.exit(f"{config.name} points into the build tree")
        print(said.strip())


if __name__ == "__main__":
    main()
