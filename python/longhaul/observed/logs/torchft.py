"""torchft's log (0.2.0): rounds and commits of each replica, timed by the lines of its compiled part.

`2026-11-27T22:00:10.605 [INFO] [torchft::manager] - [Replica NAME] …`, to the millisecond, no zone. Its Python part writes a time only
where the program's logging format has one, so the begin and end of a fragment's exchange are not timed. No line has a size.
"""

from __future__ import annotations

import datetime
import re
from typing import Dict, List, Optional, Sequence, Tuple

from longhaul.observed.taken import Point, Series, Taken, counted, listed
from longhaul.observed.trackers.columns import Asked

_LINE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+) \[\w+\] \[torchft::manager\] - \[Replica ([^\]]+)\] (.*)")
_PYTHON = re.compile(r"torchft\.(?:manager|local_sgd)\b|\[[^\]]*/\d+ - step \d+\]")
_EVENTS = (
    (re.compile(r"Start quorum for group_rank (\d+)"), "start"),
    (re.compile(r"Finished quorum for group_rank (\d+)"), "quorum"),
    (re.compile(r"should_commit request from (\d+)"), "request"),
    (re.compile(r"should_commit completed should_commit=(true|false)"), "commit"),
)


def read(lines: Sequence[str], file: str, asked: Asked) -> Optional[Taken]:
    taken = Taken(file, "torchft")
    events: Dict[str, List[Tuple[str, datetime.datetime, str]]] = {}
    is_torchft = fragments = heals = 0
    for line in lines:
        match = _LINE.search(line)
        moment = _moment(match[1]) if match else None
        if match and moment:
            is_torchft = 1
            for pattern, kind in _EVENTS:
                if found := pattern.match(match[3]):
                    events.setdefault(match[2], []).append((kind, moment, found[1]))
            heals += "healing is required" in match[3]
        elif _PYTHON.search(line):
            is_torchft = 1
            fragments += "Syncing fragment=" in line
    if not is_torchft:
        return None
    without = 0
    for replica, of_replica in events.items():
        series, of_failed = _series(replica, of_replica)
        taken.series += series
        without += of_failed
    if taken.series:
        taken.took.append(
            f"rounds of {len(events)} replicas ({listed(events)}): ISO times to the ms, no zone; "
            "quorum_s from Start to Finished quorum, quorum_to_commit_s from there to the request of should_commit, "
            "round_s from one completed commit to the next"
        )
        taken.notes.append(
            f"{file}: the manager's step counts commits, so round_s is of all local steps between two; quorum_to_commit_s is an upper "
            "bound of the exchange, whose size no line has"
        )
    if heals:
        taken.notes.append(
            f"{file}: {heals} times a replica healed, which is a whole model over HTTP; it is in the first round's times"
        )
    if fragments:
        taken.left.append(
            f"{fragments} exchanges of fragments (Preparing, Syncing): their lines have no time that torchft writes itself"
        )
    if without:
        taken.left.append(
            f"quorum_s and quorum_to_commit_s of {counted(without, 'round')} that ended with should_commit=false: they are no commits, "
            "and their time is in the round_s of the next one"
        )
    taken.left.append("sizes: torchft writes none")
    return taken


def _moment(text: str) -> Optional[datetime.datetime]:
    """None where it is no date."""
    try:
        return datetime.datetime.fromisoformat(text)
    except ValueError:
        return None


def _series(replica: str, events: List[Tuple[str, datetime.datetime, str]]) -> Tuple[List[Series], int]:
    """quorum_s, quorum_to_commit_s and round_s by the number of the commit, from 1; and how many rounds ended without a commit. A start
    for a second rank of a group is one of the same round: the first start counts, and the last end."""
    quorum, to_commit, rounds = (
        Series(f"torchft.{replica}.{name}", []) for name in ("quorum_s", "quorum_to_commit_s", "round_s")
    )
    started: Optional[datetime.datetime] = None
    finished: Optional[datetime.datetime] = None
    committed: Optional[datetime.datetime] = None
    asked: List[Tuple[Series, Point]] = []  # of a round whose end is not known yet
    count, without = 1, 0
    for kind, moment, word in events:
        if kind == "start" and started is None:
            started = moment
        elif kind == "quorum":
            finished = moment
        elif kind == "request" and finished is not None:
            if started is not None:
                asked.append((quorum, Point((finished - started).total_seconds(), count)))
            asked.append((to_commit, Point((moment - finished).total_seconds(), count)))
            started = finished = None
        elif kind == "commit" and word == "false":
            asked = []
            without += 1
        elif kind == "commit":
            _add(asked)
            if committed is not None:
                rounds.points.append(Point((moment - committed).total_seconds(), count))
            committed, asked = moment, []
            count += 1
    _add(asked)
    return [one for one in (quorum, to_commit, rounds) if one.points], without


def _add(points: List[Tuple[Series, Point]]) -> None:
    for series, point in points:
        series.points.append(point)
