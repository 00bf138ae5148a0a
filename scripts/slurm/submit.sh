#!/usr/bin/env bash
# Counts a board on a Slurm cluster: submits its shards as a job array, and a job that merges them. Run
# again, the same command submits only the shards that are still missing.
#
#   scripts/slurm/submit.sh N --shards K [--indices LIST] [--second] [--out FOLDER] [--time T]
#                           [--cpus C] [--max-running M] [-- OPTION ...]
#
#   --indices LIST     only these shards, as `nqueens merge` names them: 3,7-9
#   --second           a second count; its journals may lie in the folder of the first
#   --out FOLDER       journals and logs, on a file system that all nodes share
#                      (default: qN in the current folder)
#   --time T           time limit of a task, as of sbatch; a task that reaches it is requeued
#   --cpus C           CPUs and threads of a task (default: 1)
#   --max-running M    at most M tasks run at the same time
#   OPTION ...         of `nqueens shard`, for example --engine
#
# Other options of sbatch go in its own variables: SBATCH_PARTITION, SBATCH_ACCOUNT, SBATCH_QOS,
# SBATCH_MEM_PER_CPU, SBATCH_MEM_PER_NODE.
# It writes only to FOLDER/log. A link or a pipe there, or a pipe called *.journal, is wrong usage.
# The program, printed with its commit, is $NQUEENS, else this repository's own build (release/nqueens in
# $CARGO_TARGET_DIR or target), else nqueens on the path.
# Exit codes: 0 submitted, or nothing is missing; 1 failed; 2 wrong usage; 3 earlier jobs still exist;
# 4 not now: another submit.sh works on this folder, or a journal cannot be read.
. "$(dirname "$0")/../common.sh" || exit
built=$(readlink -m "${CARGO_TARGET_DIR:-target}/release/nqueens") # seen from the root, as cargo was run there
cd "$OLDPWD"                                                        # folders in the arguments are seen from there

here=$(dirname "$(readlink -f "$0")")

# The beginning of a long list.
brief() { if [ ${#1} -le 200 ]; then echo "$1"; else echo "${1:0:200}..."; fi; }

# A whole number from $2 to $3, without signs or leading zeros.
is_number() { [[ $1 =~ ^(0|[1-9][0-9]{0,8})$ ]] && [ "$1" -ge "$2" ] && [ "$1" -le "$3" ]; }

n=''
declare -A given=()
while [ $# -gt 0 ]; do
  case $1 in
    --) break ;;
    --second) given[second]=--second ;;
    --shards | --indices | --out | --time | --cpus | --max-running)
      if [ $# -lt 2 ] || [ -z "$2" ] || [ "$2" = -- ]; then usage "$1 needs a value"; fi
      given[${1#--}]=$2
      shift
      ;;
    -*) usage "unknown option '$1'; options of nqueens shard go after --" ;;
    *)
      [ -z "$n" ] || usage "two boards are given, '$n' and '$1'"
      n=$1
      ;;
  esac
  shift
done
extra=("${@:2}")
[[ " ${extra[*]} " != *' --second '* ]] || usage "--second must stand before --"

is_number "$n" 0 32 || usage "'$n' is not a board size: submit.sh N --shards K, and N from 0 to 32"
[ -n "${given[shards]:-}" ] || usage "--shards is missing: how many tasks?"
for option in shards cpus max-running; do
  is_number "${given[$option]-1}" 1 1000000 ||
    usage "--$option: '${given[$option]}' is not a whole number from 1 to 1000000"
done
of=${given[shards]} second=${given[second]:-} cpus=${given[cpus]:-1}
all=0-$((of - 1))
indices=${given[indices]:-$all}
while read -r range; do
  if ! is_number "${range%%-*}" 0 $((of - 1)) || ! is_number "${range#*-}" "${range%%-*}" $((of - 1)); then
    usage "--indices: '$range' is not a shard or a range of shards from 0 to $((of - 1)): write 3,7-9"
  fi
done <<<"${indices//,/$'\n'}"

nqueens=${NQUEENS:-$built}
if [ -z "${NQUEENS:-}" ] && [ ! -x "$built" ]; then nqueens=$(type -P nqueens || echo "$built"); fi
if [ ! -x "$nqueens" ] || [ -d "$nqueens" ]; then
  usage "no program at $nqueens: set NQUEENS, or build it by cargo build --release"
fi
nqueens=$(readlink -f "$nqueens")
printf 'program      %s, %s\n' "$nqueens" "$("$nqueens" --version || echo "exit code $?")"

folder=${given[out]:-q$n}
[[ $folder != -* ]] || usage "--out: '$folder' is an option, not a folder"
folder=$(readlink -m -- "$folder") || usage "--out: '${given[out]}' is no path"
[[ $folder != *[[:cntrl:]\\]* ]] ||
  usage "--out: Slurm cannot write logs below a path with a backslash or a control character: choose another folder"

# A tiny board tests the options here, so that mistakes do not wait in a queue. What this machine cannot
# do now (exit code 4: memory, threads), the nodes may be able to do.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
code=0
"$nqueens" shard 1 --index 0 --shards 1 --out "$scratch/q1.journal" ${second:+"$second"} "${extra[@]}" >/dev/null 2>"$scratch/stderr" || code=$?
reason=$(tail -n 1 "$scratch/stderr" | sed 's/^nqueens: //')
case $code in
  0) ;;
  2) usage "nqueens shard: $reason" ;;
  4) echo "submit.sh: warning: this machine cannot count now, but the nodes may be able to: $reason" >&2 ;;
  *) fail "nqueens shard failed here with exit code $code: $reason" ;;
esac

mkdir -p "$folder/log" 2>/dev/null || usage "--out: cannot make the folder $folder/log"
[ -w "$folder" ] || usage "--out: the folder $folder is not yours to write to"

# Opening a pipe would wait for ever, and what a link leads to would be written to.
strange=$(cd "$folder" &&
  find . -maxdepth 2 \( -path './*.journal' ! -path './*/*' ! -xtype f -o -path './log*' ! -path ./log ! -type f -o -path ./log ! -type d \) -print -quit)
[ -z "$strange" ] || usage "$folder${strange#.} is not a plain file: take it away, or choose another folder"

# Two of these scripts at the same time would submit every shard twice. The kernel releases the lock
# when the script and its sbatch have ended, however they end.
exec {lock}>>"$folder/log/lock"
code=0
flock --nonblock --conflict-exit-code 4 "$lock" 2>/dev/null || code=$?
case $code in
  0) ;;
  4) fail "nothing submitted: another submit.sh works on $folder; try again when it has ended" 4 ;;
  *) echo "submit.sh: warning: no lock on $folder/log/lock; let no other submit.sh run on this folder now" >&2 ;;
esac

# The jobs of this count that still wait or run would be submitted again and counted twice. Their folder
# tells, also if an earlier submit.sh was killed.
separator=$'\x1f' # in no folder's name
jobs=$(squeue -h -o "%i$separator%r$separator%j$separator%Z" 2>"$scratch/stderr") || fail "no answer from Slurm: squeue"
queued=() not_started=() held=()
while IFS=$separator read -r job why name place; do
  if [ "$place" != "$folder" ] || ! [[ $name =~ ^nqueens-[0-9]+"${second#-}"$ ]]; then continue; fi
  queued+=("${job%%_*}")
  case $why in
    'launch failed requeued held') not_started+=("$job") ;;
    JobHeld* | *' held'*) held+=("$job") ;;
  esac
done <<<"$jobs"
if [ ${#queued[@]} -gt 0 ]; then
  # Slurm holds a task that a node could not start, for ever.
  if [ ${#not_started[@]} -gt 0 ]; then
    printf '%s\n' "${not_started[@]}" | xargs -n 100 scontrol release ||
      fail "nothing submitted: Slurm holds tasks that did not start; scontrol release ${not_started[*]}" 3
    echo "released     $(brief "${not_started[*]}"): Slurm held these because a node did not start them; sinfo -R names nodes that are out"
  fi
  [ ${#held[@]} = 0 ] ||
    echo "held         $(brief "${held[*]}"): these wait until somebody enters scontrol release JOB"
  fail "nothing submitted: earlier jobs for $folder are in the queue; wait, or scancel $(printf '%s\n' "${queued[@]}" | sort -nu | paste -sd' ')" 3
fi

# Which shards are missing: all if nothing is recorded. Exit codes other than 0 and 3 do not answer that.
merge=("$nqueens" merge "$folder" ${second:+"$second"} --shards "$of")
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$scratch/merge"; }
missing=$all code=0
"${merge[@]}" --json >"$scratch/merge" 2>"$scratch/stderr" || code=$?
if [ "$code" != 0 ] && [ "$code" != 3 ]; then
  cat "$scratch/stderr" >&2
  exit "$code"
fi
if ! grep -q '^{"n":null,' "$scratch/merge"; then
  grep -q "^{\"n\":$n," "$scratch/merge" || usage "--out: $folder holds journals of another board"
  if [ -n "$second" ] || [ "$(field count)" = first ]; then
    missing=$(field indices)
    [ -z "$missing" ] ||
      echo "missing      shards $(brief "$missing") of $of; the others are complete and not submitted"
  fi
fi

# The shards that are asked for and missing.
if [ "$indices" != "$all" ]; then
  expand() { tr , '\n' <<<"$1" | awk -F- '{ for (i = $1; i <= $NF; i++) print i }' | sort -u; }
  missing=$(sort <(expand "$missing") <(expand "$indices") | uniq -d | sort -n | paste -sd,)
fi
if [ -z "$missing" ]; then
  echo "all of shards $(brief "$indices") of $of are complete, nothing submitted"
  if [ "$code" = 0 ]; then "${merge[@]}"; fi
  exit
fi

# Runs sbatch, and sets `job` to the job's number.
submit() {
  job=$(sbatch --parsable --chdir="$folder" --job-name="nqueens-$n${second#-}" --ntasks=1 --requeue --open-mode=append "$@") ||
    fail "sbatch failed: see above; if an array is invalid, choose fewer shards: their numbers must be below the site's MaxArraySize"
  job=${job%%;*} # at some sites the name of the cluster follows
}

# This command, in a form that works from any folder and runs the same program.
given[out]=$folder
command=(env NQUEENS="$nqueens" "$here/submit.sh" "$n")
for option in "${!given[@]}"; do
  if [ "$option" = second ]; then command+=(--second); else command+=("--$option" "${given[$option]}"); fi
done
[ ${#extra[@]} = 0 ] || command+=(-- "${extra[@]}")

# Slurm expands % in the name of a log, so it is doubled there. A backslash would end all expansion.
logs=${folder//%/%%}/log
submit --cpus-per-task="$cpus" --signal=B:TERM@60 --output="$logs/%A_%a.log" ${given[time]:+--time="${given[time]}"} \
  --array="$missing${given[max-running]:+%${given[max-running]}}" "$here/shard.sh" \
  "$nqueens" "$n" "$of" "$folder" ${second:+"$second"} "${extra[@]}"
printf '%-12s shards %s of %s\n' "job $job" "$(brief "$missing")" "$of"
submit --cpus-per-task=1 --output="$logs/merge-%j.log" --dependency="afterany:$job" \
  "$here/merge.sh" "$nqueens" "$of" "$folder" "$second" "${command[@]}"
printf '%-12s merges them: %q\n' "job $job" "$folder/log/merge-$job.log"
printf 'watch        nqueens status %q\n' "$folder"
