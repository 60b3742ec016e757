"""NCCL's exchanges in a Kineto file: the kernels `nccl…` on a card's streams, which carry what they exchange in their args.

"Collective name", "dtype", "In msg nelems" (elements, not bytes), "Process Group Name", "Process Group Ranks", "Seq": the names of
torch 2.15.0, read from its source, since no card was at hand. `record_param_comms` has the same args and is the launch alone,
so its time does not count.
"""

from __future__ import annotations

import json
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from longhaul.observed.operations import bytes_of, word
from longhaul.observed.taken import whole
from longhaul.observed.trace import Span
from longhaul.observed.traces.events import Event


MOST_RANKS = 1_000_000


class Found(NamedTuple):
    spans: List[Span]
    untimed: List[Span]
    left: List[str]


def read(events: Sequence[Event], groups: Dict[str, Tuple[int, ...]], world: Optional[int]) -> Found:
    """events: of one file, by their begins. groups: of this rank, by name, for events whose own list of ranks is cut."""
    kernels = [event for event in events if event.category == "kernel" and event.name.startswith("nccl")]
    launches = [event for event in events if event.name == "record_param_comms"]
    spans: List[Span] = []
    untimed: List[Span] = []
    left: List[str] = []
    sends = nameless = 0
    for kernel in kernels:
        name = str(kernel.args.get("Collective name", ""))
        operation = word(name)
        if operation == "send" or name in ("recv", "coalesced"):
            sends += 1
            untimed.append(_span(kernel, name, operation or "send", groups, world))
        elif operation is None:
            nameless += 1
        elif kernel.is_finished:
            spans.append(_span(kernel, name, operation, groups, world))
    if launches and not kernels:
        left.append(
            f"{len(launches)} record_param_comms, which are launches alone; record ProfilerActivity.CUDA for the kernels' times"
        )
    if sends:
        left.append(
            f"{sends} NCCL kernels of sends, receives and groups of them: a kernel waits for its peer, and does not name it"
        )
    if nameless:
        left.append(f'{nameless} NCCL kernels without a "Collective name" that is known')
    return Found(spans, untimed, left)


def _span(kernel: Event, name: str, operation: str, groups: Dict[str, Tuple[int, ...]], world: Optional[int]) -> Span:
    elements, type_name = whole(kernel.args.get("In msg nelems")), str(kernel.args.get("dtype", ""))
    shapes = ((elements,),) if elements is not None and operation != "barrier" else None
    group = kernel.args.get("Process Group Name")
    size = whole(kernel.args.get("Group size"))
    members = _ranks(kernel.args.get("Process Group Ranks"))
    if members is None and size is not None:  # torch writes the first 30 ranks, then "..."
        of_config = groups.get(str(group), ())
        members = of_config if len(of_config) == size else tuple(range(size)) if size == world and size <= MOST_RANKS else None
    return Span(
        f"nccl:{name}",
        operation,
        "nccl",
        kernel.begin,
        kernel.end,
        kernel.thread,
        shapes,
        (type_name,),
        bytes_of(shapes, (type_name,)),
        group=str(group) if group is not None else None,
        members=members,
        group_size=size,
        sequence=whole(kernel.args.get("Seq")),
    )


def _ranks(value: Any) -> Optional[Tuple[int, ...]]:
    """A list, or the text of one; None where it is cut short ("...") or missing."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return None
    if not isinstance(value, list) or not value:
        return None
    ranks = [whole(one) for one in value]
    return None if None in ranks else tuple(rank for rank in ranks if rank is not None)
