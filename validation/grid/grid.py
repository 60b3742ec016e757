#!/usr/bin/env python3
"""The validation grid: exchanges over small networks in packets, in `linux` and in `flow` (results/reference/residuals). By hand:

    validation/grid/grid.py packets CASES FILE [--set NAME] [--number I] [--jobs N]     # hours
    validation/grid/grid.py linux CASES FILE [--set NAME] [--number I] [--jobs N]       # minutes
    validation/grid/grid.py residuals REFERENCE OUT [--linux]                           # 15 s

A row of CASES, such as results/reference/residuals/packets.csv, is a case with the seed of its random losses: two exchanges,
the first over cold connections and one more after gap_s. `packets` and `linux` append to FILE what is not in it yet, and may be
killed and started again; a run that stalls, crashes or takes too long is a row with that status and no times. `residuals` writes both
exchanges of each case as the REFERENCE (packet_s, also where that is `linux`), `flow`, latency + bytes / rate and SimGrid's default model have them, for residuals.py
beside it; the mean where a case has several seeds.
"""
import argparse
import concurrent.futures
import csv
import json
import math
import os
import pathlib
import resource
import signal
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from replays import ROOT, Replays, StatusError, rates, seconds, spread

OUTCOME = ["seed", "status", "cold_s", "cold_first_s", "again_s", "again_first_s"]  # of a row; all before them are the case
MODELS = ["half", "exchange", "packet_s", "flow_s", "naive_s", "simgrid_s", "packet_first_s", "flow_first_s"]
INSIDE_S = 0.005  # round trip inside one of several sites
HEADERS = 90      # bytes of a segment on the wire
STALLED, REFUSED = 1, 2


def read(file):
    with open(file, newline="") as rows:
        return list(csv.DictReader(rows))


def is_judge(row):
    """No parameter of `flow` may be fitted on the cases that it is judged on: the odd ones of a set."""
    return int(row["number"]) % 2 == 1


def pairs_of(row):
    """Replica i with replica i + half of them, all at the same time; none in a collective of all replicas."""
    half = int(row["replicas"]) // 2
    return [(i, i + half) for i in range(half)] if row["kind"] in ("single", "pair") else []


def sent_by(row):
    targets = [[] for _ in range(int(row["replicas"]))]
    for near, far in pairs_of(row):
        targets[near].append(far)
        if row["kind"] == "pair":
            targets[far].append(near)
    return int(row["bytes"]), targets if pairs_of(row) else row["kind"]


def two_sites(row):
    """A trunk with half of the shortest one-way delay; access links share the rest. Round trips fall geometrically from pair to
    pair, from the longest to the shortest."""
    pairs, rtt_s, ratio = pairs_of(row), float(row["rtt_s"]), float(row["rtt_ratio"])
    trunk_s = rtt_s / ratio / 4
    overrides = [{"replica": "all", **rates(row, "up", "down")}]
    for i, pair in enumerate(pairs):
        longest_s = rtt_s * math.pow(ratio, -i / (len(pairs) - 1)) if len(pairs) > 1 else rtt_s
        overrides += [{"replica": str(replica), "delay": f"{(longest_s / 2 - trunk_s) / 2!r}s"} for replica in pair]
    graph = {"file": str(ROOT / "validation/grid/two-sites.graphml"), "replicas": {"near": len(pairs), "far": len(pairs)},
             "rate": "1Gbps", "rtt": "0s", "inflation": 1, "routing": "hops", "default_rate": rates(row, "trunk")["trunk"], "default_delay": f"{trunk_s!r}s"}
    return {"topology": {"graphml": graph}, "overrides": overrides}


def regions(row, folder):
    """Sites of neighbouring replicas. Between sites i < j the longest round trip over a factor, and the throughput of a connection
    times it: what a window that is the same everywhere would carry."""
    replicas, count = int(row["replicas"]), int(row["sites"])
    sites = [f"site{i}" for i in range(count)]

    def nearness(i, j):
        return 1.5 if i else 1 if j == 1 else 2

    between = [{"between": [sites[i], sites[j]], "rtt": f"{float(row['rtt_s']) / nearness(i, j)!r}s",
                "throughput": f"{float(row['throughput']) * nearness(i, j)!r}bps"} for i in range(count) for j in range(i + 1, count)]
    matrix = {"about": "validation grid", "source": "drawn", "sites": sites, "pairs": between,
              "inside": {"rtt": f"{INSIDE_S}s", "throughput": "1000Tbps"}}
    name = f"sites{row['set']}{row['number']}.json"
    (folder / name).write_text(json.dumps(matrix))
    placed = [i * count // replicas for i in range(replicas)]
    return {"topology": {"regions": {"matrix": name, "replicas": {site: placed.count(i) for i, site in enumerate(sites)},
                                     "rate": rates(row, "up")["up"]}},
            "overrides": [{"replica": "all", **rates(row, "up", "down")}]}


def network_of(row, fidelity, folder):
    tcp = {"connections": int(row["connections"]), "congestion_control": "cubic", "queue": row["queue"],
           "queue_size": float(row["queue_products"]), "ecn": row["ecn"] == "1", "loss": float(row["loss"]),
           "segment": int(row["segment"])}
    if fidelity == "packet" and tcp["loss"] or fidelity == "flow as packets" and not tcp["loss"]:
        tcp["loss_response"] = "ns3-3.37"  # packets know no other, and `flow` has their windows after pauses
    fidelity = fidelity.split()[0]
    if float(row["window"]) > 0:
        tcp["window"] = f"{float(row['window'])!r}B"
    if row["trunk_fifo"] == "1" and fidelity != "flow":  # which has none: it is held against packets with one as it is
        tcp["trunk_queue"] = "fifo"
    links = regions(row, folder) if int(row["sites"]) else two_sites(row) if float(row["trunk"]) else \
        {"topology": {"star": {**rates(row, "up", "down"), "rtt": f"{float(row['rtt_s'])!r}s"}}}
    return {"fidelity": fidelity, "tcp": tcp, **links}


def name_of(row):
    return f"{row['set']}-{row['number']}-{row.get('seed', 1)}"


def times_of(row, fidelity, replays, before=None):
    """Of both exchanges until the last replica is done, and until the first pair is (of a collective the last replica again)."""
    times = []
    for rows in replays.exchanges(f"{name_of(row)}-{fidelity}", network_of(row, fidelity, replays.folder), int(row["replicas"]),
                                  sent_by(row), float(row["gap_s"]), (1, 2), int(row["seed"]), before):
        taken = seconds(rows)
        groups = [max(taken[near], taken[far]) for near, far in pairs_of(row)] or [max(taken.values())]
        times += [max(groups), min(groups)]
    return times


def naive_s(row):
    """Latency + bytes / rate, with the headers' part of the rate, fair sharing of a trunk and nothing else: the closed forms of
    docs/reference/collectives.md."""
    kind, n, rtt_s, trunk = row["kind"], int(row["replicas"]), float(row["rtt_s"]), float(row["trunk"])
    connections, segment = int(row["connections"]), int(row["segment"])
    rate = min(float(row["up"]), float(row["down"]), trunk / (n // 2) if trunk else math.inf) / 8 * (segment / (segment + HEADERS))
    if float(row["window"]) > 0:
        rate = min(rate, connections * float(row["window"]) / rtt_s)
    if float(row["throughput"]) > 0:
        rate = min(rate, connections * float(row["throughput"]) / 8)
    size, latency_s = int(row["bytes"]), rtt_s / 2
    if kind == "ring":
        return 2 * (n - 1) * (latency_s + -(-size // n) / rate)
    if kind == "tree":
        return 2 * math.ceil(math.log2(n)) * (latency_s + size / rate)
    if kind == "halving-doubling":
        levels = n.bit_length() - 1
        core, vector_s = 1 << levels, size / rate
        return 2 * levels * latency_s + 2 * (core - 1) / core * vector_s + (2 * (latency_s + vector_s) if n > core else 0)
    return latency_s + size / rate


def simgrid_s(row, replays):
    """Of one exchange: SimGrid knows no connections, so that the first is like any other. -1 where it is not built."""
    program = replays.programs / "simgrid_exchange"
    if not program.exists():
        return -1
    folder = replays.write(f"{name_of(row)}-simgrid", network_of(row, "flow", replays.folder), int(row["replicas"]), sent_by(row))
    done = subprocess.run([program, folder / "case.json", folder / "trace.jsonl"], check=True, capture_output=True)
    return float(done.stdout.split()[0])


def cases_in(rows):
    """Lists of the rows that differ by their seed alone."""
    cases = {}
    for row in rows:
        cases.setdefault(tuple(cell for key, cell in row.items() if key not in OUTCOME), []).append(row)
    return list(cases.values())


def mean(times):
    return [statistics.fmean(column) for column in zip(*times)]


def entries_of(rows, replays, jobs=os.cpu_count(), flow="flow as packets"):
    """The two exchanges of each case in every model. Cases of which a seed is missing, and FIFOs, which `flow` has not, are left out."""
    def entries(seeds):
        row = seeds[0]
        packet = mean([[float(row[key]) for key in OUTCOME[2:]] for row in seeds])
        fluid = mean([times_of(row, flow, replays) for row in seeds])
        case = {key: cell for key, cell in row.items() if key not in OUTCOME} | {"half": "judge" if is_judge(row) else "train"}
        others = {"naive_s": naive_s(row), "simgrid_s": simgrid_s(row, replays)}
        return [case | others | {"exchange": name, "packet_s": packet[i], "packet_first_s": packet[i + 1], "flow_s": fluid[i],
                                 "flow_first_s": fluid[i + 1]} for i, name in ((0, "cold"), (2, "again"))]

    whole = [seeds for seeds in cases_in(rows) if sum(row["status"] == "done" for row in seeds) >= int(seeds[0]["seeds"])]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return [entry for both in pool.map(entries, [seeds for seeds in whole if seeds[0]["queue"] != "fifo"]) for entry in both]


def shortest(number):
    """As the grid's files have numbers: 1e+09, 0.2."""
    return repr(number) if isinstance(number, float) else str(number)


def write_residuals(given, replays):
    rows = read(given.cases)
    with open(given.file, "w", newline="") as file:
        out = csv.DictWriter(file, [key for key in rows[0] if key not in OUTCOME] + MODELS, lineterminator="\n")
        out.writeheader()
        entries = entries_of(rows, replays, flow="flow" if given.linux else "flow as packets")
        for entry in entries:
            out.writerow({key: shortest(value) for key, value in entry.items()})
    print("| set, judge half | exchanges | flow: median % | 95th % | largest % | mean, signed % |\n|---|---|---|---|---|---|")
    judged = [entry for entry in entries if entry["half"] == "judge"]
    for name in dict.fromkeys(entry["set"] for entry in judged):
        for exchange in ("cold", "again"):
            off = [entry["flow_s"] / entry["packet_s"] - 1 for entry in judged if (entry["set"], entry["exchange"]) == (name, exchange)]
            print(f"| {name}, {exchange} | {len(off)} | {' | '.join(spread(off))} |")


def outcome_of(row, fidelity, replays, most_cpu_s):
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (most_cpu_s, most_cpu_s + 5))

    outcome = dict.fromkeys(OUTCOME[2:], "")
    try:
        outcome |= {"status": "done", **dict(zip(OUTCOME[2:], times_of(row, fidelity, replays, limit)))}
    except StatusError as error:
        words = {STALLED: "stalled", REFUSED: "refused", -signal.SIGXCPU: "unfinished"}
        outcome["status"] = words.get(error.status, "crashed")
        print(f"{name_of(row)}: {error}", file=sys.stderr)
    return row | outcome


def add_rows(given, replays):
    fidelity = {"packets": "packet", "linux": "linux"}[given.what]
    known = read(given.file) if given.file.exists() else []
    done = {tuple(cell for key, cell in row.items() if key not in OUTCOME[1:]) for row in known}
    wanted = [row for row in read(given.cases) if given.set in (None, row["set"]) and given.number in (None, int(row["number"]))
              and tuple(cell for key, cell in row.items() if key not in OUTCOME[1:]) not in done]
    with open(given.file, "a", newline="") as file, concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        out = csv.DictWriter(file, list(read(given.cases)[0]), lineterminator="\n")
        if not known:
            out.writeheader()
        for row in pool.map(lambda row: outcome_of(row, fidelity, replays, given.most_cpu_s), wanted):
            out.writerow({key: shortest(value) for key, value in row.items()})
            file.flush()
            print(row["set"], row["number"], "seed", row["seed"], row["status"], row["cold_s"], row["again_s"], flush=True)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("what", choices=("packets", "linux", "residuals"))
    options.add_argument("cases", type=pathlib.Path, help="CSV file whose rows are the cases")
    options.add_argument("file", type=pathlib.Path, help="CSV file that is written")
    options.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/bin", help="the folder of longhaul and longhaul-sim")
    options.add_argument("--simulator", type=pathlib.Path, help="another longhaul-sim than the one there")
    options.add_argument("--set", help="of packets and linux: this set of the grid only")
    options.add_argument("--number", type=int, help="of packets and linux: this case of each set only")
    options.add_argument("--most-cpu-s", type=int, default=120, help="of packets and linux: processor time after which a case is given up")
    options.add_argument("--linux", action="store_true", help="of residuals: the reference is `linux`, whose windows `flow` has then")
    options.add_argument("--jobs", type=int, default=1, help="of packets and linux: cases at a time")
    given = options.parse_args()
    replays = Replays(given.programs, given.simulator)
    if given.what == "residuals" and not (replays.programs / "simgrid_exchange").exists():
        print("simgrid_exchange was not built: its columns are -1 (cmake --build build --target simgrid_exchange, with libsimgrid-dev)",
              file=sys.stderr)
    (write_residuals if given.what == "residuals" else add_rows)(given, replays)


if __name__ == "__main__":
    main()
