# %% [markdown]
# # From a scenario to a table and a curve, in Python
#
# Each cell runs by itself in a notebook (VS Code, Jupyter with jupytext); `python3 learning_curves.py` runs all of them.
# It needs the package (`pip install ./python`) and the command `longhaul` on the PATH or in the variable LONGHAUL.
# A test runs this file.

# %%
import sys
import tempfile
from pathlib import Path

import longhaul

out = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()) / "curves"

# %% A scenario is a dict, or a file. Two methods, two seeds, two networks: eight cases, four trainings.
scenario = {
    "name": "curves",
    "seeds": [1, 2],
    "replicas": 4,
    "methods": [{"name": "diloco", "inner_steps": 10}, {"name": "noloco", "inner_steps": 5}],
    "train": {
        "steps": 40,
        "batch": 2,
        "evaluate_every": 10,
        "model": {"hidden": 32, "layers": 2, "heads": 2, "ffn": 64, "context": 32},
        "data": {"synthetic": {"branching": 4, "tokens": 100000}},
    },
    "workload": {"model": "llama-small", "step_time": {"lognormal": {"mean": "1s", "sigma": 0.3}}},
    "network": {"topology": {"star": {"rate": "1Gbps", "rtt": "50ms"}}},
    "sweep": {"network.tcp.connections": [1, 8]},
}

# %% What will it take? The same check as on the command line; wrong input raises longhaul.InputError.
estimate = longhaul.check(scenario)["estimate"]
print(f"{estimate['memory_bytes'] / 1e9:.1f} GB of memory, {estimate['disk_bytes'] / 1e6:.0f} MB of disk")

# %% Run it, with its progress.
run = longhaul.run(scenario, out, overwrite=out.exists(), jobs=2, progress=print)

# %% A row a case: swept keys and numbers are columns. `.frame()` makes a pandas DataFrame of any table.
for row in run.cases():
    print(f"{row['case']:50} sync {row['sync_time_s.mean']:6.2f} s  loss {row['final_loss']:.3f}")

# %% Learning curves against steps, simulated time, bytes or tokens.
for label in ("diloco", "noloco"):
    case = f"{label},network.tcp.connections=1,seed=1"
    seconds, loss = run.learning_curve(case, by="time")[-1]
    sent, _ = run.learning_curve(case, by="bytes")[-1]
    print(f"{label}: {loss:.3f} nats after {seconds:.0f} simulated seconds and {sent / 1e9:.1f} GB sent by a replica")

# %% Which differences are shown? As `longhaul compare`, as data.
table = longhaul.compare([run], metrics=["final_loss", "sync_time_s.mean"])
for metric in table["metrics"]:
    for line in metric["rows"]:
        means = ", ".join(f"{group['name']} {group['mean']:.3f}" for group in line["groups"])
        print(metric["metric"], line["at"], means)
