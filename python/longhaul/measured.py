"""What iperf3, nccl-tests, ping and their like have printed, as `longhaul measured` reads it.

    python -m longhaul.measured --site warsaw=10.0.0.1 --site madrid=10.0.1.1 --inside 0.5ms,940Mbps -o sites.json FILE...

is that command, where the program is not on the PATH but this package is. docs/reference/formats/measurements.md has what is
read and what counts. Wrong input is an InputError.
"""
from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any, Callable, Dict, FrozenSet, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from longhaul.command import find_program
from longhaul.directory import Path
from longhaul.errors import InputError, LonghaulError, exit_status

__all__ = ["InputError", "Measured", "main", "matrix_of", "read"]

Pair = FrozenSet[str]
Hosts = Mapping[str, Sequence[str]]  # of each site, by name


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


def read(file: Path, sites: Hosts, *, program: Optional[Path] = None) -> List[Measured]:
    """All that a file says of `sites`. Raises InputError, which names it."""
    done = _run(["--list"], [file], sites, program)
    if done.returncode != 0:
        raise _error(done)
    return [_measured(json.loads(line)) for line in done.stdout.splitlines()]


def matrix_of(files: Iterable[Path], sites: Hosts, inside: Mapping[str, str], warn: Optional[Callable[[str], None]] = None,
              known_rtts: Optional[Mapping[Pair, str]] = None, known_throughput: Optional[str] = None, *,
              program: Optional[Path] = None) -> Dict[str, Any]:
    """The matrix; `warn` is called with a sentence for each thing that a reader should know.

    inside: {"rtt": "0.5ms", "throughput": "940Mbps"}, of two machines of a site. `known_rtts` count where no ping, nor a table,
    has a round trip, `known_throughput` where no test ran. Raises InputError.
    """
    arguments = ["--inside", f"{inside['rtt']},{inside['throughput']}"]
    for pair, rtt in (known_rtts or {}).items():
        arguments += ["--rtt", f"{','.join(sorted(pair))}={rtt}"]
    if known_throughput is not None:
        arguments += ["--throughput", known_throughput]
    done = _run(arguments, files, sites, program)
    if done.returncode != 0:
        raise _error(done)
    for line in done.stderr.splitlines():
        if warn is not None and line.startswith("warning: "):
            warn(line[len("warning: "):])
    matrix: Dict[str, Any] = json.loads(done.stdout)
    return matrix


def main(arguments: Optional[List[str]] = None) -> int:
    """The exit status of `longhaul measured` with these arguments, by default those of this process."""
    status = 0

    def run() -> None:
        nonlocal status
        status = subprocess.call([find_program(), "measured", *(sys.argv[1:] if arguments is None else arguments)])

    return exit_status(run) or status


def _run(arguments: List[str], files: Iterable[Path], sites: Hosts, program: Optional[Path]) -> "subprocess.CompletedProcess[str]":
    of_sites = [f"--site={name}={','.join(hosts)}" for name, hosts in sites.items()]
    names = [os.fspath(file) for file in files]
    command = [find_program(program), "measured", *of_sites, *arguments, "--", *names]
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace")
    except (OSError, ValueError) as error:
        raise InputError(f"{command[0]}: cannot be started: {error}") from error


def _error(done: "subprocess.CompletedProcess[str]") -> LonghaulError:
    lines = done.stderr.splitlines()
    said = [line[len("error: "):] for line in lines if line.startswith("error: ")] or lines[-1:]
    message = "\n".join(said) or f"longhaul measured ended with status {done.returncode}"
    return InputError(message) if done.returncode == 2 else LonghaulError(message, done.returncode)


def _measured(one: Dict[str, Any]) -> Measured:
    return Measured(one["file"], frozenset(one["pair"]), one["from"], one["together_bps"], one["streams"], one["rtt_s"],
                    one["is_loaded"], one["limit"], one["both_ways"], tuple(one["notes"]), one["test"], one["as_sent"])


if __name__ == "__main__":
    sys.exit(main())
