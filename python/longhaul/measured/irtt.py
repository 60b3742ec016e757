"""What `irtt client` prints, or writes with -o. Its JSON has nanoseconds."""
from __future__ import annotations

import re
from typing import Any, List

from ..errors import InputError
from .measurement import Measured, Sites
from .round_trips import RoundTrip, measured

UNITS = {"ns": 1e-9, "µs": 1e-6, "μs": 1e-6, "us": 1e-6, "ms": 1e-3, "s": 1.}
ROW = re.compile(r"^\s+RTT\s+([\d.]+)(ns|µs|μs|us|ms|s)\s", re.MULTILINE)
TARGET = re.compile(r"^\[(\S+)\] \[Connected\]|connecting to (\S+)", re.MULTILINE)


def is_of(text: str) -> bool:
    return ROW.search(text) is not None and "send/receive rate" in text


def is_document(document: Any) -> bool:
    return isinstance(document, dict) and isinstance(document.get("version"), dict) and "irtt" in document["version"]


def without_port(address: str) -> str:
    return address.rpartition(":")[0] if re.search(r"\]:\d+$|^[^:]*:\d+$", address) else address


def read_text(file: str, text: str, sites: Sites) -> List[Measured]:
    hosts = tuple(without_port(host) for found in TARGET.findall(text) for host in found if host)
    return measured(file, [RoundTrip(hosts, float(number) * UNITS[unit]) for number, unit in ROW.findall(text)], sites)


def read_documents(file: str, documents: List[dict], sites: Sites) -> List[Measured]:
    found = []
    for document in documents:
        shortest = document.get("stats", {}).get("rtt", {}).get("min")
        if not shortest or shortest <= 0:
            raise InputError(f"{file}: the target did not answer irtt; measure again, or leave the file out")
        config = document.get("config", {})
        hosts = [config.get("remote_address", ""), config.get("supplied", {}).get("remote_address", "")]
        found.append(RoundTrip(tuple(without_port(host) for host in hosts if host), shortest * 1e-9,
                               without_port(config.get("local_address", "")) or None))
    return measured(file, found, sites)
