"""The cells of a table as numbers, as people and programs of several countries write them.

A comma is read where its column says what it means: all cells of it that have one are written alike. Otherwise the cell stays text.
"""

from __future__ import annotations

import re
from typing import Any, Callable, Dict, List, Optional, Sequence

from longhaul.observed.taken import finite, number, whole

_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?")  # 1,250.5
_DECIMAL = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?|[+-]?\d+,")  # 250,5
_POINTS = re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+(?:,\d*)?|[+-]?\d+,\d*")  # 1.250,5


def cell_number(value: object) -> Optional[float]:
    """A number of a cell, also as text; None for blanks and words. "NaN" and "Infinity" are numbers."""
    if not isinstance(value, str):
        return number(value)
    try:
        return float(value.strip()) if "_" not in value else None
    except ValueError:
        return None


def cell_finite(value: object) -> Optional[float]:
    found = cell_number(value)
    return None if found is None else finite(found)


def cell_whole(value: object) -> Optional[int]:
    found = cell_number(value)
    return None if found is None else whole(found)


def is_blank(value: object) -> bool:
    return value is None or isinstance(value, str) and not value.strip()


def read_commas(rows: Sequence[Dict[str, Any]], separator: str) -> List[str]:
    """Writes the numbers of each column with a point, in place. Returns what was read so, in words.

    With semicolons and tabs between cells a single comma is a decimal one, as `longhaul measured` reads it. Where commas are between
    cells, one in a cell separates thousands.
    """
    said: List[str] = []
    for name in list(rows[0]) if rows else ():
        cells = [row[name].strip() for row in rows if "," in row[name]]
        for words, pattern, plain in _spellings(separator):
            if cells and all(map(pattern.fullmatch, cells)):
                for row in rows:
                    row[name] = plain(row[name].strip()) if "," in row[name] else _without_points(row[name], words)
                said.append(f"column {name!r} has {words}")
                break
    return said


def _spellings(separator: str) -> "List[tuple[str, re.Pattern[str], Callable[[str], str]]]":
    thousands = ("commas between thousands", _THOUSANDS, lambda text: text.replace(",", ""))
    if separator == ",":
        return [thousands]
    return [
        ("decimal commas", _DECIMAL, lambda text: text.replace(",", ".")),
        thousands,
        (_BOTH, _POINTS, lambda text: text.replace(".", "").replace(",", ".")),
    ]


_BOTH = "decimal commas, and points between thousands"


def _without_points(text: str, spelling: str) -> str:
    """A cell without a comma, of a column whose points separate thousands."""
    return text.replace(".", "") if spelling == _BOTH and re.fullmatch(r"\s*[+-]?\d{1,3}(?:\.\d{3})+\s*", text) else text


def why_no_duration(value: object, found: Optional[float]) -> str:
    """Why a cell is no duration; empty where it is one. found: its number, if it is one that is finite."""
    if is_blank(value):
        return "blank"
    if found is not None:
        return "negative" if found < 0 else ""
    return "not finite" if cell_number(value) is not None else f"no plain number ({value!r})"


class Reasons:
    """Counts of what was left, by why."""

    def __init__(self) -> None:
        self.counts: Dict[str, int] = {}

    def add(self, why: str) -> None:
        self.counts[why] = self.counts.get(why, 0) + 1

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def __str__(self) -> str:
        shown = list(self.counts.items())[:6]
        more = self.total - sum(count for _, count in shown)
        return ", ".join(f"{count} {why}" for why, count in shown) + (f" and {more} more" if more else "")
