#!/usr/bin/env bash
# iperf 2: `[SUM]` of -r adds two directions up that ran one after the other, and -y C has no time of day.
#
# 2.2.1: -r runs one direction, then the other, and prints a sum of both over both times; 2.1.8 prints none.
# 2.1.8: -y C without -i writes the time 19700101000000, so that a server's lines of single tests that ran one after the
#        other cannot be told from parallel streams.
#
# Debian's packages iperf 2.1.8 (bookworm) and 2.2.1 (trixie), over loopback. Seen on 27 November 2026.
set -euo pipefail
source "$(dirname "$0")/support/debian_packages.sh"

packages bookworm iperf=2.1.8+dfsg-1 libgcc-s1 libstdc++6
packages trixie iperf=2.2.1+dfsg-1 libgcc-s1 libstdc++6 libc6

port=35231
for suite in bookworm trixie; do
  program "$suite" iperf -s -B 127.0.0.1 -p $port > /dev/null 2>&1 &
  server=$!
  sleep 1
  program "$suite" iperf -c 127.0.0.1 -B 127.0.0.3 -p $port -t 2 -r > "$folder/$suite.txt" 2>&1
  program "$suite" iperf -c 127.0.0.1 -p $port -t 1 -y C > "$folder/$suite.csv"
  pkill -P $server 2> /dev/null || true
  kill $server 2> /dev/null || true
  wait $server 2> /dev/null || true
  echo "$suite: $(grep -c SUM "$folder/$suite.txt" || true) lines [SUM] of -r; -y C: $(cut -d, -f1 "$folder/$suite.csv")"
  grep -E "bits/sec" "$folder/$suite.txt"
  port=$((port + 1))
done

grep -q "^19700101000000," "$folder/bookworm.csv" || { echo "no longer so: 2.1.8 has the time of day"; exit 1; }
grep -qE "SUM\] 0\.0+-(3\.9|4\.)" "$folder/trixie.txt" || { echo "no longer so: 2.2.1 has no sum over both times"; exit 1; }
if grep -q SUM "$folder/bookworm.txt"; then echo "no longer so: 2.1.8 has a sum"; exit 1; fi
