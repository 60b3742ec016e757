"""NCCL's log (NCCL_DEBUG=INFO): lines without a time, so nothing in it is timed (2.18 to 2.30)."""

from __future__ import annotations

import re
from typing import Optional, Sequence

from longhaul.observed.taken import Taken
from longhaul.observed.trackers.columns import Asked

_LINE = re.compile(r"\bNCCL (?:INFO|WARN) ")
_VERSION = re.compile(r"\bNCCL version (\d[\w.+-]*)")
_CALL = re.compile(r"\bNCCL INFO (\w+): opCount [0-9a-f]+ .*\bcount \d+ datatype \d+")
_CHANNELS = re.compile(r"\bNCCL INFO (\d+) coll channels")


def read(lines: Sequence[str], file: str, asked: Asked) -> Optional[Taken]:
    found = [line for line in lines if _LINE.search(line)]
    if not found:
        return None
    taken = Taken(file, "nccl")
    calls = sum(bool(_CALL.search(line)) for line in found)
    taken.left.append(f"{len(found)} lines of NCCL: its lines have no time ({calls} calls with sizes among them)")
    version = next((match[1] for line in lines for match in [_VERSION.search(line)] if match), "")
    channels = next((match[1] for line in found for match in [_CHANNELS.search(line)] if match), "")
    if version or channels:
        parts = [f"version {version}"] * bool(version) + [f"{channels} channels"] * bool(channels)
        taken.notes.append(f"{file}: says of NCCL: {', '.join(parts)}")
    return taken
