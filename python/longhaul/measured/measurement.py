"""What a file says of two sites, and which sites its hosts and its name stand for."""
from __future__ import annotations

import ipaddress
import itertools
import pathlib
import re
from typing import Dict, FrozenSet, Iterable, List, NamedTuple, Optional, Tuple

from ..errors import InputError

Pair = FrozenSet[str]


class Measured(NamedTuple):
    """One direction of one test, or one round trip; None: nothing."""
    file: str
    pair: Pair
    sender: Optional[str] = None  # the site that sent; None: not known
    together: Optional[float] = None  # payload bits a second of all streams
    streams: int = 1  # 0: not known
    rtt_s: Optional[float] = None
    is_loaded: bool = False  # the round trip was measured beside traffic of its own
    limit: str = ""  # why the path may carry more, where the tool itself held the test down
    both_ways: bool = False  # the other direction ran at the same time
    notes: Tuple[str, ...] = ()  # sentences for a reader
    test: str = ""  # equal in the files of both ends, where the tool marks them
    as_sent: bool = False  # the sender's figure, where the receiver's is in no line of the file

    @property
    def throughput(self) -> float:
        """Bits a second of one stream."""
        return (self.together or 0) / max(1, self.streams)

    @property
    def receiver(self) -> Optional[str]:
        return next((site for site in self.pair if site != self.sender), None) if self.sender else None


def same_host(host: str) -> str:
    """Equal for equal hosts: ::ffff:10.0.0.1 is 10.0.0.1, names have no case, an address no scope."""
    plain = host.strip().strip("[]").split("%")[0].lower().rstrip(".")
    try:
        address = ipaddress.ip_address(plain)
    except ValueError:
        return plain
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address)


def is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]").split("%")[0])
    except ValueError:
        return False
    return True


class Sites:
    """The sites of a matrix by name, and their hosts."""

    def __init__(self, hosts: Dict[str, List[str]]) -> None:
        self.names = list(hosts)
        self._site_of: Dict[str, str] = {}
        for name, of in hosts.items():
            for host in filter(None, of):
                owner = self._site_of.setdefault(same_host(host), name)
                if owner != name:
                    raise InputError(f"found the host {host} at {owner} and at {name}; allowed: each host at one site")

    def of_host(self, *hosts: Optional[str]) -> Optional[str]:
        """The site of the first host that one has, if any. A short name is that of a machine whose full name is known."""
        for host in filter(None, hosts):
            plain = same_host(host)
            if plain in self._site_of:
                return self._site_of[plain]
            if is_address(plain):
                continue
            found = {site for known, site in self._site_of.items() if not is_address(known) and ("." in known) != ("." in plain)
                     and known.split(".")[0] == plain.split(".")[0]}
            if len(found) == 1:
                return found.pop()
        return None

    def has_hosts(self, sites: Iterable[str]) -> bool:
        return bool(set(sites) & set(self._site_of.values()))

    def pair_in_name(self, file: str) -> Optional[Tuple[str, str]]:
        """Two sites that the file's name, or that of its folder, begins with: warsaw-madrid-2.json. The longest names win."""
        path = pathlib.Path(file)
        pairs = sorted(itertools.permutations(self.names, 2), key=lambda pair: -len(pair[0] + pair[1]))
        for name in (path.name, path.absolute().parent.name):
            for flags in (0, re.IGNORECASE):
                for pair in pairs:
                    if re.match("(-|_|-to-|_to_)".join(map(re.escape, pair)) + r"(?![^\W_])", name, flags):
                        return pair
        return None

    def site_in_name(self, file: str) -> Optional[str]:
        """The one site that the file's name begins with: warsaw.txt."""
        found = [site for site in sorted(self.names, key=len, reverse=True)
                 if re.match(re.escape(site) + r"(?![^\W_])", pathlib.Path(file).name, re.IGNORECASE)]
        return found[0] if found and not self.pair_in_name(file) else None

    def pair_of_name(self, file: str, hosts: Iterable[Optional[str]] = ()) -> Tuple[str, str]:
        """pair_in_name, or an InputError that says what `hosts` of the file are no site's."""
        pair = self.pair_in_name(file)
        if pair:
            return pair
        unknown = " and ".join(dict.fromkeys(host for host in hosts if host and not self.of_host(host)))
        raise InputError(f"{file}: says nothing of the two sites that it is between{f' ({unknown}: hosts of no site)' if unknown else ''}; "
                         f"allowed: a test between hosts of two sites (--site NAME=HOST, or `hosts` of a plan's sites), or a file whose "
                         f"name begins with two of {', '.join(self.names)}, as {'-'.join(self.names[:2])}.txt")

    def ends(self, file: str, local: List[Optional[str]], remote: List[Optional[str]]) -> Tuple[str, str]:
        """The sites of the machine that wrote the file and of the other one, each of which has some names."""
        here, there = self.of_host(*local), self.of_host(*remote)
        if here and here == there:
            raise InputError(f"{file}: is between two hosts of {here} ({next(filter(None, local))} and {next(filter(None, remote))}); "
                             "allowed: hosts of two sites; --inside has what is measured at one")
        if here and there:
            return here, there
        named = self.pair_of_name(file, [*local[:1], *remote[:1]])
        known = here or there
        if not known:
            return named
        if known not in named:
            raise InputError(f"{file}: its name says {' and '.join(named)}, but "
                             f"{next(filter(None, local if here else remote))} is a host of {known}; allowed: a name of the two "
                             "sites between whose hosts the test ran")
        other = next(site for site in named if site != known)
        return (known, other) if here else (other, known)


def megabits(rate: float) -> str:
    """Three figures, without an exponent: 3.52, 865, 12400."""
    return f"{rate / 1e6:.3g}" if rate < 1e9 else f"{rate / 1e6:.0f}"
