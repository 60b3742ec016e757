#!/usr/bin/env bash
# The first minutes on a GPU: builds the trainer against a PyTorch's LibTorch, trains on card and processor, runs the tests that
# need a card and the benchmark. Each figure is printed and written when it is known: scripts/first_card.py --help.
#
#   OUT=FOLDER scripts/first_card.sh            # figures in FOLDER/first_card.json; without OUT in this tree
set -eu
python=python3 previous=""
for argument in "$@"; do
  if [ "$previous" = --python ]; then python=$argument; fi
  previous=$argument
done
exec "$python" "$(dirname "$0")/first_card.py" "$@"
