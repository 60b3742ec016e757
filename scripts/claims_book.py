#!/usr/bin/env python3
"""Ten published claims, each with what this tool says of it: `make claims-book` writes results/reference/claims/book.md.

    scripts/claims_book.py LONGHAUL > book.md

What takes seconds is run; NoLoCo's claim, which takes ten minutes, is read from the page that `make claims` left.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[1]
LONGHAUL = sys.argv[1]
CASE_ERROR = 0.07  # of the network model, as longhaul's own verdicts have it
NEAR = 0.15  # a prediction of a published figure holds within this, as docs/validation/real-runs.md counts


class Row:
    """Of one claim: figure and interval as text, the verdict, and what to type."""

    def __init__(self, figure, verdict, command, minutes):
        self.figure, self.verdict, self.command, self.minutes = figure, verdict, command, minutes


def run(*arguments):
    started = time.monotonic()
    done = subprocess.run([LONGHAUL, *arguments], cwd=SOURCE, capture_output=True, text=True, check=True)
    return done.stdout, (time.monotonic() - started) / 60


def summary(scenario):
    with tempfile.TemporaryDirectory() as folder:
        _, minutes = run("run", f"scenarios/{scenario}.json", "--out", f"{folder}/run", "--jobs", "2", "--quiet")
        read = json.loads(pathlib.Path(folder, "run/summary.json").read_text())
        return read, f"longhaul run scenarios/{scenario}.json", minutes


def verdict_of(verdicts):
    return next((verdict for verdict in ("fails", "undecided") if verdict in verdicts), "holds")


def claims(scenario, first, figure):
    """A verdict on all claims of the scenario whose ids begin with one of `first`; `figure` has that claim's place."""
    read, command, minutes = summary(scenario)
    of = [claim for claim in read["claims"] if claim["id"].startswith(first)]
    shown = next(claim for claim in of if claim["id"] == first[0])
    numbers = {"measured": shown["measured"], "low": shown["possible"][0], "high": shown["possible"][1], "claims": len(of)}
    return Row(figure.format(**numbers), verdict_of([claim["verdict"] for claim in of]), command, minutes)


def published(figure, *names):
    """`figure` of the rows (what, published, predicted, ratio) that `longhaul validate` prints."""
    text, minutes = run("validate", *names, "--format", "markdown", "--jobs", "2")
    rows = [[cell.strip(" *") for cell in line.split(" | ")] for line in text.splitlines()
            if re.match(r"\| .* \| [\d.]+ ?\S* (\(.*\) )?\| [\d.]+", line)]
    words, verdict = figure([(row[0].strip("| "), row[1], row[2], float(row[3]), row[4].strip(" |")) for row in rows])
    return Row(words, verdict, f"longhaul validate {' '.join(names)}", minutes)


def within(rows):
    worst = max(rows, key=lambda row: abs(row[3] - 1))
    ratios = f"{len(rows)} figures, predicted over published {min(row[3] for row in rows)} to {max(row[3] for row in rows)}"
    return f"{ratios} (published {worst[1]}, here {worst[2]})", "holds" if abs(worst[3] - 1) <= NEAR else "fails"


def torchft(rows):
    often = [row for row in rows if "15 s" in row[0]]
    (words, verdict), (more, then) = within([row for row in rows if row not in often]), within(often)
    return f"{words}. One every 15 s: {more}", f"{verdict} (with one every 15 s: {then})"


def utilization(rows):
    """100 inner steps of 38 s and one all-reduce; the interval is over what the report leaves open."""
    seconds = [[float(row[2].split()[0]), *(float(time) for time in re.findall(r": ([\d.]+) s", row[4]))] for row in rows]
    shares = [[100 * 3800 / (3800 + time) for time in times] for times in seconds]
    low, high = min(min(one) for one in shares), max(max(one) for one in shares)
    own = sorted(one[0] for one in shares)
    words = f"{own[0]:.0f} to {own[-1]:.0f} % [{low:.0f}, {high:.0f}], over what places, order and connections may have been"
    return words, "holds" if 83 <= low and high <= 96 else "undecided" if low <= 96 and high >= 83 else "fails"


def skippipe():
    read, command, minutes = summary("pipelines/skip-time")
    steps = {(*map(str, case["swept"].values()), case["label"]): case["step_time_s"] for case in read["cases"]}
    saved = sorted(1 - time / steps[(*point, "all stages")] for *point, label in steps
                   for time in [steps[(*point, label)]] if label.startswith("skip 2"))
    ratio, error = 1 - saved[-1], (1 + CASE_ERROR)**2
    low, high = 1 - ratio * error, 1 - ratio / error
    shares = [100 * share for share in (saved[0], saved[-1], low, high)]
    return Row("two stages left out save {:.0f} to {:.0f} %; the most is [{:.0f}, {:.0f}]".format(*shares),
               "holds" if low >= 0.55 else "fails" if high < 0.55 else "undecided", command, minutes)


def noloco():
    page = (SOURCE / "results/reference/claims/star.md").read_text()
    points, low, high, hold, undecided, fail = re.search(
        r"### star-exchange\n.*?(\d+) points: ([\d.]+) – ([\d.]+), (\d+) hold, (\d+) undecided, (\d+) fail", page, re.S).groups()
    return Row(f"{low} to {high} times at {points} points of a star: {hold} hold, {undecided} undecided, {fail} fail",
               "fails" if int(fail) > int(hold) else "holds", "longhaul run scenarios/paper/claim-internet.json", 10)


def streaming():
    """Between a rate that is not enough and one that is, of both: what the factor between them may be."""
    read, command, minutes = summary("paper/streaming-diloco-bandwidth")
    ids = [f"{of}-95-{side}" for of in ("ddp", "streaming-4bit") for side in ("needed", "enough")]
    rate = {claim["id"]: float(claim["where"]["network.topology.star.rate"].removesuffix("Gbps")) for claim in
            json.loads((SOURCE / "scenarios/paper/streaming-diloco-bandwidth.json").read_text())["claims"]}
    verdict = verdict_of([claim["verdict"] for claim in read["claims"] if claim["id"] in ids])
    ddp_low, ddp_high, low, high = (rate[name] for name in ids)
    return Row(f"from {low} to {high} instead of from {ddp_low} to {ddp_high} Gb/s: {ddp_low / high:.0f} to {ddp_high / low:.0f} times",
               verdict, command, minutes)


def dilocox():
    """Not judged; what an all-reduce of 107 B parameters in bf16 among 20 takes by its bytes."""
    seconds = 2 * 19 / 20 * 107e9 * 16 / 1e9
    return Row("", "not judged, because the time of a step decides it and is not among the figures at hand; an all-reduce among its "
               f"20 groups takes {seconds:.0f} s by its bytes, so that 357 asks for steps of {seconds / 356:.1f} s", "", 0)


BOOK = [
    ("Pairs synchronize an order of magnitude faster than DiLoCo's all-reduce", "NoLoCo, arXiv 2506.10911", noloco),
    ("95 % utilization at 1 B parameters needs 2 Gb/s instead of data parallelism's 222", "Streaming DiLoCo, arXiv 2501.18512",
     streaming),
    ("With an outer step of overlap 1 Gb/s hides all communication: 0.67, 2.7, 6.75 hours", "Eager updates, arXiv 2502.12996",
     lambda: claims("paper/eager-updates-hours", ("eager-25B-at-most", "eager-"),
                    "{claims} bounds of ± 10 %; 2000 steps take {measured:.0f} s [{low:.0f}, {high:.0f}], compute alone 200")),
    ("20 peers exchange 72.7 B parameters in 70 s at 110 Mb/s up, 500 Mb/s down", "Covenant-72B (SparseLoCo), arXiv 2508.15706",
     lambda: claims("paper/covenant-72b", ("as-published",), "{measured:.0f} s [{low:.0f}, {high:.0f}]")),
    ("107 B parameters at 1 Gb/s run 357 times as fast as with an all-reduce", "DiLoCoX, arXiv 2506.21263",
     dilocox),
    ("Goodput is 88 % where elastic data parallelism has 58 %, at 2.4 M chips", "Decoupled DiLoCo, arXiv 2604.21428",
     "failure rates and the chips of a learner are not among the figures at hand"),
    ("Accelerators compute 83 to 96 % of the time between continents", "INTELLECT-1, arXiv 2412.01152",
     lambda: published(utilization, "intellect-1-usa", "intellect-1-eu", "intellect-1-world")),
    ("A failure a minute leaves 82 % of the steps, of 10.9 s, and 99 % of 30 groups", "torchft, PyTorch blog, 2025-06-20",
     lambda: published(torchft, "torchft")),
    ("Leaving stages out shortens an iteration by up to 55 %", "SkipPipe, arXiv 2502.19913", skippipe),
    ("A step of eight stages over 200 Mb/s and 50 ms takes 100 s, and 19.9 s as improved", "Protocol NanoGPT, its two records",
     lambda: published(within, "protocol-nanogpt")),
]


def main():
    print(f"""# Ten published claims

Written by `make claims-book` on two cores. A prediction of a published figure holds within {100 * NEAR:.0f} %. Intervals are the
network model's error of {100 * CASE_ERROR:.0f} %, where the row does not say another.
""")
    print("| | claim | source | here | verdict | command | minutes |\n|---:|---|---|---|---|---|---:|")
    for number, (claim, source, judge) in enumerate(BOOK, 1):
        if isinstance(judge, str):
            row, minutes = Row("", f"not judged, because {judge}", "", 0), ""
        else:
            row = judge()
            minutes = "" if not row.command else "< 1" if row.minutes < 1 else f"{row.minutes:.0f}"
        command = row.command and f"`{row.command}`"
        print(f"| {number} | {claim} | {source} | {row.figure} | {row.verdict} | {command} | {minutes} |")


main()
