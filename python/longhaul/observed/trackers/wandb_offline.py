"""W&B's offline runs, `run-ID.wandb` (W&B 0.31.0): the history, one row for each log.

Seven bytes of header, then blocks of 32 KiB in the form of LevelDB's log: checksum (CRC-32 of kind and part), length, kind, part.
Each whole record is a message: Record has history 2; HistoryRecord item 1; HistoryItem key 1, nested_key 2, value_json 16.
"""

from __future__ import annotations

import json
import struct
from typing import Any, Dict, Iterator, List, Tuple
import zlib

from longhaul.observed.content import wrong
from longhaul.observed.taken import NothingTaken, Point, Series, Taken, counted, finite, listed, number, whole
from longhaul.observed.trackers import intervals, protobuf
from longhaul.observed.trackers.cells import Reasons
from longhaul.observed.trackers.columns import LOGGED_STEPS
from longhaul.observed.trackers.counters import LOGGED, counter_of

HEADER = b":W&B"
BLOCK, HEAD = 32768, 7
WHOLE, FIRST, MIDDLE, LAST = 1, 2, 3, 4


def is_one(data: bytes) -> bool:
    return data.startswith(HEADER)


def records(data: bytes) -> Iterator[Tuple[bytes, bool]]:
    """(message, True), up to the first that is cut off or damaged, for which (b"", False) stands."""
    at, record = HEAD, b""
    while at < len(data):
        room = BLOCK - at % BLOCK
        if room < HEAD:  # a block's end is filled with zeros
            at += room
            continue
        if at + HEAD > len(data):
            yield b"", False
            return
        crc, length, kind = struct.unpack_from("<IHB", data, at)
        part = data[at + HEAD : at + HEAD + length]
        if len(part) < length or kind not in (WHOLE, FIRST, MIDDLE, LAST) or crc != zlib.crc32(bytes([kind]) + part):
            yield b"", False
            return
        record = part if kind in (WHOLE, FIRST) else record + part
        if kind in (WHOLE, LAST):
            yield record, True
        at += HEAD + length


def read(data: bytes, file: str) -> Taken:
    taken = Taken(file, "wandb")
    rows: List[Dict[str, Any]] = []
    for count, (message, is_whole) in enumerate(records(data)):
        if not is_whole:
            if count == 0:
                raise wrong(file, "is a run of W&B whose first record is cut off or damaged", "the whole run-ID.wandb")
            taken.left.append("the rest, from the first record that is cut off or damaged")
            break
        try:
            rows += [_row(protobuf.packed_bytes(value)) for field, value in protobuf.fields(message) if field == 2]
        except protobuf.Damaged as error:
            taken.left.append(f"a record that is no Record ({error})")
    if not rows:
        raise NothingTaken(file, "wandb", "is a run of W&B without history; allowed: a run that called log()")
    counter = counter_of(list(dict.fromkeys(key for row in rows for key in row)), rows) or LOGGED
    series: Dict[str, Series] = {}
    others = Reasons()
    for row in rows:
        step, moment = whole(row.get(counter)), finite(row.get("_timestamp"))
        for key, value in row.items():
            found = number(value)
            if key.startswith("_") or key == counter:
                continue
            if found is None:
                others.add(f"of {key}")
            else:
                series.setdefault(key, Series(key, [])).points.append(Point(found, step, moment))
    taken.series = list(series.values())
    taken.took.append(
        f"{len(rows)} rows of history ({listed(series) or 'no number'}): {counter} as the step, and _timestamp, s since 1970"
    )
    _say_steps(taken, rows, counter)
    if others.total:
        taken.left.append(f"{counted(others.total, 'value')} with no number: {others}")
    intervals.add_steps(taken, taken.series, "_timestamp, s")
    return taken


def _say_steps(taken: Taken, rows: List[Dict[str, Any]], counter: str) -> None:
    without = sum(whole(row.get(counter)) is None for row in rows)
    if without:
        taken.left.append(f"the step of {counted(without, 'row')} without {counter}")
    if counter == LOGGED:
        taken.notes.append(f"{taken.file}: {LOGGED_STEPS}")
    else:
        taken.left.append(f"_step: it counts calls of log(), and {counter} counts the training's steps")


def _row(history: bytes) -> Dict[str, Any]:
    """Its items by key; a nested one has the keys with a dot between. Text that is no JSON is left."""
    row: Dict[str, Any] = {}
    for field, value in protobuf.fields(history):
        if field != 1:
            continue
        key, nested, text = "", [], ""
        for inner, content in protobuf.fields(protobuf.packed_bytes(value)):
            if inner == 1:
                key = protobuf.text(content)
            elif inner == 2:
                nested.append(protobuf.text(content))
            elif inner == 16:
                text = protobuf.text(content)
        try:
            row[key or ".".join(nested)] = json.loads(text)
        except (ValueError, RecursionError):
            continue
    return row
