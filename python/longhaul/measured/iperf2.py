"""What iperf 2 prints, as text or with -y C, of a client or a server (2.1.8 and 2.2.1). Its text has three figures.

The side at the server's port receives, unless the connection is marked: `(reverse)` at the client (-R), `[*2]` at a server
that connects back (-d, -r), `[ *1]` in a line for the other direction of --full-duplex. [SUM] adds both directions up with
-d, -r and --full-duplex, and is not read: the lines of the streams are added. -y C has the sender first, at the client as
at the server; without -i that of 2.1.8 has the year 1970, so that tests one after the other look like streams.
"""
from __future__ import annotations

import csv
import re
from datetime import datetime
from typing import Dict, List, NamedTuple, Tuple

from ..errors import InputError
from .iperf3 import refuse_short, short_note
from .iperf3_text import RATE, bits
from .measurement import Measured, Sites

CONNECTION = re.compile(r"\[\s*(\*?)(\d+)\] local (\S+?)(?:%\S+)? port (\d+) connected with (\S+) port (\d+)(.*)")
LINE = re.compile(r"\[\s*(\*?)(\d+)\]\s+([\d.]+)-\s*([\d.]+) sec\s+[\d.]+ [KMGT]?Bytes\s+" + RATE)
PORT = re.compile(r"(?:Server listening on TCP port|Client connecting to \S+ TCP port) (\d+)")
CSV = re.compile(r"^\d{14}(?:\.\d+)?,[^,]+,\d+,[^,]+,\d+,-?\d+,[\d.]+-[\d.]+,\d+,\d+", re.MULTILINE)


class Stream(NamedTuple):
    sender: str  # hosts
    receiver: str
    is_writers: bool  # the machine that wrote the file sent: the figure is the sender's
    seconds: float
    rate: float


def is_of(text: str) -> bool:
    return CONNECTION.search(text) is not None or re.search(r"^(Client connecting to|Server listening on) .*port \d+", text, re.MULTILINE) is not None


def is_csv(text: str) -> bool:
    return CSV.search(text) is not None


def measured(file: str, local: str, streams: List[Stream], sites: Sites) -> List[Measured]:
    """Of streams that ran at the same time."""
    ways: Dict[Tuple[str, str], List[Stream]] = {}
    for stream in streams:
        ways.setdefault((stream.sender, stream.receiver), []).append(stream)
    found = []
    for (sender, receiver), of in ways.items():
        here, there = sites.ends(file, [local], [receiver if sender == local else sender])
        seconds = max(stream.seconds for stream in of)
        refuse_short(file, seconds, None, "")
        notes = short_note(file, seconds, False)
        if of[0].is_writers:
            notes.append(f"{file}: iperf 2 at the sender says what was sent; what arrived may be less: the server's file has it")
        found.append(Measured(file, frozenset((here, there)), here if sender == local else there, sum(stream.rate for stream in of), len(of),
                              both_ways=len(ways) > 1, notes=tuple(notes)))
    return found


def read_text(file: str, text: str, sites: Sites) -> List[Measured]:
    if "UDP port" in text:
        raise InputError(f"{file}: is of UDP, which sends at the rate that -b says whatever the path carries; allowed: TCP, as iperf "
                         "measures without -u")
    port = PORT.search(text)
    connections: Dict[str, re.Match] = {}
    streams: Dict[Tuple[str, str], Stream] = {}
    found: List[Measured] = []

    def end_test() -> None:
        if streams:
            found.extend(measured(file, next(iter(connections.values()))[3], list(streams.values()), sites))
            connections.clear()
            streams.clear()

    for line in text.splitlines():
        connection, row = CONNECTION.search(line), LINE.search(line)
        if connection:
            end_test()
            connections[connection[2]] = connection
        elif row and row[2] in connections:
            of = connections[row[2]]
            at_port = port is not None and of[4] == port[1] and of[6] != port[1]
            sends = bool(of[1]) or not ("(reverse)" in of[7] or at_port)
            if row[1] and "full-duplex" in of[7]:
                sends = not sends
            hosts = (of[3], of[5]) if sends else (of[5], of[3])
            stream = Stream(*hosts, sends, float(row[4]) - float(row[3]), bits(*row.groups()[4:7]))
            if (row[1], row[2]) not in streams or stream.seconds > streams[row[1], row[2]].seconds:
                streams[row[1], row[2]] = stream
    end_test()
    if not found:
        raise InputError(f"{file}: has no connection with its lines; allowed: all that `iperf -c HOST` printed where the server answered, "
                         "better iperf3 --json")
    return found


def is_later(cells: List[str], seconds: float, of: List[Stream], ended: str) -> bool:
    """Whether the row's stream ran after those `of` the test that `ended` then: as long as it took has passed."""
    if not of or cells[0] == ended:
        return False
    passed = datetime.strptime(cells[0][:14], "%Y%m%d%H%M%S") - datetime.strptime(ended[:14], "%Y%m%d%H%M%S")
    return passed.total_seconds() >= max(1., 0.8 * seconds)


def read_csv(file: str, text: str, sites: Sites) -> List[Measured]:
    rows = [cells for cells in csv.reader(text.splitlines()) if len(cells) >= 9 and not cells[5].startswith("-")]
    if any(len(cells) > 9 and cells[9] for cells in rows):
        raise InputError(f"{file}: is of UDP, which sends at the rate that -b says whatever the path carries; allowed: TCP, as iperf "
                         "measures without -u")
    found: List[Measured] = []
    streams: Dict[str, Stream] = {}  # by the port that is not the server's
    numbers: Dict[str, str] = {}  # ports by stream
    ended = ""
    for cells in rows:
        begin, end = map(float, cells[6].split("-"))
        port = max(cells[2], cells[4], key=int)  # a client's is the larger
        is_new = numbers.get(cells[5], port) != port or (begin == 0 and port not in streams
                                                        and is_later(cells, end, list(streams.values()), ended))
        if is_new or (begin == 0 and port in streams and end <= streams[port].seconds):
            found += measured(file, cells[1], list(streams.values()), sites)
            streams, numbers = {}, {}
        if cells[0].startswith("1970") and any(one.sender == cells[1] for other, one in streams.items() if other != port):
            raise InputError(f"{file}: has streams without the time of day, as iperf 2.1.8 writes without -i, and does not say whether "
                             "they ran together; give its text (without -y C), or measure with -i 1")
        ended, numbers[cells[5]] = cells[0], port
        stream = Stream(cells[1], cells[3], False, end - begin, float(cells[8]))  # the sender stands first
        if port not in streams or stream.seconds > streams[port].seconds:
            streams[port] = stream
    return found + measured(file, rows[0][1], list(streams.values()), sites)
