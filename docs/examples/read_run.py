#!/usr/bin/env python3
"""Reads a run directory of Longhaul with Python's standard library alone (docs/formats.md has every file).

    python3 docs/examples/read_run.py results/quickstart

Prints one line a case, as CSV: its synchronization time worked out from the exchanges, its last loss from the metrics,
the bytes that its links carried, and the root mean square of the weights in its training's newest checkpoint.
"""
import array
import csv
import json
import math
import pathlib
import sys


def read_csv(file):
    """Rows as {column: text}. A last line without its end comes from a run that was killed."""
    text = file.read_text(encoding="utf-8")
    return list(csv.DictReader(text[: text.rfind("\n") + 1].splitlines()))


def read_json_lines(file):
    text = file.read_text(encoding="utf-8")
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def read_safetensors(file):
    """{name: (shape, numbers)} of the float32 tensors: a length of 8 bytes, a JSON header, the data."""
    data = file.read_bytes()
    size = int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + size]).items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        begin, end = entry["data_offsets"]
        numbers = array.array("f", data[8 + size + begin : 8 + size + end])
        if sys.byteorder == "big":
            numbers.byteswap()
        tensors[name] = (entry["shape"], numbers)
    return tensors


def sync_time(case_folder):
    """Mean over outer steps and replicas of done - start, seconds; exchanges of one step are summed. None without any.

    Exchanges that overlap with compute hold nobody up: their rules are left out."""
    rules = read_json_lines(case_folder / "trace.jsonl")[0]["rules"]
    blocking = {rule["name"] for rule in rules if rule["overlap_steps"] == 0}
    sums = {}
    for row in read_csv(case_folder / "exchanges.csv"):
        if row["exchange"] in blocking:
            key = row["step"], row["replica"]
            sums[key] = sums.get(key, 0) + float(row["done_s"]) - float(row["start_s"])
    return sum(sums.values()) / len(sums) if sums else None


def last_loss(case_folder):
    """The mean over replicas at the last evaluation; None where nothing was trained."""
    file = case_folder / "metrics.csv"
    rows = [row for row in read_csv(file) if row["replica"] == "mean"] if file.exists() else []
    return float(rows[-1]["loss"]) if rows else None


def weight_size(train_folder):
    """Root mean square of all replicas' weights, [R, P], in the newest checkpoint."""
    checkpoints = (train_folder / "checkpoints").glob("step-*.json")
    newest = max(checkpoints, key=lambda file: int(file.stem.split("-")[1]))
    _, weights = read_safetensors(newest.with_suffix(".safetensors"))["weights"]
    return math.sqrt(sum(value * value for value in weights) / len(weights))


def main(run):
    summary = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    if summary["format"] > 1:
        sys.exit(f"{run}: format {summary['format']}; this script reads format 1")
    table = csv.writer(sys.stdout)
    table.writerow(["case", "sync_time_s", "final_loss", "wire_bytes", "weight_rms"])
    for record in summary["cases"]:
        if record["status"] != "done":
            continue
        folder = run / "cases" / record["case"]
        wire_bytes = sum(float(row["bytes"]) for row in read_csv(folder / "links.csv"))
        weights = weight_size(run / "train" / record["training"]) if "training" in record else None
        table.writerow([record["case"], sync_time(folder), last_loss(folder), wire_bytes, weights])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))
