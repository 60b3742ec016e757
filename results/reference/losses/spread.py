#!/usr/bin/env python3
"""The weights' spread of NoLoCo beside the learning rate: draws spread.svg and prints their correlation.

spread.csv is of `scenarios/paper/loss-regime.json` with --set train.evaluate_every=250 --set train.evaluate_sequences=8,
before and after each fifth exchange (needs python3-matplotlib, python3-numpy)."""
import csv
import math
import pathlib

import matplotlib
matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy

HERE, PEAK, WARMUP, STEPS = pathlib.Path(__file__).parent, 2e-3, 1000, 25000


def rate(step):
    """Linear warm-up, then a cosine to a tenth."""
    if step < WARMUP:
        return PEAK * step / WARMUP
    return PEAK * (0.1 + 0.45 * (1 + math.cos(math.pi * (step - WARMUP) / (STEPS - WARMUP))))


rows = [row for row in csv.DictReader(open(HERE / "spread.csv")) if int(row["step"]) > 0]
figure, axis = plt.subplots(figsize=(5, 3), layout="constrained")
for seed in sorted({row["seed"] for row in rows}):
    steps = [int(row["step"]) for row in rows if row["seed"] == seed]
    for phase, style in (("before", "-"), ("after", ":")):
        spread = [float(row[phase]) for row in rows if row["seed"] == seed]
        print(f"seed {seed}, {phase} an exchange: correlation {numpy.corrcoef(spread, [rate(step) for step in steps])[0, 1]:.3f}, "
              f"largest at step {steps[spread.index(max(spread))]}")
        axis.plot(steps, spread, style, color=f"C{int(seed) - 1}", label=f"seed {seed}, {phase}")
axis.set(xlabel="inner step", ylabel="weight spread")
right = axis.twinx()
right.plot(steps, [rate(step) for step in steps], "k--", linewidth=1, label="learning rate")
right.set(ylabel="learning rate", ylim=(0, None))
axis.set(ylim=(0, None))
figure.legend(loc="upper right", bbox_to_anchor=(0.86, 0.97), fontsize=7)
figure.savefig(HERE / "spread.svg", metadata={"Date": None})
