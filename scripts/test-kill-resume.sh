#!/usr/bin/env bash
# Kills a count with SIGKILL at random moments, resumes it with a random number of threads each
# time, and checks the total.
#
#   scripts/test-kill-resume.sh [N] [KILLS]      (default: 20 10)
#
# Fails if the total is wrong, if a unit was recorded twice, or if the count ends before all kills.
. "$(dirname "$0")/common.sh" || exit
n=${1:-20} kills=${2:-10}
[[ $# -le 2 && $n =~ ^[1-9][0-9]?$ && $kills =~ ^[1-9][0-9]*$ ]] || usage "a board and a number of kills"
build
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
journals=$folder/q$n
# Each process has a journal of its own.
lines() { cat "$journals"/*.journal 2>/dev/null | wc -l || true; }

for ((kill = 1; kill <= kills; kill++)); do
  threads=$((RANDOM % 4 + 1))
  # At a number of lines, not a time: a count on a fast machine is killed no nearer to its end.
  until=$(($(lines) + RANDOM % 10 + 3))
  "$program" count "$n" --quiet --threads "$threads" --journal "$journals" >"$folder/total" 2>"$folder/stderr" &
  pid=$!
  while kill -0 "$pid" 2>/dev/null && [ "$(lines)" -lt "$until" ]; do
    sleep 0.01
  done
  printf -v moment '0.%03d' $((RANDOM % 50))
  sleep "$moment"
  kill -9 "$pid" 2>/dev/null || true
  if wait "$pid" 2>/dev/null; then
    fail "the count ended before kill $kill of $kills; try a larger board than $n"
  fi
  # A last line that is not whole is dropped without a message.
  if grep . "$folder/stderr" >&2; then exit 1; fi
  printf 'kill %2d on %d threads: %s lines\n' "$kill" "$threads" "$(lines)"
done

total=$("$program" count "$n" --quiet --journal "$journals")
[ "$total" = "$(published "$n")" ] || fail "Q($n) = $total after $kills kills, published is $(published "$n")"
"$program" merge "$journals" --json | grep -q '"twice":0,' || fail "a unit was recorded twice"
echo "Q($n) = $total after $kills kills: exact"
