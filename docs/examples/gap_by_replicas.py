#!/usr/bin/env python3
"""How the gap in loss between each method and a baseline grows with the replicas, with a 95 % interval.

    python3 docs/examples/gap_by_replicas.py RUN [--baseline ddp] [--metric final_loss] [--where KEY=VALUE]...

RUN is a run directory that swept `replicas` over several seeds. --where keeps the cases with this value of a swept key
or number, so that one sweep can hold several laws: of scenarios/paper/hundreds.json take train.batch=4 (equal steps) and
tokens=19660800 (equal tokens).

The law is gap = a + b log2 N. The gap is of the same seed and N, and b, nats a doubling, is the least-squares slope over
N of each seed by itself: N replicas of a seed share the first replicas' data with every larger N, so seeds are what is
independent. The interval is Student's t over the seeds' slopes. It says how well b is known if the law holds; the last
column says how far the mean gap of an N lies from the line. Needs the package (`pip install ./python`).
"""
import argparse
import collections
import math
import statistics
import sys

# 97.5th percentiles of Student's t with 1, 2, ... degrees of freedom.
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)

Law = collections.namedtuple("Law", "slope low high intercept worst seeds replicas")


def line(points):
    """Intercept and slope of the least squares through (x, y)."""
    fit = statistics.linear_regression(*zip(*points))
    return fit.intercept, fit.slope


def gaps(rows, label, baseline, metric="final_loss"):
    """{seed: [(log2 N, gap), ...]}; a seed and N that lack either case, or have it twice, raise ValueError."""
    found = {name: {} for name in (label, baseline)}
    for row in rows:
        if row["label"] in found and row.get(metric) is not None:
            place = row["seed"], row["replicas"]
            if place in found[row["label"]]:
                raise ValueError(f"{row['label']}: two cases with seed {place[0]} and {place[1]} replicas: choose with --where")
            found[row["label"]][place] = row[metric]
    if found[label].keys() != found[baseline].keys():
        raise ValueError(f"{label} and {baseline} do not have the same seeds and replicas: is the run done?")
    by_seed = collections.defaultdict(list)
    for (seed, replicas), value in sorted(found[label].items()):
        by_seed[seed].append((math.log2(replicas), value - found[baseline][seed, replicas]))
    return by_seed


def law_of(by_seed):
    """The law of gaps(), of 2 to 10 seeds with the same values of N, at least two. ValueError otherwise."""
    sizes = {tuple(x for x, _ in points) for points in by_seed.values()}
    if not 2 <= len(by_seed) <= len(STUDENT) + 1 or len(sizes) != 1 or len(next(iter(sizes))) < 2:
        raise ValueError("2 to 10 seeds are needed, each with the same values of N, at least two")
    slopes = [line(points)[1] for points in by_seed.values()]
    half = STUDENT[len(slopes) - 2] * statistics.stdev(slopes) / math.sqrt(len(slopes))
    means = [(points[0][0], statistics.fmean(gap for _, gap in points)) for points in zip(*by_seed.values())]
    intercept, slope = line(means)
    worst = max((gap - intercept - slope * x for x, gap in means), key=abs)
    return Law(slope, slope - half, slope + half, intercept, worst, len(slopes), [round(2 ** x) for x, _ in means])


def main(arguments):
    import longhaul
    from longhaul.tables import value_of

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("--baseline", default="ddp")
    parser.add_argument("--metric", default="final_loss")
    parser.add_argument("--where", action="append", default=[], metavar="KEY=VALUE")
    options = parser.parse_args(arguments)
    where = {key: value_of(value) for key, _, value in (text.partition("=") for text in options.where)}
    rows = longhaul.open_run(options.run).cases().where(**where)
    labels = [label for label in dict.fromkeys(row["label"] for row in rows) if label != options.baseline]
    if not labels:
        sys.exit(f"{options.run}: no case of a method beside {options.baseline} with {where}")
    print(f"{'method':24} {'a doubling':>10} {'95 % interval':>22} {'off the line':>12}   seeds, N")
    for label in labels:
        try:
            law = law_of(gaps(rows, label, options.baseline, options.metric))
        except ValueError as error:
            print(f"{label:24} {error}")
            continue
        interval = f"[{law.low:+.4f}, {law.high:+.4f}]"
        print(f"{label:24} {law.slope:+10.4f} {interval:>22} {law.worst:+12.4f}   {law.seeds}, {law.replicas}")


if __name__ == "__main__":
    main(sys.argv[1:])
