#!/usr/bin/env python3
"""Models whose config.json is long (quantised checkpoints list the names of their modules in it),
through the real binary (MFU_BIN): the answers and the places of errors are those of the short one."""

import gzip
import json
import sys
import unittest

from driven import Cli, run_document
from train_log import megatron_log

KIB = 1024
# A file is read in pieces of 128 KiB. All sizes and errors are in tests/unit/model/text.cpp.
LONG = 129 * KIB
LONGER = 1024 * KIB
LARGEST = 10_000_000
MOST = 16 * KIB * KIB

KEYS = """"model_type": "llama",
"num_hidden_layers": 32,
"hidden_size": 4096,
"num_attention_heads": 32,
"num_key_value_heads": 8,
"vocab_size": 128256,
"intermediate_size": 14336"""
NAME = '"model.layers.31.block_sparse_moe.experts.255.w1",\n'


def config(size=0, before=True, keys=KEYS):
    """As text: of `size` bytes with the usual keys, and the long list before or behind them."""
    if not size:
        return "{" + keys + "}"
    start, end = '"quantization_config":{"modules_to_not_convert":[\n', '""]}'
    room = size - len(KEYS) - 3 - len(start) - len(end)
    count, rest = divmod(room, len(NAME))
    filling = start + NAME * count + " " * rest + end
    return "{" + (filling + "," + keys if before else keys + "," + filling) + "}"


def place(text, at):
    line = text.count("\n", 0, at) + 1
    return f":{line}:{at - text.rfind(chr(10), 0, at)}"


def without_bytes(answer):
    """The answer but for the sizes of the files that were read."""
    if isinstance(answer, dict):
        return {key: without_bytes(value) for key, value in answer.items() if key != "bytes"}
    return [without_bytes(value) for value in answer] if isinstance(answer, list) else answer


class LongModels(Cli):
    def setUp(self):
        super().setUp()
        self.path = str(self.folder / "config.json")
        job = ["--gpus", "64", "--seq-len", "8192", "--batch", "512"]
        measured = [*job, "--chip", "h100-sxm", "--step-time", "12.9s"]
        model = ["--model", self.path]
        document = run_document(chip="h100-sxm")
        document["workload"] = {"seq_len": 8192, "global_batch": 8}
        log = self.write("train.log", megatron_log())
        named = self.write("named.json", {**document, "model": "config.json"})
        plain = self.write("plain.json", {**document, "model": "toy"})
        self.document = document
        self.commands = {
            "calc": ["calc", *model, *measured],
            "flops": ["flops", *model, *job[2:]],
            "whatif": ["whatif", *model, *measured],
            "plan": ["plan", *model, "--tokens", "15T", "--gpus", "1024", "--chip", "h100-sxm",
                     "--mfu", "38%"],
            "log": ["log", log, *model, "--chip", "h100-sxm"],
            "diagnose": ["diagnose", plain, *model],
            "named": ["diagnose", named],
        }

    def answer(self, *arguments):
        result = self.mfu(*arguments, "--json")
        self.assertEqual(result.returncode, 0, result.stderr.decode(errors="replace"))
        return without_bytes(json.loads(result.stdout))

    def answers(self, text, *only):
        self.write("config.json", text)
        return {name: self.answer(*self.commands[name]) for name in only or self.commands}

    def test_the_answer_is_that_of_the_short_one(self):
        wanted = self.answers(config())
        self.assertEqual(wanted["calc"]["setup"]["params"], 8030261248)
        self.assertGreater(wanted["named"]["headline"]["mfu"], 0)
        for size, before, only in ((LONG, True, ()), (LONG, False, ("calc",)),
                                   (LONGER, True, ("named",)), (LARGEST, True, ("calc",))):
            text = config(size, before)
            self.assertEqual(len(text), size)
            for name, answer in self.answers(text, *only).items():
                with self.subTest(command=name, size=size, before=before):
                    self.assertEqual(answer, wanted[name])

    def test_in_a_run_document(self):
        def diagnosed(text):
            document = json.dumps({**self.document, "model": "HERE"}).replace('"HERE"', text)
            return self.answer("diagnose", self.write("run.json", document))

        def diagnosed_lines(text):
            header = {key: value for key, value in self.document.items()
                      if key not in ("ranks", "steps")}
            header = json.dumps({**header, "model": "HERE"})
            lines = [header.replace('"HERE"', text.replace("\n", " "))]
            lines += [json.dumps({"rank": rank["rank"], "step": step, "compute": rank["compute"][step],
                                  "comm": rank["comm"][step], "stall": rank["stall"][step]})
                      for rank in self.document["ranks"] for step in range(len(rank["compute"]))]
            return self.answer("diagnose", self.write("run.jsonl", "\n".join(lines)))

        for ask, size in ((diagnosed, LARGEST), (diagnosed_lines, LONG)):
            with self.subTest(ask=ask.__name__, size=size):
                wanted = ask(config())
                self.assertGreater(wanted["headline"]["mfu"], 0)
                self.assertEqual(ask(config(size)), wanted)

    def test_compressed_and_from_a_pipe(self):
        wanted = self.answers(config(), "calc")["calc"]
        text = config(LONGER).encode()
        command = ["calc", "--model", "-", *self.commands["calc"][3:], "--json"]
        for given in (text, gzip.compress(text)):
            result = self.mfu(*command, stdin=given)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(json.loads(result.stdout)["headline"], wanted["headline"])

    def refused(self, text, at, *texts, only=("calc",)):
        self.write("config.json", text)
        for name in only:
            with self.subTest(command=name, size=len(text)):
                self.assert_refused(self.mfu(*self.commands[name]), self.path + place(text, at), *texts)

    def test_errors_have_their_place(self):
        every = tuple(name for name in self.commands if name != "named")
        broken = (
            ('"hidden_size": 4096', '"hidden_size" 4096', "4096", ("expected ':', found a number",)),
            ('"hidden_size": 4096', '"hidden_size": "4096"', '"4096"',
             ("(hidden_size)", "found a string", "without quotes")),
            ('"hidden_size": 4096', '"hidden_size": 4096, "hidden_size": 4096', "4096,\n",
             ("'hidden_size' is given twice", "remove one")),
        )
        for size, (good, bad, wrong, texts), only in (
                (LONG, broken[0], every), (LONG, broken[1], ("calc",)), (LONGER, broken[2], ("plan",)),
                (LARGEST, broken[1], ("flops",))):
            text = config(size, keys=KEYS.replace(good, bad))
            at = text.index(wrong, text.index('"num_hidden_layers"'))
            self.refused(text, at, *texts, only=only)

    def test_cut_off_and_no_object(self):
        text = config(LONG)
        self.refused(text[:-9], LONG - 9, "the input ends inside a string", "not complete")
        self.refused(text + "]", LONG, "text after the end of the document")
        self.refused("[" + text + "]", 0, "expected a model's object, found an array", "config.json")

    def test_a_run_document_says_why_its_model_is_not_counted(self):
        self.write("config.json", config(LONG, keys=KEYS.replace("4096", '"4096"')))
        answer = self.answer(*self.commands["named"])
        notes = {note["code"]: note["text"] for note in answer["notes"]}
        self.assertIn("expected a whole number above 0, found a string", notes["work-not-counted"])

    def test_too_long(self):
        self.write("config.json", config(MOST + 1))
        texts = (self.path, "too large for a model's shape", "16 MiB at most")
        self.assert_refused(self.mfu(*self.commands["calc"]), *texts)
        # What has no end is not read to it.
        command = ["calc", "--model", "/dev/zero", *self.commands["calc"][3:]]
        self.assert_refused(self.mfu(*command), "/dev/zero", *texts[1:])
        document = json.dumps({**self.document, "model": "HERE"}).replace('"HERE"', config(MOST + 1))
        self.assert_refused(self.mfu("diagnose", self.write("run.json", document)), "run.json:",
                            "a value of more than 16777216 bytes", "may be left out")


if __name__ == "__main__":
    sys.exit(unittest.main())
