#!/usr/bin/env python3
"""A planner's walk, as a user would go it: plan files in, answers out, without opening a source file.

  plan.py LONGHAUL SOURCE_FOLDER      exit status 1 and a line for the first answer that is not there

Nothing is fitted: what is expected is a published figure, or follows from published inputs by hand.
"""
import copy
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

from walk import expect


class Planner:
    def __init__(self, longhaul, source, folder):
        self.longhaul, self.plans, self.folder, self.count = longhaul, source / "scenarios" / "plans", pathlib.Path(folder), 0

    def call(self, *arguments):
        return subprocess.run([self.longhaul, *map(str, arguments)], capture_output=True, text=True, timeout=600)

    def written(self, plan):
        """A plan beside the others, so that the files it names are found."""
        self.count += 1
        file = self.folder / f"plan{self.count}.json"
        plan = copy.deepcopy(plan)
        graph = plan.get("network", {}).get("topology", {}).get("graphml")
        if graph:
            graph["file"] = str((self.plans / graph["file"]).resolve())
        if "measurements" in plan:
            files = plan["measurements"] if isinstance(plan["measurements"], list) else [plan["measurements"]]
            plan["measurements"] = [str((self.plans / name).resolve()) for name in files]
        file.write_text(json.dumps(plan))
        return file

    def plan(self, plan):
        out = self.folder / f"out{self.count + 1}"
        done = self.call("plan", self.written(plan), "-o", out)
        if done.returncode != 0:
            raise SystemExit(f"longhaul plan ended with {done.returncode}: {done.stderr}")
        return json.loads((out / "plan.json").read_text()), done.stdout, out

    def example(self, name):
        return json.loads((self.plans / f"{name}.json").read_text())

    def whole_s(self, out):
        """Seconds that the run of all steps takes of the scenario that a plan has left."""
        for command in (["check"], ["run", "--out", out / "run", "--quiet"]):
            done = self.call(*command, out / "scenario.json")
            expect(done.returncode == 0, f"longhaul {command[0]} takes the scenario {done.stderr}")
        return json.loads((out / "run" / "summary.json").read_text())["cases"][0]["simulated_time_s"]

    def refusal(self, plan):
        done = self.call("plan", self.written(plan), "-o", self.folder / "never")
        expect(done.returncode == 2, f"exit status 2: {done.stderr.strip()}")
        return done.stderr.strip()


def measured_diloco(planner):
    """Four nodes, 123.4 MB and steps of 25.3 ms: the smallest H of 1, 8, 32, 128 that computes half of the time, or
    the one that comes nearest, as Adnan082/diloco-measured found it with its own measured all-reduces."""
    for rate, published in (("50Mbps", 128), ("200Mbps", 128), ("1Gbps", 128), ("5Gbps", 32)):
        plan = planner.example("diloco-measured")
        plan["network"]["topology"]["star"]["up"] = rate
        data, _, _ = planner.plan(plan)
        found = data["plans"][0]
        expect(found["inner_steps"] == published,
               f"H at {rate} is {found['inner_steps']} ({100 * found['utilization']:.0f} % compute), published {published}")


def intellect(planner):
    """1 T tokens by 14 nodes of 2^20 tokens a step, 38 minutes and an all-reduce of 469 s a hundred steps."""
    data, text, _ = planner.plan(planner.example("intellect-1"))
    found = data["plans"][0]
    steps = math.ceil(1e12 / (14 * 2 ** 20))
    by_hand = steps * 22.8 + steps // 100 * 469
    expect(found["steps"] == steps, f"{found['steps']} steps, by hand {steps}")
    expect(abs(found["time_s"] / by_hand - 1) < 0.02,
           f"INTELLECT-1 with 14 nodes all the time: {found['time_s'] / 86400:.1f} d, by hand {by_hand / 86400:.1f} d "
           "(published: 42 d, with up to 14 nodes)")


def llama_70b(planner):
    """70.55 B parameters at seven nodes. Twelve rounds of a ring take a seventh of the model each through Stuttgart's
    uplink of 2 Gb/s, less than the 8 · 300 Mb/s that were measured to it, and windows that grow
    anew cost up to 2 %. Five hops leave a site."""
    plan = planner.example("llama-3-70b")
    plan["candidates"].update(methods=["diloco"], inner_steps=[200], rank_orders=["blocks"], all_reduce=["ring"])
    plan.update(deadline="365d", budget=1000000000)
    data, text, _ = planner.plan(plan)
    found = data["plans"][0]
    parameters, nodes, steps = 70553706496, 7, math.ceil(2e12 / (7 * 262144))
    step_s = 6 * parameters * 262144 / (32 * 0.4 * 989.4e12)
    bytes_of_hop = 12 * 2 * parameters / nodes
    by_hand = steps * step_s + steps // 200 * 8 * bytes_of_hop / (2e9 * 1448 / 1538)
    expect(data["parameters"] == parameters, f"Llama 3 70B has {data['parameters']} parameters, published {parameters}")
    expect(0 <= found["time_s"] / by_hand - 1 < 0.02,
           f"seven nodes, uplink of 2 Gb/s: {found['time_s'] / 86400:.1f} d, by hand {by_hand / 86400:.1f} d")
    leaving = steps // 200 * bytes_of_hop * 1500 / 1448
    expect(all(abs(of_site / leaving - 1) < 1e-6 for of_site in found["leaving"].values()) and len(found["leaving"]) == 5,
           f"each of five sites sends {leaving / 1e15:.2f} PB by hand: {found['leaving']}")
    expect(abs(found["egress_cost"] / (4 * leaving / 1e9 * 0.06) - 1) < 1e-6, "Stuttgart's egress is free")
    saved, uplink = {one["what"]: one["saved_s"] for one in data["upgrades"]}, "stuttgart's uplink"
    expect(saved[uplink] > 0.99 * max(saved.values()) and data["links"][0]["link"] == uplink,
           f"{uplink} is what to buy, it saves {saved[uplink] / 86400:.1f} d")
    expect("It keeps the deadline of 365.0 d and the budget of 1,000,000,000 EUR, which cost nothing." in data["decision"],
           "one candidate within both")


def deadline(planner):
    """Within 72 days the ring, which costs the least, is too slow. It goes eight rounds of a fifth of 8.03 B parameters
    over three hops between sites every 500 steps."""
    data, text, _ = planner.plan(planner.example("deadline"))
    taken, free = data["plans"][0], data["without_limits"]
    expect(taken["time_s"] <= 72 * 86400 < free["time_s"] and free["cost"] < taken["cost"],
           f"72 days cost {taken['cost'] - free['cost']:.0f} EUR more than {free['time_s'] / 86400:.1f}")
    steps = math.ceil(2e12 / (5 * 65536))
    leaving = steps // 500 * 3 * 8 * 2 * 8030261248 / 5 * 1500 / 1448
    expect("ring" in free["words"] and "blocks" in free["words"] and abs(free["bytes_leaving_sites"] / leaving - 1) < 1e-3,
           f"{free['words']} sends {free['bytes_leaving_sites'] / 1e12:.1f} TB, by hand {leaving / 1e12:.1f}")
    by_hand = free["time_s"] / 3600 * 40 * 2.3 + leaving / 1e9 * 0.06
    expect(abs(free["cost"] / by_hand - 1) < 1e-3, f"and costs {free['cost']:.0f} EUR, by hand {by_hand:.0f}")
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
    plan = planner.example("iperf3")
    rates = {}
    for name in plan["measurements"]:
        run = json.loads((planner.plans / name).read_text())
        pair = frozenset(pathlib.Path(name).stem.split("-"))
        rate = run["end"]["sum_received"]["bits_per_second"] / run["start"]["test_start"]["num_streams"]
        rates[pair] = min(rates.get(pair, rate), rate)
    narrow = copy.deepcopy(plan)
    narrow["candidates"].update(methods=["diloco"], inner_steps=[500], rank_orders=["blocks"])
    data, text, out = planner.plan(narrow)
    trips = {frozenset(path["between"]): float(path["rtt"][:-2]) / 1e3 for path in plan["paths"]}
    uplinks = {site["name"]: float(site["rate"][:-4]) * 1e9 for site in plan["sites"]}
    starts(planner, out, data, max(trip * min([rates[pair], *(uplinks[site] * 1448 / 1538 / 8 for site in pair)]) / 8
                                   for pair, trip in trips.items()))
    found, parameters = data["plans"][0], 8030261248
    steps, step_s = math.ceil(2e12 / (7 * 65536)), 6 * parameters * 65536 / (8 * 0.4 * 362.05e12)
    payload, chunk = 1448 / 1538, 8 * 2 * parameters / 7
    hop = {pair: chunk / (8 * rate) for pair, rate in rates.items()}
    ways = (hop[frozenset(("oregon", "paris"))] + hop[frozenset(("paris", "frankfurt"))] + 3 * chunk / (10e9 * payload)
            + max(hop[frozenset(("virginia", "oregon"))], chunk / (2e9 * payload)))
    by_hand = steps * step_s + steps // 500 * (6 * hop[frozenset(("frankfurt", "virginia"))] + ways)
    expect(abs(found["time_s"] / by_hand - 1) < 0.01,
           f"with Oregon {found['time_s'] / 86400:.1f} d, by hand {by_hand / 86400:.1f} d")
    rent = 32 * 2.3 + 48 * 1.2 + 8 * 0.9
    expect(abs(found["compute_cost"] / (found["time_s"] / 3600 * rent) - 1) < 1e-9, "each accelerator has its own price")
    computes = {one["site"]: one["computes"] for one in data["sites"]}
    expect(abs(computes["paris"] / computes["oregon"] - 362.05 / 989.4) < 1e-9, "Paris waits for Oregon")
    without = data["sites"][3]["without"]
    steps_of_six = math.ceil(2e12 / (6 * 65536))
    expect(without["steps"] == steps_of_six and without["time_s"] > steps_of_six * 6 * parameters * 65536 / (24 * 0.4 * 312e12),
           f"without Oregon {without['steps']} steps, {without['time_s'] / 86400:.1f} d")
    expect(any("4 streams" in caveat for caveat in data["caveats"]), "what parallel streams mean is said")
    one_sentence(data, text)
    data, text, _ = planner.plan(plan)
    found = data["plans"][0]
    print(text)
    without = data["sites"][3]["without"]
    expect(found["time_s"] <= 90 * 86400 and found["cost"] > 300000 and without["cost"] < 300000 and without["time_s"] < 90 * 86400
           and re.search(r"what to change: leave out oregon \(.* faster, .* EUR cheaper .*, which keeps the limits\)\.$", data["in_short"]),
           "the budget is kept without Oregon alone")
    one_sentence(data, text)
    plan.update(model="llama-3-70b", tokens_per_step=262144, deadline="400d", budget=4000000)
    plan["accelerator"]["per_node"] = 32
    plan["sites"][1]["accelerator"]["per_node"] = 96
    plan["sites"][3]["accelerator"]["per_node"] = 64
    data, text, _ = planner.plan(plan)
    slowest_s = 6 * 70553706496 * 262144 / (64 * 0.4 * 362.05e12)
    expect(abs(data["step_s"] / slowest_s - 1) < 1e-9, f"a step of 70 B takes {data['step_s']:.1f} s, by hand {slowest_s:.1f} s")
    one_sentence(data, text)


def starts(planner, out, data, window):
    """launch.sh, carried out with commands that print how they were called."""
    programs = out / "programs"
    programs.mkdir()
    for name in ("sysctl", "torchrun", "ip"):
        says = "echo default via 10.0.0.1 dev ens5 proto dhcp" if name == "ip" else \
            f'echo {name} "$@" "$NCCL_SOCKET_IFNAME $NCCL_ALGO $((NCCL_SOCKET_NTHREADS * NCCL_NSOCKS_PERTHREAD))"'
        (programs / name).write_text("#!/bin/sh\n" + says + "\n")
        (programs / name).chmod(0o755)
    done = subprocess.run(["bash", out / "launch.sh", "3", "10.90.1.1", "train.py", "--lr", "1"], capture_output=True, text=True,
                          env={"PATH": f"{programs}:/usr/bin:/bin", "NCCL_SOCKET_NTHREADS": "0", "NCCL_NSOCKS_PERTHREAD": "0",
                               "NCCL_SOCKET_IFNAME": "", "NCCL_ALGO": ""})
    expect(done.returncode == 0, "launch.sh is carried out " + done.stderr)
    buffer = int(re.search(r"rmem_max=(\d+)", done.stdout)[1])
    expect(abs(buffer / (2 * window) - 1) < 1e-3, f"buffers of {buffer} bytes, by hand twice {window:.0f}")
    expect(f"torchrun --nnodes={data['nodes']} --nproc-per-node=gpu --node-rank=3 --master-addr=10.90.1.1 --master-port=29500 "
           "train.py --lr 1 ens5 Ring 8\n" in done.stdout and "tcp_slow_start_after_idle=1" in done.stdout, done.stdout)
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
    expect(abs(step / 9 - 1) < 0.01, f"{step:.2f} s a step without failures, published 9 s")
    expect(abs(faulty["goodput"] / published - 1) < 0.15, f"goodput {faulty['goodput']:.3f}, published {published:.3f}")
    kept = math.exp(-step / minute)
    most = kept * step / (kept * step + (1 - kept) * (step / 2 + 5))
    state_s = 12 * 1235814400 * 8 / (10e9 * 1448 / 1538)
    expect(most * (1 - state_s / minute) * 29 / 30 < faulty["goodput"] < most, f"by hand between that and {most:.3f}")


def stages(planner):
    """8.03 B parameters at four sites of four nodes, of which two do not hold them: four stages of eight layers, a replica
    at each site. The last stage has the output too, so it is never idle between the first micro-batch's way there and
    the last one's way back. Work is 2 operations for each weight of a matrix and 2 for each of 8192 tokens and 4096
    numbers of attention. Six hops of 8192 tokens at 10 Gb/s are waited for, and every 200 steps six rounds of a ring, a
    quarter of the model each, through each site's 2 Gb/s."""
    plan = planner.example("stages")
    plan["candidates"].update(methods=["diloco"], inner_steps=[200], rank_orders=["blocks"])
    data, text, out = planner.plan(plan)
    found, parameters = data["plans"][0], 8030261248
    number, step_s = math.ceil(1e10 / (16 * 65536)), 6 * parameters * 65536 / (2 * 0.4 * 165.2e12)
    expect(abs(data["step_s"] / step_s - 1) < 1e-9 and found["steps"] == number, f"{found['steps']} steps of {step_s:.1f} s")
    expect(found["stages"] == 4 and json.loads((out / "scenario.json").read_text())["replicas"] == 4, found["words"])
    matrices = 2 * 4096 * 40 * 128 + 3 * 4096 * 14336
    layer, output = 2 * matrices + 2 * 4096 * 8192, 2 * 4096 * 128256
    work, payload = 32 * layer + output, 1448 / 1538
    step = 4 * step_s * (24 * layer / 32 + 8 * layer + output) / work + 6 * (8 * 8192 * 4096 * 2 / (10e9 * payload) + 0.0005)
    ring = 6 * 8 * 2 * parameters / 4 / (2e9 * payload)
    by_hand = number * step + number // 200 * ring
    expect(0 <= found["time_s"] / by_hand - 1 < 0.01, f"{found['time_s'] / 86400:.3f} d, by hand {by_hand / 86400:.3f} d")
    memory = [26 / 2 * (rest + 8 * (matrices + 2 * 4096)) + (2 * 8 * under_way + 34) * 4096 * 4096
              for rest, under_way in ((128256 * 4096, 4), (0, 3), (0, 2), (4096 + 128256 * 4096, 1))]
    expect(all(abs(a / b - 1) < 1e-9 for a, b in zip(data["memory"]["stages_bytes"], memory)), f"memory by stage {memory}")
    leaving = number // 200 * 4 * 6 * 2 * parameters / 4 * 1500 / 1448
    expect(abs(found["bytes_leaving_sites"] / leaving - 1) < 1e-6, f"{leaving / 1e12:.2f} TB leave the sites, by hand, and no hop")
    whole_s = planner.whole_s(out)
    expect(abs(found["time_s"] / whole_s - 1) < 1e-6, f"{found['replayed_steps']} steps say {found['time_s']} s, all of them {whole_s} s")
    plan["accelerator"]["memory"] = "4GB"
    said = planner.refusal(plan)
    expect(len(said.splitlines()) == 1 and "in 8 stages" in said and "more memory" in said, "no number of stages fits")


def dt_fm(planner):
    """DT-FM's GPT-XL of 24 layers on 64 nodes as a plan: eight pipelines of eight stages, an iteration of two flushes. Its
    own schedule, pipelines inside regions, is to be taken before random places, with the times of results/reference."""
    tables = (planner.plans.parents[1] / "results/reference/validation/tables.md").read_text()
    for case in (3, 4):
        scenario = json.loads((planner.plans.parent / "validation" / f"dt-fm-{case}.json").read_text())
        network, work = scenario["network"], scenario["workload"]
        network["tcp"].pop("connections")
        plan = {"nodes": 64, "parameters": work["parameters"], "tokens": 2 * 8 * work["tokens"], "tokens_per_step": work["tokens"] // 8,
                "step_time": f"{float(work['step_time']['constant'][:-1]) / 8}s", "accelerator": {"memory": "16GB"}, "network": network,
                "candidates": {"methods": [{"name": "diloco", "inner_steps": 2, "all_reduce": "ring"}], "wires": ["fp16"],
                               "connections": [16], "pipelines": [scenario["pipeline"]]}, "seed": scenario["seed"]}
        section = tables[tables.index(f"### dt-fm-{case}:"):]
        for order, places in (("scheduled", ["blocks", "random"]), ("unscheduled", ["random"])):
            plan["candidates"]["rank_orders"] = places
            found = planner.plan(plan)[0]["plans"][0]["time_s"]
            recorded, published = (float(re.search(rf"\| {order}, 24 layers, batch 1024 \| ([\d.]+) s .*?\| ([\d.]+) s \|", section)[i])
                                   for i in (2, 1))
            expect(abs(found - recorded) < 0.051, f"case {case}, {order}: {found:.1f} s an iteration, recorded {recorded}, published {published}")


def equals_the_whole_replay(planner):
    """Some outer steps tell the whole: the run of all steps takes exactly as long."""
    for name in ("diloco-measured", "sites"):
        data, _, out = planner.plan(planner.example(name))
        chosen, whole_s = data["plans"][0], planner.whole_s(out)
        expect(abs(chosen["time_s"] / whole_s - 1) < 1e-9,
               f"{name}: {chosen['replayed_steps']} of {chosen['steps']} steps say {chosen['time_s']} s, all of them {whole_s} s")


def between_regions(planner):
    """Where partners are drawn the mean of some outer steps stands for all; where exchanges take turns it is exact."""
    for method, error in (("noloco", None), ("hierarchical", 1e-9), ("ddp", 1e-5)):
        plan = planner.example("sites")
        plan.pop("sites")
        plan.update(nodes=8, tokens=400000000, tokens_per_step=16384, min_utilization=0,
                    network={"topology": {"regions": {"matrix": "aws-2022", "replicas": {"oregon": 2, "virginia": 2, "london": 2, "tokyo": 2}}}},
                    candidates={"methods": [method], "inner_steps": [20], "connections": [8], "all_reduce": ["ring"], "rank_orders": ["blocks"]})
        data, _, out = planner.plan(plan)
        chosen, whole_s = data["plans"][0], planner.whole_s(out)
        is_near = (abs(chosen["time_s"] / whole_s - 1) < error if error
                   else chosen["time_low_s"] <= whole_s <= chosen["time_high_s"])
        expect(is_near,
               f"{method}: {chosen['replayed_steps']} of {chosen['steps']} steps say {chosen['time_s']} s, all of them {whole_s} s")


def abilene(planner):
    """64 nodes of eight GPUs, 10 B parameters and 100 B tokens on Abilene to time, money and a placement."""
    plan = planner.example("abilene")
    plan["candidates"].update(inner_steps=[50, 200], all_reduce=["ring"], rank_orders=["blocks"])  # all: two minutes
    data, text, out = planner.plan(plan)
    chosen = data["plans"][0]
    print(text)
    compute_s = 6 * 10e9 * 100e9 / (512 * 989.4e12 * 0.4)
    expect(text.lstrip().startswith("Take "), "the first word decides")
    expect(compute_s <= chosen["time_s"] < 2 * compute_s, f"{chosen['time_s'] / 3600:.1f} h, compute alone {compute_s / 3600:.1f} h")
    expect(chosen["time_low_s"] <= chosen["time_s"] <= chosen["time_high_s"], "with the network model's error")
    expect(abs(chosen["compute_cost"] - chosen["time_s"] / 3600 * 512 * 2.5) < 1e-6 * chosen["cost"], "compute is priced")
    expect(abs(chosen["egress_cost"] - chosen["bytes_leaving_sites"] / 1e9 * 0.05) < 1e-6 * chosen["cost"], "egress is priced")
    expect(len(chosen["leaving"]) == 11 and "Kansas City" in data["placement"], "a placement at eleven cities")
    expect(sum(one["is_on_front"] for one in data["plans"]) >= 1 and len({one["method"] for one in data["plans"]}) >= 2,
           "several methods were replayed")
    expect(len(data["upgrades"]) >= 2 and len(data["links"]) >= 1, "what faster links would save")
    expect("an accelerator of 80 GB" in text and "loss is not known" in text, "memory, and what is not known")
    expect(planner.call("check", out / "scenario.json").returncode == 0, "longhaul check takes the scenario")
    page = (out / "plan.html").read_text()
    expect("src=" not in page.split("<script>")[0] and chosen["words"] in page, "a page that needs no network")


def wrong_plans(planner):
    plan = planner.example("diloco-measured")
    plan["tokenz"] = plan.pop("tokens")
    said = planner.refusal(plan)
    expect("tokenz" in said and 'did you mean "tokens"' in said, "a slip is named")
    expect(not (planner.folder / "never").exists(), "wrong input leaves no folder behind")
    plan = planner.example("diloco-measured")
    plan["candidates"]["inner_steps"] = [100000]
    expect("inner_steps" in planner.refusal(plan), "no candidate can be")


def schema(planner, source):
    printed = planner.call("plan", "--schema").stdout
    expect(json.loads(printed) == json.loads((source / "scenarios" / "plan.schema.json").read_text()),
           "scenarios/plan.schema.json is what longhaul plan --schema prints")
    try:
        import jsonschema
    except ImportError:
        return
    resolver = jsonschema.RefResolver(base_uri=(source / "scenarios").resolve().as_uri() + "/", referrer=json.loads(printed))
    validator = jsonschema.Draft202012Validator(json.loads(printed), resolver=resolver)
    for file in sorted(planner.plans.glob("*.json")):
        errors = list(validator.iter_errors(json.loads(file.read_text())))
        expect(not errors, f"{file.name} is as the schema says {errors[:1]}")


def main():
    longhaul, source = sys.argv[1], pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory(prefix="longhaul-walk-") as folder:
        planner = Planner(longhaul, source, folder)
        schema(planner, source)
        for part in (wrong_plans, measured_diloco, intellect, llama_70b, deadline, eight_files_of_iperf3, outages, torchft, stages, dt_fm,
                     equals_the_whole_replay, between_regions, abilene):
            part(planner)


main()
