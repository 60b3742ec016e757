"""Which value of a row counts the steps of the training.

A training's own counter comes before what a tracker counts: W&B's `_step` counts calls of log(), and a program may log each fiftieth
step. The names decide, not the order of the columns.
"""

from __future__ import annotations

import re
from typing import Any, Mapping, Optional, Sequence, Tuple

from longhaul.observed.trackers.cells import cell_finite, cell_whole, is_blank

LOGGED = "_step"  # W&B's: it counts calls of log()
_GLOBAL = re.compile(r"(?:\w+_)?global_steps?(?:_number)?")
_TRAINING = re.compile(r"(?:train|trainer|training)_(?:step|iteration|iter)")
_PLAIN = ("iteration", "iter", "step")
_EVALUATION = re.compile(r"(?:^|[/_.\s-])(?:eval|evaluation|val|valid|validation|test)(?:[/_.\s-]|$)", re.IGNORECASE)


def plain(name: str) -> str:
    """Lower case, signs as "_"; a leading "_" stays, which W&B's own columns have."""
    text = re.sub(r"[^a-z0-9]+", "_", name.strip().lower())
    return text.rstrip("_")


def is_evaluation(name: str) -> bool:
    return bool(_EVALUATION.search(name))


def counter_of(names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """The column that counts steps; empty where no name is known. The order: a global step, a step of the training, step or iteration
    (first those that never fall, since an iteration may begin anew with each epoch), W&B's `_step`."""
    found = [(key, name) for name in names for key in [_preference(name, rows)] if key is not None]
    return min(found, key=lambda one: one[0])[1] if found else ""


def _preference(name: str, rows: Sequence[Mapping[str, Any]]) -> Optional[Tuple[int, int, int]]:
    known = plain(name)
    if is_evaluation(name):
        return None
    if known == LOGGED:
        return 3, 0, 0
    if known in _PLAIN:
        return 2, _falls(name, rows), _PLAIN.index(known)
    if not _counts(name, rows):
        return None
    return (0, 0, len(known)) if _GLOBAL.fullmatch(known) else (1, 0, 0) if _TRAINING.fullmatch(known) else None


def _counts(name: str, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether its values are whole numbers of which not all are the same."""
    values = [row[name] for row in rows if not is_blank(row.get(name))]
    numbers = {cell_whole(value) for value in values}
    return None not in numbers and (len(numbers) > 1 or len(values) == 1)


def _falls(name: str, rows: Sequence[Mapping[str, Any]]) -> int:
    numbers = [found for row in rows for found in [cell_finite(row.get(name))] if found is not None]
    return sum(later < earlier for earlier, later in zip(numbers, numbers[1:]))
