"""nanoGPT's log (train.py at 005475c4): `iter 100: loss 4.2, time 123.45ms, mfu 1.00%`.

The time is that of this one iteration, in ms, and no mean over log_interval. An evaluation (`step N: train loss …`) or a checkpoint
stands in the log before the iteration whose time holds it.
"""

from __future__ import annotations

import re
from typing import Optional, Sequence

from longhaul.observed.logs.numbers import NUMBER, TIME
from longhaul.observed.taken import Point, Series, Step, Taken
from longhaul.observed.trackers.columns import Asked

_ITERATION = re.compile(rf"\biter (\d+): loss ({NUMBER}), time ({TIME})ms\b")
_EVALUATION = re.compile(rf"\bstep (\d+): train loss ({NUMBER}), val loss ({NUMBER})")
_CHECKPOINT = re.compile(r"\bsaving checkpoint to\b")


def read(lines: Sequence[str], file: str, asked: Asked) -> Optional[Taken]:
    taken = Taken(file, "nanogpt")
    loss, train, val = Series("loss", []), Series("eval/train_loss", []), Series("eval/val_loss", [])
    holds = ""
    for line in lines:
        if match := _EVALUATION.search(line):
            holds = "an evaluation came before it, and is in it"
            train.points.append(Point(float(match[2]), int(match[1])))
            val.points.append(Point(float(match[3]), int(match[1])))
        elif _CHECKPOINT.search(line):
            holds = "a checkpoint came before it, and is in it"
        elif match := _ITERATION.search(line):
            left = holds if taken.steps else "the first recorded"
            taken.steps.append(Step(float(match[3]) / 1000, "time, ms, of one iteration", int(match[1]), left=left))
            loss.points.append(Point(float(match[2]), int(match[1])))
            holds = ""
    if not taken.steps:
        return None
    taken.series = [one for one in (loss, train, val) if one.points]
    taken.took.append(f"{len(taken.steps)} iterations: time, ms, of that one iteration")
    return taken
