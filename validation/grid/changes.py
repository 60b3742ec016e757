#!/usr/bin/env python3
"""What `flow`, `linux` and `packet` say of exchanges while the network changes: the sender's queue, CUBIC.

    validation/grid/changes.py [--every N] [--programs build/bin] [--out changes.csv]   # 20 minutes on two cores
    validation/grid/changes.py --read results/reference/residuals/changes.csv           # the table alone

A row is four exchanges, the first over cold connections, each after a step of 150 ms, while the links change as its kind says.
`packet` has each fourth point of the kinds that it can replay; its cells are else empty. Prints flow and packet over linux, less one.
linux itself is held against Linux's TCP in such networks by tests/unit/net/linux_kernel_rings_test.cc."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from replays import rows_of_table, spread, times_of_exchanges

EXCHANGES = 4
FIDELITIES = ("flow", "linux", "packet")
COLUMNS = ["kind", "all_reduce", "replicas", "rate_mbps", "rtt_ms", "products", "connections"]
TIMES = [f"{fidelity}_{exchange}_s" for fidelity in FIDELITIES for exchange in range(1, EXCHANGES + 1)]


def rates(*changes, repeat=False, words="rates"):
    """Seconds, and the factor of all links' rates from then on."""
    return words, lambda rate, delay: (["time_s,rate_bps"] + [f"{at},{factor * rate}" for at, factor in changes], repeat)


def delays(*changes):
    return "delays", lambda rate, delay: (["time_s,delay_s"] + [f"{at},{factor * delay}" for at, factor in changes], False)


def jitter(kind, **sigmas):
    return kind, {"jitter": {**sigmas, "every": "500ms"}}


def background(kind, **more):
    return kind, {"background": [{"link": "replica1-core", "direction": "forward", **more}]}


ON_OFF = {"on": "1s", "off": "1s"}
KINDS = {
    "still": ("still", {}),
    "half the rate in turn": rates((0, 1), (0.4, 0.5), (0.8, 1), repeat=True),
    "a fifth in turn": rates((0, 1), (0.7, 0.2), (1.4, 1), repeat=True),
    "four times the rate": rates((0, 0.25), (1, 1)),
    "a quarter of the rate": rates((0, 1), (1, 0.25)),
    "twice the delay": delays((0, 1), (0.8, 2)),
    "five times the delay": delays((0, 0.2), (0.8, 1)),
    "half the delay": delays((0, 1), (0.8, 0.5)),
    "rate_sigma 0.2": jitter("jitter of rates to 0.2", rate_sigma=0.2),
    "rate_sigma 0.5": jitter("jitter of rates to 0.5", rate_sigma=0.5),
    "delay_sigma 0.1": jitter("jitter of delays", delay_sigma=0.1),
    "delay_sigma 0.3": jitter("jitter of delays", delay_sigma=0.3),
    "a flow": background("flows, always", flows=1),
    "four flows": background("flows, always", flows=4),
    "two flows at times": background("flows, at times", flows=2, **ON_OFF),
    "40 % at times": background("share of a link", share=0.4, **ON_OFF),
    "an outage of 1 s": rates((0, 1), (0.8, 0), (1.8, 1), words="outages"),
    "an outage of 3 s": rates((0, 1), (0.8, 0), (3.8, 1), words="outages"),
}
NOT_IN_PACKET = {"jitter of delays", "flows, always", "flows, at times", "share of a link", "outages"}


def points():
    for kind in KINDS:
        for all_reduce, replicas in (("ring", 2), ("ring", 4), ("direct", 4)):
            for rate, rtt in ((20, 50), (50, 100), (100, 30), (20, 200)):
                for products in (4, 20):
                    for connections in (1, 4):
                        yield kind, all_reduce, replicas, rate, rtt, products, connections


def variation(kind, rate, delay, folder):
    what = KINDS[kind][1]
    if not callable(what):
        return what
    rows, repeats = what(rate, delay)
    (folder / "trace.csv").write_text("\n".join(rows) + "\n")
    return {"traces": [{"link": "*", "file": "trace.csv", "repeat": repeats}]}


def exchanges_s(program, folder, point, fidelity):
    """Of each exchange: from the last that is ready to the last that is done."""
    kind, all_reduce, replicas, rate, rtt, products, connections = point
    message = int(products * rate * 1e6 / 8 * rtt / 1e3)
    scenario = {"name": "changes", "replicas": replicas,
                "methods": [{"name": "diloco", "inner_steps": 1, "all_reduce": all_reduce}],
                "workload": {"parameters": message * replicas // 2, "wire": "bf16", "steps": EXCHANGES,
                             "step_time": {"constant": "150ms"}},
                "network": {"fidelity": fidelity, "tcp": {"connections": connections},
                            "topology": {"star": {"rate": f"{rate}Mbps", "rtt": f"{rtt}ms"}},
                            "variation": variation(kind, rate * 1e6, rtt / 4e3, folder)}}
    return times_of_exchanges(program, folder, scenario, EXCHANGES)


def measured(point, number, program, folder):
    row = dict(zip(COLUMNS, point))
    for fidelity in FIDELITIES:
        if fidelity == "packet" and (number % 4 or KINDS[point[0]][0] in NOT_IN_PACKET):
            continue
        for exchange, second in enumerate(exchanges_s(program, folder, point, fidelity), 1):
            row[f"{fidelity}_{exchange}_s"] = f"{second:.6f}"
    return row


def print_table(rows, name_of):
    names = list(dict.fromkeys(name_of(row["kind"]) for row in rows))
    for fidelity in ("flow", "packet"):
        print(f"\n| {fidelity} | exchanges | median % | 95th % | largest % | mean, signed % |\n|---|---|---|---|---|---|")
        for name in names:
            off = [float(row[f"{fidelity}_{n}_s"]) / float(row[f"linux_{n}_s"]) - 1 for row in rows
                   for n in range(1, EXCHANGES + 1) if name_of(row["kind"]) == name and row.get(f"{fidelity}_{n}_s")]
            if off:
                print(f"| {name} | {len(off)} | {' | '.join(spread(off))} |")


def measured_rows(program, folder, every):
    return [measured(point, number, program, folder) for number, point in list(enumerate(points()))[::every]]


def main():
    rows = rows_of_table(__doc__, measured_rows, COLUMNS + TIMES)
    print_table(rows, lambda kind: KINDS[kind][0])
    print_table(rows, lambda kind: kind)


if __name__ == "__main__":
    main()
