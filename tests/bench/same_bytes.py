#!/usr/bin/env python3
"""Whether two builds write the same tables: for changes that are to make replays faster and nothing else.

    tests/bench/same_bytes.py BEFORE/bin AFTER/bin [--largest 256] [--only NAME] [--work FOLDER]

Every collective, topology, queue and fidelity, equal and log-normal steps; the same scenarios run with both
builds' `longhaul`, and exchanges, links, breakdown, replicas, schedule and transfers of each case are compared
byte by byte. Exit status 1 if one differs. `--largest` bounds the replicas of the cases.
"""
import argparse
import filecmp
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

TABLES = ["exchanges.csv", "links.csv", "breakdown.csv", "replicas.csv", "schedule.jsonl", "transfers.csv"]
ALL_REDUCES = ["ring", "tree", "leaf-tree", "heap-tree", "double-tree", "halving-doubling", "direct",
               "parameter-server"]
STAR = {"star": {"rate": "1Gbps", "rtt": "50ms"}}
TOPOLOGIES = {
    "star": STAR,
    "mesh": {"mesh": {"rate": "1Gbps", "rtt": "50ms"}},
    "regions": {"regions": {"matrix": "aws-2022", "replicas": "even", "trunk": "5Gbps"}},
    "homes": {"homes": {}},
    "hierarchical": {"hierarchical": {"sites": 4, "inside": {"rate": "10Gbps", "rtt": "1ms"},
                                      "trunk": {"rate": "1Gbps", "rtt": "40ms"}}},
}
TCPS = {
    "host": {}, "window": {"window": "500kB"}, "four": {"connections": 4}, "exponent": {"rtt_exponent": 1},
    "reno": {"congestion_control": "reno"}, "codel": {"queue": "fq_codel", "ecn": True},
    "fifo": {"queue": "fifo"}, "loss": {"loss": 1e-6},
}


def scenario(name, replicas, all_reduces, sigma, network, parameters=20_000_000):
    methods = [{"name": "diloco", "label": one, "inner_steps": 5, "all_reduce": one} for one in all_reduces]
    methods += [{"name": "noloco", "label": pattern, "inner_steps": 5, "pattern": pattern}
                for pattern in ("exchange", "presend", "root", "serial")]
    methods.append({"name": "diloco", "label": "buckets", "inner_steps": 5, "overlap_backward": 0.6, "buckets": 4})
    step = {"lognormal": {"mean": "1s", "sigma": sigma}} if sigma else {"constant": "1s"}
    return {"name": name, "seed": 3, "replicas": replicas, "methods": methods,
            "workload": {"parameters": parameters, "steps": 10, "step_time": step}, "network": network}


def scenarios(largest):
    for (name, topology), sigma in itertools.product(TOPOLOGIES.items(), (0, 0.3)):
        all_reduces = ALL_REDUCES + (["hierarchical"] if name in ("regions", "hierarchical") else [])
        yield scenario(f"{name}-{sigma}", min(largest, 24), all_reduces, sigma, {"topology": topology})
    for (name, tcp), sigma in itertools.product(TCPS.items(), (0, 0.3)):
        yield scenario(f"tcp-{name}-{sigma}", min(largest, 16), ["ring", "double-tree", "direct"], sigma,
                       {"topology": STAR, "tcp": tcp})
    yield scenario("varies", min(largest, 16), ["ring", "direct"], 0.3,
                   {"topology": STAR, "variation": {"jitter": {"rate_sigma": 0.2, "delay_sigma": 0.1}}})
    yield scenario("barrier", min(largest, 16), ["ring", "direct"], 0.3, {"topology": STAR, "barrier": True})
    for fidelity in ("packet", "analytic"):
        yield scenario(fidelity, 6, ["ring", "direct"], 0.3, {"topology": STAR, "fidelity": fidelity}, 300_000)
    for replicas, sigma in itertools.product((64, 128, 256), (0, 0.3)):
        if replicas <= largest:
            all_reduces = ALL_REDUCES if replicas < 256 or sigma == 0 else ["ring", "halving-doubling", "direct"]
            yield scenario(f"star-{replicas}-{sigma}", replicas, all_reduces, sigma, {"topology": STAR})


def run(binaries, file, out):
    return subprocess.run([binaries / "longhaul", "run", file, "--out", out, "--quiet", "--timeline", "none",
                           "--jobs", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def is_same(before, after):
    if not before.exists() or not after.exists():
        return before.exists() == after.exists()  # `analytic` writes no transfers.csv
    return filecmp.cmp(before, after, shallow=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("--largest", type=int, default=256)
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--only", default="", help="scenarios whose name begins so")
    options = parser.parse_args()
    work = options.work or pathlib.Path(tempfile.mkdtemp(prefix="same_bytes."))
    cases = differing = 0
    for one in scenarios(options.largest):
        if not one["name"].startswith(options.only):
            continue
        file = work / f"{one['name']}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(one))
        folders = {"before": options.before, "after": options.after}
        for side, binaries in folders.items():
            done = run(binaries, file, work / side / one["name"])
            if done.returncode != 0:
                sys.exit(f"{binaries}/longhaul run {file} failed:\n{done.stderr}")
        for case in sorted((work / "before" / one["name"] / "cases").iterdir()):
            other = work / "after" / one["name"] / "cases" / case.name
            wrong = [table for table in TABLES if not is_same(case / table, other / table)]
            cases += 1
            differing += bool(wrong)
            if wrong:
                print(f"{one['name']}/{case.name}: {', '.join(wrong)} differ")
        print(f"{one['name']}: {cases} cases so far, {differing} differ", flush=True)
    return 1 if differing or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
