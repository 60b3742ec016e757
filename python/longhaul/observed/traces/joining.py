"""The exchanges of all traces: windows, ranks, bursts and sends put together, with what a person should know of them."""

from __future__ import annotations

from collections import Counter
from typing import Dict, List, NamedTuple, Set, Tuple

from longhaul.observed.operations import size_of
from longhaul.observed.taken import Exchange, counted
from longhaul.observed.trace import RankTrace, on_one_clock
from longhaul.observed.traces import bursts, point_to_point, ranks, windows
from longhaul.observed.traces.kineto import SOURCE
from longhaul.observed.words import duration

ALONE = (
    "includes_wait: of these exchanges not every rank's trace was given, so a span is the time on the wire and the wait for the "
    "slowest rank together, an upper bound of the first; give the trace of every rank"
)
NO_MEMBERS = "the file does not say which ranks took part, so that it is joined with no other rank's span"
NO_RANK = "the file does not say its rank, so that it is joined with no other rank's span"


class _Window(NamedTuple):
    exchanges: List[Exchange]
    notes: List[str]
    lacks_ranks: bool  # not every rank's trace was given


def exchanges_of(traces: List[RankTrace]) -> Tuple[List[Exchange], List[str], Dict[str, List[str]]]:
    """All exchanges; notes; and what was left, by file."""
    left: Dict[str, List[str]] = {}
    found = [_of_window(window, left) for window in windows.windows_of(traces)]
    for trace in traces:
        if trace.rank is None:
            parts = [bursts.Burst([ranks.Joined({-1: span}, None)], False) for span in trace.spans]
            found.append(_Window([_exchange(one, set(), NO_RANK) for one in parts], _sizeless(parts), False))
            _leave(left, [trace], point_to_point.sends_of([trace])[1])
    notes = _said([note for window in found for note in window.notes])
    if any(
        window.lacks_ranks and one.includes_wait and one.why in ("", NO_MEMBERS) for window in found for one in window.exchanges
    ):
        notes.append(ALONE)
    return [one for window in found for one in window.exchanges], notes, left


def _said(notes: List[str]) -> List[str]:
    """Each once; one of several windows with how often it is true, since it may have a count."""
    return [note if count == 1 else f"{note} (in each of {count} windows)" for note, count in Counter(notes).items()]


def _of_window(window: List[RankTrace], left: Dict[str, List[str]]) -> _Window:
    joined, notes = ranks.join(window)
    apart = {pair for one in joined for pair in one.ranks_apart}
    together = bursts.bursts_of(joined, window)
    found = [_exchange(burst, apart, NO_MEMBERS) for burst in together]
    notes += _sizeless(together)
    sent, words = point_to_point.sends_of(window)
    _leave(left, window, words)
    found += [_send(one) for one in sent]
    differ = max((one.clocks_differ_by for one in joined), default=0)
    if differ:
        notes.append(
            f"clocks differ by at least {duration(differ / 1e9)} between the ranks of a window: of an exchange with ranks whose clocks "
            "differ the least span is taken"
        )
    elif len(window) > 1 and not on_one_clock(window):
        notes.append(
            "ranks of several hosts, or of hosts without a name, are joined by their clocks: times are as exact as those agree; "
            "least_span_s does not depend on them"
        )
    world = window[0].world
    if world is not None and len(window) < world:
        files = ", ".join(trace.file for trace in window[:8]) + ", ..." * (len(window) > 8)
        notes.append(f"traces of {len(window)} of {world} ranks were given ({files})")
    calls = {
        span.call_name
        for trace in window
        for span in trace.spans
        if "reduce_scatter" in span.call_name and span.operation == "all-reduce"
    }
    if calls:
        notes.append(f"over Gloo {', '.join(sorted(calls))} is an all-reduce of the whole input, and counts as that")
    return _Window(sorted(found, key=lambda one: one.time_s or 0), notes, world is None or len(window) < world)


def _sizeless(together: List[bursts.Burst]) -> List[str]:
    """Why exchanges have no size: their types are not known, or their shapes."""
    types: Dict[str, int] = {}
    shapeless = 0
    for burst in together:
        spans = [span for part in burst.parts for span in part.spans.values()]
        if spans[0].operation == "barrier" or all(part.bytes is not None for part in burst.parts):
            continue
        unknown = sorted({one for span in spans if span.shapes for one in span.types if size_of(one) is None})
        if unknown:
            names = ", ".join(map(repr, unknown))
            types[names] = types.get(names, 0) + 1
        else:
            shapeless += 1
    notes = [
        f"{counted(count, 'exchange')} without a size, of the type {names}, which is not known"
        for names, count in types.items()
    ]
    if shapeless:
        notes.append(
            f"{counted(shapeless, 'exchange')} without a size, since the trace has no shapes: record with record_shapes=True, or give the "
            "Chakra execution trace of the same window with it"
        )
    return notes


def _leave(left: Dict[str, List[str]], window: List[RankTrace], words: List[str]) -> None:
    """Says it once, of the first file that has sends."""
    if words:
        file = next((trace.file for trace in window if trace.sends), window[0].file)
        left.setdefault(file, []).extend(words)


def _exchange(burst: bursts.Burst, apart: Set[Tuple[int, int]], alone: str) -> Exchange:
    """apart: pairs of ranks whose clocks differ. alone: why a span whose members are not known is joined with no other."""
    parts, first = burst.parts, burst.parts[0]
    known = sorted(rank for rank in first.spans if rank >= 0)
    begin = burst.begin
    clocks = any(one in first.spans and other in first.spans for one, other in apart)
    is_whole = all(part.is_whole for part in parts)
    nanoseconds = burst.least_span if clocks else burst.end - begin
    sizes = [part.bytes for part in parts if part.bytes is not None]
    span = first.first
    one = Exchange(
        span.operation,
        nanoseconds / 1e9,
        f"{SOURCE}, of {span.name}",
        not is_whole or burst.is_shared or clocks and len(parts) > 1,
        span.library,
        sum(sizes) if len(sizes) == len(parts) else None,
        len(first.members) if first.members else span.group_size,
        1,
        step=span.step,
        ranks=known,
        group=span.group,
        call=span.call_name,
        time_s=begin / 1e9,
    )
    if len(parts) > 1:
        one.operations, one.parts = len(parts), sizes if one.bytes is not None else None
        one.source += (
            "; from a rank's first call to its last end, the least"
            if clocks
            else "; from the last rank's first call to the last end"
        )
    elif len(first.spans) > 1:
        one.least_span_s = first.least_span / 1e9
    if len(known) > 1 and not clocks:
        starts = [
            min(part.spans[rank].joined if len(parts) > 1 else part.spans[rank].begin for part in parts) for rank in known
        ]
        one.waits_s = [(begin - start) / 1e9 for start in starts]
    if burst.is_shared:
        one.why = "it ran beside exchanges of another kind on the same link"
    elif first.members is None:
        one.why = alone
    elif is_whole and one.includes_wait:
        one.why = "the clocks of its ranks differ"
    return one


def _send(one: point_to_point.Sent) -> Exchange:
    return Exchange(
        "send",
        (one.end - one.begin) / 1e9,
        f"{SOURCE}, of gloo:send and gloo:recv",
        False,
        "gloo",
        one.send.bytes,
        2,
        1,
        step=one.send.step,
        ranks=[one.sender, one.receiver],
        waits_s=[(one.begin - one.send.begin) / 1e9, (one.begin - one.receive.begin) / 1e9],
        time_s=one.begin / 1e9,
    )
