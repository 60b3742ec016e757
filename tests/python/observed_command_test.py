#!/usr/bin/env python3
"""python -m longhaul.observed as a user calls it: the document, the words, and one message for each file that is no good.

    observed_command_test.py SOURCE_FOLDER
"""
import json
import os
import pathlib
import pickle
import re
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1))
sys.path[:0] = [str(SOURCE / "python"), str(SOURCE / "tests/support")]

from folder import InAFolder  # noqa: E402
from longhaul.observed import InputError, read  # noqa: E402

DATA = SOURCE / "tests/data/observed"


def command(*arguments):
    environment = dict(os.environ, PYTHONPATH=str(SOURCE / "python"), PYTHONDONTWRITEBYTECODE="1")
    return subprocess.run([sys.executable, "-m", "longhaul.observed", *map(str, arguments)], capture_output=True, encoding="utf-8", env=environment)


class Command(InAFolder):
    def test_the_document_and_the_words(self):
        names = [DATA / f"kineto-ddp-rank{rank}.json" for rank in range(2)]
        done = command(*names)
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(document, read(names))
        self.assertEqual((document["observed"], [one["rank"] for one in document["files"]]), (1, [0, 1]))
        self.assertRegex(done.stderr, r"all-reduce +8,388,608 +2 +6 +12.3 ms +8.56 ms to 38.8 ms\n")  # the median of 8.6 9.8 11.1 13.5 36.0 38.8
        self.assertRegex(done.stderr, r"rank 0 +2 +370 ms +370 ms to 371 ms")
        self.assertIn("left out: 2 steps, the first recorded", done.stderr)

    def test_into_a_file(self):
        out = self.folder / "observed.json"
        done = command(DATA / "kineto-no-shapes.json", "-o", out)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertEqual([one["includes_wait"] for one in json.loads(out.read_text())["exchanges"]], [True, True])
        self.assertRegex(done.stderr, r"all-reduce +unknown +2 +2 +12.7 ms +684 us to 24.7 ms +with waits")
        done = command(DATA / "kineto-no-shapes.json", "-o", self.folder / "no/folder.json")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"error: \S+folder.json: cannot be written: No such file or directory")

    def test_no_value_of_the_document_is_null(self):
        files = [file for file in sorted(DATA.iterdir())]
        text = command(*files).stdout
        document = json.loads(text, parse_constant=lambda name: self.fail(name))
        self.assertGreater(len(document["exchanges"]), 60)
        self.assertNotIn("null", re.sub(r'"[^"]*"', "", text))
        for one in document["exchanges"] + document["steps"] + document["steps_left"]:
            self.assertGreaterEqual(one["seconds"], 0)
            self.assertIn("from", one)
        self.assertEqual(len(document["files"]), len(files))
        self.assertTrue(all(one["took"] or one["left"] for one in document["files"]))

    def test_of_many_series_the_first_are_named(self):
        rows = "step," + ",".join(f"m{number}" for number in range(30)) + "\n" + "".join(f"{step}," + ",".join(["1"] * 30) + "\n" for step in (1, 2))
        done = command(self.write("many.csv", rows))
        self.assertIn("series: m0 (2), m1 (2), m2 (2), m3 (2), m4 (2), m5 (2), m6 (2), m7 (2), m8 (2), m9 (2), m10 (2), m11 (2) and 18 more\n", done.stderr)
        self.assertEqual(len(json.loads(done.stdout)["series"]), 30)

    def test_names_that_are_no_letters(self):
        trace = json.loads((DATA / "kineto-no-shapes.json").read_text())
        trace["distributedInfo"]["pg_config"] = [{"pg_name": "\ud800 caf\u00e9", "ranks": [0, 1]}]
        done = command(self.write("odd.json", json.dumps(trace)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({one["group"] for one in json.loads(done.stdout)["exchanges"]}, {"? caf\u00e9"})

    def test_a_full_disk(self):
        environment = dict(os.environ, PYTHONPATH=str(SOURCE / "python"), PYTHONDONTWRITEBYTECODE="1")
        with open("/dev/full", "w") as full:
            done = subprocess.run([sys.executable, "-m", "longhaul.observed", DATA / "mlflow-loss"], stdout=full, stderr=subprocess.PIPE, encoding="utf-8",
                                  env=environment)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.splitlines()[-1], "error: standard output: cannot be written: No space left on device")

    def test_a_file_without_times_is_said_beside_others(self):
        done = command(DATA / "gloo-flight-recorder.json", DATA / "mlflow-loss")
        self.assertEqual(done.returncode, 0)
        files = json.loads(done.stdout)["files"]
        self.assertEqual(files[0]["format"], "flight_recorder")
        self.assertIn("scheduled", files[0]["left"][0])

    def test_files_without_any_time(self):
        done = command(DATA / "gloo-flight-recorder.json", DATA / "kineto-unfinished.json")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"(?s)^error: \S+flight-recorder.json: is of .*\n\S+kineto-unfinished.json: nothing was taken: .*\n$")

    def test_options(self):
        for arguments, message in ((["--members", "0"], "--members: found 0; allowed: 1 or more"), (["--tokens", "-1"], "--tokens: found -1.0; allowed: more than 0"),
                                   (["--tokens", "nan"], "--tokens: found nan"), (["--operation", "sum"], "--operation: found 'sum'; allowed: all-reduce, all-gather")):
            done = command(DATA / "mlflow-loss", *arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn("error: " + message, done.stderr)
        self.assertEqual(command().returncode, 2)
        self.assertIn("docs/reference/formats/observed.md", command("--help").stdout)

    def test_columns(self):
        file = self.write("mine.csv", "n,when,took,loss\n1,0,7,2\n2,9,8,1\n")
        done = command(file, "--step", "n", "--duration", "took", "--unit", "ms")
        self.assertEqual([(one["step"], one["seconds"]) for one in json.loads(done.stdout)["steps"]], [(2, 0.008)])
        done = command(file, "--step", "n", "--time", "when", "--unit", "us")
        self.assertEqual([(one["step"], one["seconds"]) for one in json.loads(done.stdout)["steps"]], [(2, 9e-6)])


class BrokenFiles(InAFolder):
    """Each is one message, of status 2, that names the file and says what to give."""

    def message(self, name, data):
        (self.folder / name).write_bytes(data)
        with self.assertRaises(InputError) as caught:
            read([self.folder / name])
        message = caught.exception.message
        self.assertEqual(caught.exception.status, 2)
        self.assertTrue(message.startswith(f"{self.folder / name}: ") and "\n" not in message and ("allowed: " in message), message)
        return message

    def test_damaged(self):
        whole = (DATA / "kineto-ddp-rank0.json").read_bytes()
        for name, data, word in (("empty.json", b"", "is empty"), ("blank.json", b"  \n", "is empty"), ("cut.json", whole[:5000], "is JSON that is cut off or damaged"),
                                 ("noise.bin", bytes(range(256)) * 9, "is neither text nor a file of a tracker"), ("noise.json", b"{\1\0\2", "is neither text"),
                                 ("a.json", b"{}", "is JSON of no program that is known"), ("b.json", b'{"name": "package", "version": "1"}', r"no program that is known (name, version)"),
                                 ("c.json", b"[1, 2]", "is JSON of no program"), ("d.json", b"[" * 100000, "is JSON that is nested too deeply"),
                                 ("e.json", b"3", "is text of no format"), ("f.json.gz", b"\x1f\x8b" + b"abc", "is packed with gzip and cut off or damaged"),
                                 ("g.pt", pickle.dumps({"a": 1}), "is a pickle"), ("h.csv", b"a,b\n1,2\n1\n3,4\n", "is text of no format"),
                                 ("i.json", b'{"start": {"test_start": {}}, "intervals": [], "end": {}}', "is of iperf3"),
                                 ("j.txt", b"PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.\n", "is of ping"),
                                 ("k.json", b'{"observed": 1, "exchanges": []}', "was written by this command")):
            self.assertIn(word, self.message(name, data), name)

    def test_wrong_kinds_of_values(self):
        trace = {"traceEvents": [{"ph": "X", "name": "gloo:all_reduce", "ts": ts, "dur": dur, "args": args, "tid": tid} for ts, dur, args, tid in (
            ("a", 1, {}, 1), (1, None, {}, 1), (1, -5, {}, 1), (True, 1, {}, 1), (1e400, 1, {}, 1))] + [None, 3, "X", {"ph": "X"}]}
        self.assertIn("nothing was taken", self.message("trace.json", json.dumps(trace).encode()))
        far = {"traceEvents": [{"ph": "X", "name": "gloo:all_reduce", "ts": ts, "dur": dur, "args": {}, "tid": 1} for ts, dur in (
            (1e308, 1), (1, 1e308), (10**400, 1), (-1e300, 5))], "baseTimeNanoseconds": 1e308}
        self.assertIn("nothing was taken", self.message("far.json", json.dumps(far).encode()))
        odd = {"traceEvents": [{"ph": "X", "cat": 7, "name": "gloo:all_reduce", "ts": 1, "dur": 5, "tid": "x", "pid": [], "args": args} for args in (
            None, [], {"Input Dims": "x"}, {"Input Dims": [[-1]], "Input type": ["float"]}, {"Input Dims": [[2.5]], "Input type": ["float"]},
            {"Input Dims": [[[3]]], "Input type": ["float"]}, {"Input Dims": [[3], [4]], "Input type": ["float"]}, {"Input Dims": [[3]], "Input type": ["posit"]})],
            "distributedInfo": {"rank": "zero", "world_size": [], "pg_config": [{"ranks": "x"}, 5, {}]}, "baseTimeNanoseconds": "0"}
        (self.folder / "odd.json").write_text(json.dumps(odd))
        document = read([self.folder / "odd.json"])
        self.assertEqual([one.get("bytes") for one in document["exchanges"]], [None] * 5 + [12] + [None] * 2)
        self.assertIn("nothing was taken", self.message("nodes.json", b'{"schema": "x", "nodes": [1, {}, {"name": "gloo:x", "attrs": 3, "inputs": []}]}'))
        self.assertIn("(no entry)", self.message("entries.json", b'{"entries": [], "pg_status": 0}'))
        self.assertIn("nothing was taken", self.message("state.json", b'{"log_history": [1, {"step": "x"}, {"step": 1, "loss": "nan"}]}'))
        self.assertIn("nothing was taken", self.message("ddp.json", b'{"avg_backward_comm_time": "1", "bucket_sizes": {}}'))

    def test_cut_anywhere_or_changed_it_never_fails_otherwise(self):
        checked = 0
        for file in sorted(DATA.iterdir()):
            data = file.read_bytes()
            for at in range(1, len(data), max(1, len(data) // 12)):
                for changed in (data[:at], data[:at] + b"\xff\x00" + data[at + 2:], data[:at] + b"}" + data[at + 1:]):
                    (self.folder / file.name).write_bytes(changed)
                    try:
                        document = read([self.folder / file.name])
                        json.dumps(document, allow_nan=False)
                    except InputError as error:
                        self.assertTrue(error.message.startswith(str(self.folder / file.name) + ": "), error.message)
                    checked += 1
        self.assertGreater(checked, 900)

    def test_names(self):
        with self.assertRaisesRegex(InputError, "nothing.json: cannot be read: No such file or directory; allowed: a file that exists"):
            read([self.folder / "nothing.json"])
        with self.assertRaisesRegex(InputError, "is a folder; allowed: files"):
            read([self.folder])
        with self.assertRaisesRegex(InputError, "files: none was given"):
            read([])

    def test_utf_16(self):
        (self.folder / "a.csv").write_bytes("step,step_ms\n1,5\n2,6\n".encode("utf-16"))
        self.assertEqual([one["seconds"] for one in read([self.folder / "a.csv"])["steps"]], [0.006])


if __name__ == "__main__":
    unittest.main()
