"""CSV files and JSON lines with named columns: steps, exchanges and series. columns.py says what a column means.

Lightning's metrics.csv (2.6.6) is such a table without a time, W&B's exports and TensorBoard's downloads are such tables.
"""

from __future__ import annotations

from typing import Dict, List, Optional, Sequence, Tuple

from longhaul.errors import InputError
from longhaul.observed.content import wrong
from longhaul.observed.operations import WORDS, word
from longhaul.observed.taken import Exchange, NothingTaken, Point, Series, Step, Taken, counted, listed
from longhaul.observed.trackers import intervals
from longhaul.observed.trackers.cells import Reasons, cell_finite, cell_number, cell_whole, is_blank, why_no_duration
from longhaul.observed.trackers.columns import PER_SECOND, Asked, Columns, choose, iso_seconds
from longhaul.observed.trackers.counters import plain
from longhaul.observed.trackers.rows import Row, Rows

LEAST_RATE = 1e-30  # of steps in a unit of time; what is less has no time that counts
RUNS = ("run_name", "run_id", "run_uuid", "run")
BOOKKEEPING = ("epoch", *RUNS, "id", "phase", "rank", "library", "members")


def read(found: Rows, file: str, kind: str, asked: Asked) -> Taken:
    """kind: csv or jsonl."""
    rows = found.rows
    taken = Taken(file, kind, took=list(found.said), left=list(found.left))
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = choose(names, rows, asked, file)
    taken.took += columns.said
    taken.left += columns.left
    taken.notes += [f"{file}: {words}" for words in columns.notes]
    if columns.bytes and columns.duration and not columns.is_rate:
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
    _add_series(taken, rows, names, columns)
    if columns.duration:
        _add_durations(taken, rows, columns)
    elif columns.moment and columns.step:
        _add_intervals(taken, rows, names, columns)
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
    return cell_whole(row.get(name)) if name else None


def _series(rows: Sequence[Row], names: Sequence[str], columns: Columns) -> List[Series]:
    """Of each column with a number that has no other meaning."""
    used = columns.used()
    found = []
    moments = [_moment(row, columns) for row in rows]
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
            found.append(Series(name, points))
    return found


def _add_series(taken: Taken, rows: Sequence[Row], names: Sequence[str], columns: Columns) -> None:
    taken.series = _series(rows, names, columns)
    if taken.series:
        taken.took.append(
            f"{sum(len(one.points) for one in taken.series)} values of the columns {listed(one.name for one in taken.series)}"
        )
    others = Reasons()
    for name in (one.name for one in taken.series):
        for row in rows:
            if not is_blank(row.get(name)) and cell_number(row[name]) is None:
                others.add(f"in column {name}")
    if others.total:
        taken.left.append(f"{counted(others.total, 'cell')} with no plain number: {others}")


def _add_intervals(taken: Taken, rows: Sequence[Row], names: Sequence[str], columns: Columns) -> None:
    """Steps of each run and rank from the moments of its own rows."""
    without = Reasons()
    run_column = next((name for name in names if plain(name) in RUNS), "")
    parts: Dict[Tuple[str, Optional[int]], List[Row]] = {}
    for row in rows:
        if _whole(row, columns.step) is None:
            without.add(f"without a step ({columns.step})")
        elif _moment(row, columns) is None:
            without.add(f"without a moment ({columns.moment})")
        parts.setdefault((str(row.get(run_column) or "") if run_column else "", _whole(row, columns.rank)), []).append(row)
    if without.total:
        taken.left.append(f"the times of {counted(without.total, 'row')}: {without}")
    runs = {run for run, _ in parts}
    for (run, rank), of_part in parts.items():
        intervals.add_steps(
            taken,
            _series(of_part, names, columns),
            f"column {columns.moment}, {columns.moment_unit or 'ISO 8601'}",
            rank,
            run if len(runs) > 1 else "",
        )


def _add_durations(taken: Taken, rows: Sequence[Row], columns: Columns) -> None:
    seen: Dict[Optional[int], bool] = {}
    passed = Reasons()
    source = f"column {columns.duration}, {'steps in a unit of time, ' if columns.is_rate else ''}{columns.duration_unit}"
    for row in rows:
        value, rank = cell_finite(row.get(columns.duration)), _whole(row, columns.rank)
        why = why_no_duration(row.get(columns.duration), value)
        if value is None or why or columns.is_rate and value < LEAST_RATE:
            passed.add(why or f"too low for a rate of steps ({row.get(columns.duration)})")
            continue
        in_unit = 1 / value if columns.is_rate else value
        step = Step(
            in_unit / PER_SECOND[columns.duration_unit],
            source,
            _whole(row, columns.step),
            rank,
            left="" if rank in seen else "the first recorded",
        )
        seen[rank] = True
        taken.steps.append(step)
    taken.took.append(f"{counted(len(taken.steps), 'step')}: {source}")
    if passed.total:
        taken.left.append(f"{counted(passed.total, 'row')} without a duration in {columns.duration}: {passed}")


def _add_exchanges(taken: Taken, rows: Sequence[Row], columns: Columns, asked: Asked) -> None:
    """A row each: bytes, a duration, and the operation of its own column or of --operation."""
    operation = asked.operation
    if not operation and not columns.operation:
        raise wrong(
            taken.file,
            f"has bytes and durations (columns {columns.bytes!r}, {columns.duration!r}) and does not say of what",
            f"a column 'operation', or --operation with one of {', '.join(WORDS)}",
        )
    source, passed = f"columns {columns.bytes}, bytes, and {columns.duration}, {columns.duration_unit}", Reasons()
    for row in rows:
        name = str(row.get(columns.operation, "")) if columns.operation else ""
        of_row = word(name) if name else operation
        size, took = _whole(row, columns.bytes), cell_finite(row.get(columns.duration))
        if not of_row or size is None or size < 0 or took is None or took < 0:
            passed.add(
                f"of the operation {name!r}, which is not known"
                if not of_row
                else f"whose size is {row.get(columns.bytes)!r}"
                if size is None or size < 0
                else f"whose duration is {row.get(columns.duration)!r}"
            )
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
    if passed.total:
        taken.left.append(f"{counted(passed.total, 'row')} without a known operation, a size and a duration: {passed}")
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
