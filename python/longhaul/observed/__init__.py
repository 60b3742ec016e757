"""Step and exchange times from what a training left behind: profiler traces, logs, trackers' files.

    python -m longhaul.observed FILES... -o observed.json

`read` makes that document. Each file is recognised by its content; docs/reference/formats/observed.md lists what is read, in which unit, and
what is left and why. Only Python's standard library is used.
"""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Optional

from longhaul.directory import Path
from longhaul.errors import InputError
from longhaul.observed import formats
from longhaul.observed.content import wrong
from longhaul.observed.document import document_of
from longhaul.observed.taken import NothingTaken, Taken
from longhaul.observed.traces import chakra, joining
from longhaul.observed.trackers.columns import Asked

__all__ = ["Asked", "InputError", "read"]


def read(files: Iterable[Path], asked: Optional[Asked] = None) -> Dict[str, Any]:
    """The document: seconds, bytes and counts, as docs/reference/formats/observed.md has them.

    asked: what the columns of tables mean, where their names do not say it. Raises InputError, which names the file, for a damaged or
    unknown one, and where nothing was taken of all of them.
    """
    asked = asked or Asked()
    taken: List[Taken] = []
    refused: List[NothingTaken] = []
    for file in files:
        try:
            taken.append(formats.read(file, asked))
        except NothingTaken as error:
            refused.append(error)
            taken.append(Taken(error.file, error.format, left=[f"all of it: it {error.reason}"]))
    if not taken:
        raise InputError("files: none was given; allowed: one or more that docs/reference/formats/observed.md lists")
    _leave_copies(taken)
    _add_sizes(taken)
    exchanges, notes, left = joining.exchanges_of([one.trace for one in taken if one.trace is not None])
    for one in taken:
        one.left += left.get(one.file, [])
    exchanges = [exchange for one in taken for exchange in one.exchanges] + exchanges
    if not exchanges and not any(one.has_times() for one in taken):
        raise _nothing(taken, refused)
    return document_of(taken, exchanges, list(dict.fromkeys([note for one in taken for note in one.notes] + notes)))


def _leave_copies(taken: List[Taken]) -> None:
    """A trace that was given twice counts once."""
    seen: Dict[Any, str] = {}
    for one in taken:
        if one.trace is None or not (one.trace.spans or one.trace.sends or one.trace.steps):
            continue
        key = (one.rank, one.trace.world, one.trace.begin, one.trace.end, len(one.trace.spans), len(one.trace.steps))
        if key in seen:
            one.left, one.took, one.notes, one.steps, one.trace = (
                [f"all of it: it is the trace of {seen[key]}"],
                [],
                [],
                [],
                None,
            )
        else:
            seen[key] = one.file


def _add_sizes(taken: List[Taken]) -> None:
    traces = [one.trace for one in taken if one.trace is not None]
    for one in taken:
        if one.sizes is not None:
            chakra.add_sizes(one, traces)


def _nothing(taken: List[Taken], refused: List[NothingTaken]) -> InputError:
    """One message, of all files: a line each."""
    said = {error.file: error.message for error in refused}
    return InputError(
        "\n".join(
            said.get(one.file)
            or wrong(one.file, "nothing was taken: " + "; ".join(one.left), "one that holds whole steps or exchanges").message
            for one in taken
        )
    )
