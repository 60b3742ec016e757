#!/usr/bin/env python3
"""Bytes that a step's kernels move in a GPU's memory, counted from what trainer/model/layer_functions.h and
trainer/cuda/ read and write, in bf16 with fused attention; and as they were before rows were read in packs.
Matrix products and attention itself are not in it. Caches are not thought of: a row that is read twice counts
twice.

    bench/trainer/gpu_bytes.py            # a table in Markdown for the two points of results/reference/speed/gpu-bytes.md
"""

POINTS = {
    "8 x 110 M": dict(hidden=768, layers=12, ffn=2944, context=512, vocabulary=256, replicas=8, batch=16),
    "256 x 1 M": dict(hidden=128, layers=4, ffn=448, context=128, vocabulary=256, replicas=256, batch=4),
}


def parameters(p):
    h, f = p["hidden"], p["ffn"]
    return 2 * p["vocabulary"] * h + h + p["layers"] * (4 * h * h + 3 * h * f + 2 * h)


def norm_slices(rows):
    """Of a replica's rows, as stacked_decoder.cc takes them."""
    slices = rows // 16 // 16 * 16
    return slices if slices > 64 else min(64, rows)


def kernels(p):
    """Name, bytes before, bytes now. x, dx: float32; y, dy and what products take: bf16."""
    h, f, v, layers = p["hidden"], p["ffn"], p["vocabulary"], p["layers"]
    rows = p["batch"] * p["context"]
    tokens = rows * p["replicas"]
    weights = parameters(p) * p["replicas"]
    norms = 2 * layers + 1
    partial = 4 * h * norm_slices(rows) / rows  # bytes a token of one table of partial sums
    partial_before = 4 * h * min(64, rows) / rows
    # add: x, y in, sum out; the first norm has nothing to add and writes no sum
    add_norm = (norms - 1) * (4 + 2 + 4 + 2) * h + (4 + 2) * h
    add_norm_before = add_norm + norms * 4 * h
    # dy, x, dx in, dx and its bf16 out; the last norm has no dx before it
    norm_backward = norms * (2 + 4 + 4 + 4 + 2) * h - 4 * h
    return [
        ("Embed", tokens * 8 * h, tokens * 8 * h),
        ("AddNorm", tokens * add_norm_before, tokens * add_norm),
        ("NormBackward", tokens * (norm_backward + norms * (2 + 4) * h),
         tokens * (norm_backward + norms * partial)),
        ("NormWeightPartial, NormWeightSum", tokens * norms * ((2 + 4) * h + 2 * partial_before),
         tokens * norms * partial * (1 + 2 / 16)),
        ("SplitHeads; now TurnHeads", tokens * layers * 12 * h, tokens * layers * 8 * h),
        ("JoinHeads", tokens * layers * 12 * h, tokens * layers * 12 * h),
        ("MoveHeads", tokens * layers * 8 * h, 0),
        ("copies inside fused attention", tokens * layers * 8 * h, 0),
        ("Swiglu", tokens * layers * 6 * f, tokens * layers * 6 * f),
        ("SwigluBackward", tokens * layers * 10 * f, tokens * layers * 10 * f),
        ("CrossEntropy, OneHot", tokens * (8 + 2) * v, tokens * (4 + 2) * v),
        ("weights to bf16", weights * 6, 0),
        ("gradients from bf16", weights * 6, 0),
        ("norm of the gradient, AdamW", weights * 32, weights * 34),
    ]


def main():
    columns = {name: kernels(point) for name, point in POINTS.items()}
    print("| GB a step | " + " | ".join(f"{name}: before | now" for name in columns) + " |")
    print("|---|" + "---|---|" * len(columns))
    for i, row in enumerate(next(iter(columns.values()))):
        cells = [f"{kernel[i][1] / 1e9:.2f} | {kernel[i][2] / 1e9:.2f}" for kernel in columns.values()]
        print(f"| {row[0]} | " + " | ".join(cells) + " |")
    sums = [f"{sum(k[1] for k in c) / 1e9:.1f} | {sum(k[2] for k in c) / 1e9:.1f}" for c in columns.values()]
    print("| all | " + " | ".join(sums) + " |")


if __name__ == "__main__":
    main()
