#!/usr/bin/env bash
# The job that waits for the arrays of submit.sh, then prints the total or how to resume. Its arguments:
#
#   merge.sh NQUEENS K FOLDER SECOND COMMAND ...
#
# SECOND is --second or empty; COMMAND submits the missing shards.
set -euo pipefail

nqueens=$1 of=$2 folder=$3 second=$4
# A network file system may show files of other nodes late, NFS by up to a minute. So a shard counts as missing only
# if this node does not see it for a minute.
pause_seconds=${NQUEENS_MERGE_PAUSE_SECONDS:-10}

echo "program      $nqueens, $("$nqueens" --version || echo "exit code $?")"
for look in {1..7}; do
  [ "$look" = 1 ] || sleep "$pause_seconds"
  ls -l "$folder" >/dev/null || true # makes the node ask the server for new files
  code=0
  answer=$("$nqueens" merge "$folder" ${second:+"$second"} --shards "$of" 2>&1) || code=$?
  [ "$code" = 3 ] || break
done
[ -z "$answer" ] || echo "$answer"
if [ "$code" = 3 ]; then
  echo "this submits what is missing:$(printf ' %q' "${@:5}")"
elif [ "$code" -gt 3 ]; then
  echo "exit code $code does not mean that shards are missing; this looks again, and submits only what is missing:$(printf ' %q' "${@:5}")"
fi
exit "$code"
