"""trackio's table `metrics` (0.43.0), from its SQLite file or as CSV: values by step, and no time of a step.

Its timestamps are those at which a batch of rows was written, about each half second: forty logs 0.1 s apart have ten times.
"""

from __future__ import annotations

import json
from typing import Any, Dict, Sequence

from longhaul.observed.taken import Point, Series, Taken, counted, listed, number
from longhaul.observed.trackers.cells import Reasons, cell_finite
from longhaul.observed.trackers.columns import iso_seconds
from longhaul.tables import flat

COLUMNS = {"timestamp", "run_name", "step", "metrics"}
_TEXT = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def is_table(names: Sequence[str]) -> bool:
    return COLUMNS <= set(names)


def read(rows: Sequence[Dict[str, Any]], file: str) -> Taken:
    """rows: of the table, with its columns as keys; `metrics` is JSON, text or bytes of it."""
    taken = Taken(file, "trackio")
    runs = list(dict.fromkeys(str(row["run_name"]) for row in rows))
    series: Dict[str, Series] = {}
    passed, others = 0, Reasons()
    for row in rows:
        step, metrics = cell_finite(row["step"]), _metrics(row["metrics"])
        passed += not metrics
        for key, value in metrics.items():
            found = _TEXT.get(value) if isinstance(value, str) else number(value)
            if found is None:
                others.add(f"of {key}")
            else:
                name = key if len(runs) == 1 else f"{row['run_name']}/{key}"
                series.setdefault(name, Series(name, [])).points.append(Point(found, None if step is None else int(step)))
    taken.series = list(series.values())
    taken.took.append(f"{len(rows)} rows ({listed(series)}): metrics, by step")
    if passed:
        taken.left.append(f"{passed} rows whose metrics are no JSON object")
    if others.total:
        taken.left.append(f"{counted(others.total, 'value')} with no number: {others}")
    taken.left.append("timestamp: it is when a batch of rows was written, so it is no time of a step")
    _say_mean(taken, rows, len(runs))
    return taken


def _say_mean(taken: Taken, rows: Sequence[Dict[str, Any]], runs: int) -> None:
    moments = [moment for row in rows for moment in [iso_seconds(str(row["timestamp"]))] if moment is not None]
    if runs == 1 and len(moments) > 1 and max(moments) > min(moments):
        mean = (max(moments) - min(moments)) / (len(moments) - 1)
        taken.notes.append(
            f"{taken.file}: {len(moments)} rows were written within {max(moments) - min(moments):.3g} s, on average one each "
            f"{mean:.3g} s; batches move either end by up to 0.6 s. For step times log a duration as a value of its own"
        )


def _metrics(value: Any) -> Dict[str, Any]:
    if isinstance(value, (bytes, bytearray)):
        value = bytes(value).decode("utf-8", "replace")
    try:
        found = json.loads(value) if isinstance(value, str) else None
    except (ValueError, RecursionError):
        return {}
    return flat(found) if isinstance(found, dict) else {}
