#!/usr/bin/env bash
# Installs the Debian packages that Longhaul needs and that are missing. As root or through sudo; without either it
# prints the exact line and stops. The reason for each package is in docs/reference/packages.md.
#
#   scripts/setup.sh            what building and running needs
#   scripts/setup.sh --fuzz     and what make fuzz uses besides: clang with libFuzzer
#   scripts/setup.sh --tests    and what the tests use besides: a browser, matplotlib, a linter; without them those tests are skipped
#   scripts/setup.sh --planner-page  what make planner-page uses besides: Emscripten, which compiles for a browser
#   scripts/setup.sh --recipes  what make test-recipes uses: the schedulers of docs/examples
#   scripts/setup.sh --cuda [VERSION]   and a PyTorch with CUDA, by pip into torch-cuda (5 GB), for cmake --preset cuda; with
#                               transformers, which a test reads exported models with. nvcc has to be there. Without VERSION the
#                               one that was tried last; "newest": the newest one
set -euo pipefail

packages=(
  g++ make cmake ninja-build ccache pkg-config
  libns3-dev ns3 libgsl-dev libxml2-dev libsqlite3-dev libpython3-dev
  libtorch-dev libdnnl-dev libopenblas-pthread-dev libopenmpi-dev openmpi-bin
  libboost-dev libeigen3-dev nlohmann-json3-dev libcli11-dev libfmt-dev libxxhash-dev zlib1g-dev
  libgtest-dev libjs-chart.js python3 python3-jsonschema
)
if [ "${1:-}" = --tests ]; then
  packages+=(chromium chromium-driver python3-selenium eslint emscripten python3-matplotlib python3-numpy poppler-utils iproute2
             python3-pip python3-setuptools python3-wheel python3-venv python3-pandas)
fi

if [ "${1:-}" = --fuzz ]; then
  packages+=(clang libclang-rt-14-dev)
fi

if [ "${1:-}" = --recipes ]; then
  packages+=(parallel snakemake python3-distributed python3-mpi4py slurmctld slurmd slurm-client munge)
fi

if [ "${1:-}" = --planner-page ]; then
  packages+=(emscripten)
fi

if [ "${1:-}" = --cuda ]; then
  packages+=(python3-venv)
fi

missing=()
for package in "${packages[@]}"; do
  if [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
    missing+=("$package")
  fi
done

# Those packages, as root or through sudo.
install_packages() {
  local run=() install="apt-get install -y --no-install-recommends $*"
  if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null || { [ ! -t 0 ] && ! sudo -n true 2>/dev/null; }; then
      echo "Longhaul needs these Debian packages; as root, run:" >&2
      echo "  apt-get update && $install" >&2
      exit 1
    fi
    run=(sudo)
  fi
  echo "installing: $*"
  export DEBIAN_FRONTEND=noninteractive
  "${run[@]}" apt-get update -qq
  "${run[@]}" env DEBIAN_FRONTEND=noninteractive $install
}

# A PyTorch with CUDA into torch-cuda of this tree, and the library that reads exported models. Installed again it changes nothing.
install_torch() {
  local folder torch=torch==${1:-2.11.0}
  folder=$(cd "$(dirname "$0")/.." && pwd)/torch-cuda
  if [ "${1:-}" = newest ]; then torch=torch; fi
  [ -x "$folder/bin/pip" ] || /usr/bin/python3 -m venv "$folder"
  "$folder/bin/pip" install --quiet --upgrade "$torch" transformers
  "$folder/bin/python" -c 'import torch; print("setup: PyTorch", torch.__version__, "with CUDA", torch.version.cuda, "in torch-cuda")'
  if ! command -v nvcc >/dev/null && [ ! -x /usr/local/cuda/bin/nvcc ]; then
    echo "setup: nvcc was not found: the preset cuda needs NVIDIA's CUDA toolkit, of the same major version" >&2
  fi
}

if [ ${#missing[@]} -gt 0 ]; then
  install_packages "${missing[@]}"
fi
if [ "${1:-}" = --cuda ]; then
  install_torch "${2:-}"
fi
