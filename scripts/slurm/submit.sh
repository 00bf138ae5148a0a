#!/usr/bin/env bash
# Counts a board on a Slurm cluster: submits its shards as a job array, and a job that merges them. Run
# again, the same command submits only the shards that are still missing.
#
#   scripts/slurm/submit.sh N --shards K [--out FOLDER] [--time T] [--cpus C] [--partition P]
#                           [--max-running M] [-- OPTION ...]
#
#   --out FOLDER       journals, logs and what was submitted, on a file system that all nodes share
#                      (default: qN in the current folder)
#   --time T           time limit of a task, as of sbatch; a task that reaches it is requeued
#   --cpus C           CPUs and threads of a task (default: 1)
#   --max-running M    at most M tasks run at the same time
#   OPTION ...         of `nqueens shard`, for example --engine or --memory
#
# Other options of sbatch go in its own variables: SBATCH_ACCOUNT, SBATCH_QOS, SBATCH_MEM_PER_CPU.
# The program is $NQUEENS, or nqueens on the path, or target/release/nqueens of this repository.
# Exit codes: 0 submitted, or nothing is missing; 1 failed; 2 wrong usage; 3 earlier jobs still exist.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")

fail() { echo "submit.sh: $1" >&2; exit "${2:-1}"; }
usage() { fail "$1" 2; }

# A whole number from $2 to $3, without signs or leading zeros.
is_number() { [[ $1 =~ ^(0|[1-9][0-9]{0,8})$ ]] && [ "$1" -ge "$2" ] && [ "$1" -le "$3" ]; }

n='' of='' folder='' time='' cpus=1 partition='' max_running=''
while [ $# -gt 0 ]; do
  case $1 in
    --)
      shift
      break
      ;;
    --help | -h)
      sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"
      exit 0
      ;;
    --shards | --out | --time | --cpus | --partition | --max-running)
      if [ $# -lt 2 ] || [ "$2" = -- ]; then usage "$1 needs a value"; fi
      case $1 in
        --shards) of=$2 ;;
        --out) folder=$2 ;;
        --time) time=$2 ;;
        --cpus) cpus=$2 ;;
        --partition) partition=$2 ;;
        --max-running) max_running=$2 ;;
      esac
      shift 2
      ;;
    -*) usage "unknown option '$1'; options of nqueens shard go after --" ;;
    *)
      [ -z "$n" ] || usage "two boards are given, '$n' and '$1'"
      n=$1
      shift
      ;;
  esac
done
extra=("$@")

[ -n "$n" ] || usage "which board? submit.sh N --shards K"
is_number "$n" 0 32 || usage "'$n' is not a board size: choose a whole number from 0 to 32"
[ -n "$of" ] || usage "--shards is missing: how many tasks?"
is_number "$of" 1 1000000 || usage "--shards: '$of' is not a whole number from 1 to 1000000"
is_number "$cpus" 1 100000 || usage "--cpus: '$cpus' is not a whole number from 1 on"
[ -z "$max_running" ] || is_number "$max_running" 1 1000000 ||
  usage "--max-running: '$max_running' is not a whole number from 1 on"
[ -z "$time" ] || [[ $time =~ ^([0-9]+-)?[0-9]+(:[0-9]+){0,2}$ ]] ||
  usage "--time: '$time' is not a time limit: write minutes, HOURS:MINUTES:SECONDS or DAYS-HOURS"

nqueens=${NQUEENS:-$(type -P nqueens || echo "$here/../../target/release/nqueens")}
if [ ! -x "$nqueens" ] || [ -d "$nqueens" ]; then
  usage "no program at $nqueens: set NQUEENS, or build it by cargo build --release"
fi
nqueens=$(readlink -f "$nqueens")

# A tiny board tests the options here, so that mistakes do not wait in a queue. What this machine cannot
# do now (exit code 4: memory, threads), the nodes may be able to do.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
code=0
"$nqueens" shard 1 --index 0 --shards 1 --out "$scratch/q1.journal" "${extra[@]}" >/dev/null 2>"$scratch/stderr" || code=$?
reason=$(tail -n 1 "$scratch/stderr" | sed 's/^nqueens: //')
case $code in
  0) ;;
  2) usage "nqueens shard: $reason" ;;
  4) echo "submit.sh: warning: this machine cannot count now, but the nodes may be able to: $reason" >&2 ;;
  *) fail "nqueens shard failed here with exit code $code: $reason" ;;
esac

tasks_of_array=$(scontrol show config 2>/dev/null | sed -n 's/^MaxArraySize *= *//p') || true
[ -n "$tasks_of_array" ] || fail "no answer from Slurm: scontrol show config"
is_number "$tasks_of_array" 1 999999999 || fail "this cluster has no job arrays: MaxArraySize is $tasks_of_array"
# A list of every second task of a longer array would not fit into one argument of sbatch.
[ "$tasks_of_array" -le 10000 ] || tasks_of_array=10000
for name in ${partition//,/ }; do
  scontrol show partition "$name" >/dev/null 2>&1 || usage "--partition: Slurm has no partition '$name'"
done

folder=${folder:-q$n}
mkdir -p "$folder/log" 2>/dev/null || usage "--out: cannot make the folder $folder/log"
folder=$(readlink -f "$folder")
submitted=$folder/submitted

# Tasks that still wait or run would be submitted again and counted twice.
if [ -e "$submitted" ]; then
  mine=$(squeue -h -u "$(id -un)" -o %F) || fail "no answer from Slurm: squeue"
  queued=$(cut -d' ' -f1 "$submitted" | grep -Fx "$mine" | sort -nu | tr '\n' ' ') || true
  [ -z "$mine" ] || [ -z "$queued" ] ||
    fail "nothing submitted: earlier jobs for $folder are in the queue; wait, or scancel $queued" 3
fi

# Whether any journal has its first line, which is what `nqueens merge` needs to know the plan.
has_journals() {
  local file
  for file in "$folder"/*.journal; do
    if [ -e "$file" ] && IFS= read -r _ <"$file"; then return 0; fi
  done
  return 1
}

# A field of the object that `nqueens merge --json` prints.
field() { sed -n "s/.*\"$1\":\"\{0,1\}\([^\"}]*\).*/\1/p" "$scratch/merge"; }

missing=0-$((of - 1))
[ "$of" -gt 1 ] || missing=0
if has_journals; then
  code=0
  "$nqueens" merge "$folder" --shards "$of" --json >"$scratch/merge" 2>"$scratch/stderr" || code=$?
  case $code in
    0 | 3) [ "$(field n | cut -d, -f1)" = "$n" ] || usage "--out: $folder holds journals of another board" ;;
    *)
      cat "$scratch/stderr" >&2
      exit "$code"
      ;;
  esac
  if [ "$code" = 0 ]; then
    echo "all $of shards are complete, nothing submitted"
    "$nqueens" merge "$folder" --shards "$of"
    exit 0
  fi
  missing=$(field indices)
  echo "missing      shards $missing of $of; the others are complete and not submitted"
fi

# Array c holds the shards from c * tasks_of_array on. `tasks[c]` lists the missing ones as sbatch
# expects it, numbered from 0, and `named[c]` lists them by their shard numbers.
tasks=() named=()
IFS=, read -ra ranges <<<"$missing"
for range in "${ranges[@]}"; do
  from=${range%-*} last=${range#*-}
  while [ "$from" -le "$last" ]; do
    c=$((from / tasks_of_array)) start=$((from / tasks_of_array * tasks_of_array))
    to=$((start + tasks_of_array - 1))
    [ "$to" -le "$last" ] || to=$last
    tasks[c]=${tasks[c]:+${tasks[c]},}$((from - start))-$((to - start))
    named[c]=${named[c]:+${named[c]},}$from-$to
    from=$((to + 1))
  done
done

# Slurm keeps its own copy of a submitted script; these show users what it was.
cp "$here/shard.sh" "$here/merge.sh" "$folder/"

# Runs sbatch, records the job's number and the command in the folder, and sets `job` to the number.
submit() {
  job=$(sbatch --parsable --chdir="$folder" --job-name="nqueens-$n" --ntasks=1 --requeue --open-mode=append "$@") ||
    fail "sbatch failed: see above; run this command again when the jobs so far have ended"
  job=${job%%;*} # at some sites the name of the cluster follows
  { printf '%s sbatch' "$job"; printf ' %q' "$@"; echo; } >>"$submitted"
}

# This command, in a form that works from any folder.
command=("$here/submit.sh" "$n" --shards "$of" --out "$folder" --cpus "$cpus")
[ -z "${NQUEENS:-}" ] || command=(env NQUEENS="$nqueens" "${command[@]}")
[ -z "$time" ] || command+=(--time "$time")
[ -z "$partition" ] || command+=(--partition "$partition")
[ -z "$max_running" ] || command+=(--max-running "$max_running")
[ ${#extra[@]} = 0 ] || command+=(-- "${extra[@]}")

shard_options=(--cpus-per-task="$cpus" --signal=B:TERM@60 --output=log/%A_%a.log)
merge_options=(--cpus-per-task=1 --output=log/merge-%j.log)
[ -z "$time" ] || shard_options+=(--time="$time")
if [ -n "$partition" ]; then
  shard_options+=(--partition="$partition")
  merge_options+=(--partition="$partition")
fi
after=''
for c in "${!tasks[@]}"; do
  wait_for=()
  # A limit on running tasks applies to one array, so arrays must run one after the other.
  if [ -n "$max_running" ] && [ -n "$after" ]; then wait_for=(--dependency="afterany:${after##*:}"); fi
  submit "${shard_options[@]}" --array="${tasks[c]}${max_running:+%$max_running}" "${wait_for[@]}" \
    "$folder/shard.sh" "$nqueens" $((c * tasks_of_array)) "$n" "$of" "$folder" "${extra[@]}"
  printf '%-12s shards %s of %s\n' "job $job" "${named[c]}" "$of"
  after=${after:+$after:}$job
done
submit "${merge_options[@]}" --dependency="afterany:$after" \
  "$folder/merge.sh" "$nqueens" "$of" "$folder" "${command[@]}"
printf '%-12s merges them: %s\n' "job $job" "$folder/log/merge-$job.log"
echo "watch        nqueens status $folder"
