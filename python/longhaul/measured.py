"""A matrix of sites (docs/reference/formats/inputs.md) from what iperf3, nccl-tests and ping have printed.

    python -m longhaul.measured --site warsaw=10.0.0.1 --site madrid=10.0.1.1 --inside 0.5ms,940Mbps -o sites.json FILE...

FILE is what `iperf3 --json`, all_reduce_perf or sendrecv_perf of nccl-tests (two ranks, one at each node), or `ping`
printed, or a table from,to,rate_mbps,rtt_ms (.csv). iperf3's addresses and nccl-tests' host names say between which sites
they ran, in either direction; else, and for ping, the file's name does: warsaw-madrid.txt. The throughput is that of one
connection: what the receiver got, over the number of parallel streams; nccl-tests say nothing of their number. Of two
directions the slower one
counts, since a matrix has one value a pair. The round trip is ping's shortest; without a ping that of --rtt; else the
shortest that iperf3 saw under its own load, which has its queues in it, and a warning says so. `longhaul plan` reads its
`measurements` with this program.
"""
from __future__ import annotations

import argparse
import csv
import itertools
import json
import pathlib
import re
import sys
from typing import Dict, FrozenSet, Iterable, List, NamedTuple, Optional

from .errors import InputError, exit_status, reading

Pair = FrozenSet[str]


class Measured(NamedTuple):
    """What one file says of one pair; None: nothing."""
    file: str
    pair: Pair
    sender: Optional[str] = None
    throughput: Optional[float] = None  # bits a second of one connection
    streams: int = 1  # 0: not known
    rtt_s: Optional[float] = None
    is_loaded: bool = False  # the round trip was measured beside traffic of its own


def site_of(host: str, sites: Dict[str, List[str]]) -> Optional[str]:
    return next((name for name, hosts in sites.items() if host in hosts), None)


def pair_of_name(file: str, sites: Dict[str, List[str]]) -> Pair:
    name = pathlib.Path(file).name
    for pair in itertools.permutations(sites, 2):
        if re.match(re.escape("-".join(pair)) + r"(\W|$)", name):
            return frozenset(pair)
    raise InputError(f"{file}: says nothing of the two sites that it is between; allowed: iperf3's JSON or nccl-tests between hosts "
                     f"that --site names, or a name that begins with two of {', '.join(sites)}, as "
                     f"{'-'.join(list(sites)[:2])}.txt")


def of_iperf3(file: str, text: str, sites: Dict[str, List[str]]) -> List[Measured]:
    run = json.loads(text)
    if run.get("error"):
        raise InputError(f"{file}: iperf3 ended with \"{run['error']}\": measure again, or leave the file out")
    test, connected = run["start"]["test_start"], run["start"]["connected"][0]
    if test["protocol"] != "TCP":
        raise InputError(f"{file}: is of {test['protocol']}; allowed: TCP, as iperf3 measures without -u")
    names = [site_of(connected[key], sites) for key in ("local_host", "remote_host")]
    pair = frozenset(filter(None, names))
    is_by_hosts = None not in names and len(pair) == 2
    sender = names[1 if test.get("reverse") else 0] if is_by_hosts else None
    streams = int(test["num_streams"])
    round_trips = [stream["sender"].get("min_rtt", 0) for stream in run["end"]["streams"]]
    return [Measured(file, pair if is_by_hosts else pair_of_name(file, sites), sender,
                     run["end"]["sum_received"]["bits_per_second"] / streams, streams,
                     min(round_trips) * 1e-6 if min(round_trips, default=0) > 0 else None, True)]


def of_nccl_tests(file: str, text: str, sites: Dict[str, List[str]]) -> List[Measured]:
    """Of two ranks each sends the other `size` bytes, in an all-reduce as in sendrecv (doc/PERFORMANCE.md of nccl-tests),
    so that busbw is algbw. Both have two decimals of a GB/s, a sixth of a path of 50 Mb/s: the rate is that of the largest
    size out of place, over its time. A time of eight digits is printed with two of them, and does not count."""
    ranks = re.findall(r"Rank +(\d+) .* on +(\S+) +device", text)
    if [rank for rank, _ in ranks] != ["0", "1"]:
        raise InputError(f"{file}: is of ranks {', '.join(rank for rank, _ in ranks) or '(none)'}; allowed: 0 and 1, one at each "
                         "node, as nccl-tests that were built with MPI=1 print with mpirun -np 2 -N 1 and -g 1")
    if "FAILED" in text:
        raise InputError(f"{file}: values arrived wrong (FAILED): measure again, or leave the file out")
    columns = next(line.split() for line in text.splitlines() if "algbw" in line)
    columns = columns[columns.index("time"):] if "time" in columns else columns
    rows = [(int(row[1]), *row[0].split()[-len(columns):][:3])
            for row in re.finditer(r"^.*?(\d+) +\d+ +[a-z]\w* .*$", text, re.MULTILINE) if "#" not in row[0]]
    rows = [row for row in rows if re.fullmatch(r"\d+\.?\d*", row[1]) and float(row[1]) > 0]
    if columns[0] != "time" or not rows:
        raise InputError(f"{file}: has no row with a time in microseconds; allowed: what all_reduce_perf or sendrecv_perf prints, "
                         "to the end")
    size, microseconds, algbw, busbw = max(rows)
    if algbw != busbw:
        raise InputError(f"{file}: found {algbw} GB/s of algbw and {busbw} of busbw; allowed: the same, as all_reduce_perf and "
                         "sendrecv_perf have between two ranks")
    pair = frozenset(filter(None, (site_of(host, sites) for _, host in ranks)))
    return [Measured(file, pair if len(pair) == 2 else pair_of_name(file, sites), None, 8e6 * size / float(microseconds), 0)]


def of_ping(file: str, text: str, sites: Dict[str, List[str]]) -> List[Measured]:
    found = re.search(r"min/avg/max\S* = ([\d.]+)/", text)
    if not found:
        raise InputError(f"{file}: has no line \"rtt min/avg/max\"; allowed: what `iperf3 --json`, nccl-tests or "
                         "`ping -c 20` prints, or a table from,to,rate_mbps,rtt_ms whose name ends in .csv")
    return [Measured(file, pair_of_name(file, sites), rtt_s=float(found[1]) * 1e-3)]


def of_table(file: str, text: str, sites: Dict[str, List[str]]) -> List[Measured]:
    """A row for each two sites, in one direction or both; rtt_ms may be empty or missing."""
    lines = [(number, [cell.strip() for cell in cells]) for number, cells in enumerate(csv.reader(text.splitlines()), 1)
             if any(cells) and not cells[0].startswith("#")]
    header = lines[0][1] if lines else []
    for column in ("from", "to", "rate_mbps"):
        if column not in header:
            raise InputError(f"{file}: line {lines[0][0] if lines else 1}: there is no column {column}; allowed: "
                             "from,to,rate_mbps and, where it was measured, rtt_ms")
    rows = []
    for number, cells in lines[1:]:
        row, place = dict(zip(header, cells)), f"{file}: line {number}"
        if len(cells) > len(header):
            raise InputError(f"{place}: found {len(cells)} cells; allowed: {len(header)}, as in the header")
        for key in ("from", "to"):
            if row.get(key) not in sites:
                raise InputError(f"{place}, {key}: found \"{row.get(key, '')}\"; allowed: {', '.join(sites)}")
        for key in ("rate_mbps", "rtt_ms"):
            if (row.get(key) or key == "rate_mbps") and not re.fullmatch(r"(?=.*[1-9])\d*\.?\d*", row.get(key, "")):
                raise InputError(f"{place}, {key}: found \"{row.get(key, '')}\"; allowed: a number above 0")
        rows.append(Measured(file, frozenset((row["from"], row["to"])), row["from"], float(row["rate_mbps"]) * 1e6, 1,
                             float(row["rtt_ms"]) * 1e-3 if row.get("rtt_ms") else None))
    return rows


def read(file: str, sites: Dict[str, List[str]]) -> List[Measured]:
    with reading(file):
        text = pathlib.Path(file).read_text()
        of = (of_table if file.endswith(".csv") else of_iperf3 if text.lstrip().startswith("{")
              else of_nccl_tests if "algbw" in text else of_ping)
        return of(file, text, sites)


def matrix_of(files: Iterable[str], sites: Dict[str, List[str]], inside: Dict[str, str], warn=None,
              known_rtts: Optional[Dict[Pair, str]] = None) -> dict:
    """The matrix; `warn` is called with a sentence for each thing that a reader should know. `known_rtts` count where no
    ping, nor a table, has a round trip."""
    warn = warn or (lambda sentence: None)
    known_rtts = known_rtts or {}
    all_measured = [one for file in files for one in read(str(file), sites)]
    pairs = []
    for pair in itertools.combinations(sites, 2):
        of = [one for one in all_measured if one.pair == frozenset(pair)]
        carried = [one for one in of if one.throughput]
        quiet = [one.rtt_s for one in of if one.rtt_s and not one.is_loaded]
        loaded = [one.rtt_s for one in of if one.rtt_s and one.is_loaded]
        between = " and ".join(pair)
        if not carried:
            raise InputError(f"nothing says what a connection between {between} carries; give an iperf3 --json, or nccl-tests")
        known = known_rtts.get(frozenset(pair))
        if not quiet and not loaded and not known:
            raise InputError(f"nothing says the round trip between {between}; give ping's output as {'-'.join(pair)}.txt")
        slowest, fastest = (pick(carried, key=lambda one: one.throughput) for pick in (min, max))
        if fastest.throughput > 1.2 * slowest.throughput:
            warn(f"{between}: {slowest.throughput / 1e6:.0f} Mb/s in {slowest.file}, {fastest.throughput / 1e6:.0f} in "
                 f"{fastest.file}; the slower one is taken")
        if slowest.streams > 1:
            warn(f"{between}: {slowest.streams} streams carried {slowest.streams * slowest.throughput / 1e6:.0f} Mb/s together; "
                 "if one alone would too, they share a link: give its rate to the sites")
        if slowest.streams == 0:
            warn(f"{between}: NCCL's connections carried {slowest.throughput / 1e6:.0f} Mb/s together, and it does not say how many "
                 "they are; more carry no more: give it to the sites as their rate, or connections of 1")
        if not quiet and not known:
            warn(f"{between}: the round trip is iperf3's, beside its own load; ping -c 20 has it without queues")
        rtt = known if known and not quiet else f"{min(quiet or loaded) * 1e3:.6g}ms"
        pairs.append({"between": list(pair), "rtt": rtt,
                      "throughput": f"{slowest.throughput / 1e6:.6g}Mbps"})
    return {"about": f"{len(sites)} sites, measured", "source": "measured: " + ", ".join(
        dict.fromkeys(pathlib.Path(one.file).name for one in all_measured)), "sites": list(sites), "inside": inside, "pairs": pairs}


def main(arguments: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m longhaul.measured", description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+", metavar="FILE", help="what iperf3 --json, nccl-tests or ping printed")
    parser.add_argument("--site", action="append", required=True, metavar="NAME[=HOST[,HOST]]")
    parser.add_argument("--inside", required=True, metavar="RTT,RATE", help="between two machines of a site: 0.5ms,940Mbps")
    parser.add_argument("--rtt", action="append", default=[], metavar="NAME,NAME=RTT", help="where no ping has it")
    parser.add_argument("-o", "--output", help="the matrix; default standard output")
    options = parser.parse_args(arguments)
    sites = {name: hosts.split(",") for name, _, hosts in (site.partition("=") for site in options.site)}

    def make() -> None:
        if options.inside.count(",") != 1:
            raise InputError(f"--inside: found \"{options.inside}\"; allowed: a round trip and a rate, as 0.5ms,940Mbps")
        inside = dict(zip(("rtt", "throughput"), options.inside.split(",")))
        known = {frozenset(names.split(",")): rtt for names, _, rtt in (one.partition("=") for one in options.rtt)}
        text = json.dumps(matrix_of(options.files, sites, inside, lambda said: print("warning:", said, file=sys.stderr), known),
                          indent=1)
        if options.output:
            pathlib.Path(options.output).write_text(text + "\n")
        else:
            print(text)
    return exit_status(make)


if __name__ == "__main__":
    sys.exit(main())
