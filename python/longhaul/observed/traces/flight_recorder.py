"""Torch's flight recorder (JSON of version 2.10, torch 2.15.0): what was begun and what not, and no durations."""

from __future__ import annotations

from typing import Any, Dict

from longhaul.observed.taken import NothingTaken, Taken, finite


def is_one(document: Any) -> bool:
    return isinstance(document, dict) and isinstance(document.get("entries"), list) and "pg_status" in document


def read(document: Dict[str, Any], file: str) -> Taken:
    entries = [one for one in document["entries"] if isinstance(one, dict)]
    states = sorted({str(one.get("state")) for one in entries}) or ["(no entry)"]
    has_some = any(finite(one.get("duration_ms")) for one in entries)
    timed = "whose durations (duration_ms) are not read" if has_some else "which has no durations"
    raise NothingTaken(
        file,
        "flight_recorder",
        f"is of torch's flight recorder, {timed} (state " + ", ".join(states) + "; time_discovered_* say when "
        "the watchdog looked, or 0); allowed: the profiler's trace (export_chrome_trace) of each rank",
    )
