#!/usr/bin/env python3
"""The table of calculators.md: measured runs beside the closed formulas of calculators, and Longhaul.

    python3 results/reference/validation/calculators.py > results/reference/validation/calculators.md

Published figures and what their sources say of the set-up are those of scenarios/validation, Longhaul's ratios those of
tables.md. A formula gets the same inputs: bytes, nodes, the link's rate and round trip; between regions those of the
slowest two, since it takes one link. With --check it compares the file with what it would print.
"""
import json
import pathlib
import re
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent
SCENARIOS = HERE.parents[2] / "scenarios"
BITS = {"fp32": 32, "bf16": 16, "int8": 8}
UNITS = {"Gbps": 1e9, "Mbps": 1e6, "ms": 1e-3, "us": 1e-6, "s": 1}


def number(text):
    value, unit = re.fullmatch(r"([\d.]+)(\w+)", text).groups()
    return float(value) * UNITS[unit]


def with_keys(scenario, keys):
    scenario = json.loads(json.dumps(scenario))
    for path, value in keys.items():
        *way, last = path.split(".")
        place = scenario
        for key in way:
            place = place.setdefault(key, {}) if key != "methods" else {}
        place[last] = value
    return scenario


def link(scenario):
    """Rate, bit/s, and round trip, s."""
    (kind, topology), = scenario["network"]["topology"].items()
    if kind == "star":
        return number(topology.get("up", topology.get("rate"))), number(topology["rtt"])
    matrix = json.loads((SCENARIOS / "networks" / f"{topology['matrix']}.json").read_text())
    between = [pair for pair in matrix["pairs"] if set(pair["between"]) <= set(topology["replicas"])]
    return (min(number(pair["throughput"]) for pair in between),
            max(number(pair["rtt"]) if "rtt" in pair else 2 * number(pair["one_way"]) for pair in between))


def all_reduces(scenario, count, compute_s=0):
    """Charles et al.: 2N/W (1 - 1/R) + e; MIRI: 2V/W + latency."""
    rate, rtt = link(scenario)
    once = 2 * scenario["workload"]["parameters"] * BITS[scenario["workload"]["wire"]] / rate
    return compute_s + count * (once * (1 - 1 / scenario["replicas"]) + rtt), compute_s + count * (once + rtt)


def of_figure(scenario, figure):
    """Seconds by each formula: of a step where the figure is one, else of its all-reduces."""
    if "pipeline" in scenario:
        return pipeline(scenario)
    if figure["metric"] == "step_time_s":
        inner_steps = figure["where"]["methods.diloco.inner_steps"]
        return all_reduces(scenario, 1 / inner_steps, number(scenario["workload"]["step_time"]["constant"]))
    return all_reduces(scenario, scenario["replicas"] if scenario["name"] == "tc-cluster-50ms" else 1)


def pipeline(scenario):
    """MIRI: (M + S - 1)(compute + message + latency) of a micro-batch."""
    rate, rtt = link(scenario)
    stages, micro = scenario["pipeline"]["stages"], scenario["pipeline"]["microbatches"]
    message = scenario["workload"]["tokens"] / micro * scenario["pipeline"]["bytes_per_token"] * 8 / rate
    return None, (micro + stages - 1) * (number(scenario["workload"]["step_time"]["constant"]) / micro / stages + message + rtt)


def point_of(scenario, figure):
    """The point of the sweep that the figure's own keys and assumptions name."""
    keys = {**figure.get("where", {}), **figure.get("assumed", {})}
    sweep = scenario.get("sweep", [])
    for entry in sweep if isinstance(sweep, list) else [sweep]:
        if all(keys[key] in values for key, values in entry.items() if key in keys) and set(keys) <= set(entry):
            return with_keys(scenario, {**{key: values[0] for key, values in entry.items()}, **keys})
    return with_keys(scenario, keys)


class Ratio(float):
    """Of a cell of tables.md, which has two decimals and is bold where the ratio itself is off by more than 15 %."""

    def __new__(cls, cell):
        ratio = super().__new__(cls, cell.strip("*"))
        ratio.is_near = not cell.startswith("**")
        return ratio


def is_near(ratio):
    return ratio.is_near if isinstance(ratio, Ratio) else abs(ratio - 1) <= 0.15


def of_tables():
    """Longhaul's ratios by scenario and figure."""
    ratios, name = {}, ""
    for line in (HERE / "tables.md").read_text().splitlines():
        if heading := re.match(r"### ([\w-]+):", line):
            name = heading[1]
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and len(cells) > 3 and re.fullmatch(r"\**[\d.]+\**", cells[3]):
            ratios[name, cells[0]] = Ratio(cells[3])
    return ratios


def rows():
    """What was measured, and by model the ratios of predicted to published."""
    ratios = of_tables()
    for name, words, has in (
            ("diloco-measured", "DiLoCo's all-reduce, 4 nodes, 50 Mb/s to 5 Gb/s", "DiLoCo"),
            ("diloco-measured", "DDP's step beyond its compute, the same", "DDP"),
            ("tc-cluster-nccl", "NCCL's all-reduce, 4 to 16 nodes, 1 to 5 Gb/s", ""),
            ("tc-cluster-gloo", "Gloo's, the same", ""),
            ("ft-diloco", "a step of torchft's DiLoCo, 2 nodes, 50 Mb/s to 1 Gb/s", ""),
            ("tc-cluster-50ms", "NCCL's, 4 to 16 in a row, 50 ms one way", ""),
            ("pccl-north-america", "PCCL's all-reduce, 12 nodes, North America", ""),
            ("pccl-europe", "6 nodes, Western Europe", ""),
            ("pccl-atlantic", "18 nodes, both", ""),
            ("intellect-1-usa", "INTELLECT-1's all-reduce, USA, links not published", ""),
            ("intellect-1-eu", "USA and EU", ""),
            ("intellect-1-world", "world", ""),
            ("protocol-nanogpt", "a step of eight stages at 200 Mb/s", "")):
        scenario = json.loads((SCENARIOS / "validation" / f"{name}.json").read_text())
        found = [[], [], []]
        for figure in scenario["validation"]["figures"]:
            if not figure["what"].startswith(has):
                continue
            for model, seconds in enumerate(of_figure(point_of(scenario, figure), figure)):
                if seconds:
                    found[model].append(seconds / figure["value"])
            found[2].append(ratios[name, figure["what"]])
        yield words, found
    # A formula has no failures: every step counts.
    yield ("torchft's share of steps that count, a failure a minute",
           [[1 / 0.8233], [1 / 0.8233], [ratios["torchft", "share of steps committed"]]])
    # 14 nodes all the time, 38 minutes a hundred steps, the measured 469 s.
    steps, planned = re.search(r"\| 14 \| 469 s \| ([\d,]+) \| ([\d.]+) d", (HERE.parent / "plans.md").read_text()).groups()
    days = int(steps.replace(",", "")) * (22.8 + 469 / 100) / 86400
    yield "INTELLECT-1's 42 days, all 14 nodes all the time", [[days / 42], [days / 42], [float(planned) / 42]]


def cell(ratios):
    if not ratios:
        return "–"
    middle = f"{statistics.median(ratios):.2f}"
    return middle if len(ratios) == 1 else f"{middle} ({min(ratios):.2f} to {max(ratios):.2f})"


def page():
    table = list(rows())
    lines = ["# Measured runs beside the formulas of calculators", "",
             "Written by `python3 results/reference/validation/calculators.py`. Predicted over published: the median, and the range.", "",
             "Where all nodes have one kind of link and NCCL keeps it busy, a formula is as near as Longhaul. It lacks what a library waits for, what small messages cost on long paths, "
             "hops of a pipeline both ways, and failures.", "",
             "| measured | figures | Charles et al. | MIRI | Longhaul |", "|---|---:|---:|---:|---:|"]
    lines += [f"| {words} | {len(found[2])} | {' | '.join(map(cell, found))} |" for words, found in table]
    near = [sum(is_near(ratio) for _, found in table for ratio in found[model]) for model in range(3)]
    all_of = [sum(len(found[model]) for _, found in table) for model in range(3)]
    near_of_both = sum(is_near(ratio) for _, found in table for ratio in found[2] if found[0])
    lines += ["| within 15 % | | " + " | ".join(f"{some} of {every}" for some, every in zip(near, all_of)) + " |",
              f"| of the figures that Charles et al. have a formula for | | {near[0]} of {all_of[0]} | | {near_of_both} of {all_of[0]} |", "",
              "- **Charles et al.**, [2503.09799](https://arxiv.org/abs/2503.09799), appendix A: 2N/W (1 − 1/R) + ε an all-reduce of N bits "
              "among R at W bit/s. [mino98's calculator](https://mino98.github.io/diloco-calculator) states it; "
              "[Douillard's](https://arthurdouillard.com/diloco/index.html) names the paper, and overlaps with the backward pass, which it is not "
              "held to here.",
              "- **MIRI**: [documentation](https://github.com/robirahman/miri-decentralized-training-report/blob/"
              "025a6910bb99b72b0d64f48cfb1b5e2e75cd9a37/Simulator_Documentation.md) of its simulator, section 3: 2V/W + latency, and "
              "(M + S − 1)(compute + message + latency) of a micro-batch for a pipeline.",
              "- A formula takes one link: between regions the slowest throughput and the longest round trip of the matrix that Longhaul takes. "
              "DT-FM has pipelines and replicas together, for which neither has a formula.",
              "- A step of torchft's DiLoCo holds its compute, which all three get.",
              "- INTELLECT-1's 42 days are missed by all: who was there when, and its pauses, are not published ([plans](../plans.md)).", ""]
    return "\n".join(lines)


def main():
    if sys.argv[1:] == ["--check"]:
        if (HERE / "calculators.md").read_text() != page():
            sys.exit("calculators.md is not what calculators.py prints: python3 results/reference/validation/calculators.py > "
                     "results/reference/validation/calculators.md")
        return
    print(page(), end="")


main()
