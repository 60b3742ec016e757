#!/usr/bin/env python3
"""How much processor time `longhaul plan` takes, against another build in the same run, in turns.

  bench/plan_speed.py BEFORE AFTER PLAN.json... [--rounds N]

BEFORE and AFTER are two programs `longhaul` (with longhaul-sim beside them, if they need it). Prints for each plan the processor
seconds of both (user and system, with children: the least of N rounds), their ratio, the seconds on the wall, and whether both
choose the same plan and how far their times are apart. Exit status 1 if one fails.
"""
import argparse
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time


def planned(program, plan):
    """Processor seconds, seconds on the wall, and plan.json."""
    with tempfile.TemporaryDirectory() as folder:
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run([program, "plan", plan, "-o", folder + "/plan", "--quiet"], capture_output=True, text=True, check=False)
        wall_s, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != 0:
            sys.exit(f"{program} plan {plan}: exit status {done.returncode}\n{done.stderr}")
        cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return cpu_s, wall_s, json.loads(pathlib.Path(folder, "plan/plan.json").read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("plans", nargs="+")
    parser.add_argument("--rounds", type=int, default=1)
    arguments = parser.parse_args()
    print("| plan | before, processor s | after | times less | before, wall s | after | the choice |\n|---|---|---|---|---|---|---|")
    for plan in arguments.plans:
        rounds = [(planned(arguments.before, plan), planned(arguments.after, plan)) for _ in range(arguments.rounds)]
        (cpu, after_cpu), (wall, after_wall) = ([min(one[side][part] for one in rounds) for side in (0, 1)] for part in (0, 1))
        old, new = (side[2]["plans"][0] for side in rounds[-1])
        if old["words"] == new["words"]:
            choice = f"the same, {100 * (new['time_s'] / old['time_s'] - 1):+.2g} % of time" if old["time_s"] != new["time_s"] else "the same"
        else:
            choice = f"{new['words']} ({new['time_s']:.0f} s) instead of {old['words']} ({old['time_s']:.0f} s)"
        name = pathlib.Path(plan)
        print(f"| {name.parent.name}/{name.name} | {cpu:.2f} | {after_cpu:.2f} | {cpu / after_cpu:.1f} | {wall:.1f} | {after_wall:.1f} | {choice} |", flush=True)


main()
