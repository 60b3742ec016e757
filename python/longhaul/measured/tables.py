"""Tables: a row for each two sites (from,to,rate_mbps,rtt_ms), or a square of round trips or rates.

Commas, semicolons or tabs; with the last two a decimal comma too. The units stand in the header: rate_mbps, rate_gbps,
rtt_ms, rtt_us, and so on. `streams` (or `connections`) says how many carried the rate together; 1 where it is absent. The corner of a
square says what is in it, as rate_mbps or rtt_ms; empty: round trips in milliseconds. Its rows are senders.
"""
from __future__ import annotations

import csv
import itertools
import math
import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from ..errors import InputError
from .measurement import Measured, Sites

RATES = {"rate_bps": 1., "rate_kbps": 1e3, "rate_mbps": 1e6, "rate_gbps": 1e9}
RTTS = {"rtt_us": 1e-6, "rtt_ms": 1e-3, "rtt_s": 1.}
CORNERS = {**dict.fromkeys(("", "from", "to", "from_to", "site", "sites", "rtt", "ms", "ping", "ping_ms", "latency", "latency_ms"), "rtt_ms"),
           **dict.fromkeys(("mbps", "mb_s", "mbit_s", "throughput_mbps", "bandwidth_mbps"), "rate_mbps"),
           **dict.fromkeys(("gbps", "gb_s", "gbit_s", "throughput_gbps", "bandwidth_gbps"), "rate_gbps")}
NOTHING = ("", "-", "–", "—", "x", "n/a", "na", "nan", "none", "null")


class Line(NamedTuple):
    number: int
    cells: List[str]


def delimiter_of(lines: List[str]) -> str:
    """The one that the first line has most of; names may have commas of their own in quotes."""
    first = re.sub(r'"[^"]*"', "", lines[0] if lines else "")
    return max(",;\t", key=lambda one: (first.count(one), one == ","))


def lines_of(text: str) -> Tuple[List[Line], str]:
    numbered = [(number, line) for number, line in enumerate(text.splitlines(), 1)
                if line.strip(" ,;\t") and not line.lstrip(' "').startswith("#") and not re.fullmatch(r"sep=.\s*", line)]
    delimiter = delimiter_of([line for _, line in numbered])
    cells = csv.reader([line for _, line in numbered], delimiter=delimiter, skipinitialspace=True)
    return [Line(number, [cell.strip() for cell in row]) for (number, _), row in zip(numbered, cells)], delimiter


def number_of(cell: str, delimiter: str, place: str) -> float:
    """Above 0, perhaps with an exponent."""
    plain = cell.replace(",", ".") if delimiter != "," and cell.count(",") == 1 and "." not in cell else cell
    try:
        number = float(plain) if re.fullmatch(r"[+]?[\d.]+([eE][+-]?\d+)?", plain) else math.nan
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise InputError(f"{place}: found \"{cell}\"; allowed: a number above 0")
    return number


def named(cell: str) -> str:
    """rtt_ms of "RTT (ms)"."""
    return re.sub(r"\W+", "_", cell.lower()).strip("_")


def column(header: List[str], kinds: Dict[str, float], file: str, line: int) -> Optional[str]:
    found = [name for name in header if name in kinds]
    if len(found) > 1:
        raise InputError(f"{file}: line {line}: found the columns {' and '.join(found)}; allowed: one of them")
    return found[0] if found else None


def is_of(text: str) -> bool:
    header = {cell.lower() for cell in (lines_of(text)[0] or [Line(1, [])])[0].cells}
    return {"from", "to"} <= header


def site(cell: str, sites: Sites) -> Optional[str]:
    return cell if cell in sites.names else sites.of_host(cell)


def read_rows(file: str, lines: List[Line], delimiter: str, sites: Sites) -> List[Measured]:
    """One direction each, or both."""
    first = lines[0].number if lines else 1
    header = [named(cell) for cell in (lines[0].cells if lines else [])]
    rate, rtt = column(header, RATES, file, first), column(header, RTTS, file, first)
    if rate is None and rtt is None or not {"from", "to"} <= set(header):
        missing = next(name for name in ("from", "to", "rate_mbps") if name not in header)
        raise InputError(f"{file}: line {first}: there is no column {missing}; allowed: "
                         "from,to,rate_mbps and, where it was measured, rtt_ms; or a square with the sites as its first line and its "
                         "first column")
    if len(set(header)) < len(header):
        raise InputError(f"{file}: line {first}: found a column twice: {', '.join(header)}; allowed: each once")
    found = []
    for number, cells in lines[1:]:
        row, place = dict(zip(header, cells)), f"{file}: line {number}"
        if len(cells) > len(header) and any(cells[len(header):]):
            raise InputError(f"{place}: found {len(cells)} cells; allowed: {len(header)}, as in the header")
        ends = []
        for key in ("from", "to"):
            end = site(row.get(key, ""), sites)
            if end is None:
                raise InputError(f"{place}, {key}: found \"{row.get(key, '')}\"; allowed: {', '.join(sites.names)}")
            ends.append(end)
        if ends[0] == ends[1]:
            continue  # a pivot's diagonal; `inside` has what is measured at one site
        value = {key: number_of(row.get(key, ""), delimiter, f"{place}, {key}") for key in (rate, rtt)
                 if key and (key == rate and rtt is None or row.get(key, "").lower() not in NOTHING or key == rate)}
        streams = number_of(row.get("streams") or row.get("connections") or "1", delimiter, f"{place}, streams")
        if streams != int(streams):
            raise InputError(f"{place}, streams: found {streams:.6g}; allowed: a whole number")
        found.append(Measured(file, frozenset(ends), ends[0], value[rate] * RATES[rate] if rate in value else None,
                              int(streams), value[rtt] * RTTS[rtt] if rtt in value else None))
    return found


def square_header(lines: List[Line], sites: Sites) -> Optional[List[str]]:
    """The sites of a square's columns; None where it is no square."""
    if not lines or len(lines[0].cells) < 3:
        return None
    columns = [site(cell, sites) for cell in lines[0].cells[1:]]
    rows = [site(line.cells[0], sites) for line in lines[1:]]
    known = {cell for cell in columns if cell}
    return lines[0].cells[1:] if len(known) >= 2 and known & set(rows) else None


def read_square(file: str, lines: List[Line], delimiter: str, sites: Sites) -> List[Measured]:
    corner = named(lines[0].cells[0])
    unit = CORNERS.get(corner, corner)
    if unit not in RATES and unit not in RTTS:
        raise InputError(f"{file}: line {lines[0].number}: the corner of the square says \"{lines[0].cells[0]}\"; allowed: what is in it, "
                         f"as rtt_ms (or empty), rate_mbps or rate_gbps")
    header = lines[0].cells[1:]
    values: Dict[Tuple[str, str], float] = {}
    for number, cells in lines[1:]:
        for name, cell in zip(header, cells[1:]):
            row, of = site(cells[0], sites), site(name, sites)
            if cell.lower() in NOTHING or row == of:
                continue
            if row is None or of is None:
                raise InputError(f"{file}: line {number}: found \"{cells[0] if row is None else name}\"; allowed: {', '.join(sites.names)}")
            values[row, of] = number_of(cell, delimiter, f"{file}: line {number}, {name}") * {**RATES, **RTTS}[unit]
    if unit in RATES:
        return [Measured(file, frozenset(ends), ends[0], rate) for ends, rate in values.items()]
    found = []
    for pair in itertools.combinations(sites.names, 2):
        both = {values[ends] for ends in (pair, pair[::-1]) if ends in values}
        notes = (f"{file}: {pair[0]} and {pair[1]}: {min(both) * 1e3:.6g} and {max(both) * 1e3:.6g} ms; the larger is taken",)
        if both:
            found.append(Measured(file, frozenset(pair), rtt_s=max(both), notes=notes if len(both) > 1 else ()))
    return found


def read(file: str, text: str, sites: Sites) -> List[Measured]:
    lines, delimiter = lines_of(text)
    if square_header(lines, sites):
        return read_square(file, lines, delimiter, sites)
    return read_rows(file, lines, delimiter, sites)


def is_square(text: str, sites: Sites) -> bool:
    return square_header(lines_of(text)[0], sites) is not None
