"""Sentences that give a verdict, held against the verdicts in results/reference/claims.

Between <!-- verdicts --> and <!-- end of verdicts --> each sentence, and each row of a table, ends with the claims that
it rests on:

    <!-- claim: PAGE ID: VERDICT -->    as results/reference/claims/PAGE.md says it of the claim ID
    <!-- claim: none -->                a question or a condition: it gives no verdict

The page names its scenario (## NAME), which has the claim with the same statement, at as many points. Counts in the
sentence, as "6 of 9 points", are those of one of its claims, and so are ranges, as "1.4 to 4.7 times". Its conditions
are those of the claim's points (conditions.py); on the pages of WHOLE each sentence brings all of them. Each item of a list
has those of the text before the list too, where that ends with a colon."""
import dataclasses
import functools
import itertools
import json
import re

import conditions
import markdown as md

WHOLE = ("README.md",)  # each sentence there stands alone

MARK = re.compile(r"<!--\s*claim:\s*(.*?)\s*-->", re.S)
SECTION = re.compile(r"^(#{2,3}) (.*)$", re.M)
POINTS = re.compile(r"\. (\d+) points?: ([^,\n]+), ([^\n]*)\.$", re.M)
COUNT = re.compile(r"\b(\d+) of (?:the )?(\d+) points")
RANGE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?) to (\d+(?:\.\d+)?) times")


@dataclasses.dataclass
class Verdict:
    scenario: str
    statement: str
    points: int
    measured: str
    verdict: str

    def of(self, what):
        """At how many points it is so; `what`: "hold", "undecided" or "fail"."""
        if self.verdict in ("holds", "undecided", "fails"):
            return self.points if self.verdict.startswith(what) else 0
        match = re.search(rf"(\d+) {what}", self.verdict)
        return int(match[1]) if match else 0

    def counts(self):
        """How many points hold, are undecided and fail."""
        if self.verdict in ("holds", "undecided", "fails"):
            return {self.points}
        return {int(number) for number in re.findall(r"\d+", self.verdict)} | {0}


def verdicts_of(text):
    """{claim: Verdict} of a page that `longhaul claims` wrote."""
    found, scenario = {}, None
    parts = SECTION.split(text)[1:]
    for level, title, body in zip(parts[::3], parts[1::3], parts[2::3]):
        if level == "##":
            scenario = title.strip()
        elif points := POINTS.search(body):
            statement = re.search(r"^\*(.*)\*$|\Z", body, re.M)[1] or ""
            found[title.strip()] = Verdict(scenario, statement, int(points[1]), points[2], points[3])
    return found


class Verdicts:
    """The verdicts of a tree."""

    def __init__(self, root):
        self.root = root

    @functools.cache
    def page(self, name):
        file = self.root / f"results/reference/claims/{name}.md"
        return verdicts_of(file.read_text(encoding="utf-8")) if file.exists() else None

    @functools.cache
    def in_scenario(self, scenario, claim):
        """(the scenario, its claim); None where none has it."""
        for file in (self.root / "scenarios").rglob(f"{scenario}.json"):
            whole = json.loads(file.read_text(encoding="utf-8"))
            for one in whole.get("claims", []):
                if one.get("id") == claim:
                    return whole, one
        return None

    def of(self, mark):
        """The verdict that a mark names; a ValueError says what is wrong with the mark."""
        match = re.fullmatch(r"(\S+) (\S+): (.+)", mark, re.S)
        if not match:
            raise ValueError(f'a claim is PAGE ID: VERDICT, not "{mark}"')
        name, claim, said = match.groups()
        page = self.page(name)
        if page is None:
            raise ValueError(f"no page results/reference/claims/{name}.md")
        if claim not in page:
            raise ValueError(f"results/reference/claims/{name}.md has no claim {claim}")
        verdict = page[claim]
        found = self.in_scenario(verdict.scenario, claim)
        if found is None:
            raise ValueError(f"no scenario {verdict.scenario} has a claim {claim}")
        if found[1].get("statement", "") != verdict.statement:
            raise ValueError(f"the scenario {verdict.scenario} states the claim {claim} otherwise than its page of "
                             "results")
        if said != verdict.verdict:
            raise ValueError(f'the verdict on {claim} is "{verdict.verdict}", not "{said}"')
        points = self.points(verdict.scenario, claim)
        if points and len(points.swept) != verdict.points:
            raise ValueError(f"{claim} has {verdict.points} points on its page, {len(points.swept)} in its scenario")
        return claim, verdict, points

    @functools.cache
    def points(self, scenario, claim):
        """The conditions of a claim; None where the scenario says too little of itself."""
        whole, one = self.in_scenario(scenario, claim)
        return conditions.Points(whole, conditions.points_of(whole, one)) if "methods" in whole else None


def pieces(block):
    """(line, text) of what has to end with a mark: the rows of a table, or the text itself."""
    if block.kind == "table":
        return [(block.line + i, row) for i, row in enumerate(block.lines) if i > 1]
    return [(block.line, block.text())] if block.kind == "text" else []


def sentence_count(text):
    text = re.sub(r"^([-+]|\d+[.)])\s+", "", md.LINK.sub(r"\1", text).replace("*", "").strip())
    return len(re.findall(r"[.?!:](?=\s+[A-Z0-9(\"]|$)", text)) or (1 if md.words(text) else 0)


def problems_of(source, verdicts, page=""):
    """(line, what is wrong) in the parts of a page that give verdicts."""
    inside, lead = False, ""
    for block in md.blocks(source):
        if block.kind == "comment":
            words = block.text().strip()[4:-3].strip()
            inside = words == "verdicts" or (inside and words != "end of verdicts")
        if not (block.kind == "text" and md.ITEM.match(block.lines[0])):
            words = " ".join(md.COMMENT.sub("", block.text()).split())
            lead = words + " " if block.kind == "text" and words.endswith(":") else ""
        for line, text in pieces(block) if inside else ():
            yield from ((line, what) for what in
                        problems_of_piece(text, verdicts, block.kind == "table", page in WHOLE, lead))


def problems_of_piece(text, verdicts, is_row, is_whole=False, lead=""):
    parts = [text, text] if is_row else re.split(r"((?:\s*<!--\s*claim:.*?-->)+)", text, flags=re.S)
    for said, marks in itertools.zip_longest(parts[::2], parts[1::2], fillvalue=""):
        said, marks = " ".join(md.COMMENT.sub("", said).split()), MARK.findall(marks)
        if md.words(said) == 0:
            continue
        if not marks:
            yield f'gives no claim: "{said[:80]}"'
        elif not is_row and sentence_count(said) > 1:
            yield f'two sentences and the claim of one: "{said[:80]}"'
        found = []
        for mark in marks:
            try:
                found += [verdicts.of(mark)] if mark != "none" else []
            except ValueError as wrong:
                yield str(wrong)
        judged = [verdict for _, verdict, _ in found]
        named = [(name, points) for name, _, points in found if points]
        yield from conditions.problems_of(lead + said, named)
        yield from conditions.missing_of(lead + said, named) if is_whole else ()
        for name, verdict, _ in found if "nowhere" in said else ():
            if verdict.of("hold"):
                yield f'says "nowhere", and {name} holds at {verdict.of("hold")} points'
            elif verdict.of("undecided") and not re.search("undecided|shown nowhere", said):
                yield f'says "nowhere", and {name} is undecided at {verdict.of("undecided")} points'
        for count, points in COUNT.findall(said) if judged else ():
            if not any(int(points) == one.points and int(count) in one.counts() for one in judged):
                yield f"no claim of this sentence has {count} of {points} points"
        for low, high in RANGE.findall(said) if judged else ():
            if not any(one.measured == f"{low} – {high}" for one in judged):
                yield f"no claim of this sentence is from {low} to {high}"
