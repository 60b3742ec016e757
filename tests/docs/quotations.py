"""Sentences that repeat what another file says, held against that file.

    <!-- as: PATH: TEXT -->

stands behind a sentence, or in its row of a table. TEXT is found in PATH, where runs of spaces are one. {52} in TEXT is a
number that the sentence has too, as there or rounded: "{28} %" is found as "28.2 %". Words of TEXT that are no number
need not be in the sentence. On the pages of BOUND each sentence with a digit, and each one under a heading of BOUND,
ends with such a mark, or with a claim (verdicts.py); "<!-- as: itself -->" stands where it can only be its own source.
"""
import re

import markdown as md

MARK = re.compile(r"<!--\s*as:\s*(.*?)\s*-->", re.S)
ANY_MARK = r"(?:\s*<!--\s*(?:as|claim):.*?-->)+"
NUMBER = re.compile(r"\{(\d+(?:\.\d+)?)\}")
BOUND = {"paper/paper.md": ("Limitations",)}
SHOWN = re.compile(r"`<!--[^`]*`")  # code that shows what a mark is
DIGIT = re.compile(r"(?<![\w.-])\d")


def pattern_of(text):
    parts = NUMBER.split(" ".join(text.split()))
    plain = [r"\s+".join(re.escape(word) for word in re.split(r"\s+", part)) for part in parts[::2]]
    found = plain[0]
    for after in plain[1:]:
        found += r"(\d+(?:\.\d+)?)" + after
    return re.compile(found), parts[1::2]


def rounds_to(number, said):
    decimals = len(said.partition(".")[2])
    return abs(float(number) - float(said)) <= 0.5 * 10 ** -decimals + 1e-12


def problem_of(root, said, mark):
    """What is wrong with one mark behind the words `said`, or None."""
    if mark == "itself":
        return None
    path, colon, text = mark.partition(": ")
    if not colon:
        return f'a quotation is PATH: TEXT, not "{mark}"'
    if not (root / path).exists():
        return f"no file {path} to quote"
    pattern, numbers = pattern_of(text)
    found = pattern.findall(" ".join((root / path).read_text(encoding="utf-8").split()))
    found = [one if isinstance(one, tuple) else (one,) for one in found]
    if not any(all(map(rounds_to, one, numbers)) if numbers else True for one in found):
        return f'{path} does not say "{text}"'
    for number in numbers:
        if not re.search(rf"(?<![\d.]){re.escape(number)}(?![\d]|\.\d)", said):
            return f"the sentence does not have the number {number} of its quotation"
    return None


def pieces(block):
    """(line, text) of each row of a table, or of the whole text."""
    if block.kind == "table":
        return [(block.line + i, row) for i, row in enumerate(block.lines)]
    return [(block.line, block.text())] if block.kind == "text" else []


def ended(text):
    """(words, marks) of the parts of a text that end with marks; the last part may have none."""
    parts = re.split(f"({ANY_MARK})", text, flags=re.S)
    return list(zip(parts[::2], parts[1::2] + [""]))


def sentences(text):
    text = " ".join(re.sub(r"`[^`]*`|\[@[^\]]*\]", "", md.LINK.sub(r"\1", text)).split())
    return [one for one in re.split(r"(?<=[.?!:])\s+(?=[A-Z0-9*])", text) if md.words(one)]


def problems_of(page, source, root):
    """(line, what is wrong) on a page."""
    heading = ""
    for block in md.blocks(source):
        if block.kind == "heading":
            heading = block.lines[0].lstrip("#").strip()
        for line, text in pieces(block):
            text = SHOWN.sub("", text)
            for said, marks in ended(text):
                for mark in MARK.findall(marks):
                    problem = problem_of(root, said, mark)
                    if problem:
                        yield line, problem
                if page in BOUND and heading:  # front matter has none
                    loose = sentences(said)[:-1] if marks else sentences(said)
                    yield from ((line, f'says no source: "{one[:80]}"') for one in loose
                                if DIGIT.search(one) or heading in BOUND[page])
