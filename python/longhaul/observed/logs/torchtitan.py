"""torchtitan's log (components/metrics.py at 00fbaafa): `step: 10  loss: …  tps: 1,234  tflops: …  mfu: …%`.

tps is tokens a second of one device, a mean since the line before, with loading of data. A step's time follows where the tokens of
a step are known: --tokens. One log may hold several ranks, by what torchrun puts before their lines, and several starts.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Dict, List, Optional, Sequence

from longhaul.observed.logs.numbers import NUMBER
from longhaul.observed.taken import Point, Series, Step, Taken, counted, listed
from longhaul.observed.trackers.columns import Asked

_LINE = re.compile(rf"(?<!validate )\bstep:\s*(\d+)\s+loss:\s*({NUMBER})\s.*\btps:\s*(\d[\d,]*)")
_VALIDATION = re.compile(rf"\bvalidate step:\s*(\d+)\s+loss:\s*({NUMBER})\s")
_START = re.compile(r"\bTraining starts at step\s+\d")
_RANK = re.compile(r"^\s*\[[A-Za-z_]+(\d+)\]:")  # of torchrun --tee: its role, and the rank on its host
SOURCE = "--tokens over tps, a mean since the line before"


@dataclasses.dataclass
class _Rank:
    """What the lines of one rank say. before: the step of its line before; None where the next line is the first of a start."""

    rank: Optional[int]
    loss: Series = dataclasses.field(default_factory=lambda: Series("loss", []))
    tps: Series = dataclasses.field(default_factory=lambda: Series("tokens_per_s_of_a_device", []))
    validation: Series = dataclasses.field(default_factory=lambda: Series("eval/loss", []))
    steps: List[Step] = dataclasses.field(default_factory=list)
    before: Optional[int] = None
    restarts: int = 0

    def add(self, step: int, loss: float, rate: float, tokens: Optional[float]) -> None:
        if self.before is not None and step < self.before:
            self.restart()
        is_first = self.before is None
        self.loss.points.append(Point(loss, step))
        self.tps.points.append(Point(rate, step))
        if tokens and rate > 0:
            left = "the first after a restart" if is_first and self.restarts else "the first recorded" if is_first else ""
            if step == self.before:
                left = "its step is that of the line before, as where two processes write as one rank"
            count = max(1, step - self.before) if self.before is not None else 1
            self.steps.append(Step(tokens / rate, SOURCE, step, self.rank, count, left=left))
        self.before = step

    def restart(self) -> None:
        """A start that is not the first: a mean since it holds its preparations."""
        self.restarts += bool(self.loss.points)
        self.before = None


def read(lines: Sequence[str], file: str, asked: Asked) -> Optional[Taken]:
    taken = Taken(file, "torchtitan")
    ranks: Dict[Optional[int], _Rank] = {}
    for line in lines:
        prefix = _RANK.match(line)
        rank = int(prefix[1]) if prefix else None
        of_rank = ranks.setdefault(rank, _Rank(rank))
        if match := _VALIDATION.search(line):
            of_rank.validation.points.append(Point(float(match[2]), int(match[1])))
        elif match := _LINE.search(line):
            of_rank.add(int(match[1]), float(match[2]), float(match[3].replace(",", "")), asked.tokens)
        elif _START.search(line):
            of_rank.restart()
    found = [one for one in ranks.values() if one.loss.points]
    if not found:
        return None
    for one in found:
        of_rank_name = f"rank{one.rank}/" if len(found) > 1 and one.rank is not None else ""
        for series in (one.loss, one.tps, one.validation):
            if series.points:
                taken.series.append(Series(of_rank_name + series.name, series.points))
        taken.steps += one.steps
    _say(taken, found)
    return taken


def _say(taken: Taken, found: List[_Rank]) -> None:
    ranks = [one.rank for one in found if one.rank is not None]
    of_ranks = f" of {counted(len(ranks), 'rank')} ({listed(map(str, ranks))})" if ranks else ""
    taken.took.append(
        f"{sum(len(one.tps.points) for one in found)} lines{of_ranks}: tps, tokens a second of one device, a mean since the line before"
    )
    if ranks:
        taken.notes.append(
            f"{taken.file}: a rank is that before the line, as in [rank0]:, which torchrun counts on each host anew"
        )
    restarts = sum(one.restarts for one in found)
    if restarts:
        taken.notes.append(f"{taken.file}: {counted(restarts, 'restart')}, where the step falls or a training starts again")
    if taken.steps:
        taken.took.append(f"{len(taken.steps)} means of step times: {SOURCE}")
    else:
        taken.left.append(
            "steps: tps is of tokens; give --tokens N, the tokens that one device works through in a step "
            "(local batch size times sequence length, over the ranks of tensor, context and pipeline parallelism)"
        )
