#!/usr/bin/env bash
# Measures how many times as fast as the textbook program nqueens is. The two take turns, so a change in
# the speed of the machine affects both. Prints one line for each pair, then the median ratio.
#
#   scripts/ratio-to-textbook.sh [N] [PAIRS] [nqueens count options ...]      (default: 16 7)
#   scripts/ratio-to-textbook.sh 16 7 --kernel avx2
#
# One thread each, pinned to one core if taskset is installed. The textbook program always
# counts n = 16, the yardstick; N is the board that nqueens counts. Needs gcc.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$(dirname "$0")/.."
n=${1:-16} pairs=${2:-7}
shift $(($# < 2 ? $# : 2))
[[ $n =~ ^[1-9][0-9]?$ && $pairs =~ ^[1-9][0-9]{0,3}$ ]] || usage "'$n' is no board, or '$pairs' no number of pairs"

textbook=$(mktemp)
trap 'rm -f "$textbook"' EXIT
echo "building both programs; then each pair takes some seconds" >&2
gcc -O3 -march=native -o "$textbook" scripts/textbook.c
cargo build --release --quiet
pin=()
if command -v taskset >/dev/null; then pin=(taskset -c "$(taskset -cp $$ | sed 's/.*: *//; s/[,-].*//')"); fi

seconds_of() {
  local TIMEFORMAT=%R
  { time "${pin[@]}" "$@" >/dev/null 2>&3; } 3>&2 2>&1
}

ratios=()
echo "textbook_16_seconds,nqueens_${n}_seconds,ratio"
for _ in $(seq "$pairs"); do
  slow=$(seconds_of "$textbook" 16)
  fast=$(seconds_of target/release/nqueens count "$n" --threads 1 "$@")
  ratio=$(awk -v slow="$slow" -v fast="$fast" 'BEGIN { printf "%.2f", slow / fast }')
  echo "$slow,$fast,$ratio"
  ratios+=("$ratio")
done
printf '%s\n' "${ratios[@]}" | sort -n | awk '{ ratio[NR] = $1 }
  END { printf "median ratio %s (%s to %s)\n", ratio[int((NR + 1) / 2)], ratio[1], ratio[NR] }'
