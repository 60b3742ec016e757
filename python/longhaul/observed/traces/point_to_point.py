"""Sends of one window: each joined with its receive, if their spans can be the time of the transfer.

`gloo:send` and `gloo:recv` end when wait() returns, so the span of an isend holds what the program did before. Only blocking ones
can be timed: both ends at about the same time, and nothing else begun by their threads meanwhile.
"""

from __future__ import annotations

from typing import Dict, Hashable, List, NamedTuple, Optional, Tuple

from longhaul.observed.trace import RankTrace, Span

TOGETHER_NS = 500_000  # both ends; or half the time of the transfer
WHY = "gloo:send and gloo:recv end when wait() returns"


class Sent(NamedTuple):
    sender: int
    receiver: int
    send: Span
    receive: Span

    @property
    def begin(self) -> int:
        return max(self.send.begin, self.receive.begin)

    @property
    def end(self) -> int:
        return max(self.send.end, self.receive.end)

    @property
    def is_blocking(self) -> bool:
        apart = abs(self.send.end - self.receive.end)
        overlap = min(self.send.end, self.receive.end) > self.begin
        return (
            overlap
            and apart <= max(TOGETHER_NS, (self.end - self.begin) // 2)
            and not self.send.is_busy
            and not self.receive.is_busy
        )


def sends_of(window: List[RankTrace]) -> Tuple[List[Sent], List[str]]:
    """The blocking ones, by their begins; and what was left, in words."""
    of_pairs: Dict[Hashable, Tuple[List[Span], List[Span]]] = {}
    ends: Dict[Hashable, Tuple[int, int]] = {}
    alone = total = 0
    for trace in window:
        for span in trace.sends:
            total += 1
            other = _other(trace, span)
            if trace.rank is None or other is None:
                alone += 1
                continue
            is_send = span.name == "gloo:send"
            pair = (trace.rank, other) if is_send else (other, trace.rank)
            key = (*pair, span.shapes, span.types)
            ends[key] = pair
            of_pairs.setdefault(key, ([], []))[0 if is_send else 1].append(span)
    sent: List[Sent] = []
    not_blocking = 0
    for pair_key, (sends, receives) in of_pairs.items():
        if len(sends) != len(receives):
            alone += len(sends) + len(receives)
            continue
        for send, receive in zip(sends, receives):
            one = Sent(*ends[pair_key], send, receive)
            if one.is_blocking:
                sent.append(one)
            else:
                not_blocking += 1
    left = []
    if alone:
        left.append(
            f"{alone} of {total} spans of sends and receives without the other end: {WHY}, so one end alone gives no time"
        )
    if not_blocking:
        left.append(
            f"{not_blocking} sends whose two ends are apart, or whose threads did something else meanwhile: {WHY}, so an isend or irecv cannot be timed"
        )
    return sorted(sent, key=lambda one: one.begin), left


def _other(trace: RankTrace, span: Span) -> Optional[int]:
    """The peer's rank in the world; the call has its number in the group, which is known where all groups are alike."""
    if trace.world == 2 and trace.rank in (0, 1):
        return 1 - trace.rank
    members = set(trace.groups.values())
    if span.peer is None or len(members) != 1:
        return None
    ranks = next(iter(members))
    return ranks[span.peer] if 0 <= span.peer < len(ranks) else None
