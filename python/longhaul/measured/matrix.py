"""The matrix of sites: of all that the files say of a pair, what counts."""
from __future__ import annotations

import glob
import itertools
import os
import pathlib
import statistics
from typing import Callable, Dict, Iterable, List, NamedTuple, Optional, Tuple

from ..errors import InputError
from .formats import read
from .measurement import Measured, Pair, Sites, megabits

Warn = Callable[[str], None]
ENDINGS = (".json", ".txt", ".csv", ".tsv", ".log", ".out", ".jsonl", ".gz")
APART = 1.2  # a ratio that a reader should know


class Way(NamedTuple):
    """The median of one direction with one number of streams."""
    sender: Optional[str]
    streams: int
    together: float
    of: Tuple[Measured, ...]

    @property
    def throughput(self) -> float:
        return self.together / max(1, self.streams)

    def files(self) -> str:
        return ", ".join(dict.fromkeys(one.file for one in self.of))


def all_files(files: Iterable[str]) -> List[str]:
    """Folders and patterns resolved, in the order of names."""
    found: List[str] = []
    for file in map(str, files):
        if os.path.isdir(file):
            inside = sorted(str(path) for path in pathlib.Path(file).rglob("*") if path.is_file() and path.suffix.lower() in ENDINGS
                            and not path.name.startswith("."))
            if not inside:
                raise InputError(f"{file}: is a folder without measurements; allowed: files whose names end in {', '.join(ENDINGS)}")
            found += inside
        elif not os.path.exists(file) and glob.has_magic(file):
            matching = sorted(glob.glob(file, recursive=True))
            if not matching:
                raise InputError(f"{file}: matches no file")
            found += matching
        else:
            found.append(file)
    return list(dict.fromkeys(found))


def once(measured: List[Measured]) -> List[Measured]:
    """Without the second file of a test whose client and server both wrote one: the one with the receiver's figure stays."""
    best: Dict[Tuple[str, Optional[str], float], Measured] = {}
    for one in measured:
        key = (one.test, one.sender, 0.) if one.test and one.together else ("", None, float(len(best)))
        if key not in best or (best[key].as_sent and not one.as_sent):
            best[key] = one if key not in best or one.rtt_s else one._replace(rtt_s=best[key].rtt_s)
    return list(best.values())


def ways_of(measured: List[Measured]) -> List[Way]:
    grouped: Dict[Tuple[Optional[str], int], List[Measured]] = {}
    for one in measured:
        grouped.setdefault((one.sender, one.streams), []).append(one)
    return [Way(sender, streams, statistics.median(one.together or 0. for one in of), tuple(of)) for (sender, streams), of in grouped.items()]


def say_repeats(between: str, ways: List[Way], warn: Warn) -> None:
    for way in ways:
        rates = sorted(one.together or 0. for one in way.of)
        if len(rates) > 1 and rates[-1] > APART * rates[0]:
            warn(f"{between}: {len(rates)} tests{f' from {way.sender}' if way.sender else ''} carried {megabits(rates[0])} to "
                 f"{megabits(rates[-1])} Mb/s; the median, {megabits(way.together)}, is taken")


def say_ways(between: str, slowest: Way, fastest: Way, warn: Warn) -> None:
    both = next((one for one in slowest.of if one.both_ways and any(other.file == one.file for other in fastest.of)), None)
    if both and slowest.sender != fastest.sender:
        warn(f"{between}: {megabits(slowest.throughput)} Mb/s from {slowest.sender} and {megabits(fastest.throughput)} from "
             f"{fastest.sender}, at the same time ({both.file}); the slower one is taken")
    elif fastest.throughput > APART * slowest.throughput:
        warn(f"{between}: {megabits(slowest.throughput)} Mb/s in {slowest.files()}, {megabits(fastest.throughput)} in "
             f"{fastest.files()}; the slower one is taken")


def chosen(between: str, carried: List[Measured], warn: Warn) -> Way:
    """What one connection carries: of the slower direction."""
    free = [one for one in carried if not one.limit]
    if free and len(free) < len(carried):
        held = next(one for one in carried if one.limit)
        warn(f"{between}: {held.file} is left out: {held.limit}, and other tests were not")
    ways = ways_of(free or carried)
    fewest = min((way.streams for way in ways if way.streams), default=0)
    ways = [way for way in ways if way.streams == fewest]
    say_repeats(between, ways, warn)
    slowest, fastest = (pick(ways, key=lambda way: way.throughput) for pick in (min, max))
    say_ways(between, slowest, fastest, warn)
    if fewest > 1:
        warn(f"{between}: {fewest} streams carried {megabits(slowest.together)} Mb/s together, "
             "and several count no more; what one carries alone is not known: measure it too, without -P")
    if fewest == 0:
        warn(f"{between}: NCCL's connections carried {megabits(slowest.throughput)} Mb/s together, and it does not say how many "
             "they are; more carry no more: give it to the sites as their rate, or connections of 1")
    if not free:
        warn(f"{between}: {slowest.of[0].limit} in {slowest.of[0].file}: the path may carry more; measure without it")
    return slowest


def as_json(way: Way) -> dict:
    return {**({"from": way.sender} if way.sender else {}), "connections": way.streams, "throughput": f"{way.together / 1e6:.6g}Mbps"}


def pair_of(pair: Tuple[str, str], of: List[Measured], known_rtt: Optional[str], known_throughput: Optional[str], warn: Warn) -> dict:
    between = " and ".join(pair)
    carried = [one for one in of if one.together]
    quiet = [one.rtt_s for one in of if one.rtt_s and not one.is_loaded]
    loaded = [one.rtt_s for one in of if one.rtt_s and one.is_loaded]
    if not carried and not known_throughput:
        raise InputError(f"nothing says what a connection between {between} carries; give an iperf3 --json, or nccl-tests (with round trips "
                         "alone --throughput, or `paths` in a plan)")
    if not quiet and not loaded and not known_rtt:
        raise InputError(f"nothing says the round trip between {between}; give ping's output as {'-'.join(pair)}.txt")
    throughput = f"{chosen(between, carried, warn).throughput / 1e6:.6g}Mbps" if carried else known_throughput
    rtt = known_rtt if known_rtt and not quiet else f"{min(quiet or loaded) * 1e3:.6g}ms"
    ways = ways_of([one for one in carried if one.streams and not one.limit])
    return {"between": list(pair), "rtt": rtt, "throughput": throughput,
            **({"measured": [as_json(way) for way in sorted(ways, key=lambda way: (way.streams, way.sender or ""))]} if ways else {})}


def say_loaded(measured: List[Measured], pairs: List[dict], known_rtts: Dict[Pair, str], warn: Warn) -> None:
    """One sentence for all pairs whose round trip iperf3 measured."""
    quiet = {one.pair for one in measured if one.rtt_s and not one.is_loaded} | set(known_rtts)
    loaded = [" and ".join(pair["between"]) for pair in pairs if frozenset(pair["between"]) not in quiet]
    if len(loaded) == 1:
        warn(f"{loaded[0]}: the round trip is iperf3's, beside its own load; ping -c 20 has it without queues")
    elif loaded:
        warn(f"{', '.join(loaded)}: the round trips are iperf3's, beside its own load; ping -c 20 has them without queues")


def matrix_of(files: Iterable[str], sites: Dict[str, List[str]], inside: Dict[str, str], warn: Optional[Warn] = None,
              known_rtts: Optional[Dict[Pair, str]] = None, known_throughput: Optional[str] = None) -> dict:
    """The matrix; `warn` is called with a sentence for each thing that a reader should know. `known_rtts` count where no
    ping, nor a table, has a round trip, `known_throughput` where no test ran."""
    warn = warn or (lambda sentence: None)
    known_rtts = known_rtts or {}
    hosts = Sites(sites)
    all_measured = once([one for file in all_files(files) for one in read(file, hosts)])
    for sentence in dict.fromkeys(note for one in all_measured for note in one.notes):
        warn(sentence)
    pairs = [pair_of(pair, [one for one in all_measured if one.pair == frozenset(pair)], known_rtts.get(frozenset(pair)),
                     known_throughput, warn) for pair in itertools.combinations(sites, 2)]
    say_loaded(all_measured, pairs, known_rtts, warn)
    return {"about": f"{len(sites)} sites, measured", "source": "measured: " + ", ".join(
        dict.fromkeys(pathlib.Path(one.file).name for one in all_measured)), "sites": list(sites), "inside": inside, "pairs": pairs}
