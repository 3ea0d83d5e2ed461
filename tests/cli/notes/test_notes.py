#!/usr/bin/env python3
"""Every kind of note: an input that raises it, and as grave as its row says."""

import json
import os
import pathlib
import re
import unittest

import of_comparisons  # noqa: F401  (each adds its inputs to the list)
import of_devices  # noqa: F401
import of_logs  # noqa: F401
import of_nsight  # noqa: F401
import of_runs  # noqa: F401
import of_timelines  # noqa: F401
import of_traces  # noqa: F401
from driven import Cli
from raising import INPUTS

SOURCE = pathlib.Path(os.environ.get("MFU_SOURCE_DIR", pathlib.Path(__file__).parents[3]))
# What no small input brings into an answer: the test that raises it, and why it is not here.
NSIGHT = "tests/unit/traces/nsight.cpp"
ELSEWHERE = {
    "no-steps": ("tests/unit/logs/detect.cpp", "a log without a step is refused: no answer"),
    "rank-twice": (NSIGHT, "an export that leaves ranks open is refused: no answer"),
    "rank-unknown": (NSIGHT, "the same"),
    "several-devices-in-process": (NSIGHT, "the same"),
    "trace-without-activity": ("tests/unit/traces/across.cpp", "no reader hands over such a trace"),
}


def kinds():
    """Text to severity, of the rows of the table."""
    text = (SOURCE / "src/base/note_code.cpp").read_text(encoding="utf-8")
    return dict(re.findall(r'NoteKind\{\s*\w+,\s*"([a-z0-9-]+)",\s*(\w+),', text))


def enumerators():
    text = (SOURCE / "src/base/note_code.hpp").read_text(encoding="utf-8")
    body = re.search(r"enum class NoteCode[^{]*\{(.*?)\n\};", text, re.DOTALL).group(1)
    return re.findall(r"^\s*(\w+),", body, re.MULTILINE)


class Notes(Cli):
    def notes(self, line, code):
        if isinstance(line, pathlib.Path):
            answer = json.loads(line.read_text(encoding="utf-8"))
        else:
            result = self.mfu(*line, "--json")
            self.assertEqual(result.returncode, code, result.stderr.decode())
            answer = json.loads(result.stdout)
        return {note["code"]: note["severity"] for note in answer["notes"]}

    def test_every_kind_has_an_input(self):
        rows = kinds()
        self.assertEqual([name.replace("_", "-") for name in enumerators()], list(rows))
        raised = {wanted.split("=")[0] for codes, _, _ in INPUTS for wanted in codes}
        self.assertEqual(sorted(rows), sorted(raised | set(ELSEWHERE)))
        self.assertEqual(raised & set(ELSEWHERE), set())

    def test_what_is_raised_elsewhere(self):
        for code, (test, reason) in ELSEWHERE.items():
            with self.subTest(code):
                self.assertIn(f'"{code}"', (SOURCE / test).read_text(encoding="utf-8"))
                self.assertTrue(reason)


def raising(wanted, make, code):
    def test(self):
        found = self.notes(make(self), code)
        rows = kinds()
        for name in wanted:
            name, _, severity = name.partition("=")
            with self.subTest(name):
                self.assertIn(name, found)
                self.assertEqual(found[name], severity or rows[name])
        # Codes of this version, all of them.
        self.assertEqual(set(found) - set(rows), set())

    return test


for inputs in INPUTS:
    area = inputs[1].__module__
    setattr(Notes, f"test_{area}_{inputs[1].__name__}", raising(*inputs))


if __name__ == "__main__":
    unittest.main()
