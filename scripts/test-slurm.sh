#!/usr/bin/env bash
# Counts boards on a real Slurm cluster of six one-CPU nodes on this machine, while nodes and
# processes are killed or frozen, the controller is restarted, time runs out, nodes start no task, and
# jobs are cancelled or submitted twice. Every total must be the published one. Also runs the job file of
# docs/SLURM.md.
#
#   scripts/test-slurm.sh
#
# Takes a minute. Skipped (exit code 77) unless run as root. Needs the Debian packages of Slurm, which it installs
# only with NQUEENS_INSTALL=yes; a cluster that does not start is a failure. Ends every process
# that it starts.
. "$(dirname "$0")/common.sh" || exit
[ $# = 0 ] || usage "it takes no arguments"

if [ "$(id -u)" != 0 ]; then
  echo "skipped: a Slurm cluster for tests needs root"
  exit 77
fi
for package in slurmctld slurmd; do has "$package" "$package"; done
has sbatch slurm-client
build
export NQUEENS=$program NQUEENS_MERGE_PAUSE_SECONDS=0.5

work=$(mktemp -d)
cluster=$work/cluster nodes=6
export SLURM_CONF=$cluster/slurm.conf
helper=''

finish() {
  local code=$?
  trap '' INT TERM EXIT
  if [ "$code" != 0 ] && [ "$code" -lt 128 ]; then
    { timeout 5 sinfo -N && timeout 5 squeue -r; } >&2 || true
    tail -n 20 "$work"/*/log/*.log "$cluster"/log/*.out >&2 || true
  fi
  kill "$helper" 2>/dev/null || true
  (none_is_left '.*' || power_off '.*') || code=1
  rm -rf "$work"
  exit "$code"
}
trap finish EXIT
trap 'echo "test-slurm.sh: line $LINENO failed: $BASH_COMMAND" >&2' ERR
trap 'exit 130' INT
trap 'exit 143' TERM

# Ports below those that the system uses for outgoing connections.
free_ports() {
  local base=$((20000 + RANDOM % 10000)) port
  for ((port = base; port <= base + nodes; port++)); do
    if (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then free_ports && return; fi
  done
  echo "$base"
}

# daemon NAME COMMAND ...: starts a daemon in the background, which its option for the foreground keeps there.
# Its processes carry its name in their environment, and Slurm gives those of a job the name of the node. Titles
# of processes overwrite the beginning of the environment, and env appends to it.
daemon() {
  env -u SLURM_CONF SLURM_CONF="$SLURM_CONF" NQUEENS_TEST_DAEMON="$1" setsid "${@:2}" </dev/null >"$cluster/log/$1.out" 2>&1 &
  disown # or bash would report its death
}

# The processes of a daemon, and of the jobs on a node. The environment of a zombie is empty.
processes() {
  grep -lzsxF "SLURM_CONF=$SLURM_CONF" /proc/[0-9]*/environ |
    xargs -r grep -lzsxE "(NQUEENS_TEST_DAEMON|SLURMD_NODENAME)=$1" | cut -d/ -f3 || true
}

none_is_left() { [ -z "$(processes "$1")" ]; }

# signal_all SIGNAL NAME: to all processes of a daemon, again if new ones have started meanwhile.
signal_all() {
  local before='' pids
  pids=$(processes "$2")
  [ -n "$pids" ] || fail "nothing of $2 runs"
  while [ "$pids" != "$before" ]; do
    before=$pids
    xargs kill -"$1" <<<"$pids" 2>/dev/null || true
    pids=$(processes "$2")
  done
}

# A power failure. Frozen first: otherwise a parent could see its child's death, and report it, before it
# is killed itself.
power_off() {
  signal_all STOP "$1"
  signal_all KILL "$1"
  wait_for none_is_left "$1"
}

say() { printf '%3d s  %s\n' $((SECONDS - began)) "$*"; }

# submit NAME N ARGUMENTS ...: submits into the folder of that name; what it says goes to NAME.messages.
submit() {
  scripts/slurm/submit.sh "$2" --out="$work/$1" "${@:3}" >"$work/$1.messages" 2>&1 || fail "submit.sh $*: $(cat "$work/$1.messages")"
}
told() { grep -q "$2" "$work/$1.messages" || fail "$1: no '$2' but $(cat "$work/$1.messages")"; }
# must_be_refused CODE WORDS NAME N ARGUMENTS ...: submit.sh ends with this code and says so in one line.
must_be_refused() {
  local code=0
  timeout 60 scripts/slurm/submit.sh "$4" --out "$work/$3" "${@:5}" >"$work/$3.messages" 2>"$work/refused" || code=$?
  if [ "$code $(wc -l <"$work/refused")" != "$1 1" ] || ! grep -q "^\(submit.sh\|nqueens\): .*$2" "$work/refused"; then
    fail "not refused: $*: $(cat "$work/refused")"
  fi
}

# A field of what `nqueens merge` prints for a folder.
field() { { "$NQUEENS" merge "$work/$2" "${@:3}" --json 2>/dev/null || true; } | sed -n "s/.*\"$1\":\"\{0,1\}\([0-9,-]*\).*/\1/p"; }
finished_units() { field finished "$1" | cut -d, -f1; }
missing() { field indices "$1" --shards "$2"; }
logged() { grep -q "$2" "$work/$1"/log/*.log; }
none_queued() {
  local folders
  folders=$(timeout 10 squeue -h -o %Z) && ! grep -qxF "$work/$1" <<<"$folders"
}

# total NAME N K: the merge job printed the published total, and the journals agree.
total() {
  wait_for none_queued "$1"
  [ "$("$NQUEENS" merge "$work/$1" --shards "$3" --quiet)" = "$(published "$2")" ] || fail "$1 is not complete"
  # shellcheck disable=SC2012 # job numbers: the newest is the last
  grep -q "^total  *$(published "$2")\$" "$(ls -v "$work/$1"/log/merge-*.log | tail -n 1)" || fail "$1: the merge job printed no total"
  say "$1: Q($2) = $(published "$2"), exact"
}

began=$SECONDS
mkdir -p "$cluster"/{state,log}
printf '#!/bin/sh\ntest ! -e %q\n' "$cluster/refuse-tasks" >"$cluster/prolog"
chmod +x "$cluster/prolog"
port=$(free_ports)
# No cgroups, no systemd, no munge; no accounting is Slurm's default. Slurm checks for dead nodes and jobs as
# often as possible, and holds a requeued task not for two minutes but for cred_expire. While there is a file
# refuse-tasks, every node fails to start a task.
cat >"$SLURM_CONF" <<END
ClusterName=nqueens-test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
AuthType=auth/none
CredType=cred/none
AuthInfo=cred_expire=5
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=bf_interval=1,sched_interval=1
SlurmdParameters=config_overrides
StateSaveLocation=$cluster/state
SlurmctldPidFile=$cluster/slurmctld.pidfile
SlurmdPidFile=$cluster/%n.pidfile
SlurmdSpoolDir=$cluster/spool.%n
ReturnToService=2
SlurmdTimeout=5
MessageTimeout=5
KillWait=2
Prolog=$cluster/prolog
NodeName=n[1-$nodes] NodeAddr=127.0.0.1 NodeHostname=$(hostname) Port=[$((port + 1))-$((port + nodes))] CPUs=1 RealMemory=1000
PartitionName=main Nodes=n[1-$nodes] Default=YES
END
daemon slurmctld slurmctld -D -c
for ((i = 1; i <= nodes; i++)); do daemon "n$i" slurmd -D -N "n$i"; done
nodes_are_idle() { [ "$(timeout 5 sinfo -h -t idle -N -o %N | wc -l)" = "$nodes" ]; }
wait_for nodes_are_idle
say "cluster of $nodes nodes"

# Stops a process that counts in a folder, so that it does not end before the test has used it.
stop_program() {
  pid=$(pgrep --runstates R,S,D -f "^$NQUEENS shard .* --out $work/$1( |\$)" | head -n 1 | grep .) && kill -STOP "$pid" || return 1
  while [ -e "/proc/$pid" ] && ! grep -q '^State:.T' "/proc/$pid/status"; do sleep 0.01; done
}

# --- Time runs out. Every 30 s Slurm checks whether to warn a job, up to a minute before its limit; with
# a limit of one minute, it warns at the first check. Until then the program is stopped after its first
# units, however fast the machine is. The warning is then pending: signal 15 in ShdPnd.
submit limit 14 --shards 1 --time 1 --mem=900M -- --engine column-array
[[ $(squeue -h -o '%Z %m %l') = *"$work/limit 900M 1:00"* ]] || fail "options of sbatch had no effect"
some_units() { [ "$(finished_units limit)" -ge 1 ]; }
wait_for some_units
wait_for stop_program limit
warned=$pid
# Slurm kills a task some time after its warning, so this runs beside the other tests.
(
  until grep -q '^ShdPnd:.*[4-7c-f]...$' "/proc/$warned/status"; do sleep 0.2; done
  kill -CONT "$warned"
) 2>/dev/null &
helper=$!
say "a task with a time limit is stopped after $(finished_units limit) of 14 units"

# --- A process, the controller, a node. Engine bool-arrays has 15 units of about a second each for n = 15.
submit faults 15 --shards 13 -- --engine bool-arrays
stopped=()
for _ in 1 2 3; do
  wait_for stop_program faults
  stopped+=("$pid")
done
node_of() { tr '\0' '\n' <"/proc/$1/environ" | sed -n 's/^SLURMD_NODENAME=//p'; }
node=$(node_of "${stopped[1]}") frozen=$(node_of "${stopped[2]}")

kill -9 "${stopped[0]}"
wait_for logged faults 'failed with exit code 137; requeued'
say "process ${stopped[0]} was killed: its task requeued itself"

signal_all TERM slurmctld
wait_for none_is_left slurmctld
daemon slurmctld slurmctld -D
wait_for timeout 5 scontrol ping
say "slurmctld was restarted"

power_off "$node"
signal_all STOP "$frozen"
say "node $node was killed, and node $frozen frozen"

# --- Retries end: a program that always fails is started four times, one with wrong usage once. What
# cannot run on one node (exit code 4, 127, or a program that does not even print its version) goes to another, in the
# end to none. The machine that submits does not have to be able to count. A merge job looks again for a journal that
# it does not see, and takes one that it cannot read (exit code 4) for no missing shard.
cat >"$work/stand-in" <<END
#!/bin/bash
case "\$SLURM_ARRAY_TASK_ID.\$SLURM_RESTART_COUNT \$*" in
  0.*" shard 11 "*) exit 1 ;;
  1.*" shard 11 "*) exit 2 ;;
  "2. shard 11 "* | 3.*" shard 11 "*) exit 4 ;;
  "4. shard 11 "*) exit 127 ;;
  "5. "*) exit 1 ;;
  ". shard 1 "*) [ -e "$work/unreadable" ] || { echo "nqueens: no memory" >&2 && exit 4; } ;;
  ". merge $work/failing "*) [ ! -e "$work/unreadable" ] || { echo "nqueens: no file handles" >&2 && exit 4; } ;;
  ". merge $work/unseen --shards 3") mv "$work"/unseen/n10-0001-of-* "$work/hidden" || mv "$work/hidden" "$work/unseen/seen.journal" ;;
esac
exec "$NQUEENS" "\$@"
END
chmod +x "$work/stand-in"
NQUEENS=$work/stand-in submit failing 11 --shards 6
told failing 'warning: this machine cannot count now, but the nodes may be able to: no memory'
touch "$work/unreadable"
NQUEENS=$work/stand-in submit unseen 10 --shards 3

# --- Wrong options are named, before or by sbatch, and submit nothing.
for wrong in '--max-running 0' '--shards x' '--indices 3' '--array=1' 'stray'; do
  # shellcheck disable=SC2086 # two words
  must_be_refused 2 "${wrong%[ =]*}" wrong 10 --shards 3 $wrong
done
must_be_refused 2 backslash 'back\slash' 10 --shards 3
if scripts/slurm/submit.sh 10 --out "$work/wrong" --shards 3 --nonsense 1 >"$work/wrong.messages" 2>"$work/refused"; then fail "--nonsense was taken"; fi
grep -q "^sbatch: unrecognized option '--nonsense'" "$work/refused" || fail "$(cat "$work/refused")"
none_queued wrong
say "wrong: nothing was submitted"

# --- The job file of docs/SLURM.md, with the names and sizes of this cluster.
mkdir "$work/file"
sed -n '/^#!/,/^exec/p' docs/SLURM.md | sed "s:/shared/q26:$work/file:; s:nqueens shard 26:$NQUEENS shard 10:; s/shards 40/shards 3/" >"$work/job"
sbatch --chdir="$work/file" --array=0-2 --cpus-per-task=1 --mem=100M "$work/job" >"$work/file.messages"

# --- Jobs are cancelled. Engine subtrees takes some seconds for the 3035 units of n = 17.
submit cancelled 17 --shards 6 --max-running 1 -p main --mem=100M -- --engine subtrees --kernel portable
one_is_complete() { [ "$(missing cancelled 6)" = 1-5 ]; }
wait_for one_is_complete
# The array, but not the job that merges it.
timeout 20 scancel "$(sed -n 's/^job \([0-9]*\) *shards .*/\1/p' "$work/cancelled.messages")"
wait_for none_queued cancelled
logged cancelled '^this submits what is missing: ' || fail "the merge job did not print how to resume"
left=$(missing cancelled 6)
[ -n "$left" ] || fail "the cancelled count was complete"
# As the merge job says it.
bash -c "$(sed -n 's/^this submits what is missing: //p' "$work"/cancelled/log/merge-*.log)" >"$work/cancelled.messages"
told cancelled "^missing      shards $left of 6;"
told cancelled "^job .* shards $left of 6\$"
[ "$(squeue -h -o '%Z %m' | grep -cx "$work/cancelled 100M")" -ge 2 ] || fail "resumed without --mem"
say "cancelled with $(finished_units cancelled) of 3035 units; only shards $left of 6 were submitted again"

wait_for none_queued failing
log_of() { cat "$work"/failing/log/*_"$1".log; }
# started INDEX TIMES
started() { [ "$(log_of "$1" | grep -c 'restart [0-3]: starts')" = "$2" ] || fail "shard $1 was not started $2 times"; }
started 0 4 && started 1 1 && started 2 2 && started 3 4 && started 4 2 && started 5 2
# elsewhere INDEX REASON: the shard was refused on one node for this reason, and counted on another.
elsewhere() {
  refusing=$(log_of "$1" | sed -n "/: $2; requeued\$/,\$s/.*, \(n[0-9]\), .*: next not on \1\$/\1/p")
  counting=$(log_of "$1" | sed -n 's/.*, \(n[0-9]\), .*: done$/\1/p')
  if [ -z "$refusing" ] || [ -z "$counting" ] || [ "$refusing" = "$counting" ]; then fail "shard $1: refused on '$refusing', counted on '$counting'"; fi
}
elsewhere 2 'temporarily impossible on this node, exit code 4'
elsewhere 4 'the program cannot be started on this node, exit code 127'
elsewhere 5 'the program cannot be started on this node, exit code 1'
log_of 3 | grep -q 'exit code 4, for the last time' || fail "shard 3 should have been given up"
[ "$(missing failing 6)" = 0-1,3 ] || fail "shards 0-1,3 should be missing: $(missing failing 6)"
if ! logged failing '^exit code 4 does not mean' || logged failing '^this submits what is missing'; then fail "the merge job took unread journals for missing shards"; fi
NQUEENS=$work/stand-in must_be_refused 4 'no file handles' failing 11 --shards 6
say "failing: started four times, wrong usage once; refused on one node, counted on another"
total unseen 10 3
wait_for none_queued file
[ "$("$NQUEENS" merge "$work/file" --shards 3 --quiet)" = "$(published 10)" ] || fail "the job file of docs/SLURM.md: $(cat "$work"/file/*.log)"
say "file: the job file of docs/SLURM.md counted all of its shards"

total cancelled 17 6

# --- Parts of a count, and more shards than an array of Slurm takes.
submit few 18 --shards 1000000 --indices 3,7-9
wait_for none_queued few
[ "$(finished_units few)" = 4 ] || fail "$(finished_units few) units instead of those of shards 3,7-9"
submit few 18 --shards 1000000 --indices 7-10
told few '^job .* shards 10 of 1000000$'
wait_for none_queued few
if scripts/slurm/submit.sh 18 --out "$work/large" --shards 1002 >"$work/large.messages" 2>"$work/refused"; then fail "1002 shards were submitted"; fi
grep -q "their numbers must be below the site's MaxArraySize" "$work/refused" || fail "$(cat "$work/refused")"
none_queued large
say "few: only what was asked for and missing was submitted; large: nothing, as an array takes 1001 tasks"

# --- The node that hung, and the time that ran out, see above. The frozen program continues with a shard
# that another node has counted meanwhile, until Slurm ends it.
for name in "$node" "$frozen"; do
  wait_for grep -q "requeue job .* due to failure of node $name" "$cluster/log/slurmctld.out"
done
signal_all CONT "$frozen"
wait_for test ! -e "/proc/${stopped[2]}"
say "node $frozen continued"
total faults 15 13
mkdir "$work/bin" && cp "$(type -P false)" "$work/bin/nqueens"
NQUEENS='' PATH=$work/bin:$PATH submit faults 15 --shards 13 -- --engine bool-arrays
told faults "^total  *$(published 15)\$"
program="$NQUEENS, $("$NQUEENS" --version)"
told faults "^program      $program\$"
if ! logged faults "^program      $program\$" || ! logged faults ": starts $program\$"; then fail "the logs do not name $program"; fi
if grep '^job ' "$work/faults.messages"; then fail "a complete count was submitted"; fi

wait_for logged limit 'stopped in time; requeued'
say "time limit: the task was warned and requeued itself"
total limit 14 1
# It may have been warned more than once.
logged limit '14 units, [1-9][0-9]* done before' || fail "the warned task did not resume from its journal"

# --- No node starts a task, and two submit.sh at the same time, in a folder with a strange name.
held='held %j "ü'
touch "$cluster/refuse-tasks"
submit "$held" 10 --shards 3
exec {lock}<"$work/$held/log/lock"
flock "$lock"
must_be_refused 4 'another submit.sh works on' "$held" 10 --shards 3
flock --unlock "$lock"
tasks_are_held() { [ "$(squeue -h -r -t PD -o %r | grep -cx 'launch failed requeued held')" = 3 ]; }
wait_for tasks_are_held
rm "$cluster/refuse-tasks"
must_be_refused 3 'earlier jobs for' "$held" 10 --shards 3
told "$held" '^released\( *[0-9]*_[0-2]\)\{3\}: Slurm held these'
timeout 20 scontrol update NodeName="$(sinfo -h -t drain -o %N)" State=RESUME
total "$held" 10 3
[ "$(find "$work/$held/log" -name '*_[0-2].log' | wc -l)" = 3 ] || fail "logs are missing in $held"
say "held: released by the next submit.sh; two at the same time submitted once"
