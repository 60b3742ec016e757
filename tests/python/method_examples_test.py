#!/usr/bin/env python3
"""The steps of scenarios/methods/python on a few numbers, against values worked out by hand; and python/longhaul/outer.py, whose
processes share all groups' columns, against the step called once a group.

    method_examples_test.py SOURCE_FOLDER
"""
import json
import mmap
import os
import pathlib
import runpy
import socket
import subprocess
import sys
import tempfile
import unittest

import numpy

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
FOLDER = SOURCE / "scenarios/methods/python"


def table(*rows):
    return numpy.array(rows, numpy.float32)


def taken(file, parameters, **tables):
    """The tables, after the step of `file` on them."""
    runpy.run_path(str(FOLDER / f"{file}.py"))["step"](**tables, **parameters)
    return tables


class Steps(unittest.TestCase):
    def near(self, found, *expected):
        numpy.testing.assert_allclose(found, table(*expected), rtol=1e-5, atol=1e-6)

    def test_isoloco_flattens_a_spectrum(self):
        # [[0, 3], [1, 0]] has the singular values 3 and 1: both become 2. m = (0, 2, 2, 0), and φ moves by 0.5 · (1 + 0.5) of it.
        mine = taken("isoloco", {"outer_lr": 0.5, "outer_momentum": 0.5}, shape=(2, 2), theta=numpy.ones((3, 4), "f"),
                     phi=numpy.zeros((3, 4), "f"), momentum=numpy.zeros((3, 4), "f"), mean_delta=table([0, 3, 1, 0]))
        self.near(mine["momentum"], *3 * [[0, 2, 2, 0]])
        self.near(mine["theta"], *3 * [[0, 1.5, 1.5, 0]])

    def test_isoloco_leaves_out_directions_of_no_size_and_vectors(self):
        # diag(4, 0): the mean of 4 and 0 is 2, and the second direction stays out. A vector is DiLoCo's.
        for delta, shape, moved in (([4, 0, 0, 0], (2, 2), [2, 0, 0, 0]), ([4, 0, 0, 0], (1, 4), [4, 0, 0, 0])):
            mine = taken("isoloco", {"outer_lr": 1, "outer_momentum": 0}, shape=shape, theta=table([0, 0, 0, 0]),
                         phi=table([0, 0, 0, 0]), momentum=table([0, 0, 0, 0]), mean_delta=table(delta))
            self.near(mine["phi"], moved)

    def test_heloco_keeps_shrinks_and_turns(self):
        # Momentum (1, 0), κ 3, so trust is ‖Δ‖ / (‖Δ‖ + 3) = 1/4 of ‖Δ‖ = 1. Aligned: kept. Opposed (c = −1): β = 1/2 · 1/4,
        # (−1 + 1/8, 0). Across (c = 0): λ = 1/4, (1/4, 3/4) made as long as before, /√(10)/4.
        root = 10**-0.5
        for delta, corrected in (([1, 0], [1, 0]), ([-1, 0], [-0.875, 0]), ([0, 1], [root, 3 * root])):
            mine = taken("heloco", {"outer_lr": 1, "mu": 0.5}, theta=table([0, 0]), phi=table([0, 0]), momentum=table([1, 0]),
                         sent_delta=table(delta))
            momentum = [0.5 + corrected[0] / 2, corrected[1] / 2]
            self.near(mine["momentum"], momentum)
            self.near(mine["phi"], [corrected[0] + momentum[0] / 2, corrected[1] + momentum[1] / 2])

    def test_heloco_without_momentum_is_the_mean(self):
        mine = taken("heloco", {"outer_lr": 0.5, "mu": 0}, theta=table([0, 0], [0, 0]), phi=table([1, 1], [1, 1]),
                     momentum=table([0, 0], [0, 0]), sent_delta=table([2, -2], [0, 2]))
        self.near(mine["theta"], [1.5, 1], [1.5, 1])

    def test_gasloc_is_half_a_pull_and_half_a_momentum(self):
        # A pair whose mean is 1.05: 1.2 − 0.15/2 + 0.2/2 and 0.9 + 0.15/2 − 0.1/2.
        mine = taken("gasloc", {}, theta=table([1.2], [0.9]), phi=table([1], [1]), mean_weights=table([1.05]),
                     own_weights=table([1.2], [0.9]))
        self.near(mine["theta"], [1.225], [0.925])
        self.near(mine["phi"], [1.2], [0.9])

    def test_gpa_averages_at_each_step(self):
        # θ0 = 1, Δ = 2: z = 3, x = 1/2 + 3/2 = 2, y = 2/4 + 9/4 = 2.75. Then Δ = −2: z = 1, x = 1.5, y = 1.125.
        tables = {"theta": table([3]), "phi": table([1]), "x": table([0]), "z": table([0])}
        for number, delta, expected in ((1, 2, (3, 2, 2.75)), (2, -2, (1, 1.5, 1.125))):
            tables = {name: tables[name] for name in ("theta", "phi", "x", "z")}
            taken("gpa", {"mu_x": 0.5, "mu_y": 0.25}, round=number, mean_delta=table([delta]), **tables)
            self.assertEqual(tuple(float(tables[name][0, 0]) for name in "zx") + (float(tables["theta"][0, 0]),), expected)


class Shared:
    """Rows that other processes map too, drawn at random."""

    def __init__(self, random, rows, columns):
        self.file = os.memfd_create("table", 0)
        os.ftruncate(self.file, 4 * rows * columns)
        self.rows = numpy.frombuffer(mmap.mmap(self.file, 4 * rows * columns), numpy.float32).reshape(rows, columns)
        self.rows[:] = random.normal(size=self.rows.shape)


class Processes(unittest.TestCase):
    def test_share_a_round(self):
        groups, columns, random = [[0, 3, 4], [1, 2]], 30001, numpy.random.default_rng(1)  # irregular, and neighbours
        own = {name: Shared(random, 5, columns) for name in ("theta", "phi", "momentum")}
        came = [{name: Shared(random, 1, 3 * columns) for name in ("mean_delta", "mean_phi", "own_phi")} for _ in groups]
        parameters = {"alpha": 0.5, "beta": 0.7, "gamma": 0.9}
        expected = {name: table.rows.copy() for name, table in own.items()}
        for group, arrived in zip(groups, came):
            rows = {name: table[group] for name, table in expected.items()}
            brought = {name: table.rows[0, :columns * (len(group) if name == "own_phi" else 1)].reshape(-1, columns)
                       for name, table in arrived.items()}
            taken("noloco", parameters, **rows, **brought)
            for name, table in expected.items():
                table[group] = rows[name]
        (ours, theirs), other = socket.socketpair(), socket.socketpair()
        with subprocess.Popen([sys.executable, SOURCE / "python/longhaul/outer.py"], stdin=theirs, stdout=theirs,
                              pass_fds=[other[1].fileno(), *(table.file for tables in (own, *came) for table in tables.values())]) as process:
            theirs.close()
            conversations = [ours.makefile("rw"), other[0].makefile("rw")]
            open_request = {"tables": {name: table.file for name, table in own.items()}, "replicas": 5, "columns": columns,
                            "arrived": [{name: table.file for name, table in tables.items()} for tables in came],
                            "cells": 3 * columns, "parameters": parameters, "others": [other[1].fileno()]}
            for number, request in ((0, {"file": str(FOLDER / "noloco.py")}), (0, open_request), *enumerate(
                    {"members": group, "piece": [0, columns], "shape": [1, columns], "round": 1, "losses": len(group) * [0]}
                    for group in groups)):
                print(json.dumps(request), file=conversations[number], flush=True)
                self.assertNotIn("error", json.loads(conversations[number].readline()))
            process.kill()
            for opened in (*conversations, ours, *other):
                opened.close()
        for name, table in expected.items():
            numpy.testing.assert_array_equal(own[name].rows, table, name)

    def test_an_exit_is_said_of_its_line(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "exits.py"
            file.write_text("import sys\nsys.exit(3)\n")
            done = subprocess.run([sys.executable, SOURCE / "python/longhaul/outer.py"], input=json.dumps({"file": str(file)}) + "\n",
                                  capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(json.loads(done.stdout)["error"], {"line": 2, "found": "SystemExit: 3", "allowed": ""})

    def test_an_answer_that_is_not_waited_for_ends_without_a_word(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "steps.py"
            file.write_text("def step(theta):\n    pass\n")
            with subprocess.Popen([sys.executable, SOURCE / "python/longhaul/outer.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) as process:
                process.stdout.close()
                process.stdin.write(json.dumps({"file": str(file)}) + "\n")
                process.stdin.close()
                self.assertEqual(process.stderr.read(), "")


if __name__ == "__main__":
    unittest.main()
