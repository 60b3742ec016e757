#!/usr/bin/env python3
"""SimGrid, ns-3 and Longhaul's fidelities beside the Linux kernel on twenty points (points.py). By hand:

    validation/simulators/simulators.py run results/reference/simulators.csv [--only TOOL ...]
    validation/simulators/simulators.py table results/reference/simulators.csv [--into results/reference/simulators.md]

`run` appends a row for each tool, point and seed that the file does not hold; a run that is refused or does not end is a row without
times. It needs simgrid_exchange, longhaul and longhaul-sim in --programs, the network for the wheel `ns3`, and Debian's libns3-dev.
`table` prints the tables of results/reference/simulators.md from that file and from what the kernel took (results/reference/kernel);
with --into it puts them in the place of those that a page has.
"""
import argparse
import csv
import pathlib
import resource
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import points
import tools
from replays import ROOT, percents

COLUMNS = ["tool", "point", "seed", "status", "times_s", "cpu_s"]
SEEDS = {"ns-3.37, plain": 3, "ns-3 3.44": 5, "linux": 6}  # of those that draw in every point
SEEDS_OF_LOSS = {"packet": 5, "flow": 5}
TABLED = ["SimGrid LV08", "SimGrid CM02", "packet", "ns-3.37, plain", "ns-3 3.44", "linux", "flow"]
KINDS = {"the sender's own queue": "host", "a FIFO between two hosts": "fifo", "`fq_codel` with ECN between two hosts": "fq_codel-ecn",
         "groups behind FIFOs": "group"}


def read(path):
    if not pathlib.Path(path).exists():
        return []
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def seeds_of(name, point):
    return range(1, 1 + SEEDS.get(name, SEEDS_OF_LOSS.get(name, 1) if point.loss else 1))


def children_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def row_of(name, tool, point, seed):
    begun_s, times_s, status = children_s(), [], "done"
    try:
        times_s = list(point.named(tool.times_s(point, seed)).values())
    except tools.Failed as failure:
        status = str(failure)
    return {"tool": name, "point": point.name, "seed": seed, "status": status, "times_s": " ".join(f"{one:.6f}" for one in times_s),
            "cpu_s": f"{children_s() - begun_s:.3f}"}


def run(given):
    known = {(row["tool"], row["point"], int(row["seed"])) for row in read(given.file)}
    is_new = not known
    with open(given.file, "a", newline="") as file:
        rows = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if is_new:
            rows.writeheader()
        for name, make in tools.makers(given.work, given.programs).items():
            wanted = [(point, seed) for point in points.twenty() for seed in seeds_of(name, point)
                      if (name, point.name, seed) not in known and (not given.only or name in given.only)]
            tool = make() if wanted else None
            for point, seed in wanted:
                begun = time.monotonic()
                row = row_of(name, tool, point, seed)
                rows.writerow(row)
                file.flush()
                print(*row.values(), f"{time.monotonic() - begun:.1f} s", sep=" | ", flush=True)


class Results:
    """What the file says beside the kernel."""

    def __init__(self, rows, chosen):
        self.points, self.rows = chosen, {}
        for row in rows:
            self.rows.setdefault((row["tool"], row["point"]), []).append(row)

    def deviation(self, tool, point, exchange):
        """Of the mean over the seeds from the mean of the kernel's runs, relative; None if a seed has no times."""
        rows = self.rows[tool, point.name]
        if any(row["status"] != "done" for row in rows):
            return None
        at = point.exchanges.index(exchange)
        return statistics.fmean(float(row["times_s"].split()[at]) for row in rows) / statistics.fmean(point.runs[exchange]) - 1

    def status(self, tool, point):
        """Of the first seed without times, or nothing."""
        return next((row["status"] for row in self.rows[tool, point.name] if row["status"] != "done"), "")

    def deviations(self, tool, chosen):
        found = [self.deviation(tool, point, exchange) for point in chosen for exchange in point.exchanges]
        return [one for one in found if one is not None]

    def accepted(self, tools):
        return [point for point in self.points if not any(self.status(tool, point) for tool in tools)]

    def cpu_s(self, tool, chosen):
        """Of one seed."""
        return sum(statistics.fmean(float(row["cpu_s"]) for row in self.rows[tool, point.name]) for point in chosen)


def table(head, rows, words=1):
    """The first columns have words, the others have numbers."""
    lines = [head, ["---"] * words + ["---:"] * (len(head) - words), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def signed(deviation):
    return f"{100 * deviation:+.1f}".replace("-", "−")


def kernel_cell(runs_s):
    mean = f"{statistics.fmean(runs_s):.3f}"
    return f"{mean} ({min(runs_s):.3f}–{max(runs_s):.3f})" if len(runs_s) > 1 else mean


def point_rows(results):
    for point in results.points:
        for exchange in point.exchanges:
            found = [results.deviation(tool, point, exchange) for tool in TABLED]
            cells = [results.status(tool, point) if one is None else signed(one) for tool, one in zip(TABLED, found)]
            yield [point.name, exchange, kernel_cell(point.runs[exchange]), *cells]


def runs_of_kernel(chosen):
    """One run beside the mean of the others of its exchange, relative."""
    for point in chosen:
        for runs_s in point.runs.values():
            for i, run_s in enumerate(runs_s if len(runs_s) > 1 else []):
                yield run_s / statistics.fmean(runs_s[:i] + runs_s[i + 1:]) - 1


def summary_rows(results, chosen):
    found = {tool: results.deviations(tool, chosen) for tool in TABLED} | {"one run of the kernel": list(runs_of_kernel(chosen))}
    for name, deviations in found.items():
        *sizes, mean = percents(deviations)
        yield [name, str(len(deviations)), *(f"{size:.1f}" for size in sizes), signed(mean / 100)]


def class_rows(results):
    for words, kind in KINDS.items():
        found = [results.deviations(tool, [point for point in results.points if point.kind == kind]) for tool in TABLED]
        yield [words] + ["{:.1f}, {:.0f}".format(*percents(one)) if one else "refused" for one in found]


def processor_rows(results):
    for chosen in (results.accepted(TABLED), results.accepted([tool for tool in TABLED if tool != "flow"])):
        refused = [tool for tool in TABLED if any(results.status(tool, point) for point in chosen)]
        yield [f"{len(chosen)} points"] + ["" if tool in refused else f"{results.cpu_s(tool, chosen):.2f}" for tool in TABLED]


def tables(results):
    """{what: Markdown}."""
    sizes = ["median %", "95th %", "largest %", "mean, signed %"]
    return {"all": table(["all points that it accepts", "values", *sizes], summary_rows(results, results.points)),
            "shared": table(["points that all accept", "values", *sizes], summary_rows(results, results.accepted(TABLED))),
            "classes": table(["median, 95th %", *TABLED], class_rows(results)),
            "processor": table(["processor s", *TABLED], processor_rows(results)),
            "points": table(["point", "exchange", "kernel, s", *TABLED], point_rows(results), 3)}


def put_into(page, found):
    """Each table in the place of the one with the same first line."""
    text = page.read_text(encoding="utf-8")
    for one in found.values():
        begin = text.index(one.splitlines()[0])
        end = text.find("\n\n", begin)
        text = text[:begin] + one + (text[end:] if end >= 0 else "\n")
    page.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "table"))
    parser.add_argument("file", type=pathlib.Path, help="CSV file of the runs")
    parser.add_argument("--only", nargs="*", default=[], help="these tools")
    parser.add_argument("--into", type=pathlib.Path, help="a page that has the tables")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/simulators", help="folder for what is fetched and built")
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/bin", help="folder of Longhaul's programs")
    given = parser.parse_args()
    if given.what == "run":
        given.work.mkdir(parents=True, exist_ok=True)
        run(given)
        return
    found = tables(Results(read(given.file), points.twenty()))
    if given.into:
        put_into(given.into, found)
    else:
        print("\n\n".join(found.values()))


if __name__ == "__main__":
    main()
