"""What the columns of a table mean: as the command says it, or by well-known names, which are then said.

Units are the name's or the option's. A number never says its unit.
"""

from __future__ import annotations

import dataclasses
import datetime
import re
from typing import List, Optional, Sequence

from longhaul.errors import InputError
from longhaul.observed.taken import finite, number

PER_SECOND = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9, "min": 1 / 60, "h": 1 / 3600, "d": 1 / 86400}
_SPELLED = {
    "sec": "s",
    "secs": "s",
    "second": "s",
    "seconds": "s",
    "msec": "ms",
    "millis": "ms",
    "milliseconds": "ms",
    "usec": "us",
    "micros": "us",
    "microseconds": "us",
    "nanos": "ns",
    "nanoseconds": "ns",
    "minutes": "min",
    "hours": "h",
    "days": "d",
}
_OF_UNIT = "|".join(
    [*sorted(_SPELLED, key=len, reverse=True), "ms", "us", "ns", "s"]
)  # no "min": it is the least of several in most names
_STEPS = ("step", "_step", "global_step", "trainer_global_step", "iteration", "iter", "global_step_number")
_OF_STEP = r"(?:train_)?(?:step|iter|iteration|batch|train_batch|round)"
_DURATION = re.compile(
    rf"{_OF_STEP}_(?:time|duration|latency|dt)(?:_({_OF_UNIT}))?|{_OF_STEP}_({_OF_UNIT})|"
    rf"(?:(time|{_OF_UNIT})_per|(?:time|duration)_per)_{_OF_STEP}(?:_({_OF_UNIT}))?|"
    r"time_metrics_end_to_end_s"  # torchtitan's
)
# Names whose unit is that of the tool which writes them: W&B's history, TensorBoard's CSV download.
_MOMENTS = {"_timestamp": "s", "_runtime": "s", "wall_time": "s"}
_SINCE_1970 = ("_timestamp", "wall_time")
_MOMENT_NAMES = ("timestamp", "time", "datetime", "date", "elapsed", "created_at", "wall_clock", "walltime")


@dataclasses.dataclass
class Asked:
    """The options of the command. Empty: not said."""

    step: str = ""
    time: str = ""
    duration: str = ""
    unit: str = ""
    bytes: str = ""
    operation: str = ""
    members: Optional[int] = None
    tokens: Optional[float] = None


@dataclasses.dataclass
class Columns:
    """Of one table. Empty: it has none. is_text: the moments are ISO dates. is_since_1970:
    they say when, and not only how far apart. said: sentences for a person."""

    step: str = ""
    moment: str = ""
    moment_unit: str = ""
    is_text: bool = False
    is_since_1970: bool = False
    duration: str = ""
    duration_unit: str = ""
    rank: str = ""
    bytes: str = ""
    operation: str = ""
    said: List[str] = dataclasses.field(default_factory=list)
    left: List[str] = dataclasses.field(default_factory=list)

    def used(self) -> Sequence[str]:
        return tuple(name for name in (self.step, self.moment, self.duration, self.rank, self.bytes, self.operation) if name)


def plain(name: str) -> str:
    """Lower case, signs as "_"; a leading "_" stays, which W&B's own columns have."""
    text = re.sub(r"[^a-z0-9]+", "_", name.strip().lower())
    return text.rstrip("_")


def choose(names: Sequence[str], first: Sequence[object], asked: Asked, file: str) -> Columns:
    """names: of the columns. first: a value of each, where it has one. InputError for an option that names none of them."""
    found = Columns()
    values = dict(zip(names, first))
    for option in ("step", "time", "duration", "bytes"):
        wanted = getattr(asked, option)
        if wanted and wanted not in names:
            raise InputError(f"--{option}: found {wanted!r}, which is no column of {file}; allowed: {', '.join(names)}")
    found.step = asked.step or next((name for name in names if plain(name) in _STEPS), "")
    found.rank = next((name for name in names if plain(name) == "rank"), "")
    found.operation = next((name for name in names if plain(name) in ("operation", "collective", "op")), "")
    found.bytes = asked.bytes
    if not found.bytes and (found.operation or asked.operation):  # else they may be those of a file that was read
        found.bytes = next((name for name in names if plain(name) == "bytes"), "")
    _choose_duration(found, names, asked)
    _choose_moment(found, names, values, asked)
    if found.step and not asked.step:
        found.said.append(f"column {found.step!r} is taken as the step")
    return found


def unit_of(name: str) -> str:
    """The unit at the end of a column's name, as in step_time_ms or time (s); empty where it has none."""
    match = re.search(rf"(?:^|_)({_OF_UNIT})$", plain(name))
    return _SPELLED.get(match[1], match[1]) if match else ""


def _choose_duration(found: Columns, names: Sequence[str], asked: Asked) -> None:
    name = asked.duration
    if not name and not asked.time:
        name = next((one for one in names if _DURATION.fullmatch(plain(one))), "")
        if not name and found.bytes:
            name = next(
                (
                    one
                    for one in names
                    if plain(one) in _SPELLED or plain(one) in ("duration_s", "duration_ms", "time_us", "time_ms", "time_s")
                ),
                "",
            )
    if not name:
        return
    unit = asked.unit if asked.duration and asked.unit else unit_of(name) or _unit_before_per(name) or asked.unit
    if not unit:
        found.left.append(f"column {name!r}: its name has no unit; give --duration {_quoted(name)} --unit s (or ms, us, ns)")
        return
    found.duration, found.duration_unit = name, unit
    if not asked.duration:
        found.said.append(f"column {name!r} is taken as a duration in {unit}")


def _unit_before_per(name: str) -> str:
    match = re.match(rf"({_OF_UNIT})_per_", plain(name))
    return _SPELLED.get(match[1], match[1]) if match else ""


def _choose_moment(found: Columns, names: Sequence[str], values: "dict[str, object]", asked: Asked) -> None:
    name = asked.time or next((one for known in _MOMENTS for one in names if plain(one) == known), "")
    name = name or next(
        (one for known in _MOMENT_NAMES for one in names if re.fullmatch(rf"{known}(?:_(?:{_OF_UNIT}))?", plain(one))), ""
    )
    if not name or name == found.duration:
        return
    if isinstance(values.get(name), str) and iso_seconds(str(values[name])) is not None:
        found.moment, found.is_text, unit = name, True, "ISO 8601"
        found.is_since_1970 = has_zone(str(values[name]))
    else:
        unit = (asked.unit if asked.time else "") or _MOMENTS.get(plain(name), "") or unit_of(name)
        if not unit:
            found.left.append(f"column {name!r}: its name has no unit; give --time {_quoted(name)} --unit s (or ms, us, ns)")
            return
        found.moment, found.moment_unit = name, unit
        found.is_since_1970 = plain(name) in _SINCE_1970
    if not asked.time:
        found.said.append(f"column {name!r} is taken as the moment of a row, {unit}")


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"[\w./-]+", name) else "'" + name + "'"


def iso_seconds(text: str) -> Optional[float]:
    """Seconds since 1970 of a date and time in ISO 8601; without a zone differences alone are right."""
    if not re.match(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d", text):
        return None
    try:
        moment = datetime.datetime.fromisoformat(re.sub(r"Z$", "+00:00", text.strip()))
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.timezone.utc)
    return moment.timestamp()


def has_zone(text: str) -> bool:
    return bool(re.search(r"(?:Z|[+-]\d\d:?\d\d)$", text.strip()))


def cell_number(value: object) -> Optional[float]:
    """A number of a cell, also as text; None for blanks and words. "NaN" and "Infinity" are numbers."""
    if not isinstance(value, str):
        return number(value)
    try:
        return float(value.strip()) if "_" not in value else None
    except ValueError:
        return None


def cell_finite(value: object) -> Optional[float]:
    found = cell_number(value)
    return None if found is None else finite(found)
