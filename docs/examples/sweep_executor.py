#!/usr/bin/env python3
"""sweep_executor.py SCENARIO OUT [SCHEDULER]: the cases of a sweep on the workers of a concurrent.futures.Executor.

Called again it continues. With the address of a scheduler its dask workers run them; under `mpirun -n 3 python3 -m
mpi4py.futures` the ranks do; otherwise two processes here."""
import concurrent.futures
import sys

import longhaul


def executor(scheduler):
    if scheduler:
        from distributed import Client
        return Client(scheduler).get_executor(pure=False)
    if "mpi4py.futures" in sys.modules:
        from mpi4py.futures import MPIPoolExecutor
        return MPIPoolExecutor()
    return concurrent.futures.ProcessPoolExecutor(2)


if __name__ == "__main__":
    with executor(sys.argv[3] if len(sys.argv) > 3 else None) as workers:
        run = longhaul.run(sys.argv[1], sys.argv[2], executor=workers, resume=True, progress=print)
    print(run.path)
