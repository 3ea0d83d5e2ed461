"""What the tests of peaks share: how mfu peak is asked, and refusals."""

import json
import os
import subprocess
import tempfile
import unittest

from driven import MFU
from watched import HANG


def call(*arguments):
    return subprocess.run([MFU, "peak", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=HANG, check=False, encoding="utf-8")


def answer(*arguments):
    done = call("--json", *arguments)
    if done.returncode != 0:
        raise AssertionError(f"{arguments}: {done.stderr}")
    return json.loads(done.stdout)


def chip(*arguments):
    chips = answer(*arguments)["chips"]
    assert len(chips) == 1, arguments
    return chips[0]


def tera(*arguments):
    return chip(*arguments)["peak_flops"] / 1e12


class WithFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def refused(self, *arguments, about=""):
        done = call(*arguments)
        self.assertEqual(done.returncode, 2, (arguments, done.stdout))
        self.assertEqual(done.stdout, "")
        self.assertIn("hint:", done.stderr, arguments)
        self.assertIn(about, done.stderr, arguments)
        return done.stderr
