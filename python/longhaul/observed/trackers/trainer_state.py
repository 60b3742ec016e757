"""The trainer_state.json of transformers (5.23.0): values by step, and no time of a step."""

from __future__ import annotations

from typing import Any, Dict

from longhaul.observed.taken import Point, Series, Taken, counted, listed, number, whole

NO_SERIES = ("step", "epoch", "total_flos")


def is_one(document: Any) -> bool:
    return isinstance(document, dict) and isinstance(document.get("log_history"), list)


def read(document: Dict[str, Any], file: str) -> Taken:
    taken = Taken(file, "trainer_state")
    series: Dict[str, Series] = {}
    passed = 0
    for row in document["log_history"]:
        step = whole(row.get("step")) if isinstance(row, dict) else None
        if step is None:
            passed += 1
            continue
        for key, value in row.items():
            found = number(value)
            if found is not None and key not in NO_SERIES and not key.endswith("_per_second"):
                series.setdefault(key, Series(key, [])).points.append(Point(found, step))
    taken.series = list(series.values())
    if series:
        taken.took.append(f"values by step ({listed(series)}): log_history; eval_runtime in s")
    if passed:
        taken.left.append(f"{counted(passed, 'row')} of log_history without a step")
    taken.left.append(
        "steps: log_history has no time of a step; eval_runtime is evaluation, and train_runtime, if there, holds evaluation "
        "and saving; log times with a callback, or give the profiler's trace"
    )
    return taken
