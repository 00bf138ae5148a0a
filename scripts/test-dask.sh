#!/usr/bin/env bash
# Counts n = 15 on a Dask scheduler and two workers of this machine while workers, the scheduler and the driver are
# killed, a disk is full and a host lacks the program. The total must be exact every time.
#
#   scripts/test-dask.sh
#
# Lints the driver (scripts/dask/count.py) first. Everything listens on 127.0.0.1 only. The full disk is a small tmpfs,
# so without root this part is skipped. Needs Python 3.10 and scripts/python-tools.sh; skipped (exit code 77) if the
# packages cannot be installed.
. "$(dirname "$0")/common.sh" || exit
[ $# = 0 ] || usage "it takes no arguments"

tools=$(scripts/python-tools.sh) # its exit code ends this, too: 77 if it is skipped
build
real_program=$program
n=15 shards=15
folder=$(mktemp -d)
scheduler='' workers=() driver=''
export PYTHONDONTWRITEBYTECODE=1 DASK_TEMPORARY_DIRECTORY=$folder/scratch
# By default Dask looks for a lost scheduler for half a minute.
export DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT=4s

# A worker that gets SIGTERM while its scheduler ends may hang, so all processes get SIGKILL.
end() {
  local pid
  for pid in $scheduler $driver "${workers[@]}"; do
    pkill -9 -P "$pid" || true
    kill -9 "$pid" || true
  done 2>/dev/null
  scheduler='' workers=() driver=''
}

finish() {
  local code=$?
  end
  if [ "$code" != 0 ]; then tail -n 8 "$folder"/*.log >&2; fi
  umount "$folder/small" 2>/dev/null || true
  # A process of nqueens whose worker was killed may still make files.
  until rm -rf "$folder" 2>/dev/null; do sleep 0.1; done
  exit "$code"
}
trap finish EXIT

# The HTTP servers of scheduler and workers listen on all networks if their address is not given.
dask() { exec "$tools/dask" "$@" --no-dashboard --dashboard-address 127.0.0.1:0; }

# start_worker NAME ADDRESS
start_worker() {
  dask worker "$address" --nthreads 1 --no-nanny --host "$2" >"$folder/$1.log" 2>&1 &
  workers+=($!)
  disown
}

# start_cluster NAME: ends the cluster that there is, and starts a scheduler and two workers.
start_cluster() {
  local worker
  end
  dask scheduler --host 127.0.0.1 --port 0 --scheduler-file "$folder/$1.json" >"$folder/$1-scheduler.log" 2>&1 &
  scheduler=$!
  disown # or bash would report its death
  wait_for test -s "$folder/$1.json"
  address=$(sed -n 's/.*"address": "\(.*\)".*/\1/p' "$folder/$1.json")
  for worker in 1 2; do
    start_worker "$1-worker-$worker" 127.0.0.1
  done
}

# stand_in NAME SHARD COMMAND: the program runs a shell command before it counts this shard ('*' stands for all).
stand_in() {
  program=$folder/program-$1
  cat >"$program" <<END
#!/bin/sh
case "\$*" in *" --shard "$2/$shards" "*) echo >>'$folder/tries-$1'; $3 ;; esac
exec '$real_program' "\$@"
END
  chmod +x "$program"
}
tried() { [ "$(wc -l <"$folder/tries-$1")" = "$2" ] || fail "$(wc -l <"$folder/tries-$1") tries instead of $2"; }

# count NAME [OPTION ...]: starts the driver on a folder of that name.
count() {
  "$tools/python" scripts/dask/count.py $n --scheduler "$address" --shards $shards --out "$folder/$1" \
    --program "$program" "${@:2}" >"$folder/total" 2>"$folder/driver-$1.log" &
  driver=$!
}

journals() { find "$folder/$1" -maxdepth 1 -name '*.journal' 2>/dev/null | wc -l; }
at_least() { [ "$(journals "$1")" -ge "$2" ]; }
gone() { ! kill -0 "$1" 2>/dev/null; }
said() { grep -q -e "$2" "$folder/driver-$1.log" || fail "the driver did not say: $2"; }

# ends_with NAME CODE MESSAGE: the driver ends with this exit code, and its last line is the message.
ends_with() {
  local code=0
  wait_for gone "$driver"
  wait "$driver" || code=$?
  driver=''
  [ "$code" = "$2" ] || fail "the driver ended with $code instead of $2"
  tail -n 1 "$folder/driver-$1.log" | grep -q -x -e "count.py: $3" || fail "the driver's last line is not: $3"
  echo "$1: exit code $code, as it should be"
}

# ends_well NAME COUNTED: the driver counts this many shards, and ends with the exact total.
ends_well() {
  local code=0
  wait_for gone "$driver"
  wait "$driver" || code=$?
  driver=''
  [ "$code" = 0 ] || fail "the driver ended with $code"
  grep -qx "total  *$(published $n)" "$folder/total" || fail "wrong total: $(cat "$folder/total")"
  said "$1" "shards to count: $2 of $shards,"
  [ "$(grep -c 'is counted$' "$folder/driver-$1.log")" = "$2" ] || fail "other shards were counted than were missing"
  echo "$1: Q($n) is exact"
}

scenario() { echo "-- $SECONDS s: $*"; }

scenario "lints of the driver"
"$tools/ruff" check --quiet --no-cache scripts/dask
"$tools/ruff" format --check --quiet --no-cache scripts/dask
(cd scripts/dask && "$tools/mypy" --cache-dir "$folder/mypy" .)

scenario "wrong usage that needs no scheduler: exit code 2"
"$program" count 14 --shard 0/2 --journal "$folder/fourteen" --quiet >/dev/null
# A word of the message, and the arguments.
while read -r word arguments; do
  code=0
  # shellcheck disable=SC2086 # several words
  python3 scripts/dask/count.py 15 --program "$program" --scheduler x $arguments 2>"$folder/named" || code=$?
  if [ "$code" != 2 ] || ! grep -q -e "$word" "$folder/named"; then fail "$arguments: $code, $(cat "$folder/named")"; fi
done <<END
--shards --out $folder/f
--shards --out $folder/f --shards 0
nowhere --out $folder/nowhere/f --shards 2
14 --out $folder/fourteen --shards 2
END

start_cluster first

scenario "a worker is killed in the middle: the other one counts its shard"
stand_in worker 3 "[ -e '$folder/killed' ] || { touch '$folder/killed'; kill -9 \$PPID; }"
count worker
ends_well worker $shards
tried worker 2
gone "${workers[0]}" || gone "${workers[1]}" || fail "no worker was killed"

# Each shard takes a moment, so that what is killed is in the middle of the count.
stand_in slow '*' 'sleep 0.5'

scenario "the scheduler is killed: the same command goes on with a new one"
count scheduler
wait_for at_least scheduler 3
kill -9 "$scheduler"
ends_with scheduler 3 "the connection to the scheduler is lost: the same command goes on"
count scheduler
ends_with scheduler 3 "no scheduler at $address: .*"
before=$(journals scheduler)
start_cluster second
count scheduler
ends_well scheduler $((shards - before))

scenario "the driver is stopped, which cancels its tasks, and killed: the same command goes on"
count driver
wait_for at_least driver 3
kill -TERM "$driver"
ends_with driver 3 "stopped: the same command goes on"
cat >"$folder/tasks.py" <<END
from distributed import Client
print(Client("$address").run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)))
END
[ "$("$tools/python" "$folder/tasks.py")" = 0 ] || fail "the scheduler still has tasks of a driver that was stopped"
before=$(journals driver)
count driver
wait_for at_least driver $((before + 2))
kill -9 "$driver"
wait "$driver" 2>/dev/null || true
before=$(journals driver)
count driver
ends_well driver $((shards - before))

program=$real_program

scenario "files that are empty, cut off or no journals are no finished shards"
# The names end in the host and the process that counted.
for journal in "$folder"/driver/n"$n"-0003-of-00"$shards".*; do : >"$journal"; done
truncate -s -100 "$folder"/driver/n"$n"-0005-of-00"$shards".*
for journal in "$folder"/driver/n"$n"-0007-of-00"$shards".*; do echo hello >"$journal"; done
count driver
ends_well driver 3

scenario "the second pass in the folder of the first is refused, and in a folder of its own it is counted"
count driver --second
ends_with driver 2 "the folder holds journals of another pass (first): choose another one"
count second --second
ends_well second $shards

scenario "the driver's disk is full: exit code 1. With more space the same command goes on"
mkdir "$folder/small"
if mount -t tmpfs -o size=24k tmpfs "$folder/small" 2>/dev/null; then
  count small
  ends_with small 1 "cannot write .*: No space left on device"
  before=$(journals small)
  [ "$before" -ge 1 ] || fail "the journals that arrived are lost"
  mount -o remount,size=1m "$folder/small"
  count small
  ends_well small $((shards - before))
else
  echo "skipped: a full disk: no tmpfs can be mounted here"
fi

scenario "a task that fails once is tried again"
stand_in once 3 "[ -e '$folder/failed' ] || { touch '$folder/failed'; kill -9 \$\$; }"
count once
ends_well once $shards
tried once 2

scenario "a shard that fails each time is named with the reason at the end, and the others are counted"
failing="n$n-0003-of-00$shards: host $(hostname):"
stand_in crash 3 'kill -SEGV $$'
count crash
ends_with crash 1 "$failing .*/program-crash was killed by signal 11"
tried crash 4
[ "$(journals crash)" = $((shards - 1)) ] || fail "the failing shard has stopped the others"
stand_in memory 3 'echo "nqueens: no memory" >&2; exit 4'
count memory
ends_with memory 4 "$failing nqueens: no memory"
tried memory 4

scenario "wrong usage is not tried again: exit code 2"
stand_in usage 3 "exec '$real_program' \"\$@\" --kernel no-such-kernel"
count usage
ends_with usage 2 "$failing error: .*no-such-kernel.*"
tried usage 1

# The driver finds this name on its path, and so does the last worker.
mkdir "$folder/bin"
stand_in slow '*' 'sleep 0.5'
mv "$program" "$folder/bin/nqueens-on-one-host"
program=nqueens-on-one-host
lacks="host $(hostname): .*No such file or directory: '$program'"
start_cluster lacking

scenario "all hosts lack the program: exit code 1"
PATH=$folder/bin:$PATH count nowhere
ends_with nowhere 1 "n$n-.*: $lacks"

# The workers without the program are always idle, so each shard comes to them first.
scenario "a host lacks the program: the other one counts all shards"
PATH=$folder/bin:$PATH start_worker having 127.0.0.2
PATH=$folder/bin:$PATH count one-host
ends_well one-host $shards
said one-host "$lacks"

echo "all totals exact, in $SECONDS s"
