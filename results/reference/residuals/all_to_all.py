#!/usr/bin/env python3
"""All-to-alls in `flow` and `linux` beside ns-3's packets, of a run of validation/grid/all-to-all.json.

  results/reference/residuals/all_to_all.py RUN > results/reference/residuals/all-to-all.md

A residual is what replicas wait for the four all-to-alls of a step, over the same in packets, minus one.
"""
import collections
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "validation"))
import replays

TAGS = ("all", "a star", "two sites, one trunk", "a star, pairwise", "a star, bruck", "computing for 10 ms between two", "computing for 1.5 s between two",
        "1 connection", "4 connections")


def tags(swept):
    place = "a star" if "star" in swept["network.topology"] else "two sites, one trunk"
    yield from ("all", place)
    if place == "a star":
        yield f"a star, {swept['parallelism.experts.collective']}"
    yield f"computing for {'10 ms' if swept['workload.step_time.constant'] == '40ms' else '1.5 s'} between two"
    count = swept["network.tcp.connections"]
    yield f"{count} connection" + ("s" if count > 1 else "")


def main():
    waits, missing = collections.defaultdict(dict), 0
    for case in json.loads(pathlib.Path(sys.argv[1], "summary.json").read_text())["cases"]:
        swept = dict(case["swept"])
        fidelity = swept.pop("network.fidelity")
        if case["status"] != "done":
            missing += 1
            continue
        waits[json.dumps(swept, sort_keys=True)][fidelity] = case["inside_wait_time_s"]
    residuals = collections.defaultdict(list)
    for point, of in waits.items():
        for model in ("flow", "linux"):
            if model in of and "packet" in of:
                for tag in tags(json.loads(point)):
                    residuals[model, tag].append(of[model] / of["packet"] - 1)
    print("# All-to-alls beside packets\n")
    print("What replicas wait for the four all-to-alls of a step of one layer (validation/grid/all-to-all.json: 4 and 8 replicas, groups of 2, 4 and 8, "
          "100 to 500 Mb/s, 10 to 100 ms, 1 and 8 MB of each replica, queue `host`), over the same in ns-3's packets, minus one. Made by all_to_all.py.\n")
    print("| cases | points | flow: median % | 95th % | largest % | mean, signed % | linux: median % | 95th % | largest % | mean, signed % |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for tag in TAGS:
        rows = {model: residuals[model, tag] for model in ("flow", "linux")}
        if rows["flow"]:
            print(f"| {tag} | {len(rows['flow'])} | " + " | ".join(cell for model in rows for cell in (replays.spread(rows[model]) if rows[model] else [""] * 4)) + " |")
    if missing:
        print(f"\n{missing} cases are not done.")


main()
