"""The command line of python -m longhaul.measured."""
from __future__ import annotations

import argparse
import json
import pathlib
import sys
from typing import List, Optional

from ..errors import InputError, exit_status
from .matrix import matrix_of


def main(arguments: Optional[List[str]] = None) -> int:
    """Its exit status: 0, or 2 with a line `error: …` where the input is wrong."""
    parser = argparse.ArgumentParser(prog="python -m longhaul.measured",
                                     description="A matrix of sites from what iperf3, nccl-tests, ping and their like have printed.")
    parser.add_argument("files", nargs="+", metavar="FILE", help="what iperf3 --json, nccl-tests, ping or another tool of "
                        "docs/reference/formats/measurements.md printed, a table (.csv), or a folder of them")
    parser.add_argument("--site", action="append", required=True, metavar="NAME[=HOST[,HOST]]")
    parser.add_argument("--inside", required=True, metavar="RTT,RATE", help="between two machines of a site: 0.5ms,940Mbps")
    parser.add_argument("--rtt", action="append", default=[], metavar="NAME,NAME=RTT", help="where no ping has it")
    parser.add_argument("--throughput", metavar="RATE", help="what one connection carries where no file says it: 300Mbps")
    parser.add_argument("-o", "--output", help="the matrix; default standard output")
    options = parser.parse_args(arguments)
    sites = {name: hosts.split(",") for name, _, hosts in (site.partition("=") for site in options.site)}

    def make() -> None:
        if options.inside.count(",") != 1:
            raise InputError(f"--inside: found \"{options.inside}\"; allowed: a round trip and a rate, as 0.5ms,940Mbps")
        if len(sites) < max(2, len(options.site)):
            raise InputError(f"--site: found {', '.join(site.partition('=')[0] for site in options.site)}; allowed: at least two, each name once")
        inside = dict(zip(("rtt", "throughput"), options.inside.split(",")))
        known = {frozenset(names.split(",")): rtt for names, _, rtt in (one.partition("=") for one in options.rtt)}
        for names in known:
            if not names <= set(sites) or len(names) != 2:
                raise InputError(f"--rtt: found \"{','.join(sorted(names))}\"; allowed: two of {', '.join(sites)}")
        text = json.dumps(matrix_of(options.files, sites, inside, lambda said: print("warning:", said, file=sys.stderr), known,
                                    options.throughput), indent=1)
        if options.output:
            pathlib.Path(options.output).write_text(text + "\n")
        else:
            print(text)
    return exit_status(make)
