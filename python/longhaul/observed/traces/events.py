"""The events of a Kineto file that have a duration, with their times as nanoseconds since 1970."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, List, Optional, Tuple

from longhaul.observed.taken import finite, whole
from longhaul.observed.trace import Shapes

MOST_US = 1e16  # three centuries: what is more is no time


@dataclasses.dataclass
class Event:
    """begin, end: ns since 1970 (baseTimeNanoseconds + 1000 ts, ts in us whatever displayTimeUnit says)."""

    name: str
    category: str
    begin: int
    end: int
    thread: int
    process: Optional[int]
    args: Dict[str, Any]

    @property
    def is_finished(self) -> bool:
        return self.args.get("finished") is not False

    @property
    def function_id(self) -> int:
        return whole(self.args.get("Record function id")) or 0


def events_of(document: Dict[str, Any]) -> List[Event]:
    """Those of phase X with numbers for ts and dur, in the order of their begins."""
    base = whole(document.get("baseTimeNanoseconds")) or 0
    base = base if abs(base) < 1000 * MOST_US else 0
    found = []
    for one in document["traceEvents"]:
        if not isinstance(one, dict) or one.get("ph") != "X" or not isinstance(one.get("name"), str):
            continue
        begin, duration = finite(one.get("ts")), finite(one.get("dur"))
        if begin is None or duration is None or not 0 <= duration < MOST_US or abs(begin) >= MOST_US:
            continue
        args = one.get("args")
        start = base + round(1000 * begin)
        found.append(
            Event(
                one["name"],
                str(one.get("cat", "")),
                start,
                start + round(1000 * duration),
                whole(one.get("tid")) or 0,
                whole(one.get("pid")),
                args if isinstance(args, dict) else {},
            )
        )
    return sorted(found, key=lambda event: event.begin)


def shapes_of(value: Any) -> Optional[Shapes]:
    """ "Input Dims" as the dimensions of each tensor, lists of tensors laid flat; None where it is no such list."""
    if not isinstance(value, list):
        return None
    found: List[Tuple[int, ...]] = []
    for one in value:
        if not isinstance(one, list):
            return None
        if one and isinstance(one[0], list):
            inner = shapes_of(one)
            if inner is None:
                return None
            found.extend(inner)
            continue
        dimensions = [whole(dimension) for dimension in one]
        if any(dimension is None or dimension < 0 for dimension in dimensions):
            return None
        found.append(tuple(dimension for dimension in dimensions if dimension is not None))
    return tuple(found)
