"""What ping (iputils, BSD, macOS, busybox, Windows) and fping print, of one host or several, once or often.

The shortest round trip to a host counts: what is longer waited in queues. Without a summary, as where `fping -c` had its
standard error elsewhere, the replies are read.
"""
from __future__ import annotations

import re
from typing import Any, List

from ..errors import InputError
from .measurement import Measured, Sites
from .round_trips import RoundTrip, measured

HEADER = re.compile(r"^.*?\bPING\s+([^\s(]+?)\s*(?:\((\S+?)\)|:?\s)(?:.*? from (\S+) )?.*$", re.MULTILINE)
STATISTICS = re.compile(r"^--- (\S+) ping6? statistics ---", re.MULTILINE)
HEADER_6 = re.compile(r"^PING6\(.*?\) (?P<source>\S+) --> (?P<target>\S+)", re.MULTILINE)  # macOS
SUMMARY = re.compile(r"min/avg/max\S* = ([\d.]+)/")
REPLY = re.compile(r"(?:time|Zeit|temps|tiempo|durata)[=<]\s*([\d.]+) ?ms", re.IGNORECASE)
WINDOWS = re.compile(r"^\s+\S+ = (\d+) ?ms\D+= (\d+) ?ms\D+= (\d+) ?ms", re.MULTILINE)
WINDOWS_HEADER = re.compile(r"^.*?\b(\S+) \[([\da-fA-F.:]+)\]|^(?:Pinging|Ping wird ausgef\S+ f\S+r) ([\da-fA-F.:]+) ", re.MULTILINE)
FPING = re.compile(r"^(?:\[[\d.]+\] )?(\S+)\s+: xmt/rcv/%loss = \S+ min/avg/max = ([\d.]+)/", re.MULTILINE)
FPING_REPLY = re.compile(r"^(?:\[[\d.]+\] )?(\S+)\s+: \[\d+\], \d+ bytes, ([\d.]+) ms", re.MULTILINE)
FPING_COUNTS = re.compile(r"^(\S+)\s+:((?: (?:[\d.]+|-))+)\s*$", re.MULTILINE)
FPING_ALIVE = re.compile(r"^(\S+) is alive \(([\d.]+) ms", re.MULTILINE)


def is_fping(text: str) -> bool:
    return any(form.search(text) for form in (FPING, FPING_REPLY, FPING_ALIVE, FPING_COUNTS)) or "xmt/rcv/%loss" in text


def is_ping(text: str) -> bool:
    return any(form.search(text) for form in (SUMMARY, HEADER, HEADER_6, WINDOWS))


def is_fping_document(document: Any) -> bool:
    return isinstance(document, dict) and bool({"resp", "summary", "timeout"} & set(document)) and any(
        isinstance(one, dict) and "host" in one for one in document.values())


def round_trip(hosts: List[str], milliseconds: str, source: str = "") -> RoundTrip:
    return RoundTrip(tuple(filter(None, hosts)), float(milliseconds) * 1e-3, source or None)


def checked(file: str, found: List[RoundTrip], sites: Sites) -> List[Measured]:
    found = [one for one in found if one.seconds > 0]
    if not found:
        raise InputError(f"{file}: has no reply, or none above 0 ms; allowed: what `ping -c 20 HOST` prints where HOST answers")
    return measured(file, found, sites)


def read_fping(file: str, text: str, sites: Sites) -> List[Measured]:
    found = [round_trip([host], time) for host, time in FPING.findall(text) + FPING_ALIVE.findall(text)]
    if not found:
        found = [round_trip([host], time) for host, time in FPING_REPLY.findall(text)]
    for host, times in FPING_COUNTS.findall(text):
        found += [round_trip([host], time) for time in times.split() if time != "-"]
    return checked(file, found, sites)


def read_fping_documents(file: str, documents: List[dict], sites: Sites) -> List[Measured]:
    bodies = [body for document in documents for body in document.values() if isinstance(body, dict)]
    return checked(file, [round_trip([body["host"]], time) for body in bodies for time in (body.get("rttMin"), body.get("rtt"))
                          if time is not None], sites)


def read_windows(file: str, text: str, sites: Sites) -> List[Measured]:
    found, begin = [], 0
    for times in WINDOWS.finditer(text):
        header = WINDOWS_HEADER.search(text[begin:times.start()])
        begin = times.end()
        found.append(round_trip([name or "" for name in header.groups()] if header else [], times[1]))
    return checked(file, found, sites)


def read_ping(file: str, text: str, sites: Sites) -> List[Measured]:
    if WINDOWS.search(text):
        return read_windows(file, text, sites)
    text = HEADER_6.sub(r"PING \g<target> (\g<target>) from \g<source> : ", text)
    headers = list(HEADER.finditer(text))
    parts = [([header[1], header[2] or ""], header[3] or "", text[header.start():end]) for header, end in zip(
        headers, [header.start() for header in headers[1:]] + [len(text)])]
    if not parts:  # the ends alone
        ends = list(STATISTICS.finditer(text))
        parts = [([one[1]], "", text[one.start():end]) for one, end in zip(ends, [one.start() for one in ends[1:]] + [len(text)])]
    if not parts and len(SUMMARY.findall(text)) > 1:
        raise InputError(f"{file}: has several summaries without their hosts; allowed: all that ping printed, or a file for each")
    found = []
    for hosts, source, part in parts or [([], "", text)]:
        found += [round_trip(hosts, time, source) for time in SUMMARY.findall(part) or REPLY.findall(part)]
    if not found and headers:
        raise InputError(f"{file}: has no reply of {headers[0][1]}; allowed: what `ping -c 20 HOST` prints where HOST answers")
    return checked(file, found, sites)
