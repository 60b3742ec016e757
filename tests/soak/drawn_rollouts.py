#!/usr/bin/env python3
"""Whether `flow` and `linux` agree on how long weights take to rollouts, over drawn scenarios.

    tests/soak/drawn_rollouts.py LONGHAUL [--draws 300] [--seed 1] [--jobs 2]

Each draw has a star or two sites with rates and a round trip of their own, 1 to 4 trainers that share the sending, 1 to 12
groups, a distribution, a fan-out, sizes and pieces. Times are refit_time_s.mean of two versions. Prints every pair that is
off by more than 20 %, the median and the 95th percentile, and exits with 1 where the median is above 5 %, the 95th
percentile above 20 %, or a group received other bytes than it should. About 2 s of a core a draw.
"""
import argparse
import collections
import csv
import json
import math
import multiprocessing
import pathlib
import random
import subprocess
import sys
import tempfile


def drawn(chance):
    groups, workers = chance.randint(1, 12), chance.randint(1, 4)
    rate, rtt = 10 ** chance.uniform(7, 8.7), 10 ** chance.uniform(-2.5, -0.8)
    size = int(rate / 8 * 10 ** chance.uniform(-0.7, 0.7))
    weights = {"distribution": chance.choice(("broadcast", "relay-tree", "chain", "store")),
               "fan_out": chance.randint(1, 4), "sources": chance.randint(1, workers),
               "piece": f"{max(1000, int(size / 10 ** chance.uniform(0, 1.5)))}B", "payload": {"bytes": f"{size}B"}}
    rollouts = {"groups": groups, "batch": groups, "generation": {"length": {"constant": 10}, "tokens_per_s": 10},
                "weights": weights}
    store = {"concurrent": chance.randint(1, 8)}
    if chance.random() < 0.5:
        topology = {"star": {"rate": f"{rate:.0f}bps", "rtt": f"{rtt:.6f}s"}}
    else:
        trunk = rate * 10 ** chance.uniform(-0.5, 0.7)
        topology = {"hierarchical": {"sites": {"home": workers, "away": 0},
                                     "inside": {"rate": f"{rate:.0f}bps", "rtt": "1ms"},
                                     "trunk": {"rate": f"{trunk:.0f}bps", "rtt": f"{rtt:.6f}s"}}}
        home = chance.randint(0, groups)
        rollouts["sites"] = {"home": home, "away": groups - home}
        store["site"] = chance.choice(("home", "away"))
    if weights["distribution"] == "store":
        weights["store"] = store
    return {"name": "drawn", "replicas": workers, "methods": [{"name": "independent"}],
            "workload": {"parameters": 1000, "steps": 3, "step_time": {"constant": "1s"}}, "rollouts": rollouts,
            "network": {"fidelity": "flow", "topology": topology}, "sweep": {"network.fidelity": ["flow", "linux"]}}


def compare(arguments):
    longhaul, seed, number = arguments
    chance = random.Random(f"{seed}/{number}")
    scenario = drawn(chance)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "drawn.json").write_text(json.dumps(scenario))
        done = subprocess.run([longhaul, "run", folder / "drawn.json", "--out", folder / "run", "--quiet", "--jobs", "1"],
                              capture_output=True, text=True)
        if done.returncode:
            return number, None, scenario, done.stderr
        cases = json.loads((folder / "run" / "summary.json").read_text())["cases"]
        by = {case["swept"]["network.fidelity"]: case["refit_time_s"]["mean"] for case in cases}
        wrong = ""
        size = int(scenario["rollouts"]["weights"]["payload"]["bytes"][:-1])
        for case in (folder / "run" / "cases").iterdir():  # what had come when training ended, and perhaps a part more
            whole = collections.Counter(row["group"] for row in csv.DictReader((case / "refits.csv").open()) if row["arrived_s"])
            for row in csv.DictReader((case / "rollouts.csv").open()):
                if not 0 <= int(row["bytes_received"]) - whole[row["group"]] * size < size:
                    wrong = f"{row['host']} received {row['bytes_received']} bytes of {whole[row['group']]} versions of {size}"
        return number, by["flow"] / by["linux"] - 1, scenario, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("longhaul")
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    errors, faults = [], 0
    with multiprocessing.Pool(options.jobs) as pool:
        for number, error, scenario, wrong in pool.imap_unordered(
                compare, [(options.longhaul, options.seed, number) for number in range(options.draws)]):
            if wrong:
                faults += 1
                print(f"{number}: {wrong}")
            if error is None:
                continue
            errors.append(abs(error))
            if abs(error) > 0.2:
                print(f"{number}: flow {error:+.0%} of linux: {json.dumps(scenario['rollouts'])} {json.dumps(scenario['network'])}")
    errors.sort()
    median, p95 = errors[len(errors) // 2], errors[math.ceil(0.95 * len(errors)) - 1]
    print(f"{len(errors)} scenarios: median {median:.1%}, 95th percentile {p95:.1%}, largest {errors[-1]:.1%}, faults {faults}")
    return 1 if faults or median > 0.05 or p95 > 0.2 else 0


if __name__ == "__main__":
    sys.exit(main())
