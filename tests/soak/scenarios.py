"""Small random scenarios: methods and their options as `longhaul list schema` declares them, networks, faults, pipelines,
sweeps. The same for the same seed and number. Not all that is drawn is allowed: `longhaul check` says which."""
import json
import random
import subprocess

CODECS = [{"top_k": {"chunk": 64, "kept": 4}}, {"top_k": {"chunk": 256, "kept": 16, "numbers": "two_bit"}},
          {"dct_top_k": {"tile": 8, "kept": 4}}, {"random_mask": {"share": 0.3}},
          {"low_rank": {"rank": 2, "factors": "int4"}}]
GRACES = ["unlimited", "0s", "50ms", "200ms", "1s"]
NOT_OPTIONS = ("name", "label", "optimizer", "pipeline")
# Counts that have to fit a small training; every other option is drawn by its type.
COUNTS = {"inner_steps": [2, 3, 4, 6], "group_size": [2, 2, 4], "targets": [1, 2], "across_every": [1, 2, 3], "delay": [0, 1],
          "overlap": [0, 1, 2], "fragments": [0, 2], "fragment_layers": [1, 2], "buckets": [1, 2, 5], "freeze_step": [3, 8],
          "warm_up": [0, 4, 8]}
STAR = {"star": {"rate": "100Mbps", "rtt": "50ms"}}


def declared_methods(longhaul):
    """{name: {option: its part of the schema}}"""
    schema = json.loads(subprocess.run([longhaul, "list", "schema"], capture_output=True, text=True, check=True).stdout)
    def expanded(part):
        """Without references to "$defs"."""
        if isinstance(part, list):
            return [expanded(each) for each in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            part = {**schema["$defs"][part["$ref"].rsplit("/", 1)[1]], **{key: part[key] for key in part if key != "$ref"}}
        return {key: expanded(value) for key, value in part.items()}

    methods = [one["properties"] for one in expanded(schema["properties"]["methods"]["items"]["oneOf"])]
    return {one["name"]["const"]: {key: value for key, value in one.items() if key not in NOT_OPTIONS} for one in methods}


class Draw:
    def __init__(self, methods, seed, number):
        self.methods = methods
        self.random = random.Random(f"{seed}/{number}")
        self.number = number

    def chance(self, share):
        return self.random.random() < share

    def scenario(self):
        pick = self.random.choice
        trains, replicas = self.chance(0.8), pick([2, 3, 4, 4, 6, 8])
        stages = 2 if self.chance(0.25) else 1
        names = self.random.sample(sorted(self.methods), pick([1, 2, 2, 3]))
        scenario = {"name": f"soak-{self.number}", "replicas": replicas,
                    "methods": [self.method(name, replicas) for name in names],
                    "workload": {"step_time": self.step_time()}, "network": self.network(replicas)}
        scenario.update({"seeds": [1, 2]} if self.chance(0.15) else {"seed": self.random.randrange(1000)})
        if trains:
            scenario["train"] = self.training(stages)
        else:
            scenario["workload"].update(parameters=pick([20_000, 300_000]), steps=pick([8, 20, 40]))
        if stages > 1:
            scenario["pipeline"] = self.pipeline(trains)
            if not trains:
                scenario["workload"].update(model={"hidden": 32, "layers": 4, "heads": 2, "ffn": 64, "context": 32}, tokens=128)
                del scenario["workload"]["parameters"]
        if self.chance(0.4):
            scenario["faults"] = [self.fault(scenario["network"]) for _ in range(pick([1, 1, 2, 3]))]
        if stages == 1 and self.chance(0.4):
            self.let_replicas_go(scenario)
        if self.chance(0.6):
            scenario["sweep"] = self.sweep(scenario)
        return scenario

    def method(self, name, replicas):
        method = {"name": name}
        for option, declared in self.methods[name].items():
            if option in COUNTS and (option in ("inner_steps", "freeze_step", "warm_up") or self.chance(0.3)):
                method[option] = self.random.choice(COUNTS[option])
            elif option in ("grace", "quorum"):
                if self.chance(0.6):
                    method[option] = self.random.choice(GRACES) if option == "grace" else self.random.randint(1, replicas)
            elif option not in COUNTS and self.chance(0.2):
                value = self.value(option, declared)
                if value is not None:
                    method[option] = value
        return method

    def value(self, option, declared):
        if option == "codec":
            return self.random.choice(CODECS + declared["anyOf"][0]["enum"])
        if "enum" in declared:
            return self.random.choice(declared["enum"])
        if declared.get("type") == "boolean":
            return self.chance(0.5)
        if declared.get("type") == "number":
            return min(declared["default"] * self.random.choice([0.5, 0.9, 1.5]) or 0.3, declared.get("maximum", 1e9))
        return None

    def step_time(self):
        return self.random.choice([{"constant": "100ms"}, {"lognormal": {"mean": "100ms", "sigma": 0.3}},
                                   {"lognormal": {"mean": "20ms", "sigma": 1}}])

    def training(self, stages):
        pick = self.random.choice
        return {"steps": pick([8, 20, 40, 80]), "batch": pick([2, 4]), "checkpoint_every": pick([1, 3, 7, 20]),
                "evaluate_every": pick([2, 5, 9]), "evaluate_sequences": 8,
                "model": {"hidden": pick([16, 32]), "layers": pick([2, 4]) if stages == 1 else 4, "heads": 2, "ffn": pick([32, 64]),
                          "context": pick([16, 32])},
                "data": {"synthetic": {"branching": 4, "tokens": 20_000}}, "optimizer": {"name": pick(["adamw", "adamw", "muon"])}}

    def network(self, replicas):
        pick = self.random.choice
        network = {"fidelity": pick(["flow", "flow", "analytic"]),
                   "topology": pick([STAR, STAR, {"mesh": {"rate": "100Mbps", "rtt": "20ms"}}, {"homes": {}},
                                     {"hierarchical": {"sites": 2, "inside": {"rate": "1Gbps", "rtt": "1ms"},
                                                       "trunk": {"rate": "100Mbps", "rtt": "40ms"}}},
                                     {"regions": {"matrix": "aws-2022", "sites": ["oregon", "london"], "replicas": "even"}}])}
        if replicas <= 3 and network["topology"] == STAR and self.chance(0.3):
            network["fidelity"] = "packet"
        if self.chance(0.2):
            network["tcp"] = pick([{"connections": 4}, {"window": "500kB"}, {"slow_start_after_idle": False}])
        if self.chance(0.2):
            network["barrier"] = True
        if network["fidelity"] == "flow" and self.chance(0.2):
            network["variation"] = {"jitter": {"rate_sigma": 0.2, "delay_sigma": 0.1}}
        if self.chance(0.15):
            network["message_time"] = {"mean": "50ms", "std": "40ms"}
        return network

    def fault(self, network):
        pick = self.random.choice
        kinds = [{"kind": "slow", "replicas": pick(["0", "1", "0-1"]), "factor": pick([1.5, 4, 20])}]
        if network["fidelity"] == "flow":
            kinds.append({"kind": "link", "link": pick(["replica0-*", "*"]), "rate": pick([0.1, 0.5])})
            kinds.append({"kind": "link", "link": "replica1-*", "rate": 0, "for": "1s", "at": pick(["100ms", "2s"])})
            if "regions" in network["topology"]:
                kinds.append({"kind": "site", "site": pick(["oregon", "london"]), "at": "500ms", "for": "2s"})
        fault = pick(kinds)
        if "at" not in fault:
            fault.update(pick([{"at": "300ms"}, {"at": "1s", "for": "3s"}, {"every": "2s", "for": "500ms"},
                               {"every": "3s", "for": "1s", "for_sigma": 0.5}]))
        return fault

    def let_replicas_go(self, scenario):
        """Faults after which replicas are gone, and what the others do about it."""
        pick, last = self.random.choice, scenario["replicas"] - 1
        faults = scenario.setdefault("faults", [])
        for _ in range(pick([1, 1, 2, 3])):
            fault = {"kind": "crash", "replicas": pick(["0", "1", f"0-{last}"])}
            fault.update(pick([{"at": "500ms", "for": "1s"}, {"at": "0s", "for": "300ms"}, {"every": "5s", "for": "500ms"},
                               {"every": "10s", "for": "2s", "for_sigma": 1}]))
            faults.append(fault)
        scenario["recovery"] = {"on_failure": pick(["retry", "retry", "discard", "wait"]), "detect": pick(["0s", "200ms", "2s"]),
                                "start": pick(["peer", "peer", "own"])}

    def pipeline(self, trains):
        pick = self.random.choice
        pipeline = {"stages": 2, "microbatches": 2, "schedule": pick(["gpipe", "1f1b"]), "routing": pick(["straight", "random"])}
        if self.chance(0.3):
            pipeline["activations"] = pick(["int8", "int4"] + (["learned"] if trains else []))
        return pipeline

    def sweep(self, scenario):
        labels = [method["name"] for method in scenario["methods"] if "inner_steps" in method]
        choices = [("network.tcp.connections", [1, 4]), ("workload.step_time", [{"constant": "80ms"}, self.step_time()]),
                   ("replicas", [2, 4]), ("network.topology.star.rate", ["50Mbps", "200Mbps", "1Gbps"]),
                   ("network.fidelity", ["flow", "analytic"]), ("seed", [1, 2, 3])]
        if "train" in scenario:
            choices.append(("train.optimizer.lr", [1e-3, 3e-3]))
        choices += [(f"methods.{label}.inner_steps", [2, 5]) for label in labels]
        key, values = self.random.choice(choices)
        return {key: self.random.sample(values, min(len(values), self.random.choice([2, 2, 3, 4])))}
