#!/usr/bin/env python3
"""Times real communication libraries between the hosts of emulated worlds, for results/reference/libraries/README.md.

Each world is a star that `longhaul emulate --script` makes: network namespaces, the kernel's TCP, a relay that delays. Rows are appended to
a CSV file, and what it already holds is skipped, so that an interrupted run goes on.

  measure.py --longhaul build/bin/longhaul --rows rows.csv --pairs pairs.csv --python VENV/bin/python gloo
  measure.py ... --mpi VENV/bin mpich

As root, on Linux; never part of the tests.
"""
import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
LIMIT_S = 240
KIB, MIB = 1024, 1 << 20
PYTHON_WORKERS = {"gloo": "worker_torch.py", "hivemind": "worker_hivemind.py"}
SIZES = [KIB, 64 * KIB, MIB, 4 * MIB, 16_000_000]
# (name, ranks): rate in Mb/s and round trip in ms. Two cores carry some 200 Mb/s of all hosts together.
WORLDS = {(name, ranks): (rate, rtt) for name, rates, rtt in
          [("A", (50, 50, 50, 25, 25), 100), ("B", (25, 25, 25, 25, 25), 40), ("C", (20, 20, 20, 20, 20), 200)]
          for ranks, rate in zip((2, 3, 4, 6, 8), rates)}


def bytes_of(operation, size, ranks):
    """What one rank sends in good algorithms, to leave out what takes long."""
    return {"all_reduce": 2 * size * (ranks - 1) / ranks, "all_gather": size * (ranks - 1)}.get(operation, 2 * size)


def grid(operations, variant, sizes, most_s):
    for operation in operations:
        for (world, ranks), (rate, rtt) in WORLDS.items():
            for size in sizes:
                if bytes_of(operation, size, ranks) * 8 / (rate * 1e6) > most_s:
                    continue
                yield world, dict(operation=operation, ranks=ranks, bytes=size, variant=variant)


def many_tensors():
    for world in "AC":
        for ranks in (2, 4, 8):
            for count, length in [(6, 1000), (30, 1000), (30, 65536)]:
                for order in ("one_by_one", "at_once", "flat"):
                    rate, rtt = WORLDS[world, ranks]
                    if length > 1000 and (world != "A" or ranks == 8):
                        continue
                    if count == 30 and (world != "A" or ranks == 2):
                        continue
                    yield world, dict(operation="all_reduce_many", ranks=ranks, bytes=4 * count * length, variant=f"{count}x{length}:{order}")


def world_script(longhaul, ranks, rate, rtt, folder):
    scenario = {"name": "libraries", "replicas": ranks, "methods": [{"name": "ddp"}],
                "workload": {"parameters": 1000000, "steps": 1, "step_time": {"constant": "1s"}},
                "network": {"topology": {"star": {"rate": f"{rate}Mbps", "rtt": f"{rtt}ms"}}}}
    path = os.path.join(folder, f"world-{ranks}-{rate}-{rtt}")
    pathlib.Path(path + ".json").write_text(json.dumps(scenario))
    script = subprocess.run([longhaul, "emulate", path + ".json", "--script"], capture_output=True, text=True)
    if script.returncode != 0:
        sys.exit(script.stderr)
    pathlib.Path(path + ".sh").write_text(script.stdout)
    master = next(line.split("'")[1] for line in script.stdout.splitlines() if line.startswith("master="))
    return path + ".sh", master


def measured(path):
    if not os.path.exists(path):
        return set()
    with open(path, newline="") as file:
        return {(row["library"], row["version"].split("+")[0], row["operation"], int(row["ranks"]), float(row["rate_mbps"]), float(row["rtt_ms"]), int(row["bytes"]),
                 row["variant"], float(row["pause_s"])) for row in csv.DictReader(file)}


def stack(options):
    """(command, environment, version or None)"""
    if options.library in PYTHON_WORKERS:
        return [options.python, str(HERE / PYTHON_WORKERS[options.library])], {"OMP_NUM_THREADS": "1", "TORCH_CPP_LOG_LEVEL": "ERROR", "PYTHONDONTWRITEBYTECODE": "1"}, None
    import mpi_stacks
    return mpi_stacks.stack(options.library, options.mpi, HERE, options.build, options.extra.split())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--longhaul", default="build/bin/longhaul")
    parser.add_argument("--rows", default="rows.csv")
    parser.add_argument("--pairs", default="pairs.csv")
    parser.add_argument("--python", default=sys.executable, help="a Python that has the worker's library")
    parser.add_argument("--version", default="2.15.0", help="of that library: its rows that are there are not measured again")
    parser.add_argument("--mpi", default="/usr/bin", help="where mpicc and mpiexec of the library are")
    parser.add_argument("--build", default="build/libraries", help="where workers of MPI are compiled")
    parser.add_argument("--extra", default="", help="more words for the launcher of MPI")
    parser.add_argument("--variant", default="", help="what those words are called in the rows")
    parser.add_argument("--operations", default="all_reduce")
    parser.add_argument("--worlds", default="ABC")
    parser.add_argument("--ranks", default="2,4,8")
    parser.add_argument("--sizes", default="", help="bytes, instead of 1 KiB to 16 MB")
    parser.add_argument("--pause", type=float, default=0.2, help="s between the end of a call and the next start")
    parser.add_argument("--most", type=float, default=12, help="leave out sizes whose bytes alone take longer, in s")
    options = parser.parse_args()
    operations = options.operations.split(",")
    sizes = [int(size) // 4 * 4 for size in options.sizes.split(",")] if options.sizes else SIZES
    jobs = list(many_tensors()) if operations == ["all_reduce_many"] else list(grid(operations, options.variant, sizes, options.most))
    done = measured(options.rows)
    ranks = {int(count) for count in options.ranks.split(",")}
    command, environment, version = stack(options)
    begun, carried_out = time.monotonic(), 0
    by_world = {}
    for world, job in jobs:
        rate, rtt = WORLDS[world, job["ranks"]]
        is_done = (options.library, version or options.version, job["operation"], job["ranks"], rate, rtt, job["bytes"], job["variant"], options.pause) in done
        if world in options.worlds and job["ranks"] in ranks and not is_done:
            addresses = [f"10.9.0.{rank + 1}" for rank in range(job["ranks"])]
            job.update(mpich_hosts=",".join(addresses), open_mpi_hosts=",".join(f"{address}:1" for address in addresses))
            by_world.setdefault((world, job["ranks"]), []).append(job)
    total = sum(map(len, by_world.values()))
    with tempfile.TemporaryDirectory() as folder:
        for (world, ranks), group in by_world.items():
            rate, rtt = WORLDS[world, ranks]
            script, master = world_script(options.longhaul, ranks, rate, rtt, folder)
            order = {"library": options.library, "version": version, "command": command, "environment": environment, "master": master,
                     "world": {"rate_mbps": rate, "rtt_ms": rtt}, "jobs": group, "pause_s": options.pause, "limit_s": LIMIT_S,
                     "rows": os.path.abspath(options.rows), "pairs": os.path.abspath(options.pairs)}
            subprocess.run(["sh", script, "--once", sys.executable, str(HERE / "in_world.py")], input=json.dumps(order), text=True)
            carried_out += len(group)
            passed = time.monotonic() - begun
            print(f"{carried_out} of {total} after {passed:.0f} s; some {passed / carried_out * (total - carried_out):.0f} s more", flush=True)


if __name__ == "__main__":
    main()
