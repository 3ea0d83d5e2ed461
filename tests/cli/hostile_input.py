"""Input that must be refused, and names that must not do harm."""

import gzip
import json
import os
import subprocess

from driven import MFU, Cli, run_document


class Hostile(Cli):
    """Each is refused with its place, exit 2, and nothing on standard output."""

    def check(self, content, *texts, name="bad.json"):
        path = self.write(name, content)
        result = self.mfu("diagnose", path)
        self.assert_refused(result, name, *texts)
        self.assertEqual(result.stdout, b"")
        self.assertLess(len(result.stderr), 4000)
        answer = json.loads(self.mfu("diagnose", path, "--json").stdout)
        self.assertEqual(sorted(answer["error"]), ["hint", "kind", "message", "place"])
        self.assertIn(name, answer["error"]["place"])
        self.assertNotIn("verdict", answer)

    def changed(self, change):
        document = run_document()
        change(document)
        return document

    def test_not_json(self):
        self.check("step 1: 12.9 s\n")
        self.check("")
        self.check(b"\x00\x01\x02\xff")
        self.check("[1,2,3]")

    def test_cut_off(self):
        self.check(json.dumps(run_document())[:-40])

    def test_cut_off_gzip(self):
        self.check(gzip.compress(json.dumps(run_document()).encode())[:-20])

    def test_schema(self):
        self.check(self.changed(lambda d: d.update(schema="mfu.run/2")), "mfu.run/2")
        self.check(self.changed(lambda d: d.update(schema="other/1")))
        self.check(self.changed(lambda d: d.pop("schema")), "schema")

    def test_ranks(self):
        self.check(self.changed(lambda d: d.pop("ranks")), "ranks")
        self.check(self.changed(lambda d: d.update(ranks=[])), "rank")
        self.check(self.changed(lambda d: d["ranks"].append(d["ranks"][3])), "rank 3")

    def test_series(self):
        def unequal(document):
            document["ranks"][2]["compute"].pop()

        def unknown(document):
            document["ranks"][2]["computee"] = document["ranks"][2].pop("compute")

        self.check(self.changed(unequal), "rank 2")
        self.check(self.changed(unknown), "computee", "compute")

    def test_numbers(self):
        for value in (-0.5, "0.5", 1e300, True, {}, []):
            def put(document, value=value):
                document["ranks"][3]["compute"][7] = value
            self.check(self.changed(put), "rank 3", "compute", "7")
        text = json.dumps(self.changed(lambda d: d["ranks"][3]["compute"].__setitem__(7, "@")))
        for token in ("NaN", "Infinity", "1e999", "-1", "0x10", "1.2.3"):
            self.check(text.replace('"@"', token), "bad.json:1:")

    def test_unknown_chip(self):
        def chip(document):
            document["hardware"] = {"chip": "h100-smx"}
        path = self.write("bad.json", self.changed(chip))
        self.assert_refused(self.mfu("diagnose", path), "h100-smx", "h100-sxm5-80gb")

    def test_deep_nesting(self):
        self.check("[" * 10_000_000)
        self.check('{"schema":"mfu.run/1","job":' + '{"a":' * 3_000_000)

    def test_directory_and_missing_file(self):
        self.assert_refused(self.mfu("diagnose", str(self.folder)), str(self.folder),
                            "the folder holds no trace")
        self.assert_refused(self.mfu("diagnose", "no-such-file.json"), "no-such-file.json")

    def test_unreadable_file(self):
        path = self.write("secret.json", run_document())
        os.chmod(self.folder, 0o755)
        os.chmod(path, 0)
        options = {}
        if os.geteuid() == 0:
            nobody = 65534

            def unprivileged():
                os.setgroups([])
                os.setgid(nobody)
                os.setuid(nobody)
            options["preexec_fn"] = unprivileged
        try:
            probe = subprocess.run([MFU, "--version"], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, check=False, **options)
        except (OSError, subprocess.SubprocessError) as error:
            self.skipTest(f"cannot run the binary as an unprivileged user: {error}")
        if probe.returncode != 0:
            self.skipTest("the binary does not run as an unprivileged user")
        self.assert_refused(self.mfu("diagnose", path, **options), "secret.json")

    def test_a_long_name_does_not_fill_the_screen(self):
        def chip(document):
            document["hardware"] = {"chip": "x" * 1_000_000}
        path = self.write("bad.json", self.changed(chip))
        result = self.mfu("diagnose", path)
        self.assert_refused(result, "unknown chip")
        self.assertLess(len(result.stderr), 2000)

    def test_names_cannot_move_the_cursor(self):
        def names(document):
            document["model"] = "evil\x1b[2J\x1b]0;title\x07\r"
            for rank in document["ranks"]:
                rank["node"] = "n\x1b[31m\n" + str(rank["rank"] // 4)
        path = self.write("names.json", self.changed(names))
        result = self.mfu("diagnose", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        for byte in (b"\x1b", b"\x07", b"\r"):
            self.assertNotIn(byte, result.stdout + result.stderr)
        bad = self.changed(names)
        bad["ranks"][0]["compute"][0] = -1
        bad["ranks"][0]["wrong\x1b[2J"] = []
        result = self.mfu("diagnose", self.write("bad\x1b.json", bad))
        self.assertEqual(result.returncode, 2)
        self.assertNotIn(b"\x1b", result.stderr)
