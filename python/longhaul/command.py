"""Starting the command `longhaul`: runs with their progress, checks and comparisons."""
from __future__ import annotations

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sysconfig
import tempfile
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Union

from longhaul.directory import Path, RunDirectory
from longhaul.errors import InputError, Interrupted, LonghaulError, RunFailed, reading

Scenario = Union[Path, Mapping[str, Any]]


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
    """The path of `longhaul`: `program`, the environment variable LONGHAUL, what the PATH finds, or that of the package's wheel.

    InputError that says so where there is none.
    """
    wanted = os.fspath(program) if program is not None else os.environ.get("LONGHAUL", "longhaul")
    found = shutil.which(wanted)
    if found is None and wanted == "longhaul":  # the environment may not be activated
        found = shutil.which(os.path.join(sysconfig.get_path("scripts"), wanted))
    if found is None:
        raise InputError(f"the program {wanted!r} was not found: build Longhaul, and put its bin folder on the PATH, "
                         "set LONGHAUL to its longhaul, or give program=")
    return os.path.abspath(found)


def run(scenario: Scenario, out: Optional[Path] = None, *, set: Optional[Mapping[str, Any]] = None, jobs: int = 1,
        shard: Optional[str] = None, resume: bool = False, overwrite: bool = False, device: Optional[str] = None,
        trainings: Union[Path, Sequence[Path], None] = None, progress: Optional[Callable[[Progress], None]] = None,
        arguments: Sequence[str] = (), executor: Optional[concurrent.futures.Executor] = None,
        program: Optional[Path] = None) -> RunDirectory:
    """Runs a scenario to its end and returns its run directory.

    scenario: a file, or a dict. A dict is written to OUT.scenario.json, so it needs `out`, and relative paths in it
    start beside that. set: {"network.tcp.connections": 8, ...}, as --set. trainings: runs whose finished trainings are
    replayed instead of training again, as --trainings. progress: called with each line of progress. arguments:
    further options of `longhaul run`, as they are. Raises RunFailed, InputError or Interrupted. On KeyboardInterrupt, and
    where `progress` raises, the run is told to stop, is waited for, and resume=True continues it.

    executor: each case is a task of it, the longest first; its workers see the same files and this package. All tasks are
    waited for, then the first error is raised, as of a worker that was lost; resume=True continues. jobs: how many workers
    share the cores of a machine.
    """
    if executor is not None:
        out = _shared_folder(out, resume, overwrite, shard)
        resume = True
    command = [find_program(program), "run"]
    if isinstance(scenario, Mapping):
        if out is None:
            raise InputError("out: is missing; allowed: a folder; a scenario that is a dict is written beside it")
        file = pathlib.Path(f"{os.fspath(out)}.scenario.json")
        text = _json(scenario, "scenario", indent=2)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        except OSError as error:
            raise RunFailed(f"{file}: cannot be written: {error.strerror}", 1) from error
        command.append(_word(file))
    else:
        command.append(os.path.abspath(scenario) if executor is not None else _word(scenario))
    if out is not None:
        command += ["--out", _word(out)]
    command += _assignments(set) + ["--jobs", str(jobs)]
    for flag, value in (("--shard", shard), ("--device", device)):
        if value is not None:
            command += [flag, value]
    for one in [trainings] if isinstance(trainings, (str, os.PathLike)) else trainings or ():
        command += ["--trainings", os.path.abspath(one) if executor is not None else _word(one)]
    if executor is not None:
        _run_cases(executor, command + list(arguments), progress)
    command += ["--resume"] * resume + ["--overwrite"] * overwrite + list(arguments)
    said = _run(command, progress)
    folder = re.search(r"^report: (.*)/report\.html$", said, re.MULTILINE)
    if folder:
        return RunDirectory(folder.group(1))
    if out is None:
        raise LonghaulError(f"no run directory was named in: {said}", 0)
    return RunDirectory(out)


def open_run(path: Path) -> RunDirectory:
    """A run directory that is there. InputError where it is none."""
    return RunDirectory(path)


def check(scenario: Scenario, *, set: Optional[Mapping[str, Any]] = None, anywhere: bool = False,
          program: Optional[Path] = None) -> Dict[str, Any]:
    """What `longhaul check --json` says: `scenario` with every default, `cases`, `estimate`, `warnings`.

    anywhere: not against this machine's memory and disk. Paths in a dict have to be absolute. Raises InputError where the scenario is wrong.
    """
    more = ["--anywhere"] if anywhere else []
    program = find_program(program)

    def checked(file: str) -> Dict[str, Any]:
        return _said([program, "check", file, "--json"] + _assignments(set) + more)

    if not isinstance(scenario, Mapping):
        return checked(_word(scenario))
    text = _json(scenario, "scenario")
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "scenario.json")
        pathlib.Path(file).write_text(text, encoding="utf-8")
        try:
            return checked(file)
        except LonghaulError as error:  # of a file that the caller has never seen
            message = error.message.replace(file, "the scenario").replace(folder, "the scenario's folder")
            raise type(error)(message, error.status) from None


def compare(runs: Iterable[Path], *, metrics: Sequence[str] = (), by: Optional[str] = None, pairs: Sequence[str] = (),
            margin: Optional[float] = None, where: Optional[Mapping[str, Any]] = None,
            program: Optional[Path] = None) -> Dict[str, Any]:
    """What `longhaul compare --format json` says: means over seeds with intervals, and which differences are shown."""
    command = [find_program(program), "compare", *(_word(one) for one in runs), "--format", "json"]
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
    return _said(command)


def _word(path: Path) -> str:
    """As an argument: a name that begins with a dash is no option."""
    text = os.fspath(path)
    return os.path.join(".", text) if text.startswith("-") else text


def _json(value: Any, what: str, indent: Optional[int] = None) -> str:
    try:
        return json.dumps(dict(value) if isinstance(value, Mapping) else value, indent=indent)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{what}: cannot be written as JSON: {error}") from error


def _text(value: Any) -> str:
    return value if isinstance(value, str) else _json(value, "where")


def _assignments(values: Optional[Mapping[str, Any]]) -> List[str]:
    """A text goes as JSON too: "8" stays a text."""
    return [word for key, value in (values or {}).items() for word in ("--set", f"{key}={_json(value, f'set[{key!r}]')}")]


def _raise(status: int, said: str) -> None:
    """status: as subprocess has it, below 0 for a signal."""
    errors = [line[len("error: "):] for line in said.splitlines() if line.startswith("error: ")]
    failures = [line for line in said.splitlines() if line.startswith("failed: ")]
    lines = [line for line in said.splitlines() if line.strip()]
    if status < 0:
        raise LonghaulError(_killed(-status) + (f"; the last that it said: {lines[-1]}" if lines else ""), 128 - status)
    message = "\n".join(errors or failures or lines[-1:]) or f"longhaul ended with status {status}"
    raise _KINDS.get(status, LonghaulError)(message, status)


def _killed(number: int) -> str:
    try:
        name = f" ({signal.Signals(number).name})"
    except ValueError:
        name = ""
    cause = ", as the system does where memory runs out" if number == signal.SIGKILL else ""
    return f"longhaul was killed by signal {number}{name}{cause}"


def _said(command: List[str]) -> Dict[str, Any]:
    """The JSON that the command writes."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    except (OSError, ValueError) as error:
        raise InputError(f"{command[0]}: cannot be started: {error}") from error
    if done.returncode != 0:
        _raise(done.returncode, done.stderr)
    with reading(f"what {command[0]} {command[1]} wrote"):
        return json.loads(done.stdout)


def _shared_folder(out: Optional[Path], resume: bool, overwrite: bool, shard: Optional[str]) -> str:
    """Its full path: a worker may run in another folder."""
    if out is None or overwrite or shard is not None:
        raise InputError("executor: needs out, and goes with neither overwrite nor shard")
    if not resume and os.path.exists(os.path.join(out, "scenario.json")):
        raise InputError(f"out: {os.fspath(out)} already holds a run; allowed: a new folder, or resume=True to continue it")
    return os.path.abspath(out)


def _run_case(command: List[str], case: str) -> str:
    return _run(command + ["--only-case", case], None)


def _run_cases(executor: concurrent.futures.Executor, command: List[str],
               progress: Optional[Callable[[Progress], None]]) -> None:
    listed = [line.split("\t") for line in _run(command + ["--list-cases"], None).splitlines()]
    listed.sort(key=lambda one: -float(one[1]))
    tasks = {executor.submit(_run_case, command, case): case for case, _, _ in listed}
    try:
        for count, task in enumerate(concurrent.futures.as_completed(tasks), 1):
            if progress is not None:
                progress(Progress(f"{tasks[task]}: {task.exception() or 'done'}", "cases", count / len(tasks)))
    except BaseException:
        for task in tasks:
            task.cancel()
        raise
    for task in tasks:
        task.result()


def _progress_of(line: str) -> Progress:
    found = _PROGRESS.match(line)
    return Progress(line, found.group(1), int(found.group(2)) / 100) if found else Progress(line)


def _run(command: List[str], progress: Optional[Callable[[Progress], None]]) -> str:
    """Standard output, once the command is over; each line of standard error as it comes."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out:
        try:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, text=True)
        except (OSError, ValueError) as error:
            raise InputError(f"{command[0]}: cannot be started: {error}") from error
        assert child.stderr is not None
        said: List[str] = []
        try:
            for line in child.stderr:
                said.append(line)
                if progress is not None:
                    progress(_progress_of(line.rstrip("\n")))
            status = child.wait()
        except BaseException as error:
            # Ctrl-C in a terminal the child has got too, and a second one would kill its children.
            has_it = isinstance(error, KeyboardInterrupt) and os.isatty(0)
            if child.poll() is None and not has_it:
                child.send_signal(signal.SIGINT)
            child.stderr.read()  # what it still says: a closed pipe would end it before its checkpoint
            child.wait()
            raise
        finally:
            child.stderr.close()
        out.seek(0)
        text = out.read()
    if status != 0:
        _raise(status, "".join(said))
    return text
