#!/usr/bin/env bash
# fping -c writes replies to standard output and its summary to standard error: `fping -c 5 HOST > file` has no summary.
#
# ping writes both to standard output. A file of fping with a single redirection says no min/avg/max.
#
# Debian's package fping 5.1 (bookworm), over loopback; as root, or where ping_group_range allows. Seen with 5.5 too, on 27
# November 2026.
set -euo pipefail
source "$(dirname "$0")/support/debian_packages.sh"

packages bookworm fping=5.1-1

program bookworm fping -c 3 -p 100 127.0.0.1 > "$folder/output.txt" 2> "$folder/error.txt"
echo "standard output:"; cat "$folder/output.txt"
echo "standard error:"; cat "$folder/error.txt"
if grep -q "min/avg/max" "$folder/output.txt" || ! grep -q "min/avg/max" "$folder/error.txt"; then
  echo "no longer so"
  exit 1
fi
