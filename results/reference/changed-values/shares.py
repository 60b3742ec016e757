#!/usr/bin/env python3
"""The shares of bf16 values that a step changes, beside the closed form: shares.py RUN [RUN-OF-ONE-STEP-LESS] writes
shares.csv and prints the tables of the page (needs python3-numpy). Of constant rates a training of one step less has
the weights before the last step, so that the size of each update is known."""
import csv
import json
import math
import pathlib
import sys

import numpy

HERE = pathlib.Path(__file__).parent
DEVIATION, KEPT_BITS = 0.02, 7  # of initial weights; of a bf16 mantissa


def trainings(run):
    for folder in sorted(pathlib.Path(run).glob("train/*")):
        case = json.loads((folder / "case.json").read_text())
        yield (json.loads((folder / "training.json").read_text())["parameters"], case["method"]["label"]), folder, case


def shares(folder):
    found = {}
    for row in csv.DictReader(open(folder / "changed_values.csv")):
        found.setdefault(row["part"], []).append(float(row["share"]))
    return found


def weights(folder):
    file = next(folder.glob("checkpoints/*.safetensors")).read_bytes()
    length = int.from_bytes(file[:8], "little")
    begin, end = json.loads(file[8:8 + length])["weights"]["data_offsets"]
    return numpy.frombuffer(file[8 + length + begin:8 + length + end], numpy.float32)


def units(values):
    """The distance of neighbours in bf16, 2^(e-7) of |w| in [2^e, 2^(e+1))."""
    return numpy.ldexp(1.0, numpy.frexp(numpy.abs(values.astype(float)))[1] - 1 - KEPT_BITS)


def rounded(values):
    """As numbers of bf16: to nearest, ties to even."""
    unit = units(values)
    return numpy.rint(values / unit) * unit


def closed_form(rate, deviation):
    """The mean of min(1, rate / u) of normal weights, binade by binade."""
    def within(bound):
        return math.erf(bound / deviation / math.sqrt(2))
    return sum((within(2.0 ** (e + 1)) - within(2.0 ** e)) * min(1, rate / 2.0 ** (e - KEPT_BITS)) for e in range(-60, 2))


def first_step(rate, model, of):
    """Of matrices but the embedding, whose rows of bytes that the batch lacks stay: measured, and where each weight moves
    by the rate. Projections into the residual stream are narrower."""
    h, f, layers, v = (model[key] for key in ("hidden", "ffn", "layers", "vocabulary"))
    sizes = {"attention": layers * 4 * h * h, "feed_forward": layers * 3 * h * f, "output": v * h}
    narrow, total = layers * (h * h + h * f), sum(sizes.values())
    narrower = closed_form(rate, DEVIATION / math.sqrt(2 * layers))
    return (sum(of[part][0] * size for part, size in sizes.items()) / total,
            ((total - narrow) * closed_form(rate, DEVIATION) + narrow * narrower) / total)


def percent(share):
    return "" if share is None else f"{100 * share:.3g} %"


def main(run, shorter=None):
    before = {key: folder for key, folder, _ in trainings(shorter)} if shorter else {}
    table, parts = [], []
    for key, folder, case in trainings(run):
        of, all_weights, rate = shares(folder), weights(folder), case["train"]["optimizer"]["min_lr"]
        total = of["all"]
        row = {"parameters": key[0], "method": key[1], "rate": rate, "first": total[0],
               "first_five": float(numpy.mean(total[:5])), "from_101": float(numpy.mean(total[100:])), "last": total[-1],
               "last_five": float(numpy.mean(total[-5:]))}
        if key[1].startswith("adamw"):
            row["first_matrices"], row["first_closed_form"] = first_step(rate, case["train"]["model"], of)
        if key in before:
            old = weights(before[key]).astype(float)
            update = numpy.abs(all_weights - old)
            row["mean_update"] = float(numpy.mean(update)) / rate
            row["last_closed_form"] = float(numpy.mean(numpy.minimum(1, update / units(old))))
        if key[1].startswith("trained"):
            new = all_weights.astype(float)
            row["last_closed_form"] = float(numpy.mean(numpy.minimum(1, rate / units(new))))
            row["one_step"] = float(numpy.mean([rounded(new + step) != rounded(new) for step in (rate, -rate)]))
        table.append(row)
        parts.append({"parameters": key[0], "method": key[1], "rate": rate,
                      **{part: float(numpy.mean(values[100:])) for part, values in of.items() if part != "all"}})
    table.sort(key=lambda row: (row["parameters"], row["method"].split()[0], row["rate"]))
    parts.sort(key=lambda row: (row["parameters"], row["method"].split()[0], row["rate"]))
    with open(HERE / "shares.csv", "w") as out:
        columns = ["parameters", "method", "rate", "first", "first_matrices", "first_closed_form", "first_five", "from_101",
                   "last", "last_five", "last_closed_form", "mean_update", "one_step"]
        writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
        writer.writeheader()
        for row in table:
            writer.writerow({name: f"{value:.5g}" if isinstance(value, float) else value for name, value in row.items()})
    def print_rows(rows, columns):
        for row in rows:
            print("|", " | ".join([f"{row['parameters']:,}", row["method"], *(percent(row.get(name)) for name in columns)]), "|")
        print()

    constant = [row for row in table if not row["method"].startswith("trained")]
    print_rows(constant, ("first", "first_five", "from_101"))
    print_rows([row for row in parts if not row["method"].startswith("trained")],
               ("embedding", "attention", "feed_forward", "norm", "output"))
    print_rows([row for row in table if row["method"].startswith("adamw")],
               ("first_matrices", "first_closed_form", "last", "last_closed_form", "mean_update"))
    print_rows([row for row in table if row not in constant], ("last", "last_five", "last_closed_form", "one_step"))


main(*sys.argv[1:])
