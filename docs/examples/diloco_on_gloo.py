"""DiLoCo of a small network over torch.distributed with Gloo, with what longhaul.observed reads of it.

    torchrun --nproc-per-node 2 diloco_on_gloo.py --out hour        # or: longhaul emulate two.json -- python3 diloco_on_gloo.py --out hour

Each rank writes OUT/trace-rankN.json (torch's profiler, shapes recorded) and OUT/steps-rankN.jsonl, the seconds that each
inner step computes. Rank 0 prints the seconds of the whole run. Needs torch; measured with 2.15.0.
"""
import argparse
import json
import pathlib
import time

import torch
import torch.distributed as dist


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--inner-steps", type=int, default=2, help="H")
    parser.add_argument("--outer-steps", type=int, default=6)
    parser.add_argument("--width", type=int, default=256, help="of the network: 2 * width^2 parameters")
    parser.add_argument("--wire", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--step-time", type=float, default=0.2, help="seconds an inner step takes at least")
    return parser.parse_args()


def main():
    options = arguments()
    dist.init_process_group("gloo")
    rank, out = dist.get_rank(), pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(options.width, options.width, bias=False), torch.nn.ReLU(),
                                torch.nn.Linear(options.width, options.width, bias=False))
    shared = torch.nn.utils.parameters_to_vector(model.parameters()).detach().clone()  # what all replicas have agreed on
    momentum = torch.zeros_like(shared)
    inner = torch.optim.AdamW(model.parameters(), lr=1e-3)
    data = torch.Generator().manual_seed(rank)
    lines = (out / f"steps-rank{rank}.jsonl").open("w")
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, record_shapes=True) as profiler:
        for _ in range(3):  # sums of one number: their time is latency
            time.sleep(0.5)
            dist.all_reduce(torch.ones(1))
        begun = time.time()
        for outer in range(options.outer_steps):
            for inner_step in range(options.inner_steps):
                start = time.time()
                batch = torch.randn(16, options.width, generator=data)
                loss = ((model(batch) - batch.roll(1, 1)) ** 2).mean()
                inner.zero_grad()
                loss.backward()
                inner.step()
                time.sleep(max(0.0, options.step_time - (time.time() - start)))
                lines.write(json.dumps({"rank": rank, "step": outer * options.inner_steps + inner_step, "loss": loss.item(),
                                        "step_time_s": time.time() - start}) + "\n")
            now = torch.nn.utils.parameters_to_vector(model.parameters()).detach()
            delta = (shared - now).to(getattr(torch, options.wire))
            dist.all_reduce(delta)
            mean = delta.float() / dist.get_world_size()
            momentum.mul_(0.9).add_(mean)
            shared -= 0.7 * (mean + 0.9 * momentum)  # Nesterov's outer step
            torch.nn.utils.vector_to_parameters(shared.clone(), model.parameters())
        took = time.time() - begun
    lines.close()
    profiler.export_chrome_trace(str(out / f"trace-rank{rank}.json"))
    dist.barrier()
    if rank == 0:
        print(f"{options.outer_steps * options.inner_steps} steps in {took:.3f} s, loss {loss.item():.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
