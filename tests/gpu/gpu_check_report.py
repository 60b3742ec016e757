#!/usr/bin/env python3
"""Joins what the steps of scripts/gpu_check.sh left in a folder into one JSON object, printed.

usage: gpu_check_report.py FOLDER [--cpu]

Exit status 0 where every step ended with 0, tests passed and, with a GPU, no test that needs one was skipped.
"""
import datetime
import json
import pathlib
import platform
import subprocess
import sys

STEPS = ["configure", "build", "tests", "export", "benchmark"]
TREE = pathlib.Path(__file__).resolve().parents[2]


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
    found = {"passed": 0, "failed": [], "skipped": []}
    for suite in report["testsuites"]:
        for test in suite["testsuite"]:
            name = suite["name"] + "." + test["name"]
            if test.get("failures"):
                found["failed"].append(name)
            elif test.get("result") == "SKIPPED":
                found["skipped"].append(name)
            else:
                found["passed"] += 1
    return found


def output_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        return []


def first_line(*command):
    return next(iter(output_of(*command)), None)


def card_of():
    fields = ["name", "driver_version", "memory.total"]
    line = first_line("nvidia-smi", "--query-gpu=" + ",".join(fields), "--format=csv,noheader")
    found = line.split(", ") if line else [None] * len(fields)
    return dict(zip(["card", "driver", "card_memory"], found))


def built_from(training, cpu):
    """What the figures belong to: this tree's commit (with "-dirty" where files were changed since), and what was used."""
    nvcc = [line for line in output_of("nvcc", "--version") if "release" in line]
    return {"commit": first_line("git", "-C", str(TREE), "describe", "--always", "--dirty", "--abbrev=40"),
            "libtorch": training.get("libtorch"), "blas": training.get("blas"), "nvcc": nvcc[0] if nvcc and not cpu else None,
            "date": datetime.date.today().isoformat(), "machine": platform.machine()}


def problems_of(result):
    """Why this is not a pass, in sentences; none where it is one."""
    problems = [f"step {name}: {step['status']}" for name, step in result["steps"].items() if step["status"] != "passed"]
    tests = result.get("tests", {"passed": 0, "skipped": []})
    if not tests["passed"]:
        problems.append("no test passed")
    if not result["is_dry_run_without_gpu"]:
        problems += [f"{name} needs the GPU and was skipped" for name in tests["skipped"] if "Device" in name or "Gpu" in name]
    return problems


def main():
    folder, cpu = pathlib.Path(sys.argv[1]), "--cpu" in sys.argv
    training = read_json(folder / "run" / "training.json") or {}
    result = {"passed": False, "problems": [], "is_dry_run_without_gpu": cpu, **({} if cpu else card_of()),
              **built_from(training, cpu),
              "steps": {name: step_of(folder, name) for name in STEPS if not (cpu and name == "benchmark")}}
    tests = read_json(folder / "tests.json")
    if tests:
        result["tests"] = tests_of(tests)
    for part in ("export", "benchmark"):
        found = read_json(folder / (part + ".json"))
        if found:
            result[part] = found
    if "export" in result:
        result["export"]["trained_on"] = training.get("device")
    result["problems"] = problems_of(result)
    result["passed"] = not result["problems"]
    print(json.dumps(result, indent=2))
    return 0 if result["passed"] else 1


if __name__ == "__main__":
    sys.exit(main())
