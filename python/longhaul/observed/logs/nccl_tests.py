"""nccl-tests' text (2.19.6): sizes and times of one collective between all its ranks, as exchanges.

`size` is bytes, `time` the mean of the iterations in us, out of place. The text of newer versions names the test; of others it has to
be said, since rows of all-reduce, reduce-scatter and sendrecv look alike. NCCL_TESTS_SPLIT and NCCL_TESTS_SPLIT_MASK part the ranks into
groups that exchange at the same time, each by itself: `size` is of the first group, `time` the mean over the ranks of all.
"""

from __future__ import annotations

from collections import Counter
import re
from typing import Dict, Optional

from longhaul.observed.content import wrong
from longhaul.observed.operations import WORDS, word
from longhaul.observed.taken import Exchange, Taken, listed
from longhaul.observed.trackers.columns import Asked

_HEAD = re.compile(r"#\s*nThread \d+ nGpus \d+ minBytes \d+")
_TEST = re.compile(r"Collective test starting: (\w+)")
_RANK = re.compile(r"#\s*Rank\s+(\d+)\s+(?:Group\s+(\d+)\s)?")
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
    groups = groups_of(text)
    members = members_of(taken, groups, asked)
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
        of_one = size if operation not in SIZE_IS_WHOLE else size // members if members else None
        taken.exchanges.append(
            Exchange(
                operation,
                took / 1e6,
                "time (us) out of place over size (B)",
                len(groups) > 1,
                "nccl",
                of_one,
                members,
                int(iterations[1]) if iterations else 1,
                why=f"{len(groups)} groups exchanged at the same time" if len(groups) > 1 else "",
            )
        )
    if not taken.exchanges:
        raise wrong(file, "is of nccl-tests and has no row that is right and timed", "its whole text")
    taken.took.append(
        f"{len(taken.exchanges)} sizes of {operation} among {members or '?'} ranks{_at_once(groups)}: time, us, the mean of the iterations"
    )
    if passed:
        taken.left.append(f"{passed} rows with wrong values, no size, or a time that is printed with two digits")
    taken.left.append("times in place; `longhaul measured` makes rates between sites of this file")
    return taken


def groups_of(text: str) -> Dict[str, int]:
    """How many ranks each group has; of a text that names no groups, all ranks in one."""
    return dict(Counter(group for _, group in dict.fromkeys(_RANK.findall(text))))


def members_of(taken: Taken, groups: Dict[str, int], asked: Asked) -> Optional[int]:
    """The ranks of a group; None where groups differ, since a time is the mean over the ranks of all."""
    sizes = set(groups.values())
    if len(sizes) == 1:
        return sizes.pop()
    if sizes and asked.members is None:
        taken.left.append(
            f"members: the {len(groups)} groups (NCCL_TESTS_SPLIT) have {listed(map(str, groups.values()))} ranks, and a time is the mean "
            "over the ranks of all; give --members N for one number"
        )
    elif asked.members is None:
        taken.left.append("members: the text has no list of ranks; give --members N")
    return asked.members


def _at_once(groups: Dict[str, int]) -> str:
    return f", in {len(groups)} groups at the same time" if len(groups) > 1 else ""
