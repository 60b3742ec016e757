"""Starting the command `longhaul`: runs with their progress, checks and comparisons."""
from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Union

from longhaul.directory import Path, RunDirectory

Scenario = Union[Path, Mapping[str, Any]]


class LonghaulError(Exception):
    """`longhaul` ended with an exit status other than 0. `message` is what it said, `status` the exit status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.message = message
        self.status = status


class RunFailed(LonghaulError):
    """Status 1: the input was right and the run could not be finished."""


class InputError(LonghaulError):
    """Status 2: the input is wrong. The message names the file, the key, what was found and what is allowed."""


class Interrupted(LonghaulError):
    """Status 130: stopped by a signal. run(..., resume=True) continues."""


class Progress(NamedTuple):
    """What a run says on its way. `fraction` is of the phase, None for a line that is no measure of it."""

    text: str
    phase: Optional[str] = None
    fraction: Optional[float] = None

    def __str__(self) -> str:
        return self.text


_PROGRESS = re.compile(r"(training|replay) (\d+) %")
_KINDS = {1: RunFailed, 2: InputError, 130: Interrupted}


def find_program(program: Optional[Path] = None) -> str:
    """The path of `longhaul`: `program`, the environment variable LONGHAUL, or what the PATH finds.

    FileNotFoundError that says so where there is none.
    """
    wanted = os.fspath(program) if program is not None else os.environ.get("LONGHAUL", "longhaul")
    found = shutil.which(wanted)
    if found is None:
        raise FileNotFoundError(f"the program {wanted!r} was not found: build Longhaul, and put its bin folder on the PATH, "
                                "set LONGHAUL to its longhaul, or give program=")
    return os.path.abspath(found)


def run(scenario: Scenario, out: Optional[Path] = None, *, set: Optional[Mapping[str, Any]] = None, jobs: int = 1,
        shard: Optional[str] = None, resume: bool = False, overwrite: bool = False, device: Optional[str] = None,
        timeline: Optional[str] = None, progress: Optional[Callable[[Progress], None]] = None,
        arguments: Sequence[str] = (), program: Optional[Path] = None) -> RunDirectory:
    """Runs a scenario to its end and returns its run directory.

    scenario: a file, or a dict. A dict is written to OUT.scenario.json, so it needs `out`, and relative paths in it
    start beside that. set: {"network.tcp.connections": 8, ...}, as --set. progress: called with each line of progress. arguments:
    further options of `longhaul run`, as they are. Raises RunFailed, InputError or Interrupted. On KeyboardInterrupt the
    run is told to stop, is waited for, and resume=True continues it.
    """
    command = [find_program(program), "run"]
    if isinstance(scenario, Mapping):
        if out is None:
            raise ValueError("a scenario that is a dict needs out=")
        file = pathlib.Path(f"{os.fspath(out)}.scenario.json")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(dict(scenario), indent=2), encoding="utf-8")
        command.append(str(file))
    else:
        command.append(os.fspath(scenario))
    if out is not None:
        command += ["--out", os.fspath(out)]
    command += _assignments(set) + ["--jobs", str(jobs)]
    for flag, value in (("--shard", shard), ("--device", device), ("--timeline", timeline)):
        if value is not None:
            command += [flag, value]
    command += ["--resume"] * resume + ["--overwrite"] * overwrite + list(arguments)
    said = _run(command, progress)
    folder = re.search(r"^report: (.*)/report\.html$", said, re.MULTILINE)
    if folder:
        return RunDirectory(folder.group(1))
    if out is None:
        raise LonghaulError(f"no run directory was named in: {said}", 0)
    return RunDirectory(out)


def open_run(path: Path) -> RunDirectory:
    """A run directory that is there. FileNotFoundError where it is none."""
    return RunDirectory(path)


def check(scenario: Scenario, *, set: Optional[Mapping[str, Any]] = None, anywhere: bool = False,
          program: Optional[Path] = None) -> Dict[str, Any]:
    """What `longhaul check --json` says: `scenario` with every default, `cases`, `estimate`, `warnings`.

    anywhere: not against this machine's memory and disk. Paths in a dict have to be absolute. Raises InputError where the scenario is wrong.
    """
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(scenario, Mapping):
            file = os.path.join(folder, "scenario.json")
            with open(file, "w", encoding="utf-8") as out:
                json.dump(dict(scenario), out)
        else:
            file = os.fspath(scenario)
        more = ["--anywhere"] if anywhere else []
        return json.loads(_output([find_program(program), "check", file, "--json"] + _assignments(set) + more))


def compare(runs: Iterable[Path], *, metrics: Sequence[str] = (), by: Optional[str] = None, pairs: Sequence[str] = (),
            margin: Optional[float] = None, where: Optional[Mapping[str, Any]] = None,
            program: Optional[Path] = None) -> Dict[str, Any]:
    """What `longhaul compare --format json` says: means over seeds with intervals, and which differences are shown."""
    command = [find_program(program), "compare", *(os.fspath(one) for one in runs), "--format", "json"]
    for metric in metrics:
        command += ["--metric", metric]
    for pair in pairs:
        command += ["--pair", pair]
    for key, value in (where or {}).items():
        command += ["--where", f"{key}={_text(value)}"]
    if by is not None:
        command += ["--by", by]
    if margin is not None:
        command += ["--margin", repr(margin)]
    return json.loads(_output(command))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _assignments(values: Optional[Mapping[str, Any]]) -> List[str]:
    """A text goes as JSON too: "8" stays a text."""
    return [word for key, value in (values or {}).items() for word in ("--set", f"{key}={json.dumps(value)}")]


def _raise(status: int, said: str) -> None:
    errors = [line[len("error: "):] for line in said.splitlines() if line.startswith("error: ")]
    failures = [line for line in said.splitlines() if line.startswith("failed: ")]
    lines = [line for line in said.splitlines() if line.strip()]
    message = "\n".join(errors or failures or lines[-1:]) or f"longhaul ended with status {status}"
    raise _KINDS.get(status, LonghaulError)(message, status)


def _output(command: List[str]) -> str:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        _raise(done.returncode, done.stderr)
    return done.stdout


def _progress_of(line: str) -> Progress:
    found = _PROGRESS.match(line)
    return Progress(line, found.group(1), int(found.group(2)) / 100) if found else Progress(line)


def _run(command: List[str], progress: Optional[Callable[[Progress], None]]) -> str:
    """Standard output, once the command is over; each line of standard error as it comes."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, text=True)
        assert child.stderr is not None
        said: List[str] = []
        try:
            for line in child.stderr:
                said.append(line)
                if progress is not None:
                    progress(_progress_of(line.rstrip("\n")))
            status = child.wait()
        except BaseException:
            # From a notebook Python alone gets the signal; from a terminal the child has it already, and a second one
            # would kill its children.
            if child.poll() is None and not os.isatty(0):
                child.send_signal(signal.SIGINT)
            child.stderr.close()
            child.wait()
            raise
        finally:
            child.stderr.close()
        out.seek(0)
        text = out.read()
    if status != 0:
        _raise(status if status > 0 else 128 - status, "".join(said))
    return text
