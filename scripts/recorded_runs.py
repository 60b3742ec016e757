#!/usr/bin/env python3
"""Whether a change left what runs write as it was, byte by byte.

    scripts/recorded_runs.py record BUILD/bin FOLDER [--largest 256] [--only NAME] [--no-training]
    scripts/recorded_runs.py compare BEFORE AFTER

`record` runs a set of scenarios with the programs of a build and keeps a hash of every file that a user or a
program reads: the tables and records of each case, the trainings with their checkpoints, the tables and the
summary of the run. Record the commit before the change and the one after it, then `compare` the two folders:
it names the files that differ, prints their first differing line, and exits with 1 if there is one. New files,
new columns of a table and new keys of a record are counted and are no difference.

The set: every collective, topology, queue and fidelity, cut messages, rank orders, equal and log-normal steps,
every method trained, and every scenario of scenarios/ that trains nothing, cut to a share of its cases. With
--largest 24 and --no-training some minutes, whole about half an hour. What holds times of the machine (manifest,
logs, step_times.csv, speed.json, the report page) is left out.
"""
import argparse
import csv
import hashlib
import itertools
import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
LEFT_OUT = {"manifest.json", "report.html", "log.txt", "step_times.csv", "speed.json", ".lock", "done"}
ALL_REDUCES = ["ring", "tree", "leaf-tree", "heap-tree", "double-tree", "halving-doubling",
               "halving-doubling-far", "recursive-doubling", "direct",
               "parameter-server"]
PATTERNS = ["exchange", "presend", "root", "serial"]
STAR = {"star": {"rate": "1Gbps", "rtt": "50ms"}}
REGIONS = {"regions": {"matrix": "aws-2022", "replicas": "even", "trunk": "5Gbps"}}
TOPOLOGIES = {
    "star": STAR,
    "mesh": {"mesh": {"rate": "1Gbps", "rtt": "50ms"}},
    "regions": REGIONS,
    "homes": {"homes": {}},
    "hierarchical": {"hierarchical": {"sites": 4, "inside": {"rate": "10Gbps", "rtt": "1ms"},
                                      "trunk": {"rate": "1Gbps", "rtt": "40ms"}}},
}
WITH_SITES = ("regions", "hierarchical")
TCPS = {
    "host": {}, "window": {"window": "500kB"}, "four": {"connections": 4},
    "reno": {"congestion_control": "reno"}, "codel": {"queue": "fq_codel", "ecn": True},
    "loss": {"loss": 1e-6}, "idle": {"slow_start_after_idle": False},
}
# Scenarios of the tree that train nothing: the part of their cases that is run, as --shard takes it.
SHARDS = {
    "paper/claim-internet": "7/120", "paper/claim-regions": "7/80", "paper/claim-homes": "3/12",
    "paper/claim-stragglers": "5/40", "paper/claim-overlap": "3/30", "paper/collectives": "1/6",
    "paper/data-parallel": "1/2", "paper/fig5a": "1/4", "paper/fig5a-star": "1/4", "paper/fig5b": "1/8",
    "paper/rank-order": "5/30", "paper/streaming-diloco-bandwidth": "1/20", "paper/traffic": "1/2",
    "homes": "1/1", "varying-network": "1/1",
}


def network_only(name, replicas, all_reduces, sigma, network, parameters=20_000_000, patterns=PATTERNS):
    methods = [{"name": "diloco", "label": one, "inner_steps": 5, "all_reduce": one} for one in all_reduces]
    methods += [{"name": "noloco", "label": pattern, "inner_steps": 5, "pattern": pattern}
                for pattern in patterns]
    methods.append({"name": "diloco", "label": "buckets", "inner_steps": 5, "overlap_backward": 0.6, "buckets": 4})
    methods.append({"name": "fsdp"})
    step = {"lognormal": {"mean": "1s", "sigma": sigma}} if sigma else {"constant": "1s"}
    return {"name": name, "seed": 3, "replicas": replicas, "methods": methods,
            "workload": {"parameters": parameters, "steps": 10, "step_time": step}, "network": network}


def trained(name, methods, **more):
    train = {"steps": 12, "model": {"hidden": 32, "layers": 2, "heads": 2, "ffn": 64, "context": 32},
             "data": {"synthetic": {"tokens": 100000}}, "batch": 2, "evaluate_every": 4, "evaluate_sequences": 16,
             "checkpoint_every": 6}
    train.update(more.pop("train", {}))
    return {"name": name, "seeds": [1, 2], "replicas": 4, "methods": methods, "train": train,
            "workload": {"model": "llama-small"}, "network": {"topology": STAR}, **more}


def networks(largest):
    for (name, topology), sigma in itertools.product(TOPOLOGIES.items(), (0, 0.3)):
        all_reduces = ALL_REDUCES + (["hierarchical"] if name in WITH_SITES else [])
        yield network_only(f"{name}-{sigma}", min(largest, 24), all_reduces, sigma, {"topology": topology})
        yield network_only(f"analytic-{name}-{sigma}", min(largest, 24), all_reduces, sigma,
                           {"topology": topology, "fidelity": "analytic"})
    for fidelity, topology in itertools.product(("flow", "analytic"), ("mesh", "star")):
        drawn = {"topology": {"mesh": {"rate": "1Gbps", "rtt": "0s"}} if topology == "mesh" else
                 {"star": {"rate": "1Gbps", "rtt": "0s"}}, "fidelity": fidelity,
                 "message_time": {"mean": "0.3s", "std": "0.4s"}}
        for barrier in (False, True):
            yield network_only(f"drawn-{fidelity}-{topology}-{int(barrier)}", min(largest, 16), ALL_REDUCES, 0.3,
                               {**drawn, "barrier": barrier})
    for (name, tcp), sigma in itertools.product(TCPS.items(), (0, 0.3)):
        yield network_only(f"tcp-{name}-{sigma}", min(largest, 16), ["ring", "double-tree", "direct"], sigma,
                           {"topology": STAR, "tcp": tcp})
    yield network_only("varies", min(largest, 16), ["ring", "direct"], 0.3,
                       {"topology": STAR, "variation": {"jitter": {"rate_sigma": 0.2, "delay_sigma": 0.1}}})
    for fidelity in ("flow", "analytic"):
        yield network_only(f"barrier-{fidelity}", min(largest, 16), ["ring", "direct"], 0.3,
                           {"topology": STAR, "barrier": True, "fidelity": fidelity})
        for cut in ("1MB", "nccl", "gloo"):
            yield network_only(f"slice-{fidelity}-{cut}", min(largest, 12), ["ring", "tree", "direct"], 0.3,
                               {"topology": STAR, "slice": cut, "fidelity": fidelity}, patterns=["exchange"])
        yield network_only(f"eager-{fidelity}", min(largest, 12), ["ring", "tree", "direct"], 0.3,
                           {"topology": STAR, "eager": "1MB", "fidelity": fidelity}, patterns=["exchange"])
        for order in ("round-robin", "random", "optimized"):
            yield network_only(f"order-{fidelity}-{order}", min(largest, 20), ALL_REDUCES + ["hierarchical"], 0,
                               {"topology": REGIONS, "rank_order": order, "fidelity": fidelity}, patterns=["exchange"])
    packet = {"topology": STAR, "fidelity": "packet"}
    yield network_only("packet", 6, ["ring", "direct"], 0.3, packet, 300_000)
    yield network_only("packet-codel", 4, ["ring"], 0.3, {**packet, "tcp": TCPS["codel"]}, 300_000)
    yield network_only("packet-fifo", 4, ["ring"], 0.3, {**packet, "tcp": {"queue": "fifo"}}, 300_000)
    for replicas, sigma in itertools.product((64, 128, 256), (0, 0.3)):
        if replicas <= largest:
            all_reduces = ALL_REDUCES if replicas < 256 or sigma == 0 else ["ring", "halving-doubling", "direct"]
            yield network_only(f"star-{replicas}-{sigma}", replicas, all_reduces, sigma, {"topology": STAR})


def trainings():
    noloco = {"name": "noloco", "inner_steps": 3}
    yield trained("trained", [{"name": "ddp"}, {"name": "fsdp"}, {"name": "diloco", "inner_steps": 4}, noloco,
                              {"name": "independent"}])
    yield trained("trained-options", [
        {"name": "diloco", "label": "heavy-ball", "inner_steps": 4, "outer_lr": 0.7, "outer_momentum": 0.3, "nesterov": False},
        {"name": "diloco", "label": "buckets", "inner_steps": 4, "overlap_backward": 0.5, "buckets": 3},
        {**noloco, "label": "four", "group_size": 4}, {**noloco, "label": "presend", "pattern": "presend"},
        {**noloco, "label": "root", "pattern": "root"}, {**noloco, "label": "serial", "pattern": "serial"}])
    yield trained("trained-muon", [{"name": "muloco", "inner_steps": 4}, {**noloco, "optimizer": {"name": "muon", "lr": 0.003}}])
    yield trained("trained-bf16", [{"name": "ddp"}, noloco], train={"precision": "bf16"})
    yield trained("trained-fp16-wire", [{"name": "diloco", "inner_steps": 4}, noloco],
                  workload={"model": "llama-small", "wire": "fp16"})
    yield trained("trained-sites", [{**noloco, "pairing": "sites"}],
                  network={"topology": {"regions": {"matrix": "aws-2022", "replicas": {"oregon": 2, "london": 2}}}})


def longhaul(binaries, arguments):
    done = subprocess.run([binaries / "longhaul", "run", *arguments, "--quiet", "--jobs", "1"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    # 1: a claim does not hold, or a case failed; the tables say which.
    if done.returncode not in (0, 1):
        sys.exit(f"longhaul run {' '.join(map(str, arguments))} failed:\n{done.stderr}")


# What of a file is compared.
def content(file):
    text = file.read_text(errors="surrogateescape")
    if file.name == "schedule.jsonl":  # groups that are done in the same nanosecond have no order
        text = "\n".join(sorted(text.splitlines()))
    text = re.sub(r'"training": *"[^"]*"', '"training": ""', text)  # the same hash
    if file.name == "trace.jsonl":  # the plan, whose format changes; the groups that were drawn stay
        text = "\n".join(line for line in text.splitlines() if "longhaul_trace" not in line)
    if file.name == "case.json":
        text = re.sub(r'"folder": "[^"]*"', '"folder": ""', text)
    if file.parent.name == "checkpoints" and file.suffix == ".json":  # holds times of the machine
        text = re.sub(r'"(longhaul_checkpoint|step_times.csv)": *[^,}\s]*', r'"\1": 0', text)
        text = re.sub(r'"[0-9a-f]{16}"', '""', text)  # hashes; the tensors themselves are compared
    return text.encode(errors="surrogateescape")


# The name of a training holds a hash of what it depends on, which a change may have to move. A copy for each
# case that shares it.
def name_trainings_by_case(run):
    if not (run / "train").is_dir():
        return
    for case in json.loads((run / "summary.json").read_text())["cases"]:
        shutil.copytree(run / "train" / case["training"], run / "trainings" / case["case"])
    shutil.rmtree(run / "train")


def record(options):
    hashes = {}
    todo = list(networks(options.largest)) + ([] if options.no_training else list(trainings()))
    for one in todo:
        file = options.folder / "scenarios" / f"{one['name']}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(one))
    jobs = [(one["name"], [options.folder / "scenarios" / f"{one['name']}.json"]) for one in todo]
    jobs += [(name.replace("/", "-"), [ROOT / "scenarios" / f"{name}.json", "--shard", shard])
             for name, shard in SHARDS.items()]
    for name, arguments in jobs:
        if not name.startswith(options.only):
            continue
        out = options.folder / "runs" / name
        shutil.rmtree(out, ignore_errors=True)
        longhaul(options.binaries, arguments + ["--out", out])
        name_trainings_by_case(out)
        files = sorted(one for one in out.rglob("*") if one.is_file() and one.name not in LEFT_OUT)
        hashes[name] = {str(one.relative_to(out)): hashlib.sha256(content(one)).hexdigest()[:16] for one in files}
        print(f"{name}: {len(files)} files", flush=True)
        (options.folder / "hashes.json").write_text(json.dumps(hashes, indent=1))


def first_difference(before, after):
    if not (before.exists() and after.exists()):
        return "only in one of the two"
    lines = [file.read_text(errors="replace").splitlines() for file in (before, after)]
    if sorted(lines[0]) == sorted(lines[1]):
        return "the same lines in another order"
    for number, (old, new) in enumerate(itertools.zip_longest(*lines, fillvalue=""), 1):
        if old != new:
            return f"line {number}: {old[:150]} | {new[:150]}"
    return "the same text"


# Whether `after` holds all that `before` does: tables may have more columns, JSON more keys.
def only_adds(before, after):
    if not (before.exists() and after.exists()):
        return after.exists()
    if before.suffix == ".csv":
        old, new = (list(csv.reader(file.open())) for file in (before, after))
        if not old or not new or not set(old[0]) <= set(new[0]):
            return False
        places = [new[0].index(column) for column in old[0]]
        return old == [[row[place] for place in places] for row in new]
    if before.suffix in (".json", ".jsonl"):
        old, new = ([json.loads(line) for line in ([content(file)] if before.suffix == ".json" else
                                                   content(file).splitlines())] for file in (before, after))
        return holds(new, old)
    return False


def holds(more, less):
    if isinstance(less, dict):
        return isinstance(more, dict) and all(key in more and holds(more[key], less[key]) for key in less)
    if isinstance(less, list):
        return isinstance(more, list) and len(more) == len(less) and all(map(holds, more, less))
    return more == less


def compare(options):
    hashes = [json.loads((folder / "hashes.json").read_text()) for folder in (options.before, options.after)]
    differing = files = adding = 0
    for name in sorted(set(hashes[0]) & set(hashes[1])):
        old, new = hashes[0][name], hashes[1][name]
        files += len(set(old) | set(new))
        for file in sorted(set(old) | set(new)):
            if old.get(file) == new.get(file):
                continue
            where = [folder / "runs" / name / file for folder in (options.before, options.after)]
            if only_adds(*where):
                adding += 1
                continue
            differing += 1
            print(f"{name}/{file}: {first_difference(*where)}")
    missing = sorted(set(hashes[0]) ^ set(hashes[1]))
    if missing:
        print("only in one of the two records: " + ", ".join(missing))
    print(f"{files} files, {differing} differ, {adding} more have new columns or keys, or are new")
    return 1 if differing or missing or not files else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("record")
    one.add_argument("binaries", type=pathlib.Path)
    one.add_argument("folder", type=pathlib.Path)
    one.add_argument("--largest", type=int, default=256, help="replicas of the network-only cases")
    one.add_argument("--only", default="", help="scenarios whose name begins so")
    one.add_argument("--no-training", action="store_true")
    one.set_defaults(run=record)
    two = commands.add_parser("compare")
    two.add_argument("before", type=pathlib.Path)
    two.add_argument("after", type=pathlib.Path)
    two.set_defaults(run=compare)
    options = parser.parse_args()
    return options.run(options)


if __name__ == "__main__":
    sys.exit(main())
