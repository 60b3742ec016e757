#!/usr/bin/env bash
# Installs the Debian packages that Longhaul needs and that are missing. As root or through sudo; without either it
# prints the exact line and stops. The reason for each package is in README.md, "Packages".
#
#   scripts/setup.sh            what building and running needs
#   scripts/setup.sh --fuzz     and what make fuzz uses besides: clang with libFuzzer
#   scripts/setup.sh --tests    and what the tests use besides: a browser, gnuplot, a linter; without them those tests are skipped
set -euo pipefail

packages=(
  g++ make cmake ninja-build ccache pkg-config
  libns3-dev ns3 libgsl-dev libxml2-dev libsqlite3-dev libpython3-dev
  libtorch-dev libdnnl-dev libopenblas-pthread-dev
  libboost-graph-dev nlohmann-json3-dev libcli11-dev libfmt-dev libxxhash-dev zlib1g-dev
  libgtest-dev libjs-chart.js python3 python3-jsonschema
)
if [ "${1:-}" = --tests ]; then
  packages+=(chromium chromium-driver python3-selenium eslint gnuplot-nox poppler-utils iproute2)
fi

if [ "${1:-}" = --fuzz ]; then
  packages+=(clang libclang-rt-14-dev)
fi

missing=()
for package in "${packages[@]}"; do
  if [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
    missing+=("$package")
  fi
done
if [ ${#missing[@]} -eq 0 ]; then
  exit 0
fi

install="apt-get install -y --no-install-recommends ${missing[*]}"
if [ "$(id -u)" = 0 ]; then
  run=()
elif command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
  run=(sudo)
else
  echo "Longhaul needs these Debian packages; as root, run:" >&2
  echo "  apt-get update && $install" >&2
  exit 1
fi
echo "installing: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${run[@]}" apt-get update -qq
"${run[@]}" env DEBIAN_FRONTEND=noninteractive $install
