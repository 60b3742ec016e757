#!/usr/bin/env bash
# mtr reports a target that is not there as a hop that answers: the machine's own address, 0 % loss, seconds of round trip.
#
# The kernel's own word "host unreachable" counts as the hop's answer. The report names the target nowhere, so that a reader
# who takes the last hop's best time takes 2 to 3 s of address resolution. --json has the target (dst).
#
# Debian's package mtr-tiny 0.95 (bookworm), in a network namespace of its own (unshare: root, or user namespaces). Seen with
# 0.96 too, on 27 November 2026.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# packages SUITE NAME=VERSION...: Debian packages of a suite, unpacked into $folder/SUITE.
packages() {
  local suite=$1 state=$folder/state-$1
  shift
  mkdir -p "$state"/{lists/partial,cache/archives/partial} "$folder/$suite"
  : > "$state/status"
  local options=(-o "Dir::State::lists=$state/lists" -o "Dir::State::status=$state/status" -o "Dir::Cache=$state/cache"
                 -o "Dir::Etc::sourcelist=$state/sources" -o Dir::Etc::sourceparts=- -o "APT::Sandbox::User=root")
  local archive  # where this machine gets Debian from
  archive=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' | head -1)
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive $suite main" > "$state/sources"
  apt-get -qq "${options[@]}" update
  (cd "$state" && apt-get -qq "${options[@]}" download "$@" && for file in *.deb; do dpkg -x "$file" "$folder/$suite"; done)
}

# program SUITE NAME ARGUMENT...: runs it with the libraries of its suite.
program() {
  local root=$folder/$1 name=$2 library=$folder/$1/usr/lib/x86_64-linux-gnu
  shift 2
  if [ -e "$library/ld-linux-x86-64.so.2" ]; then
    "$library/ld-linux-x86-64.so.2" --library-path "$library" "$root/usr/bin/$name" "$@"
  else
    LD_LIBRARY_PATH=$library:$root/lib/x86_64-linux-gnu "$root/usr/bin/$name" "$@"
  fi
}

packages bookworm mtr-tiny=0.95-1 libjansson4
library=$folder/bookworm/usr/lib/x86_64-linux-gnu

unshare --net --map-root-user bash -c '
  ip link add left type veth peer name right
  ip link set lo up
  ip address add 10.99.0.1/24 dev left
  ip link set left up
  ip link set right up
  export LD_LIBRARY_PATH='"$library"' MTR_PACKET='"$folder"'/bookworm/usr/bin/mtr-packet
  '"$folder"'/bookworm/usr/bin/mtr -r -n -c 3 -i 0.5 10.99.0.9 > '"$folder"'/report.txt
  '"$folder"'/bookworm/usr/bin/mtr --json -n -c 3 -i 0.5 10.99.0.9 > '"$folder"'/report.json'

cat "$folder/report.txt"
grep -E '"dst"|"host"|"Best"' "$folder/report.json"
python3 - "$folder/report.txt" <<'PYTHON'
import re, sys

hop = re.search(r"1\.\|-- (\S+) +([\d.]+)% +\d+ +\S+ +\S+ +([\d.]+)", open(sys.argv[1]).read())
sys.exit(0 if hop and hop[1] == "10.99.0.1" and float(hop[2]) == 0 and float(hop[3].rstrip(".")) > 500 else "no longer so")
PYTHON
