"""Step times from the moments at which a tracker got a step's values: of two moments in a row, their difference.

The first recorded step has none, since its begin is not known. Where an evaluation was logged in between, the difference holds it.
"""

from __future__ import annotations

import re
from typing import Iterable, List, Optional, Sequence, Tuple

from longhaul.observed.taken import Point, Series, Step, Taken

_EVALUATION = re.compile(r"(?:^|[/_.\s-])(?:eval|evaluation|val|valid|validation|test)(?:[/_.\s-]|$)", re.IGNORECASE)
_LOSS = re.compile(r"(?:^|[/_.\s-])loss(?:[/_.\s-]|$)", re.IGNORECASE)


def is_evaluation(name: str) -> bool:
    return bool(_EVALUATION.search(name))


def main_series(series: Sequence[Series]) -> Optional[Series]:
    """Of those with times and steps the one with the most points; of equal ones a loss, then the first."""
    usable = [
        one
        for one in series
        if not is_evaluation(one.name) and sum(point.time_s is not None and point.step is not None for point in one.points) > 1
    ]
    return max(usable, key=lambda one: (len(one.points), bool(_LOSS.search(one.name))), default=None)


def add_steps(taken: Taken, field: str, rank: Optional[int] = None) -> None:
    """Steps of `taken` from its own series, and what was taken and left. field: where the moments stand, with their unit."""
    chosen = main_series(taken.series)
    if chosen is None:
        taken.left.append("steps: no value was logged at two steps, each with a time")
        return
    evaluations = [
        point.time_s for one in taken.series if is_evaluation(one.name) for point in one.points if point.time_s is not None
    ]
    steps = steps_between(chosen.points, evaluations, f"difference of {field}, of {chosen.name}")
    for step in steps:
        step.rank = rank
    taken.steps += steps
    taken.took.append(f"{len(steps)} times between two steps: differences of {field}, of {chosen.name}")
    taken.notes.append(
        f"{taken.file}: a step's time is from one logged value to the next: it holds all that the program did in between, "
        "also saving and loading"
    )


def steps_between(points: Iterable[Point], evaluations: Sequence[float], source: str) -> List[Step]:
    """evaluations: s since 1970. Steps that do not grow, as after a restart, give no time."""
    found: List[Step] = []
    last: Optional[Tuple[int, float]] = None
    for point in points:
        if point.step is None or point.time_s is None:
            continue
        if last is not None and point.step > last[0] and point.time_s >= last[1]:
            count, seconds = point.step - last[0], point.time_s - last[1]
            step = Step(seconds / count, source, point.step, count=count)
            if any(last[1] < moment <= point.time_s for moment in evaluations):
                step.left = "an evaluation was logged in it"
            found.append(step)
        if last is None or point.step != last[0]:
            last = point.step, point.time_s
    return found
