"""The ranks of torch.distributed over Gloo."""
import datetime
import os

import torch
import torch.distributed as dist

from common_start import CommonStart
from forked_ranks import serve


def many(job, rank):
    """Several vectors: `one_by_one`, `at_once` or `flat`, as the variant says (6x1000:at_once: six vectors of 1000 floats)."""
    shape, order = job["variant"].split(":")
    count, length = map(int, shape.split("x"))
    tensors = [torch.full((length,), float(rank + 1)) for _ in range(count)]
    flat = torch.full((count * length,), float(rank + 1))

    def operation():
        if order == "flat":
            dist.all_reduce(flat)
        elif order == "one_by_one":
            for tensor in tensors:
                dist.all_reduce(tensor)
        else:
            for work in [dist.all_reduce(tensor, async_op=True) for tensor in tensors]:
                work.wait()

    def verify():
        total = job["ranks"] * (job["ranks"] + 1) / 2
        assert all((tensor == total).all() for tensor in ([flat] if order == "flat" else tensors))

    return operation, verify


def single(job, rank):
    ranks, count = job["ranks"], max(job["bytes"] // 4, 1)
    total = ranks * (ranks + 1) / 2
    mine = torch.full((count,), float(rank + 1))
    name = job["operation"]
    if name == "all_reduce":
        return lambda: dist.all_reduce(mine), lambda: check(mine, [total])
    if name == "broadcast":
        return lambda: dist.broadcast(mine, 0), lambda: check(mine, [1.0])
    everyone = [float(other + 1) for other in range(ranks)]
    if name == "reduce_scatter":
        part = torch.empty(count // ranks)
        return lambda: dist.reduce_scatter_tensor(part, mine), lambda: check(part, [total])
    if name == "all_gather":
        whole = torch.empty(count * ranks)
        return lambda: dist.all_gather_into_tensor(whole, mine), lambda: check(whole, everyone)
    if name == "all_to_all":
        received = torch.empty(count)
        return lambda: dist.all_to_all_single(received, mine), lambda: check(received, everyone)
    raise ValueError(name)


def check(tensor, expected):
    for part, value in zip(tensor.view(len(expected), -1), expected):
        assert (part == value).all(), (part, value)


def rank_of(job, rank):
    torch.set_num_threads(1)
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(job["ranks"]), MASTER_ADDR=job["master"], MASTER_PORT=str(job["port"]),
                      GLOO_SOCKET_IFNAME="wan")
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=300))
    start = CommonStart(job["shared"])
    operation, verify = many(job, rank) if job["operation"] == "all_reduce_many" else single(job, rank)
    start.carry_out(rank, job["calls"], operation, verify)


if __name__ == "__main__":
    serve(torch.__version__, rank_of)
