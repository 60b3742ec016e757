"""Plan files that are drawn, and what no answer to one may say; for the checks beside this file."""
import argparse
import itertools
import json
import pathlib
import random
import shutil
import sys

METHODS = ["ddp", "diloco", "streaming-diloco", "noloco", "local-sgd", "gossip", "delayed-nesterov", "hierarchical", "gasloc",
           {"name": "noloco", "group_size": 2, "pattern": "presend"}, {"name": "diloco", "codec": "e3m0"}]
MODELS = ["llama-small", "llama-3.2-1b", "qwen3-30b-a3b", "llama-3-8b"]
WRONG = [lambda plan: plan.pop("tokens"), lambda plan: plan["sites"][0].update(rate="1 parsec"),
         lambda plan: plan["candidates"].update(inner_steps=[0]), lambda plan: plan.update(accelerator={"name": "H999"}),
         lambda plan: plan["sites"][1].update(name=plan["sites"][0]["name"])]


def drawn_plan(seed, number):
    draw = random.Random(f"page/{seed}/{number}")
    log = lambda low, high: low * (high / low) ** draw.random()
    sites = [{"name": name, "nodes": draw.randint(1, 3), "rate": f"{log(1e8, 1e10):.0f}bps", "latitude": round(draw.uniform(-50, 60), 2),
              "longitude": round(draw.uniform(-120, 140), 2)} for name in ("Oslo", "Lima", "Île", "x<y")[:draw.randint(2, 4)]]
    plan = {"description": "drawn", "seed": draw.randint(1, 1000), "tokens": int(log(1e9, 1e12)), "tokens_per_step": draw.choice([4096, 32768]),
            "sites": sites, "candidates": {
                "methods": draw.sample(METHODS, draw.randint(1, 3)), "inner_steps": draw.sample([10, 50, 100, 500], draw.randint(1, 2)),
                "connections": draw.sample([1, 8], draw.randint(1, 2)), "all_reduce": draw.sample(["ring", "halving-doubling", "double-tree"], draw.randint(1, 2)),
                "rank_orders": draw.choice([["blocks"], ["blocks", "optimized"]])}}
    if draw.random() < 0.5:
        plan.update(model=draw.choice(MODELS), accelerator={"name": draw.choice(["H100", "B200", "RTX-4090"]), "per_node": 8, "price": 2.5})
    else:
        plan.update(parameters=int(log(1e7, 1e10)), step_time=f"{log(0.3, 6):.3g}s")
    if draw.random() < 0.3:
        plan["egress"] = draw.choice([0.05, {"price": 0.02, "sites": {"Oslo": 0.08}}])
    if draw.random() < 0.3:
        plan["paths"] = [{"between": ["Oslo", "Lima"], "rtt": f"{draw.randint(5, 300)}ms"}]
    if draw.random() < 0.2:
        plan["deadline"] = f"{draw.randint(5, 200)}d"
    if draw.random() < 0.2:
        plan["prefer"] = draw.choice(["time", "money", "bytes"])
    if draw.random() < 0.1:
        draw.choice(WRONG)(plan)
    return plan


class Drawing:
    """The command line of a check of drawn plans, and a folder with a line a plan, in which a call that is cut off continues."""

    def __init__(self, doc, programs, plans, **more):
        arguments = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
        for program in (*programs, "folder"):
            arguments.add_argument(program, type=pathlib.Path)
        arguments.add_argument("--plans", type=int, default=plans)
        arguments.add_argument("--seed", type=int, default=1)
        for name, default in more.items():
            arguments.add_argument("--" + name.replace("_", "-"), type=type(default), default=default)
        arguments.add_argument("--anew", action="store_true", help="forget what an earlier call has left")
        self.given = arguments.parse_args()
        self.folder = self.given.folder.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.file = self.folder / "plans.jsonl"
        if self.given.anew:
            self.file.unlink(missing_ok=True)
        self.lines = [json.loads(line) for line in self.file.read_text().splitlines()] if self.file.exists() else []

    def plans(self):
        """(number, a folder of its own, the plan file) of those that are still to be made; each is added before the next."""
        for number in range(len(self.lines) + 1, self.given.plans + 1):
            folder = self.folder / f"{number:05}"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            yield number, folder, drawn_plan(self.given.seed, number)

    def add(self, line, is_bad):
        """What is bad is said, and its folder stays."""
        self.lines.append(line)
        with self.file.open("a") as file:
            print(json.dumps(line), file=file, flush=True)
        if is_bad:
            print(json.dumps(line), file=sys.stderr, flush=True)
        else:
            shutil.rmtree(self.folder / f"{line['number']:05}")


def is_no_worse(one, other, tolerance=0.):
    """In H, time, money and bytes: what a front is made of (planner/choice.h)."""
    return one["inner_steps"] <= other["inner_steps"] and all(
        one[key] <= (1 + tolerance) * other[key] for key in ("time_s", "cost", "bytes_leaving_sites"))


def dominates(one, other):
    return is_no_worse(one, other) and not is_no_worse(other, one)


SAME = 0.005  # what differs by less does not matter to a planner


def front_faults(front, plans):
    """Of a front, and of all plans that may be on it."""
    for one in front:
        if any(dominates(other, one) and not is_no_worse(one, other, 1e-6) for other in plans):
            yield f"on the front, though another is better in all: {one['words']}"
    for other in plans:
        if not any(is_no_worse(one, other, SAME) for one in front):
            yield f"not on the front, though none there is as good: {other['words']}"


def eligible(plans, request):
    """Those that may be taken (ChoiceRule::is_eligible): within the deadline, if any is, and of these those that compute enough."""
    if "deadline" in request:
        in_time = [one for one in plans if one["time_s"] <= 86400 * float(request["deadline"][:-1])]
        return in_time or plans  # min_utilization is 0 then
    busy = [one for one in plans if one["utilization"] >= 0.8]
    return busy or plans


def impossible(answer):
    """Sentences on what cannot be in a plan.json; none, as it should be."""
    step_s, request = answer["step_s"], answer["plan"]
    price = request.get("accelerator", {}).get("price", 0)
    for plan in answer["plans"] + answer["choice_by_inner_steps"]:
        for is_so, words in (
                (plan["time_s"] < plan["steps"] * step_s * (1 - 1e-9), "takes less than its steps compute"),
                (plan["utilization"] > 1 + 1e-9, "computes for more than all of the time"),
                (not plan["time_low_s"] <= plan["time_s"] <= plan["time_high_s"], "is outside of its own range"),
                (plan["tokens"] > plan["steps"] * answer["tokens_per_step"] * answer["nodes"], "has fewer tokens in its steps than it trains on"),
                (abs(plan["accelerator_hours"] - answer["accelerators"] * plan["time_s"] / 3600) > 1e-6 * plan["accelerator_hours"], "has other hours than its time"),
                (abs(plan["cost"] - price * plan["accelerator_hours"] - plan["egress_cost"]) > 1e-6 * max(plan["cost"], 1), "costs something else than its hours and bytes"),
                (abs(sum(plan["leaving"].values()) - plan["bytes_leaving_sites"]) > 1e-6 * max(plan["bytes_leaving_sites"], 1), "has other bytes than its sites")):
            if is_so:
                yield f"{plan['words']} {words}"
    yield from front_faults([plan for plan in answer["plans"] if plan["is_on_front"]], [plan for plan in answer["plans"] if not plan["left_out"]])


def single_plans(plan):
    """The same plan file with each of its candidates alone; methods without a key have no use for it, and double."""
    candidates, keys = plan["candidates"], ("methods", "inner_steps", "connections", "all_reduce", "rank_orders")
    for chosen in itertools.product(*(candidates[key] for key in keys)):
        yield {**json.loads(json.dumps(plan)), "candidates": {**candidates, **{key: [value] for key, value in zip(keys, chosen)}}}
