"""Reading the run directory that `longhaul run` has written. docs/formats.md describes every file and column."""
from __future__ import annotations

import json
import os
import pathlib
from typing import Any, Dict, List, Optional, Union

from longhaul.errors import InputError, reading
from longhaul.tables import Curve, Table, flat, read_csv, with_same_keys

Path = Union[str, "os.PathLike[str]"]

# What a learning curve may be drawn against.
AXES = ("steps", "time", "bytes", "tokens")


class RunDirectory:
    """One run. Times are seconds, sizes bytes, losses nats a token. Reads when it is asked, and each JSON file once.

    InputError where the folder is no run directory, the run has not written the file that is asked for, or it is damaged.
    """

    def __init__(self, path: Path) -> None:
        self.path = pathlib.Path(path)
        if not (self.path / "scenario.json").exists():
            raise InputError(f"{self.path}: no run directory (it has no scenario.json)")
        self._json: Dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"RunDirectory({str(self.path)!r})"

    def __fspath__(self) -> str:
        return str(self.path)

    def _read(self, name: str) -> Any:
        if name not in self._json:
            with reading(self.path / name):
                self._json[name] = json.loads((self.path / name).read_text(encoding="utf-8"))
        return self._json[name]

    @property
    def scenario(self) -> Dict[str, Any]:
        """The scenario as it was written, with --set applied."""
        return self._read("scenario.json")

    @property
    def manifest(self) -> Dict[str, Any]:
        """Resolved scenario, version, build, hashes, host, dates and wall times."""
        return self._read("manifest.json")

    @property
    def summary(self) -> Dict[str, Any]:
        """Records of the cases and of the claims, as in summary.json. InputError where a case's name, which is that of
        its folder, leads out of the run."""
        summary = self._read("summary.json")
        for record in summary["cases"]:
            if record["case"] in ("", ".", "..") or any(sign in record["case"] for sign in "/\0"):
                raise InputError(f"{self.path / 'summary.json'}: found the case {record['case']!r}; "
                                 "allowed: the name of a folder, without '/'")
        return summary

    @property
    def claims(self) -> List[Dict[str, Any]]:
        """The verdict on each claim: `id`, `verdict` (holds, fails, undecided), `measured`, `interval`, ..."""
        with reading(self.path / "summary.json"):
            return self.summary["claims"]

    @property
    def status(self) -> str:
        """running, done, failed or interrupted."""
        with reading(self.path / "manifest.json"):
            return self.manifest["status"]

    @property
    def report(self) -> pathlib.Path:
        """The HTML page of the run."""
        return self.path / "report.html"

    def swept_keys(self) -> List[str]:
        """The dotted keys that the sweep varies; each is a column of cases()."""
        with reading(self.path / "summary.json"):
            return list(dict.fromkeys(key for record in self.summary["cases"] for key in record["swept"]))

    def cases(self) -> Table:
        """A row a case: `case`, `label`, `seed`, the swept keys, and every number with a dotted name."""
        rows = []
        with reading(self.path / "summary.json"):
            for record in self.summary["cases"]:
                record = dict(record)
                swept = record.pop("swept")
                rows.append({**{key: record.pop(key) for key in ("case", "status", "label", "seed") if key in record},
                             **swept, **flat({key: value for key, value in record.items() if key not in swept})})
            return with_same_keys(rows)

    def case(self, name: str) -> Dict[str, Any]:
        """The record of one case as it is in summary.json. InputError that lists the names there are."""
        with reading(self.path / "summary.json"):
            for record in self.summary["cases"]:
                if record["case"] == name:
                    return record
            names = ", ".join(repr(record["case"]) for record in self.summary["cases"])
        raise InputError(f"case: found {name!r}; allowed: {names}")

    def _folder_of(self, case: str) -> pathlib.Path:
        return self.path / "cases" / self.case(case)["case"]

    def _table(self, name: str, case: Optional[str]) -> Table:
        if case is not None:
            self.case(case)  # an unknown one is an error, not a table without rows
        return read_csv(self.path / name, case)

    def metrics(self, case: Optional[str] = None) -> Table:
        """A row for each evaluation and replica, and one for their mean (replica "mean"). Of one case or of all.

        InputError for a case that the run does not have; so in exchanges() and links().
        """
        return self._table("metrics.csv", case)

    def exchanges(self, case: Optional[str] = None) -> Table:
        """A row for each exchange and participant: when it was ready, started, done, and its bytes."""
        return self._table("exchanges.csv", case)

    def links(self, case: Optional[str] = None) -> Table:
        """A row for each link and direction: bytes on the wire and the time in which messages were under way over it."""
        return self._table("links.csv", case)

    def learning_curve(self, case: str, by: str = "time", averaged: bool = False) -> Curve:
        """(x, loss) at each evaluation, mean over the replicas.

        by: "steps" (inner steps), "time" (simulated seconds), "bytes" (that a replica has sent, mean) or "tokens" (of all
        replicas together; in proportion to the steps). averaged: the loss of the averaged weights instead of the mean of
        the losses. An evaluation before an outer step and the one after it are two points.
        """
        if by not in AXES:
            raise InputError(f"by: found {by!r}; allowed: {', '.join(AXES)}")
        file = self._folder_of(case) / "metrics.csv"
        column = {"steps": "step", "time": "simulated_s", "bytes": "bytes_sent", "tokens": "step"}[by]
        factor = self._tokens_of_step(case) if by == "tokens" else 1
        loss = "loss_of_mean" if averaged else "loss"
        with reading(file):
            points = [(factor * row[column], row[loss]) for row in read_csv(file) if row["replica"] == "mean"]
        return Curve(points, by)

    def curves(self) -> Table:
        """The learning curves of all cases that trained, tidy: a row for each case and evaluation.

        Columns: `case`, `label`, `method`, `seed`, the swept keys, `step`, `phase` (plain, or before and after an outer
        step), `time` (simulated seconds), `bytes` (that a replica has sent, mean), `tokens` (of all replicas together, in
        proportion to the steps), `loss` (nats a token, mean over the replicas) and `loss_of_mean` (of the averaged
        weights). Cases that trained nothing have no row.
        """
        metrics: Dict[str, List[Dict[str, Any]]] = {}
        for row in self.metrics():
            if row["replica"] == "mean":
                metrics.setdefault(str(row["case"]), []).append(row)
        rows = []
        with reading(self.path / "summary.json"):
            for record in self.summary["cases"]:
                if record["case"] not in metrics:
                    continue
                tokens = self._tokens_of_step(record["case"])
                about = {key: record.get(key) for key in ("case", "label", "method", "seed")}
                about.update(record["swept"])
                rows += [{**about, "step": row["step"], "phase": row["phase"], "time": row["simulated_s"],
                          "bytes": row["bytes_sent"], "tokens": tokens * row["step"], "loss": row["loss"],
                          "loss_of_mean": row["loss_of_mean"]} for row in metrics[record["case"]]]
        return with_same_keys(rows)

    def _tokens_of_step(self, case: str) -> float:
        record = self.case(case)
        if "tokens" not in record:
            raise InputError(f"{case}: nothing was trained")
        file = self._folder_of(case) / "case.json"
        with reading(file):
            return record["tokens"] / json.loads(file.read_text(encoding="utf-8"))["train"]["steps"]
