"""DeepSpeed's log with wall_clock_breakdown (utils/timer.py at 038beb63): `time (ms) | fwd: … | bwd: … | bwd_inner: … | bwd_allreduce: … | step: …`.

All are ms of one optimizer step. bwd holds bwd_inner and bwd_allreduce, so a step is fwd + bwd + step. Lines of `…_microstep` are
parts of it.
"""

from __future__ import annotations

import re
from typing import Optional, Sequence

from longhaul.observed.logs.numbers import NUMBER, TIME
from longhaul.observed.taken import Point, Series, Step, Taken
from longhaul.observed.trackers.columns import Asked

_LINE = re.compile(rf"time \(ms\)((?: \| [\w-]+: {TIME}(?![\w.]))+)")
_SAMPLES = re.compile(rf"global_step=(\d+), RunningAvgSamplesPerSec=({NUMBER}), CurrSamplesPerSec=({NUMBER})")
SOURCE = "fwd + bwd + step, ms"


def read(lines: Sequence[str], file: str, asked: Asked) -> Optional[Taken]:
    taken = Taken(file, "deepspeed")
    samples = Series("samples_per_s", [])
    parts_of_steps = 0
    for line in lines:
        if match := _SAMPLES.search(line):
            samples.points.append(Point(float(match[3]), int(match[1])))
        for of_line in _LINE.finditer(line):
            times = {name: float(value) for name, value in re.findall(rf"\| ([\w-]+): ({TIME})", of_line[1])}
            if {"fwd", "bwd", "step"} <= times.keys():
                taken.steps.append(
                    Step(
                        (times["fwd"] + times["bwd"] + times["step"]) / 1000,
                        SOURCE,
                        len(taken.steps) + 1,
                        left="" if taken.steps else "the first recorded",
                        exchanging_s=times["bwd_allreduce"] / 1000 if "bwd_allreduce" in times else None,
                    )
                )
            else:
                parts_of_steps += 1
    if not taken.steps and not samples.points and not parts_of_steps:
        return None
    if samples.points:
        taken.series.append(samples)
        taken.took.append(f"{len(samples.points)} lines: CurrSamplesPerSec, samples a second, from step 2 on")
    if taken.steps:
        taken.took.append(f"{len(taken.steps)} steps: {SOURCE}; bwd_allreduce as exchanging_s")
        taken.notes.append(
            f"{file}: DeepSpeed's times hold no loading of data; bwd_allreduce holds the wait for late ranks; its lines have no "
            "number of a step, so they are counted"
        )
    if parts_of_steps:
        taken.left.append(f"{parts_of_steps} lines of parts of a step (…_microstep and others)")
    return taken
