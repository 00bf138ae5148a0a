#!/usr/bin/env bash
# Measures how many times as fast as the textbook program nqueens is. The two take turns, so a change in
# the speed of the machine affects both. Prints one line for each pair, then the median ratio.
#
#   scripts/ratio-to-textbook.sh [N] [PAIRS] [nqueens count options ...]
#   scripts/ratio-to-textbook.sh 16 7 --kernel avx2
#
# One thread each, pinned to one core if taskset is installed. The textbook program always
# counts n = 16, the yardstick; N is the board that nqueens counts. Needs gcc.
set -euo pipefail
cd "$(dirname "$0")/.."
n=${1:-16}
pairs=${2:-7}
shift $(( $# < 2 ? $# : 2 ))

textbook=$(mktemp)
trap 'rm -f "$textbook"' EXIT
gcc -O3 -march=native -o "$textbook" scripts/textbook.c
cargo build --release --quiet
pin=()
if command -v taskset >/dev/null; then pin=(taskset -c "$(taskset -cp $$ | sed 's/.*: *//; s/[,-].*//')"); fi

seconds_of() {
  local begun ended
  begun=$(date +%s%N)
  "${pin[@]}" "$@" >/dev/null
  ended=$(date +%s%N)
  awk -v ns=$((ended - begun)) 'BEGIN { printf "%.4f", ns / 1e9 }'
}

ratios=()
echo "textbook_16_seconds,nqueens_${n}_seconds,ratio"
for _ in $(seq "$pairs"); do
  slow=$(seconds_of "$textbook" 16)
  fast=$(seconds_of target/release/nqueens count "$n" --threads 1 "$@")
  ratio=$(awk -v a="$slow" -v b="$fast" 'BEGIN { printf "%.2f", a / b }')
  echo "$slow,$fast,$ratio"
  ratios+=("$ratio")
done
printf '%s\n' "${ratios[@]}" | sort -n | awk '{ r[NR] = $1 }
  END { printf "median ratio %s (%s to %s)\n", r[int((NR + 1) / 2)], r[1], r[NR] }'
