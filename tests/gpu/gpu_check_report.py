#!/usr/bin/env python3
"""Joins what the steps of scripts/gpu_check.sh left in a folder into one JSON object, printed.

usage: gpu_check_report.py FOLDER [--cpu]

Exit status 0 where every step ended with 0 and, with a GPU, no test that needs one was skipped.
"""
import datetime
import json
import pathlib
import platform
import subprocess
import sys

STEPS = ["configure", "build", "tests", "export", "benchmark"]


def read_json(file):
    try:
        return json.loads(file.read_text())
    except (OSError, ValueError):
        return None


def step_of(folder, name):
    try:
        status, seconds = (folder / (name + ".status")).read_text().split()
    except OSError:
        return {"status": "not run"}
    step = {"status": "passed" if status == "0" else "failed", "seconds": int(seconds)}
    if status != "0":
        step["end_of_log"] = (folder / (name + ".log")).read_text(errors="replace").splitlines()[-20:]
    return step


def tests_of(report):
    """Counts, and the names of the tests that failed or were skipped, from GoogleTest's JSON."""
    found = {"run": 0, "failed": [], "skipped": []}
    for suite in report["testsuites"]:
        for test in suite["testsuite"]:
            name = suite["name"] + "." + test["name"]
            if test.get("failures"):
                found["failed"].append(name)
            elif test.get("result") == "SKIPPED":
                found["skipped"].append(name)
            else:
                found["run"] += 1
    return found


def first_line(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return None


def main():
    folder, cpu = pathlib.Path(sys.argv[1]), "--cpu" in sys.argv
    result = {"card": None if cpu else first_line("nvidia-smi", "--query-gpu=name", "--format=csv,noheader"),
              "driver": None if cpu else first_line("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"),
              "is_dry_run_without_gpu": cpu,
              "date": datetime.date.today().isoformat(), "machine": platform.machine(),
              "steps": {name: step_of(folder, name) for name in STEPS if not (cpu and name == "benchmark")}}
    tests = read_json(folder / "tests.json")
    if tests:
        result["tests"] = tests_of(tests)
    for part in ("transformers", "benchmark"):
        found = read_json(folder / (part + ".json"))
        if found:
            result[part] = found
    passed = all(step["status"] == "passed" for step in result["steps"].values())
    skipped = [name for name in result.get("tests", {}).get("skipped", []) if "Device" in name or "Gpu" in name]
    if not cpu and skipped:
        passed, result["note"] = False, "tests that need the GPU were skipped"
    result["passed"] = passed
    print(json.dumps(result, indent=2))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
