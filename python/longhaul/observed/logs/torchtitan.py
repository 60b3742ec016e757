"""torchtitan's log (components/metrics.py at 00fbaafa): `step: 10  loss: …  tps: 1,234  tflops: …  mfu: …%`.

tps is tokens a second of one device, a mean since the line before, with loading of data. A step's time follows where the tokens of
a step are known: --tokens.
"""

from __future__ import annotations

import re
from typing import Optional, Sequence

from longhaul.observed.logs.numbers import NUMBER
from longhaul.observed.taken import Point, Series, Step, Taken
from longhaul.observed.trackers.columns import Asked

_LINE = re.compile(rf"(?<!validate )\bstep:\s*(\d+)\s+loss:\s*({NUMBER})\s.*\btps:\s*(\d[\d,]*)")
_VALIDATION = re.compile(rf"\bvalidate step:\s*(\d+)\s+loss:\s*({NUMBER})\s")
SOURCE = "--tokens over tps, a mean since the line before"


def read(lines: Sequence[str], file: str, asked: Asked) -> Optional[Taken]:
    taken = Taken(file, "torchtitan")
    loss, tps, validation = Series("loss", []), Series("tokens_per_s_of_a_device", []), Series("eval/loss", [])
    before = None
    for line in lines:
        if match := _VALIDATION.search(line):
            validation.points.append(Point(float(match[2]), int(match[1])))
        elif match := _LINE.search(line):
            step, rate = int(match[1]), float(match[3].replace(",", ""))
            loss.points.append(Point(float(match[2]), step))
            tps.points.append(Point(rate, step))
            if asked.tokens and rate > 0:
                count = step - before if before is not None and step > before else 1
                taken.steps.append(
                    Step(
                        asked.tokens / rate, SOURCE, step, count=count, left="" if before is not None else "the first recorded"
                    )
                )
            before = step
    if not loss.points:
        return None
    taken.series = [one for one in (loss, tps, validation) if one.points]
    taken.took.append(f"{len(tps.points)} lines: tps, tokens a second of one device, a mean since the line before")
    if taken.steps:
        taken.took.append(f"{len(taken.steps)} means of step times: {SOURCE}")
    else:
        taken.left.append(
            "steps: tps is of tokens; give --tokens N, the tokens that one device works through in a step "
            "(local batch size times sequence length, over the ranks of tensor, context and pipeline parallelism)"
        )
    return taken
