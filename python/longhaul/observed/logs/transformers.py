"""The lines that transformers' Trainer prints (5.23.0): `{'loss': '4.142', …, 'epoch': '0.375'}`, with no step and no time in them."""

from __future__ import annotations

import re
from typing import Optional, Sequence

from longhaul.observed.taken import Taken, counted
from longhaul.observed.trackers.columns import Asked

_LINE = re.compile(r"\{'(?:loss|eval_loss|train_runtime)': .*'epoch': ")
_RUNTIME = re.compile(r"'train_runtime': '?([\d.]+)")


def read(lines: Sequence[str], file: str, asked: Asked) -> Optional[Taken]:
    found = [line for line in lines if _LINE.search(line)]
    if not found:
        return None
    taken = Taken(file, "transformers")
    taken.left.append(
        f"{counted(len(found), 'line')} of transformers, which have no step and no time; trainer_state.json has the values by step"
    )
    if any(_RUNTIME.search(line) for line in found):
        taken.left.append("train_runtime: it holds evaluation and saving")
    return taken
