#!/usr/bin/env bash
# Builds the trainer against a PyTorch's LibTorch, runs the tests and the benchmark on the GPU, and writes what came of it
# as one JSON: tests/gpu/gpu_check.py does it and says how (--help).
set -eu
python=python3 previous=""
for argument in "$@"; do
  if [ "$previous" = --python ]; then python=$argument; fi
  previous=$argument
done
exec "$python" "$(dirname "$0")/../tests/gpu/gpu_check.py" "$@"
