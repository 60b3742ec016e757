#!/usr/bin/env bash
# Builds the trainer against a PyTorch's LibTorch, runs the tests and the benchmark on the GPU, evaluates an exported
# model with other readers (the tests' slow reference; transformers where it is installed), and writes all of it as one
# JSON. For a machine with CMake (3.25 or newer), ninja, a C++ compiler, nvcc and a Python with PyTorch; it needs no
# network: `make gpu-bundle` elsewhere packs the rest.
#
#   scripts/gpu_check.sh [--bundle FILE.tar.gz|DIR] [--build DIR] [--out FILE] [--python PYTHON] [--cpu] [--quick]
#
#   --bundle  default gpu-bundle.tar.gz in this tree or its build folder
#   --build   default build-gpu
#   --out     default gpu_check.json
#   --python  default python3
#   --cpu     a dry run of the same steps without a GPU, with the LibTorch that CMake finds, and without the benchmark
#   --quick   a smaller benchmark
#
# Exit status 0 where everything passed, 1 where a step failed (the JSON names it), 2 where nothing was tried (there is
# no JSON then). Each step's output is in BUILD/gpu_check/STEP.log.
set -uo pipefail

tree=$(cd "$(dirname "$0")/.." && pwd)
bundle="" build=build-gpu out=gpu_check.json python=python3 cpu="" quick=""
while [ $# -gt 0 ]; do
  case $1 in
    --bundle) bundle=$(realpath -m -- "$2"); shift 2 ;;
    --build) build=$(realpath -m -- "$2"); shift 2 ;;
    --out) out=$(realpath -m -- "$2"); shift 2 ;;
    --python) python=$2; shift 2 ;;
    --cpu) cpu=1; shift ;;
    --quick) quick=--quick; shift ;;
    *) sed -n '2,18p' "$0" | sed 's/^# \{0,1\}//' >&2; exit 2 ;;
  esac
done
cd "$tree" || exit 2
rm -f "$out"  # what an earlier check found is not what this one finds

if [ -z "$bundle" ]; then
  for candidate in gpu-bundle.tar.gz build/gpu-bundle.tar.gz; do
    if [ -e "$candidate" ]; then bundle=$candidate; break; fi
  done
fi
if [ ! -e "${bundle:-/nowhere}" ]; then
  echo "gpu_check: no bundle: run 'make gpu-bundle' where Debian's packages are and give the file with --bundle" >&2
  exit 2
fi
for tool in cmake ninja "$python" $([ "$cpu" ] || echo nvcc); do
  if ! command -v "$tool" >/dev/null; then
    echo "gpu_check: $tool is not on the PATH" >&2
    exit 2
  fi
done

mkdir -p "$build/gpu_check" || exit 2
build=$(cd "$build" && pwd)
logs=$build/gpu_check
rm -rf "$logs"/*.json "$logs"/*.out "$logs"/*.log "$logs"/*.status "$logs/run" "$logs/exported"
if [ -d "$bundle" ]; then
  bundle=$(cd "$bundle" && pwd)
else
  rm -rf "$build/gpu-bundle"
  tar -C "$build" -xzf "$bundle" || exit 2
  bundle=$build/gpu-bundle
fi

# step NAME COMMAND...: its output to NAME.log, its exit status (124: it hung) and seconds to NAME.status.
step() {
  local name=$1 begin status
  shift
  echo "gpu_check: $name"
  begin=$(date +%s)
  "$@" >"$logs/$name.log" 2>&1
  status=$?
  echo "$status $(($(date +%s) - begin))" >"$logs/$name.status"
  if [ $status -ne 0 ]; then
    echo "gpu_check: $name failed with status $status; the end of $logs/$name.log:" >&2
    tail -n 20 "$logs/$name.log" >&2
  fi
  return $status
}

# shellcheck disable=SC2317  # called through step
configure() {
  local options=(-S "$tree" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DLONGHAUL_SIM=OFF -DLONGHAUL_COMMAND=OFF
    -DLONGHAUL_TRAINER=ON "-DLONGHAUL_GOOGLETEST_SOURCE=$bundle/googletest"
    "-Dnlohmann_json_DIR=$bundle/share/cmake/nlohmann_json" "-DCLI11_DIR=$bundle/share/cmake/CLI11" "-Dfmt_DIR=$bundle/share/cmake/fmt"
    "-DXXHASH_HEADERS=$bundle/include")
  if [ "$cpu" ]; then
    cmake "${options[@]}" -DLONGHAUL_CUDA=OFF
    return
  fi
  local prefix capability
  prefix=$("$python" -c 'import torch; print(torch.utils.cmake_prefix_path)') || return
  capability=$("$python" -c 'import torch; print("%d.%d" % torch.cuda.get_device_capability())') || return
  TORCH_CUDA_ARCH_LIST=$capability cmake "${options[@]}" "-DCMAKE_PREFIX_PATH=$prefix" -DLONGHAUL_CUDA=ON \
    "-DCMAKE_CUDA_ARCHITECTURES=${capability/./}"
}

# shellcheck disable=SC2317
export_and_compare() {
  local run=$logs/run device=cuda
  [ "$cpu" ] && device=cpu
  timeout 600 "$build/bin/longhaul-train" --case "$bundle/case.json" --out "$run" --device "$device" --quiet || return
  "$build/bin/longhaul-train" export --run "$run" --replica 1 --out "$logs/exported" || return
  "$build/bin/validation_tokens" "$bundle/case.json" >"$logs/validation_tokens.out" || return
  "$build/bin/exported_loss" "$logs/exported" "$logs/validation_tokens.out" >"$logs/exported_loss.out" || return
  "$python" "$tree/tests/gpu/compare_export.py" "$logs/exported" "$logs/validation_tokens.out" \
    "$logs/exported_loss.out" "$run/metrics.csv" 1 >"$logs/export.json"
}

targets=(longhaul-train trainer_test validation_tokens exported_loss)
[ "$cpu" ] || targets+=(gpu_benchmark)
if step configure configure && step build cmake --build "$build" --target "${targets[@]}"; then
  step tests timeout 3600 "$build/bin/trainer_test" --gtest_output="json:$logs/tests.json"
  step export export_and_compare
  [ "$cpu" ] || step benchmark timeout 3600 "$build/bin/gpu_benchmark" $quick --out "$logs/benchmark.json"
fi
"$python" "$tree/tests/gpu/gpu_check_report.py" "$logs" ${cpu:+--cpu} >"$out.part" && status=0 || status=1
mv "$out.part" "$out"
echo "gpu_check: $out"
exit "$status"
