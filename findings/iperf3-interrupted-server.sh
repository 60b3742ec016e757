#!/usr/bin/env bash
# After an interrupt the text of iperf3's server ends with a rate that the path never had, and with no error.
#
# Its last line, marked `receiver`, has the bytes of the whole test over the time of the last whole interval: a client that
# is held to 100 Mb/s and stopped after 1.9 s leaves 190 Mb/s. The error goes to standard error alone.
#
# Debian's package iperf3 3.12 (bookworm), over loopback. Seen with 3.9, 3.18 and 3.22 too, on 27 November 2026.
set -euo pipefail
source "$(dirname "$0")/support/debian_packages.sh"

packages bookworm iperf3=3.12-1+deb12u2 libiperf0=3.12-1+deb12u2 libsctp1 libssl3

program bookworm iperf3 -s -1 -p 35221 > "$folder/server.txt" 2> "$folder/errors.txt" &
server=$!
sleep 1
(program bookworm iperf3 -c 127.0.0.1 -p 35221 -t 5 -b 100M > /dev/null) &
sleep 1.9
pkill -INT -P $! iperf3 || kill -INT $!
wait $server || true

grep -E "bits/sec" "$folder/server.txt"
echo "standard error: $(tr '\n' ' ' < "$folder/errors.txt")"
python3 - "$folder/server.txt" <<'PYTHON'
import re, sys

text = open(sys.argv[1]).read()
rates = [(float(rate), "receiver" in rest) for rate, rest in re.findall(r"([\d.]+) Mbits/sec(.*)", text)]
intervals = max(rate for rate, is_end in rates if not is_end)
end = next(rate for rate, is_end in rates if is_end)
print(f"fastest interval: {intervals} Mb/s; at the end: {end} Mb/s; the word error: {'error' in text}")
sys.exit(0 if end > 1.5 * intervals and "error" not in text else "no longer so")
PYTHON
