"""Round trips from one machine to several hosts, as ping, fping, mtr and irtt measure them: which pairs they are of."""
from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional, Tuple

from ..errors import InputError
from .measurement import Measured, Sites


class RoundTrip(NamedTuple):
    hosts: Tuple[str, ...]  # the target's names and addresses; () where the text does not say it
    seconds: float
    source: Optional[str] = None  # the host or address that sent

    def named(self) -> str:
        return self.hosts[0] if self.hosts else "a host without a name"


def shortest(round_trips: List[RoundTrip]) -> List[RoundTrip]:
    """One for each target."""
    found: Dict[Tuple[str, ...], RoundTrip] = {}
    for one in sorted(round_trips, key=lambda one: -one.seconds):
        found[one.hosts] = one
    return list(found.values())


def origin(file: str, round_trips: List[RoundTrip], reached: Dict[str, float], sites: Sites) -> Tuple[Optional[str], Tuple[str, ...]]:
    """The site of the machine that measured, and a note. Where two sites are possible, the one that is nearer to it."""
    said = {sites.of_host(one.source) for one in round_trips if one.source} - {None}
    if len(said) == 1:
        return said.pop(), ()
    single, named = sites.site_in_name(file), sites.pair_in_name(file)
    if single:
        return single, ()
    among = set(named or (sites.names if len(sites.names) == 2 else ()))
    if among and not set(reached) <= among:
        raise InputError(f"{file}: its name says {' and '.join(named or ())}, but it has round trips to {', '.join(reached)}; allowed: a "
                         f"name of the site where it ran, as {sites.names[0]}.txt")
    if among and len(reached) == 2:
        near, far = sorted(reached, key=lambda site: reached[site])
        return near, (f"{file}: the {reached[near] * 1e3:.6g} ms to {near} are taken as the machine's own, the {reached[far] * 1e3:.6g} ms "
                      f"to {far} as the path",)
    missing = (among or set(sites.names)) - set(reached)
    return (missing.pop(), ()) if len(missing) == 1 else (None, ())


def measured(file: str, round_trips: List[RoundTrip], sites: Sites) -> List[Measured]:
    """A Measured for each pair; targets that are no site's are left out where another one is."""
    targets = shortest(round_trips)
    reached: Dict[str, float] = {}
    for one in sorted(targets, key=lambda one: -one.seconds):
        site = sites.of_host(*one.hosts)
        if site:
            reached[site] = one.seconds
    if not reached:
        if len(targets) > 1:
            raise InputError(f"{file}: has round trips to {' and '.join(one.named() for one in targets)}, hosts of no site; allowed: hosts "
                             "that --site NAME=HOST, or `hosts` of a plan's sites, has; or a file for each pair, as "
                             f"{'-'.join(sites.names[:2])}.txt")
        return [Measured(file, frozenset(sites.pair_of_name(file, targets[0].hosts[:1])), rtt_s=targets[0].seconds)]
    site, notes = origin(file, targets, reached, sites)
    if not site:
        raise InputError(f"{file}: has round trips to {', '.join(reached)}, and does not say where it ran; allowed: a name that begins "
                         f"with that site, as {sites.names[0]}.txt")
    unknown = [one.named() for one in targets if not sites.of_host(*one.hosts)]
    if unknown:
        notes += (f"{file}: {', '.join(unknown)}: hosts of no site, left out",)
    found = [Measured(file, frozenset((site, other)), rtt_s=seconds) for other, seconds in reached.items() if other != site]
    if not found:
        raise InputError(f"{file}: was measured at {site} to a host of {site}; allowed: a host of another site")
    found[0] = found[0]._replace(notes=notes)
    return found
