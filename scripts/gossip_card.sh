#!/usr/bin/env bash
# The law of docs/results/gossip.md in the number of replicas on a GPU: the 135 trainings that were not made, which take
# two cores with AVX2 four hours. It says first what check expects, stops at its budget, and goes on where it stopped
# when called again. When all are trained it replays them, judges the claims and prints the gap to data parallelism.
#
#   OUT=FOLDER scripts/gossip_card.sh [--budget SECONDS] [--device cuda|cpu] [--jobs N]
#
# LONGHAUL: the program, build-cuda/bin/longhaul by default (docs/howto/gpu.md). SCENARIO: another sweep of replicas and seeds
# with a method "ddp". Exit status 0: all is done; 3: the budget is over, call again; otherwise that of longhaul.
set -eu
tree=$(cd "$(dirname "$0")/.." && pwd)
longhaul=${LONGHAUL:-$tree/build-cuda/bin/longhaul} scenario=${SCENARIO:-$tree/scenarios/paper/gossip-by-replicas-more.json}
budget=3600 device=cuda jobs=1
while [ $# -gt 0 ]; do
  case "$1" in
    --budget) budget=${2:?--budget takes seconds} ;;
    --device) device=${2:?--device takes cuda or cpu} ;;
    --jobs) jobs=${2:?--jobs takes a number} ;;
    *) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
  shift 2
done
out=${OUT:-runs/gossip-by-replicas-more}
"$longhaul" check "$scenario" | tail -n 1
train=(run "$scenario" --out "$out" --only train --device "$device" --jobs "$jobs")
[ ! -e "$out" ] || train+=(--resume)
status=0
timeout --signal INT "$budget" "$longhaul" "${train[@]}" || status=$?
done_now=$(find "$out/train" -name training.json 2>/dev/null | wc -l)
if [ "$status" -eq 124 ] || [ "$status" -eq 130 ]; then
  echo "$done_now trainings are done; the same command goes on"
  exit 3
fi
[ "$status" -eq 0 ] || exit "$status"
"$longhaul" run "$scenario" --out "$out" --resume --jobs "$jobs"
for batch in 1 4; do
  echo "gap to ddp, $batch sequences a replica and step:"
  PYTHONPATH=$tree/python python3 "$tree/docs/examples/gap_by_replicas.py" "$out" --where "train.batch=$batch"
done
