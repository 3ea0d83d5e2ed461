#!/usr/bin/env python3
"""Every fuzz target for a while, each input that libFuzzer finds new ways with: tests/proof/fuzz.py SECONDS

What was found stays in build/proof/inputs and is where the next run begins. An input that breaks
something is written beside it, and named. Without libFuzzer the stored inputs are mutated instead."""

import pathlib
import subprocess
import sys
import tempfile

from builds import BUILDS, ROOT, build, build_with_clang, clang, run

EMPTY = ("#include <cstddef>\n#include <cstdint>\n"
         'extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t*, std::size_t) { return 0; }\n')


def has_fuzzer():
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "empty.cpp"
        source.write_text(EMPTY)
        return subprocess.run([clang(), "-fsanitize=fuzzer", str(source), "-o", str(source) + ".bin"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              check=False).returncode == 0


def main():
    seconds = int(sys.argv[1])
    names = sorted(path.name[:-len("_target.cpp")]
                   for path in (ROOT / "tests" / "fuzz").glob("*_target.cpp"))
    # As tests/CMakeLists.txt calls them.
    targets = {name: "mfu_fuzz" if name == "read_run" else f"mfu_fuzz_{name}" for name in names}
    stored = {name: ROOT / "tests" / "fuzz" / ("." if name == "read_run" else name) / "corpus"
              for name in names}
    if not has_fuzzer():
        print(f"{clang()} has no libFuzzer: the stored inputs are mutated instead")
        folder = build("replay", targets.values(), "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
                       "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1", "-DMFU_SANITIZE=ON")
        for name in names:
            run(folder / "bin" / targets[name], stored[name], 1000 * seconds)
        return
    folder = build_with_clang(targets.values())
    for name in names:
        found = BUILDS / "inputs" / name
        broken = BUILDS / "broken" / name
        found.mkdir(parents=True, exist_ok=True)
        broken.mkdir(parents=True, exist_ok=True)
        run(folder / "bin" / targets[name], found, stored[name], f"-max_total_time={seconds}",
            "-timeout=60", "-rss_limit_mb=4096", "-max_len=65536", "-print_final_stats=1",
            f"-artifact_prefix={broken}/", "-verbosity=0")


if __name__ == "__main__":
    main()
