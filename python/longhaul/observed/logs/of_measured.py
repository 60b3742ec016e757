"""Files that `longhaul measured` reads: they are recognised, to say so."""

from __future__ import annotations

import re
from typing import Any, Optional

_TEXTS = (
    (re.compile(r"^\s*PING \S+ ", re.M), "ping"),
    (re.compile(r"^Connecting to host \S+, port \d+", re.M), "iperf3"),
    (re.compile(r"^\[ *ID\] Interval +Transfer +B(?:andwidth|itrate)", re.M), "iperf"),
    (re.compile(r"^Pinging \S+", re.M), "ping"),
)


def tool_of_json(document: Any) -> Optional[str]:
    if isinstance(document, list) and document:
        document = document[0]
    if (
        isinstance(document, dict)
        and isinstance(document.get("start"), dict)
        and ("end" in document or "intervals" in document)
    ):
        return "iperf3"
    return None


def tool_of_text(text: str) -> Optional[str]:
    return next((tool for pattern, tool in _TEXTS if pattern.search(text[:100_000])), None)


def message(file: str, tool: str) -> str:
    return f"{file}: is of {tool}, which measures a path and no training; allowed: give it to `longhaul measured`"
