"""What iperf3 prints without --json, of a client or a server. Its rates have three figures.

A client's text has a line `receiver` for each stream or sum; a server's has the receiver's where the client sent, and only
the sender's where the server did (-R, and one direction of --bidir, marked [TX-S]).
"""
from __future__ import annotations

import re
from typing import Dict, List, NamedTuple, Tuple

from ..errors import InputError
from .iperf3 import refuse_short, short_note
from .measurement import Measured, Sites

BITS = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
BYTES = {"": 8., "K": 8 * 2. ** 10, "M": 8 * 2. ** 20, "G": 8 * 2. ** 30, "T": 8 * 2. ** 40}
RATE = r"([\d.]+)\s+([KMGT]?)(bits|Bytes)/sec"
LINE = re.compile(r"\[\s*(\d+|SUM)\](?:\[([TR]X)-[CS]\])?\s+([\d.]+)-\s*([\d.]+)\s+sec\s+[\d.]+\s+[KMGT]?Bytes\s+" + RATE + "(.*)$")
CONNECTION = re.compile(r"\[\s*\d+\] local (\S+) port \d+ connected to (\S+) port \d+")
PARTS = re.compile(r"^.*(?:Connecting to host|Accepted connection from) (\S+?),? port.*$", re.MULTILINE)


class Row(NamedTuple):
    stream: str
    way: str  # TX, RX, or "" where the test has one direction
    seconds: float
    rate: float
    end: str  # sender, receiver, or "" of an interval


def is_of(text: str) -> bool:
    return CONNECTION.search(text) is not None or re.search(r"iperf3:|^Server listening on \d+", text, re.MULTILINE) is not None or any(
        row.end for row in rows_of(text))


def bits(number: str, prefix: str, unit: str) -> float:
    return float(number) * (BITS if unit == "bits" else BYTES)[prefix]


def rows_of(text: str) -> List[Row]:
    rows = []
    for found in filter(None, map(LINE.search, text.splitlines())):
        end = re.search(r"\b(sender|receiver)\b", found[8])
        if "(omitted)" not in found[8]:
            rows.append(Row(found[1], found[2] or "", float(found[4]) - float(found[3]), bits(*found.groups()[4:7]),
                            end[1] if end else ""))
    return rows


def one_way(file: str, rows: List[Row], sends: bool, is_server: bool) -> Tuple[float, int, float, List[str]]:
    """Rate of all streams, their number, seconds and notes, of the rows of one direction."""
    last = {end: {row.stream: row for row in rows if row.end == end} for end in ("receiver", "sender")}
    of, notes = last["receiver"], []
    if not of and last["sender"] and sends and is_server:
        of = last["sender"]
        notes.append(f"{file}: is the server's text of a test in which the server sent, and has no line of the receiver; what was "
                     "sent is taken: the client's text has what arrived")
    if not of or max(row.rate for row in of.values()) <= 0:
        raise InputError(f"{file}: has no line of the receiver at its end: the test was cut off; measure again, better with --json")
    streams = [row for name, row in of.items() if name != "SUM"]
    total = of["SUM"] if "SUM" in of else streams[0]
    intervals = [row.rate for row in rows if not row.end and (row.stream == "SUM") == (total.stream == "SUM")]
    if intervals and total.rate > 1.3 * max(intervals):
        raise InputError(f"{file}: says {total.rate / 1e6:.3g} Mb/s at its end, but no interval has more than {max(intervals) / 1e6:.3g}: "
                         "the test was interrupted; measure again, or leave the file out")
    return total.rate, len(streams) or 1, total.seconds, notes


def read(file: str, text: str, sites: Sites) -> List[Measured]:
    if re.search(r"Lost/Total|Total Datagrams", text):
        raise InputError(f"{file}: is of UDP, which sends at the rate that -b says whatever the path carries; allowed: TCP, as iperf3 "
                         "measures without -u")
    starts = [found.start() for found in PARTS.finditer(text)]
    if not starts and any(row.end for row in rows_of(text)):
        starts = [0]  # its last lines alone
    found: List[Measured] = []
    failed = re.search(r"iperf3: (?:error - )?(.*)", text)
    for begin, end in zip(starts, starts[1:] + [len(text)]):
        part = text[begin:end]
        connection, rows, named = CONNECTION.search(part), rows_of(part), PARTS.search(part)
        if not connection and named:
            continue
        is_server = "Accepted connection" in part.splitlines()[0]
        local, remote = sites.ends(file, [connection and connection[1]], [connection and connection[2], named and named[1]])
        ways: Dict[str, List[Row]] = {}
        for row in rows:
            ways.setdefault(row.way, []).append(row)
        for way, of in (ways or {"": []}).items():
            is_reverse = "Reverse mode" in part or (is_server and not any(row.end == "receiver" for row in of))
            sends = way == "TX" if way else is_server == is_reverse
            rate, streams, seconds, notes = one_way(file, of, sends, is_server)
            refuse_short(file, seconds, None, "")
            found.append(Measured(file, frozenset((local, remote)), local if sends else remote, rate, streams, None, True, "",
                                  len(ways) > 1, tuple(notes + short_note(file, seconds, False))))
    if not found:
        raise InputError(f"{file}: iperf3 ended with \"{failed[1]}\": measure again, or leave the file out" if failed else
                         f"{file}: has no connection with its lines; allowed: all that iperf3 printed, better with --json")
    return found
