"""What DDP's `_get_ddp_logging_data()` returned, written as JSON (torch 2.15.0): times in nanoseconds, sizes of buckets as text."""

from __future__ import annotations

import re
from typing import Any, Dict, List

from longhaul.observed.taken import Exchange, Point, Series, Taken, finite, whole

TIMES = (
    "avg_forward_compute_time",
    "avg_backward_compute_time",
    "avg_backward_comm_time",
    "avg_backward_compute_comm_overlap_time",
)


def is_one(document: Any) -> bool:
    return (
        isinstance(document, dict)
        and "avg_backward_comm_time" in document
        and ("bucket_sizes" in document or "world_size" in document)
    )


def read(document: Dict[str, Any], file: str) -> Taken:
    taken = Taken(file, "ddp_logging", whole(document.get("rank")))
    step = whole(document.get("iteration"))
    for key in TIMES:
        nanoseconds = finite(document.get(key))
        if nanoseconds is not None and nanoseconds > 0:
            taken.series.append(Series(f"ddp.{key}_s", [Point(nanoseconds / 1e9, step)]))
    buckets = bucket_sizes(document.get("rebuilt_bucket_sizes")) or bucket_sizes(document.get("bucket_sizes"))
    took = finite(document.get("avg_backward_comm_time"))
    if took is not None and took > 0 and buckets:
        taken.exchanges.append(
            Exchange(
                "all-reduce",
                took / 1e9,
                "avg_backward_comm_time, ns; rebuilt_bucket_sizes, else bucket_sizes, bytes",
                True,
                str(document.get("backend_name", "")),
                sum(buckets),
                whole(document.get("world_size")),
                operations=len(buckets) if len(buckets) > 1 else None,
                parts=buckets if len(buckets) > 1 else None,
                ranks=[taken.rank] if taken.rank is not None else None,
                why="from the first bucket's start to the last one's end, with the computing and the waits for late ranks in between",
            )
        )
    if taken.series:
        taken.took.append(
            "averages of DDP's times: ns, written as s" + ("; its buckets as one burst" if taken.exchanges else "")
        )
    taken.left.append("steps: forward and backward are not a whole step")
    if not taken.series:
        taken.left.append("times: all are 0 or missing; DDP fills them at some iterations alone, so call it later")
    return taken


def bucket_sizes(value: Any) -> List[int]:
    """Bytes of "8388608, 8388608", or of a list."""
    if isinstance(value, list):
        return [size for size in map(whole, value) if size is not None]
    return [int(one) for one in re.findall(r"\d+", value)] if isinstance(value, str) else []
