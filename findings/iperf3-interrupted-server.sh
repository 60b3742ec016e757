#!/usr/bin/env bash
# After an interrupt the text of iperf3's server ends with a rate that the path never had, and with no error.
#
# Its last line, marked `receiver`, has the bytes of the whole test over the time of the last whole interval: a client that
# is held to 100 Mb/s and stopped after 1.9 s leaves 190 Mb/s. The error goes to standard error alone.
#
# Debian's package iperf3 3.12 (bookworm), over loopback. Seen with 3.9, 3.18 and 3.22 too, on 27 November 2026.
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
