"""Step times from the moments at which a tracker got a step's values: of two moments in a row, their difference.

The first recorded step has none, since its begin is not known. Where an evaluation was logged in between, the difference holds it.
One series makes the steps: a loss of the training before others. A sampler of the system has a clock and a counter of its own.
"""

from __future__ import annotations

import re
from typing import Iterable, List, NamedTuple, Optional, Sequence, Tuple

from longhaul.observed.taken import Point, Series, Step, Taken, counted, listed
from longhaul.observed.trackers.counters import is_evaluation

_LOSS = re.compile(r"(?:^|[/_.\s-])loss(?:[/_.\s-]|$)", re.IGNORECASE)
_TRAINING = re.compile(r"(?:^|[/_.\s-])train(?:ing|er)?(?:[/_.\s-]|$)", re.IGNORECASE)
_SYSTEM = re.compile(
    r"(?:^|/)system[/.]|(?:^|[/_.\s-])(?:gpu|cpu|memory|ram|vram|disk|utilization)(?:[/_.\s\d-]|$)|"
    r"(?:^|[/_.\s-])network[/_.\s-](?:utili[sz]ation|recei|transmi|sent|recv|bytes|rx|tx)|(?:^|/)DeviceStatsMonitor\b",
    re.IGNORECASE,
)
# DeepSpeed's monitor (Train/Samples/train_loss) and Megatron's writer (lm loss vs samples) write samples in the place of the step.
_BY_SAMPLES = re.compile(r"(?:^|/)samples/|[\s_]vs[\s_](?:samples|tokens)$", re.IGNORECASE)


def is_system(name: str) -> bool:
    return bool(_SYSTEM.search(name)) and not _LOSS.search(name)


def counts_samples(name: str) -> bool:
    return bool(_BY_SAMPLES.search(name))


def main_series(series: Sequence[Series]) -> Optional[Series]:
    """Of those of the training with times and steps: a loss, else one whose name says training, else any; of equal ones that with
    the most points, then the first."""
    usable = [
        one
        for one in series
        if not (is_evaluation(one.name) or is_system(one.name) or counts_samples(one.name)) and _has_steps(one)
    ]
    return max(usable, key=lambda one: (_preference(one.name), len(one.points)), default=None)


def _preference(name: str) -> int:
    return 2 if _LOSS.search(name) else 1 if _TRAINING.search(name) else 0


def _has_steps(one: Series) -> bool:
    return sum(point.time_s is not None and point.step is not None for point in one.points) > 1


def add_steps(taken: Taken, series: Sequence[Series], field: str, rank: Optional[int] = None, run: str = "") -> None:
    """Steps of `taken` from series of one run and rank, and what was taken and left. field: where the moments stand, with their unit.
    run: its name, where the file has several."""
    chosen = main_series(series)
    of_part = (f" of run {run}" if run else "") + ("" if rank is None else f" of rank {rank}")
    _say_unused(taken, series, chosen, of_part)
    if chosen is None:
        return
    evaluations = [
        point.time_s for one in series if is_evaluation(one.name) for point in one.points if point.time_s is not None
    ]
    found = steps_between(
        chosen.points, evaluations, f"difference of {field}, of {chosen.name}{f' of run {run}' if run else ''}"
    )
    for step in found.steps:
        step.rank = rank
    taken.steps += found.steps
    taken.took.append(
        f"{counted(len(found.steps), 'time')} between two steps: differences of {field}, of {chosen.name}{of_part}"
    )
    taken.left += [f"{words}, of {chosen.name}{of_part}" for words in found.left]
    note = (
        f"{taken.file}: a step's time is from one logged value to the next: it holds all that the program did in between, "
        "also saving and loading"
    )
    if note not in taken.notes:
        taken.notes.append(note)


def _say_unused(taken: Taken, series: Sequence[Series], chosen: Optional[Series], of_part: str) -> None:
    """Which series made no steps, and why."""
    others = [one for one in series if one is not chosen and _has_steps(one)]
    system = [one.name for one in others if is_system(one.name)]
    samples = [one.name for one in others if counts_samples(one.name)]
    rest = [one.name for one in others if one.name not in system + samples]
    if system:
        taken.left.append(
            f"the moments of {listed(system)}{of_part}: values of the system, which are sampled with a clock of their own"
        )
    if samples:
        taken.left.append(
            f"the moments of {listed(samples)}{of_part}: their step counts samples, and how many a step has is not in the file"
        )
    if chosen is not None and rest:
        taken.left.append(f"the moments of {listed(rest)}{of_part}: one series makes the steps, which is {chosen.name}")
    if chosen is None:
        evaluations = f" but those of {listed(rest)}, which are of evaluations" if rest else ""
        other = " of the training" if others else ""
        taken.left.append(f"steps{of_part}: no value{other} was logged at two steps, each with a time{evaluations}")


class Found(NamedTuple):
    steps: List[Step]
    left: List[str]


def steps_between(points: Iterable[Point], evaluations: Sequence[float], source: str) -> Found:
    """evaluations: s since 1970. A step that falls, as after a restart, gives no time. Nor does a moment before the one that came
    earlier in the file: one of the two is wrong, so that nothing is measured from it either."""
    found: List[Step] = []
    last: Optional[Tuple[int, float]] = None
    is_doubtful = False
    falls = back = 0
    for point in points:
        if point.step is None or point.time_s is None:
            continue
        if last is not None and point.step != last[0]:
            if point.time_s < last[1]:
                back += 1
                is_doubtful = True
            elif point.step < last[0]:
                falls += 1
                is_doubtful = False
            elif is_doubtful:
                back += 1
                is_doubtful = False
            else:
                count = point.step - last[0]
                step = Step((point.time_s - last[1]) / count, source, point.step, count=count)
                if any(last[1] < moment <= point.time_s for moment in evaluations):
                    step.left = "an evaluation was logged in it"
                found.append(step)
        if last is None or point.step != last[0]:
            last = point.step, point.time_s
    left = []
    if falls:
        left.append(f"{counted(falls, 'difference')} where the step falls, as after a restart")
    if back:
        left.append(f"{counted(back, 'difference')} to or from a moment before the one of the row above")
    return Found(found, left)
