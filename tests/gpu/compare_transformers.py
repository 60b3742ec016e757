#!/usr/bin/env python3
"""Loads an exported model with transformers and holds its validation loss against the trainer's.

usage: compare_transformers.py EXPORTED TOKENS.json METRICS.csv REPLICA

EXPORTED is the folder of `longhaul-train export`, TOKENS.json the output of validation_tokens, METRICS.csv the table of
the training. Prints one JSON object; exit status 0 also where transformers is not installed (status "skipped").
"""
import csv
import json
import sys

TOLERANCE = 1e-4  # nats: both compute in float32, in another order


def trained_loss(metrics, replica):
    with open(metrics, newline="") as table:
        rows = [row for row in csv.DictReader(table) if row["replica"] == replica]
    return float(rows[-1]["loss"])


def loss_by_transformers(folder, sequences):
    import torch
    from transformers import LlamaForCausalLM

    model, loading = LlamaForCausalLM.from_pretrained(folder, output_loading_info=True)
    problems = {kind: sorted(names) for kind, names in loading.items() if names}
    tokens = torch.tensor(sequences)
    with torch.no_grad():
        logits = model.float().eval()(tokens[:, :-1]).logits
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    return loss.item(), problems


def main():
    folder, tokens, metrics, replica = sys.argv[1:]
    try:
        import transformers
    except ImportError:
        return {"status": "skipped", "note": "transformers is not installed here"}
    with open(tokens) as file:
        loss, problems = loss_by_transformers(folder, json.load(file))
    expected = trained_loss(metrics, replica)
    agrees = abs(loss - expected) <= TOLERANCE and not problems
    return {"status": "passed" if agrees else "failed", "transformers": transformers.__version__, "loss": loss,
            "loss_of_the_trainer": expected, "tolerance": TOLERANCE, "loading_problems": problems}


if __name__ == "__main__":
    result = main()
    print(json.dumps(result))
    sys.exit(result["status"] == "failed")
