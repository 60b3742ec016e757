#!/usr/bin/env python3
"""Whether intervals of `longhaul fit` hold the truth as often as they say: times made by `longhaul run` on drawn links.

    tests/soak/drawn_fits.py LONGHAUL [--draws 200] [--seed 1] [--jobs 2]

Each draw has a star with a rate and a round trip of its own, an all-reduce of three sizes among 2, 4 or 6 replicas over
Gloo or plain, each size three times with log-normal noise of 1 to 5 %. The times are those of exchanges.csv of a run,
not of the fit's own replays. Prints how many intervals of 90 % hold what was drawn, and exits with 1 outside of 85 to 95 in
100. About 2 s of a core a draw.
"""
import argparse
import csv
import json
import math
import multiprocessing
import pathlib
import random
import subprocess
import sys
import tempfile

SIZES = (4096, 1 << 20, 16 << 20)  # bytes
UNKNOWN = {"network.topology.star.rate": {"from": "1Mbps", "to": "10Gbps"},
           "network.topology.star.rtt": {"from": "1ms", "to": "1s"}}


def scenario(name, replicas, library, rate, rtt, size):
    return {"name": name, "replicas": replicas, "methods": [{"name": "diloco", "inner_steps": 1}],
            "workload": {"parameters": size // 4, "wire": "fp32", "steps": 2, "step_time": {"constant": "1s"}},
            "network": {"library": library, "topology": {"star": {"rate": f"{rate:.0f}bps", "rtt": f"{rtt:.6f}s"}}}}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr}")


def second_exchange_s(longhaul, folder, of):
    """As a run has it: from when the last replica was ready to the end of the last one."""
    (folder / "truth.json").write_text(json.dumps(of))
    run(longhaul, "run", folder / "truth.json", "--out", folder / "truth", "--overwrite", "--quiet")
    table, = (folder / "truth" / "cases").glob("*/exchanges.csv")
    rows = [row for row in csv.DictReader(table.open()) if row["step"] == "2"]
    return max(float(row["done_s"]) for row in rows) - max(float(row["ready_s"]) for row in rows)


def draw(arguments):
    longhaul, seed, number = arguments
    chance = random.Random(f"{seed}/{number}")
    replicas, library = chance.choice((2, 4, 6)), chance.choice(("plain", "gloo"))
    rate, rtt = 10 ** chance.uniform(7, 9), 10 ** chance.uniform(-2.3, -0.7)
    noise = chance.uniform(0.01, 0.05)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        exchanges = []
        for size in SIZES:
            true_s = second_exchange_s(longhaul, folder, scenario("truth", replicas, library, rate, rtt, size))
            exchanges += [{"operation": "all-reduce", "bytes": size, "members": replicas, "library": library,
                           "seconds": true_s * math.exp(chance.gauss(0, noise))} for _ in range(3)]
        (folder / "observed.json").write_text(json.dumps({"observed": 1, "exchanges": exchanges}))
        asked = scenario("asked", replicas, library, 1e8, 0.05, SIZES[0])
        asked["fit"] = {"unknown": UNKNOWN}
        (folder / "asked.json").write_text(json.dumps(asked))
        run(longhaul, "fit", folder / "asked.json", folder / "observed.json", "-o", folder / "fitted", "--quiet", "--jobs", "1")
        found = json.loads((folder / "fitted" / "fit.json").read_text())["values"]
    truths = {"network.topology.star.rate": round(rate), "network.topology.star.rtt": round(rtt, 6)}
    return {one["path"]: one["low"] <= truths[one["path"]] <= one["high"] for one in found}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("longhaul")
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    held = dict.fromkeys(UNKNOWN, 0)
    todo = [(options.longhaul, options.seed, number) for number in range(options.draws)]
    with multiprocessing.Pool(options.jobs) as pool:
        for done, result in enumerate(pool.imap_unordered(draw, todo), 1):
            for path, holds in result.items():
                held[path] += holds
            if done % 20 == 0 or done == options.draws:
                print(f"{done} draws: " + ", ".join(f"{path} held in {count} ({100 * count / done:.1f} %)" for path, count in held.items()),
                      flush=True)
    shares = [count / options.draws for count in held.values()]
    sys.exit(0 if all(0.85 <= share <= 0.95 for share in shares) else 1)


if __name__ == "__main__":
    main()
