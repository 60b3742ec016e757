#!/usr/bin/env python3
"""One row of a published table fitted, the others predicted: the table of results/reference/fit/README.md.

    validation/published_fits.py LONGHAUL        from the root of the source tree; a minute
"""
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

# Of each file of scenarios/validation with several measured rows: what is unknown. The first row is fitted.
UNKNOWN = {"ft-diloco": "network.operation_overhead=0s..200ms", "tc-cluster-gloo": "network.host_rate=1Gbps..100Gbps",
           "tc-cluster-nccl": "network.operation_overhead=0s..100ms", "tc-cluster-50ms": "network.host_rate=100Mbps..100Gbps",
           "protocol-nanogpt": "network.operation_overhead=0s..100ms", "diloco-measured": "network.operation_overhead=0s..100ms",
           "dt-fm-3": "network.operation_overhead=0s..200ms", "dt-fm-4": "network.operation_overhead=0s..200ms"}


def fitted(longhaul, name, unknown):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "fit"
        subprocess.run([longhaul, "fit", f"scenarios/validation/{name}.json", "--on", "1", "--unknown", unknown, "-o", out, "--quiet"],
                       check=True, capture_output=True)
        return json.loads((out / "fit.json").read_text())


def main():
    longhaul, = sys.argv[1:]
    print("| scenario | unknown | found | predicted | median off | worst | inside |\n|---|---|---|---|---|---|---|")
    every, inside_all = [], 0
    for name, unknown in UNKNOWN.items():
        fit = fitted(longhaul, name, unknown)
        held = [one for one in fit["residuals"] if not one["is_fitted"]]
        off = [100 * abs(one["predicted"] / one["observed"] - 1) for one in held]
        inside = sum(one["low"] <= one["observed"] <= one["high"] for one in held)
        value, = fit["values"]
        print(f"| `{name}` | `{unknown.split('=')[0]}` | {value['words']} | {len(held)} | {statistics.median(off):.1f} % | {max(off):.1f} % | "
              f"{inside} of {len(held)} |", flush=True)
        every += off
        inside_all += inside
    print(f"| all | | | {len(every)} | {statistics.median(every):.1f} % | {max(every):.1f} % | {inside_all} of {len(every)} |")


if __name__ == "__main__":
    main()
