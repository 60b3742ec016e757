"""The exchanges of one window: the spans of several ranks joined.

A span begins when its rank joins, so the spans of one exchange differ, and the early ones hold the wait for the late rank. The
time on the wire is last end - last begin. Spans are matched by group, name, shapes and position: the order of one group's
exchanges is the order of the calls on every rank.
"""

from __future__ import annotations

import dataclasses
from typing import Dict, Hashable, Iterable, List, Optional, Set, Tuple

from longhaul.observed.trace import RankTrace, Span, on_one_clock

# All ranks of these end after all have begun; an end before is a clock that differs.
SYMMETRIC = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "barrier")
SHAPELESS = ("barrier", "scatter")  # a barrier has none, and in a scatter only the root's event has
UNEVEN = ("all-gather", "gather", "all-to-all")  # where a rank's part may differ from another's
CLOCK_TOLERANCE_NS = 50_000  # clocks of one host agree to some 10 us


@dataclasses.dataclass
class Joined:
    """The spans of one exchange by rank. members: None where the file does not say them."""

    spans: Dict[int, Span]
    members: Optional[Tuple[int, ...]]

    @property
    def first(self) -> Span:
        return self.spans[min(self.spans)]

    @property
    def is_whole(self) -> bool:
        """Whether the span of every member is known, so that the wait can be told from the wire."""
        return self.members is not None and set(self.members) <= self.spans.keys()

    @property
    def begin(self) -> int:
        """When the last rank joined, ns."""
        return max(span.begin for span in self.spans.values())

    @property
    def end(self) -> int:
        return max(span.end for span in self.spans.values())

    @property
    def least_span(self) -> int:
        return min(span.end - span.begin for span in self.spans.values())

    @property
    def clocks_differ_by(self) -> int:
        """ns by which a rank ended before another began that it needs, which no clock of one host shows. 0: they agree.

        In a broadcast and its like the last to begin needs one other rank, which with Gloo waits for it.
        """
        last = max(self.spans.values(), key=lambda span: span.begin)
        others = [span.end for span in self.spans.values() if span is not last]
        if not others or last.operation not in SYMMETRIC and last.library != "gloo":
            return 0
        apart = last.begin - (min(others) if last.operation in SYMMETRIC else max(others))
        return apart if apart > CLOCK_TOLERANCE_NS else 0

    @property
    def ranks_apart(self) -> Set[Tuple[int, int]]:
        """Pairs of ranks whose clocks differ, as this exchange shows."""
        if not self.clocks_differ_by:
            return set()
        last = max(self.spans, key=lambda rank: self.spans[rank].begin)
        early = [rank for rank, span in self.spans.items() if rank != last and span.end < self.spans[last].begin]
        return {(min(rank, last), max(rank, last)) for rank in early}

    @property
    def bytes(self) -> Optional[int]:
        """Of the rank that hands in most: in a scatter only the root does, and parts may differ."""
        known = [span.bytes for span in self.spans.values() if span.bytes is not None]
        return max(known) if known else None


def join(window: List[RankTrace]) -> Tuple[List[Joined], List[str]]:
    """In the order of their begins; and what could not be joined, in words."""
    recorded = {trace.rank for trace in window if trace.rank is not None}
    one_clock = on_one_clock(window)
    some_lack_shapes = any(span.shapes is None for trace in window for span in trace.spans if span.operation not in SHAPELESS)
    by_key: Dict[Hashable, Dict[int, List[Span]]] = {}
    joined: List[Joined] = []
    for trace in window:
        assert trace.rank is not None
        for span in trace.spans:
            if span.members is None or trace.rank not in span.members:
                joined.append(Joined({trace.rank: span}, None))
            else:
                by_key.setdefault(_key(span, True), {}).setdefault(trace.rank, []).append(span)
    notes = []
    cut = sum(one.first.group_size is not None for one in joined)
    if len(joined) > cut and len(window) > 1:
        notes.append(
            f"{len(joined) - cut} spans are of groups that the files do not tell apart, so they are not joined: their times hold waits"
        )
    if cut and len(window) > 1:
        notes.append(
            f'{cut} spans are of groups whose ranks the files do not list all ("..."), so they are not joined: their times hold waits'
        )
    rest: Dict[Hashable, Dict[int, List[Span]]] = {}
    over: Dict[str, Dict[int, Tuple[int, int]]] = {}  # spans of a rank, and how many of them are left
    for of_ranks in by_key.values():
        if not _zip(of_ranks, recorded, joined, one_clock):
            for rank, spans in of_ranks.items():
                for span in spans:
                    by_shape = not some_lack_shapes and span.operation not in UNEVEN
                    rest.setdefault(_key(span, by_shape), {}).setdefault(rank, []).append(span)
    for of_ranks in rest.values():
        if not _zip(of_ranks, recorded, joined, one_clock):
            kept = _zip_by_step(of_ranks, recorded, joined, one_clock)
            for rank, spans in of_ranks.items():
                kind = over.setdefault(_kind(spans[0]), {})
                had, left = kind.get(rank, (0, 0))
                kind[rank] = had + len(spans), left + sum(id(span) not in kept for span in spans)
    return sorted(joined, key=lambda one: one.begin), notes + [
        _over(kind, counts) for kind, counts in over.items() if any(left for _, left in counts.values())
    ]


def _key(span: Span, with_shapes: bool) -> Hashable:
    shapes: Hashable = (span.shapes, span.types) if with_shapes and span.operation not in SHAPELESS else None
    return span.group, span.members, span.name, span.sequence, shapes


def _zip(of_ranks: Dict[int, List[Span]], recorded: Iterable[Optional[int]], joined: List[Joined], one_clock: bool) -> bool:
    """Joins the k-th of each rank, if every recorded member has as many. With one clock each has to begin before any of its ranks ends:
    else the windows began at different exchanges."""
    members = next(iter(of_ranks.values()))[0].members or ()
    if set(of_ranks) != set(members) & set(recorded) or len({len(spans) for spans in of_ranks.values()}) != 1:
        return False
    ordered = {rank: sorted(spans, key=lambda span: span.begin) for rank, spans in of_ranks.items()}
    found = [
        Joined({rank: spans[at] for rank, spans in ordered.items()}, members) for at in range(len(next(iter(ordered.values()))))
    ]
    if one_clock and any(one.clocks_differ_by for one in found):
        return False
    joined += found
    return True


def _zip_by_step(
    of_ranks: Dict[int, List[Span]], recorded: Iterable[Optional[int]], joined: List[Joined], one_clock: bool
) -> Set[int]:
    """The same within each step that all ranks recorded. Returns the id() of each span that was joined."""
    recorded, kept = list(recorded), set()
    steps = {span.step for spans in of_ranks.values() for span in spans if span.step is not None}
    for step in sorted(steps):
        inside = {rank: [span for span in spans if span.step == step] for rank, spans in of_ranks.items()}
        if all(inside.values()) and _zip(inside, recorded, joined, one_clock):
            kept |= {id(span) for spans in inside.values() for span in spans}
    return kept


def _kind(span: Span) -> str:
    """Its name, its tensors and its group, so that what is left of two kinds is said of each."""
    shapes = " of " + ", ".join("x".join(map(str, one)) or "one number" for one in span.shapes) if span.shapes else ""
    return span.name + shapes + (f", group {span.group}" if span.group is not None else "")


def _over(kind: str, counts: Dict[int, Tuple[int, int]]) -> str:
    of_ranks = ", ".join(f"{had} on rank {rank}" for rank, (had, _) in sorted(counts.items()))
    left = sum(left for _, left in counts.values())
    return (
        f"{kind}: {of_ranks}: the traces do not hold the same exchanges, so {left} of these spans are left out; record the same steps "
        "on all ranks"
    )
