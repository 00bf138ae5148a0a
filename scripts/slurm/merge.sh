#!/usr/bin/env bash
# The job that submit.sh lets wait for its arrays: prints the total, or how to resume. Its arguments:
#
#   merge.sh NQUEENS K FOLDER COMMAND ...      COMMAND submits the missing shards
set -euo pipefail

nqueens=$1 of=$2 folder=$3
shift 3
code=0
"$nqueens" merge "$folder" --shards "$of" || code=$?
# Also if no journal was ever written, which the program calls wrong usage.
if [ "$code" = 2 ] || [ "$code" = 3 ]; then
  printf 'this submits what is missing:'
  printf ' %q' "$@"
  echo
fi
exit "$code"
