#!/usr/bin/env bash
# The job that waits for the arrays of submit.sh, then prints the total or how to resume. Its arguments:
#
#   merge.sh NQUEENS K FOLDER SECOND COMMAND ...
#
# SECOND is --second or empty; COMMAND submits the missing shards.
set -euo pipefail

nqueens=$1 of=$2 folder=$3 second=$4
code=0
"$nqueens" merge "$folder" ${second:+"$second"} --shards "$of" || code=$?
# If no journal was ever written, the program reports wrong usage (2).
if [ "$code" = 2 ] || [ "$code" = 3 ]; then
  echo "this submits what is missing:$(printf ' %q' "${@:5}")"
fi
exit "$code"
