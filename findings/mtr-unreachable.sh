#!/usr/bin/env bash
# mtr reports a target that is not there as a hop that answers: the machine's own address, 0 % loss, seconds of round trip.
#
# The kernel's own word "host unreachable" counts as the hop's answer. The report names the target nowhere, so that a reader
# who takes the last hop's best time takes 2 to 3 s of address resolution. --json has the target (dst).
#
# Debian's package mtr-tiny 0.95 (bookworm), in a network namespace of its own (unshare: root, or user namespaces). Seen with
# 0.96 too, on 27 November 2026.
set -euo pipefail
source "$(dirname "$0")/support/debian_packages.sh"

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
