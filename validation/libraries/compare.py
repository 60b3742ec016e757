#!/usr/bin/env python3
"""What Longhaul predicts beside what real libraries took (results/reference/libraries/rows.csv, which measure.py wrote).

Each case is replayed as it was measured: the same star, `library`, operation, bytes and ranks, a cold call and warm ones behind pauses.
Prints Markdown: how far off by library, operation, size and ranks, then each case.

  compare.py results/reference/libraries/rows.csv --programs build/bin > results/reference/libraries/predicted.md
  compare.py rows.csv --library open-mpi --ranks 4 --rows
"""
import argparse
import collections
import csv
import pathlib
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from replays import Replays, StatusError, percents  # noqa: E402

# Operation of rows.csv: kind and collective of a rule.
RULES = {"all_reduce": ("all-reduce", "library"), "reduce_scatter": ("reduce-scatter", "reduce-scatter"),
         "all_gather": ("all-gather", "all-gather"), "all_to_all": ("all-to-all", "pairwise")}
UNITS = 65536  # of one replica in an all-to-all, where they are drawn: parts are equal within some 2 %
SIZES = [(65536, "to 64 KiB"), (1 << 20, "to 1 MiB"), (1 << 62, "more")]
CASE = ["library", "version", "operation", "ranks", "rate_mbps", "rtt_ms", "bytes"]
WHEN = ["cold", "warm"]


def size_class(size):
    return next(name for most, name in SIZES if size <= most)


def cases(path, options):
    """{case: {call: seconds}}, and the pause."""
    found, pause_s = collections.defaultdict(dict), {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if row["operation"] not in RULES or row["variant"]:
                continue
            if options.library and row["library"] not in options.library.split(",") or \
                    options.operation and row["operation"] not in options.operation.split(",") or \
                    options.ranks and row["ranks"] not in options.ranks.split(","):
                continue
            case = tuple(row[column] for column in CASE)
            found[case][int(row["call"])] = float(row["seconds"])
            pause_s[case] = float(row["pause_s"])
    return found, pause_s


def sent_in(operation, ranks, size):
    """Parameters, and the keys of the rule."""
    kind, collective = RULES[operation]
    rule = {"kind": kind, "collective": collective}
    if operation != "all_to_all":
        return size, rule
    units = min(UNITS, size)
    width = size // units
    return ranks * units * width, rule | {"units": [{"count": ranks * units, "matrices": [[0, width, 1, width, width]]}]}


def predicted(replays, number, case, pause_s, calls):
    """Seconds of each call."""
    library, _, operation, ranks, rate, rtt, size = case
    network = {"fidelity": "flow", "library": library, "topology": {"star": {"rate": f"{rate}Mbps", "rtt": f"{rtt}ms"}}}
    exchanges = replays.exchanges(f"case-{number}", network, int(ranks), sent_in(operation, int(ranks), int(size)),
                                  pause_s, list(range(1, calls + 1)))
    return [max(float(row["done_s"]) for row in rows) - max(float(row["ready_s"]) for row in rows) for rows in exchanges]


def compared(path, options):
    """(case, cold or warm, measured, predicted): warm calls by their mean."""
    found, pause_s = cases(path, options)
    replays = Replays(options.programs)
    rows = []
    for number, (case, measured) in enumerate(found.items()):
        try:
            times = predicted(replays, number, case, pause_s[case], max(max(measured), 3) + 1)
        except StatusError as error:
            print(f"{' '.join(case)}: {error}", file=sys.stderr)
            continue
        warm = [call for call in measured if call > 0]
        for when, calls in (("cold", [0] if 0 in measured else []), ("warm", warm)):
            if calls:
                rows.append((case, when, statistics.mean(measured[call] for call in calls), statistics.mean(times[call] for call in calls)))
    return rows


def off(rows):
    residuals = [prediction / measurement - 1 for _, _, measurement, prediction in rows]
    median, high, most, mean = percents(residuals)
    return [len(rows), f"{median:.1f}", f"{high:.1f}", f"{most:.1f}", f"{mean:+.1f}"]


def table(heads, lines):
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for line in lines:
        print("| " + " | ".join(str(cell) for cell in line) + " |")
    print()


def by(rows, *keys):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[tuple(key(row) for key in keys)].append(row)
    return [[*group, *off(members)] for group, members in sorted(groups.items())]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rows_file")
    parser.add_argument("--programs", default=str(HERE.parents[1] / "build/bin"), help="the folder of longhaul and longhaul-sim")
    parser.add_argument("--library")
    parser.add_argument("--operation")
    parser.add_argument("--ranks")
    parser.add_argument("--rows", action="store_true", help="the cases alone, as text")
    options = parser.parse_args()
    rows = compared(options.rows_file, options)
    if options.rows:
        for case, when, measurement, prediction in rows:
            print(f"{' '.join(case):55} {when} {measurement:8.4f} {prediction:8.4f} {prediction / measurement:6.3f}")
        return
    spread = ["cases", "median", "95th", "largest", "mean"]
    print("# Libraries: predicted beside measured\n\n<!-- Written by validation/libraries/compare.py. -->\n")
    print("How far the predicted seconds are from the measured ones, in per cent of these: median, 95th percentile and largest of the "
          "sizes, and the mean with its sign. A case is an operation of so many bytes among so many ranks in one world. Cold: the first "
          "call. Warm: the mean of those after it, 0.2 s after the end of the one before.\n")
    for when in WHEN:
        those = [row for row in rows if row[1] == when]
        if not those:
            continue
        print(f"## {when.capitalize()}\n")
        library, operation = (lambda row: row[0][0]), (lambda row: row[0][2])
        table(["library", *spread], by(those, library))
        table(["library", "operation", *spread], by(those, library, operation))
        table(["library", "size", *spread], by(those, library, lambda row: size_class(int(row[0][6]))))
        table(["library", "ranks", *spread], by(those, library, lambda row: int(row[0][3])))
    print("## Each case\n")
    together = collections.defaultdict(dict)
    for case, when, measurement, prediction in rows:
        together[case][when] = (measurement, prediction)
    lines = []
    for case, times in together.items():
        cells = []
        for when in WHEN:
            measurement, prediction = times.get(when, (None, None))
            cells += [f"{measurement:.3f}", f"{prediction:.3f}", f"{prediction / measurement:.2f}"] if measurement else ["", "", ""]
        lines.append([*case, *cells])
    table(["library", "version", "operation", "ranks", "Mb/s", "ms", "bytes", "cold, s", "predicted", "ratio", "warm, s", "predicted",
           "ratio"], lines)


if __name__ == "__main__":
    main()
