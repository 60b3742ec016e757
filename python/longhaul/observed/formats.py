"""Which format a file is of: its content says it, never its name; and the reader for it."""

from __future__ import annotations

import os
from typing import Any, Optional

from longhaul.directory import Path
from longhaul.errors import InputError, reading
from longhaul.observed.content import ALLOWED, bytes_of_file, json_of, text_of, wrong
from longhaul.observed.logs import log, nccl_tests, of_measured
from longhaul.observed.taken import Taken
from longhaul.observed.traces import chakra, ddp_logging, flight_recorder, kineto
from longhaul.observed.trackers import mlflow, rows, sqlite, table, tensorboard, trackio, trainer_state, wandb_offline
from longhaul.observed.trackers.columns import Asked
from longhaul.tables import flat


def read(path: Path, asked: Asked) -> Taken:
    """NothingTaken for a known file without a time, InputError for a damaged or unknown one. Both name it."""
    with reading(path):  # what no reader foresaw is a damaged file too
        return _of_data(os.fspath(path), bytes_of_file(path), asked)


def _of_data(file: str, data: bytes, asked: Asked) -> Taken:
    if sqlite.is_one(data):
        return sqlite.read(file)
    if wandb_offline.is_one(data):
        return wandb_offline.read(data, file)
    if tensorboard.is_one(data):
        return tensorboard.read(data, file)
    if data[:1] == b"\x80" and data[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        raise wrong(
            file,
            "is a pickle, as NCCL's flight recorder writes it, which is not read: reading one runs what is in it",
            "the profiler's trace (export_chrome_trace) of each rank",
        )
    text = text_of(data)
    if text is None:
        raise wrong(file, "is neither text nor a file of a tracker that is known", ALLOWED)
    return _of_text(text, file, asked)


def _of_text(text: str, file: str, asked: Asked) -> Taken:
    first = text.lstrip()[:1]
    if first in ("{", "["):
        found = _of_json(text, file, asked)
        if found is not None:
            return found
    if nccl_tests.is_one(text):
        return nccl_tests.read(text, file, asked)
    if mlflow.is_file(text):
        return mlflow.read_file(text, file)
    taken = log.read(text, file, asked)
    if taken is not None:
        return taken
    tool = of_measured.tool_of_text(text)
    if tool is not None:
        raise InputError(of_measured.message(file, tool))
    of_table = rows.csv_rows(text)
    if of_table is None:
        raise wrong(file, "is text of no format that is known", ALLOWED)
    return _of_rows(of_table, file, asked)


def _of_rows(found: rows.Rows, file: str, asked: Asked) -> Taken:
    names = list(found.rows[0])
    if not mlflow.is_table(names) and not trackio.is_table(names):
        return table.read(found, file, "csv", asked)
    taken = mlflow.read_table(found.rows, file) if mlflow.is_table(names) else trackio.read(found.rows, file)
    taken.took[:0], taken.left[:0] = found.said, found.left
    return taken


def _of_json(text: str, file: str, asked: Asked) -> Optional[Taken]:
    """None where it is no JSON but may be a log, whose lines begin with a bracket too."""
    try:
        document = json_of(text)
    except RecursionError as error:
        raise wrong(file, "is JSON that is nested too deeply", ALLOWED) from error
    except ValueError as error:
        found = rows.json_rows(text)
        if found is not None:
            return table.read(found, file, "jsonl", asked)
        if text.lstrip().startswith("[") or log.read(text, file, asked) is not None:
            return None
        raise wrong(
            file, f"is JSON that is cut off or damaged ({error})", "the whole file; copy it again once its program has ended"
        ) from error
    return _of_document(document, file, asked)


def _of_document(document: Any, file: str, asked: Asked) -> Taken:
    for reader in (kineto, chakra, flight_recorder, trainer_state, ddp_logging):
        if reader.is_one(document):
            found: Taken = reader.read(document, file)
            return found
    tool = of_measured.tool_of_json(document)
    if tool is not None:
        raise InputError(of_measured.message(file, tool))
    if isinstance(document, dict) and "observed" in document:
        raise wrong(file, "was written by this command", "the files that it was made of")
    if isinstance(document, list) and len(document) > 1 and all(isinstance(row, dict) for row in document):
        return table.read(rows.Rows([flat(row) for row in document], [], []), file, "jsonl", asked)
    keys = ", ".join(list(document)[:8]) if isinstance(document, dict) else type(document).__name__
    raise wrong(file, f"is JSON of no program that is known ({keys})", ALLOWED)
