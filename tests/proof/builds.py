"""What proofs build, and how they call it."""

import os
import pathlib
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Apart from the builds for people: a proof neither finds nor leaves anything in them.
BUILDS = ROOT / "build" / "proof"
JOBS = os.environ.get("MFU_JOBS") or str(os.cpu_count() or 1)


def run(*command, **options):
    """What it prints is seen; a failure ends the proof."""
    words = [str(word) for word in command]
    print("$ " + " ".join(map(shlex.quote, words)), flush=True)
    done = subprocess.run(words, cwd=ROOT, check=False, **options)
    if done.returncode != 0:
        if done.stdout:
            print(done.stdout)
        sys.exit(f"exit code {done.returncode}")
    return done.stdout


def build(name, targets, *options):
    """Configures build/proof/NAME with these options, builds the targets, and returns the folder."""
    folder = BUILDS / name
    run("cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DMFU_BUILD_BENCH=OFF", *options,
        stdout=subprocess.DEVNULL)
    run("cmake", "--build", folder, "--parallel", JOBS, "--target", *targets)
    return folder


def clang():
    for name in ("clang++-14", "clang++"):
        if shutil.which(name):
            return name
    return sys.exit("there is no clang++")


def build_with_clang(targets):
    """With sanitizers, and so that libFuzzer sees where an input leads; one build for all proofs."""
    return build("clang", targets, f"-DCMAKE_CXX_COMPILER={clang()}",
                 "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1",
                 "-DMFU_SANITIZE=ON", "-DMFU_WERROR=ON", "-DMFU_FUZZER=ON")
