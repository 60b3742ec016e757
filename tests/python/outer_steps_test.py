#!/usr/bin/env python3
"""Outer steps of `longhaul-train outer-step` against the same equations in float64, with dense matrices, in numpy.

    outer_steps_test.py LONGHAUL_TRAIN
"""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

import numpy

TRAIN = pathlib.Path(sys.argv.pop(1)).resolve()
TYPES = {"F32": numpy.float32, "I64": numpy.int64}


def write(path, tensors):
    header, data = {}, b""
    for name, values in tensors.items():
        kind = "I64" if values.dtype == numpy.int64 else "F32"
        header[name] = {"dtype": kind, "shape": list(values.shape), "data_offsets": [len(data), len(data) + values.nbytes]}
        data += values.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read(path):
    raw = path.read_bytes()
    begin = 8 + struct.unpack("<Q", raw[:8])[0]
    return {name: numpy.frombuffer(raw[begin + entry["data_offsets"][0]:begin + entry["data_offsets"][1]],
                                   TYPES[entry["dtype"]]).reshape(entry["shape"])
            for name, entry in json.loads(raw[8:begin]).items() if name != "__metadata__"}


def outer_step(method, tensors, **options):
    """The tables after a step."""
    with tempfile.TemporaryDirectory() as folder:
        before, after = pathlib.Path(folder, "in"), pathlib.Path(folder, "out")
        write(before, tensors)
        settings = [word for key, value in options.items() for word in ("--set", f"{key}={json.dumps(value)}")]
        subprocess.run([TRAIN, "outer-step", "--method", method, "--in", before, "--out", after, *settings], check=True,
                       capture_output=True, timeout=60)
        return read(after)


def laplacian(replicas, edges, weight):
    """½ Σ λ (e_i − e_j)(e_i − e_j)ᵀ over both orders of each edge."""
    matrix = numpy.zeros((replicas, replicas))
    for i, j in [*edges, *((j, i) for i, j in edges)]:
        difference = numpy.zeros(replicas)
        difference[i], difference[j] = 1, -1
        matrix += weight / 2 * numpy.outer(difference, difference)
    return matrix


class Gasloc(unittest.TestCase):
    REPLICAS, COLUMNS = 5, 3

    def graphs(self, random):
        """Name, edges, neighbours of each, and how the file says it."""
        replicas = self.REPLICAS
        order = list(random.permutation(replicas))
        pairs = [(int(order[0]), int(order[1])), (int(order[2]), int(order[3]))]  # one is left over
        ring = [(i, (i + 1) % replicas) for i in range(replicas)]
        cycle = [(int(order[i]), int(order[(i + 1) % replicas])) for i in range(replicas)]
        everyone = [(i, j) for i in range(replicas) for j in range(i)]
        yield "matching", pairs, 1, {"groups": pairs}
        for name, edges, neighbours in (("ring", ring, 2), ("two-matchings", cycle, 2), ("expander", everyone, 4)):
            heard = [[j for edge in edges for j in edge if i in edge and j != i] for i in range(replicas)]
            yield name, edges, neighbours, {"targets": heard}
        yield "complete", everyone, replicas - 1, {}

    def test_five_steps_are_those_of_the_equation(self):
        for alpha, gamma, eta in ((0.5, 0.5, 0.7), (0.9, 0, 1), (0.3, 0.7, 1.3)):
            random = numpy.random.default_rng(7)
            for name in ("matching", "two-matchings", "ring", "expander", "complete"):
                theta = random.normal(size=(self.REPLICAS, self.COLUMNS))  # they need not begin alike
                tables = {key: theta.astype("f") for key in ("theta", "phi", "proposal")}
                theta = tables["theta"].astype(float)
                before = theta
                for step in range(5):
                    graph, edges, neighbours, said = next(one for one in self.graphs(random) if one[0] == name)
                    change = random.normal(size=theta.shape)
                    tables["theta"] = (tables["phi"] + change).astype("f")
                    proposal = theta + eta * change
                    pull = alpha * laplacian(self.REPLICAS, edges, 1 / (neighbours + 1)) @ proposal
                    theta, before = proposal - pull + gamma * (proposal - before), proposal
                    tables = outer_step("gasloc", {**tables, **{key: numpy.array(value) for key, value in said.items()}},
                                        alpha=alpha, gamma=gamma, eta=eta, graph=graph)
                    size = max(1, numpy.abs(theta).max())
                    for key, expected in (("theta", theta), ("phi", theta), ("proposal", before)):
                        error = numpy.abs(tables[key] - expected).max() / size
                        self.assertLess(error, 1e-6, f"{graph}, step {step + 1}, {key}")


if __name__ == "__main__":
    unittest.main()
