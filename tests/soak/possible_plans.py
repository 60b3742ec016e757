#!/usr/bin/env python3
"""Whether the answers to drawn plan files can be: `longhaul plan` on many of them.

    tests/soak/possible_plans.py BUILD/bin/longhaul FOLDER [--plans 2000] [--seed 1] [--whole-every 25] [--limit-s 120] [--anew]

No time below steps x the slowest step, no more than 100 % of compute, low <= time <= high, cost of the hours and bytes that it
says, and a front that is one (drawn_plans.py). Every 25th plan of at most 12 candidates is made once more candidate by
candidate: its front must be that of all of them. FOLDER gets a line a plan in `plans.jsonl`; a call that is cut off continues
there. Exit status 1 where an answer cannot be, or a program ended otherwise than with 0 or 2.
"""
import json
import pathlib
import shutil
import subprocess
import sys

from drawn_plans import Drawing, eligible, front_faults, impossible, single_plans

MOST_CANDIDATES = 12


def answer_of(longhaul, plan, folder, limit_s):
    """(exit status, plan.json or what was said); 124: it took too long."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "drawn.json").write_text(json.dumps(plan, indent=1))
    try:
        done = subprocess.run([str(longhaul), "plan", folder / "drawn.json", "-o", folder / "answer", "--quiet", "--jobs", "1"],
                              capture_output=True, text=True, timeout=limit_s, check=False)
    except subprocess.TimeoutExpired:
        return 124, "took too long"
    if done.returncode != 0:
        return done.returncode, done.stderr.strip()
    return 0, json.loads((folder / "answer/plan.json").read_text())


def brute_force_faults(longhaul, plan, answer, folder, limit_s):
    """Of its front beside that of all candidates, each planned alone; None: there are too many."""
    singles = list(single_plans(plan))
    if len(singles) > MOST_CANDIDATES:
        return None
    all_plans = []
    for number, single in enumerate(singles):
        status, found = answer_of(longhaul, single, folder / f"{number:02}", limit_s)
        if status == 124:
            return None
        if status == 0:
            all_plans += found["plans"]
    front = [one for one in answer["plans"] if one["is_on_front"]]
    return list(front_faults(front, eligible(all_plans, plan)))


def main():
    drawing = Drawing(__doc__, ("longhaul",), 2000, whole_every=25, limit_s=120.)
    longhaul, limit_s = drawing.given.longhaul, drawing.given.limit_s
    for number, folder, plan in drawing.plans():
        status, answer = answer_of(longhaul, plan, folder, limit_s)
        line = {"number": number, "status": status, "faults": list(impossible(answer)) if status == 0 else []}
        if status == 0 and number % drawing.given.whole_every == 0:
            line["against_all"] = brute_force_faults(longhaul, plan, answer, folder / "alone", limit_s)
        if status not in (0, 2, 124):
            line["faults"].append(f"exit status {status}: {answer}")
        line["faults"] += line.get("against_all") or []
        drawing.add(line, line["faults"])
    lines = drawing.lines
    count = lambda condition: sum(bool(condition(line)) for line in lines)
    print(f"{len(lines)} plans: {count(lambda line: line['status'] == 0)} made, {count(lambda line: line['status'] == 2)} refused, "
          f"{count(lambda line: line['status'] == 124)} took too long, {count(lambda line: line.get('against_all') == [])} equal to "
          f"all candidates one by one, {count(lambda line: line['faults'])} cannot be")
    return 1 if count(lambda line: line["faults"]) else 0


sys.exit(main())
