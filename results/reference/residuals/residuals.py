#!/usr/bin/env python3
"""The figure of docs/validation/network-model.md: python3 residuals.py, in this folder.

residuals.dat: build/bin/residuals --reference results/reference/residuals/packets.csv --figure-data results/reference/residuals/residuals.dat
A block a set of the grid: share of the exchanges of the judge half, then the signed residuals in per cent of flow, of
latency + bytes / rate, and of SimGrid's default model, each sorted.
"""
import pathlib

from matplotlib import rc_context
from matplotlib.figure import Figure

SETS = {"host": "queue host", "fq_codel-ecn": "fq_codel with ECN", "loss": "random loss, means of five seeds",
        "trunk": "flows and pairs on one trunk, queue host"}
LINES = (("flow", "#0b6e4f", "-", 2), ("latency + bytes / rate", "#c8553d", "-", 1.4), ("SimGrid, default", "#7d7d7d", "--", 1.4))

blocks = {}
for line in pathlib.Path("residuals.dat").read_text().splitlines():
    if line.startswith("# "):
        rows = blocks.setdefault(line[2:].rstrip(":"), [])
    elif line:
        rows.append(list(map(float, line.split())))
with rc_context({"font.size": 9, "legend.fontsize": 8, "legend.frameon": False, "axes.grid": True, "grid.color": "#dddddd",
                 "svg.fonttype": "none", "svg.hashsalt": "residuals", "font.sans-serif": ["DejaVu Sans", "Arial"]}):
    page = Figure(figsize=(9, 6.8), layout="constrained")
    page.suptitle("Simulated over packet time of an exchange, minus one (judge half)")
    for axes, (name, title) in zip(page.subplots(2, 2).flat, SETS.items()):
        shares, *columns = zip(*blocks[name])
        for residuals, (label, color, dashes, width) in zip(columns, LINES):
            axes.plot(residuals, shares, dashes, color=color, linewidth=width, label=label)
        axes.set(title=title, xlim=(-80, 80), ylim=(0, 1), xlabel="residual, %", ylabel="share of the exchanges below")
        axes.legend(loc=(0.55, 0.6))
    page.savefig("residuals.svg", metadata={"Date": None})
