"""The rows of CSV files and of JSON lines: a dict for each, by the names of the columns."""

from __future__ import annotations

import csv
import io
import json
from typing import Any, Dict, List, NamedTuple, Optional

from longhaul.observed.trackers.cells import cell_number, read_commas
from longhaul.tables import flat

Row = Dict[str, Any]


class Rows(NamedTuple):
    """said: how numbers were read, in words. left: what of the text is in no row."""

    rows: List[Row]
    said: List[str]
    left: List[str]


def csv_rows(text: str) -> Optional[Rows]:
    """None for what is no table: a line of at least two names, then rows with as many cells."""
    first = text.lstrip("\n\r").split("\n", 1)[0]
    separator = max(",;\t", key=first.count)
    if first.count(separator) == 0:
        return None
    try:
        lines = [line for line in csv.reader(io.StringIO(text), delimiter=separator) if line]
    except csv.Error:
        return None
    if len(lines) < 2 or len(set(lines[0])) != len(lines[0]) or any(cell_number(name) is not None for name in lines[0]):
        return None
    width = len(lines[0])
    left = []
    if len(lines[-1]) < width:
        lines.pop()
        left.append("the last line, which has too few cells: it was still being written")
    if any(len(line) != width for line in lines) or len(lines) < 2:
        return None
    rows: List[Row] = [dict(zip(lines[0], line)) for line in lines[1:]]
    return Rows(rows, read_commas(rows, separator), left)


def json_rows(text: str) -> Optional[Rows]:
    """None for what is no JSON lines: an object in each line. A last line that is cut off is left out."""
    lines = [line for line in text.splitlines() if line.strip()]
    rows: List[Row] = []
    left = []
    for at, line in enumerate(lines):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            if at == len(lines) - 1 and rows:
                left.append("the last line, which is cut off")
                break
            return None
        if not isinstance(row, dict):
            return None
        rows.append(flat(row))
    return Rows(rows, [], left) if rows else None
