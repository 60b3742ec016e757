"""What the command says to a person: exchanges by kind, steps, series, and what was left."""

from __future__ import annotations

import statistics
from typing import Any, Dict, List, Sequence, Tuple

from longhaul.observed.taken import counted, listed


def words_of(document: Dict[str, Any]) -> str:
    lines: List[str] = []
    for one in document["files"]:
        rank = f", rank {one['rank']}" if "rank" in one else ""
        lines.append(f"{one['file']} ({one['format']}{rank})")
        lines += [f"  took {words}" for words in one["took"]] + [f"  left {words}" for words in one["left"]]
    lines += _exchanges(document["exchanges"]) + _steps(document)
    if document["series"]:
        lines += ["", "series: " + listed(f"{one['name']} ({len(one['points'])})" for one in document["series"])]
    if document["notes"]:
        lines += ["", *(f"note: {words}" for words in document["notes"])]
    return "\n".join(lines)


def _exchanges(exchanges: List[Dict[str, Any]]) -> List[str]:
    kinds: Dict[Tuple[Any, ...], List[Dict[str, Any]]] = {}
    for one in exchanges:
        kinds.setdefault(
            (one["operation"], one.get("operations", 1), one.get("bytes", -1), one.get("members", 0), one["includes_wait"]), []
        ).append(one)
    if not kinds:
        return []
    rows = [("exchange", "bytes", "ranks", "count", "median", "range", "")]
    for (operation, operations, size, members, includes_wait), same in sorted(
        kinds.items(), key=lambda item: (item[0][0], item[0][1:])
    ):
        times = [one["seconds"] for one in same]
        rows.append(
            (
                operation if operations == 1 else f"{operation}, {operations} in a burst",
                f"{size:,}" if size >= 0 else "unknown" if operation != "barrier" else "",
                str(members or "?"),
                str(sum(one["count"] for one in same)),
                duration(statistics.median(times)),
                _range(times),
                "with waits" if includes_wait else "",
            )
        )
    return ["", *_table(rows)]


def _steps(document: Dict[str, Any]) -> List[str]:
    kinds: Dict[Tuple[Any, ...], List[float]] = {}
    for one in document["steps"]:
        kinds.setdefault((one.get("rank"), one["from"]), []).append(one["seconds"])
    rows = [("steps", "count", "median", "range", "from")]
    for (rank, source), times in kinds.items():
        rows.append(
            ("" if rank is None else f"rank {rank}", str(len(times)), duration(statistics.median(times)), _range(times), source)
        )
    lines = ["", *_table(rows)] if kinds else []
    reasons: Dict[str, int] = {}
    for one in document["steps_left"]:
        reasons[one["why"]] = reasons.get(one["why"], 0) + 1
    if reasons:
        lines += [f"left out: {counted(count, 'step')}, {why}" for why, count in reasons.items()]
    return lines


def duration(seconds: float) -> str:
    """Three figures, in the unit that shows them."""
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if seconds * factor >= 0.9995:  # 1 ms, not 1e+03 us
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def _range(times: List[float]) -> str:
    return f"{duration(min(times))} to {duration(max(times))}" if len(times) > 1 else ""


def _table(rows: Sequence[Tuple[str, ...]]) -> List[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
