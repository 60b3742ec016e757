"""What the points of a claim have in common, and the words of a sentence that say so.

The points come from the scenario: its sweep, and the claim's `where`, as analysis/claims/claims.h reads them. A key
that a part of the sweep does not vary has the scenario's own value there. Of a sentence and its claims then

- each condition in words (WORDS) is true at all points of one of the claims: "with random loss" of none where a point
  has no loss, "8 to 1024 replicas" of those from 8 to 1024 alone;
- each condition that a network does not have by itself (NAMED), and that a claim's points have, is named.
"""
import dataclasses
import itertools
import json
import re


def parts_of(sweep):
    return sweep if isinstance(sweep, list) else [sweep or {}]


def combinations(part):
    return (dict(zip(part, values)) for values in itertools.product(*part.values()))


def is_of(label, key):
    """A method's own key is of its cases alone."""
    return not key.startswith("methods.") or key.startswith(f"methods.{label}.")


def unlike(values):
    return list({json.dumps(one, sort_keys=True): one for one in values}.values())


def fits(swept, labels, where):
    if isinstance(where, list):
        return any(fits(swept, labels, one) for one in where)
    return all(swept[key] == value if key in swept else value is None or not any(is_of(label, key) for label in labels)
               for key, value in where.items())


def labels_of(scenario):
    return [method.get("label", method["name"]) for method in scenario["methods"]]


def swept_by(scenario, label):
    return unlike({key: value for key, value in point.items() if is_of(label, key)}
                  for part in parts_of(scenario.get("sweep")) for point in combinations(part))


def points_of(scenario, claim):
    """The swept values of each point."""
    where = claim.get("where", {})
    if "ratio" not in claim:
        return [point for label in ([claim["of"]] if "of" in claim else labels_of(scenario))
                for point in swept_by(scenario, label) if fits(point, [label], where)]
    both = [claim["of"], claim["to"]]
    of, to = ([point for point in swept_by(scenario, label) if fits(point, [label], where)] for label in both)

    def shared(point):
        return json.dumps({key: value for key, value in point.items() if not key.startswith("methods.")}, sort_keys=True)

    partners = {}
    for point in to:
        partners.setdefault(shared(point), []).append(point)
    pairs = [one | other for one in of for other in partners.get(shared(one), ())]
    return [point for point in unlike(pairs) if fits(point, both, where)]


@dataclasses.dataclass
class Points:
    """The settings at the points of one claim."""
    scenario: dict
    swept: list

    def at_root(self, key):
        """The scenario's own value of a dotted key; None where it does not say."""
        at = self.scenario
        names = key.split(".")
        if names[0] == "methods":
            at = next((method for method in self.scenario["methods"] if method.get("label", method["name"]) == names[1]), {})
            names = names[2:]
        for name in names:
            if not isinstance(at, dict) or name not in at:
                return None
            at = at[name]
        return at

    def all(self, key, default=None):
        own = self.at_root(key)
        own = default if own is None else own
        return [point.get(key, own) for point in self.swept]

    def set(self, key, default=None):
        return {json.dumps(value, sort_keys=True) for value in self.all(key, default)}

    def are(self, key, value, default=None):
        return self.set(key, default) == {json.dumps(value)}

    def topologies(self):
        return set(self.at_root("network.topology") or {})

    def replicas(self):
        return sorted({int(value) for value in self.all("replicas", 1)})

    def losses(self):
        return [float(value) for value in self.all("network.tcp.loss", 0)]

    def start_apart(self):
        """By point: do replicas take unequally long to the exchange?"""
        return [sigma > 0 or bool(factors) for sigma, factors in
                zip(self.all("workload.step_time.lognormal.sigma", 0), self.all("workload.step_time_factors", {}))]

    def sliced(self):
        return [slice not in (None, "whole") for slice in self.all("network.slice", "whole")]

    def has_drawn_messages(self):
        return any(point.get("network.message_time") or self.at_root("network.message_time") for point in self.swept)

    def patterns(self):
        return {json.loads(value) for value in self.set("methods.noloco.pattern", "exchange")}

    def rates(self):
        return {bits(value) for value in self.all("network.topology.star.rate")}

    def trips(self):
        return {milliseconds(value) for value in self.all("network.topology.star.rtt")}


UNITS = {"k": 1e3, "M": 1e6, "G": 1e9}


def bits(rate):
    match = re.fullmatch(r"([\d.]+)\s*([kMG])b(?:ps|/s)", str(rate))
    return float(match[1]) * UNITS[match[2]] if match else None


def milliseconds(time):
    match = re.fullmatch(r"([\d.]+)\s*(m?)s", str(time))
    return float(match[1]) * (1 if match[2] else 1000) if match else None


def ends(values):
    values = [value for value in values if value is not None]
    return (min(values), max(values)) if values else (None, None)


RATE = r"([\d.]+ [kMG]b/s)"


def is_from(values, low, high):
    return ends(values) == (low, high)


def star(of):
    return of.topologies() == {"star"}


# (what is said, is it so of all points, given the match).
WORDS = [
    (r"(?i)\b(?:with|at) (?:a )?(?:random )?loss(?:es)?\b|packets are lost", lambda of, m: min(of.losses()) > 0),
    (r"\bloss(?:es)? of ([\d.e-]+) to ([\d.e-]+)",
     lambda of, m: is_from(of.losses(), float(m[1]), float(m[2]))),
    (r"(?<!ith and )without loss|no loss\b|nothing is lost", lambda of, m: max(of.losses()) == 0),
    (r"between homes", lambda of, m: of.topologies() == {"homes"}),
    (r"between (?:measured )?sites|measured sites", lambda of, m: of.topologies() == {"regions"}),
    (r"\ba star\b|\bstar,|\bstars? of\b", lambda of, m: star(of)),
    (r"(?<!inner )\b(?<!un)equal steps|steps (?:of|are of) (?:exactly )?equal length",
     lambda of, m: not any(of.start_apart())),
    (r"unequal steps|steps (?:that )?vary\b|start apart|not start together",
     lambda of, m: all(of.start_apart())),
    (r"step times or links that differ",
     lambda of, m: all(apart or override for apart, override in zip(of.start_apart(), of.all("network.overrides", [])))),
    (r"whole chunks", lambda of, m: not any(of.sliced())),
    (r"\bslices\b|\bsliced\b", lambda of, m: any(of.sliced())),
    (r"\bbarrier\b(?! costs| alone)", lambda of, m: any(of.all("network.barrier", False))),
    (r"φ ahead|φ sent ahead|slow weights(?: sent)? ahead", lambda of, m: of.patterns() == {"presend"}),
    (r"φ and Δ together|symmetric exchange|sent together|both together", lambda of, m: of.patterns() == {"exchange"}),
    (r"(?i)against an? (?:unpipelined )?(ring|tree)\b|against that (tree)\b",
     lambda of, m: all(one == "ring" if m[1] == "ring" else str(one).endswith("tree") and one != "double-tree"
                       for one in of.all("methods.diloco.all_reduce"))),
    (r"(?i)against halving-doubling", lambda of, m: of.are("methods.diloco.all_reduce", "halving-doubling")),
    (r"(?i)pipelined double tree", lambda of, m: of.are("methods.diloco.all_reduce", "double-tree")),
    (r"(?i)direct all-reduce", lambda of, m: of.are("methods.diloco.all_reduce", "direct")),
    (r"(\d+) to (\d+) replicas", lambda of, m: is_from(of.replicas(), int(m[1]), int(m[2]))),
    (r"N = (\d+) to (\d+)", lambda of, m: is_from(of.replicas(), int(m[1]), int(m[2]))),
    (rf"{RATE} to {RATE}", lambda of, m: star(of) and is_from(of.rates(), bits(m[1]), bits(m[2]))),
    (r"(?<![\d.])(\d+) to (\d+) ms", lambda of, m: star(of) and is_from(of.trips(), float(m[1]), float(m[2]))),
    (rf"{RATE} and (\d+) ms", lambda of, m: of.rates() == {bits(m[1])} and of.trips() == {float(m[2])}),
    (r"\bthe small model\b", lambda of, m: of.are("workload.model", "llama-small")),
    (r"\bthree models\b", lambda of, m: len(of.set("workload.model")) == 3),
    (r"\bsix all-reduces\b", lambda of, m: len(of.set("methods.diloco.all_reduce", "ring")) == 6),
    (r"ranks (?:numbered )?site by site", lambda of, m: of.are("network.rank_order", "blocks", "blocks")),
    (r"paper's inner steps",
     lambda of, m: of.are("methods.diloco.inner_steps", 100) and of.are("methods.noloco.inner_steps", 50)),
]

# (what it is called, is it so at a point of these, the words that name it).
NAMED = [
    ("random loss", lambda of: max(of.losses()) > 0, r"\bloss\b|\blosses\b|\blost\b|random loss"),
    ("homes", lambda of: "homes" in of.topologies(), r"\bhomes\b"),
    ("measured sites", lambda of: "regions" in of.topologies(), r"\bsites\b|regions"),
    ("unequal steps", lambda of: any(of.start_apart()),
     r"unequal|vary\b|start apart|not start together|step times or links that differ|stragglers|spread|lengths"),
    ("links that differ", lambda of: any(of.all("network.overrides", [])), r"links that differ|slow link"),
    ("slices", lambda of: any(of.sliced()), r"slice|with what repairs"),
    ("a barrier", lambda of: any(of.all("network.barrier", False)) and not of.has_drawn_messages(), r"barrier|with what repairs"),
    ("windows that outlive silence", lambda of: not all(of.all("network.tcp.slow_start_after_idle", True)),
     r"outlive|survive|warm|with what repairs"),
    ("eager senders", lambda of: any(of.all("network.eager", 0)), r"eager|push|with what repairs"),
    ("BBR", lambda of: '"bbr"' in of.set("network.tcp.congestion_control", "cubic"), r"BBR"),
]


def problems_of(said, judged):
    """What is wrong in a sentence; `judged`: (id, Points) of its claims."""
    for pattern, is_so in WORDS:
        for match in re.finditer(pattern, said):
            if judged and not any(is_so(of, match) for _, of in judged):
                yield f'"{match[0]}" is not so at all points of {" or ".join(name for name, _ in judged)}'
    for what, is_so, words in NAMED:
        for name, of in judged:
            if is_so(of) and not re.search(words, said):
                yield f"points of {name} have {what}, which the sentence does not say"


def missing_of(said, judged):
    """Where each sentence has to bring its whole condition: the network, and how many replicas."""
    for name, of in judged:
        if "network" not in of.scenario or "train" in of.scenario or of.has_drawn_messages() or not of.swept:
            continue
        low, high = ends(of.replicas())
        words = rf"\b{low} to {high} replicas|\b{low} replicas" if low != high else rf"\b{low} replicas"
        if not re.search(words, said):
            yield f"the sentence does not say that {name} has {low} to {high} replicas"
        for topology, called in (("star", r"\bstar\b"), ("homes", r"\bhomes\b"), ("regions", r"\bsites\b")):
            if of.topologies() == {topology} and not re.search(called, said):
                yield f"the sentence does not say that {name} is of {called[2:-2]}"
