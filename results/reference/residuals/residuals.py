#!/usr/bin/env python3
"""The tables of README.md and the figure of docs/validation/network-model.md, of exchanges.csv: python3 residuals.py, in
this folder. [--half judge|train|both] of the tables by axis; [--worst 10] lists that many of the worst exchanges of each set.
"""
import argparse
import csv
import math
import pathlib
import sys

from matplotlib import rc_context
from matplotlib.figure import Figure

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "validation"))
import replays

SETS = {"host": "queue host", "fq_codel-ecn": "fq_codel with ECN", "loss": "random loss, means of five seeds",
        "trunk": "flows and pairs on one trunk, queue host"}
LINES = (("flow", "#0b6e4f", "-", 2), ("latency + bytes / rate", "#c8553d", "-", 1.4), ("SimGrid, default", "#7d7d7d", "--", 1.4))
MODELS = ("flow", "naive", "simgrid")
WORDS = {"set", "kind", "queue", "half", "exchange"}  # columns that are no numbers


def exchanges():
    with open("exchanges.csv", newline="") as file:
        for row in csv.DictReader(file):
            row = {key: cell if key in WORDS else float(cell) for key, cell in row.items()}
            yield {**row, **{model: row[f"{model}_s"] / row["packet_s"] - 1 for model in MODELS}}


def spread(rows, model):
    if any(row["simgrid_s"] <= 0 for row in rows) and model == "simgrid":
        return [""] * 4
    return replays.spread([row[model] for row in rows])


def size_label(row):
    edges = [(1, "up to 1 product"), (2, "1 to 2 products"), (5, "2 to 5 products"), (20, "5 to 20 products"),
             (60, "20 to 60 products"), (math.inf, "60 to 200 products")]
    return next((place, words) for place, (most, words) in enumerate(edges) if row["products"] < most)


def windows_label(row):
    both = row["connections"] * (row["window"] if row["window"] > 0 else row["throughput"] / 8 * row["rtt_s"])
    windows = row["products"] * min(row["up"], row["down"]) / 8 * row["rtt_s"] / both if both > 0 else 0
    return (0, "less than a window" if windows > 0 else "windows unlimited") if windows < 1 else \
        (1, "1 to 4 windows") if windows < 4 else (2, "4 to 20 windows")


def kind_label(row):
    trunk = {"pair": (3, "trunk, both directions"), "single": (2, "trunk, one direction")}
    star = {"single": (0, "single flow, one direction"), "pair": (1, "pair, both directions")}
    return (trunk if row["trunk"] > 0 else star).get(row["kind"], (4, row["kind"]))


def asymmetry_label(row):
    ratio = row["down"] / row["up"]
    return ratio, f"up : down 1 : {ratio:g}" if ratio > 1 else f"up : down {1 / ratio:g} : 1"


AXES = (kind_label,
        lambda row: (0, "cold") if row["exchange"] == "cold" else (2, "again after 1 s") if row["gap_s"] > 0 else (1, "again at once"),
        size_label, windows_label,
        lambda row: (row["rtt_s"], f"{1000 * row['rtt_s']:g} ms"),
        lambda row: (row["trunk"] or min(row["up"], row["down"]), f"{(row['trunk'] or min(row['up'], row['down'])) / 1e6:g} Mb/s"),
        lambda row: (row["connections"], f"{row['connections']:g} connection{'s' if row['connections'] > 1 else ''}"),
        lambda row: (row["replicas"], f"{row['replicas']:g} replicas"),
        lambda row: (row["queue_products"], f"queue of {row['queue_products']:g} products"),
        lambda row: (row["loss"], f"loss {row['loss']:g}"),
        lambda row: (row["rtt_ratio"], "equal RTTs" if row["rtt_ratio"] == 1 else f"RTTs 1 : {row['rtt_ratio']:g}"),
        asymmetry_label,
        lambda row: (row["segment"], f"segments of {row['segment']:.0f}"))


def line(*cells):
    print("| " + " | ".join(cells) + " |")


def print_sets(sets):
    names = ["median %", "95th %", "largest %", "mean, signed %"]
    line("set", "half", "exchanges", *(f"{model}: {names[0]}" if not i else name for model in ("flow", "naive", "SimGrid")
                                       for i, name in enumerate(names)))
    print("|" + "---|" * 15)
    for name, rows in sets.items():
        for half in ("train", "judge"):
            some = [row for row in rows if row["half"] == half]
            if some:
                line(name, half, str(len(some)), *(cell for model in MODELS for cell in spread(some, model)))


def print_axes(rows):
    line("", "exchanges", "flow: median %", "95th %", "largest %", "mean, signed %", "naive: median %", "SimGrid: median %")
    print("|" + "---|" * 8)
    for axis in AXES:
        labels = sorted({axis(row) for row in rows})
        for label in labels if len(labels) > 1 else ():
            part = [row for row in rows if axis(row) == label]
            line(label[1], str(len(part)), *spread(part, "flow"), spread(part, "naive")[0], spread(part, "simgrid")[0])


def draw(sets):
    with rc_context({"font.size": 9, "legend.fontsize": 8, "legend.frameon": False, "axes.grid": True, "grid.color": "#dddddd",
                     "svg.fonttype": "none", "svg.hashsalt": "residuals", "font.sans-serif": ["DejaVu Sans", "Arial"]}):
        page = Figure(figsize=(9, 6.8), layout="constrained")
        page.suptitle("Simulated over packet time of an exchange, minus one (judge half)")
        for axes, (name, title) in zip(page.subplots(2, 2).flat, SETS.items()):
            judged = [row for row in sets[name] if row["half"] == "judge"]
            shares = [round((i + 0.5) / len(judged), 4) for i in range(len(judged))]
            for model, (label, color, dashes, width) in zip(MODELS, LINES):
                residuals = sorted(round(100 * row[model], 2) for row in judged)
                axes.plot(residuals, shares, dashes, color=color, linewidth=width, label=label)
            axes.set(title=title, xlim=(-80, 80), ylim=(0, 1), xlabel="residual, %", ylabel="share of the exchanges below")
            axes.legend(loc=(0.55, 0.6))
        page.savefig("residuals.svg", metadata={"Date": None})


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--half", choices=("judge", "train", "both"), default="judge")
    options.add_argument("--worst", type=int, default=0)
    given = options.parse_args()
    sets = {}
    for row in exchanges():
        sets.setdefault(row["set"], []).append(row)
    print_sets(sets)
    for name, rows in sets.items():
        shown = [row for row in rows if given.half in ("both", row["half"])]
        print(f"\n{name}, {given.half}:\n")
        print_axes(shown)
        for row in sorted(shown, key=lambda row: -abs(row["flow"]))[:given.worst]:
            print(f"{name} {row['number']:.0f}, {row['exchange']}: " + ", ".join(axis(row)[1] for axis in AXES)
                  + f": packet {row['packet_s']:.4f} s, flow {100 * row['flow']:+.1f} %, naive {100 * row['naive']:+.1f} %")
    draw(sets)


main()
