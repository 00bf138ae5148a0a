#!/usr/bin/env bash
# Counts boards with scripts/slurm/count.sbatch on a real Slurm cluster of six one-CPU nodes on this machine, while a
# process and a node are killed, a node hangs, the controller is restarted, a time limit is reached and a task is
# cancelled. Each total must be the published one. Also runs the commands of docs/CLUSTER.md.
#
#   scripts/test-slurm.sh
#
# The program is the static one of a release. Takes one to two minutes on two CPUs, after the build. Skipped (exit
# code 77) unless run as root. Needs the Rust target of the program and the Debian packages of Slurm, which it
# installs only with NQUEENS_INSTALL=yes. A cluster that does not start is a failure. Ends every process that it
# starts.
. "$(dirname "$0")/common.sh" || exit
[ $# = 0 ] || usage "it takes no arguments"

[ "$(id -u)" = 0 ] || fail "missing: root, for a Slurm cluster" 77
target=$(uname -m)-unknown-linux-musl
has_target "$target" || fail "missing: rustup target add $target" 77
for package in slurmctld slurmd; do has "$package" "$package"; done
has sbatch slurm-client
has pgrep procps
static_programs "$target"
program=$(readlink -f "${CARGO_TARGET_DIR:-target}/$target/release/nqueens")

work=$(mktemp -d)
cluster=$work/cluster nodes=6 lifting=''
export SLURM_CONF=$cluster/slurm.conf
# sbatch hands this path to the tasks, and job files call the program by its name.
mkdir "$work/bin"
# All nodes are on one host, and a host does not count a shard twice at the same time. So each node gets a name of its own
# as host.
cat >"$work/bin/nqueens" <<END
#!/bin/bash
[ -n "\$SLURMD_NODENAME" ] || exec '$program' "\$@"
exec unshare --uts bash -c 'hostname "\$SLURMD_NODENAME" && exec -a nqueens "\$0" "\$@"' '$program' "\$@"
END
chmod +x "$work/bin/nqueens"
PATH=$work/bin:$PATH

finish() {
  local code=$?
  trap '' INT TERM EXIT
  kill "$lifting" 2>/dev/null || true
  if [ "$code" != 0 ] && [ "$code" -lt 128 ]; then
    { timeout 5 sinfo -N && timeout 5 squeue -r; } >&2 || true
    tail -n 5 "$work"/*.log "$work"/page*/*.log "$cluster"/*.out >&2 || true
  fi
  power_off '.*'
  rm -rf "$work"
  exit "$code"
}
trap finish EXIT
trap 'echo "test-slurm.sh: line $LINENO failed: $BASH_COMMAND" >&2' ERR
trap 'exit 130' INT
trap 'exit 143' TERM

# Prints the first of some neighbouring ports that are free, below those that the system uses for outgoing connections.
free_ports() {
  local base=$((20000 + RANDOM % 10000)) port
  for ((port = base; port <= base + nodes; port++)); do
    if (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then free_ports && return; fi
  done
  echo "$base"
}

# daemon NAME COMMAND ...: starts a daemon in the background. Its environment carries its name, and Slurm gives the
# processes of a job the name of their node. SLURM_CONF is removed and set again because env then puts it at the end:
# the title of a process overwrites the beginning of its environment.
daemon() {
  env -u SLURM_CONF SLURM_CONF="$SLURM_CONF" NQUEENS_TEST_DAEMON="$1" \
    setsid "${@:2}" </dev/null >"$cluster/$1.out" 2>&1 &
  disown # or bash would report its death
}

# processes NAME: the process ids of a daemon, and of the jobs on a node. The environment of a zombie is empty.
processes() {
  grep -lzsxF "SLURM_CONF=$SLURM_CONF" /proc/[0-9]*/environ |
    xargs -r grep -lzsxE "(NQUEENS_TEST_DAEMON|SLURMD_NODENAME)=$1" | cut -d/ -f3 || true
}
none_is_left() { [ -z "$(processes "$1")" ]; }

# A process that ends while it is looked for is no error.
signal() { processes "$2" | xargs -r kill -s "$1" 2>/dev/null || true; }

# hang NAME: stops all processes of a node. The second round stops what the first one found at its start.
hang() { signal STOP "$1" && signal STOP "$1"; }

# power_off NAME: ends all processes of a daemon or node at once. They are stopped first, because otherwise a parent
# could see the death of its child and report it. New ones may have started meanwhile.
power_off() {
  until none_is_left "$1"; do
    signal STOP "$1"
    signal KILL "$1"
    sleep 0.1
  done
}

began=$SECONDS
say() { printf '%3d s  %s\n' $((SECONDS - began)) "$*"; }

# submit ARRAY [SBATCH OPTION ...] -- N SHARDS NAME [OPTION ...]: submits a job array for the folder of that name, and
# prints its number.
submit() {
  local array=$1 options=()
  while [ "$2" != -- ]; do
    options+=("$2")
    shift
  done
  mkdir -p "$work/$5"
  sbatch --parsable --cpus-per-task=1 --chdir="$work" --array="$array" "${options[@]}" \
    scripts/slurm/count.sbatch "$3" "$4" "$work/$5" "${@:6}"
}
# Whether no task of an array waits or runs.
none_queued() {
  local jobs
  jobs=$(timeout 10 squeue -h -o %F) && ! grep -qx "$1" <<<"$jobs"
}
# logged JOB INDEX WORDS
logged() { grep -q "$3" "$work/nqueens-$1_$2.log"; }

# missing NAME SHARDS: prints the missing shards. The exit code of merge must agree.
missing() {
  local shards code=0
  shards=$(nqueens merge "$work/$1" --missing --shards "$2") || code=$?
  [ "$code" = "${shards:+3}" ] || [ "$code$shards" = 0 ] || fail "$1: exit code $code, missing '$shards'"
  echo "$shards"
}
# is_counted NAME N SHARDS
is_counted() {
  [ -z "$(missing "$1" "$3")" ] || fail "$1 lacks shards $(missing "$1" "$3")"
  [ "$(nqueens merge "$work/$1" --shards "$3" --quiet)" = "$(published "$2")" ] || fail "$1: the total is wrong"
  say "$1: Q($2) = $(published "$2"), exact"
}
# Prints each finished unit of a folder, as often as journals hold it.
units() {
  sed -n 's/^done units=\([0-9]*\)\.\.\([0-9]*\) .*/\1 \2/p' "$work/$1"/*.journal 2>/dev/null |
    awk '{ for (unit = $1; unit < $2; unit++) print unit }'
}
finished() { units "$1" | wc -l; }
has_more_than() { [ "$(finished "$1")" -gt "$2" ]; }
none_twice() { [ -z "$(units "$1" | sort | uniq -d)" ] || fail "$1: units were counted twice"; }

mkdir "$cluster" "$cluster/state"
port=$(free_ports)
# No cgroups, no systemd, no munge, no accounting. Slurm checks for dead nodes and jobs as often as possible, and holds
# a requeued task not for two minutes but for cred_expire. Only jobs that ask for it are requeued.
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
JobRequeue=0
NodeName=n[1-$nodes] NodeAddr=127.0.0.1 NodeHostname=$(hostname) \
  Port=[$((port + 1))-$((port + nodes))] CPUs=1 RealMemory=8000
PartitionName=main Nodes=n[1-$nodes] Default=YES
END
daemon slurmctld slurmctld -D -c
for ((i = 1; i <= nodes; i++)); do daemon "n$i" slurmd -D -N "n$i"; done
nodes_are_idle() { [ "$(timeout 5 sinfo -h -t idle -N -o %N | wc -l)" = "$nodes" ]; }
wait_for nodes_are_idle
say "cluster of $nodes nodes"

# --- A time limit. Slurm looks every 30 s whether to warn a task, and with a limit of one minute it warns at the first
# look. Without vector instructions n = 19 takes several times as long. As soon as the task is in the queue again, it
# gets more time, because a second warning could come before it is cancelled below.
slow=(--engine subtrees --kernel portable)
limit=$(submit 0 --time=1 -- 19 1 limit "${slow[@]}")
{
  wait_for logged "$limit" 0 'time limit: requeued'
  wait_for timeout 5 scontrol update JobId="$limit" TimeLimit=60
} &
lifting=$!
wait_for has_more_than limit 0

# --- A process, two nodes and the controller.
faults=$(submit 0-7 -- 18 8 faults "${slow[@]}")
wait_for has_more_than faults 50
programs() { pgrep -f "^nqueens .* $work/faults"; }
kill_a_program() {
  pid=$(programs | head -n 1)
  killed=$(tr '\0' '\n' <"/proc/$pid/environ" | sed -n 's/^SLURM_ARRAY_TASK_ID=//p')
  kill -9 "$pid"
}
wait_for kill_a_program
say "the program was killed in the task of shard $killed"

# Two nodes on which a program runs. So neither is the one whose program was killed: Slurm may still show its task, but
# would not run it again.
two_nodes() {
  local newest
  newest=$(programs | tail -n 2 | sed 's:.*:/proc/&/environ:')
  read -r dead frozen < <(xargs grep -hzsoP '^SLURMD_NODENAME=\K.*' <<<"$newest" | tr '\0' ' ')
  [ -n "$frozen" ]
}
wait_for two_nodes
power_off "$dead"
hang "$frozen"
say "node $dead was killed, and node $frozen hangs"

processes slurmctld | xargs kill
wait_for none_is_left slurmctld
daemon slurmctld slurmctld -D
wait_for timeout 5 scontrol ping
say "slurmctld was restarted"

# --- An array with other numbers than the shards, no array, and a folder that the node does not have. An empty --array
# is taken by sbatch for none.
few=$(submit 0,3 -- 10 3 few)
wait_for none_queued "$few"
[ "$(missing few 3)" = 1-2 ] || fail "shards '$(missing few 3)' are missing instead of 1-2"
logged "$few" 3 "0/3 to 2/3" || fail "shard 3/3 was not refused"
few=$(submit "$(missing few 3)" -- 10 3 few)
wait_for none_queued "$few"
is_counted few 10 3
none=$(submit "$(missing few 3)" -- 10 3 few)
wait_for none_queued "$none"
grep -qF 'this needs an array (not an empty one)' "$work/nqueens-${none}"_*.log || fail "an empty array was not refused"
nowhere=$(sbatch --parsable --cpus-per-task=1 --chdir="$work" --array=0 scripts/slurm/count.sbatch 10 3 "$work/nowhere")
wait_for none_queued "$nowhere"
logged "$nowhere" 0 'has no folder' || fail "a task counted into a folder that its node did not have"

# --- What decides at the time limit is whether the run has finished a unit, not how many restarts there were. Here
# scontrol only prints what it is asked, and accepts or refuses it.
mkdir "$work/restarts" "$work/stand-in"
# warned SCONTROL_CODE BEGUN N OPTION ...: runs the job file, and warns it when BEGUN succeeds. Leaves its log in $log.
warned() {
  local pid code=0
  printf '#!/bin/sh\necho "scontrol $*"\nexit %s\n' "$1" >"$work/stand-in/scontrol"
  chmod +x "$work/stand-in/scontrol"
  PATH=$work/stand-in:$PATH SLURM_ARRAY_JOB_ID=7 SLURM_ARRAY_TASK_ID=0 SLURM_RESTART_COUNT=1000 SLURM_CPUS_PER_TASK=1 \
    SLURMD_NODENAME=none bash scripts/slurm/count.sbatch "$3" 1 "$work/restarts" "${@:4}" >"$work/restarts.log" 2>&1 &
  pid=$!
  wait_for "$2"
  kill -USR1 "$pid"
  wait "$pid" || code=$?
  log=$(cat "$work/restarts.log")
  [ "$code" = 3 ] || fail "exit code $code after a warning: $log"
}
counts_units() { has_more_than restarts "$before"; }
counts() { grep -q '^run ' "$work"/restarts/n24-*; }
before=0
warned 0 counts_units 18 "${slow[@]}"
grep -q '^scontrol requeue 7_0$' <<<"$log" || fail "a run that finished units was not requeued: $log"
grep -qx 'time limit: requeued' <<<"$log" || fail "the log does not say that the run was requeued: $log"
before=$(finished restarts)
warned 1 counts_units 18 "${slow[@]}"
grep -q 'does not requeue' <<<"$log" || fail "the log does not say that Slurm refused: $log"
if grep 'limit: requeued' <<<"$log"; then fail "the log says that a run was requeued which Slurm refused: $log"; fi
# One unit is a queen in the first row.
warned 0 counts 24 "${slow[@]}" --split-rows 1
grep -q 'no unit was finished' <<<"$log" || fail "the log does not say that no unit was finished: $log"
if grep '^scontrol' <<<"$log"; then fail "a run that finished no unit was requeued: $log"; fi

# --- The commands of docs/CLUSTER.md, for a smaller board and in a folder of this test. A journal is lost on the way.
# page BLOCK: runs the commands of a block, and waits until its tasks have ended.
page() {
  local job
  awk -v block="$1" '/^```/ { inside = /sh$/; found += inside; next } inside && found == block' docs/CLUSTER.md |
    sed "s:/shared/q26:$work/page:g; s/ 26 40 / 10 3 /; s/--array=0-39/--array=0-2/; s/--shards 40/--shards 3/
      s:sbatch --:sbatch --cpus-per-task=1 --:; s/srun --cpus-per-task=8/srun --cpus-per-task=1/" >"$work/page.sh"
  [ -s "$work/page.sh" ] || fail "docs/CLUSTER.md has no block $1"
  bash "$work/page.sh" >"$work/page.log" 2>&1 || fail "docs/CLUSTER.md, block $1: $(cat "$work/page.sh" "$work/page.log")"
  job=$(sed -n 's/^Submitted batch job //p' "$work/page.log")
  if [ -n "$job" ]; then wait_for none_queued "$job"; fi
}
page 1
rm "$work"/page/n10-0001-of-0003.*
page 3
page 2
grep -q "^total  *$(published 10)$" "$work/page.log" || fail "docs/CLUSTER.md: $(cat "$work/page.log")"
page 3
if grep Submitted "$work/page.log"; then fail "docs/CLUSTER.md: a job was submitted although nothing was missing"; fi
page 4
second=$(nqueens merge "$work/page-second" --quiet)
[ "$second" = "$(published 10)" ] || fail "docs/CLUSTER.md: the second pass is not complete"
page 5
grep -q 'all with equal counts$' "$work/page.log" || fail "docs/CLUSTER.md: $(cat "$work/page.log")"
grep -q '^recounted .*: no difference$' "$work/page.log" || fail "docs/CLUSTER.md: $(cat "$work/page.log")"
say "the commands of docs/CLUSTER.md counted n = 10 twice"

wait "$lifting"
at_limit=$(finished limit)
say "the task with a time limit requeued itself with $at_limit finished units"

# --- The requeued task goes on, and is cancelled. A cancelled task must not requeue itself, but save its last units.
wait_for has_more_than limit "$at_limit"
none_twice limit
for restart in 0 1; do logged "$limit" 0 ", restart $restart: " || fail "the log lacks restart $restart"; done
timeout 20 scancel "$limit"
wait_for none_queued "$limit"
timeout 20 scontrol show job -o "$limit" | grep -q ' JobState=CANCELLED .* ExitCode=3:0 ' ||
  fail "$(timeout 20 scontrol show job "$limit")"
say "it went on, and was cancelled with $(finished limit) finished units"
# The rest may be cut into another number of shards, and counted with faster vector instructions.
rest=$(submit "$(missing limit 4)" -- 19 4 limit --engine subtrees)

# --- What the faults left. The node that hung continues with a shard that another node has counted meanwhile.
wait_for none_queued "$faults"
restarted=$(grep -l ', restart 1: shard ' "$work/nqueens-$faults"_*.log | wc -l)
[ "$restarted" = 2 ] || fail "Slurm ran $restarted tasks again instead of one of node $dead and one of node $frozen"
[ "$(missing faults 8)" = "$killed" ] || fail "shards '$(missing faults 8)' are missing instead of shard $killed"
signal CONT "$frozen"
no_programs() { ! programs; }
wait_for no_programs
say "node $frozen continued, and counted $(units faults | sort | uniq -d | wc -l) units that another node had counted"
faults=$(submit "$(missing faults 8)" -- 18 8 faults "${slow[@]}")
wait_for none_queued "$faults"
is_counted faults 18 8

wait_for none_queued "$rest"
is_counted limit 19 4
none_twice limit
