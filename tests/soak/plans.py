#!/usr/bin/env python3
"""Plans of drawn sites beside the run of the scenario that each has left: is the run in the plan's range?

    tests/soak/plans.py BUILD/bin FOLDER [--plans 200] [--seed 1] [--jobs 1] [--least 0.95] [--anew]

Each plan has 2 to 4 sites of 1 to 3 nodes, whose steps, uplinks and round trips differ, and one candidate: mostly a method
that draws partners, else one that does not. `longhaul plan` says a time and a range; `longhaul run` replays all steps of its
scenario.json, once as it is and once with another seed, which draws other partners. What cannot be is counted too: more than
100 % of compute, a time below steps x the slowest step, a range that does not hold its own time, and "exact" where partners are drawn.

FOLDER gets a line a plan in `plans.jsonl`; a call that is cut off continues there. Exit status 1 where one plan cannot be, or
fewer than --least of the runs are inside.
"""
import argparse
import concurrent.futures
import json
import pathlib
import random
import shutil
import subprocess
import sys

DRAWN = ["noloco", "gossip", "epidemic"]
OTHERS = ["diloco", "local-sgd", "streaming-diloco", "delayed-nesterov", "ddp", "hierarchical"]


def drawn_plan(seed, number):
    draw = random.Random(f"{seed}/{number}")
    log = lambda low, high: low * (high / low) ** draw.random()
    sites = [{"name": chr(ord("a") + i), "nodes": draw.randint(1, 3), "rate": f"{log(1e8, 5e9):.0f}bps",
              "latitude": round(draw.uniform(-50, 60), 1), "longitude": round(draw.uniform(-120, 140), 1),
              "step_time": f"{log(0.3, 6):.3g}s"} for i in range(draw.randint(2, 4))]
    sites[0]["nodes"] = max(sites[0]["nodes"], 4 - sum(site["nodes"] for site in sites[1:]))  # four nodes at least
    name = draw.choice(DRAWN if draw.random() < 0.8 else OTHERS)
    method, connections, inner = {"name": name}, draw.choice([1, 4, 8]), draw.choice([10, 50, 100, 500])
    if name in ("noloco", "gossip") and draw.random() < 0.25:
        method["group_size"] = 3
    if name == "noloco" and draw.random() < 0.25:
        method.update({"pairing": "sites", "across_every": draw.randint(1, 3)})
    if name == "noloco" and draw.random() < 0.3:
        method["pattern"] = draw.choice(["presend", "root", "serial"])
    if name == "streaming-diloco":
        method["fragments"] = 2
    if name == "hierarchical":
        method.update({"across_every": draw.randint(1, 4)})
    outer_steps = int(log(100, 4000 if name in DRAWN else 1000))
    nodes = sum(site["nodes"] for site in sites)
    steps = outer_steps * (1 if name == "ddp" else inner) + draw.randrange(inner)
    return {"seed": draw.randint(1, 1000), "parameters": int(log(1e7, 1e10)), "tokens_per_step": 1000, "tokens": steps * nodes * 1000,
            "sites": sites, "min_utilization": 0,
            "candidates": {"methods": [method], "inner_steps": [inner], "connections": [connections], "all_reduce": ["ring"],
                           "rank_orders": ["blocks"]}}


class Soak:
    def __init__(self, programs, folder, seed):
        self.longhaul, self.folder, self.seed = str(programs / "longhaul"), folder, seed
        folder.mkdir(parents=True, exist_ok=True)

    def call(self, *arguments):
        return subprocess.run([self.longhaul, *map(str, arguments)], capture_output=True, text=True)

    def run_s(self, scenario, out, *more):
        done = self.call("run", scenario, "--out", out, "--quiet", "--jobs", 1, *more)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        return json.loads((out / "summary.json").read_text())["cases"][0]["simulated_time_s"]

    def look_at(self, number):
        folder = self.folder / f"{number:05}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        plan = drawn_plan(self.seed, number)
        (folder / "plan.json").write_text(json.dumps(plan, indent=1))
        line = {"number": number, "method": plan["candidates"]["methods"][0]["name"]}
        try:
            done = self.call("plan", folder / "plan.json", "-o", folder / "out", "--quiet", "--jobs", 1)
            if done.returncode != 0:
                return {**line, "refused" if done.returncode == 2 else "failed": done.stderr.strip()}
            found = json.loads((folder / "out/plan.json").read_text())["plans"][0]
            scenario = folder / "out/scenario.json"
            run_s = self.run_s(scenario, folder / "run")
            other_s = self.run_s(scenario, folder / "other", "--set", f"seed={plan['seed'] + 1}")
        except RuntimeError as error:
            return {**line, "failed": str(error).strip()}
        step_s = max(float(site["step_time"][:-1]) for site in plan["sites"])
        low, time, high = (found[key] for key in ("time_low_s", "time_s", "time_high_s"))
        impossible = [words for words, is_so in (
            ("computes for more than all of the time", found["utilization"] > 1 + 1e-6),
            ("less than its steps take", time < step_s * found["steps"] * (1 - 1e-6)),
            ("outside of its own range", not low <= time <= high),
            ("exact though partners are drawn", line["method"] in DRAWN and found["is_exact"])) if is_so]
        shutil.rmtree(folder)
        near = lambda seconds: low * (1 - 1e-9) <= seconds <= high * (1 + 1e-9)
        return {**line, "words": found["words"], "steps": found["steps"], "replayed_steps": found["replayed_steps"],
                "is_exact": found["is_exact"], "time_s": time, "low_s": low, "high_s": high, "run_s": run_s, "other_s": other_s,
                "inside": near(run_s), "other_inside": near(other_s), "impossible": impossible}


def table(lines):
    """Markdown: by method, and all."""
    rows = ["| method | plans | run inside | other draws inside | cannot be | median half range | largest difference to the run |",
            "|---|---:|---:|---:|---:|---:|---:|"]
    for name in sorted({line["method"] for line in lines}) + ["all"]:
        of = [line for line in lines if name in ("all", line["method"])]
        halves = sorted((line["high_s"] - line["low_s"]) / 2 / line["time_s"] for line in of)
        rows.append(f"| {name} | {len(of)} | {sum(line['inside'] for line in of)} | {sum(line['other_inside'] for line in of)} | "
                    f"{sum(bool(line['impossible']) for line in of)} | {100 * halves[len(halves) // 2]:.2g} % | "
                    f"{100 * max(abs(line['time_s'] / line['run_s'] - 1) for line in of):.2g} % |")
    return "\n".join(rows)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("programs", type=pathlib.Path)
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("--plans", type=int, default=200)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--jobs", type=int, default=1)
    arguments.add_argument("--least", type=float, default=0.95)
    arguments.add_argument("--anew", action="store_true", help="forget what an earlier call has left")
    given = arguments.parse_args()
    soak = Soak(given.programs.resolve(), given.folder.resolve(), given.seed)
    file = soak.folder / "plans.jsonl"
    if given.anew:
        file.unlink(missing_ok=True)
    lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    numbers, taken = iter(range(1 + max((line["number"] for line in lines), default=0), 100 * given.plans)), set()
    compared = lambda: [line for line in lines if "inside" in line]
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool, file.open("a") as out:
        while len(compared()) + len(taken) < given.plans or taken:
            while len(taken) < given.jobs and len(compared()) + len(taken) < given.plans:
                taken.add(pool.submit(soak.look_at, next(numbers)))
            done, taken = concurrent.futures.wait(taken, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                line = future.result()
                lines.append(line)
                print(json.dumps(line), file=out, flush=True)
                if line.get("failed") or line.get("impossible") or line.get("inside") is False:
                    print(json.dumps(line), file=sys.stderr, flush=True)
    lines = sorted(lines, key=lambda line: line["number"])
    refused = sum("refused" in line for line in lines)
    print(f"{len(compared())} plans, {refused} more that cannot be made\n\n{table(sorted(compared(), key=lambda one: one['number']))}")
    is_good = (not any(line.get("failed") or line.get("impossible") for line in lines)
               and sum(line["inside"] for line in compared()) >= given.least * len(compared()))
    return 0 if is_good else 1


sys.exit(main())
