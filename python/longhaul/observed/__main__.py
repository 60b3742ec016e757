"""The command `python -m longhaul.observed`: files in, the document out, words for a person on standard error."""

from __future__ import annotations

import argparse
import os
import sys
from typing import List, Optional

from longhaul.errors import InputError, RunFailed, exit_status
from longhaul.observed import Asked, read
from longhaul.observed.document import text_of
from longhaul.observed.trackers.columns import PER_SECOND
from longhaul.observed.trackers.table import check_operation
from longhaul.observed.words import words_of


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(
        prog="python -m longhaul.observed",
        description="Step and exchange times from profiler traces, logs and trackers' files, as one document.",
        epilog="docs/reference/formats/observed.md lists what is read, in which unit, and what is left.",
    )
    found.add_argument("files", nargs="+", metavar="FILE", help="a trace of each rank, logs, event files, tables; plain or .gz")
    found.add_argument(
        "-o", dest="out", default="", metavar="observed.json", help="where the document goes; default: standard output"
    )
    columns = found.add_argument_group("columns of CSV files and JSON lines, where their names do not say it")
    columns.add_argument("--step", default="", metavar="COLUMN", help="the number of the step")
    columns.add_argument("--time", default="", metavar="COLUMN", help="the moment at which a row was logged")
    columns.add_argument("--duration", default="", metavar="COLUMN", help="how long the step of a row took, or its exchange")
    columns.add_argument("--unit", default="", choices=list(PER_SECOND), help="of --time and --duration")
    columns.add_argument("--bytes", default="", metavar="COLUMN", help="what one rank hands in; each row is an exchange then")
    found.add_argument(
        "--operation", default="", metavar="WORD", help="all-reduce, ...: of rows of exchanges, and of nccl-tests"
    )
    found.add_argument(
        "--members", type=int, metavar="N", help="how many ranks take part in exchanges whose file does not say it"
    )
    found.add_argument(
        "--tokens",
        type=float,
        metavar="N",
        help="tokens that one device works through in a step: torchtitan's tps becomes step times",
    )
    return found


def main(arguments: Optional[List[str]] = None) -> int:
    options = parser().parse_args(arguments)

    def work() -> None:
        if options.members is not None and options.members < 1:
            raise InputError(f"--members: found {options.members}; allowed: 1 or more")
        if options.tokens is not None and not 0 < options.tokens < float("inf"):
            raise InputError(f"--tokens: found {options.tokens}; allowed: more than 0")
        document = read(
            options.files,
            Asked(
                options.step,
                options.time,
                options.duration,
                options.unit,
                options.bytes,
                check_operation(options.operation),
                options.members,
                options.tokens,
            ),
        )
        print(words_of(document), file=sys.stderr)
        _write(text_of(document), options.out)

    return exit_status(work)


def _write(text: bytes, out: str) -> None:
    try:
        if out:
            with open(out, "wb") as file:
                file.write(text)
        else:
            sys.stdout.flush()
            sys.stdout.buffer.write(text)
            sys.stdout.buffer.flush()
    except (OSError, ValueError) as error:
        if not out:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python would try once more, at its end
        reason = getattr(error, "strerror", None) or error
        raise RunFailed(f"{out or 'standard output'}: cannot be written: {reason}", 1) from error


if __name__ == "__main__":
    sys.exit(main())
