"""Starts runs of Longhaul and reads their results: pure Python, the standard library alone, pandas if you have it.

    import longhaul

    run = longhaul.run("scenarios/small.json", out="results/mine", set={"replicas": 8}, progress=print)
    for row in run.cases():
        print(row["case"], row["sync_time_s.mean"], row["final_loss"])
    run.cases().frame()                              # the same as a pandas DataFrame
    run.learning_curve("noloco", by="time")          # [(seconds, loss), ...]; .frame() too
    longhaul.compare([run], metrics=["final_loss"])  # means, intervals and p-values, as longhaul compare has them

The command `longhaul` is looked for at the argument `program`, in the environment variable LONGHAUL, on the PATH and beside this Python, where a wheel puts it.
"""
from longhaul.command import Progress, check, compare, find_program, open_run, run
from longhaul.directory import RunDirectory
from longhaul.errors import InputError, Interrupted, LonghaulError, RunFailed
from longhaul.tables import Curve, Table

__all__ = ["Curve", "InputError", "Interrupted", "LonghaulError", "Progress", "RunDirectory", "RunFailed", "Table", "check",
           "compare", "find_program", "open_run", "run"]
