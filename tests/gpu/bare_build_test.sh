#!/usr/bin/env bash
# The bundle built from nothing on a machine as bare as a rented GPU's, but for the card: in a mount namespace that hides Debian's
# development packages, against the PyTorch of scripts/setup.sh --cuda. Skipped (77) where that, nvcc or the right to mount is
# missing.
#
#   bare_build_test.sh BUILD      # has bin/longhaul
set -euo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
if [ ! -x torch-cuda/bin/python ] || ! PATH=$PATH:/usr/local/cuda/bin command -v nvcc >/dev/null || ! unshare -m true 2>/dev/null; then
  echo "skipped: needs torch-cuda (scripts/setup.sh --cuda), nvcc, and the right to make a mount namespace"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
scripts/gpu_bundle.sh "$build" "$work/gpu-bundle.tar.gz"
mkdir "$work/nothing"
export work
unshare -m bash -euc '
  mount --make-rprivate /
  for folder in /usr/local/include /usr/include/{nlohmann,CLI,fmt,gtest,gmock,boost,torch,ATen,c10,caffe2,gloo} /usr/lib/*-linux-gnu/cmake \
                /usr/share/cmake /usr/src/googletest; do
    [ ! -d "$folder" ] || mount --bind "$work/nothing" "$folder"
  done
  for header in /usr/include/xxhash.h /usr/include/xxh3.h /usr/include/dnnl.h; do
    [ ! -f "$header" ] || mount --bind /dev/null "$header"
  done
  OUT=$work scripts/first_card.sh --cpu --python torch-cuda/bin/python --build "$work/build" --bundle "$work/gpu-bundle.tar.gz" --budget 3000'
"$work/build/bin/gpu_test" --gtest_filter='ProcessorBesideACard.*'
