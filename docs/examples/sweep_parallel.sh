#!/bin/sh
# sweep_parallel.sh SCENARIO OUT [OPTIONS OF parallel]: the cases of a sweep with GNU parallel, the longest first, then the
# report. The same command continues what was killed. Other machines: --sshloginfile nodes --workdir .
scenario=$1 out=$2
shift 2
longhaul run "$scenario" --list-cases | sort -t "$(printf '\t')" -k2,2nr | cut -f 1 |
  parallel "$@" longhaul run "$scenario" --out "$out" --only-case {} --quiet &&
  longhaul run "$scenario" --out "$out" --resume
