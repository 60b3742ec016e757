"""MLflow's metrics (3.17.2): a file for each (`ms value step` in a line), and the table `metrics` of its data base, as such or as CSV.

Times are milliseconds since 1970. In the table a NaN is the value 0 with is_nan 1, and an infinity 1.797e308.
"""

from __future__ import annotations

import math
import os
import re
from typing import Any, Dict, List, Optional, Sequence

from longhaul.observed.taken import Point, Series, Taken, counted, listed
from longhaul.observed.trackers import intervals
from longhaul.observed.trackers.cells import Reasons, cell_finite, cell_number, cell_whole

LINE = re.compile(r"(\d{12,14}) (\S+) (-?\d+)")
COLUMNS = {"key", "value", "timestamp", "run_uuid", "step", "is_nan"}
LARGEST = 1.7976931348623157e308


def is_file(text: str) -> bool:
    lines = [line for line in text.splitlines() if line.strip()]
    return bool(lines) and all(LINE.fullmatch(line.strip()) and cell_number(line.split()[1]) is not None for line in lines[:50])


def is_table(names: Sequence[str]) -> bool:
    return COLUMNS <= set(names)


def name_of(file: str) -> str:
    """The path below metrics/, as names with "/" are folders; else the file's own name."""
    parts = os.path.normpath(file).split(os.sep)
    at = len(parts) - 1 - parts[::-1].index("metrics") if "metrics" in parts[:-1] else len(parts) - 2
    return "/".join(parts[at + 1 :])


def read_file(text: str, file: str) -> Taken:
    taken = Taken(file, "mlflow")
    points, passed = [], 0
    for line in text.splitlines():
        match = LINE.fullmatch(line.strip())
        value = cell_number(match[2]) if match else None
        if match is None or value is None:
            passed += bool(line.strip())
            continue
        points.append(Point(value, int(match[3]), int(match[1]) / 1000))
    taken.series = [Series(name_of(file), points)]
    taken.took.append(f"{len(points)} values of {name_of(file)}: ms since 1970, value, step")
    if passed:
        taken.left.append(f"{passed} lines that are no metric")
    intervals.add_steps(taken, taken.series, "the time of a value, ms")
    return taken


def read_table(rows: Sequence[Dict[str, Any]], file: str) -> Taken:
    """rows: of the table, with its columns as keys. The runs of a data base are series of their own, and make steps of their own."""
    taken = Taken(file, "mlflow")
    runs: Dict[str, Dict[str, Series]] = {str(row["run_uuid"]): {} for row in rows}
    passed = Reasons()
    for row in rows:
        value, key = _value(row), str(row["key"])
        if value is None:
            passed.add(f"of {key}")
            continue
        of_run = runs[str(row["run_uuid"])]
        milliseconds = cell_finite(row["timestamp"])
        of_run.setdefault(key, Series(key, [])).points.append(
            Point(value, cell_whole(row["step"]), None if milliseconds is None else milliseconds / 1000)
        )
    taken.series = [one for of_run in runs.values() for one in of_run.values()]
    several = f" of {len(runs)} runs" if len(runs) > 1 else ""
    taken.took.append(
        f"{len(rows) - passed.total} rows of metrics{several} ({listed(dict.fromkeys(one.name for one in taken.series))}): timestamp, ms since 1970; "
        "is_nan 1 is NaN, +-1.797e308 infinite"
    )
    if passed.total:
        taken.left.append(f"{counted(passed.total, 'row')} whose value is no number: {passed}")
    for run, of_run in runs.items():
        intervals.add_steps(taken, list(of_run.values()), "timestamp, ms", run=run if several else "")
        for one in of_run.values():
            one.name = f"{run}/{one.name}" if several else one.name
    return taken


def _value(row: Dict[str, Any]) -> Optional[float]:
    value = cell_number(row["value"])
    if str(row["is_nan"]).strip().lower() in ("1", "true", "t"):
        return math.nan
    if value is not None and abs(value) >= LARGEST:
        return math.copysign(math.inf, value)
    return value


def rows_of(names: List[str], rows: Sequence[Sequence[Any]]) -> List[Dict[str, Any]]:
    return [dict(zip(names, row)) for row in rows]
