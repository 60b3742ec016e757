"""The peers of hivemind: step() of a DecentralizedAverager of one vector, whose target group is all peers."""
import os
import time

import hivemind
import torch

from common_start import CommonStart
from forked_ranks import serve


def maddrs_of_first(job, dht=None):
    """The first peer writes the addresses by which the others join its DHT."""
    path = job["shared"] + ".peers"
    if dht is not None:
        with open(path + ".new", "w") as file:
            file.write("\n".join(map(str, dht.get_visible_maddrs())))
        os.rename(path + ".new", path)
        return []
    while not os.path.exists(path):
        time.sleep(0.01)
    with open(path) as file:
        return file.read().split()


def peer(job, rank):
    torch.set_num_threads(1)
    address = f"/ip4/10.9.0.{rank + 1}/tcp/0"
    dht = hivemind.DHT(initial_peers=maddrs_of_first(job) if rank > 0 else None, host_maddrs=[address], nat_port_map=False,
                       auto_nat=False, startup_timeout=60, start=True)
    if rank == 0:
        maddrs_of_first(job, dht)
    vector = torch.full((job["bytes"] // 4,), float(rank + 1))
    averager = hivemind.DecentralizedAverager([vector], dht, prefix="vector", target_group_size=job["ranks"], start=True)

    def step():
        assert averager.step(timeout=60, allow_retries=False) is not None, "no group"

    def verify():
        with averager.get_tensors() as (averaged,):
            assert torch.allclose(averaged, torch.full_like(averaged, (job["ranks"] + 1) / 2)), averaged[0]

    CommonStart(job["shared"]).carry_out(rank, job["calls"], step, verify)
    averager.shutdown()
    dht.shutdown()


if __name__ == "__main__":
    serve(hivemind.__version__, peer)
