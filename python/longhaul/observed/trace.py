"""The trace of one rank: the spans of its exchanges and of its steps, in nanoseconds since 1970."""

from __future__ import annotations

import dataclasses
from typing import Dict, Iterable, List, Optional, Tuple

Shapes = Tuple[Tuple[int, ...], ...]  # of each tensor, its dimensions


@dataclasses.dataclass
class Span:
    """One rank's part in one exchange.

    begin, end: when this rank joined and when its work was done. call: when the program asked for it, which a queue may
    separate from `begin`; None where it is not known. bytes: None where the file has no shapes. group and members: None
    where the file does not say them; group_size: how many they are, also where the list of them is cut. peer: the other rank of
    a send. is_busy: its thread did something else meanwhile.
    """

    name: str
    operation: str
    library: str
    begin: int
    end: int
    thread: int
    shapes: Optional[Shapes] = None
    types: Tuple[str, ...] = ()
    bytes: Optional[int] = None
    function_id: int = 0
    call: Optional[int] = None
    call_name: str = ""
    group: Optional[str] = None
    members: Optional[Tuple[int, ...]] = None
    group_size: Optional[int] = None
    sequence: Optional[int] = None
    peer: Optional[int] = None
    is_busy: bool = False
    step: Optional[int] = None

    @property
    def joined(self) -> int:
        """When the program asked for it, or else when the work began."""
        return self.begin if self.call is None else self.call


@dataclasses.dataclass
class RankTrace:
    """All that one file says. rank and world: None where the file does not say them. host: empty where it does not. groups: {name:
    ranks}. untimed: spans of exchanges whose own time is not known, as of one that the window cut; with them a rank was busy."""

    file: str
    rank: Optional[int]
    world: Optional[int]
    host: str
    process: Optional[int]
    groups: Dict[str, Tuple[int, ...]]
    spans: List[Span]
    sends: List[Span]
    steps: List[Tuple[int, int, int]]  # number, begin, end
    untimed: List[Span] = dataclasses.field(default_factory=list)

    @property
    def begin(self) -> int:
        return min([span.begin for span in self.spans + self.sends] + [begin for _, begin, _ in self.steps])

    @property
    def end(self) -> int:
        return max([span.end for span in self.spans + self.sends] + [end for _, _, end in self.steps])


def on_one_clock(traces: Iterable[RankTrace]) -> bool:
    """Whether all are known to be of one host. Hosts without a name may be several."""
    hosts = {trace.host for trace in traces}
    return len(hosts) == 1 and "" not in hosts
