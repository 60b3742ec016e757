"""The replay of a case for chrome://tracing and Perfetto, in the Trace Event Format.

    python -m longhaul.timeline RUN/cases/CASE [-o FILE]

FILE (default CASE/timeline.json) is compressed where its name ends in .gz. A process a replica, with lanes for compute
(with stages its passes), waits, exchanges, exchanges that overlap with compute, faults, and the messages of transfers.csv
with arrows from sender to receiver.
"""
from __future__ import annotations

import argparse
import collections
import gzip
import itertools
import json
import math
import pathlib
import sys
from typing import Any, Dict, Iterator, List, Optional, Tuple

from .errors import InputError, exit_status
from .tables import read_csv

COMPUTE, WAIT, EXCHANGE, OVERLAPPED, FAULT, SEND, RECEIVE = 1, 2, 3, 4, 100, 1000, 10000
NAMES = {COMPUTE: "compute", WAIT: "wait", EXCHANGE: "exchange", OVERLAPPED: "overlapped exchange"}
Event = Dict[str, Any]
Row = Dict[str, Any]


def nanoseconds(seconds: float) -> int:
    return round(seconds * 1e9)


def rows_of(folder: pathlib.Path, name: str) -> List[Row]:
    """Of a table with its times in whole nanoseconds, so that slices which touch in the replay touch here; [] without it."""
    if not (folder / name).exists():
        return []
    return [{key: nanoseconds(cell) if key.endswith("_s") and cell is not None else cell for key, cell in row.items()}
            for row in read_csv(folder / name)]


def slice_of(process: int, lane: int, name: str, start: int, end: int, category: str = "", **about: Any) -> Iterator[Event]:
    """Nothing where it takes no time."""
    if end > start:
        yield {"ph": "X", "pid": process, "tid": lane, "name": name, "cat": category or NAMES[lane], "ts": start / 1000,
               "dur": (end - start) / 1000, "args": about}


def name_of(kind: str, process: int, name: str, lane: int = 0) -> Iterator[Event]:
    """Of a process or a lane ("thread"), which stand in the order of their numbers."""
    for what, value in ((f"{kind}_name", {"name": name}), (f"{kind}_sort_index", {"sort_index": lane or process})):
        yield {"ph": "M", "pid": process, "tid": lane, "name": what, "args": value}


class Replica:
    """Draws the lanes of one replica, step by step."""

    def __init__(self, number: int, absences: List[Row]) -> None:
        self.number, self.clock, self.overlapped, self.computed = number, 0, 0, 0
        self.absences, self.passes = absences, collections.defaultdict(list)  # its passes by step

    def draw_passes(self, passes: List[Row]) -> Iterator[Event]:
        for task in passes:
            yield from slice_of(self.number, WAIT, "wait for a micro-batch", self.clock, task["begin_s"])
            name = f"{task['pass']} {task['microbatch']}, part {task['part']}"
            yield from slice_of(self.number, COMPUTE, name, task["begin_s"], task["end_s"])
            self.clock = max(self.clock, task["end_s"])

    def leave(self, until: float) -> Iterator[Event]:
        """The absences that begin before `until`, each behind what is lost of a step; of passes those that were over. When an
        exchange began that a crash cut off is in no table: it is drawn as compute."""
        while self.absences and self.absences[0]["left_s"] < until:
            row = self.absences.pop(0)
            left, lost = row["left_s"], range(self.computed + 1, row["left_step"] + 1)
            for step in lost if self.passes else ():
                yield from self.draw_passes([task for task in self.passes[step] if task["end_s"] <= left])
                self.passes[step] = [task for task in self.passes[step] if task["end_s"] > left]
            if not self.passes:
                yield from slice_of(self.number, COMPUTE, "lost", self.clock, left, steps=[*lost])
            self.clock, self.computed = max(self.clock, row["joined_s"] or left), max(self.computed, row["first_step"] - 1)

    def compute(self, step: int, end: int) -> Iterator[Event]:
        """The steps since the last one that is drawn."""
        if self.computed >= step:
            return
        yield from self.leave(end)
        yield from self.draw_passes(self.passes[step] if self.passes else [])
        first = self.computed + 1
        yield from slice_of(self.number, COMPUTE, f"step {step}" if first == step else f"steps {first} to {step}",
                            self.clock, end, step=step)
        self.computed, self.clock = step, max(self.clock, end)

    def exchange(self, row: Row, overlaps: bool) -> Iterator[Event]:
        ready, start, done, about = row["ready_s"], row["start_s"], row["done_s"], {"step": row["step"], "bytes": row["bytes"]}
        if overlaps:
            yield from slice_of(self.number, OVERLAPPED, row["exchange"], max(start, self.overlapped), done, **about)
            self.overlapped = max(self.overlapped, done)
            return
        yield from self.compute(row["step"], ready)  # steps.csv may hold evaluations alone
        yield from slice_of(self.number, WAIT, "wait for the others", max(ready, self.clock), start, step=row["step"])
        yield from slice_of(self.number, EXCHANGE, row["exchange"], max(start, self.clock), done, **about)
        self.clock = max(self.clock, done)

    def end_step(self, step: int, done: int) -> Iterator[Event]:
        yield from slice_of(self.number, WAIT, "wait for an overlapped exchange", self.clock, done, step=step)
        self.clock = max(self.clock, done)


def drawn_steps(folder: pathlib.Path, replicas: Dict[int, Replica]) -> Iterator[Event]:
    with (folder / "trace.jsonl").open() as trace:
        rules = {rule["name"]: rule.get("overlap_steps", 0) > 0 for rule in json.loads(trace.readline()).get("rules", [])}
    for task in rows_of(folder, "tasks.csv"):
        replicas[task["replica"]].passes[task["step"]].append(task)
    steps, exchanges = collections.defaultdict(list), collections.defaultdict(list)
    for table, rows in ((steps, "steps.csv"), (exchanges, "exchanges.csv")):
        for row in rows_of(folder, rows):
            table[row["step"]].append(row)
    for step in sorted({*steps, *exchanges}):
        for row in steps[step]:
            yield from replicas[row["replica"]].compute(step, row["computed_s"])
        for row in exchanges[step]:
            yield from replicas[row["replica"]].exchange(row, rules.get(row["exchange"], False))
        for row in steps[step]:
            yield from replicas[row["replica"]].end_step(step, row["done_s"])
    for replica in replicas.values():
        yield from replica.leave(math.inf)


def drawn_faults(folder: pathlib.Path, replicas: int) -> Iterator[Event]:
    """At the replica that is struck; those of links and sites in a process behind the replicas."""
    lanes: Dict[Tuple[int, str], Tuple[int, int]] = {}
    for row in rows_of(folder, "faults.csv"):
        words = str(row["subject"]).split()
        process = int(words[1]) if words[0] == "replica" else replicas
        key = (row["fault"], row["subject"])
        if key not in lanes:
            lanes[key] = process, FAULT + sum(other == process for other, _ in lanes.values())
            yield from name_of("process", process, f"replica {process}" if process < replicas else "network")
            yield from name_of("thread", *lanes[key][:1], f"fault {row['fault']}: {row['subject']}", lanes[key][1])
        yield from slice_of(*lanes[key], row["kind"], row["begin_s"], row["end_s"], "fault")


def drawn_messages(folder: pathlib.Path) -> Iterator[Event]:
    """Slices of one lane do not overlap: each message has the first lane that is free when it starts."""
    free: Dict[Tuple[int, int], List[int]] = collections.defaultdict(list)

    def lane(process: int, base: int, name: str, start: int, end: int) -> Tuple[int, List[Event]]:
        lanes = free[process, base]
        at = next((i for i, time in enumerate(lanes) if time <= start), len(lanes))
        lanes[at:at + 1] = [end]
        return base + at, list(name_of("thread", process, f"{name} {at + 1}", base + at)) if at + 1 == len(lanes) else []

    rows = [row for row in rows_of(folder, "transfers.csv") if row["done_s"] > row["start_s"]]
    for number, row in enumerate(sorted(rows, key=lambda row: row["start_s"])):
        for end, other, base, what, way in (("from", "to", SEND, "send", "to"), ("to", "from", RECEIVE, "receive", "from")):
            tid, names = lane(row[end], base, what, row["start_s"], row["done_s"])
            yield from names
            yield from slice_of(row[end], tid, f"{row['exchange']} {way} {row[other]}", row["start_s"], row["done_s"], what,
                                step=row["step"], bytes=row["bytes"])
            # A nanosecond before the end is still inside of the slice.
            at = row["start_s"] if base == SEND else row["done_s"] - 1
            yield {"ph": "s" if base == SEND else "f", "bp": "e", "id": number, "name": "message", "cat": "message",
                   "pid": row[end], "tid": tid, "ts": at / 1000}


def timeline(folder: pathlib.Path) -> Iterator[Event]:
    rows = rows_of(folder, "replicas.csv")
    numbers, stages = [row["replica"] for row in rows], 1 + max((row.get("stage", 0) for row in rows), default=0)
    absences: Dict[int, List[Row]] = collections.defaultdict(list)
    for row in sorted(rows_of(folder, "absences.csv"), key=lambda row: row["left_s"]):
        absences[row["replica"]].append(row)
    for number in numbers:
        yield from name_of("process", number, f"replica {number}")
        for lane, name in NAMES.items():
            yield from name_of("thread", number, name, lane)
    yield from itertools.chain(drawn_steps(folder, {number: Replica(number, list(absences[number // stages])) for number in numbers}),
                               drawn_faults(folder, len(numbers)), drawn_messages(folder))


def main(arguments: Optional[List[str]] = None) -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("case", type=pathlib.Path, metavar="CASE", help="folder of a case of a run directory")
    options.add_argument("-o", "--output", type=pathlib.Path, help="the file (default CASE/timeline.json)")
    given = options.parse_args(arguments)
    missing = [name for name in ("replicas.csv", "steps.csv", "exchanges.csv", "trace.jsonl") if not (given.case / name).exists()]
    if missing:
        raise InputError(f"CASE: {given.case} has no {', '.join(missing)}; allowed: the folder of a replayed case with its tables")
    out = given.output or given.case / "timeline.json"
    with (gzip.open if out.suffix == ".gz" else open)(out, "wt") as file:
        json.dump({"displayTimeUnit": "ms", "traceEvents": list(timeline(given.case))}, file)
    print(out)


if __name__ == "__main__":
    sys.exit(exit_status(main))
