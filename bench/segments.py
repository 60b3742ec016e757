#!/usr/bin/env python3
"""Segments of fidelity linux that `longhaul check` estimates beside those that the replays count (replay.json), as a table of
docs/reference/linux.md. By hand, a quarter of a minute:

    ninja -C build longhaul && bench/segments.py build/bin/longhaul

A star of 300 Mb/s up and 100 Mb/s down, 100 ms; 20 MB, two exchanges or more, but where a row says otherwise.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

DILOCO, NOLOCO = {"name": "diloco", "inner_steps": 10}, {"name": "noloco", "inner_steps": 10}
STAR = {"star": {"up": "300Mbps", "down": "100Mbps", "rtt": "100ms"}}
WORKLOAD = {"parameters": 10000000, "wire": "bf16", "steps": 20, "step_time": {"constant": "1s"}}


def flows(**more):
    return [{"link": "*-core", "direction": "backward", **more}]


SOMETIMES = [flows(flows=1, on="1s", off="1s", congestion_control=control) for control in ("cubic", "bbr")]
# Name, TCP, and what else differs.
ROWS = [
    ("FIFOs of a quarter product, 4 connections", {"queue": "fifo", "queue_size": 0.25, "connections": 4},
     {"methods": [DILOCO, NOLOCO], "sweep": {"methods.diloco.all_reduce": ["ring", "halving-doubling", "double-tree"]}}),
    ("2 % lost a link", {"loss": 0.02}, {"methods": [DILOCO | {"all_reduce": "halving-doubling"}]}),
    ("others on for half of the time", {"queue": "fifo"}, {"methods": [DILOCO, NOLOCO], "sweep": {"network.variation.background": SOMETIMES}}),
    ("two others, always", {"queue": "fifo"}, {"methods": [DILOCO, NOLOCO], "network": {"variation": {"background": flows(flows=2)}}}),
    ("two stages of four replicas", {"queue": "fifo"},
     {"replicas": 4, "pipeline": {"stages": 2, "microbatches": 8, "bytes_per_token": 4096}, "workload": WORKLOAD | {"tokens": 512}}),
    ("direct and pairs of 64, 40 kB", {},
     {"replicas": 64, "methods": [{"name": "ddp", "all_reduce": "direct"}, NOLOCO], "workload": WORKLOAD | {"parameters": 20000}}),
    ("Gloo's ring", {"queue": "fifo"}, {"network": {"library": "gloo"}}),
]


def scenario(tcp, changes):
    network = {"fidelity": "linux", "topology": STAR, "tcp": tcp} | changes.get("network", {})
    return {"name": "segments", "replicas": 8, "methods": [DILOCO], "workload": WORKLOAD} | changes | {"network": network}


def counted(longhaul, folder, tcp, changes):
    """Of each case: what check estimated, and what the replay counted."""
    file, run = folder / "scenario.json", folder / "run"
    file.write_text(json.dumps(scenario(tcp, changes)))
    checked = subprocess.run([longhaul, "check", file, "--json", "--anywhere"], check=True, capture_output=True)
    subprocess.run([longhaul, "run", file, "--out", run, "--quiet"], check=True, capture_output=True)
    for case in json.loads(checked.stdout)["cases"]:
        yield case, json.loads((run / "cases" / case["case"] / "replay.json").read_text())


def span(ratios):
    texts = sorted({f"{ratio:.3g}" for ratio in ratios}, key=float)
    return texts[0] if len(texts) == 1 else f"{texts[0]} to {texts[-1]}"


def main():
    print("| | cases | own | others | sent again, % |\n|---|---:|---:|---:|---:|")
    for name, tcp, changes in ROWS:
        with tempfile.TemporaryDirectory() as folder:
            cases = list(counted(sys.argv[1], pathlib.Path(folder), tcp, changes))
        own = span(case["segments"] / replay["segments"] for case, replay in cases)
        others = [case["segments_of_others"] / replay["segments_of_others"] for case, replay in cases if replay["segments_of_others"] > 0]
        again = span(100 * replay["segments_again"] / replay["segments"] for _, replay in cases)
        print(f"| {name} | {len(cases)} | {own} | {span(others) if others else ''} | {again} |", flush=True)


if __name__ == "__main__":
    main()
