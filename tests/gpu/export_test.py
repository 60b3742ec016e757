#!/usr/bin/env python3
"""Trains a small model, exports it, and holds its validation loss by transformers and by the tests' slow reference against
the trainer's.

usage: export_test.py BIN      # the folder of longhaul, longhaul-train, validation_tokens and exported_loss
"""
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def main():
    programs = pathlib.Path(sys.argv[1])

    def run(program, *arguments, out=None):
        subprocess.run([str(program), *map(str, arguments)], check=True, stdout=out)

    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        run(programs / "longhaul", "run", HERE / "export.json", "--only", "train", "--out", work, "--quiet")
        run_folder = next((work / "train").iterdir())
        run(programs / "longhaul-train", "export", "--run", run_folder, "--replica", "1", "--out", work / "exported")
        tokens, reference = work / "tokens.json", work / "reference.json"
        with open(tokens, "w") as file:
            run(programs / "validation_tokens", run_folder / "case.json", out=file)
        with open(reference, "w") as file:
            run(programs / "exported_loss", work / "exported", tokens, out=file)
        compared = subprocess.run([sys.executable, HERE / "compare_export.py", work / "exported", tokens, reference,
                                   run_folder / "metrics.csv", "1"], capture_output=True, text=True)
    print(compared.stdout, compared.stderr)
    return compared.returncode or json.loads(compared.stdout)["transformers"]["status"] != "passed"  # nor skipped: it is there


if __name__ == "__main__":
    sys.exit(main())
