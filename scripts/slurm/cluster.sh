#!/usr/bin/env bash
# A temporary Slurm cluster on this machine, for tests: daemons on 127.0.0.1 with a munge key of their
# own, three one-CPU nodes by default, everything in one folder. Needs root and the Debian packages
# slurmctld, slurmd, slurm-client and munge. The user munge must have access to the folder.
#
#   scripts/slurm/cluster.sh up FOLDER [NODES]      prints SLURM_CONF=..., for the commands of Slurm
#   scripts/slurm/cluster.sh controller FOLDER      stops slurmctld as an administrator would and starts it again
#   scripts/slurm/cluster.sh kill FOLDER NODE       a power failure: kill -9 of all processes of a node
#   scripts/slurm/cluster.sh freeze FOLDER NODE     stops them all with SIGSTOP, as if the machine hung
#   scripts/slurm/cluster.sh thaw FOLDER NODE       lets them continue
#   scripts/slurm/cluster.sh down FOLDER            a power failure of the whole cluster, with all its jobs
#
# While there is a file FOLDER/refuse-tasks, every node fails to start a task (its prolog fails).
set -euo pipefail
. "$(dirname "$0")/../common.sh"

[[ $# -ge 2 && $# -le 3 ]] || usage "which command, which folder?"
folder=$(readlink -m "$2") argument=${3:-}
nodes=3
export SLURM_CONF=$folder/slurm.conf
# Daemons carry these in their environment, and the slurmstepd that a slurmd starts inherits them.
mark=NQUEENS_TEST_CLUSTER=$folder
mark_of() { echo "NQUEENS_TEST_DAEMON=$folder:$1"; }

# Ports below those that the system uses for outgoing connections.
free_ports() {
  local base port
  for _ in {1..50}; do
    base=$((20000 + RANDOM % 10000))
    for ((port = base; port <= base + nodes; port++)); do
      if (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then continue 2; fi
    done
    echo "$base"
    return
  done
  return 1
}

# No cgroups, no accounting, no systemd. Slurm checks for dead nodes and jobs as often as possible, and
# arrays are short, so tests are quick and reach the limit.
write_configuration() {
  local port i
  port=$(free_ports)
  cat <<END
ClusterName=nqueens-test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$folder/munge/socket
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=1
SlurmdParameters=config_overrides
StateSaveLocation=$folder/state
SlurmctldPidFile=$folder/slurmctld.pidfile
SlurmdPidFile=$folder/%n.pidfile
SlurmdSpoolDir=$folder/spool.%n
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/%n.log
ReturnToService=2
SlurmdTimeout=5
MessageTimeout=5
KillWait=2
MaxArraySize=6
MaxJobCount=200
Prolog=$folder/prolog
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
END
  for ((i = 1; i <= nodes; i++)); do
    echo "NodeName=n$i NodeAddr=127.0.0.1 NodeHostname=$(hostname) Port=$((port + i)) CPUs=1 RealMemory=1000 State=UNKNOWN"
  done
  echo "PartitionName=main Nodes=n[1-$nodes] Default=YES MaxTime=INFINITE State=UP"
}

# Starts a daemon in the background, which its option for the foreground keeps there.
daemon() {
  local name=$1
  shift
  env "$mark" "$(mark_of "$name")" setsid "$@" </dev/null >"$folder/log/$name.out" 2>&1 &
}

nodes_are_idle() { [ "$(timeout 5 sinfo -h -t idle -N -o %N | wc -l)" = "$nodes" ]; }
controller_answers() { timeout 5 scontrol ping; }

up() {
  local i
  nodes=${argument:-$nodes}
  [[ $nodes =~ ^[1-9][0-9]?$ ]] || usage "'$nodes' is not a number of nodes from 1 to 99"
  # What others have put there would be followed, as root.
  [ -z "$(ls -A "$folder" 2>/dev/null)" ] || usage "the folder $folder is not empty"
  mkdir -p "$folder"/{state,log,munge}
  write_configuration >"$SLURM_CONF"
  printf '#!/bin/sh\ntest ! -e %q\n' "$folder/refuse-tasks" >"$folder/prolog"
  chmod +x "$folder/prolog"
  (umask 077 && head -c 128 /dev/urandom >"$folder/munge/key")
  chown -R munge: "$folder/munge"
  daemon munged setpriv --reuid munge --regid munge --clear-groups munged --foreground \
    --key-file="$folder/munge/key" --socket="$folder/munge/socket" --pid-file="$folder/munge/pidfile" \
    --log-file="$folder/munge/log" --seed-file="$folder/munge/seed"
  wait_for test -S "$folder/munge/socket"
  daemon slurmctld slurmctld -D -c
  for ((i = 1; i <= nodes; i++)); do
    mkdir -p "$folder/spool.n$i"
    daemon "n$i" slurmd -D -N "n$i"
  done
  wait_for nodes_are_idle
  echo "SLURM_CONF=$SLURM_CONF"
}

controller() {
  signal_all TERM "$(mark_of slurmctld)"
  wait_for none_is_left "$(mark_of slurmctld)"
  daemon slurmctld slurmctld -D
  wait_for controller_answers
}

# The processes with a mark, except zombies, and all their descendants.
processes() {
  local file pid
  grep -lzsFx "$1" /proc/[0-9]*/environ | while read -r file; do
    pid=${file//[!0-9]/}
    if [ "$(ps -o stat= -p "$pid" | cut -c1)" != Z ]; then with_descendants "$pid"; fi
  done || true
}

with_descendants() {
  local child
  for child in $(pgrep -P "$1"); do with_descendants "$child"; done
  echo "$1"
}

none_is_left() { [ -z "$(processes "$1")" ]; }

# Sends a signal to all processes with a mark, again if new ones have started meanwhile.
signal_all() {
  local before='' pids
  pids=$(processes "$2")
  [ -n "$pids" ] || usage "nothing of $2 runs"
  while [ "$pids" != "$before" ]; do
    before=$pids
    xargs kill -"$1" <<<"$pids" 2>/dev/null || true
    pids=$(processes "$2")
  done
}

# Frozen first: otherwise a parent could see its child's death, and report it, before it is killed itself.
power_off() {
  signal_all STOP "$1"
  signal_all KILL "$1"
  wait_for none_is_left "$1"
}

case $1 in
  up | controller) "$1" ;;
  freeze) signal_all STOP "$(mark_of "$argument")" ;;
  thaw) signal_all CONT "$(mark_of "$argument")" ;;
  kill) power_off "$(mark_of "$argument")" ;;
  down) none_is_left "$mark" || power_off "$mark" ;;
  *) usage "no command '$1'" ;;
esac
