#!/usr/bin/env python3
"""Prints what results/reference/kernel/rings.csv says: for each world the means of its runs and their range, and for each
class how far one run is from the mean of the world's others (median and 95th percentile).

  validation/kernel/rings_summary.py results/reference/kernel/rings.csv
"""
import csv
import statistics
import sys

from rings import WORLD


def runs_of(path):
    """{world: [rows]} in the order of the file."""
    worlds = {}
    with open(path) as file:
        for row in csv.DictReader(file):
            worlds.setdefault(tuple(row[name] for name in WORLD), []).append(row)
    return worlds


def own_errors(values):
    """One run against the mean of the others, per cent."""
    for number, value in enumerate(values):
        others = values[:number] + values[number + 1:]
        if others:
            yield 100 * abs(value / statistics.mean(others) - 1)


def percentile(errors, share):
    return sorted(errors)[int(len(errors) * share)]


def main():
    worlds, errors = runs_of(sys.argv[1]), {}
    print("world | runs | cold: mean, least–most | later: mean, least–most | background Mb/s")
    for world, rows in worlds.items():
        texts = []
        for column in ("cold_s", "later_s"):
            values = [float(row[column]) for row in rows]
            texts.append(f"{statistics.mean(values):.3f}, {min(values):.3f}–{max(values):.3f}")
            errors.setdefault((world[0], world[WORLD.index("congestion_control")], column), []).extend(own_errors(values))
        background = statistics.mean(float(row["background_bps"]) for row in rows) / 1e6
        print(*world, "|", len(rows), "|", *texts, "|", f"{background:.1f}")
    print("class, congestion control, exchanges | values | median % | 95th %")
    for name, found in errors.items():
        if found:
            print(*name, "|", len(found), "|", f"{statistics.median(found):.1f} | {percentile(found, 0.95):.1f}")


main()
