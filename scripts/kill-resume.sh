#!/usr/bin/env bash
# Kills a count with SIGKILL at random moments, resumes it with a random number of threads each
# time, and checks the total, then recounts some units.
#
#   scripts/kill-resume.sh [N] [KILLS]      (default: 20 20)
#
# Fails if the total is wrong, if a unit was recorded twice, or if the count ends before all kills.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/usage.sh
n=${1:-20} kills=${2:-20}
[[ $# -le 2 && $n =~ ^[1-9][0-9]?$ && $kills =~ ^[1-9][0-9]*$ ]] || usage "a board and a number of kills"
cargo build --release --quiet
program=target/release/nqueens
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
journal=$folder/q$n.journal
expected=$(sed -n "s/^$n,\([0-9]*\),.*/\1/p" src/board/known-counts.csv)

for ((kill = 1; kill <= kills; kill++)); do
  threads=$((RANDOM % 4 + 1))
  # So many lines more, and a moment: a count on a fast machine is killed no nearer to its end.
  lines=$(($(wc -l 2>/dev/null <"$journal" || echo 0) + RANDOM % 10 + 1))
  "$program" count "$n" --quiet --threads "$threads" --journal "$journal" >"$folder/total" 2>"$folder/stderr" &
  pid=$!
  while kill -0 "$pid" 2>/dev/null && [ "$(wc -l 2>/dev/null <"$journal" || echo 0)" -lt "$lines" ]; do
    sleep 0.01
  done
  printf -v moment '0.%03d' $((RANDOM % 50))
  sleep "$moment"
  kill -9 "$pid" 2>/dev/null || true
  if wait "$pid" 2>/dev/null; then
    echo "the count ended before kill $kill of $kills; try a larger board than $n" >&2
    exit 1
  fi
  # A line that was cut off is not an error; any other message is.
  if grep -v "the journal's last line was cut off" "$folder/stderr" >&2; then exit 1; fi
  printf 'kill %2d on %d threads: %s lines\n' "$kill" "$threads" "$(wc -l <"$journal")"
done

total=$("$program" count "$n" --quiet --journal "$journal")
if [ "$total" != "$expected" ]; then
  echo "Q($n) = $total after $kills kills, published is $expected" >&2
  exit 1
fi
"$program" verify "$journal" --units 20
echo "Q($n) = $total after $kills kills: exact"
