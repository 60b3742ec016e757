#!/usr/bin/env python3
"""How far the flow and packet fidelities are from the Linux kernel's own TCP: replays the exchanges that measure.py timed and
prints the residuals as tables. By hand: kernel_residuals.py FILE [detail]
"""
import csv
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from replays import Replays, seconds, spread

# From cold windows, 10 ms after that one, and 1 s after the second: at the end of these steps of 10 ms.
EXCHANGES = {"cold": "cold_s", "at once": "warm_s", "after 1 s": "after_idle_s"}
STEP_S, STEPS = 0.01, (1, 2, 102)


def residuals(point, fidelity, replays):
    """By exchange (seconds, relative to the kernel's)."""
    queue = point["queue"].removesuffix("-ecn")
    # The bottleneck is the sender's: what comes after it in the measurement only delays.
    network = {"fidelity": fidelity, "tcp": {"connections": int(point["connections"]), "queue": queue, "ecn": queue != point["queue"],
                                             "congestion_control": point["congestion_control"]},
               "topology": {"star": {"up": f"{point['rate_bps']}bps", "down": "10Gbps", "rtt": f"{point['rtt_s']}s"}}}
    sent = int(point["bytes"]), [[1], [0] if point["directions"] == "2" else []]
    exchanges = replays.exchanges("point", network, 2, sent, STEP_S, STEPS)
    times_s = [max(seconds(rows).values()) for rows in exchanges]
    return [(time_s, time_s / float(point[column]) - 1) for time_s, column in zip(times_s, EXCHANGES.values())]


def main(file, prints):
    replays, rows = Replays(), {}
    with open(file, newline="") as text:
        points = list(csv.DictReader(text))
    for point in points:
        for fidelity in ("flow", "packet"):
            if fidelity == "flow" and point["queue"] == "fifo":
                continue  # has no model of it
            ways = "1 direction" if point["directions"] == "1" else point["directions"] + " directions"
            for (name, column), (time_s, residual) in zip(EXCHANGES.items(), residuals(point, fidelity, replays)):
                row = f"{point['queue']}, kernel's {point['congestion_control']}, {ways}, {name}, {fidelity}"
                rows.setdefault(row, []).append(residual)
                if prints:
                    print(f"{point['queue']:12} {point['congestion_control']:5} {float(point['rate_bps']) / 1e6:3.0f} Mb/s "
                          f"{1e3 * float(point['rtt_s']):3.0f} ms {point['connections']} conn. {point['directions']} dir. "
                          f"{float(point['products']):3.0f} BDP  {name:9}  kernel {float(point[column]):8.4f}  {fidelity:6} "
                          f"{time_s:8.4f} {100 * residual:+6.1f} %", flush=True)
    print("\n| residual against the kernel | points | median % | 95th % | largest % | mean, signed % |\n|---|---|---|---|---|---|")
    for name in sorted(rows):
        print(f"| {name} | {len(rows[name])} | " + " | ".join(spread(rows[name])) + " |")


if __name__ == "__main__":
    main(sys.argv[1], len(sys.argv) > 2)
