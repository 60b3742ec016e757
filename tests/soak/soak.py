#!/usr/bin/env python3
"""Random scenarios, killed and resumed at random, end with the bytes of undisturbed ones.

    tests/soak/soak.py BUILD/bin FOLDER [--seconds 3600] [--scenarios N] [--seed 1]

Each scenario runs once undisturbed, with one job, and once with `--jobs 2`, with a signal (SIGKILL, SIGINT or SIGTERM to the
command, to one of its children or to all of them) at a random moment, resumed until its end. Every file of the two run
directories is compared, but for those that hold wall times. No process may be left over after the end of a command.
FOLDER gets scenario and run directories of what differs, a line a scenario in `soak.jsonl`, and `summary.json`. The peaks of
the command's memory are compared too: the last third of the hour with the first one.
Exit status 1 where something was found.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from disturbed import Command, disturbance, gone
from run_contents import contents, differences
from scenarios import Draw, declared_methods

LONGEST_S = 180
# How the command may end after a signal to one of its processes.
ALLOWED = {"parent": {130, -9, -2, -15}, "child": {1, 130}, "all": {1, 130, -9, -2, -15}}
# What a run says of a case in which nobody gets anywhere; it has no result to compare.
GIVES_UP = "no replica completes a step: faults are more frequent than steps"


class Found(Exception):
    """Something that should not be."""


class Soak:
    def __init__(self, programs, folder, seed):
        self.longhaul, self.folder, self.seed = str(programs / "longhaul"), folder, seed
        self.methods = declared_methods(self.longhaul)
        self.counts = collections.Counter()
        self.found, self.peaks = [], []  # peaks: (seconds since the start, kB)
        self.start = time.monotonic()

    def drawn(self, number):
        """A scenario that `longhaul check` takes, in a file of its own folder."""
        folder = self.folder / f"{number:05}"
        folder.mkdir(parents=True)
        for attempt in range(1000):
            scenario = Draw(self.methods, self.seed, f"{number}/{attempt}").scenario()
            (folder / "scenario.json").write_text(json.dumps(scenario, indent=1))
            check = subprocess.run([self.longhaul, "check", str(folder / "scenario.json")], capture_output=True, text=True)
            if check.returncode == 0:
                return folder
            self.counts["refused"] += 1
            if check.returncode != 2:
                raise Found(f"check ended with {check.returncode}: {check.stderr[-500:]}")
        raise Found("no scenario that check takes")

    def run(self, folder, out, jobs, *more, moment_s=None, disturb=None):
        word = f"{os.getpid()}-{self.counts['commands']}"
        self.counts["commands"] += 1
        command = Command([self.longhaul, "run", folder / "scenario.json", "--out", folder / out, "--quiet",
                           "--jobs", str(jobs), *more], word)
        status = command.wait(LONGEST_S, moment_s, disturb)
        left = gone(word, 0 if status is None else 30)
        if status is None:
            raise Found(f"{out} did not end within {LONGEST_S} s: processes {left}")
        if left:
            raise Found(f"{out} left processes over: {left}, status {status}, sent {command.sent}")
        self.peaks.append((time.monotonic() - self.start, command.peak_kb))
        command.finish()
        return command, status

    def disturbed(self, folder, seconds, draw):
        """Runs and resumes until it has ended by itself."""
        for attempt in range(draw.choice([1, 2, 3, 5, 8])):
            moment_s = draw.uniform(0, draw.choice([0.1, 0.4, 0.8]) * seconds)
            command, status = self.run(folder, "disturbed", 2, *["--resume"] * (attempt > 0),
                                       moment_s=moment_s, disturb=disturbance(draw))
            sent = command.sent
            if sent:
                self.counts.update([" to ".join(sent), "signals"])
            if status == 0:
                break
            if not sent or status not in ALLOWED[sent[1]]:
                raise Found(f"ended with {status} after {sent}: {command.words[-1000:]}")
        command, status = self.run(folder, "disturbed", 2, "--resume")
        if status != 0:
            raise Found(f"disturbed ended with {status}: {command.words[-1000:]}")

    def one(self, number):
        folder = self.drawn(number)
        whole = folder / "undisturbed"
        command, status = self.run(folder, whole.name, 1)
        if status == 0:
            self.disturbed(folder, command.seconds, random.Random(f"{self.seed}/{number}/signals"))
            if differing := differences(whole, folder / "disturbed"):
                raise Found(f"{len(differing)} files differ: {differing[:20]}")
            self.counts.update(files=len(contents(whole)), cases=len(list((whole / "cases").iterdir())),
                               trainings=len(list(whole.glob("train/*"))))
        elif status == 1 and GIVES_UP in command.words:
            self.counts["given up"] += 1
        else:
            raise Found(f"undisturbed ended with {status}: {command.words[-1000:]}")
        shutil.rmtree(folder)

    def memory(self):
        """Medians and largest of the peaks in the first and last third of the time, in MB."""
        end = self.peaks[-1][0] if self.peaks else 0
        first = [kb / 1024 for at, kb in self.peaks if at <= end / 3]
        last = [kb / 1024 for at, kb in self.peaks if at >= end * 2 / 3]
        if len(first) < 20 or len(last) < 20:
            return {}
        figures = {}
        for name, of in (("median", statistics.median), ("largest", max)):
            figures[name] = {"first_third_mb": round(of(first), 1), "last_third_mb": round(of(last), 1)}
            if of(last) > 1.1 * of(first):
                self.found.append({"what": f"memory grows: {name} of the peaks {of(first):.1f} MB, then {of(last):.1f} MB"})
        return figures

    def go(self, seconds, scenarios):
        number = 0
        while number < scenarios and time.monotonic() - self.start < seconds:
            started, what = time.monotonic(), None
            try:
                self.one(number)
            except Found as found:
                what = str(found)
                self.found.append({"scenario": number, "what": what})
            line = {"scenario": number, "seconds": round(time.monotonic() - started, 1), "found": what}
            with open(self.folder / "soak.jsonl", "a") as out:
                out.write(json.dumps(line) + "\n")
            print(f"{number}: {line['seconds']} s{', FOUND: ' + what if what else ''}", flush=True)
            number += 1
        memory = self.memory()
        summary = {"scenarios": number, "seconds": round(time.monotonic() - self.start), **dict(sorted(self.counts.items())),
                   "memory": memory, "found": self.found}
        (self.folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
        print(json.dumps(summary, indent=1))
        return 1 if self.found or number == 0 or self.counts["signals"] == 0 else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--scenarios", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for old in options.folder.iterdir():
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    return Soak(options.programs.resolve(), options.folder.resolve(), options.seed).go(options.seconds, options.scenarios)


if __name__ == "__main__":
    sys.exit(main())
