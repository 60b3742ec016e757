"""CSV files and JSON lines with named columns: steps, exchanges and series. columns.py says what a column means.

Lightning's metrics.csv (2.6.6) is such a table without a time, W&B's exports and TensorBoard's downloads are such tables.
"""

from __future__ import annotations

import csv
import io
import json
from typing import Any, Dict, List, Optional, Sequence

from longhaul.errors import InputError
from longhaul.observed.content import wrong
from longhaul.observed.operations import WORDS, word
from longhaul.observed.taken import Exchange, NothingTaken, Point, Series, Step, Taken, counted, listed
from longhaul.observed.trackers import intervals
from longhaul.observed.trackers.columns import PER_SECOND, Asked, Columns, cell_finite, cell_number, choose, iso_seconds, plain
from longhaul.tables import flat

Row = Dict[str, Any]
BOOKKEEPING = ("epoch", "run_name", "run_id", "run_uuid", "id", "phase", "rank", "library", "members")


def csv_rows(text: str) -> Optional[List[Row]]:
    """None for what is no table: a line of at least two names, then rows with as many cells."""
    first = text.lstrip("\n\r").split("\n", 1)[0]
    separator = max(",;\t", key=first.count)
    if first.count(separator) == 0:
        return None
    try:
        lines = [line for line in csv.reader(io.StringIO(text), delimiter=separator) if line]
    except csv.Error:
        return None
    if len(lines) < 2 or len(set(lines[0])) != len(lines[0]) or any(cell_number(name) is not None for name in lines[0]):
        return None
    width = len(lines[0])
    if len(lines[-1]) < width:  # a last line that is still being written
        lines.pop()
    if any(len(line) != width for line in lines) or len(lines) < 2:
        return None
    return [dict(zip(lines[0], line)) for line in lines[1:]]


def json_rows(text: str) -> Optional[List[Row]]:
    """None for what is no JSON lines: an object in each line. A last line that is cut off is left out."""
    lines = [line for line in text.splitlines() if line.strip()]
    rows: List[Row] = []
    for at, line in enumerate(lines):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            if at == len(lines) - 1 and rows:
                break
            return None
        if not isinstance(row, dict):
            return None
        rows.append(flat(row))
    return rows or None


def read(rows: Sequence[Row], file: str, kind: str, asked: Asked) -> Taken:
    """kind: csv or jsonl."""
    taken = Taken(file, kind)
    names = list(dict.fromkeys(name for row in rows for name in row))
    first = [next((row[name] for row in rows if row.get(name) not in (None, "")), None) for name in names]
    columns = choose(names, first, asked, file)
    taken.took += columns.said
    taken.left += columns.left
    if columns.bytes and columns.duration:
        _add_exchanges(taken, rows, columns, asked)
        return taken
    if not columns.step and not columns.moment and not columns.duration:
        raise NothingTaken(
            file,
            kind,
            f"is a table (columns {listed(names)}) of which no column is known to be a step, a moment or "
            f"a duration{''.join('; ' + words for words in columns.left)}; allowed: --step, --time or --duration "
            "COLUMN, with --unit",
        )
    moments = [_moment(row, columns) for row in rows]
    _add_series(taken, rows, names, columns, moments)
    if columns.duration:
        _add_durations(taken, rows, columns)
    elif columns.moment and columns.step:
        intervals.add_steps(taken, f"column {columns.moment}, {columns.moment_unit or 'ISO 8601'}")
    elif columns.moment:
        taken.left.append("steps: no column is known to be the step; give --step COLUMN")
    elif not columns.left:
        taken.left.append("times: no column is known to have any; give --time COLUMN or --duration COLUMN, with --unit")
    if columns.moment and not columns.is_since_1970:
        for point in (point for one in taken.series for point in one.points):
            point.time_s = None
    return taken


def _moment(row: Row, columns: Columns) -> Optional[float]:
    value = row.get(columns.moment) if columns.moment else None
    if columns.is_text:
        return iso_seconds(value) if isinstance(value, str) else None
    found = cell_finite(value)
    return None if found is None else found / PER_SECOND[columns.moment_unit]


def _whole(row: Row, name: str) -> Optional[int]:
    found = cell_finite(row.get(name)) if name else None
    return int(found) if found is not None and found == int(found) else None


def _add_series(
    taken: Taken, rows: Sequence[Row], names: Sequence[str], columns: Columns, moments: Sequence[Optional[float]]
) -> None:
    used = columns.used()
    for name in names:
        if name in used or plain(name) in BOOKKEEPING or name.startswith("_"):
            continue
        points = [
            Point(value, _whole(row, columns.step), moment)
            for row, moment in zip(rows, moments)
            for value in [cell_number(row.get(name))]
            if value is not None
        ]
        if points:
            taken.series.append(Series(name, points))
    if taken.series:
        taken.took.append(
            f"{sum(len(one.points) for one in taken.series)} values of the columns {listed(one.name for one in taken.series)}"
        )


def _add_durations(taken: Taken, rows: Sequence[Row], columns: Columns) -> None:
    seen: Dict[Optional[int], bool] = {}
    source = f"column {columns.duration}, {columns.duration_unit}"
    for row in rows:
        value, rank = cell_finite(row.get(columns.duration)), _whole(row, columns.rank)
        if value is None or value < 0:
            continue
        step = Step(
            value / PER_SECOND[columns.duration_unit],
            source,
            _whole(row, columns.step),
            rank,
            left="" if rank in seen else "the first recorded",
        )
        seen[rank] = True
        taken.steps.append(step)
    taken.took.append(f"{counted(len(taken.steps), 'step')}: {source}")


def _add_exchanges(taken: Taken, rows: Sequence[Row], columns: Columns, asked: Asked) -> None:
    """A row each: bytes, a duration, and the operation of its own column or of --operation."""
    operation = asked.operation
    if not operation and not columns.operation:
        raise wrong(
            taken.file,
            f"has bytes and durations (columns {columns.bytes!r}, {columns.duration!r}) and does not say of what",
            f"a column 'operation', or --operation with one of {', '.join(WORDS)}",
        )
    source, passed = f"columns {columns.bytes}, bytes, and {columns.duration}, {columns.duration_unit}", 0
    for row in rows:
        name = str(row.get(columns.operation, "")) if columns.operation else ""
        of_row = word(name) if name else operation
        size, took = _whole(row, columns.bytes), cell_finite(row.get(columns.duration))
        if not of_row or size is None or size < 0 or took is None or took < 0:
            passed += 1
            continue
        members = _whole(row, "members") if "members" in row else asked.members
        taken.exchanges.append(
            Exchange(
                of_row,
                took / PER_SECOND[columns.duration_unit],
                source,
                False,
                str(row.get("library") or ""),
                size,
                members,
                step=_whole(row, columns.step),
            )
        )
    taken.took.append(f"{counted(len(taken.exchanges), 'exchange')}: {source}")
    if passed:
        taken.left.append(f"{counted(passed, 'row')} without a known operation, a size and a duration")
    if any(one.members is None for one in taken.exchanges):
        taken.notes.append(f"{taken.file}: does not say how many ranks take part; give --members N or a column 'members'")
    taken.notes.append(
        f"{taken.file}: whether its durations hold waits for late ranks is not in it; they are taken as times on the wire"
    )


def check_operation(operation: str) -> str:
    """Longhaul's word for the option --operation. InputError."""
    found = word(operation) if operation else ""
    if found is None:
        raise InputError(f"--operation: found {operation!r}; allowed: {', '.join(WORDS)}")
    return found
