"""Whether a process writes into a run directory now, as `longhaul` itself decides it (cli/claim.cc).

`longhaul run` holds `.lock`, a worker (--only-case) the `.claim` of its job, and their children the `.lock` of theirs. Each is
a flock, which ends with its process. Where the file system keeps it from other machines, the first two are renewed every
20 s, and say which machine they are of.
"""
from __future__ import annotations

import fcntl
import os
import pathlib
import time
from typing import Iterator, Tuple

DEAD_AFTER_S = 180


def is_locked(file: pathlib.Path) -> bool:
    try:
        with open(file, "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    except OSError:  # a file system without flock: its date decides
        return False
    return False


def is_renewed_elsewhere(file: pathlib.Path) -> bool:
    """By a machine, or a boot of this one, whose locks cannot be seen here."""
    try:
        words = file.read_text(encoding="utf-8", errors="replace").split()
        age_s = time.time() - os.stat(file).st_mtime
        boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return False
    return age_s < DEAD_AFTER_S and (len(words) < 2 or words[1] != boot)


def locks(run: pathlib.Path) -> Iterator[Tuple[pathlib.Path, bool]]:
    """And whether a date in it counts: a child's has none."""
    for folder in (run, *run.glob("cases/*"), *run.glob("train/*")):
        yield folder / ".claim", True
        yield folder / ".lock", folder == run


def is_written(run: pathlib.Path) -> bool:
    return any(is_locked(file) or has_date and is_renewed_elsewhere(file) for file, has_date in locks(run))
