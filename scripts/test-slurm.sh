#!/usr/bin/env bash
# Counts boards on a real Slurm cluster of four one-CPU nodes on this machine, while nodes and
# processes are killed or frozen, the controller is restarted, time runs out, nodes start no task, units
# differ when they are recounted, and jobs are cancelled or submitted twice. Every total must be the
# published one. Also plants pipes, links and files in the folders of submit.sh.
#
#   scripts/test-slurm.sh
#
# Takes two to three minutes. Skipped (exit code 77) unless run as root. Needs the Debian packages of
# Slurm, which it installs only with NQUEENS_INSTALL=yes (see install.sh); a cluster that does not start
# is a failure. Ends every process that it starts.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "$(id -u)" != 0 ]; then
  echo "skipped: a Slurm cluster for tests needs root"
  exit 77
fi
for tool in slurmctld slurmd sbatch munged; do
  command -v "$tool" >/dev/null && continue
  scripts/install.sh slurmctld slurmd slurm-client munge || exit 1
  break
done

work=$(mktemp -d)
chmod 755 "$work" # munged runs as another user
cluster=$work/cluster
export SLURM_CONF=$cluster/slurm.conf
copy=''

finish() {
  local code=$?
  trap '' INT TERM EXIT
  if [ "$code" != 0 ] && [ "$code" -lt 128 ]; then show_logs; fi
  # Stopped processes end only on SIGKILL.
  pgrep -f "shard .* --out $work/" | xargs -r kill -9 2>/dev/null || true
  scripts/slurm/cluster.sh down "$cluster" || code=1
  rm -rf "$work"
  exit "$code"
}
trap finish EXIT
trap 'echo "test-slurm.sh: line $LINENO failed: $BASH_COMMAND" >&2' ERR
trap 'exit 130' INT
trap 'exit 143' TERM

show_logs() {
  set +e
  echo "--- failed; the state of Slurm, and the logs" >&2
  timeout 5 sinfo -N >&2
  timeout 5 squeue -r >&2
  tail -n 8 "$work"/*/log/*.log >&2
  tail -n 60 "$cluster/log/slurmctld.log" >&2
}

say() { printf '%3d s  %s\n' $((SECONDS - began)) "$*"; }
fail() { echo "test-slurm.sh: $*" >&2; exit 1; }

cargo build --release --quiet
NQUEENS=$(readlink -f target/release/nqueens)
export NQUEENS

# Slurm holds a requeued task for two minutes, but its owner may start it earlier. This is not done in
# the first second: a node that has just revoked the task's credential would refuse it for good.
pull_forward() {
  local now
  now=$(date +%s)
  timeout 10 squeue -h -r -t PD -o '%i %r %S' 2>/dev/null | while read -r task reason start; do
    if [ "$reason" != BeginTime ] || [ $(($(date -d "$start" +%s) - now)) -gt 118 ]; then continue; fi
    timeout 5 scontrol update JobId="$task" StartTime=now 2>/dev/null || true
  done || true
}

# wait_for COMMAND ...: waits until the command succeeds, at most much longer than a busy machine takes.
wait_for() {
  local end=$((SECONDS + 300))
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$end" ] || fail "still failing after five minutes: $*"
    pull_forward
    sleep 0.2
  done
}

# submit NAME ARGUMENTS ...: submits into the folder of that name; messages go to NAME.messages.
submit() {
  local name=$1
  shift
  scripts/slurm/submit.sh --out "$work/$name" "$@" >"$work/$name.messages" || fail "submit.sh $*"
}

expected() { sed -n "s/^$1,\([0-9]*\),.*/\1/p" src/board/known-counts.csv; }
# Both print nothing while there are no journals.
finished_units() { { "$NQUEENS" merge "$work/$1" --json 2>/dev/null || true; } | sed -n 's/.*"finished":\([0-9]*\).*/\1/p'; }
missing() { { "$NQUEENS" merge "$work/$1" --shards "$2" --json 2>/dev/null || true; } | sed -n 's/.*"indices":"\([^"]*\)".*/\1/p'; }
logged() { grep -q "$2" "$work/$1"/log/*.log; }
none_queued() { [ -z "$(timeout 10 squeue -h -r -j "$(cut -d' ' -f1 "$work/$1/submitted" | paste -sd,)" 2>/dev/null)" ]; }

# total NAME N K: the merge job printed the published total, and the journals agree.
total() {
  local exact twice
  exact=$(expected "$2")
  "$NQUEENS" merge "$work/$1" --shards "$3" --json >"$work/merge.json" || fail "$1 is not complete"
  grep -q "\"total\":\"$exact\",\"published\":\"agrees\"" "$work/merge.json" || fail "$1: $(cat "$work/merge.json")"
  # shellcheck disable=SC2012 # job numbers: the newest is the last
  grep -q "^total  *$exact\$" "$(ls -v "$work/$1"/log/merge-*.log | tail -n 1)" || fail "$1: the merge job printed no total"
  twice=$(sed 's/.*"twice":\([0-9]*\).*/\1/' "$work/merge.json")
  say "$1: Q($2) = $exact, exact; $twice units counted twice"
}

# 1,4-6 as 1 4 5 6
expand() {
  local range ranges
  IFS=, read -ra ranges <<<"$1"
  for range in "${ranges[@]}"; do seq -s ' ' "${range%-*}" "${range#*-}"; done | paste -sd' '
}

began=$SECONDS
scripts/slurm/cluster.sh up "$cluster" 4 >/dev/null
say "cluster of four nodes; arrays of at most 6 tasks"

# program_of NAME: the process that counts in that folder.
program_of() { pgrep -f "^$NQUEENS shard .* --out $work/$1( |\$)" | grep -vFx "${copy:-none}" | head -n 1 | grep .; }

# Stops the process, so that it does not end before the test has used it.
stop_program() {
  pid=$(program_of "$1") && kill -STOP "$pid" && [ "$(ps -o stat= -p "$pid" | cut -c1)" = T ]
}

# --- Time runs out. Every 30 s Slurm checks whether to warn a job, up to a minute before its limit; with
# a limit of one minute, it warns at the first check. Until then the program is stopped after its first
# units, however fast the machine is. The warning is then pending: signal 15 in ShdPnd.
submit limit 15 --shards 1 --time 1 -- --engine bool-arrays
wait_for logged limit starts
some_units() { [ "$(finished_units limit)" -ge 1 ]; }
wait_for some_units
wait_for stop_program limit
warned=$pid
# Slurm kills a task some time after its warning, so this runs beside the other tests.
(
  while [ -e "/proc/$warned" ]; do
    if grep -q '^ShdPnd:.*[4-7c-f]...$' "/proc/$warned/status"; then kill -CONT "$warned" && break; fi
    sleep 0.2
  done
) 2>/dev/null &
say "a task with a time limit is stopped after $(finished_units limit) of 15 units"

# --- A process, the controller, a node. Engine column-array has 15 units of a second each for n = 15.
engine=(--engine column-array)
submit faults 15 --shards 15 -- "${engine[@]}"
[ "$(grep -c '^job .* shards ' "$work/faults.messages")" = 3 ] || fail "15 tasks should have been three arrays"

# The same shard a second time, outside Slurm: stopped before its unit is done, and continued after the
# cluster has counted it too.
"$NQUEENS" shard 15 --index 14 --shards 15 --out "$work/faults" --threads 1 "${engine[@]}" >"$work/copy.out" 2>&1 &
copy=$!
copy_counts() { grep -qs '^run ' "$work"/faults/n15-0014-of-0015.*."$copy".journal; }
# Its unit takes two seconds, and on a busy machine `wait_for` may check too late.
until copy_counts; do sleep 0.02; done
kill -STOP "$copy"
if grep -q '^done ' "$work"/faults/n15-0014-of-0015.*."$copy".journal; then fail "the copy of shard 14 was done too soon"; fi

wait_for stop_program faults
kill -9 "$pid"
wait_for logged faults 'failed with exit code 137; requeued'
say "process $pid was killed: its task requeued itself"

scripts/slurm/cluster.sh controller "$cluster"
say "slurmctld was restarted"

node_of() { tr '\0' '\n' <"/proc/$1/environ" | sed -n 's/^SLURMD_NODENAME=//p'; }
wait_for stop_program faults
node=$(node_of "$pid")
scripts/slurm/cluster.sh kill "$cluster" "$node"
say "node $node was killed"

wait_for stop_program faults
frozen=$(node_of "$pid") frozen_program=$pid
scripts/slurm/cluster.sh freeze "$cluster" "$frozen"
say "node $frozen was frozen"

# --- Retries end: a program that always fails is started four times, one with wrong usage once. What
# cannot run on one node now (exit code 4) goes to another.
cat >"$work/failing" <<END
#!/bin/sh
case "\$*" in verify*) echo "\$*" >>"$work/verified.calls" ;; esac
case "\$*" in
  "shard 10 --index 0 "*) exit 1 ;;
  "shard 10 --index 1 "*) exit 2 ;;
  "shard 11 --index 0 "*) if mkdir "$work/refusing" 2>/dev/null; then exit 4; fi ;;
  "shard 11 --index 1 "*) exit 4 ;;
  "verify "*/n9-0001-of-0003.*) echo "nqueens: unit 2 is recorded with 2, bitmask counts 1" >&2 && exit 1 ;;
  "shard 1 "*) if [ -e "$work/small-here" ]; then echo "nqueens: no memory" >&2 && exit 4; fi ;;
esac
exec "$NQUEENS" "\$@"
END
chmod +x "$work/failing"
NQUEENS=$work/failing submit retries 10 --shards 3
# The machine that submits does not have to be able to count.
touch "$work/small-here"
NQUEENS=$work/failing submit elsewhere 11 --shards 3 2>"$work/warning"
grep -q 'warning: this machine cannot count now, but the nodes may be able to: no memory' "$work/warning" || fail "$(cat "$work/warning")"

# --- Some units of each shard are recounted; those of shard 1 differ.
NQUEENS=$work/failing submit verified 9 --shards 3 --verify-units 2 2>>"$work/warning"

# --- submit.sh neither waits for what is planted in its folder, nor follows or replaces it.
# planted WORDS: submit.sh names the planted file in one line, and ends with exit code 2.
planted() {
  local code=0
  timeout 60 scripts/slurm/submit.sh 10 --shards 3 --out "$work/planted" >"$work/planted.messages" 2>&1 || code=$?
  if [ "$code" != 2 ] || [ "$(wc -l <"$work/planted.messages")" != 1 ] || ! grep -q "^submit.sh: $file $1: " "$work/planted.messages"; then
    fail "$file: exit code $code, $(cat "$work/planted.messages")"
  fi
  rm -r "$file"
}
mkdir -p "$work/planted/log"
echo mine >"$work/mine"
for name in shard.sh merge.sh submitted submit.lock log/1_0.log; do
  file=$work/planted/$name
  mkfifo "$file" && planted "is not a plain file"
  ln -s "$work/mine" "$file" && planted "is not a plain file"
  ln -s "$work/nowhere" "$file" && planted "is not a plain file"
done
file=$work/planted/x.journal
mkfifo "$file" && planted "is not a plain file"
for name in shard.sh merge.sh submitted submit.lock; do
  file=$work/planted/$name
  cp "$work/mine" "$file" && planted "is not a .* that this script has made"
done
file=$work/planted/log
rm -r "$file" && ln -s "$work" "$file" && planted "is no folder of this script"
[ "$(cat "$work/mine")" = mine ] || fail "a link was followed"
[ ! -e "$work/nowhere" ] || fail "a link to nowhere was followed"
[ -z "$(ls -A "$work/planted")" ] || fail "something was written: $(ls -A "$work/planted")"
for wrong in '--out -x' '--verify-units 0' '--verify-units x'; do
  code=0
  # shellcheck disable=SC2086 # two words
  scripts/slurm/submit.sh 10 --shards 3 $wrong >"$work/refused" 2>&1 || code=$?
  if [ "$code" != 2 ] || ! grep -q "^submit.sh: ${wrong% *}: " "$work/refused"; then fail "$wrong: $code, $(cat "$work/refused")"; fi
done
if scripts/slurm/cluster.sh up "$work/cluster" >"$work/refused" 2>&1; then fail "a second cluster in one folder"; fi
grep -q 'is not empty; see' "$work/refused" || fail "$(cat "$work/refused")"

# --- Time runs out while a shard is verified: the shard is complete, and the log says what was left.
cat >"$work/waiting" <<END
#!/bin/bash
if [ "\$1" = verify ]; then
  trap 'exit 3' TERM
  touch "$work/waits"
  while :; do sleep 0.1; done
fi
exec "$NQUEENS" "\$@"
END
chmod +x "$work/waiting"
mkdir "$work/unverified"
SLURM_ARRAY_JOB_ID=0 SLURM_ARRAY_TASK_ID=0 scripts/slurm/shard.sh --verify-units 2 "$work/waiting" 0 9 3 "$work/unverified" >"$work/unverified.log" &
task=$!
wait_for test -e "$work/waits"
kill -TERM "$task"
code=0
wait "$task" || code=$?
[ "$code" = 3 ] || fail "time is up: exit code $code"
grep -q "complete, but not verified: time is up; nqueens verify $work/unverified/n9-0000-of-0003" "$work/unverified.log" || fail "$(cat "$work/unverified.log")"
[ "$(missing unverified 3)" = 1-2 ] || fail "shard 0 should be complete"
say "planted: pipes, links and files in the folder of submit.sh are named, and left as they are"

# --- Jobs are cancelled. Engine subtrees takes some seconds for the 3035 units of n = 17.
submit cancelled 17 --shards 12 --max-running 3 -- --engine subtrees --kernel portable
some_are_complete() {
  local left
  left=$(missing cancelled 12)
  [ -n "$left" ] && [ "$(expand "$left" | wc -w)" -le 9 ]
}
wait_for some_are_complete
# All arrays, but not the job that merges them.
mapfile -t arrays < <(sed -n 's/ .* --array.*//p' "$work/cancelled/submitted")
timeout 20 scancel "${arrays[@]}"
wait_for none_queued cancelled
logged cancelled '^this submits what is missing: ' || fail "the merge job did not print how to resume"
left=$(missing cancelled 12)
[ -n "$left" ] || fail "the cancelled count was complete"
before=$(finished_units cancelled)
submit cancelled 17 --shards 12 -- --engine subtrees --kernel portable
grep -q "^missing      shards $left of 12;" "$work/cancelled.messages" || fail "missing are $left: $(cat "$work/cancelled.messages")"
again=$(sed -n 's/^job .* shards \(.*\) of 12$/\1/p' "$work/cancelled.messages" | paste -sd,)
[ "$(expand "$again")" = "$(expand "$left")" ] || fail "submitted $again, missing are $left"
say "cancelled with $before of 3035 units; only shards $left of 12 were submitted again"
if scripts/slurm/submit.sh 17 --shards 12 --out "$work/cancelled" 2>"$work/refused"; then fail "submitted twice"; fi
grep -q 'earlier jobs' "$work/refused" || fail "$(cat "$work/refused")"

# --- Time ran out, see above.
wait_for logged limit 'stopped in time; requeued'
say "time limit: the task was warned and requeued itself"

wait_for none_queued faults
for lost in "$node" "$frozen"; do
  grep -q "requeue job .* due to failure of node $lost" "$cluster/log/slurmctld.log" || fail "the job of $lost was not requeued"
done
# Its program continues with a shard that another node has counted meanwhile, until Slurm ends it.
scripts/slurm/cluster.sh thaw "$cluster" "$frozen"
gone() { [ ! -e "/proc/$frozen_program" ]; }
wait_for gone
say "node $frozen continued"
kill -CONT "$copy"
wait "$copy" || fail "the copy of shard 14: $(cat "$work/copy.out")"
copy=''
total faults 15 15
grep -q '"twice":[1-9]' "$work/merge.json" || fail "shard 14 should have been counted twice"
jobs=$(wc -l <"$work/faults/submitted")
submit faults 15 --shards 15 -- "${engine[@]}"
grep -q "^total  *$(expected 15)\$" "$work/faults.messages" || fail "a complete count should print its total"
[ "$(wc -l <"$work/faults/submitted")" = "$jobs" ] || fail "a complete count was submitted"

wait_for none_queued cancelled
total cancelled 17 12

wait_for none_queued retries
[ "$(grep -c 'restart [0-3]: starts' "$work"/retries/log/*_0.log)" = 4 ] || fail "shard 0 should have been started four times"
[ "$(grep -c 'starts' "$work"/retries/log/*_1.log)" = 1 ] || fail "shard 1 should have been started once"
[ "$(missing retries 3)" = 0-1 ] || fail "shards 0-1 should be missing: $(missing retries 3)"
logged retries '^this submits what is missing: ' || fail "the merge job did not print how to resume"
say "retries: a failing program was started four times, wrong usage once"

# The journal of shard 1 was put aside, and its task was not started again.
wait_for none_queued verified
[ "$(grep -c '^verify ' "$work/verified.calls")" = 3 ] || fail "three journals: $(cat "$work/verified.calls")"
if grep -v -- ' --units 2$' "$work/verified.calls"; then fail "two units of each"; fi
[ "$(cat "$work"/verified/log/*.log | grep -c starts)" = 3 ] || fail "a task was started again"
logged verified 'shard 1 of 3, n[1-4], restart 0: unit 2 is recorded with 2, bitmask counts 1; ' || fail "the log does not name unit and node"
compgen -G "$work/verified/n9-0001-of-0003.*.differs" >/dev/null || fail "the journal that differs is not kept"
[ "$(missing verified 3)" = 1 ] || fail "shard 1 should be missing: $(missing verified 3)"
say "verified: a unit that differs ended its task with exit code 1, and its journal was put aside"

# Shard 0 is refused once; no node can count shard 1.
wait_for none_queued elsewhere
log_of() { cat "$work"/elsewhere/log/*_"$1".log; }
[ "$(log_of 0 | grep -c 'cannot run here now, exit code 4; requeued')" = 1 ] || fail "shard 0 should have been requeued once"
log_of 0 | grep -q ': done$' || fail "shard 0 should have been counted"
refusing=$(log_of 0 | sed -n 's/.*, \(n[0-9]\), .*: next not on \1$/\1/p')
counting=$(log_of 0 | sed -n 's/.*, \(n[0-9]\), .*: done$/\1/p')
if [ -z "$refusing" ] || [ "$refusing" = "$counting" ]; then fail "shard 0: refused on '$refusing', counted on $counting"; fi
[ "$(log_of 1 | grep -c starts)" = 4 ] || fail "shard 1 should have been started four times"
log_of 1 | grep -q 'exit code 4, for the last time' || fail "shard 1 should have been given up"
[ "$(missing elsewhere 3)" = 1 ] || fail "shard 1 should be missing: $(missing elsewhere 3)"
say "elsewhere: exit code 4 on $refusing, so counted on $counting; refused everywhere, started four times"

wait_for none_queued limit
# It may have been warned more than once.
logged limit '15 units, [1-9][0-9]* done before' || fail "the warned task did not resume from its journal"
total limit 15 1

# --- No node starts a task, and submit.sh is started twice and killed, in a folder with a strange name.
held='held %j "ü'
touch "$cluster/refuse-tasks"
mkdir "$work/slow"
printf '#!/bin/sh\n"%s" "$@"\ntouch "%s"\nuntil [ -e "%s" ]; do sleep 0.1; done\n' "$(type -P sbatch)" \
  "$work/submitting" "$work/released" >"$work/slow/sbatch"
chmod +x "$work/slow/sbatch"
PATH=$work/slow:$PATH scripts/slurm/submit.sh 10 --shards 3 --out "$work/$held" >/dev/null 2>&1 &
first=$!
wait_for test -e "$work/submitting"
# refused CODE WORDS: submit.sh ends with this code and says so in one line.
refused() {
  local code=0
  scripts/slurm/submit.sh 10 --shards 3 --out "$work/$held" >"$work/$held.messages" 2>"$work/refused" || code=$?
  if [ "$code" != "$1" ] || ! grep -q "$2" "$work/refused" || [ "$(wc -l <"$work/refused")" != 1 ]; then return 1; fi
}
refused 4 'another submit.sh works on' || fail "a second submit.sh: $(cat "$work/refused")"
kill -9 "$first"
wait "$first" 2>/dev/null || true
touch "$work/released"
tasks_are_held() { [ "$(squeue -h -r -t PD -o %r | grep -cx 'launch failed requeued held')" = 3 ]; }
wait_for tasks_are_held
rm "$cluster/refuse-tasks"
# The lock is held until the killed script's sbatch ends. Nobody has recorded its job.
wait_for refused 3 'earlier jobs for'
[ ! -e "$work/$held/submitted" ] || fail "submit.sh was killed too late"
grep -qE '^released( +[0-9]+_[0-2]){3}: Slurm held these' "$work/$held.messages" || fail "$(cat "$work/$held.messages")"
timeout 20 scontrol update NodeName="$(sinfo -h -t drain -o %N)" State=RESUME
none_queued_at_all() { [ -z "$(timeout 10 squeue -h)" ]; }
wait_for none_queued_at_all
submit "$held" 10 --shards 3
grep -q "^total  *$(expected 10)\$" "$work/$held.messages" || fail "the held tasks were not counted"
[ "$(find "$work/$held/log" -name '*_[0-2].log' | wc -l)" = 3 ] || fail "logs are missing in $held"
say "held: released by the next submit.sh; two at the same time submitted once"
if scripts/slurm/submit.sh 10 --shards 3 --out "$work/back\\slash" 2>"$work/refused"; then fail "a backslash was accepted"; fi
grep -q '^submit.sh: --out: .* backslash' "$work/refused" || fail "$(cat "$work/refused")"

# --- Parts of a count, and more shards than Slurm takes (MaxJobCount).
submit verified 9 --shards 3 --verify-units 2
grep -q '^job .* shards 1-1 of 3$' "$work/verified.messages" || fail "$(cat "$work/verified.messages")"
submit few 18 --shards 1000000 --indices 3,7-9
wait_for none_queued verified
total verified 9 3
# Nothing is left to count, so there is no journal to verify.
SLURM_ARRAY_JOB_ID=0 SLURM_ARRAY_TASK_ID=0 scripts/slurm/shard.sh --verify-units 2 "$work/failing" 0 9 3 "$work/verified" >"$work/again"
grep -q ': done$' "$work/again" || fail "$(cat "$work/again")"
[ "$(grep -c '^verify ' "$work/verified.calls")" = 3 ] || fail "verified without a journal"
wait_for none_queued few
[ "$(finished_units few)" = 4 ] || fail "$(finished_units few) units instead of those of shards 3,7-9"
submit few 18 --shards 1000000 --indices 7-10
[ "$(sed -n 's/^job .* shards \(.*\) of 1000000$/\1/p' "$work/few.messages")" = 10-10 ] || fail "$(cat "$work/few.messages")"
submit many 18 --shards 1000000
later=$(sed -n 's/^later  *\([0-9]*\) shards: .* (MaxJobCount is 200); run this command again .*/\1/p' "$work/many.messages")
tasks=$(sed 's/.* shards \([0-9]*\)-\([0-9]*\) of .*/\2 \1/;t;d' "$work/many.messages" | awk '{ sum += $1 - $2 + 1 } END { print sum }')
[ "$((later + tasks))" = 1000000 ] || fail "$tasks tasks and $later later are not all shards"
timeout 20 scancel --user="$(id -un)"
say "few: shards 3,7-9 and 10 of 1000000; many: $tasks tasks submitted, as Slurm takes no more"
