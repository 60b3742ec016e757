"""nanoGPT's log (train.py at 005475c4): `iter 100: loss 4.2, time 123.45ms, mfu 1.00%`.

The time is that of this one iteration, in ms, and no mean over log_interval: the clock begins anew with each iteration, also one that
is not printed. An evaluation at iteration N (`step N: train loss …`), and the checkpoint after it, are in the time of iteration N alone.
"""

from __future__ import annotations

import re
from typing import Optional, Sequence

from longhaul.observed.logs.numbers import NUMBER, TIME
from longhaul.observed.taken import Point, Series, Step, Taken
from longhaul.observed.trackers.columns import Asked

_ITERATION = re.compile(rf"\biter (\d+): loss ({NUMBER}), time ({TIME})ms\b")
_EVALUATION = re.compile(rf"\bstep (\d+): train loss ({NUMBER}), val loss ({NUMBER})")
_START = re.compile(r"\btokens per iteration will be: \d")
_CHECKPOINT = re.compile(r"\bsaving checkpoint to\b")


def read(lines: Sequence[str], file: str, asked: Asked) -> Optional[Taken]:
    taken = Taken(file, "nanogpt")
    loss, train, val = Series("loss", []), Series("eval/train_loss", []), Series("eval/val_loss", [])
    holds, evaluated, before = "", None, None
    is_start = True
    for line in lines:
        if match := _EVALUATION.search(line):
            holds, evaluated = "an evaluation came before it, and is in it", int(match[1])
            train.points.append(Point(float(match[2]), int(match[1])))
            val.points.append(Point(float(match[3]), int(match[1])))
        elif _CHECKPOINT.search(line):
            holds = "a checkpoint came before it, and is in it"
        elif match := _ITERATION.search(line):
            iteration = int(match[1])
            is_start = is_start or before is not None and iteration <= before
            first = "the first after a restart" if taken.steps else "the first recorded"
            in_it = holds if evaluated in (None, iteration) else ""
            left = first if is_start else in_it
            taken.steps.append(Step(float(match[3]) / 1000, "time, ms, of one iteration", iteration, left=left))
            loss.points.append(Point(float(match[2]), iteration))
            holds, evaluated, before, is_start = "", None, iteration, False
        elif _START.search(line):
            is_start = True
    if not taken.steps:
        return None
    taken.series = [one for one in (loss, train, val) if one.points]
    taken.took.append(f"{len(taken.steps)} iterations: time, ms, of that one iteration")
    return taken
