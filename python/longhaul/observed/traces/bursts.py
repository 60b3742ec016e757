"""Exchanges that were under way together: joined to one burst, because the single times mean nothing then.

Gloo runs two works of a group at a time. One that is called while both threads are busy begins when one of them is free, and
the time in the queue is in no event; two at a time share the link. So the time of a burst is from the last rank's first call
to the last end.
"""

from __future__ import annotations

from typing import Callable, Dict, List, NamedTuple, Optional

from longhaul.observed.trace import RankTrace, Span
from longhaul.observed.traces.ranks import Joined

AT_ONCE_NS = 200_000  # a thread takes the next work of its queue within this
NEIGHBOURS = 16  # begun before: more than the threads of all groups that are busy at once
SHARED = 0.1  # of the shorter one: less than this beside another changes no time that matters


class Burst(NamedTuple):
    """One exchange, or several of one kind. is_shared: it ran beside exchanges of another kind, or with other members."""

    parts: List[Joined]
    is_shared: bool

    @property
    def begin(self) -> int:
        """The last rank's first call, ns; of a single exchange the last begin."""
        if len(self.parts) == 1:
            return self.parts[0].begin
        return max(min(part.spans[rank].joined for part in self.parts) for rank in self.parts[0].spans)

    @property
    def end(self) -> int:
        return max(part.end for part in self.parts)

    @property
    def least_span(self) -> int:
        """ns of the rank whose time in it is the shortest, which no clock of another rank changes."""
        if len(self.parts) == 1:
            return self.parts[0].least_span
        return min(
            max(part.spans[rank].end for part in self.parts) - min(part.spans[rank].joined for part in self.parts)
            for rank in self.parts[0].spans
        )


def bursts_of(joined: List[Joined], window: List[RankTrace]) -> List[Burst]:
    """`joined`, each in one burst, by their begins."""
    queued_since = _queue_of(window)
    since = [queued_since(max(one.spans.values(), key=lambda span: span.joined)) for one in joined]
    queued = [moment is not None for moment in since]
    starts = [one.begin if moment is None else moment for one, moment in zip(joined, since)]
    order = sorted((at for at in range(len(joined)) if joined[at].first.operation != "barrier"), key=lambda at: starts[at])
    parent = list(range(len(joined)))

    def root(at: int) -> int:
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    under_way: List[int] = []
    for at in order:
        under_way = [other for other in under_way if joined[other].end > starts[at]]
        for other in under_way:
            if not joined[at].spans.keys() & joined[other].spans.keys():
                continue  # of other ranks
            overlap = min(joined[at].end, joined[other].end) - starts[at]
            shorter = min(joined[one].end - starts[one] for one in (at, other))
            is_known = joined[at].is_whole and joined[other].is_whole  # else a span may be a wait alone
            if queued[at] or queued[other] or is_known and overlap > SHARED * shorter:
                parent[root(at)] = root(other)
        under_way.append(at)
    together: Dict[int, List[Joined]] = {}
    for at, one in enumerate(joined):
        together.setdefault(root(at), []).append(one)
    return sorted((burst for parts in together.values() for burst in _of_one_kind(parts)), key=lambda burst: burst.begin)


def _of_one_kind(parts: List[Joined]) -> List[Burst]:
    kinds = {(one.first.name, one.members, tuple(sorted(one.spans)), one.bytes is None) for one in parts}
    if len(kinds) == 1:
        return [Burst(parts, False)]
    return [Burst([one], True) for one in parts]


def _queue_of(window: List[RankTrace]) -> Callable[[Span], Optional[int]]:
    """Since when a span was in the queue: since its call, or at least since the end of what its thread did before. None: it was not."""
    before: Dict[int, Span] = {}
    beside: Dict[int, List[Span]] = {}  # of a span whose call is not known: those that began shortly before it
    for trace in window:
        last: Dict[int, Span] = {}
        ordered = sorted((span for span in trace.spans if span.library == "gloo"), key=lambda one: one.begin)
        for at, span in enumerate(ordered):
            if span.thread in last:
                before[id(span)] = last[span.thread]
            last[span.thread] = span
            if span.call is None:
                beside[id(span)] = ordered[max(0, at - NEIGHBOURS) : at]

    def queued_since(span: Span) -> Optional[int]:
        earlier = before.get(id(span))
        if earlier is None:
            return None
        if span.call is not None:
            return span.call if span.call < earlier.end else None
        both_busy = any(other.thread != span.thread and other.begin < earlier.end < other.end for other in beside[id(span)])
        return earlier.end - 1 if both_busy and span.begin - earlier.end < AT_ONCE_NS else None

    return queued_since
