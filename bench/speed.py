#!/usr/bin/env python3
"""How seconds and memory of the flow fidelity grow with the number of replicas, beside SimGrid in the same run where
simgrid_exchange was built. By hand, never timed in a test:

    ninja -C build longhaul-sim && bench/speed.py ring 1024 4096 8192 16384 [--simgrid 4096]
    bench/speed.py spread-direct 64 128 256 512
    bench/speed.py jittered-spread-pair 16 64 256 1024

A star of 1 Gb/s and 50 ms, messages of 8 bandwidth-delay products. Seconds are processor time of longhaul-sim, its start and its
files too, without the kernel's; memory is the largest resident size. `flat` is the time of a transfer over that at the first size.
`jittered` draws every rate and delay from ±1 %, so that no two links or events are alike; equal rounds of the other ring are
skipped. `spread`: every member is ready at a time drawn from 1 s. Pairs are groups of two; all else is among all. Of SimGrid,
set so that it shares links as we do, seconds are of the simulation proper.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "validation"))
from replays import Replays

RATE, RTT_S = 1e9, 0.05
MESSAGE = int(8 * RATE / 8 * RTT_S)
PLAIN_SIMGRID = ["network/model:CM02", "network/latency-factor:1", "network/bandwidth-factor:1", "network/TCP-gamma:0",
                 "network/crosstraffic:0", "network/weight-S:0", "maxmin/precision:1e-9", "contexts/stack-size:64"]


def network(count, is_jittered):
    draws = random.Random(1)
    sections = {"fidelity": "flow", "barrier": False, "topology": {"star": {"rate": "1Gbps", "rtt": "50ms"}}}
    if is_jittered:
        sections["overrides"] = [{"replica": str(i), "rate": f"{RATE * draws.uniform(0.99, 1.01)!r}bps",
                                  "delay": f"{RTT_S / 4 * draws.uniform(0.99, 1.01)!r}s"} for i in range(count)]
    return sections


def measured(command):
    """User seconds and largest resident MB of a process."""
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    words = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"{command[0]} ended with {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime, usage.ru_maxrss / 1024, words


def row(replays, name, count, with_simgrid):
    collective = name.removeprefix("jittered-").removeprefix("spread-")
    bytes_each = MESSAGE * (count if collective == "ring" else 1)
    groups = [[i, i + 1] for i in range(0, count - 1, 2)] if collective == "pair" else None
    draws = random.Random(2)
    factors = [max(draws.random(), 1e-9) for _ in range(count)] if "spread-" in name else None
    folder = replays.write(f"{name}{count}", network(count, name.startswith("jittered-")), count, (bytes_each, collective), 1,
                           groups=groups, factors=factors)
    files = [str(folder / "case.json"), str(folder / "trace.jsonl")]
    seconds, megabytes, _ = measured([str(replays.simulator), "--case", files[0], "--trace", files[1], "--out", str(folder), "--quiet"])
    transfers = json.loads((folder / "replay.json").read_text())["transfers"]
    simgrid = None
    if with_simgrid:
        if not (replays.programs / "simgrid_exchange").exists():
            sys.exit("--simgrid needs simgrid_exchange: install libsimgrid-dev, then cmake --build build --target simgrid_exchange")
        _, of_simgrid, words = measured([str(replays.programs / "simgrid_exchange"), *files, "--log=root.thresh:error",
                                         *(f"--cfg={setting}" for setting in PLAIN_SIMGRID)])
        simgrid = float(words.split()[1]), of_simgrid
    return transfers, seconds, megabytes, simgrid


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("name", help="[jittered-][spread-]COLLECTIVE")
    options.add_argument("sizes", type=int, nargs="+", metavar="N")
    options.add_argument("--simgrid", type=int, default=0, help="the largest N that SimGrid runs too")
    given = options.parse_args()
    replays, first = Replays(), None
    print(f"| {given.name}, N | transfers | s | million / s | flat | MB | SimGrid: million / s | MB | flow is faster |")
    print(9 * "|---" + "|")
    for count in given.sizes:
        transfers, seconds, megabytes, simgrid = row(replays, given.name, count, count <= given.simgrid)
        first = first or seconds / transfers
        beside = f" {transfers / simgrid[0] / 1e6:.3f} | {simgrid[1]:.0f} | {simgrid[0] / seconds:.1f} times |" if simgrid else " | | |"
        print(f"| {count} | {transfers} | {seconds:.2f} | {transfers / seconds / 1e6:.2f} | {seconds / transfers / first:.2f} | "
              f"{megabytes:.0f} |{beside}", flush=True)


main()
