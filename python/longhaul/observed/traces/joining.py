"""The exchanges of all traces: windows, ranks, bursts and sends put together, with what a person should know of them."""

from __future__ import annotations

from typing import Dict, List, Tuple

from longhaul.observed.taken import Exchange
from longhaul.observed.trace import RankTrace
from longhaul.observed.traces import bursts, point_to_point, ranks, windows
from longhaul.observed.traces.kineto import SOURCE

ALONE = (
    "includes_wait: of these exchanges not every rank's trace was given, so a span is the time on the wire and the wait for the "
    "slowest rank together, an upper bound of the first; give the trace of every rank"
)


def exchanges_of(traces: List[RankTrace]) -> Tuple[List[Exchange], List[str], Dict[str, List[str]]]:
    """All exchanges; notes; and what was left, by file."""
    found: List[Exchange] = []
    notes: List[str] = []
    left: Dict[str, List[str]] = {}
    grouped = windows.windows_of(traces)
    for window in grouped:
        of_window, words = _of_window(window, left)
        found += of_window
        notes += words
    for trace in traces:
        if trace.rank is None:
            found += [_exchange(bursts.Burst([ranks.Joined({-1: span}, None)], False)) for span in trace.spans]
            _leave(left, [trace], point_to_point.sends_of([trace])[1])
    if any(one.includes_wait and not one.why for one in found):
        notes.append(ALONE)
    sizeless = [one for one in found if one.bytes is None and one.operation != "barrier"]
    if sizeless:
        notes.append(
            f"{len(sizeless)} exchanges have no size: the trace has no shapes, or a type that is not known; "
            "record with record_shapes=True, or give the Chakra execution trace of the same window with it"
        )
    return found, list(dict.fromkeys(notes)), left


def _of_window(window: List[RankTrace], left: Dict[str, List[str]]) -> Tuple[List[Exchange], List[str]]:
    joined, notes = ranks.join(window)
    found = [_exchange(burst) for burst in bursts.bursts_of(joined, window)]
    sent, words = point_to_point.sends_of(window)
    _leave(left, window, words)
    found += [_send(one) for one in sent]
    hosts = {trace.host for trace in window}
    apart = max((one.clocks_differ_by for one in joined), default=0)
    if apart:
        notes.append(
            f"clocks differ by at least {apart / 1e6:.3g} ms between the ranks of a window: where a rank ended before another "
            "began, the least span is taken"
        )
    elif len(window) > 1 and len(hosts) > 1:
        notes.append(
            "ranks of several hosts are joined by their clocks: times are as exact as those agree; least_span_s does not depend on them"
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
    return sorted(found, key=lambda one: one.time_s or 0), notes


def _leave(left: Dict[str, List[str]], window: List[RankTrace], words: List[str]) -> None:
    """Says it once, of the first file that has sends."""
    if words:
        file = next((trace.file for trace in window if trace.sends), window[0].file)
        left.setdefault(file, []).extend(words)


def _exchange(burst: bursts.Burst) -> Exchange:
    parts, first = burst.parts, burst.parts[0]
    known = sorted(rank for rank in first.spans if rank >= 0)
    begin = burst.begin
    clocks = any(part.clocks_differ_by for part in parts)
    is_whole = all(part.is_whole for part in parts)
    nanoseconds = first.least_span if clocks and len(parts) == 1 else burst.end - begin
    sizes = [part.bytes for part in parts if part.bytes is not None]
    span = first.first
    one = Exchange(
        span.operation,
        nanoseconds / 1e9,
        f"{SOURCE}, of {span.name}",
        not is_whole or burst.is_shared or clocks and len(parts) > 1,
        span.library,
        sum(sizes) if len(sizes) == len(parts) else None,
        len(first.members) if first.members else None,
        1,
        step=span.step,
        ranks=known,
        group=span.group,
        call=span.call_name,
        time_s=begin / 1e9,
    )
    if len(parts) > 1:
        one.operations, one.parts = len(parts), sizes if one.bytes is not None else None
        one.source += "; from the last rank's first call to the last end"
    elif len(first.spans) > 1:
        one.least_span_s = first.least_span / 1e9
    if len(known) > 1 and not clocks:
        starts = [
            min(part.spans[rank].joined if len(parts) > 1 else part.spans[rank].begin for part in parts) for rank in known
        ]
        one.waits_s = [(begin - start) / 1e9 for start in starts]
    if burst.is_shared:
        one.why = "it ran beside exchanges of another kind on the same link"
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
