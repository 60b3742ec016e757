"""The document that `longhaul fit` reads: docs/reference/formats/observed.md has its fields. Unknown things are left out of it."""

from __future__ import annotations

import json
import math
from typing import Any, Dict, List, Optional, Sequence

from longhaul.observed.taken import Exchange, Series, Step, Taken

VERSION = 1
_EXCHANGE = (
    "operation",
    "bytes",
    "members",
    "seconds",
    "count",
    "includes_wait",
    "operations",
    "parts",
    "library",
    "step",
    "ranks",
    "waits_s",
    "group",
    "least_span_s",
    "call",
    "time_s",
    "why",
)


def document_of(files: Sequence[Taken], exchanges: Sequence[Exchange], notes: Sequence[str]) -> Dict[str, Any]:
    """files: all that were read, also those of which nothing was taken."""
    steps = [step for one in files for step in one.steps]
    return {
        "observed": VERSION,
        "files": [
            _without_unknown({"file": one.file, "format": one.format, "rank": one.rank, "took": one.took, "left": one.left})
            for one in files
        ],
        "exchanges": [_exchange(one) for one in exchanges],
        "steps": [_step(one) for one in steps if not one.left],
        "steps_left": [{**_step(one), "why": one.left} for one in steps if one.left],
        "series": [_series(series, one.file) for one in files for series in one.series],
        "notes": list(notes),
    }


def text_of(document: Dict[str, Any]) -> bytes:
    """UTF-8, a line for each exchange, step and series, so that the document can be looked at. What is no letter is written as "?"."""
    parts = []
    for key, value in document.items():
        if isinstance(value, list) and value:
            lines = ",\n  ".join(json.dumps(one, ensure_ascii=False, allow_nan=False) for one in value)
            parts.append(f"{json.dumps(key)}: [\n  {lines}\n ]")
        else:
            parts.append(f"{json.dumps(key)}: {json.dumps(value, allow_nan=False)}")
    return ("{\n " + ",\n ".join(parts) + "\n}\n").encode("utf-8", "replace")


def _exchange(one: Exchange) -> Dict[str, Any]:
    values = {key: getattr(one, key) for key in _EXCHANGE}
    values["seconds"] = _seconds(one.seconds)
    for key in ("least_span_s", "time_s"):
        values[key] = _seconds(values[key])
    values["waits_s"] = None if one.waits_s is None else [_seconds(wait) for wait in one.waits_s]
    values["from"] = one.source
    return _without_unknown(values)


def _step(one: Step) -> Dict[str, Any]:
    return _without_unknown(
        {
            "rank": one.rank,
            "step": one.step,
            "seconds": _seconds(one.seconds),
            "count": one.count if one.count > 1 else None,
            "exchanging_s": _seconds(one.exchanging_s),
            "from": one.source,
        }
    )


def _series(one: Series, file: str) -> Dict[str, Any]:
    points = [
        _without_unknown({"step": point.step, "value": _value(point.value), "time_s": _seconds(point.time_s)})
        for point in one.points
    ]
    return {"name": one.name, "file": file, "points": points}


def _value(value: float) -> Any:
    if math.isnan(value):
        return "NaN"
    return value if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"


def _seconds(value: Optional[float]) -> Optional[float]:
    """To the nanosecond, which no clock here is better than."""
    return None if value is None else round(value, 9)


def _without_unknown(values: Dict[str, Any]) -> Dict[str, Any]:
    kept: List[str] = [
        key for key, value in values.items() if value is not None and value != "" and (value != [] or key in ("took", "left"))
    ]
    return {key: values[key] for key in kept}
