#!/usr/bin/env python3
"""The usual way to try low-communication methods: a Python process per replica that averages over Gloo.

    gym.py RANK WORLD STEPS PORT

The same LLaMA as baseline.cc at the pinned point, in plain torch.nn modules with torch.optim.AdamW; the weights are
averaged every 20 steps. Prints a line after its first step, then one JSON line as baseline.cc: tokens and the seconds
that they took, after three steps of warming up. Needs PyTorch (Debian: python3-torch).
"""
import json
import math
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F

HIDDEN, LAYERS, HEADS, FFN, CONTEXT, VOCABULARY, BATCH = 128, 4, 4, 512, 128, 256, 4
WARM_UP, AVERAGE_EVERY = 3, 20


class RmsNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(HIDDEN))

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * self.weight


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = RmsNorm(), RmsNorm()
        self.qkv = nn.Linear(HIDDEN, 3 * HIDDEN, bias=False)
        self.output = nn.Linear(HIDDEN, HIDDEN, bias=False)
        self.gate = nn.Linear(HIDDEN, FFN, bias=False)
        self.up = nn.Linear(HIDDEN, FFN, bias=False)
        self.down = nn.Linear(FFN, HIDDEN, bias=False)
        half = HIDDEN // HEADS // 2
        angle = torch.outer(torch.arange(CONTEXT), 10000.0 ** (-torch.arange(half) / half))
        self.register_buffer("cosine", torch.cat([angle.cos(), angle.cos()], 1))
        self.register_buffer("sine", torch.cat([-angle.sin(), angle.sin()], 1))
        self.register_buffer("future", torch.ones(CONTEXT, CONTEXT, dtype=torch.bool).triu(1))

    def rotate(self, x):
        first, second = x.chunk(2, -1)
        return x * self.cosine + torch.cat([second, first], -1) * self.sine

    def forward(self, x):
        batch = x.size(0)
        q, k, v = self.qkv(self.norm1(x)).view(batch, CONTEXT, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        scores = self.rotate(q) @ self.rotate(k).transpose(-1, -2) / math.sqrt(HIDDEN // HEADS)
        mixed = torch.softmax(scores.masked_fill(self.future, -math.inf), -1) @ v
        x = x + self.output(mixed.transpose(1, 2).reshape(batch, CONTEXT, HIDDEN))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, HIDDEN)
        self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])
        self.norm = RmsNorm()
        self.output = nn.Linear(HIDDEN, VOCABULARY, bias=False)

    def forward(self, tokens):
        logits = self.output(self.norm(self.blocks(self.embedding(tokens[:, :-1]))))
        return F.cross_entropy(logits.view(-1, VOCABULARY), tokens[:, 1:].reshape(-1))


def main():
    rank, world, steps, port = map(int, sys.argv[1:])
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=world)
    model = Llama()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95))
    begin = 0.0
    for step in range(WARM_UP + steps):
        if step == WARM_UP:
            dist.barrier()
            begin = time.monotonic()
        tokens = torch.randint(VOCABULARY, (BATCH, CONTEXT + 1))
        optimizer.zero_grad()
        model(tokens).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step == 0:
            print("first step", flush=True)
        if (step + 1) % AVERAGE_EVERY == 0:
            with torch.no_grad():
                for parameter in model.parameters():
                    dist.all_reduce(parameter)
                    parameter /= world
    dist.barrier()
    print(json.dumps({"tokens": BATCH * CONTEXT * steps, "seconds": time.monotonic() - begin,
                      "parameters": sum(p.numel() for p in model.parameters())}), flush=True)
    dist.barrier()


main()
