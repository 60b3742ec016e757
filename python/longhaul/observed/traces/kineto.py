"""The torch profiler's trace of one rank: Kineto's JSON as `export_chrome_trace` writes it (torch 2.15.0).

Taken are the works of Gloo and NCCL and the steps `ProfilerStep#N`. The rank is distributedInfo's: neither the process nor the
file's name says it. What the spans of several ranks mean together is in ranks.py.
"""

from __future__ import annotations

import re
from typing import Any, Dict, List, Optional, Tuple

from longhaul.observed.taken import Step, Taken, counted, whole
from longhaul.observed.trace import RankTrace, Span
from longhaul.observed.traces import gloo, nccl
from longhaul.observed.traces.events import Event, events_of

SOURCE = "ts and dur, us"


def is_one(document: Any) -> bool:
    return isinstance(document, dict) and isinstance(document.get("traceEvents"), list)


def read(document: Dict[str, Any], file: str) -> Taken:
    """A Taken with a trace, also where nothing was found in it: `left` says so then."""
    events = events_of(document)
    info = document.get("distributedInfo")
    info = info if isinstance(info, dict) else {}
    world = whole(info.get("world_size"))
    groups = groups_of(info.get("pg_config"), world)
    taken = Taken(file, "kineto", whole(info.get("rank")))
    of_gloo = gloo.read(events, groups)
    of_nccl = nccl.read(events, groups_of(info.get("pg_config"), world, ""), world)
    spans = of_gloo.spans + of_nccl.spans
    steps = steps_of(events)
    for span in spans + of_gloo.sends:
        span.step = next((number for number, begin, end in steps if begin <= span.begin <= end), None)
    processes = [event.process for event in events if event.name.startswith("gloo:")]
    taken.trace = RankTrace(
        file,
        taken.rank,
        world,
        str(document.get("host_name", "")),
        processes[0] if processes else None,
        groups,
        spans,
        of_gloo.sends,
        steps,
        of_gloo.untimed + of_nccl.untimed,
    )
    taken.left += of_gloo.left + of_nccl.left
    taken.notes += of_gloo.notes
    _say(taken, taken.trace, document, any(event.name.startswith("c10d::") for event in events))
    taken.steps = [_step(taken.trace, at) for at in range(len(steps))]
    return taken


def groups_of(config: Any, world: Optional[int], backend: str = "gloo") -> gloo.Groups:
    """A backend's groups of this rank in the order in which they were made, which their names count. One of all ranks may lack the list.
    backend: empty for those of all."""
    found: List[Tuple[str, Tuple[int, ...]]] = []
    for one in config if isinstance(config, list) else ():
        if not isinstance(one, dict) or backend not in str(one.get("backend_config") or backend):
            continue
        listed = one.get("ranks")
        ranks = [whole(rank) for rank in listed] if isinstance(listed, list) else []
        if not ranks and world is not None and whole(one.get("pg_size")) == world <= nccl.MOST_RANKS:
            ranks = list(range(world))
        if ranks and None not in ranks:
            found.append((str(one.get("pg_name", "")), tuple(rank for rank in ranks if rank is not None)))
    return dict(sorted(found, key=lambda one: (len(one[0]), one[0])))


def steps_of(events: List[Event]) -> List[Tuple[int, int, int]]:
    """(number, begin, end), ns. A card's copy of the annotation has a category of its own and is passed over."""
    found = []
    for event in events:
        match = re.fullmatch(r"ProfilerStep#(\d+)", event.name)
        if match and event.category == "user_annotation" and event.is_finished:
            found.append((int(match[1]), event.begin, event.end))
    return found


def _step(trace: RankTrace, at: int) -> Step:
    number, begin, end = trace.steps[at]
    inside = [span for span in trace.spans + trace.sends + trace.untimed if span.begin < end and span.end > begin]
    step = Step(
        (end - begin) / 1e9, "dur of ProfilerStep#N, us", number, trace.rank, left="the first recorded" if at == 0 else ""
    )
    if inside:
        step.exchanging_s = covered(inside, begin, end) / 1e9
    return step


def covered(spans: List[Span], since: int, until: int) -> int:
    """ns between the two in which at least one of the spans is under way; they may have begun before."""
    total, reached = 0, since
    for span in sorted(spans, key=lambda one: one.begin):
        end = min(span.end, until)
        total += max(0, end - max(span.begin, reached))
        reached = max(reached, end)
    return total


def _say(taken: Taken, trace: RankTrace, document: Dict[str, Any], has_calls: bool) -> None:
    if trace.spans:
        names = sorted({span.name for span in trace.spans})
        taken.took.append(f"{counted(len(trace.spans), 'work')} ({', '.join(names)}): {SOURCE}")
        if has_calls:
            taken.left.append("c10d:: events as exchanges: they are the calls, and carry each shape a second time")
        if "baseTimeNanoseconds" not in document:
            taken.notes.append(f"{taken.file}: has no baseTimeNanoseconds; its ts are taken as us since 1970")
    if trace.sends:
        taken.took.append(
            f"{counted(len(trace.sends), 'span')} of sends and receives: {SOURCE}, where both ends are given and are blocking"
        )
    if trace.steps:
        taken.took.append(f"{counted(len(trace.steps), 'step')} (ProfilerStep#N): dur, us")
    else:
        taken.left.append("steps: there is no ProfilerStep#N; give the profiler a schedule and call its step() for them")
    if taken.rank is None and trace.spans:
        taken.notes.append(f"{taken.file}: has no rank in distributedInfo, so it is not joined with other ranks")
    if not trace.spans and not trace.sends:
        taken.left.append("exchanges: there is no finished one")
