"""Reports of mtr: `mtr -r`, `mtr --json` and `mtr --csv`. The last hop's best time is the round trip, if it is the target.

Where the target does not answer, the last hop is whatever answered last: mtr 0.95 ends with its own address, 0 % loss and
seconds of "round trip" where the target's address is nobody's. As text the target is in none of its lines.
"""
from __future__ import annotations

import csv
import re
from typing import Any, List, Optional

from ..errors import InputError
from .measurement import Measured, Sites, is_address, same_host
from .round_trips import RoundTrip, measured

HOP = re.compile(r"^\s*(\d+)\.\s*\|--\s+(.+?)\s+([\d.]+)%?\s+(\S.*)$")
LONGEST_MS = 1000  # a satellite takes 600


def is_report(text: str) -> bool:
    return "|--" in text and "Loss%" in text


def is_document(document: Any) -> bool:
    return isinstance(document, dict) and isinstance(document.get("report"), dict) and "hubs" in document["report"]


def is_csv(text: str) -> bool:
    return text.lstrip().lower().startswith("mtr_version,")


def reached(file: str, hosts: List[str], best: Optional[float], target: str, sites: Sites) -> RoundTrip:
    """`hosts`: of the last hop; `best` in ms; `target`: "" where it is not known."""
    hosts = [host for host in hosts if host and host != "???"]
    if not hosts or not best:
        raise InputError(f"{file}: the target did not answer mtr; measure with ping, or give the round trip with --rtt")
    if best > LONGEST_MS:
        raise InputError(f"{file}: found {best * 1e-3:.3g} s to {hosts[0]}: mtr counts a machine's own word that the target is unreachable as "
                         "its answer; allowed: a report whose last hop is a host of another site")
    is_other = is_address(target) and all(is_address(host) and same_host(host) != same_host(target) for host in hosts)
    named = sites.pair_in_name(file)
    if is_other or (not target and not sites.of_host(*hosts) and (not named or sites.has_hosts(named))):
        raise InputError(f"{file}: ends at {hosts[0]}, which is {f'not {target}' if target else 'a host of no site'}; allowed: a report whose "
                         "last hop is a host of another site")
    return RoundTrip(tuple(hosts + ([target] if target else [])), best * 1e-3)


def host_names(cell: str) -> List[str]:
    """`name (address)` of -b, or one of both."""
    return [name for name in re.split(r"[ ()]+", cell) if name]


def read_text(file: str, text: str, sites: Sites) -> List[Measured]:
    found: List[RoundTrip] = []
    columns: List[str] = []
    last = None
    for line in text.splitlines() + ["HOST:"]:
        hop = HOP.match(line)
        if hop:
            last = hop
        elif line.lstrip().startswith("HOST:"):
            if last:
                cells = dict(zip(columns, [last[3], *last[4].split()]))
                best = cells.get("Best", "").rstrip(".")
                found.append(reached(file, host_names(last[2]), float(best) if re.fullmatch(r"\d+(\.\d+)?", best) else None, "", sites))
            columns, last = line.split()[line.split().index("Loss%"):] if "Loss%" in line else [], None
    if not found:
        raise InputError(f"{file}: has no hop; allowed: what `mtr -r -n -c 20 HOST` prints, to the end")
    return measured(file, found, sites)


def read_documents(file: str, documents: List[dict], sites: Sites) -> List[Measured]:
    found = []
    for report in (document["report"] for document in documents):
        last = (report["hubs"] or [{}])[-1]
        found.append(reached(file, host_names(str(last.get("host", ""))), float(last.get("Best") or 0), report["mtr"].get("dst", ""), sites))
    return measured(file, found, sites)


def read_csv(file: str, text: str, sites: Sites) -> List[Measured]:
    header: List[str] = []
    last = {}  # of each run, by its target and beginning
    for cells in filter(None, csv.reader(text.splitlines())):
        if cells[0].lower() == "mtr_version":
            header = [cell.strip() for cell in cells]
        else:
            row = dict(zip(header, cells))
            last[row["Host"], row.get("Start_Time")] = row
    return measured(file, [reached(file, [row["Ip"]], float(row["Best"]), row["Host"], sites) for row in last.values()], sites)
