"""Gloo's exchanges in a Kineto file: the works `gloo:NAME`, each once, with the calls that began them and their groups.

A work is a span of one of the two threads that each group has; a call is `c10d::NAME` on the thread of the program, and carries
the same shape a second time. The file does not say which call began which work, nor of which group a work is: calls and works
of one name have the same order, and the two threads of a group have neighbouring numbers (torch 2.15.0 on Linux).
"""

from __future__ import annotations

import bisect
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from longhaul.observed.operations import bytes_of
from longhaul.observed.taken import counted, listed, whole
from longhaul.observed.trace import Span
from longhaul.observed.traces.events import Event, shapes_of

Groups = Dict[str, Tuple[int, ...]]

OPERATIONS = {
    "gloo:all_reduce": "all-reduce",
    "gloo:all_gather": "all-gather",
    "gloo:reduce_scatter": "reduce-scatter",
    "gloo:broadcast": "broadcast",
    "gloo:reduce": "reduce",
    "gloo:gather": "gather",
    "gloo:scatter": "scatter",
    "gloo:all_to_all": "all-to-all",
    "gloo:barrier": "barrier",
}
SENDS = {"gloo:send": "send", "gloo:recv": "send"}
CALLS = {
    "c10d::allreduce_": "gloo:all_reduce",
    "c10d::allreduce_coalesced_": "gloo:all_reduce",
    "c10d::_reduce_scatter_base_": "gloo:all_reduce",
    "c10d::reduce_scatter_": "gloo:all_reduce",
    "c10d::reduce_scatter_tensor_coalesced_": "gloo:all_reduce",
    "c10d::allgather_": "gloo:all_gather",
    "c10d::_allgather_base_": "gloo:all_gather",
    "c10d::allgather_coalesced_": "gloo:all_gather",
    "c10d::allgather_into_tensor_coalesced_": "gloo:all_gather",
    "c10d::broadcast_": "gloo:broadcast",
    "c10d::reduce_": "gloo:reduce",
    "c10d::gather_": "gloo:gather",
    "c10d::scatter_": "gloo:scatter",
    "c10d::alltoall_": "gloo:all_to_all",
    "c10d::alltoall_base_": "gloo:all_to_all",
    "c10d::barrier": "gloo:barrier",
}
SEND_CALLS = ("c10d::send", "c10d::recv_", "c10d::recv_any_source_")


class Found(NamedTuple):
    spans: List[Span]
    sends: List[Span]
    left: List[str]
    notes: List[str]
    untimed: List[Span]


def read(events: Sequence[Event], groups: Groups) -> Found:
    """events: of one file, by their begins. groups: of this rank, in the order in which they were made."""
    works = [event for event in events if event.name.startswith("gloo:")]
    if not works:
        return Found([], [], [], [], [])
    debuggers = debuggers_works(works)
    works = [event for event in works if id(event) not in debuggers]
    left: List[str] = []
    notes: List[str] = []
    if debuggers:
        left.append(f"{counted(len(debuggers), 'work')} that TORCH_DISTRIBUTED_DEBUG=DETAIL adds before each collective")
        notes.append("TORCH_DISTRIBUTED_DEBUG=DETAIL was on: it makes small all-reduces slower; record without it")
    unknown = sorted({event.name for event in works} - OPERATIONS.keys() - SENDS.keys())
    if unknown:
        left.append(f"works of names that are not known: {listed(unknown)}")
    collectives = [event for event in works if event.name in OPERATIONS]
    spans = [_span(event, OPERATIONS[event.name], call) for event, call in _with_calls(collectives, events)]
    place_in_groups(spans, groups)
    sends = _sends(works, events)
    unfinished = {id(event) for event in works if not event.is_finished}
    kept = [span for span, event in zip(spans, collectives) if id(event) not in unfinished]
    if unfinished:
        left.append(f'{counted(len(unfinished), "work")} that the end of the window cut ("finished": false)')
    empty = [span for span in kept if span.bytes == 0]
    if empty:
        left.append(f"{counted(len(empty), 'work')} without an element")
        notes.append(
            "an all_reduce of no elements was recorded: DDP with the PowerSGD hook, or another that chains futures, writes one, "
            "and the exchanges that carry its data are in no event where Gloo's own thread begins them; time steps with and without the hook"
        )
        kept = [span for span in kept if span.bytes != 0]
    return Found(kept, sends, left, notes, [span for span, event in zip(spans, collectives) if id(event) in unfinished])


def debuggers_works(works: Sequence[Event]) -> Dict[int, Event]:
    """Those of TORCH_DISTRIBUTED_DEBUG=DETAIL, by id(): sends and receives of one int, then two all_gathers of int64, the first
    of one element, the second of a few. all_gather_object has bytes second, so it is not taken for one."""
    found: Dict[int, Event] = {}
    for at in range(len(works) - 1):
        if not (
            _carries(works[at], "gloo:all_gather", "long int", 1)
            and _carries(works[at + 1], "gloo:all_gather", "long int", 16)
            and shapes_of(works[at].args.get("Input Dims")) == ((1,),)
        ):
            continue
        first = at
        while first > 0 and any(_carries(works[first - 1], name, "int", 1) for name in SENDS):
            first -= 1
        if first < at:
            found.update((id(work), work) for work in works[first : at + 2])
    return found


def _carries(work: Event, name: str, type_name: str, most: int) -> bool:
    """Whether it is of one vector of that type with 1 to `most` elements."""
    shapes = shapes_of(work.args.get("Input Dims"))
    return (
        work.name == name
        and work.args.get("Input type") == [type_name]
        and shapes is not None
        and len(shapes) == 1
        and len(shapes[0]) == 1
        and 1 <= shapes[0][0] <= most
    )


def _with_calls(works: Sequence[Event], events: Sequence[Event]) -> List[Tuple[Event, Optional[Event]]]:
    """Each work with its call, the k-th of a name with the k-th. None for a name whose numbers differ, as where the window
    began in between, or where a work would begin before its call."""
    calls: Dict[str, List[Event]] = {}
    of_name: Dict[str, List[Event]] = {}
    for event in events:
        if event.name in CALLS:
            calls.setdefault(CALLS[event.name], []).append(event)
    for work in works:
        of_name.setdefault(work.name, []).append(work)
    call_of: Dict[int, Event] = {}
    for name, same in of_name.items():
        begun = calls.get(name, [])
        if len(begun) == len(same) and all(call.begin <= work.begin for call, work in zip(begun, same)):
            call_of.update((id(work), call) for call, work in zip(begun, same))
    return [(work, call_of.get(id(work))) for work in works]


def _span(event: Event, operation: str, call: Optional[Event]) -> Span:
    shapes, types = shapes_of(event.args.get("Input Dims")), _types(event.args.get("Input type"))
    if operation == "barrier":
        shapes = None
    return Span(
        event.name,
        operation,
        "gloo",
        event.begin,
        event.end,
        event.thread,
        shapes,
        types,
        bytes_of(shapes, types),
        event.function_id,
        call.begin if call else None,
        call.name if call else "",
    )


def _types(value: Any) -> Tuple[str, ...]:
    return tuple(str(one) for one in value) if isinstance(value, list) else ()


def place_in_groups(spans: Sequence[Span], groups: Groups) -> None:
    """Sets group and members of each span, as far as the numbers of the threads say them."""
    if len(groups) == 1:
        ((name, ranks),) = groups.items()
        for span in spans:
            span.group, span.members = name, ranks
        return
    pairs = thread_pairs(sorted({span.thread for span in spans}))
    if groups and len(pairs) == len(groups):
        for threads, (name, ranks) in zip(pairs, groups.items()):
            for span in spans:
                if span.thread in threads:
                    span.group, span.members = name, ranks
    elif len(set(groups.values())) == 1:  # whichever it is, it has these members
        for span in spans:
            span.members = next(iter(groups.values()))


def thread_pairs(threads: Sequence[int]) -> List[Tuple[int, ...]]:
    """Sorted numbers in twos of neighbours; a number without a neighbour alone."""
    pairs: List[Tuple[int, ...]] = []
    for thread in threads:
        if pairs and pairs[-1][0] + 1 == thread:
            pairs[-1] += (thread,)
        else:
            pairs.append((thread,))
    return pairs


def _sends(works: Sequence[Event], events: Sequence[Event]) -> List[Span]:
    """The finished sends and receives, with the other rank as the call has it (its number in the group)."""
    sends = [work for work in works if work.name in SENDS and work.is_finished]
    if not sends:
        return []
    threads = {work.thread for work in sends}
    calls: Dict[int, List[Event]] = {}
    begins: Dict[int, List[int]] = {}
    for event in events:
        if event.thread in threads and event.category != "python_function":  # of with_stack=True: also wait() itself
            begins.setdefault(event.thread, []).append(event.begin)
            if event.name in SEND_CALLS:
                calls.setdefault(event.thread, []).append(event)
    call_begins = {thread: [call.begin for call in calls.get(thread, [])] for thread in threads}
    found = []
    for work in sends:
        span = _span(work, "send", None)
        of_thread = calls.get(work.thread, [])
        at = bisect.bisect_right(call_begins[work.thread], work.begin) - 1
        span.peer = _peer(of_thread[at]) if at >= 0 and work.begin <= of_thread[at].end else None
        own = begins[work.thread]
        span.is_busy = bisect.bisect_right(own, work.begin) < bisect.bisect_left(own, work.end)
        found.append(span)
    return found


def _peer(call: Event) -> Optional[int]:
    """The third input of c10d::send and c10d::recv_, which record_shapes=True writes."""
    inputs = call.args.get("Concrete Inputs") if call.name in ("c10d::send", "c10d::recv_") else None
    if not isinstance(inputs, list) or len(inputs) < 3:
        return None
    try:
        return whole(int(str(inputs[2])))
    except ValueError:
        return None
