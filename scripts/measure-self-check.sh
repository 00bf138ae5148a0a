#!/usr/bin/env bash
# Measures how often the self-check finds a wrong unit, with a build that counts wrong on purpose: one
# unit in ONE_IN gets one solution too many.
#
#   scripts/measure-self-check.sh N ONE_IN RUNS [SECONDS]
#
# Every run counts board N from the beginning, for SECONDS at most (default 3600), and prints whether a
# wrong unit was found, and after how many units. The build goes to target/faulty.
set -euo pipefail
cd "$(dirname "$0")/.."

n=${1:?N} one_in=${2:?ONE_IN} runs=${3:?RUNS} seconds=${4:-3600}
RUSTFLAGS="--cfg nqueens_faulty" cargo build --release --quiet --target-dir target/faulty
program=target/faulty/release/nqueens
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

found=0
for ((run = 1; run <= runs; run++)); do
  rm -f "$folder/journal"
  code=0
  NQUEENS_FAULTY=$one_in timeout -s INT "$seconds" "$program" count "$n" --quiet --journal "$folder/journal" \
    >"$folder/total" 2>"$folder/stderr" || code=$?
  # Otherwise the run was stopped, or finished with a wrong total, and the self-check found nothing.
  if grep -q ' in unit ' "$folder/stderr"; then
    found=$((found + 1))
    verdict="found"
  else
    verdict="not found (exit code $code)"
  fi
  units=$("$program" status --json "$folder/journal" 2>/dev/null | sed 's/.*"finished":\([0-9]*\).*/\1/')
  echo "n = $n, one unit in $one_in wrong, run $run: $verdict, $units units"
done
echo "n = $n, one unit in $one_in wrong: found in $found of $runs runs"
