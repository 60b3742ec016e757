#!/usr/bin/env bash
# iperf3 since 3.16 counts a test of an amount (-n, -k) to the end of the second: 10 kB over loopback "take" 1.0 s, at 1 Mb/s.
#
# 3.12 says some milliseconds for the same test. A path's rate from -n is too low by up to a second of its time.
#
# Debian's packages iperf3 3.12 (bookworm) and 3.18 (trixie), over loopback. Seen on 27 November 2026.
set -euo pipefail
source "$(dirname "$0")/support/debian_packages.sh"

packages bookworm iperf3=3.12-1+deb12u2 libiperf0=3.12-1+deb12u2 libsctp1 libssl3
packages trixie iperf3=3.18-2+deb13u2 libiperf0=3.18-2+deb13u2 libsctp1 libssl3t64 libc6

port=35211
for suite in bookworm trixie; do
  program "$suite" iperf3 -s -1 -p $port > /dev/null &
  sleep 1
  program "$suite" iperf3 -c 127.0.0.1 -p $port -n 10K --json > "$folder/$suite.json"
  wait $!
  port=$((port + 1))
done

python3 - "$folder" <<'PYTHON'
import json, sys

seconds = {}
for suite in ("bookworm", "trixie"):
    run = json.load(open(f"{sys.argv[1]}/{suite}.json"))
    received = run["end"]["sum_received"]
    seconds[suite] = received["seconds"]
    print(f"{run['start']['version']}: {received['bytes']} bytes in {received['seconds']:.4f} s: "
          f"{received['bits_per_second'] / 1e6:.2f} Mb/s")
sys.exit(0 if seconds["bookworm"] < 0.2 and 0.9 < seconds["trixie"] < 1.2 else "no longer so")
PYTHON
