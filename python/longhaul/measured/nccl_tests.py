"""all_reduce_perf and sendrecv_perf of nccl-tests between two ranks, as text or as -J writes it (src/util.cu of 2.19.6).

Of two ranks each sends the other `size` bytes, in an all-reduce as in sendrecv (doc/PERFORMANCE.md of nccl-tests), so that
busbw is algbw. As text both have two decimals of a GB/s, a sixth of a path of 50 Mb/s: the rate is that of the largest size
out of place, over its time. A time of eight digits is printed with two of them, and does not count. -S 1 adds the time of
day to each row, -I 1 the times of single iterations; `cputime` (-C 1) is no time of a transfer.
"""
from __future__ import annotations

import re
from typing import Any, List, NamedTuple, Sequence, Tuple

from ..errors import InputError
from .iperf3 import STILL_GROWING, refuse_short
from .measurement import Measured, Sites, megabits


class Row(NamedTuple):
    size: int
    microseconds: float
    algbw: str
    busbw: str

    def rate(self) -> float:
        """Bits a second."""
        return 8e6 * self.size / self.microseconds


def is_document(document: Any) -> bool:
    return isinstance(document, dict) and "results" in document and bool({"nccl_version", "devices", "config"} & set(document))


def notes_on(file: str, rows: List[Row], is_whole: bool) -> Tuple[str, ...]:
    """`rows` in the order of their sizes."""
    notes = [] if is_whole else [f"{file}: ends without its summary; the largest of its rows is taken"]
    if len(rows) > 1 and rows[-1].rate() > STILL_GROWING * rows[-2].rate():
        notes.append(f"{file}: {megabits(rows[-1].rate())} Mb/s with {rows[-1].size} bytes, {megabits(rows[-2].rate())} with "
                     f"{rows[-2].size}: larger messages may be faster still; measure with a larger -e")
    return tuple(notes)


def measured(file: str, ranks: Sequence[str], hosts: Sequence[str], rows: List[Row], is_wrong: bool, is_whole: bool,
             sites: Sites) -> List[Measured]:
    if list(ranks) != ["0", "1"]:
        raise InputError(f"{file}: is of ranks {', '.join(ranks) or '(none)'}; allowed: 0 and 1, one at each "
                         "node, as nccl-tests that were built with MPI=1 print with mpirun -np 2 -N 1 and -g 1")
    if is_wrong:
        raise InputError(f"{file}: values arrived wrong (FAILED): measure again, or leave the file out")
    if not rows:
        raise InputError(f"{file}: has no row with a time in microseconds; allowed: what all_reduce_perf or sendrecv_perf prints, "
                         "to the end")
    rows = sorted(rows)
    row = rows[-1]
    refuse_short(file, None, row.size, "-e")
    if abs(float(row.algbw) - float(row.busbw)) > 1e-3 * float(row.algbw):
        raise InputError(f"{file}: found {row.algbw} GB/s of algbw and {row.busbw} of busbw; allowed: the same, as all_reduce_perf and "
                         "sendrecv_perf have between two ranks")
    return [Measured(file, frozenset(sites.ends(file, [hosts[0]], [hosts[1]])), None, row.rate(), 0, notes=notes_on(file, rows, is_whole))]


def read_text(file: str, text: str, sites: Sites) -> List[Measured]:
    ranks = re.findall(r"Rank +(\d+) .* on +(\S+) +device", text)
    columns = next((line.split() for line in text.splitlines() if "algbw" in line), [])
    columns = [column for column in columns[columns.index("time") if "time" in columns else 0:] if column != "timestamp"]
    rows = []
    for found in re.finditer(r"^[^#\n]*?(\d+) +\d+ +[a-z]\w* .*$", text, re.MULTILINE):
        cells = re.sub(r"\s+\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\s*$", "", found[0]).split()[-len(columns):][:3]
        if columns[:1] == ["time"] and len(cells) == 3 and re.fullmatch(r"\d+\.?\d*", cells[0]) and float(cells[0]) > 0:
            rows.append(Row(int(found[1]), float(cells[0]), cells[1], cells[2]))
    return measured(file, [rank for rank, _ in ranks], [host for _, host in ranks], rows,
                    re.search(r"Out of bounds values.*FAILED", text) is not None, "# Avg bus bandwidth" in text, sites)


def read_documents(file: str, documents: List[dict], sites: Sites) -> List[Measured]:
    found = []
    for document in documents:
        devices = document.get("devices") or document.get("config", {}).get("devices") or []
        rows, is_wrong = [], str(document.get("out_of_bounds", {}).get("okay", "true")).lower() == "false"
        for result in document["results"]:
            body = result.get("out_of_place") or {}
            is_wrong = is_wrong or float(body.get("nwrong") or 0) > 0
            if float(body.get("time") or 0) > 0:
                rows.append(Row(int(result["size"]), float(body["time"]), str(body["alg_bw"]), str(body["bus_bw"])))
        found += measured(file, [str(one["rank"]) for one in devices], [one["hostname"] for one in devices], rows, is_wrong, True, sites)
    return found
