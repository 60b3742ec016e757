"""What the columns of a table mean: as the command says it, or by well-known names, which are then said.

Units are the name's or the option's. A number never says its unit.
"""

from __future__ import annotations

import dataclasses
import datetime
import re
from typing import Any, List, Mapping, Optional, Sequence

from longhaul.errors import InputError
from longhaul.observed.trackers.cells import is_blank
from longhaul.observed.trackers.counters import LOGGED, counter_of, is_evaluation, plain

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
_OF_STEP = r"(?:train_)?(?:step|iter|iteration|batch|train_batch|round)"
_DURATION = re.compile(
    rf"{_OF_STEP}_(?:time|duration|latency|dt)(?:_({_OF_UNIT}))?|{_OF_STEP}_({_OF_UNIT})|"
    rf"(?:(time|{_OF_UNIT})_per|(?:time|duration)_per)_{_OF_STEP}(?:_({_OF_UNIT}))?|"
    r"time_metrics_end_to_end_s"  # torchtitan's
)
# A rate, as iter/s and steps_per_second. "/" parts names too (step/ms of a folder "step"), so the units of a rate are those below alone,
# and iter/min is no rate: it is the least of several in most names.
_COUNTED = r"(?:train(?:ing)?[/_. ])?(?:its?|steps?|iters?|iterations?|batch(?:es)?|rounds?)"
_RATE_UNITS = {"s": "s", "sec": "s", "second": "s", "min": "min", "minute": "min", "h": "h", "hr": "h", "hour": "h"}
_RATE_UNIT = "|".join(_RATE_UNITS)
_RATE = re.compile(rf"{_COUNTED}(?:\s*/\s*(?!min$)|[_ ]?per[_ ]?)({_RATE_UNIT})")
_OTHER_RATE = re.compile(
    rf"(?:.*[/_. ])?(samples?|tokens?|examples?|images?|seq(?:uence)?s?|words?)(?:\s*/\s*|[_ ]?per[_ ]?)(?:{_RATE_UNIT})"
)
_PER = re.compile(rf"({_OF_UNIT})\s*/\s*{_COUNTED}")  # s/it
# Names whose unit is that of the tool which writes them: W&B's history, TensorBoard's CSV download.
_MOMENTS = {"_timestamp": "s", "_runtime": "s", "wall_time": "s"}
_SINCE_1970 = ("_timestamp", "wall_time")
_MOMENT_NAMES = ("timestamp", "time", "datetime", "date", "elapsed", "created_at", "wall_clock", "walltime")


LOGGED_STEPS = (
    "_step counts calls of log(): where a program logs not each step, a time is that between two calls; log the training's own step as "
    "a value (train/global_step) for times of steps"
)


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
    they say when, and not only how far apart. is_rate: the column of durations has steps in a unit of time instead. said: sentences
    for a person."""

    step: str = ""
    moment: str = ""
    moment_unit: str = ""
    is_text: bool = False
    is_since_1970: bool = False
    duration: str = ""
    duration_unit: str = ""
    is_rate: bool = False
    rank: str = ""
    bytes: str = ""
    operation: str = ""
    said: List[str] = dataclasses.field(default_factory=list)
    left: List[str] = dataclasses.field(default_factory=list)
    notes: List[str] = dataclasses.field(default_factory=list)

    def used(self) -> Sequence[str]:
        return tuple(name for name in (self.step, self.moment, self.duration, self.rank, self.bytes, self.operation) if name)


def choose(names: Sequence[str], rows: Sequence[Mapping[str, Any]], asked: Asked, file: str) -> Columns:
    """names: of the columns of all rows. InputError for an option that names none of them."""
    found = Columns()
    values = {name: next((row[name] for row in rows if not is_blank(row.get(name))), None) for name in names}
    for option in ("step", "time", "duration", "bytes"):
        wanted = getattr(asked, option)
        if wanted and wanted not in names:
            raise InputError(f"--{option}: found {wanted!r}, which is no column of {file}; allowed: {', '.join(names)}")
    found.step = asked.step or counter_of(names, rows)
    found.rank = next((name for name in names if plain(name) == "rank"), "")
    found.operation = next((name for name in names if plain(name) in ("operation", "collective", "op")), "")
    found.bytes = asked.bytes
    if not found.bytes and (found.operation or asked.operation):  # else they may be those of a file that was read
        found.bytes = next((name for name in names if plain(name) == "bytes"), "")
    _choose_duration(found, names, rows, asked)
    _choose_moment(found, names, values, asked)
    if found.step and not asked.step:
        others = [name for name in names if name != found.step and counter_of([name], rows)]
        instead = f", and not {', '.join(map(repr, others))}" if others else ""
        found.said.append(f"column {found.step!r} is taken as the step{instead}")
        if plain(found.step) == LOGGED:
            found.notes.append(LOGGED_STEPS)
    return found


def unit_of(name: str) -> str:
    """The unit at the end of a column's name, as in step_time_ms or time (s); empty where it has none."""
    match = re.search(rf"(?:^|_)({_OF_UNIT})$", plain(name))
    return _SPELLED.get(match[1], match[1]) if match else ""


def _choose_duration(found: Columns, names: Sequence[str], rows: Sequence[Mapping[str, Any]], asked: Asked) -> None:
    name = asked.duration
    if not name and not asked.time:
        name = next((one for one in names if _is_duration(one)), "") or next((one for one in names if _is_rate(one, rows)), "")
        if not name and found.bytes:
            name = next(
                (
                    one
                    for one in names
                    if plain(one) in _SPELLED or re.fullmatch(rf"(?:duration|time|latency)_(?:{_OF_UNIT})", plain(one))
                ),
                "",
            )
    for one in names:
        match = _OTHER_RATE.fullmatch(one.strip().lower())
        if match and one != name and not is_evaluation(one):
            found.left.append(f"column {one!r}: a rate of {match[1]}, and how many of them a step has is not in the file")
    if not name:
        return
    found.is_rate = bool(rate_unit_of(name)) and not (asked.duration and asked.unit)
    unit = (
        asked.unit
        if asked.duration and asked.unit
        else rate_unit_of(name) or _unit_before_per(name) or unit_of(name) or asked.unit
    )
    if not unit:
        found.left.append(f"column {name!r}: its name has no unit; give --duration {_quoted(name)} --unit s (or ms, us, ns)")
        return
    found.duration, found.duration_unit = name, unit
    if found.is_rate:
        found.said.append(f"column {name!r} is taken as steps in a unit of time, {unit}")
    elif not asked.duration:
        found.said.append(f"column {name!r} is taken as a duration in {unit}")


def rate_unit_of(name: str) -> str:
    """The unit of a column of steps in a unit of time: "s" of iter/s. Empty where it is none."""
    match = _RATE.fullmatch(name.strip().lower())
    return _RATE_UNITS[match[1]] if match else ""


def _is_rate(name: str, rows: Sequence[Mapping[str, Any]]) -> bool:
    """One with several values: a single one is the mean of a whole run, with its evaluations."""
    return bool(rate_unit_of(name)) and sum(not is_blank(row.get(name)) for row in rows) > 1


def _is_duration(name: str) -> bool:
    return not rate_unit_of(name) and bool(_DURATION.fullmatch(plain(name)) or _PER.fullmatch(name.strip().lower()))


def _unit_before_per(name: str) -> str:
    match = re.match(rf"({_OF_UNIT})_per_", plain(name)) or _PER.fullmatch(name.strip().lower())
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
