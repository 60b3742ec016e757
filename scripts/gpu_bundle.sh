#!/usr/bin/env bash
# Packs what scripts/first_card.sh needs on a machine without a network besides this tree: the header-only dependencies
# with their CMake files (fmt in its header-only form), GoogleTest's sources, and two resolved cases to train. From Debian's
# packages nlohmann-json3-dev, libcli11-dev, libfmt-dev, libxxhash-dev and googletest.
#
#   scripts/gpu_bundle.sh BUILD OUT.tar.gz      # BUILD holds bin/longhaul, which resolves the case
set -euo pipefail

build=$1 out=$2
tree=$(cd "$(dirname "$0")/.." && pwd)
for wanted in /usr/include/nlohmann/json.hpp /usr/include/CLI/CLI.hpp /usr/include/fmt/core.h /usr/include/xxhash.h /usr/src/googletest/CMakeLists.txt; do
  if [ ! -e "$wanted" ]; then
    echo "gpu-bundle: $wanted is missing; as root: apt-get install nlohmann-json3-dev libcli11-dev libfmt-dev libxxhash-dev googletest" >&2
    exit 1
  fi
done
if [ ! -x "$build/bin/longhaul" ]; then
  echo "gpu-bundle: $build/bin/longhaul is missing; build it first: make programs" >&2
  exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bundle=$work/gpu-bundle
mkdir -p "$bundle/include" "$bundle/share/cmake"
cp -r /usr/include/nlohmann /usr/include/CLI /usr/include/fmt /usr/include/xxhash.h "$bundle/include/"
for package in nlohmann_json CLI11; do
  cp -r "/usr/share/cmake/$package" "$bundle/share/cmake/"
done
mkdir "$bundle/share/cmake/fmt"
cat >"$bundle/share/cmake/fmt/fmtConfig.cmake" <<'EOF'
add_library(fmt::fmt INTERFACE IMPORTED)
target_include_directories(fmt::fmt INTERFACE "${CMAKE_CURRENT_LIST_DIR}/../../../include")
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY=1)
EOF
echo 'set(PACKAGE_VERSION 9.1.0)
set(PACKAGE_VERSION_COMPATIBLE TRUE)' >"$bundle/share/cmake/fmt/fmtConfigVersion.cmake"
cp -r /usr/src/googletest "$bundle/googletest"
mkdir -p "$bundle/licences"
for package in nlohmann-json3-dev libcli11-dev libfmt-dev libxxhash-dev googletest; do
  cp "/usr/share/doc/$package/copyright" "$bundle/licences/$package"
done
"$build/bin/longhaul" run "$tree/tests/gpu/export.json" --only cases --out "$work/run" --quiet
cp "$work"/run/train/*/case.json "$bundle/case.json"
"$build/bin/longhaul" run "$tree/tests/gpu/large.json" --only cases --out "$work/large" --quiet
cp "$work"/large/train/*/case.json "$bundle/large.json"
tar -C "$work" -czf "$out" gpu-bundle
echo "gpu-bundle: $out ($(du -h "$out" | cut -f1))"
