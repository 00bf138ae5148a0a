#!/usr/bin/env bash
# Counts n = 15 on a Dask scheduler and three worker processes, and kills each of them in turn. The total
# must be exact every time.
#
#   scripts/test-dask.sh
#
# Lints and tests the driver (scripts/dask/count.py) first. Also checks that --local opens no port, and
# that with TLS an untrusted client is refused. Everything listens on 127.0.0.1 only.
set -euo pipefail
cd "$(dirname "$0")/.."

tools=$(scripts/python-tools.sh) || { [ $? = 77 ] && echo "skipped: the tests of Dask" && exit 77; exit 1; }
cargo build --release --quiet
program=$PWD/target/release/nqueens
n=15 shards=15 engine=bool-arrays
published() { sed -n "s/^$1,\([0-9]*\),.*/\1/p" src/board/known-counts.csv; }
expected=$(published $n)
folder=$(mktemp -d)

# By default Dask gives up a task after three workers have died; here more may die.
export DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES=10
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

fail() {
  echo "$*" >&2
  exit 1
}

# Waits until a command succeeds, three minutes at most.
await() {
  local _
  for _ in {1..1800}; do
    if "$@"; then return; fi
    sleep 0.1
  done
  fail "still failing after three minutes: $*"
}

start_worker() {
  "$tools/dask" worker "$address" --host 127.0.0.1 --nthreads 1 --no-nanny "${quiet[@]}" \
    --name "$1" --local-directory "$folder/scratch" >"$folder/worker-$1.log" 2>&1 &
  workers+=($!)
  disown # or bash would report its death
}

# start_cluster NUMBER [PROTOCOL]: a new scheduler with three new workers. The numbers in the names
# distinguish the logs.
start_cluster() {
  local first=$1 worker
  "$tools/dask" scheduler --host "${2:-tcp}://127.0.0.1" --port 0 "${quiet[@]}" \
    --scheduler-file "$folder/scheduler-$first.json" >"$folder/scheduler-$first.log" 2>&1 &
  scheduler=$!
  disown
  await test -s "$folder/scheduler-$first.json"
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
# A file that is written again has a new inode.
files() { find "$folder/$1" -maxdepth 1 -name '*.journal' -printf '%f %i\n' | sort; }
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
  await gone "$driver"
  wait "$driver" || code=$?
  driver=''
  [ "$code" = "$1" ] || fail "the driver ended with $code instead of $1"
}

is_killed() {
  kill -9 "$1"
  wait "$1" 2>/dev/null || true
}

said() { grep -q "$2" "$folder/driver-$1.log" || fail "the driver did not say: $2"; }

# The driver ends with the exact total, both as printed and as merged again.
ends_well() {
  driver_ends_with 0
  grep -qx "total  *$expected" "$folder/total" || fail "wrong total: $(cat "$folder/total")"
  [ "$("$program" merge --quiet "$folder/$1")" = "$expected" ] || fail "the folder's total is wrong"
  echo "$1: Q($n) = $expected in $((SECONDS - began)) s"
}

scenario() {
  began=$SECONDS
  echo "-- $*"
}

scenario "lints and unit tests of the driver"
"$tools/ruff" check --quiet --no-cache scripts/dask
"$tools/ruff" format --check --quiet --no-cache scripts/dask
(cd scripts/dask && "$tools/mypy" --cache-dir "$folder/mypy" . && python3 -m unittest --quiet)

start_cluster 1

scenario "a process of nqueens is killed: its task is tried again"
count process
await at_least process 2
await a_task_loses_its_process "${workers[0]}" "$folder/worker-1.log"
ends_well process

scenario "a worker is killed: the others take its work"
count worker
await at_least worker 2
await works "${workers[1]}"
is_killed "${workers[1]}"
unset 'workers[1]'
ends_well worker
at_least worker $shards || fail "a journal is missing"

scenario "the driver is killed, then stopped: the same command resumes"
count driver
await at_least driver 3
is_killed "$driver"
before=$(journals driver)
count driver
await at_least driver $((before + 2))
said driver "$before of $shards shards are there, $((shards - before)) to go"
kill -TERM "$driver"
driver_ends_with 3
said driver "stopped: the same command resumes"
await idle
count driver
ends_well driver

scenario "the scheduler is killed: a new one continues with what is missing"
count scheduler
await at_least scheduler 3
is_killed "$scheduler"
driver_ends_with 3
said scheduler "^count.py: the connection to the scheduler is lost: the same command resumes from here$"
# Lines of progress, one every ten seconds, do not count.
[ "$(grep -vc ' shards, .* worker' "$folder/driver-scheduler.log")" = 2 ] || fail "the driver said more than two lines"
files scheduler >"$folder/before"

scenario "the scheduler and its workers are killed at once"
end
start_cluster 10
count gone
await at_least gone 1
kill -9 "$scheduler" "${workers[@]}"
driver_ends_with 3
said gone "connection to the scheduler is lost"
end
count gone
driver_ends_with 3
said gone "^count.py: no scheduler at $address: "
start_cluster 4
count scheduler
ends_well scheduler
before=$(wc -l <"$folder/before")
said scheduler "$before of $shards shards are there, $((shards - before)) to go"
files scheduler | comm -23 "$folder/before" - | grep . && fail "a shard that was there was counted again"

scenario "the journal of a shard is there twice: it is counted once"
cp "$folder/scheduler/n15-0003-of-0015.journal" "$folder/scheduler/again.journal"
count scheduler
ends_well scheduler
"$program" merge --json "$folder/scheduler" | grep -q '"twice":1,' || fail "nothing is there twice"

scenario "a journal is empty, as after a crash: its shard is counted under a free name"
name=n15-0004-of-0015
: >"$folder/scheduler/$name.journal"
ln -s nowhere "$folder/scheduler/$name.2.journal"
count scheduler
driver_ends_with 2
said scheduler "^count.py: $folder/scheduler/$name.2.journal is not a plain file"
rm "$folder/scheduler/$name.2.journal"
count scheduler
ends_well scheduler
said scheduler "14 of $shards shards are there, 1 to go"
[ ! -s "$folder/scheduler/$name.journal" ] || fail "a file was replaced"
test -s "$folder/scheduler/$name.2.journal" || fail "the next free name was not taken"

scenario "the workers lack the program: the driver reports it"
mkdir "$folder/bin"
ln -s "$program" "$folder/bin/only-here"
program=only-here PATH=$folder/bin:$PATH count program
driver_ends_with 1
said program "^count.py: n15-[^:]*: worker tcp://[^ ]* on $(hostname): .*'only-here'"

# stand_in NAME: a program that runs the shell code on standard input, then counts.
stand_in() {
  program=$folder/bin/$1
  { echo '#!/bin/sh' && cat && echo "exec '$PWD/target/release/nqueens' \"\$@\""; } >"$program"
  chmod +x "$program"
}
tries() { wc -l <"$folder/tries-$1"; }

# No process is killed while it counts any more.
engine=subtrees

scenario "a worker has no memory (exit code 4): the others count what it refuses"
stand_in refused <<END
if [ "\$1" = shard ] && [ "\$PPID" = "${workers[0]}" ]; then
  echo "\$4" >>"$folder/tries-refused"
  echo "nqueens: no memory" >&2
  exit 4
fi
END
count refused
ends_well refused
[ "$(tries refused)" -ge 1 ] || fail "the worker refused nothing"
sort "$folder/tries-refused" | uniq -c | grep -v '^ *2 ' && fail "the worker should have tried each shard twice"

scenario "no worker has memory for a shard: exit code 4, after both workers tried it twice"
is_killed "${workers[2]}"
unset 'workers[2]'
stand_in nowhere <<END
case "\$*" in *" --index 3 "*) echo "\$PPID" >>"$folder/tries-nowhere"; echo "nqueens: no memory" >&2; exit 4 ;; esac
END
count nowhere
driver_ends_with 4
said nowhere '^count.py: n15-0003-of-0015: no worker can count it now: worker tcp://.*: no memory$'
[ "$(tries nowhere)" = 4 ] || fail "$(tries nowhere) attempts"
[ "$(sort "$folder/tries-nowhere" | uniq -c | grep -c '^ *2 ')" = 2 ] || fail "not every worker tried twice"
[ "$(journals nowhere)" -ge 1 ] || fail "what was finished is lost"

scenario "wrong usage (exit code 2) is not tried again"
stand_in usage <<END
case "\$*" in *" --index 3 "*) echo tried >>"$folder/tries-usage"; echo "nqueens: no such kernel" >&2; exit 2 ;; esac
END
count usage
driver_ends_with 2
said usage '^count.py: n15-0003-of-0015: worker tcp://.*: no such kernel$'
[ "$(tries usage)" = 1 ] || fail "$(tries usage) attempts"

scenario "each shard is verified; one that differs is not tried again, and its journal is not kept"
stand_in verify <<END
if [ "\$1" = verify ]; then
  echo "\$*" >>"$folder/tries-verify"
  if [ -e "$folder/differs" ]; then echo "nqueens: unit 2 is recorded with 2, bitmask counts 1" >&2; exit 1; fi
fi
END
count verify --verify-units 3
ends_well verify
[ "$(grep -cE '^verify .*--units 3 .*/n15-[0-9]{4}-of-0015.journal$' "$folder/tries-verify")" = $shards ] || fail "not every shard was verified"
touch "$folder/differs"
rm "$folder/tries-verify" "$folder/verify"/n15-0005-*
count verify --verify-units 3
driver_ends_with 1
said verify "^count.py: n15-0005-of-0015: worker tcp://[^ ]* on $(hostname): unit 2 is recorded with 2, bitmask counts 1$"
[ "$(tries verify)" = 1 ] || fail "$(tries verify) attempts"
[ "$(journals verify)" = $((shards - 1)) ] || fail "the journal of a shard that differs was kept"
program=$PWD/target/release/nqueens

scenario "without a cluster: no port is open, and no process is left when the driver ends"
engine=bool-arrays
# Only two shards are submitted at a time, so the others must follow.
two_at_a_time='import sys, count
count.LEAST_SUBMITTED, count.SUBMITTED_PER_THREAD = 0, 1
sys.exit(count.main(sys.argv[1:]))'
# local_count NAME
local_count() {
  PYTHONPATH=scripts/dask "$tools/python" -c "$two_at_a_time" $n --local 2 --shards 6 --out "$folder/$1" \
    --program "$program" -- --engine "$engine" >"$folder/total" 2>"$folder/driver-$1.log" &
  driver=$!
}
# The sockets of the driver among those that listen, with TCP (state 0A) or UDP (07).
ports() {
  find "/proc/$driver/fd" -lname 'socket:*' -printf '%l\n' | tr -dc '0-9\n' >"$folder/sockets"
  awk '($4 == "0A" || $4 == "07") { print $10 }' /proc/net/{tcp,tcp6,udp,udp6} | grep -Fxf "$folder/sockets"
}
local_count stopped
two_work() { [ "$(pgrep -cP "$driver" nqueens)" = 2 ]; }
await two_work
if ports; then fail "the driver listens"; fi
kill -TERM "$driver"
driver_ends_with 3
none_is_left() { ! pgrep -f "^$program shard .*-of-0006[.]journal" >/dev/null; }
await none_is_left
n=14 expected=$(published 14)
local_count local
ends_well local
n=15 expected=$(published 15)

scenario "TLS: a client without the keys is refused"
end
(
  cd "$folder"
  openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout authority.key -out ca.pem
  openssl req -newkey rsa:2048 -nodes -subj /CN=nqueens -keyout key.pem -out request.pem
  openssl x509 -req -in request.pem -CA ca.pem -CAkey authority.key -CAcreateserial -days 2 -out cert.pem
  openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=stranger -keyout strange.key -out strange.pem
) 2>"$folder/openssl.log"
engine=subtrees tls=DASK_DISTRIBUTED__COMM__TLS
export DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION=True ${tls}__CA_FILE="$folder/ca.pem"
for role in SCHEDULER WORKER CLIENT; do
  export "${tls}__${role}__CERT=$folder/cert.pem" "${tls}__${role}__KEY=$folder/key.pem"
done
start_cluster 20 tls
count tls
ends_well tls
export ${tls}__CLIENT__CERT="$folder/strange.pem" ${tls}__CLIENT__KEY="$folder/strange.key"
count stranger
driver_ends_with 3
said stranger "^count.py: no scheduler at tls://"
unset ${tls}__CLIENT__CERT ${tls}__CLIENT__KEY
count stranger
driver_ends_with 2
said stranger "^count.py: no scheduler at tls://.*: TLS expects "
address=tcp://${address#tls://} DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION=False count stranger
driver_ends_with 3

echo "all totals exact, in $SECONDS s"
