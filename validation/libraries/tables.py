#!/usr/bin/env python3
"""Prints the tables of results/reference/libraries/README.md from the rows that measure.py wrote.

  tables.py times results/reference/libraries/rows.csv     means of the warm calls, in s, the cold call in brackets
  tables.py bytes results/reference/libraries/pairs.csv    whom each rank sends what: the pattern that shows an algorithm
"""
import collections
import csv
import statistics
import sys


def size_in_words(size):
    if size % 1000000 == 0:
        return f"{size // 1000000} MB"
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def stack_of(row):
    return " ".join(filter(None, [row["library"], row["version"].split("+")[0], row["variant"]]))


def times(rows):
    calls = collections.defaultdict(dict)
    for row in rows:
        calls[row["operation"], stack_of(row), int(row["ranks"]), f"{row['rate_mbps']} Mb/s, {row['rtt_ms']} ms", int(row["bytes"])][
            int(row["call"])] = float(row["seconds"])
    for operation in dict.fromkeys(key[0] for key in calls):
        of_it = {key[1:]: value for key, value in calls.items() if key[0] == operation}
        sizes = sorted({key[3] for key in of_it})
        print(f"\n**{operation}**\n\n| library | ranks | network | {' | '.join(map(size_in_words, sizes))} |\n|{'---|' * (3 + len(sizes))}")
        for line in dict.fromkeys(key[:3] for key in of_it):
            cells = []
            for size in sizes:
                seconds = of_it.get((*line, size), {})
                warm = [value for call, value in seconds.items() if call > 0]
                cells.append(f"{statistics.mean(warm):.3f}" + (f" ({seconds[0]:.2f})" if 0 in seconds else "") if warm else "")
            print(f"| {line[0]} | {line[1]} | {line[2]} | {' | '.join(cells)} |")


def sent(rows):
    """What rank 0 sends, peer: share of the vector; `other` is said where another rank sends otherwise."""
    cases = collections.defaultdict(dict)
    for row in rows:
        key = row["operation"], stack_of(row), int(row["ranks"]), int(row["bytes"])
        cases[key][int(row["from"]), int(row["to"])] = int(row["bytes_sent"]), int(row["connections"])
    for (operation, stack, ranks, size), pairs in sorted(cases.items()):
        by_rank = [sum(value for (a, _), (value, _) in pairs.items() if a == rank) for rank in range(ranks)]
        of_first = ", ".join(f"{b}: {value / size:.3g}" for (a, b), (value, _) in sorted(pairs.items()) if a == 0)
        most = max(connections for _, connections in pairs.values())
        print(f"| {operation} | {stack} | {ranks} | {size_in_words(size)} | {sum(by_rank) / size:.3g} | {min(by_rank) / size:.3g} to {max(by_rank) / size:.3g} | {of_first} | {most} |")


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("times", "bytes"):
        sys.exit(__doc__)
    with open(sys.argv[2], newline="") as file:
        (times if sys.argv[1] == "times" else sent)(list(csv.DictReader(file)))
