#!/usr/bin/env bash
# Runs the benchmarks and files the results, with machine, commit and command, in benches/record.
#
#   scripts/record.sh NAME [CARGO BENCH ARGUMENTS ...]      (default: --bench engines)
#   scripts/record.sh xeon-avx512 --bench engines -- colours
#
# Writes benches/record/DATE-NAME.txt. Needs Rust, and an idle machine for useful figures.
. "$(dirname "$0")/common.sh" || exit
[[ ${1:-} =~ ^[a-z0-9][a-z0-9.-]*$ ]] || usage "the name of the machine comes first, as in xeon-avx512"
file=benches/record/$(date +%F)-$1.txt
shift
if [ $# -eq 0 ]; then set -- --bench engines; fi
{
  echo "commit   $(git describe --always --dirty)"
  echo "date     $(date -u +%FT%RZ)"
  echo "rustc    $(rustc --version)"
  echo "command  cargo bench $*"
  lscpu 2>/dev/null | grep -E '^(Model name|CPU\(s\)|Thread|L1d|L2|L3|Hypervisor)' || true
  echo
  cargo bench "$@" | grep -E '^[^ ].*time:|^ +(time|thrpt):|^[a-z-]+[/=].*$' | grep -v '^Benchmarking'
} >"$file"
echo "$file"
