"""Which tool a text is of, and what to give where it is one that is not read."""
from __future__ import annotations

import math
import os
import re
from typing import Any, Callable, Dict, List, NamedTuple, Union

from ..errors import InputError
from . import iperf2, iperf3, iperf3_text, irtt, mtr, nccl_tests, pings, tables
from .documents import is_json, json_documents, text_of
from .measurement import Measured, Sites

READ = ("`iperf3 -c HOST --json` for what a connection carries, `ping -c 20 HOST` for the round trip, nccl-tests, fping, mtr -r, irtt, "
        "iperf 2, or a table from,to,rate_mbps,rtt_ms (.csv)")


class Format(NamedTuple):
    name: str
    is_of: Callable[[Any], bool]  # of the text, or of one JSON object
    read: Callable[[str, Any, Sites], List[Measured]]  # of the text, or of all objects


DOCUMENTS = (Format("irtt", irtt.is_document, irtt.read_documents),
             Format("mtr", mtr.is_document, mtr.read_documents),
             Format("nccl-tests", nccl_tests.is_document, nccl_tests.read_documents),
             Format("fping", pings.is_fping_document, pings.read_fping_documents),
             Format("iperf3", iperf3.is_test, iperf3.read))
TEXTS = (Format("nccl-tests", lambda text: "algbw" in text, nccl_tests.read_text),
         Format("mtr", mtr.is_csv, mtr.read_csv),
         Format("mtr", mtr.is_report, mtr.read_text),
         Format("irtt", irtt.is_of, irtt.read_text),
         Format("iperf 2", iperf2.is_csv, iperf2.read_csv),
         Format("iperf3", iperf3_text.is_of, iperf3_text.read),
         Format("iperf 2", iperf2.is_of, iperf2.read_text),
         Format("fping", pings.is_fping, pings.read_fping),
         Format("ping", pings.is_ping, pings.read_ping))

THROUGHPUT, ROUND_TRIP = "`iperf3 -c HOST -t 10 --json`", "`ping -c 20 HOST`"
NOT_READ = (("qperf", r"^(tcp|udp|rc|ud)_(bw|lat):", f"{THROUGHPUT}, and {ROUND_TRIP}"),
            ("netperf", r"^(MIGRATED )?(TCP|UDP|OMNI)[ _]\S*.*TEST|^THROUGHPUT=|^Recv\s+Send\s+Send|\A\s*\d+ +\d+ +\d+ +[\d.]+ +[\d.]+ *$", f"{THROUGHPUT}, or a table"),
            ("sockperf", r"^sockperf:", f"{ROUND_TRIP}, or {THROUGHPUT}"),
            ("nuttcp", r"[\d.]+ MB / +[\d.]+ sec = +[\d.]+ Mbps", THROUGHPUT),
            ("traceroute", r"^traceroute to |^Tracing route|^ ?1\?: \[LOCALHOST\]", ROUND_TRIP),
            ("speedtest", r"Speedtest by Ookla|Testing (down|up)load speed|speedtest\.net",
             f"{THROUGHPUT} between the two sites: a speed test measures a path to a server of its own"),
            ("mtr --xml", r"<MTR ", "`mtr -r -n -c 20 HOST` or `mtr --json`"),
            ("mtr --raw", r"^x \d+ \d{5}$", "`mtr -r -n -c 20 HOST` or `mtr --json`"),
            ("iperf3's list of options", r"iperf3? \[-h\||Usage: iperf", "what a test prints: iperf3 --json-stream needs 3.17 or later"))


def not_read(file: str, text: str) -> InputError:
    for name, form, instead in NOT_READ:
        if re.search(form, text, re.MULTILINE):
            return InputError(f"{file}: is of {name}, which is not read; give {instead}")
    return InputError(f"{file}: has no line \"rtt min/avg/max\" and is of no tool that is read; allowed: {READ}")


def not_read_document(file: str, document: Any) -> InputError:
    keys = list(document) if isinstance(document, dict) else []
    if {"sites", "pairs"} <= set(keys):
        return InputError(f"{file}: is a matrix of sites already; give it to network.topology.regions.matrix")
    if {"download", "upload"} <= set(keys):
        return InputError(f"{file}: is of a speed test, which measures a path to a server of its own; give {THROUGHPUT} between the two sites")
    return InputError(f"{file}: is JSON of no tool that is read (keys: {', '.join(map(str, keys[:8])) or 'none'}); allowed: {READ}")


def read_json(file: str, text: str, sites: Sites) -> List[Measured]:
    documents = json_documents(file, text)
    for form in DOCUMENTS:
        of = [document for document in documents if form.is_of(document)]
        if of:
            return form.read(file, of, sites)
    raise not_read_document(file, documents[0] if documents else None)


def read_text(file: str, text: str, sites: Sites) -> List[Measured]:
    if is_json(text):
        return read_json(file, text, sites)
    for form in TEXTS[:5]:  # iperf 2 and mtr have tables of their own
        if form.is_of(text):
            return form.read(file, text, sites)
    if file.lower().endswith((".csv", ".tsv")) or tables.is_of(text) or tables.is_square(text, sites):
        return tables.read(file, text, sites)
    for form in TEXTS[5:]:
        if form.is_of(text):
            return form.read(file, text, sites)
    raise not_read(file, text)


def read(file: Union[str, "os.PathLike[str]"], sites: Union[Sites, Dict[str, List[str]]]) -> List[Measured]:
    """All that a file says of `sites` (hosts by name). Throws InputError, which names it."""
    file, sites = os.fspath(file), sites if isinstance(sites, Sites) else Sites(sites)
    text = text_of(file)
    try:
        found = read_text(file, text, sites)
        for one in found:
            for value, unit in ((one.together, "bit/s"), (one.rtt_s, "s")):
                if value is not None and not 0 < value < math.inf:
                    raise InputError(f"{file}: found {value} {unit}; allowed: above 0 and finite")
        return found
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
        raise InputError(f"{file}: is damaged, or not as its tool wrote it ({type(error).__name__}: {error}); allowed: {READ}") from error
