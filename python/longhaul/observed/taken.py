"""What a reader hands back of one file: the file's own times, and in words what it took and what it left."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Dict, Iterable, List, Optional

from longhaul.errors import InputError
from longhaul.observed.trace import RankTrace, Shapes


class NothingTaken(InputError):
    """A file of a known format that has no time in it. The other files still count. reason: what follows the file's name."""

    def __init__(self, file: str, format_name: str, reason: str) -> None:
        super().__init__(f"{file}: {reason}")
        self.file = file
        self.format = format_name
        self.reason = reason


def counted(count: int, word: str) -> str:
    """ "1 step", "2 steps"."""
    return f"{count} {word}" if count == 1 else f"{count} {word}es" if word.endswith("ss") else f"{count} {word}s"


def listed(names: Iterable[str], most: int = 12) -> str:
    """The names with commas; of many the first ones, and how many more there are."""
    known = list(names)
    return ", ".join(known[:most]) + (f" and {len(known) - most} more" if len(known) > most else "")


@dataclasses.dataclass
class Step:
    """One step, or the mean of `count` steps. `left`: why it is out of the statistics, empty where it counts."""

    seconds: float
    source: str
    step: Optional[int] = None
    rank: Optional[int] = None
    count: int = 1
    exchanging_s: Optional[float] = None
    left: str = ""


@dataclasses.dataclass
class Exchange:
    """One exchange among `members` ranks, or a burst of `operations` of them; docs/reference/formats/observed.md has the fields.

    seconds: from the last begin to the last end. bytes: what one rank hands in, of a burst the sum.
    """

    operation: str
    seconds: float
    source: str
    includes_wait: bool
    library: str = ""
    bytes: Optional[int] = None
    members: Optional[int] = None
    count: int = 1
    operations: Optional[int] = None
    parts: Optional[List[int]] = None
    step: Optional[int] = None
    ranks: Optional[List[int]] = None
    waits_s: Optional[List[float]] = None
    group: Optional[str] = None
    least_span_s: Optional[float] = None
    call: str = ""
    time_s: Optional[float] = None
    why: str = ""


@dataclasses.dataclass
class Point:
    """A logged value. time_s: seconds since 1970, None where the file does not say it."""

    value: float
    step: Optional[int] = None
    time_s: Optional[float] = None


@dataclasses.dataclass
class Series:
    name: str
    points: List[Point]


@dataclasses.dataclass
class Taken:
    """Of one file. `trace` is joined with those of the other ranks, `sizes` with the trace of the same window."""

    file: str
    format: str
    rank: Optional[int] = None
    took: List[str] = dataclasses.field(default_factory=list)
    left: List[str] = dataclasses.field(default_factory=list)
    notes: List[str] = dataclasses.field(default_factory=list)
    exchanges: List[Exchange] = dataclasses.field(default_factory=list)
    steps: List[Step] = dataclasses.field(default_factory=list)
    series: List[Series] = dataclasses.field(default_factory=list)
    trace: Optional[RankTrace] = None
    sizes: Optional["Sizes"] = None

    def has_times(self) -> bool:
        return bool(self.exchanges or self.steps or self.series)


@dataclasses.dataclass
class Sizes:
    """Shapes of the works of a trace without times, by their record function id. names: {id: name}."""

    process: Optional[int]
    names: Dict[int, str]
    shapes: Dict[int, Optional[Shapes]]
    types: Dict[int, List[str]]


def number(value: Any) -> Optional[float]:
    """A number of a file, or None: true and false are no numbers, and nor is text. NaN and infinities are numbers."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def finite(value: Any) -> Optional[float]:
    """The same, for times and counts: those that may be one, to 1e30, which no unit makes infinite."""
    found = number(value)
    return found if found is not None and abs(found) <= 1e30 else None


def whole(value: Any) -> Optional[int]:
    """A whole number, also written as 3.0; None for anything else."""
    found = finite(value)
    return int(found) if found is not None and found == int(found) else None
