"""torchrun's own lines: no step time is in any of them. A failed rank is named, because times before it may be of a broken run."""

from __future__ import annotations

import re
from typing import Optional, Sequence

from longhaul.observed.taken import Taken
from longhaul.observed.trackers.columns import Asked

_OWN = re.compile(
    r"Setting OMP_NUM_THREADS environment variable for each process|torch\.distributed\.(?:run|elastic|launcher)|torch/distributed/(?:run|elastic)|"
    r"^[WIE]\d{4} \d\d:\d\d:\d\d\.\d+ \d+ (?:site-packages/)?torch/"
)
_BARRIER = re.compile(r"\[Rank \d+\]: Rank \d+ failed to pass monitoredBarrier in \d+ ms")
_ROOT_CAUSE = re.compile(r"Root Cause \(first observed failure\)")
_RANK = re.compile(r"^\s*rank\s*:\s*(\d+)")


def read(lines: Sequence[str], file: str, asked: Asked) -> Optional[Taken]:
    taken = Taken(file, "torchrun")
    is_one = False
    for at, line in enumerate(lines):
        is_one = is_one or bool(_OWN.search(line))
        if match := _BARRIER.search(line):
            is_one = True
            taken.notes.append(f"{file}: a rank was late for good: {match[0]}")
        if _ROOT_CAUSE.search(line):
            is_one = True
            rank = next((found[1] for later in lines[at + 1 : at + 8] for found in [_RANK.search(later)] if found), "?")
            taken.notes.append(f"{file}: the run failed; torchrun names rank {rank} as the first")
    if not is_one:
        return None
    taken.left.append("torchrun's own lines, which have no time of a step")
    return taken
