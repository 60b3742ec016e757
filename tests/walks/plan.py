#!/usr/bin/env python3
"""A planner's walk, as a user would go it: plan files in, answers out, without opening a source file.

  plan.py LONGHAUL SOURCE_FOLDER      exit status 1 and a line for the first answer that is not there

Nothing is fitted: what is expected is a published figure, or follows from published inputs by hand.
"""
import json
import math
import pathlib
import re
import shutil
import subprocess
import sys

from walk import Walk, expect, near

PARAMETERS_8B, PARAMETERS_70B, PAYLOAD = 8030261248, 70553706496, 1448 / 1538


class Planner(Walk):
    def __init__(self, longhaul, source):
        super().__init__(longhaul)
        self.source, self.count = source, 0
        self.plans = pathlib.Path(shutil.copytree(source / "scenarios", self.folder / "scenarios")) / "plans"

    def written(self, plan):
        """A plan beside the others, so that the files it names are found."""
        self.count += 1
        self.write("scenarios/plans/written.json", plan)
        return self.plans / "written.json"

    def plan(self, plan):
        """Its data, what it prints, its folder."""
        file, out = self.written(plan), self.folder / f"out{self.count}"
        text = self("plan", file, "-o", out)
        return json.loads((out / "plan.json").read_text()), text, out

    def example(self, name, candidates=None, **more):
        plan = json.loads((self.plans / f"{name}.json").read_text())
        if candidates:
            plan["candidates"].update(candidates)
        return {**plan, **more}

    def expect_whole(self, words, found, out, within):
        """The run of all steps of the scenario that a plan has left takes as long as the plan says."""
        self("check", out / "scenario.json")
        self("run", out / "scenario.json", "--out", out / "run", "--quiet")
        whole_s = self.summary(out / "run")["cases"][0]["simulated_time_s"]
        words += f", {found['replayed_steps']} of {found['steps']} steps: {found['time_s']} s, all of them {whole_s} s"
        expect(abs(found["time_s"] / whole_s - 1) < within if within else
               found["time_low_s"] <= whole_s <= found["time_high_s"], words)

    def refusal(self, plan):
        return self.refused("plan", self.written(plan), "-o", self.folder / "never")


def measured_diloco(planner):
    """Four nodes, 123.4 MB and steps of 25.3 ms: the smallest H of 1, 8, 32, 128 that computes half of the time, or
    the one that comes nearest, as Adnan082/diloco-measured found it with its own measured all-reduces."""
    for rate, published in (("50Mbps", 128), ("200Mbps", 128), ("1Gbps", 128), ("5Gbps", 32)):
        plan = planner.example("diloco-measured")
        plan["network"]["topology"]["star"]["up"] = rate
        found = planner.plan(plan)[0]["plans"][0]["inner_steps"]
        expect(found == published, f"H at {rate} is {found}, published {published}")


def intellect(planner):
    """1 T tokens by 14 nodes of 2^20 tokens a step, 38 minutes and an all-reduce of 469 s a hundred steps.
    (Published: 42 days, with up to 14 nodes.)"""
    found = planner.plan(planner.example("intellect-1"))[0]["plans"][0]
    steps = math.ceil(1e12 / (14 * 2 ** 20))
    expect(found["steps"] == steps, f"{found['steps']} steps, by hand {steps}")
    near(found["time_s"], steps * 22.8 + steps // 100 * 469, 0.02, "seconds with 14 nodes all the time")


def llama_70b(planner):
    """70.55 B parameters at seven nodes. Twelve rounds of a ring take a seventh of the model each through Stuttgart's
    uplink of 2 Gb/s, less than the 8 · 300 Mb/s that were measured to it, and windows that grow anew cost up to 2 %.
    Five hops leave a site."""
    data, _, _ = planner.plan(planner.example(
        "llama-3-70b", {"methods": ["diloco"], "inner_steps": [200], "rank_orders": ["blocks"], "all_reduce": ["ring"]},
        deadline="365d", budget=1000000000))
    found, steps = data["plans"][0], math.ceil(2e12 / (7 * 262144))
    step_s = 6 * PARAMETERS_70B * 262144 / (32 * 0.4 * 989.4e12)
    bytes_of_hop = 12 * 2 * PARAMETERS_70B / 7
    by_hand = steps * step_s + steps // 200 * 8 * bytes_of_hop / (2e9 * PAYLOAD)
    expect(data["parameters"] == PARAMETERS_70B, f"{data['parameters']} parameters, published {PARAMETERS_70B}")
    expect(0 <= found["time_s"] / by_hand - 1 < 0.02, f"{found['time_s']:.0f} s, by hand {by_hand:.0f} s")
    leaving = steps // 200 * bytes_of_hop * 1500 / 1448
    expect(len(found["leaving"]) == 5, f"five sites send: {found['leaving']}")
    for site, of_site in found["leaving"].items():
        near(of_site, leaving, 1e-6, f"bytes that leave {site}")
    near(found["egress_cost"], 4 * leaving / 1e9 * 0.06, 1e-6, "cost of the egress, free in Stuttgart")
    saved, uplink = {one["what"]: one["saved_s"] for one in data["upgrades"]}, "stuttgart's uplink"
    expect(saved[uplink] > 0.99 * max(saved.values()) and data["links"][0]["link"] == uplink,
           f"{uplink} is what to buy, it saves {saved[uplink] / 86400:.1f} d")
    expect("It keeps the deadline of 365.0 d and the budget of 1,000,000,000 EUR, which cost nothing." in data["decision"],
           "one candidate within both")


def deadline(planner):
    """Within 72 days the ring, which costs the least, is too slow. It goes eight rounds of a fifth of 8.03 B parameters
    over three hops between sites every 500 steps."""
    data, _, _ = planner.plan(planner.example("deadline"))
    taken, free = data["plans"][0], data["without_limits"]
    expect(taken["time_s"] <= 72 * 86400 < free["time_s"] and free["cost"] < taken["cost"],
           f"72 days cost {taken['cost'] - free['cost']:.0f} EUR more than {free['time_s'] / 86400:.1f}")
    steps = math.ceil(2e12 / (5 * 65536))
    leaving = steps // 500 * 3 * 8 * 2 * PARAMETERS_8B / 5 * 1500 / 1448
    expect("ring" in free["words"] and "blocks" in free["words"], free["words"])
    near(free["bytes_leaving_sites"], leaving, 1e-3, "bytes that leave the sites")
    near(free["cost"], free["time_s"] / 3600 * 40 * 2.3 + leaving / 1e9 * 0.06, 1e-3, "its cost in EUR")
    expect("It keeps the deadline of 72.0 d. Without it: " + free["words"] in data["decision"], "the answer says what it costs")


def one_sentence(data, text):
    """The last line before the files: time with an interval, money and what to change."""
    expect(text.split("\nscenario: ")[0].endswith("\n" + data["in_short"]) and re.fullmatch(
        r"In short: .+ takes \S+ .+, from .+ to .+, and costs [\d,]+ EUR(, with its faults)?; what to change: .+\.", data["in_short"]),
           data["in_short"])


def eight_files_of_iperf3(planner):
    """8 B parameters at four sites of three accelerators, from eight files that iperf3 3.12 has printed, each in one step.
    All wait for Oregon. The ring's slowest hop is Frankfurt's to Virginia: of its twelve rounds four need nothing of
    Oregon and pass while Frankfurt waits, and Oregon is done before the last two. Between them stand the ways from
    Oregon over Paris to that hop, and from it to Oregon."""
    plan, rates, bounds = planner.example("iperf3"), {}, {}
    for name in plan["measurements"]:
        run = json.loads((planner.plans / name).read_text())
        pair = frozenset(pathlib.Path(name).stem.split("-"))
        together, streams = run["end"]["sum_received"]["bits_per_second"], run["start"]["test_start"]["num_streams"]
        rates[pair] = min(rates.get(pair, together / streams), together / streams)
        if streams > 1:  # several connections carry no more than several did
            bounds[pair] = together
    narrow = {"methods": ["diloco"], "inner_steps": [500], "rank_orders": ["blocks"]}
    data, text, out = planner.plan(planner.example("iperf3", narrow))
    trips = {frozenset(path["between"]): float(path["rtt"][:-2]) / 1e3 for path in plan["paths"]}
    uplinks = {site["name"]: float(site["rate"][:-4]) * 1e9 for site in plan["sites"]}
    starts(planner, out, data, max(trip * min([rates[pair], *(uplinks[site] * PAYLOAD / 8 for site in pair)]) / 8
                                   for pair, trip in trips.items()))
    found, chunk = data["plans"][0], 8 * 2 * PARAMETERS_8B / 7
    steps, step_s = math.ceil(2e12 / (7 * 65536)), 6 * PARAMETERS_8B * 65536 / (8 * 0.4 * 362.05e12)

    def hop(*sites):
        pair = frozenset(sites)
        return chunk / min(8 * rates[pair], bounds.get(pair, math.inf))
    ways = (hop("oregon", "paris") + hop("paris", "frankfurt") + 3 * chunk / (10e9 * PAYLOAD)
            + max(hop("virginia", "oregon"), chunk / (2e9 * PAYLOAD)))
    by_hand = steps * step_s + steps // 500 * (6 * hop("frankfurt", "virginia") + ways)
    near(found["time_s"], by_hand, 0.01, "seconds with Oregon")
    rent = 32 * 2.3 + 48 * 1.2 + 8 * 0.9
    near(found["compute_cost"], found["time_s"] / 3600 * rent, 1e-9, "cost at each accelerator's own price")
    computes = {one["site"]: one["computes"] for one in data["sites"]}
    near(computes["paris"] / computes["oregon"], 362.05 / 989.4, 1e-9, "Paris waits for Oregon")
    without, steps_of_six = data["sites"][3]["without"], math.ceil(2e12 / (6 * 65536))
    expect(without["steps"] == steps_of_six and
           without["time_s"] > steps_of_six * 6 * PARAMETERS_8B * 65536 / (24 * 0.4 * 312e12),
           f"without Oregon {without['steps']} steps, {without['time_s'] / 86400:.1f} d")
    expect(any("4 streams" in caveat for caveat in data["caveats"]), "what parallel streams mean is said")
    one_sentence(data, text)
    data, text, _ = planner.plan(plan)
    found, without = data["plans"][0], data["sites"][3]["without"]
    print(text)
    expect(found["time_s"] <= 90 * 86400 and found["cost"] > 300000 and
           without["cost"] < 300000 and without["time_s"] < 90 * 86400 and
           re.search(r"what to change: leave out oregon \(.* faster, .* EUR cheaper .*, which keeps the limits\)\.$", data["in_short"]),
           "the budget is kept without Oregon alone")
    one_sentence(data, text)
    plan.update(model="llama-3-70b", tokens_per_step=262144, deadline="400d", budget=4000000)
    plan["accelerator"]["per_node"] = 32
    plan["sites"][1]["accelerator"]["per_node"] = 96
    plan["sites"][3]["accelerator"]["per_node"] = 64
    data, text, _ = planner.plan(plan)
    near(data["step_s"], 6 * PARAMETERS_70B * 262144 / (64 * 0.4 * 362.05e12), 1e-9, "seconds a step of 70 B")
    one_sentence(data, text)


def starts(planner, out, data, window):
    """launch.sh, carried out with commands that print how they were called, and a kernel as Linux comes."""
    programs = out / "programs"
    programs.mkdir()
    for name in ("sysctl", "torchrun", "ip"):
        says = "default via 10.0.0.1 dev ens5 proto dhcp" if name == "ip" else \
            f'{name} "$@" "$NCCL_SOCKET_IFNAME $NCCL_ALGO $((NCCL_SOCKET_NTHREADS * NCCL_NSOCKS_PERTHREAD))"'
        asked = ('[ "$1" != -n ] || { case $2 in *tcp_?mem) echo 4096 131072 6291456;; *_max) echo 212992;; *) echo 1;; esac; exit; }\n'
                 if name == "sysctl" else "")
        (programs / name).write_text(f"#!/bin/sh\n{asked}echo {says}\n")
        (programs / name).chmod(0o755)
    done = subprocess.run(["bash", out / "launch.sh", "3", "10.90.1.1", "train.py", "--lr", "1"], capture_output=True, text=True,
                          env={"PATH": f"{programs}:/usr/bin:/bin", "NCCL_SOCKET_NTHREADS": "0", "NCCL_NSOCKS_PERTHREAD": "0",
                               "NCCL_SOCKET_IFNAME": "", "NCCL_ALGO": ""})
    expect(done.returncode == 0, "launch.sh is carried out " + done.stderr)
    buffer = int(re.search(r"rmem_max=(\d+)", done.stdout)[1])
    near(buffer, 2 * window, 1e-3, "bytes of buffers")
    expect(f"torchrun --nnodes={data['nodes']} --nproc-per-node=gpu --node-rank=3 --master-addr=10.90.1.1 --master-port=29500 "
           "train.py --lr 1 ens5 Ring 8\n" in done.stdout and "tcp_slow_start_after_idle" not in done.stdout, done.stdout)
    expect("# ranks: " + data["placement"] in (out / "launch.sh").read_text(), "which rank stands where")


def outages(planner):
    """A site that is cut off every E = 7 days for D, exponential of mean d = 4 h, while a round computes for C and
    exchanges for X: what is left of the compute hides as much of D. Per outage that costs
    (d² (1 − exp(−C / d)) + d X) / (C + X) of d + E."""
    data, text, _ = planner.plan(planner.example("outages"))
    found, faulty = data["plans"][0], data["with_faults"][0]
    d, cycle, compute = 4 * 3600, (7 * 24 + 4) * 3600, 100 * data["step_s"]
    exchange = found["time_s"] / found["steps"] * 100 - compute
    lost = (d * d * (1 - math.exp(-compute / d)) + d * exchange) / (compute + exchange)
    by_hand = lost / (cycle - lost)
    expect(abs(faulty["longer"] - by_hand) < faulty["half_width"] < by_hand,
           f"outages add {100 * faulty['longer']:.2f} ± {100 * faulty['half_width']:.2f} %, by hand {100 * by_hand:.2f} %")
    one_sentence(data, text)


def torchft(planner):
    """A failure a minute among 30 groups: published are 5145 of 6249 steps, 29.6 groups, and 10.9 s a step instead of 9. By
    hand a step T = 9 s counts if none fails in it. Else it ends 5 s after the failure; and for as long as the group's 12
    bytes a parameter leave a peer, all may wait at most."""
    data, _, _ = planner.plan(planner.example("torchft"))
    faulty, step, minute = data["with_faults"][0], data["plans"][0]["time_s"] / 6249, 60
    published = 5145 / 6249 * 29.6 / 30 * 9 / 10.9
    near(step, 9, 0.01, "seconds a step without failures, 9 published")
    near(faulty["goodput"], published, 0.15, "goodput beside the published one")
    kept = math.exp(-step / minute)
    most = kept * step / (kept * step + (1 - kept) * (step / 2 + 5))
    state_s = 12 * 1235814400 * 8 / (10e9 * PAYLOAD)
    expect(most * (1 - state_s / minute) * 29 / 30 < faulty["goodput"] < most, f"by hand between that and {most:.3f}")


def stages(planner):
    """8.03 B parameters at four sites of four nodes, of which two do not hold them: four stages of eight layers, a replica
    at each site. The last stage has the output too, so it is never idle between the first micro-batch's way there and
    the last one's way back. Work is 2 operations for each weight of a matrix and 2 for each of 8192 tokens and 4096
    numbers of attention. Six hops of 8192 tokens at 10 Gb/s are waited for, and every 200 steps six rounds of a ring, a
    quarter of the model each, through each site's 2 Gb/s."""
    plan = planner.example("stages", {"methods": ["diloco"], "inner_steps": [200], "rank_orders": ["blocks"]})
    data, _, out = planner.plan(plan)
    found = data["plans"][0]
    number, step_s = math.ceil(1e10 / (16 * 65536)), 6 * PARAMETERS_8B * 65536 / (2 * 0.4 * 165.2e12)
    near(data["step_s"], step_s, 1e-9, "seconds of a step")
    expect(found["steps"] == number, f"{found['steps']} steps, by hand {number}")
    expect(found["stages"] == 4 and json.loads((out / "scenario.json").read_text())["replicas"] == 4, found["words"])
    matrices = 2 * 4096 * 40 * 128 + 3 * 4096 * 14336
    layer, output = 2 * matrices + 2 * 4096 * 8192, 2 * 4096 * 128256
    step = (4 * step_s * (24 * layer / 32 + 8 * layer + output) / (32 * layer + output)
            + 6 * (8 * 8192 * 4096 * 2 / (10e9 * PAYLOAD) + 0.0005))
    ring = 6 * 8 * 2 * PARAMETERS_8B / 4 / (2e9 * PAYLOAD)
    by_hand = number * step + number // 200 * ring
    expect(0 <= found["time_s"] / by_hand - 1 < 0.01, f"{found['time_s']:.0f} s, by hand {by_hand:.0f} s")
    for of_stage, rest, under_way in zip(data["memory"]["stages_bytes"],
                                         (128256 * 4096, 0, 0, 4096 + 128256 * 4096), (4, 3, 2, 1)):
        by_hand = 26 / 2 * (rest + 8 * (matrices + 2 * 4096)) + (2 * 8 * under_way + 34) * 4096 * 4096
        near(of_stage, by_hand, 1e-9, "bytes of memory of a stage")
    leaving = number // 200 * 4 * 6 * 2 * PARAMETERS_8B / 4 * 1500 / 1448
    near(found["bytes_leaving_sites"], leaving, 1e-6, "bytes that leave the sites, no hop among them")
    planner.expect_whole("stages", found, out, 1e-6)
    plan["accelerator"]["memory"] = "4GB"
    said = planner.refusal(plan)
    expect(len(said.splitlines()) == 1 and "in 8 stages" in said and "more memory" in said, "no number of stages fits")


def dt_fm(planner):
    """DT-FM's GPT-XL of 24 layers on 64 nodes as a plan: eight pipelines of eight stages, an iteration of two flushes. Its
    own schedule, pipelines inside regions, is to be taken before random places, with the times of results/reference."""
    tables = (planner.source / "results/reference/validation/tables.md").read_text()
    for case in (3, 4):
        scenario = json.loads((planner.plans.parent / "validation" / f"dt-fm-{case}.json").read_text())
        network, work = scenario["network"], scenario["workload"]
        network["tcp"].pop("connections")
        plan = {"nodes": 64, "parameters": work["parameters"], "tokens": 2 * 8 * work["tokens"],
                "tokens_per_step": work["tokens"] // 8, "accelerator": {"memory": "16GB"}, "network": network,
                "step_time": f"{float(work['step_time']['constant'][:-1]) / 8}s", "seed": scenario["seed"],
                "candidates": {"methods": [{"name": "diloco", "inner_steps": 2, "all_reduce": "ring"}], "wires": ["fp16"],
                               "connections": [16], "pipelines": [scenario["pipeline"]]}}
        section = tables[tables.index(f"### dt-fm-{case}:"):]
        for order, places in (("scheduled", ["blocks", "random"]), ("unscheduled", ["random"])):
            plan["candidates"]["rank_orders"] = places
            found = planner.plan(plan)[0]["plans"][0]["time_s"]
            published, recorded = map(float, re.search(
                rf"\| {order}, 24 layers, batch 1024 \| ([\d.]+) s .*?\| ([\d.]+) s \|", section).groups())
            expect(abs(found - recorded) < 0.051,
                   f"case {case}, {order}: {found:.1f} s an iteration, recorded {recorded}, published {published}")


def equals_the_whole_replay(planner):
    """Some outer steps tell the whole. Where partners are drawn their mean stands for all; where exchanges take
    turns it is exact."""
    sites = planner.example("sites")
    plans = [("diloco-measured", planner.example("diloco-measured"), 1e-9), ("sites", sites, 1e-9)]
    regions = {"matrix": "aws-2022", "replicas": {"oregon": 2, "virginia": 2, "london": 2, "tokyo": 2}}
    between = {**sites, "nodes": 8, "tokens": 400000000, "tokens_per_step": 16384, "min_utilization": 0,
               "network": {"topology": {"regions": regions}}}
    del between["sites"]
    for method, within in (("noloco", None), ("hierarchical", 1e-9), ("ddp", 1e-5)):
        candidates = {"methods": [method], "inner_steps": [20], "connections": [8], "all_reduce": ["ring"],
                      "rank_orders": ["blocks"]}
        plans.append((method, {**between, "candidates": candidates}, within))
    for name, plan, within in plans:
        data, _, out = planner.plan(plan)
        planner.expect_whole(name, data["plans"][0], out, within)


def abilene(planner):
    """64 nodes of eight GPUs, 10 B parameters and 100 B tokens on Abilene to time, money and a placement."""
    data, text, out = planner.plan(planner.example(  # all candidates: two minutes
        "abilene", {"inner_steps": [50, 200], "all_reduce": ["ring"], "rank_orders": ["blocks"]}))
    chosen = data["plans"][0]
    print(text)
    compute_s = 6 * 10e9 * 100e9 / (512 * 989.4e12 * 0.4)
    expect(text.lstrip().startswith("Take "), "the first word decides")
    expect(compute_s <= chosen["time_s"] < 2 * compute_s, f"{chosen['time_s'] / 3600:.1f} h, compute alone {compute_s / 3600:.1f} h")
    expect(chosen["time_low_s"] <= chosen["time_s"] <= chosen["time_high_s"], "with the network model's error")
    expect(len(chosen["leaving"]) == 11 and "Kansas City" in data["placement"], "a placement at eleven cities")
    expect(sum(one["is_on_front"] for one in data["plans"]) >= 1 and len({one["method"] for one in data["plans"]}) >= 2,
           "several methods were replayed")
    expect(len(data["upgrades"]) >= 2 and len(data["links"]) >= 1, "what faster links would save")
    expect("an accelerator of 80 GB" in text and "loss is not known" in text, "memory, and what is not known")
    planner("check", out / "scenario.json")
    page = (out / "plan.html").read_text()
    expect("src=" not in page.split("<script>")[0] and chosen["words"] in page, "a page that needs no network")


def wrong_plans(planner):
    plan = planner.example("diloco-measured")
    plan["tokenz"] = plan.pop("tokens")
    said = planner.refusal(plan)
    expect("tokenz" in said and 'did you mean "tokens"' in said, "a slip is named")
    expect(not (planner.folder / "never").exists(), "wrong input leaves no folder behind")
    said = planner.refusal(planner.example("diloco-measured", {"inner_steps": [100000]}))
    expect("inner_steps" in said, "no candidate can be")


def schema(planner):
    printed, scenarios = json.loads(planner("plan", "--schema")), planner.source / "scenarios"
    expect(printed == json.loads((scenarios / "plan.schema.json").read_text()),
           "scenarios/plan.schema.json is what longhaul plan --schema prints")
    try:
        import jsonschema
    except ImportError:
        return
    resolver = jsonschema.RefResolver(base_uri=scenarios.as_uri() + "/", referrer=printed)
    validator = jsonschema.Draft202012Validator(printed, resolver=resolver)
    for file in sorted((scenarios / "plans").glob("*.json")):
        errors = list(validator.iter_errors(json.loads(file.read_text())))
        expect(not errors, f"{file.name} is as the schema says {errors[:1]}")


def main():
    planner = Planner(sys.argv[1], pathlib.Path(sys.argv[2]).resolve())
    for part in (schema, wrong_plans, measured_diloco, intellect, llama_70b, deadline, eight_files_of_iperf3,
                 outages, torchft, stages, dt_fm, equals_the_whole_replay, abilene):
        part(planner)


main()
