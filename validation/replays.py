"""Replays of exchanges that no method makes, for what holds the network model against others: a case and a trace are written,
longhaul-sim replays them (docs/reference/formats/trace.md).
"""
import argparse
import copy
import csv
import json
import math
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
NOTHING_S = 1e-12  # a step takes more than 0; the clock has nanoseconds


class StatusError(Exception):
    """longhaul-sim did not end with 0."""

    def __init__(self, status, words):
        super().__init__(words)
        self.status = status


def rates(row, *columns):
    """Rates of a row as an option has them, `up` and `down` and the like."""
    return {column: f"{float(row[column])!r}bps" for column in columns}


def rows_of_table(description, measured_rows, columns):
    """The rows of a table of CSV: read from --read, or measured and written to --out. `measured_rows(program, folder, every)`."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, help="each N-th point alone")
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/bin")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--read", type=pathlib.Path)
    options = parser.parse_args()
    if options.read:
        with open(options.read, newline="") as file:
            return list(csv.DictReader(file))
    with tempfile.TemporaryDirectory() as scratch:
        rows = measured_rows(options.programs / "longhaul", pathlib.Path(scratch), options.every)
    if options.out:
        with open(options.out, "w", newline="") as file:
            writer = csv.DictWriter(file, columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    return rows


def times_of_exchanges(program, folder, scenario, exchanges):
    """Of each exchange of a scenario with one a step: from the last that is ready to the last that is done. `folder`: for its files."""
    (folder / "s.json").write_text(json.dumps(scenario))
    subprocess.run([program, "run", folder / "s.json", "--out", folder / "run", "--overwrite", "--quiet"], check=True,
                   capture_output=True)
    with open(folder / "run/exchanges.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    for step in range(1, exchanges + 1):
        of_step = [row for row in rows if row["step"] == str(step)]
        yield max(float(row["done_s"]) for row in of_step) - max(float(row["ready_s"]) for row in of_step)


class Replays:
    """`programs`: the folder of longhaul and longhaul-sim. Files are written to a folder that goes with this object."""

    def __init__(self, programs=ROOT / "build/bin", simulator=None):
        self.programs = pathlib.Path(programs)
        self.simulator = simulator or self.programs / "longhaul-sim"
        self._scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self._scratch.name)
        self._defaults = self._resolved_case()

    def _resolved_case(self):
        """A case with all its defaults, as longhaul writes it."""
        scenario = {"name": "defaults", "replicas": 2, "methods": [{"name": "diloco", "inner_steps": 1}],
                    "workload": {"parameters": 1, "wire": "int8", "steps": 1, "step_time": {"constant": "1s"}},
                    "network": {"fidelity": "analytic", "barrier": True, "topology": {"star": {"rate": "1Gbps", "rtt": "1ms"}}}}
        (self.folder / "defaults.json").write_text(json.dumps(scenario))
        subprocess.run([self.programs / "longhaul", "run", self.folder / "defaults.json", "--out", self.folder / "run"], check=True,
                       capture_output=True)
        return json.loads(next((self.folder / "run/cases").glob("*/case.json")).read_text())

    def exchanges(self, name, network, replicas, sent, step_s, steps, seed=1, before=None):
        """The rows of exchanges.csv, a list for each exchange. There is one at the end of each of `steps`; a step takes `step_s`, and
        the one behind an exchange begins when all replicas are done with it. `network` is that section, with the keys of `tcp` that
        are no defaults. `sent`: bytes of each replica, and the all-reduce that they are in, or a list of those to whom each replica
        sends them, or the keys of a rule of another kind, which has so many parameters. `before` runs in the child.
        """
        folder = self.write(name, network, replicas, sent, step_s, steps, seed)
        program = [self.programs / "longhaul", "linux"] if network.get("fidelity") == "linux" else [self.simulator]
        done = subprocess.run([*program, "--case", folder / "case.json", "--trace", folder / "trace.jsonl", "--out", folder,
                               "--quiet"], capture_output=True, text=True, preexec_fn=before)
        if done.returncode != 0:
            raise StatusError(done.returncode, done.stderr.strip())
        with open(folder / "exchanges.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        return [[row for row in rows if int(row["step"]) == step] for step in steps]

    def write(self, name, network, replicas, sent, step_s=0, steps=(1,), seed=1, groups=None, factors=None):
        """A folder with case.json and trace.jsonl. `groups`: lists of replicas among which the collective is, one each. `factors`: of
        each replica's steps."""
        bytes_each, how = sent
        case = copy.deepcopy(self._defaults)
        tcp = case["network"]["tcp"] | network.get("tcp", {})
        case.update(seed=seed, replicas=replicas, folder=str(self.folder), network=case["network"] | network | {"tcp": tcp})
        case["workload"].update(parameters=bytes_each, steps=steps[-1], step_time={"constant": f"{step_s or NOTHING_S!r}s"})
        if factors:
            case["workload"]["step_time_factors"] = {str(i): factor for i, factor in enumerate(factors)}
        rule = {"name": "exchange", "every": 1, "payload": [{"tensor": "delta", "codec": {"numbers": "int8"}}]}
        is_sent = isinstance(how, list)
        if is_sent:
            rule |= {"kind": "send", "collective": "send", "grouping": "targets", "group_size": 1}
        else:
            rule |= {"grouping": "everyone"} | ({"kind": "all-reduce", "collective": how} if isinstance(how, str) else how)
        if groups:
            rule |= {"kind": "group-average", "grouping": "random", "group_size": len(groups[0])}
        lines = [{"longhaul_trace": 2, "seed": seed, "replicas": replicas, "steps": steps[-1], "parameters": bytes_each,
                  "evaluate_every": 0, "rules": [rule | {"first_step": step, "last_step": step} for step in steps]}]
        if groups or is_sent:
            key = "groups" if groups else "targets"
            lines += [{"rule": i, "step": step, key: groups or how} for i, step in enumerate(steps)]
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        (folder / "case.json").write_text(json.dumps(case))
        (folder / "trace.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        return folder


def seconds(rows):
    """By replica: how long the exchange of these rows lasted for it, to a nanosecond, as the simulator counts."""
    begun = max(float(row["ready_s"]) for row in rows)
    return {int(row["replica"]): round(float(row["done_s"]) - begun, 9) for row in rows}


def percents(residuals):
    """Median, 95th percentile and largest of the sizes, and the mean with its sign, in per cent."""
    sizes = sorted(abs(residual) for residual in residuals)
    at = [sizes[math.floor(share * (len(sizes) - 1) + 0.5)] for share in (0.5, 0.95, 1)]
    return [100 * size for size in at] + [100 * sum(residuals) / len(residuals)]


def spread(residuals):
    """percents() as cells of a table."""
    *sizes, mean = percents(residuals)
    return [f"{size:.1f}" for size in sizes] + [f"{mean:+.1f}"]
