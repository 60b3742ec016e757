#!/usr/bin/env bash
# iperf3 --bidir --json does not say what one would expect of it, and each version not in another way.
#
# 3.9:  the sums of both directions stand under the same keys of one object (sum_sent and sum_received twice): a usual
#       parser keeps the second direction alone.
# 3.12: no key of test_start says that the test was of both directions; 3.18 writes "bidir": 1.
# All:  streams that the other side sent have a min_rtt of their own, of some microseconds: no round trip.
#
# Debian's packages iperf3 3.9 (bullseye), 3.12 (bookworm), 3.18 (trixie), over loopback. Seen on 27 November 2026.
set -euo pipefail
source "$(dirname "$0")/support/debian_packages.sh"

packages bullseye iperf3=3.9-1+deb11u1 libiperf0=3.9-1+deb11u1 libsctp1 libssl1.1
packages bookworm iperf3=3.12-1+deb12u2 libiperf0=3.12-1+deb12u2 libsctp1 libssl3
packages trixie iperf3=3.18-2+deb13u2 libiperf0=3.18-2+deb13u2 libsctp1 libssl3t64 libc6

port=35201
for suite in bullseye bookworm trixie; do
  program "$suite" iperf3 -s -1 -p $port > /dev/null &
  sleep 1
  program "$suite" iperf3 -c 127.0.0.1 -p $port -t 2 --bidir --json > "$folder/$suite.json"
  wait $!
  port=$((port + 1))
done

python3 - "$folder" <<'PYTHON'
import json, sys

folder, failed = sys.argv[1], []
seen = {}
for suite, twice, marked in (("bullseye", True, False), ("bookworm", False, False), ("trixie", False, True)):
    keys = []
    run = json.load(open(f"{folder}/{suite}.json"), object_pairs_hook=lambda pairs: keys.append([key for key, _ in pairs]) or dict(pairs))
    is_twice = any(of.count("sum_received") > 1 for of in keys)
    is_marked = "bidir" in run["start"]["test_start"]
    back = [one["sender"]["min_rtt"] for one in run["end"]["streams"] if not one["sender"]["sender"]]
    print(f"{run['start']['version']}: sum_received twice in one object: {is_twice}; test_start has bidir: {is_marked}; "
          f"min_rtt of the stream that the other side sent: {back} us")
    failed += [suite] if (is_twice, is_marked) != (twice, marked) or not all(0 < rtt < 1000 for rtt in back) else []
sys.exit(f"no longer so: {', '.join(failed)}" if failed else 0)
PYTHON
