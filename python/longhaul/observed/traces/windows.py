"""Which traces are of one window: of different ranks of one run, recorded at the same time."""

from __future__ import annotations

from typing import List

from longhaul.observed.trace import RankTrace


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
    return one.rank != other.rank and one.world == other.world and overlap > 0


def _of_clocks_that_differ(windows: List[List[RankTrace]]) -> List[List[RankTrace]]:
    """One window, where the files are those of all ranks, each once, and do not overlap: hosts' clocks may be seconds apart."""
    traces = [trace for window in windows for trace in window]
    ranks = {trace.rank for trace in traces}
    worlds = {trace.world for trace in traces}
    hosts = {trace.host for trace in traces}
    if len(windows) > 1 and len(ranks) == len(traces) and worlds == {len(traces)} and len(hosts) > 1:
        return [traces]
    return windows
