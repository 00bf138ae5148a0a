#!/usr/bin/env bash
# Engines side by side on one board, as CSV: engine,n,threads,runs,median_seconds,min_seconds,max_seconds.
#
#   scripts/compare-engines.sh [N] [RUNS] [ENGINE ...]      default: 10 5, all engines
#
# Whole-process times: by hyperfine if it is installed, else by a loop of our own. Every run's
# count is compared with the published one. THREADS=T sets the threads (default 1).
set -euo pipefail
cd "$(dirname "$0")/.."
n=${1:-10}
runs=${2:-5}
threads=${THREADS:-1}
shift $(( $# < 2 ? $# : 2 ))
cargo build --release --quiet
nqueens=target/release/nqueens
engines=("$@")
if [ ${#engines[@]} -eq 0 ]; then
  # The program lists its engines when it is asked for one that it does not have.
  names=$($nqueens count 1 --engine '?' 2>&1 | sed 's/.*one of auto, //') || true
  IFS=', ' read -r -a engines <<<"$names"
fi

times_by_hyperfine() {
  hyperfine --style none --warmup 1 --runs "$runs" --shell none --export-json "$1" "${*:2}" \
    >/dev/null 2>&1
  tr -d ' \n' <"$1" | sed 's/.*"times":\[\([^]]*\)\].*/\1/' | tr ',' '\n'
}

times_by_loop() {
  local begun ended
  "$@" >/dev/null
  for _ in $(seq "$runs"); do
    begun=$(date +%s%N)
    "$@" >/dev/null
    ended=$(date +%s%N)
    awk -v ns=$((ended - begun)) 'BEGIN { printf "%.6f\n", ns / 1e9 }'
  done
}

export_file=$(mktemp)
trap 'rm -f "$export_file"' EXIT
echo engine,n,threads,runs,median_seconds,min_seconds,max_seconds
for engine in "${engines[@]}"; do
  command=("$nqueens" count "$n" --engine "$engine" --threads "$threads")
  "${command[@]}" --json | grep -q '"published":"agrees"' # fails the script on a wrong count
  if command -v hyperfine >/dev/null; then
    times=$(times_by_hyperfine "$export_file" "${command[@]}")
  else
    times=$(times_by_loop "${command[@]}")
  fi
  echo "$times" | sort -g | awk -v head="$engine,$n,$threads,$runs" '{ t[NR] = $1 }
    END { printf "%s,%.6f,%.6f,%.6f\n", head, t[int((NR + 1) / 2)], t[1], t[NR] }'
done
