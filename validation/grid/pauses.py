#!/usr/bin/env python3
"""What `flow` and `linux` say of exchanges after a pause: 315 points, the sender's queue, CUBIC, one connection.

    validation/grid/pauses.py [--every N] [--programs build/bin] [--out pauses.csv]     # a quarter of an hour on two cores
    validation/grid/pauses.py --read results/reference/residuals/pauses.csv             # the table alone

A row is three exchanges, each after a step of `pause_ms`: the first over cold connections, of which the table has none. `products`:
bytes of a message in bandwidth-delay products. Prints flow over linux, less one, by products and round trips."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from replays import rows_of_table, spread, times_of_exchanges

COLUMNS = ["all_reduce", "replicas", "rate_mbps", "rtt_ms", "products", "pause_ms", "bytes"]
TIMES = [f"{fidelity}_{exchange}_s" for fidelity in ("flow", "linux") for exchange in (1, 2, 3)]


def points():
    for collective, replicas in (("ring", 2), ("direct", 4), ("ring", 4)):
        for rate, rtt in ((20, 50), (50, 100), (100, 30), (50, 200), (200, 60)):
            for products in (1, 3, 8):
                for pause in (350, 500, 700, 900, 1100, 1400, 1900):
                    message = int(products * rate * 1e6 / 8 * rtt / 1e3)
                    yield collective, replicas, rate, rtt, products, pause, message * (replicas if collective == "ring" else 2)


def exchanges_s(program, folder, point, fidelity):
    """Of each of three exchanges: from the last that is ready to the last that is done."""
    collective, replicas, rate, rtt, _, pause, size = point
    scenario = {"name": "pauses", "replicas": replicas,
                "methods": [{"name": "diloco", "inner_steps": 1, "all_reduce": collective}],
                "workload": {"parameters": size // 2, "wire": "bf16", "steps": 3, "step_time": {"constant": f"{pause}ms"}},
                "network": {"fidelity": fidelity, "topology": {"star": {"rate": f"{rate}Mbps", "rtt": f"{rtt}ms"}}}}
    return times_of_exchanges(program, folder, scenario, 3)


def measured_rows(program, folder, every):
    for point in list(points())[::every]:
        times = [second for fidelity in ("flow", "linux") for second in exchanges_s(program, folder, point, fidelity)]
        yield dict(zip(COLUMNS + TIMES, [*point, *(f"{second:.6f}" for second in times)]))


def main():
    rows = rows_of_table(__doc__, lambda *arguments: list(measured_rows(*arguments)), COLUMNS + TIMES)
    print("| | exchanges | median % | 95th % | largest % | mean, signed % |\n|---|---|---|---|---|---|")
    for column in ("products", "rtt_ms"):
        for value in sorted({int(row[column]) for row in rows}):
            off = [float(row[f"flow_{n}_s"]) / float(row[f"linux_{n}_s"]) - 1
                   for row in rows if int(row[column]) == value for n in (2, 3)]
            print(f"| {column} {value} | {len(off)} | {' | '.join(spread(off))} |")


if __name__ == "__main__":
    main()
