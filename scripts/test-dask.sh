#!/usr/bin/env bash
# Counts n = 15 on a Dask scheduler and three worker processes, and kills each of them in turn. The total
# must be exact every time.
#
#   scripts/test-dask.sh
#
# Lints the driver (scripts/dask/count.py) first. Also checks wrong arguments, and the program of docs/DASK.md.
# Everything listens on 127.0.0.1 only.
. "$(dirname "$0")/common.sh" || exit
[ $# = 0 ] || usage "it takes no arguments"

tools=$(scripts/python-tools.sh) # its exit code ends this, too: 77 if it is skipped
build
real_program=$program
n=15 shards=15 engine=bool-arrays
folder=$(mktemp -d)

# By default Dask gives up a task after three workers have died; here more may die.
export DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES=10
# By default Dask looks for a lost scheduler for half a minute.
export DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT=4s
export PYTHONDONTWRITEBYTECODE=1

# Without this, the HTTP servers of scheduler and workers listen on all networks.
quiet=(--no-dashboard --dashboard-address 127.0.0.1:0)

scheduler='' address='' driver='' workers=()

# A worker that gets SIGTERM while its scheduler ends may hang, so all processes get SIGKILL.
end() {
  local pid
  for pid in $scheduler $driver "${workers[@]}"; do
    pkill -9 -P "$pid" || true
    kill -9 "$pid" || true
  done 2>/dev/null
  scheduler='' driver='' workers=()
}

finish() {
  local code=$?
  end
  if [ "$code" != 0 ]; then tail -n 40 "$folder"/*.log >&2; fi
  # Processes of nqueens whose worker was killed may still make files there.
  until rm -rf "$folder" 2>/dev/null; do :; done
  exit "$code"
}
trap finish EXIT

start_worker() {
  "$tools/dask" worker "$address" --host 127.0.0.1 --nthreads 1 --no-nanny "${quiet[@]}" \
    --name "$1" --local-directory "$folder/scratch" >"$folder/worker-$1.log" 2>&1 &
  workers+=($!)
  disown # or bash would report its death
}

# start_cluster NUMBER: a new scheduler with three new workers. The numbers in the names
# distinguish the logs.
start_cluster() {
  local first=$1 worker
  "$tools/dask" scheduler --host 127.0.0.1 --port 0 "${quiet[@]}" \
    --scheduler-file "$folder/scheduler-$first.json" >"$folder/scheduler-$first.log" 2>&1 &
  scheduler=$!
  disown
  wait_for test -s "$folder/scheduler-$first.json"
  address=$(sed -n 's/.*"address": "\(.*\)".*/\1/p' "$folder/scheduler-$first.json")
  for worker in "$first" $((first + 1)) $((first + 2)); do start_worker "$worker"; done
}

# count NAME [OPTION ...]: starts the driver. Engine bool-arrays needs about ten seconds of CPU time, so
# a kill hits it while it counts.
count() {
  "$tools/python" scripts/dask/count.py $n --scheduler "$address" --shards $shards \
    --out "$folder/$1" --program "$program" "${@:2}" -- --engine "$engine" \
    >"$folder/total" 2>"$folder/driver-$1.log" &
  driver=$!
}

# Only what is in the folder itself: journals that are still checked are in a folder below it.
journals() { find "$folder/$1" -maxdepth 1 -name '*.journal' 2>/dev/null | wc -l; }
at_least() { [ "$(journals "$1")" -ge "$2" ]; }
gone() { ! kill -0 "$1" 2>/dev/null; }
works() { pgrep -P "$1" nqueens >"$folder/pid"; }
# The process may have just ended, so the worker's log decides.
a_task_loses_its_process() {
  if works "$1"; then kill -9 "$(cat "$folder/pid")" 2>/dev/null || true; fi
  sleep 0.2
  grep -q "killed by signal 9" "$2"
}
idle() {
  local worker
  for worker in "${workers[@]}"; do if works "$worker"; then return 1; fi; done
}

# Waits for the driver's end and compares its exit code.
driver_ends_with() {
  local code=0
  wait_for gone "$driver"
  wait "$driver" || code=$?
  driver=''
  [ "$code" = "$1" ] || fail "the driver ended with $code instead of $1"
}

said() { grep -q "$2" "$folder/driver-$1.log" || fail "the driver did not say: $2"; }

# The driver ends with the exact total.
ends_well() {
  driver_ends_with 0
  grep -qx "total  *$(published $n)" "$folder/total" || fail "wrong total: $(cat "$folder/total")"
  echo "$1: Q($n) is exact, after $((SECONDS - began)) s"
}

scenario() {
  began=$SECONDS
  echo "-- $*"
}

scenario "lints of the driver"
"$tools/ruff" check --quiet --no-cache scripts/dask
"$tools/ruff" format --check --quiet --no-cache scripts/dask
(cd scripts/dask && "$tools/mypy" --cache-dir "$folder/mypy" .)

scenario "wrong arguments and folders are named at once, with exit code 2"
ln -s nowhere "$folder/link"
mkdir "$folder/pipe"
mkfifo "$folder/pipe/x.journal"
"$program" shard 14 --index 0 --shards 2 --out "$folder/fourteen" --quiet >/dev/null
# A word of the message, and the arguments.
while read -r word arguments; do
  code=0
  # shellcheck disable=SC2086 # several words
  python3 scripts/dask/count.py --program "$program" $arguments 2>"$folder/named" || code=$?
  if [ "$code" != 2 ] || ! tail -n 1 "$folder/named" | grep -q -e "$word"; then fail "$arguments: $code, $(cat "$folder/named")"; fi
done <<END
N 33 --scheduler x --shards 2 --out f
--scheduler 15 --shards 2 --out f
--shards 15 --scheduler x --shards 100001 --out f
--retries 15 --scheduler x --shards 2 --out f --retries x
--shards 15 --scheduler x --shards 2 --out f -- --shards 3
no-such-program 15 --scheduler x --shards 2 --out f --program no-such-program
$folder/link 15 --scheduler x --shards 2 --out $folder/link
x.journal 15 --scheduler x --shards 2 --out $folder/pipe
14 15 --scheduler x --shards 2 --out $folder/fourteen
END

start_cluster 1

scenario "the program of docs/DASK.md"
sed -n '/^import subprocess/,/^subprocess.run/p' docs/DASK.md | sed "s|tcp://10.0.0.1:8786|$address|
  s|/shared/q24|$folder/documented|; s|nqueens shard 24|$program shard 14|; s|nqueens merge|$program merge|" >"$folder/documented.py"
"$tools/python" "$folder/documented.py" >"$folder/total"
grep -qx "total  *$(published 14)" "$folder/total" || fail "wrong total: $(cat "$folder/total")"

scenario "a process of nqueens is killed, then a worker: their tasks are tried again"
count worker
wait_for at_least worker 2
wait_for a_task_loses_its_process "${workers[0]}" "$folder/worker-1.log"
wait_for works "${workers[1]}"
kill -9 "${workers[1]}"
unset 'workers[1]'
ends_well worker

scenario "the driver is killed, then stopped: the same command resumes"
count driver
wait_for at_least driver 3
kill -9 "$driver"
wait "$driver" 2>/dev/null || true
before=$(journals driver)
count driver
wait_for at_least driver $((before + 2))
said driver "$before of $shards shards are there, $((shards - before)) to go"
kill -TERM "$driver"
driver_ends_with 3
said driver "stopped: the same command resumes"
wait_for idle
count driver
ends_well driver

scenario "the scheduler is killed: a new one continues with what is missing"
count scheduler
wait_for at_least scheduler 3
kill -9 "$scheduler"
driver_ends_with 3
said scheduler "^count.py: the connection to the scheduler is lost: the same command resumes from here$"
# Lines of progress, one every ten seconds, do not count.
[ "$(grep -vc ' shards, .* worker' "$folder/driver-scheduler.log")" = 2 ] || fail "the driver said more than two lines"
count scheduler
driver_ends_with 3
said scheduler "^count.py: no scheduler at $address: "
end
before=$(journals scheduler)
start_cluster 4
count scheduler
ends_well scheduler
said scheduler "$before of $shards shards are there, $((shards - before)) to go"
[ "$(journals scheduler)" = $shards ] || fail "a shard that was there was counted again"

scenario "no worker has the program: the driver reports it"
mkdir "$folder/bin"
ln -s "$program" "$folder/bin/only-here"
program=only-here PATH=$folder/bin:$PATH count program
driver_ends_with 4
said program "^count.py: n15-[^:]*: no worker can count it: worker tcp://[^ ]* on $(hostname): .*'only-here'"

# stand_in NAME: a program that runs the shell code on standard input, then counts.
stand_in() {
  program=$folder/bin/$1
  { echo '#!/bin/sh' && cat && echo "exec '$real_program' \"\$@\""; } >"$program"
  chmod +x "$program"
}
tries() { wc -l <"$folder/tries-$1"; }

# No process is killed while it counts any more.
engine=subtrees

scenario "a worker has no memory (exit code 4), and the only other one dies: a new one counts what they left"
kill -9 "${workers[2]}"
unset 'workers[2]'
stand_in refused <<END
if [ "\$1" = shard ] && [ "\$PPID" = "${workers[0]}" ]; then
  echo "\$4" >>"$folder/tries-refused"
  echo "nqueens: no memory" >&2
  exit 4
elif [ "\$PPID" = "${workers[1]}" ] && grep -qsx -e "\$4" "$folder/tries-refused"; then
  touch "$folder/hangs"
  sleep 600
fi
END
count refused
wait_for test -e "$folder/hangs"
start_worker 13
wait_for grep -q "Registered to" "$folder/worker-13.log"
pkill -9 -P "${workers[1]}"
kill -9 "${workers[1]}"
unset 'workers[1]'
ends_well refused

scenario "a crash on every worker: exit code 4, after both workers tried the shard"
stand_in crash <<END
case "\$*" in *" --index 3 "*) echo "\$PPID" >>"$folder/tries-crash"; kill -SEGV \$\$ ;; esac
END
count crash
driver_ends_with 4
said crash '^count.py: n15-0003-of-0015: no worker can count it: worker tcp://.*: the process was killed by signal 11$'
[ "$(sort -u "$folder/tries-crash" | wc -l)" = 2 ] || fail "not every worker tried it"
[ "$(journals crash)" -ge 1 ] || fail "what was finished is lost"

scenario "wrong usage (exit code 2) is not tried again"
stand_in usage <<END
case "\$*" in *" --index 3 "*) echo tried >>"$folder/tries-usage"; echo "nqueens: no such kernel" >&2; exit 2 ;; esac
END
count usage
driver_ends_with 2
said usage '^count.py: n15-0003-of-0015: worker tcp://.*: no such kernel$'
[ "$(tries usage)" = 1 ] || fail "$(tries usage) attempts"

scenario "a journal of another plan, or that lacks units, is not kept"
"$real_program" shard $n --index 0 --shards $shards --engine $engine --out "$folder/wrong" --quiet >/dev/null
for wrong in "another plan: --index 3 --engine bitmask" "lacks units: --index 4 --engine $engine"; do
  stand_in wrong <<END
case "\$*" in *" --index 3 "*) for out; do :; done; exec '$real_program' shard $n --shards $shards ${wrong#*: } --out "\$out" ;; esac
END
  count wrong
  driver_ends_with 1
  said wrong "^count.py: n15-0003-of-0015: .*${wrong%%: *}"
done
compgen -G "$folder/wrong/n15-0003-*" && fail "a wrong journal was kept"

scenario "a second count does not meet the first one in the same folder"
program=$real_program
"$program" shard $n --second --index 0 --shards $shards --engine $engine --out "$folder/second" --quiet >/dev/null
count second
ends_well second
said second "0 of $shards shards are there, $shards to go"
count second --second
ends_well second
said second "1 of $shards shards are there, $((shards - 1)) to go"

echo "all totals exact, in $SECONDS s"
