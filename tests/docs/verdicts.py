"""Sentences that give a verdict, held against the verdicts in results/reference/claims.

Between <!-- verdicts --> and <!-- end of verdicts --> each sentence, and each row of a table, ends with the claims that
it rests on:

    <!-- claim: PAGE ID: VERDICT -->    as results/reference/claims/PAGE.md says it of the claim ID
    <!-- claim: none -->                a question or a condition: it gives no verdict

The page names its scenario (## NAME), which has the claim with the same statement. Counts in the sentence, as "6 of 9
points", are those of one of its claims, and so are ranges, as "1.4 to 4.7 times"."""
import glob
import json
import os
import re

import markdown as md

BEGIN, END = "verdicts", "end of verdicts"
MARK = re.compile(r"<!--\s*claim:\s*(.*?)\s*-->", re.S)
SECTION = re.compile(r"^(#{2,3}) (.*)$", re.M)
POINTS = re.compile(r"\. (\d+) points?: ([^,\n]+), ([^\n]*)\.$", re.M)
COUNT = re.compile(r"\b(\d+) of (?:the )?(\d+) points")
RANGE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?) to (\d+(?:\.\d+)?) times")


class Verdict:
    def __init__(self, scenario, statement, points, measured, verdict):
        self.scenario, self.statement, self.points, self.measured, self.verdict = scenario, statement, points, measured, verdict

    def counts(self):
        """How many points hold, are undecided and fail."""
        for words in ("holds", "undecided", "fails"):
            if self.verdict == words:
                return {self.points}
        return {int(number) for number in re.findall(r"\d+", self.verdict)} | {0}


def verdicts_of(text):
    """{claim: Verdict} of a page that `longhaul claims` wrote."""
    found, scenario = {}, None
    parts = SECTION.split(text)[1:]
    for level, title, body in zip(parts[::3], parts[1::3], parts[2::3]):
        if level == "##":
            scenario = title.strip()
            continue
        statement = re.search(r"^\*(.*)\*$", body, re.M)
        points = POINTS.search(body)
        if points:
            found[title.strip()] = Verdict(scenario, statement.group(1) if statement else "", int(points.group(1)),
                                           points.group(2), points.group(3))
    return found


class Verdicts:
    """The verdicts of a tree."""

    def __init__(self, root):
        self.root, self.pages = root, {}

    def page(self, name):
        if name not in self.pages:
            path = os.path.join(self.root, "results", "reference", "claims", name + ".md")
            self.pages[name] = None
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    self.pages[name] = verdicts_of(file.read())
        return self.pages[name]

    def statement_in_scenario(self, scenario, claim):
        for path in glob.glob(os.path.join(self.root, "scenarios", "**", "*.json"), recursive=True):
            if os.path.basename(path) != scenario + ".json":
                continue
            with open(path, encoding="utf-8") as file:
                for one in json.load(file).get("claims", []):
                    if one.get("id") == claim:
                        return one.get("statement", "")
        return None

    def problem(self, mark):
        """(what is wrong with a mark or None, its Verdict or None)."""
        match = re.match(r"^(\S+) (\S+): (.+)$", mark, re.S)
        if not match:
            return "a claim is PAGE ID: VERDICT, not \"%s\"" % mark, None
        name, claim, said = match.groups()
        page = self.page(name)
        if page is None:
            return "no page results/reference/claims/%s.md" % name, None
        verdict = page.get(claim)
        if verdict is None:
            return "results/reference/claims/%s.md has no claim %s" % (name, claim), None
        statement = self.statement_in_scenario(verdict.scenario, claim)
        if statement is None:
            return "no scenario %s has a claim %s" % (verdict.scenario, claim), None
        if statement != verdict.statement:
            return "the scenario %s states the claim %s otherwise than its page of results" % (verdict.scenario, claim), None
        if said != verdict.verdict:
            return "the verdict on %s is \"%s\", not \"%s\"" % (claim, verdict.verdict, said), None
        return None, verdict


def pieces(block):
    """(line, text) of what has to end with a mark: the rows of a table, or the text itself."""
    if block.kind == "table":
        return [(block.line + i, row) for i, row in enumerate(block.lines) if i > 1]
    return [(block.line, block.text())] if block.kind == "text" else []


def sentence_count(text):
    text = md.LINK.sub(lambda link: link.group(1), text).replace("*", "").strip()
    text = re.sub(r"^([-+]|\d+[.)])\s+", "", text)
    return len(re.findall(r"[.?!:](?=\s+[A-Z0-9(\"]|$)", text)) or (1 if md.words(text) else 0)


def problems_of(source, verdicts):
    """(line, what is wrong) in the parts of a page that give verdicts."""
    problems, inside = [], False
    for block in md.blocks(source):
        if block.kind == "comment":
            words = block.text().strip()[4:-3].strip()
            inside = words == BEGIN or (inside and words != END)
            continue
        if not inside:
            continue
        for line, text in pieces(block):
            problems += [(line, what) for what in problems_of_piece(text, verdicts, block.kind == "table")]
    return problems


def problems_of_piece(text, verdicts, is_row):
    if is_row:
        parts = [text, "".join(mark.group(0) for mark in MARK.finditer(text))]
    else:
        parts = re.split(r"((?:\s*<!--\s*claim:.*?-->)+)", text, flags=re.S)
    for said, marks in zip(parts[::2], parts[1::2] + [""]):
        said = md.COMMENT.sub("", said)
        if md.words(said) == 0:
            continue
        if not marks:
            yield "gives no claim: \"%s\"" % " ".join(said.split())[:80]
            continue
        if not is_row and sentence_count(said) > 1:
            yield "two sentences and the claim of one: \"%s\"" % " ".join(said.split())[:80]
        judged = []
        for mark in MARK.findall(marks):
            if mark == "none":
                continue
            problem, verdict = verdicts.problem(mark)
            if problem:
                yield problem
            else:
                judged.append(verdict)
        yield from wrong_numbers(said, judged)


def wrong_numbers(said, judged):
    for count, points in COUNT.findall(said):
        if judged and not any(int(points) == one.points and int(count) in one.counts() for one in judged):
            yield "no claim of this sentence has %s of %s points" % (count, points)
    for low, high in RANGE.findall(said):
        if judged and not any(one.measured == "%s – %s" % (low, high) for one in judged):
            yield "no claim of this sentence is from %s to %s" % (low, high)
