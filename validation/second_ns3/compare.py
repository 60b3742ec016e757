#!/usr/bin/env python3
"""Packets of a newer ns-3 beside those of the system's 3.37 and `flow`, on cases of the validation grid. By hand:

    validation/second_ns3/compare.py [--work FOLDER] [--build build] [--version 3.44.post0] [SET=CASES ...]

Fetches the wheel `ns3` from PyPI (Python 3.11, x86-64), which brings libraries and headers, unpacks it into FOLDER, compiles
the packets of sim/ against it (CMakeLists.txt here), and replays so many cases of each set, spread evenly over those on which
nothing was fitted (odd numbers) and whose replicas contribute at most --most-bytes together. The packets of 3.37 and the times
of `flow` are those of results/reference/residuals. With --linux-growth the newer ns-3's own rule for windows that the
application does not fill is lifted, so that Linux's alone decides, as with 3.37 (sim/network/idle_restart.h). May be killed and started again: what is in FOLDER/packets.csv is
kept. Ends with 77, which ctest takes as skipped, where the wheel cannot be had.
"""
import argparse
import csv
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "results/reference/residuals"
SKIPPED = 77
SETS = ["host=80", "fq_codel-ecn=40", "fifo=40", "trunk=24", "loss=12"]


def fetch(work, version):
    """The folder of the unpacked wheel."""
    wheel = work / version
    if (wheel / "ns3/lib64").is_dir():
        return wheel
    got = subprocess.run([sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--python-version", "3.11",
                          "--platform", "manylinux_2_28_x86_64", "-d", work, f"ns3=={version}"], capture_output=True, text=True)
    files = sorted(work.glob(f"ns3-{version}-*.whl"))
    if not files:
        print(f"skipped: the wheel ns3=={version} cannot be had: {got.stderr.strip().splitlines()[-1:]}")
        sys.exit(SKIPPED)
    import zipfile
    zipfile.ZipFile(files[0]).extractall(wheel)
    return wheel


def build(work, wheel, longhaul_build):
    folder = work / "build"
    subprocess.run(["cmake", "-S", ROOT / "validation/second_ns3", "-B", folder, f"-DNS3_WHEEL={wheel}", f"-DLONGHAUL_BUILD={longhaul_build}"],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "-j", "2"], check=True, stdout=subprocess.DEVNULL)
    return folder


def rows_of(file):
    with open(file, newline="") as text:
        return list(csv.DictReader(text))


def numbers_of(name, count, most_bytes):
    small = sorted({int(row["number"]) for row in rows_of(REFERENCE / "packets.csv")
                    if row["set"] == name and int(row["number"]) % 2 and int(row["bytes"]) * int(row["replicas"]) <= most_bytes})
    count = min(count, len(small))
    return [small[i * len(small) // count] for i in range(count)]


def exchanges(rows):
    """(set, number, exchange) → mean over the seeds that are done; None where one is not."""
    times = {}
    for row in rows:
        for name in ("cold", "again"):
            times.setdefault((row["set"], int(row["number"]), name), []).append(
                float(row[name + "_s"]) if row["status"] == "done" else None)
    return {key: None if None in values else statistics.mean(values) for key, values in times.items()}


def deviations(pairs):
    percent = sorted(100 * (a / b - 1) for a, b in pairs)
    sizes = sorted(abs(x) for x in percent)
    at_95 = sizes[min(len(sizes) - 1, int(0.95 * len(sizes)))]
    return f"{statistics.median(sizes):.1f} | {at_95:.1f} | {sizes[-1]:.1f} | {statistics.mean(percent):+.1f}"


def table(old, new, flow):
    print("| set | exchanges | | median % | 95th % | largest % | mean, signed % |\n|---|---:|---|---:|---:|---:|---:|")
    for name in sorted({key[0] for key in new}):
        keys = [key for key in new if key[0] == name and new[key] and old.get(key)]
        for i, (what, a, b) in enumerate((("newer packets against 3.37's", new, old), ("`flow` against 3.37's", flow, old),
                                          ("`flow` against the newer", flow, new))):
            both = [(a[key], b[key]) for key in keys if key in a]  # `flow` has no FIFOs
            if both:
                print(f"| {'' if i else name} | {'' if i else len(both)} | {what} | {deviations(both)} |")
    failed = [key for key in new if new[key] is None]
    print(f"\n{len(failed)} exchanges of the newer ns-3 are not done." if failed else "\nAll exchanges are done.")
    print("\nFarthest from 3.37:")
    shared = [key for key in new if new[key] and old.get(key)]
    for key in sorted(shared, key=lambda key: -abs(new[key] / old[key] - 1))[:8]:
        print(f"- {key[0]} {key[1]}, {key[2]}: {old[key]:.4g} s, newer {new[key]:.4g} s, flow {flow.get(key, float('nan')):.4g} s")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("sets", nargs="*", default=SETS, metavar="SET=CASES", help=f"default: {' '.join(SETS)}")
    options.add_argument("--work", type=pathlib.Path, default=ROOT / "build/second_ns3")
    options.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="the build folder of Longhaul")
    options.add_argument("--version", default="3.44.post0", help="of the wheel")
    options.add_argument("--most-bytes", type=float, default=60e6, help="that the replicas of a case contribute together")
    options.add_argument("--linux-growth", action="store_true")
    options.add_argument("--only-table", action="store_true", help="run nothing, print the table of what is there")
    given = options.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    suffix = "-linux-growth" if given.linux_growth else ""
    results = given.work / f"packets{suffix}.csv"
    if not given.only_table:
        simulator = build(given.work, fetch(given.work, given.version), given.build.resolve()) / f"longhaul-sim{suffix.replace('-', '_')}"
        for part in given.sets:
            name, count = part.split("=")
            for number in numbers_of(name, int(count), given.most_bytes):
                subprocess.run([ROOT / "validation/grid/grid.py", "packets", REFERENCE / "packets.csv", results, "--set", name, "--number",
                                str(number), "--programs", given.build / "bin", "--simulator", simulator], check=True)
    new = exchanges(rows_of(results))
    flow = {(row["set"], int(row["number"]), row["exchange"]): float(row["flow_s"]) for row in rows_of(REFERENCE / "exchanges.csv")}
    table(exchanges(rows_of(REFERENCE / "packets.csv")), new, flow)


if __name__ == "__main__":
    main()
