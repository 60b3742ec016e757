"""What can go wrong: every error of this package is a LonghaulError."""
from __future__ import annotations

import contextlib
import csv
import os
import sys
from typing import Any, Callable, Iterator, Tuple, Union


class LonghaulError(Exception):
    """`longhaul` ended with an exit status other than 0, or would have. `message` says why, `status` is that status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.message = message
        self.status = status

    def __reduce__(self) -> Tuple[Any, ...]:  # pickled, as from a worker of an executor
        return type(self), (self.message, self.status)


class RunFailed(LonghaulError):
    """Status 1: the input was right and the run could not be finished."""


class InputError(LonghaulError):
    """Status 2: the input is wrong, or a file of a run is missing or damaged. The message names the file and the key."""

    def __init__(self, message: str, status: int = 2) -> None:
        super().__init__(message, status)


class Interrupted(LonghaulError):
    """Status 130: stopped by a signal. run(..., resume=True) continues."""


@contextlib.contextmanager
def reading(file: Union[str, "os.PathLike[str]"]) -> Iterator[None]:
    """What the body finds wrong with `file`, as an InputError that names it."""
    try:
        yield
    except LonghaulError:
        raise
    except FileNotFoundError as error:
        raise InputError(f"{os.fspath(file)}: does not exist: the run has not written it") from error
    except OSError as error:
        raise InputError(f"{os.fspath(file)}: cannot be read: {error.strerror}") from error
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, csv.Error) as error:
        raise InputError(f"{os.fspath(file)}: is damaged, or of another program: {type(error).__name__}: {error}") from error


def exit_status(work: Callable[[], None]) -> int:
    """That of a program whose work this is: 0, or of its LonghaulError, which is printed."""
    try:
        work()
    except LonghaulError as error:
        print("error:", error.message, file=sys.stderr)
        return error.status
    return 0
