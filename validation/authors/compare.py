#!/usr/bin/env python3
"""Longhaul's outer steps against the authors' own public code, on the same tensors.

    compare.py --trainer build/bin/longhaul-train --noloco DIR --torchft DIR --demo DIR --dgc DIR \
        --deepspeed DIR --templar DIR [--rounds 5]

Each DIR is an unmodified checkout; those that are left out are not compared. It needs torch, numpy, einops and
safetensors (results/reference/methods/authors.md has the versions and commits) and fetches nothing. Both sides start from the
same float32 weights and go through the same rounds, each from its own state. The figure is the largest difference of
a table relative to its largest number. Exit 1 where one is above 1e-6.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy
import torch.multiprocessing
from safetensors.numpy import load_file, save_file

import references


class Case:
    """One setting of a method. `ours`: its name and options here; `tables`: with their first values."""

    def __init__(self, label, repository, name, theirs, method, ours, tables, replicas=4, step=1,
                 displacements=1, lr=None, matrices=4):
        self.label, self.repository, self.name, self.theirs = label, repository, name, theirs
        self.method, self.ours, self.tables, self.replicas = method, ours, tables, replicas
        self.step, self.displacements, self.lr = step, displacements, lr
        self.columns = matrices * references.SHAPE[0] * references.SHAPE[1]

    def given(self, random, rounds):
        """By replica and round: displacements, which a round of inner steps makes as large as weights, or gradients."""
        shape = (self.replicas, rounds, self.displacements * self.columns)
        return (random.standard_normal(shape) * 1e-2).astype(numpy.float32)


OUTER = {"phi": None, "momentum": 0}
ADAM = {"first_moment": 0, "second_moment": 0}


def cases():
    yield Case("NoLoCo, pairs", "noloco", "Noloco", {"group": 2, "alpha": 0.5, "beta": 0.7}, "noloco",
               {"alpha": 0.5, "beta": 0.7, "gamma": 0.7}, OUTER)
    yield Case("NoLoCo, groups of 4 of 8", "noloco", "Noloco", {"group": 4, "alpha": 0.9, "beta": 0.4}, "noloco",
               {"alpha": 0.9, "beta": 0.4, "gamma": 0.4, "group_size": 4}, OUTER, replicas=8)
    heavy = {"outer_lr": 0.7, "outer_momentum": 0.3}
    yield Case("DiLoCo of the NoLoCo authors (heavy ball)", "noloco", "HeavyBall", heavy, "diloco",
               {**heavy, "nesterov": False}, OUTER)
    nesterov = {"outer_lr": 0.7, "outer_momentum": 0.9}
    yield Case("DiLoCo (Nesterov)", "torchft", "Torchft", nesterov, "diloco", nesterov, OUTER, displacements=2)
    for mixing in (0, 0.5):
        yield Case(f"Streaming DiLoCo, a late fragment, α {mixing}", "torchft", "Torchft", {**nesterov, "mixing": mixing},
                   "streaming-diloco", {**nesterov, "mixing": mixing, "fragments": 1, "codec": "wire"}, OUTER,
                   displacements=2)
    yield Case("DeMo", "demo", "Demo", {"lr": 1e-3, "feedback_decay": 0.999}, "demo", {}, {**ADAM, "error": 0}, lr=1e-3)
    yield Case("Deep Gradient Compression", "dgc", "Dgc", {"momentum": 0.9, "ratio": 4 / 4096, "lr": 0.1}, "dgc",
               {"warm_up": 0}, {**ADAM, "velocity": 0, "error": 0}, lr=0.1)
    # So late that the bias corrections, which DeepSpeed has not, are 1.
    yield Case("1-bit Adam, compressed stage", "deepspeed", "OneBitAdam",
               {"lr": 1e-3, "betas": (0.9, 0.95), "second_moment": 1e-4}, "one-bit-adam",
               {"freeze_step": 99999, "codec": {"quantized": {"numbers": "sign", "block": 4096}}},
               {"first_moment": 0, "second_moment": 1e-4, "error": 0, "server_error": 0}, step=100000, lr=1e-3,
               matrices=1)
    for bins, codec in ((0, "wire"), (4, "two_bit_six_sigma")):
        yield Case(f"SparseLoCo, values in {codec if bins else 'fp32'}", "templar", "Sparseloco",
                   {"outer_lr": 1., "feedback_decay": 0.95, "k": 64, "bins": bins}, "sparseloco",
                   {"codec": {"top_k": {"kept": 64, "numbers": codec}}}, {"phi": None, "error": 0})


def theirs(case, folder, start, given):
    with torch.multiprocessing.Manager() as manager, tempfile.TemporaryDirectory() as meeting:
        results = manager.dict()
        torch.multiprocessing.spawn(
            references.run, (case.replicas, meeting + "/file", case.name, folder, case.theirs, start, given, results),
            nprocs=case.replicas)
        return [results[rank] for rank in range(case.replicas)]


def our_round(trainer, case, tables, step, folder):
    arguments = [trainer, "outer-step", "--method", case.method, "--in", f"{folder}/in", "--out", f"{folder}/out",
                 "--step", str(step)]
    if case.lr:
        arguments += ["--lr", str(case.lr)]
    options = case.ours if "gradient" in tables else {**case.ours, "inner_steps": 1}
    arguments += ["--set"] + [f"{key}={json.dumps(value)}" for key, value in options.items()] if options else []
    save_file(tables, f"{folder}/in")
    done = subprocess.run(arguments, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return load_file(f"{folder}/out")


def difference(ours, reference):
    return float(numpy.abs(ours - reference).max() / numpy.abs(reference).max())


def compare(case, trainer, repository, rounds):
    random = numpy.random.default_rng(7)
    start = (random.standard_normal(case.columns) * 0.02).astype(numpy.float32)  # as models have it
    given = case.given(random, rounds)
    reference = theirs(case, repository, start, given)
    tables = {"theta": numpy.tile(start, (case.replicas, 1))}
    for name, value in case.tables.items():
        tables[name] = tables["theta"].copy() if value is None else numpy.full_like(tables["theta"], value)
    is_gradient = references.CLASSES[case.name].gradients
    worst = {}
    with tempfile.TemporaryDirectory() as folder:
        for index in range(rounds):
            values = given[:, index].reshape(case.replicas, case.displacements, case.columns)
            sent = dict(tables)
            if is_gradient:
                sent["gradient"] = values[:, 0]
            else:
                sent["theta"] = tables["theta"] + values[:, 0]
                if case.displacements == 2:
                    if case.method == "streaming-diloco":
                        sent["posted.theta"] = sent["theta"]
                    else:
                        values[:, 1] = 0
                    sent["theta"] = sent["theta"] + values[:, 1]
            groups = reference[0][index][1] if case.method == "noloco" else None
            if groups:
                sent["groups"] = numpy.array(groups, dtype=numpy.int64)
            out = our_round(trainer, case, {name: numpy.ascontiguousarray(table) for name, table in sent.items()},
                            case.step + index, folder)
            tables = {name: out[name] for name in tables}
            for name in reference[0][index][0]:
                of_all = numpy.stack([reference[replica][index][0][name] for replica in range(case.replicas)])
                worst[name] = max(worst.get(name, 0), difference(tables[name], of_all))
    return worst


def commit_of(repository):
    done = subprocess.run(["git", "-C", repository, "rev-parse", "--short", "HEAD"], capture_output=True, text=True,
                          check=False)
    return done.stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trainer", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="cases whose label has these words")
    for repository in ("noloco", "torchft", "demo", "dgc", "deepspeed", "templar"):
        parser.add_argument("--" + repository, type=pathlib.Path)
    arguments = parser.parse_args()
    print("| method | reference | rounds | largest relative difference |\n|---|---|---|---|")
    is_above = False
    for case in cases():
        repository = getattr(arguments, case.repository)
        if repository is None or arguments.only not in case.label:
            continue
        worst = compare(case, arguments.trainer, repository, arguments.rounds)
        is_above |= max(worst.values()) > 1e-6
        figures = ", ".join(f"{name} {value:.1e}" for name, value in sorted(worst.items()))
        print(f"| {case.label} | {repository.name} {commit_of(repository)}, `{references.CLASSES[case.name].path}` "
              f"| {arguments.rounds} | {figures} |", flush=True)
    return int(is_above)


if __name__ == "__main__":
    sys.exit(main())
