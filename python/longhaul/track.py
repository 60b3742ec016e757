"""A run's curves in the tracker that a lab already has.

    python -m longhaul.track RUN --to csv|tensorboard|wandb|mlflow|trackio [--out FOLDER] [--project NAME] [--follow]

Each case becomes one run of the tracker, with the case's keys as its configuration. At each evaluation it gets the loss
(mean over the replicas, and of the averaged weights), the spread of the weights, simulated_s and bytes_sent. Where the
tracker orders by time, that is simulated time: TensorBoard's "relative" axis, MLflow's "time". wandb's x axis is
simulated_s. --follow goes on while `longhaul run` does: each training is a run of its own then, with its losses as they come,
since simulated time is known once a case is replayed. It ends with an error, status 1, where the run says that it goes on and
no process has written there for 15 s: it was killed. tensorboard, wandb, mlflow and trackio come from PyPI; wandb takes
WANDB_MODE=offline, and wandb and trackio choose their own folders.
"""
from __future__ import annotations

import argparse
import csv
import importlib
import hashlib
import os
import pathlib
import re
import sys
import time
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple

from .directory import RunDirectory
from .errors import InputError, LonghaulError, RunFailed, exit_status
from .tables import flat, read_csv
from .writers import is_written

NUMBERS = ("loss", "loss_of_mean", "weight_spread", "simulated_s", "bytes_sent")


def module(name: str, tracker: str, package: str = "") -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise InputError(f"--to: found \"{tracker}\", whose package this Python cannot import ({error}); "
                         f"pip install {package or tracker}") from error


def of_tracker(to: str, work: Callable[[], Any]) -> Any:
    """What a tracker's package refuses, each with exceptions of its own, as an error in its words."""
    try:
        return work()
    except LonghaulError:
        raise
    except Exception as error:
        raise RunFailed(f"--to {to}: {type(error).__name__}: {' '.join(str(error).split())}", 1) from error


class Csv:
    """FOLDER/CASE.csv: step and the numbers."""

    def __init__(self, out: str, project: str, case: str, config: Dict[str, Any]) -> None:
        pathlib.Path(out).mkdir(parents=True, exist_ok=True)
        self.file = open(pathlib.Path(out) / f"{case}.csv", "w", newline="")
        self.rows = csv.writer(self.file)
        self.rows.writerow(["step", "phase", *NUMBERS])

    def log(self, step: int, phase: str, values: Dict[str, float]) -> None:
        self.rows.writerow([step, phase, *(values.get(name, "") for name in NUMBERS)])

    def finish(self) -> None:
        self.file.close()


class Tensorboard:
    """Event files in FOLDER/CASE. An evaluation before an outer step has tags of its own (loss/before)."""

    def __init__(self, out: str, project: str, case: str, config: Dict[str, Any]) -> None:
        self.writer = module("tensorboard.summary", "tensorboard").Writer(str(pathlib.Path(out) / case))

    def log(self, step: int, phase: str, values: Dict[str, float]) -> None:
        for name, value in values.items():
            tag = f"{name}/before" if phase == "before" else name
            self.writer.add_scalar(tag, value, step, wall_time=values.get("simulated_s"))
        self.writer.flush()

    def finish(self) -> None:
        self.writer.close()


class Wandb:
    def __init__(self, out: str, project: str, case: str, config: Dict[str, Any]) -> None:
        wandb = module("wandb", "wandb")
        project = re.sub(r"[/\\#?%:]", "_", project)[:128]  # what W&B allows
        self.run = wandb.init(project=project, name=case, config=config, dir=out, reinit="create_new")
        self.run.define_metric("simulated_s")
        self.run.define_metric("*", step_metric="simulated_s")

    def log(self, step: int, phase: str, values: Dict[str, float]) -> None:
        self.run.log({"inner_step": step, "phase": phase, **values})

    def finish(self) -> None:
        self.run.finish()


def mlflow_names(keys: Iterable[str]) -> List[str]:
    """Names that MLflow 3 takes for parameters: letters, digits, "_-. :", at most 250, each once. Keys hold labels as they are."""
    names: List[str] = []
    for key in keys:
        name = re.sub(r"[^\w\-. :]", "_", key)
        if name in names or len(name) > 250:
            name = f"{name[:230]}_{hashlib.blake2b(key.encode(), digest_size=6).hexdigest()}"
        names.append(name)
    return names


class Mlflow:
    """A file store in FOLDER; `MLFLOW_ALLOW_FILE_STORE=true mlflow ui --backend-store-uri FOLDER` shows it."""

    def __init__(self, out: str, project: str, case: str, config: Dict[str, Any]) -> None:
        os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")  # mlflow 3 refuses; its data bases need sqlalchemy
        tracking = module("mlflow.tracking", "mlflow", "mlflow-skinny")
        self.client = tracking.MlflowClient(pathlib.Path(out).resolve().as_uri())
        found = self.client.get_experiment_by_name(project)
        experiment = found.experiment_id if found else self.client.create_experiment(project)
        self.run = self.client.create_run(experiment, run_name=case).info.run_id
        for key, value in zip(mlflow_names(config), config.values()):
            self.client.log_param(self.run, key, value)

    def log(self, step: int, phase: str, values: Dict[str, float]) -> None:
        for name, value in values.items():
            tag = f"{name}_before" if phase == "before" else name
            self.client.log_metric(self.run, tag, value, timestamp=int(1000 * values.get("simulated_s", time.time())), step=step)

    def finish(self) -> None:
        self.client.set_terminated(self.run)


class Trackio:
    def __init__(self, out: str, project: str, case: str, config: Dict[str, Any]) -> None:
        self.run = module("trackio", "trackio").init(project=project, name=case, config=config)

    def log(self, step: int, phase: str, values: Dict[str, float]) -> None:
        self.run.log({"phase": phase, **values}, step=step)

    def finish(self) -> None:
        self.run.finish()


TRACKERS = {"csv": Csv, "tensorboard": Tensorboard, "wandb": Wandb, "mlflow": Mlflow, "trackio": Trackio}


def curves(run: RunDirectory, goes_on: bool) -> Iterator[Tuple[str, Dict[str, Any], pathlib.Path]]:
    """Of each case, and of each training while the run goes on: name, configuration, file."""
    if goes_on:
        for file in sorted(run.path.glob("train/*/metrics.csv")):
            yield file.parent.name, {}, file
    if goes_on and not (run.path / "summary.json").exists():
        return
    for record in run.summary["cases"]:
        config = flat({key: record[key] for key in ("label", "seed", "replicas", "parameters") if key in record})
        yield record["case"], {**config, **record["swept"]}, run.path / "cases" / record["case"] / "metrics.csv"


def track(path: str, to: str, out: str, project: str = "", follow: bool = False, every_s: float = 5, patience_s: float = 15) -> int:
    """Returns how many evaluations were passed on. With `follow` until the run is no longer running; RunFailed where it says
    that it is and no process has written there for `patience_s`."""
    logged: Dict[str, int] = {}
    open_trackers: Dict[str, Any] = {}
    written_at = time.monotonic()
    while True:
        is_alive = not follow or is_written(pathlib.Path(path))  # before its files are read: it may end after this
        run = RunDirectory(path)  # reads each file once
        goes_on = follow and run.status == "running"
        for name, config, file in curves(run, goes_on):
            rows = [row for row in read_csv(file) if row["replica"] == "mean"] if file.exists() else []
            if rows and name not in open_trackers:
                open_trackers[name] = of_tracker(to, lambda: TRACKERS[to](out, project or run.scenario["name"], name, config))
            for row in rows[logged.get(name, 0):]:
                numbers = {number: float(row[number]) for number in NUMBERS if number in row}
                of_tracker(to, lambda: open_trackers[name].log(int(row["step"]), row["phase"], numbers))
            logged[name] = len(rows)
        if is_alive:
            written_at = time.monotonic()
        is_dead = goes_on and time.monotonic() - written_at >= patience_s
        if not goes_on or is_dead:
            for tracker in open_trackers.values():
                of_tracker(to, tracker.finish)
            if is_dead:
                raise RunFailed(f"{path}: its manifest says that it is running, and no process writes there: it was killed; "
                                f"{sum(logged.values())} evaluations were passed on; `longhaul run --resume` continues it", 1)
            return sum(logged.values())
        time.sleep(every_s)


def main(arguments: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m longhaul.track", description=__doc__.split("\n")[0])
    parser.add_argument("run", help="a run directory")
    parser.add_argument("--to", required=True, choices=list(TRACKERS))
    parser.add_argument("--out", default="tracked", help="folder of csv, tensorboard, wandb and mlflow; default tracked")
    parser.add_argument("--project", default="", help="default: the scenario's name")
    parser.add_argument("--follow", action="store_true", help="goes on while the run does")
    options = parser.parse_args(arguments)

    def pass_on() -> None:
        count = track(options.run, options.to, options.out, options.project, options.follow)
        if count == 0:
            raise InputError(f"{options.run}: no case has an evaluation; allowed: a run whose scenario has a train section")
        print(f"{count} evaluations to {options.to}")
    return exit_status(pass_on)


if __name__ == "__main__":
    sys.exit(main())
