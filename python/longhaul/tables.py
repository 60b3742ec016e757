"""Tables: lists of dicts, and a way to pandas."""
from __future__ import annotations

import csv
import pathlib
from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple, Union

from longhaul.errors import InputError, reading

Value = Union[None, int, float, str]

NAMES = ("case", "exchange", "link")  # columns of names, which a number may be: the label "01"


class Table(List[Dict[str, Any]]):
    """Rows as dicts, all with the same keys in the same order."""

    def columns(self) -> List[str]:
        return list(self[0]) if self else []

    def column(self, name: str) -> List[Any]:
        """The values of one column, from the first row to the last. InputError for a name that no row has."""
        if self and name not in self[0]:
            raise InputError(f"column: found {name!r}; allowed: {', '.join(self.columns())}")
        return [row[name] for row in self]

    def where(self, **values: Any) -> "Table":
        """The rows whose columns have these values. For names with a dot: where(**{"network.tcp.connections": 8})."""
        return Table(row for row in self if all(row.get(key) == value for key, value in values.items()))

    def frame(self) -> Any:
        """A pandas.DataFrame of the rows. ImportError where pandas is not installed."""
        import pandas

        return pandas.DataFrame(list(self), columns=self.columns())


class Curve(List[Tuple[float, float]]):
    """Points (x, loss), from the first to the last. `by`: what x is."""

    def __init__(self, points: Iterable[Tuple[float, float]], by: str) -> None:
        super().__init__(points)
        self.by = by

    def frame(self) -> Any:
        """A pandas.DataFrame with the columns `by` and loss. ImportError where pandas is not installed."""
        import pandas

        return pandas.DataFrame(list(self), columns=[self.by, "loss"])


def value_of(text: str) -> Value:
    """A cell of a CSV file: None where it is empty, an int, a float, or the text itself."""
    if text == "":
        return None
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            pass
    return text


def csv_rows(file: pathlib.Path) -> Iterator[Dict[str, Value]]:
    """The rows of a CSV file. A last line without its end comes from a run that was killed and is left out."""
    with file.open(encoding="utf-8", newline="") as lines:
        whole = (line for line in lines if line.endswith("\n"))
        for row in csv.DictReader(whole):
            yield {key: text if key in NAMES and text else value_of(text) for key, text in row.items()}


def read_csv(file: pathlib.Path, case: Optional[str] = None) -> Table:
    """The whole file, or the rows of one case."""
    with reading(file):
        return Table(row for row in csv_rows(file) if case is None or row["case"] == case)


def flat(record: Dict[str, Any], prefix: str = "") -> Dict[str, Any]:
    """Nested objects with dotted keys: {"sync_time_s": {"mean": 1}} is {"sync_time_s.mean": 1}."""
    row: Dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, dict):
            row.update(flat(value, f"{prefix}{key}."))
        else:
            row[prefix + key] = value
    return row


def with_same_keys(rows: List[Dict[str, Any]]) -> Table:
    """Every row with the keys of all of them, in the order in which they first appear; None for what it lacks."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    return Table({key: row.get(key) for key in keys} for row in rows)
