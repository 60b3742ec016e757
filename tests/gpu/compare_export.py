#!/usr/bin/env python3
"""Holds the validation loss of an exported model, by other readers of the exported files, against the trainer's.

usage: compare_export.py EXPORTED TOKENS.json SCALAR.json METRICS.csv REPLICA

EXPORTED is the folder of `longhaul-train export`, TOKENS.json the output of validation_tokens, SCALAR.json that of
exported_loss, METRICS.csv the table of the training. The other reader is transformers where it is installed, and always
the slow reference of the tests. Prints one JSON object; exit status 0 where no reader disagrees.
"""
import csv
import json
import math
import sys

TOLERANCE = 1e-4  # nats: readers compute in float32 or float64, in another order


def trained_loss(metrics, replica):
    with open(metrics, newline="") as table:
        rows = [row for row in csv.DictReader(table) if row["replica"] == replica]
    return float(rows[-1]["loss"])


def judged(loss, expected, **more):
    agrees = math.isfinite(loss) and abs(loss - expected) <= TOLERANCE and not any(more.values())
    return {"status": "passed" if agrees else "failed", "loss": loss, **more}


def by_transformers(folder, tokens, expected):
    try:
        import transformers
    except ImportError:
        return {"status": "skipped", "note": "transformers is not installed here"}
    import torch

    model, loading = transformers.LlamaForCausalLM.from_pretrained(folder, output_loading_info=True)
    with open(tokens) as file:
        sequences = torch.tensor(json.load(file))
    with torch.no_grad():
        logits = model.float().eval()(sequences[:, :-1]).logits
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), sequences[:, 1:].flatten())
    problems = {kind: sorted(names) for kind, names in loading.items() if names}
    return {"version": transformers.__version__, **judged(loss.item(), expected, loading_problems=problems)}


def main():
    folder, tokens, scalar, metrics, replica = sys.argv[1:]
    expected = trained_loss(metrics, replica)
    with open(scalar) as file:
        by_reference = judged(json.load(file)["loss"], expected)
    return {"replica": int(replica), "loss_of_the_trainer": expected, "tolerance": TOLERANCE,
            "scalar_reference": by_reference, "transformers": by_transformers(folder, tokens, expected)}


if __name__ == "__main__":
    result = main()
    print(json.dumps(result))
    sys.exit("failed" in (result["scalar_reference"]["status"], result["transformers"]["status"]))
