"""nccl-tests' text (2.19.6): sizes and times of one collective between all its ranks, as exchanges.

`size` is bytes, `time` the mean of the iterations in us, out of place. The text of newer versions names the test; of others it has to
be said, since rows of all-reduce, reduce-scatter and sendrecv look alike.
"""

from __future__ import annotations

import re

from longhaul.observed.content import wrong
from longhaul.observed.operations import WORDS, word
from longhaul.observed.taken import Exchange, Taken
from longhaul.observed.trackers.columns import Asked

_HEAD = re.compile(r"#\s*nThread \d+ nGpus \d+ minBytes \d+")
_TEST = re.compile(r"Collective test starting: (\w+)")
_RANK = re.compile(r"#\s*Rank\s+(\d+)\s")
_ITERATIONS = re.compile(r"(?<!warmup )\biters: (\d+)")
_ROW = re.compile(r"^(?:\[[^\]]*\]<\w+>:\s?)?\s*(\d+)\s+(\d+)\s+(\w+)\s+(\w+)\s+(-?\d+)\s+([\d.e+]+)\s+[\d.]+\s+[\d.]+\s+(\S+)")
SIZE_IS_WHOLE = ("all-gather", "gather")  # of all ranks together


def is_one(text: str) -> bool:
    return bool(_HEAD.search(text[:100_000]))


def read(text: str, file: str, asked: Asked) -> Taken:
    taken = Taken(file, "nccl-tests")
    name = _TEST.search(text)
    operation = asked.operation or (word(name[1]) if name else None)
    if not operation:
        raise wrong(
            file,
            "is of nccl-tests and does not say of which test",
            f"--operation with one of {', '.join(WORDS)}; or give it to `longhaul measured`, which takes the rate between two sites",
        )
    ranks = {int(found) for found in _RANK.findall(text)}
    members = len(ranks) or asked.members
    iterations = _ITERATIONS.search(text)
    passed = 0
    for line in text.splitlines():
        row = _ROW.search(line)
        if row is None:
            continue
        size, took, is_exact = int(row[1]), float(row[6]), "e" not in row[6]
        if row[7] not in ("0", "N/A") or took <= 0 or size == 0 or not is_exact:
            passed += 1
            continue
        size = size // members if operation in SIZE_IS_WHOLE and members else size
        taken.exchanges.append(
            Exchange(
                operation,
                took / 1e6,
                "time (us) out of place over size (B)",
                False,
                "nccl",
                size,
                members,
                int(iterations[1]) if iterations else 1,
            )
        )
    if not taken.exchanges:
        raise wrong(file, "is of nccl-tests and has no row that is right and timed", "its whole text")
    taken.took.append(
        f"{len(taken.exchanges)} sizes of {operation} among {members or '?'} ranks: time, us, the mean of the iterations"
    )
    if passed:
        taken.left.append(f"{passed} rows with wrong values, no size, or a time that is printed with two digits")
    taken.left.append("times in place; `longhaul measured` makes rates between sites of this file")
    return taken
