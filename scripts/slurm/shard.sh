#!/usr/bin/env bash
# A task of the job arrays that submit.sh submits. It counts one shard, and requeues itself if Slurm's
# warning of the time limit stopped the program, if the program failed, or if it cannot run on this node,
# in which case it goes to another node. Its arguments:
#
#   shard.sh NQUEENS N K FOLDER [OPTION ...]
#
# It counts shard SLURM_ARRAY_TASK_ID of K. Journals are in FOLDER; what is finished in any of them is not
# counted again, so running a task again is harmless.
set -euo pipefail

readonly most_restarts=3
nqueens=$1 n=$2 of=$3 folder=$4
shift 4
shard=$SLURM_ARRAY_TASK_ID
# Names the task by its array: for the last task, SLURM_JOB_ID means the whole array.
task=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID
restarts=${SLURM_RESTART_COUNT:-0}
# The login shell's setting would take precedence over the CPUs that Slurm gave to the task.
unset NQUEENS_THREADS

say() { echo "$(date +%T) shard $shard of $of, ${SLURMD_NODENAME:-?}, restart $restarts: $*"; }

requeue() {
  say "$*; requeued"
  scontrol requeue "$task"
}

# The state of this task. If slurmctld does not answer, asks again for ten minutes.
state() {
  local answer _
  for _ in {1..60}; do
    if answer=$(squeue -h -j "$task" -o %T 2>&1); then
      echo "$answer"
      return
    fi
    [[ $answer != *'Invalid job id'* ]] || return 0
    sleep 10
  done
}

# Whether nodes other than these work.
others_than() {
  local nodes
  nodes=$(sinfo -h -N -p "$SLURM_JOB_PARTITION" -t idle,alloc,mix,comp -o %N 2>/dev/null) || return 1
  grep -qvxF "$(scontrol show hostnames "$1")" <<<"$nodes"
}

# Excludes this node for the requeued task, with those that refused it before; if no other node is left,
# only this one; and none if it is the only one, because a task that no node may run would wait for
# ever. Slurm allows this only for a waiting task, so it comes after the requeue. By then Slurm is ending
# this script, so its commands ignore SIGTERM.
avoid_this_node() {
  local node=${SLURMD_NODENAME:?} known _
  known=$(squeue -h -j "$task" -o %x 2>/dev/null) || return 0
  if [ -z "$known" ] || [ "$known" = "(null)" ]; then known=$node; else known=$known,$node; fi
  if ! others_than "$known"; then known=$node; fi
  if ! others_than "$known"; then
    say "no other node is left to try"
    return
  fi
  for _ in {1..20}; do
    if scontrol update JobId="$task" ExcNodeList="$known" 2>/dev/null; then
      say "next not on $known"
      return
    fi
    sleep 0.1
  done
  say "Slurm does not let this task exclude $node"
}

# Whether this process has written a journal with a finished unit. A name tells the shard, host and process.
came_further() {
  local shard_of
  printf -v shard_of '%04d-of-%04d' "$shard" "$of"
  find "$folder" -maxdepth 1 -type f -name "n$n-*$shard_of.*.$pid.journal" -exec grep -q '^done ' {} \; -print | grep -q .
}

# A program that finds a library too old ends with exit code 1, for its version as well.
refusal=''
version=$("$nqueens" --version) || refusal="the program cannot be started on this node"
say "starts $nqueens, ${version:-which prints no version}"
# Only this shell gets Slurm's warning. It is passed on once, because a second one would kill the program.
trap 'trap "" TERM; kill -TERM "$!" 2>/dev/null || true' TERM
"$nqueens" shard "$n" --index "$shard" --shards "$of" --out "$folder" "$@" &
pid=$! code=0
wait "$pid" || code=$?
# The trap ended the wait, not the program: its own exit code comes from a second one.
if [ "$code" -gt 128 ]; then
  code=0
  wait "$pid" || code=$?
fi

# Why another node should be tried.
case $code in
  4) refusal="temporarily impossible on this node" ;; # no memory, no threads
  126 | 127) refusal="the program cannot be started on this node" ;;
  132 | 139) refusal="the program crashed on this node" ;; # an instruction that the CPU lacks, a segmentation fault
esac
case $code in
  0) say "done" ;;
  2)
    say "wrong usage is not tried again"
    exit "$code"
    ;;
  *)
    if [ "$(state)" != RUNNING ]; then
      say "ended by Slurm, exit code $code" # cancelled, or Slurm itself requeues it
    elif [ "$code" = 3 ] && came_further; then
      requeue "stopped in time"
    elif [ -n "$refusal" ] && [ "$restarts" -lt "$most_restarts" ]; then
      trap '' TERM
      requeue "$refusal, exit code $code"
      avoid_this_node
    elif [ "$restarts" -lt "$most_restarts" ]; then
      requeue "failed with exit code $code"
    else
      say "${refusal:-failed}, exit code $code, for the last time"
    fi
    exit "$code"
    ;;
esac
