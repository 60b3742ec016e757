"""A SQLite file of a tracker: MLflow's or trackio's table `metrics`. It is opened to read alone."""

from __future__ import annotations

import os
import sqlite3
import urllib.parse

from longhaul.observed.content import wrong
from longhaul.observed.taken import NothingTaken, Taken, listed
from longhaul.observed.trackers import mlflow, trackio

HEADER = b"SQLite format 3\0"


def is_one(data: bytes) -> bool:
    return data.startswith(HEADER)


def read(file: str) -> Taken:
    """InputError where it is damaged, or of another program."""
    address = "file:" + urllib.parse.quote(os.path.abspath(file)) + "?mode=ro"
    try:
        connection = sqlite3.connect(address, uri=True)
        try:
            tables = sorted(name for name, in connection.execute("select name from sqlite_master where type = 'table'"))
            if "metrics" not in tables:
                raise wrong(
                    file,
                    f"is a SQLite file without the table 'metrics' (tables: {listed(tables) or 'none'})",
                    "that of MLflow or of trackio",
                )
            found = connection.execute("select * from metrics")  # as they were logged: a restart logs steps again
            names = [column[0] for column in found.description]
            rows = mlflow.rows_of(names, found.fetchall())
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise wrong(
            file, f"is a SQLite file that cannot be read ({error})", "a whole one; copy it, with its -wal file, after the run"
        ) from error
    if not rows:
        raise NothingTaken(file, "sqlite", "is a SQLite file whose table 'metrics' is empty; allowed: one of a run that logged")
    if mlflow.is_table(names):
        return mlflow.read_table(rows, file)
    if trackio.is_table(names):
        return trackio.read(rows, file)
    raise wrong(file, f"is a SQLite file whose table 'metrics' has the columns {listed(names)}", "that of MLflow or of trackio")
