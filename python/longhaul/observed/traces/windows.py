"""Which traces are of one window: of different ranks of one run, recorded at the same time."""

from __future__ import annotations

from typing import Dict, List, Optional

from longhaul.observed.trace import RankTrace, on_one_clock


def windows_of(traces: List[RankTrace]) -> List[List[RankTrace]]:
    """Each with the ranks in their order. A trace without a rank, or without anything in it, is in none."""
    usable = [trace for trace in traces if trace.rank is not None and (trace.spans or trace.sends or trace.steps)]
    windows: List[List[RankTrace]] = []
    for trace in sorted(usable, key=lambda one: one.begin):
        home = next((window for window in windows if all(_go_together(trace, other) for other in window)), None)
        if home is None:
            windows.append([trace])
        else:
            home.append(trace)
    windows = _of_clocks_that_differ(windows)
    for window in windows:
        window.sort(key=lambda trace: trace.rank or 0)
    return windows


def _go_together(one: RankTrace, other: RankTrace) -> bool:
    overlap = min(one.end, other.end) - max(one.begin, other.begin)
    is_same_time = overlap > 0 and (on_one_clock([one, other]) or _may_be_of_one(one, other))
    return one.rank != other.rank and one.world == other.world and is_same_time


def _may_be_of_one(one: RankTrace, other: RankTrace) -> bool:
    """Whether their steps have a number in common, as those of one window do, whatever the clocks say."""
    numbers, others = ({number for number, _, _ in trace.steps} for trace in (one, other))
    return not numbers or not others or bool(numbers & others)


def _of_clocks_that_differ(windows: List[List[RankTrace]]) -> List[List[RankTrace]]:
    """Of hosts whose clocks are further apart than a window is long: the first traces of all ranks are one window, the second ones the
    next. Only where the files are those of all ranks, as many of each, and no window holds all ranks already."""
    traces = [trace for window in windows for trace in window]
    of_ranks: Dict[Optional[int], List[RankTrace]] = {}
    for trace in sorted(traces, key=lambda one: one.begin):
        of_ranks.setdefault(trace.rank, []).append(trace)
    worlds = {trace.world for trace in traces}
    counts = {len(of_rank) for of_rank in of_ranks.values()}
    if len(counts) != 1 or worlds != {len(of_ranks)} or on_one_clock(traces):
        return windows
    if any(len(window) == len(of_ranks) for window in windows):
        return windows
    found = [list(window) for window in zip(*of_ranks.values())]
    if not all(_may_be_of_one(window[0], other) for window in found for other in window[1:]):
        return windows
    return found
