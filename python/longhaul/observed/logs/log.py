"""A program's log: each line is given to the readers of the formats that may stand in one stream.

Colour codes and what a launcher puts before a line are taken off; the readers look for their own words anywhere in it.
"""

from __future__ import annotations

import re
from typing import Callable, List, Optional, Sequence

from longhaul.observed.logs import deepspeed, nanogpt, nccl_log, torchft, torchrun, torchtitan, transformers
from longhaul.observed.taken import NothingTaken, Taken, counted
from longhaul.observed.trackers.columns import Asked

_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
MOST_LETTERS = 4000  # of a line that is looked at: longer ones are data

Reader = Callable[[Sequence[str], str, Asked], Optional[Taken]]
READERS: Sequence[Reader] = (
    nanogpt.read,
    torchtitan.read,
    deepspeed.read,
    torchft.read,
    nccl_log.read,
    transformers.read,
    torchrun.read,
)


def read(text: str, file: str, asked: Asked) -> Optional[Taken]:
    """What all readers found together; None where none knows a line. NothingTaken where the known lines have no time."""
    all_lines = text.splitlines()
    lines = [_COLOURS.sub("", line) for line in all_lines if len(line) <= MOST_LETTERS]
    found = [taken for reader in READERS for taken in [reader(lines, file, asked)] if taken is not None]
    with_times = [taken for taken in found if taken.has_times()]
    if found and not with_times:
        reasons = "; ".join(reason for taken in found for reason in taken.left)
        names = " and ".join(taken.format for taken in found)
        raise NothingTaken(
            file,
            names,
            f"is a log of {names} without a time: {reasons}; allowed: the log of a program that prints step "
            "times, or the profiler's trace (export_chrome_trace) of each rank",
        )
    if not found:
        return None
    whole = _together(found)
    if len(lines) < len(all_lines):
        whole.left.append(f"{counted(len(all_lines) - len(lines), 'line')} of more than {MOST_LETTERS} letters, which are data")
    return whole


def _together(found: List[Taken]) -> Taken:
    whole = Taken(found[0].file, " and ".join(taken.format for taken in found if taken.has_times()))
    for taken in found:
        whole.took += taken.took
        whole.left += taken.left
        whole.notes += taken.notes
        whole.exchanges += taken.exchanges
        whole.steps += taken.steps
        whole.series += taken.series
    return whole
