#!/usr/bin/env bash
# Counts a board on a Slurm cluster: submits its shards as a job array, and a job that merges them. Run
# again, the same command submits only the shards that are still missing.
#
#   scripts/slurm/submit.sh N --shards K [--indices LIST] [--second] [--out FOLDER] [--max-running M]
#                           [SBATCH OPTION ...] [-- OPTION ...]
#
#   --indices LIST     only these shards, as `nqueens merge` names them: 3,7-9
#   --second           a second count; its journals may lie in the folder of the first
#   --out FOLDER       journals and logs, on a file system that all nodes share
#                      (default: qN in the current folder)
#   --max-running M    at most M tasks run at the same time
#   SBATCH OPTION ...  any option of sbatch for the jobs: --time=1:00:00 --mem=20G -p main --cpus-per-task=8
#                      (a task has as many threads as CPUs; default: 1)
#   OPTION ...         of `nqueens shard`, for example --engine
#
# A task that reaches its time limit is requeued.
# The program, printed with its commit, is $NQUEENS, else this repository's own build (release/nqueens in
# $CARGO_TARGET_DIR or target), else nqueens on the path.
# Exit codes: 0 submitted, or nothing is missing; 1 failed, or sbatch refused; 2 wrong usage; 3 earlier jobs still
# exist; 4 temporarily impossible: another submit.sh works on this folder, or a journal cannot be read.
. "$(dirname "$0")/../common.sh" || exit
built=$(readlink -m "${CARGO_TARGET_DIR:-target}/release/nqueens") # seen from the root, as cargo was run there
cd "$OLDPWD"                                                        # folders in the arguments are seen from there

here=$(dirname "$(readlink -f "$0")")

# A whole number from $2 to $3, without signs or leading zeros.
is_number() { [[ $1 =~ ^(0|[1-9][0-9]{0,8})$ ]] && [ "$1" -ge "$2" ] && [ "$1" -le "$3" ]; }

n=${1:-}
is_number "$n" 0 32 || usage "'$n' is not a board size: submit.sh N --shards K, and N from 0 to 32"
shift
declare -A given=()
sbatch=()
while [ $# -gt 0 ]; do
  case $1 in
    --) break ;;
    --second) given[second]=--second ;;
    --shards=* | --indices=* | --out=* | --max-running=*)
      set -- "${1%%=*}" "${1#*=}" "${@:2}"
      continue
      ;;
    --shards | --indices | --out | --max-running)
      if [ $# -lt 2 ] || [ -z "$2" ] || [ "$2" = -- ]; then usage "$1 needs a value"; fi
      given[${1#--}]=$2
      shift
      ;;
    --array* | -a*) usage "--array is set here: choose shards with --indices, and how many run at once with --max-running" ;;
    -*)
      sbatch+=("$1")
      # A word after an option of sbatch is its value.
      if [[ $1 != *=* && $# -gt 1 && $2 != -* ]]; then
        sbatch+=("$2")
        shift
      fi
      ;;
    *) usage "'$1' is not an option; the board comes first: submit.sh N --shards K" ;;
  esac
  shift
done
extra=("${@:2}")
[[ " ${extra[*]} " != *' --second '* ]] || usage "--second must stand before --"

[ -n "${given[shards]:-}" ] || usage "--shards is missing: how many tasks?"
for option in shards max-running; do
  is_number "${given[$option]-1}" 1 1000000 ||
    usage "--$option: '${given[$option]}' is not a whole number from 1 to 1000000"
done
of=${given[shards]} second=${given[second]:-}
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
folder=$(readlink -m -- "$folder") || usage "--out: '${given[out]}' is not a path"
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
[ -w "$folder" ] || usage "--out: cannot write to the folder $folder"

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
jobs=$(squeue -h -o "%i$separator%r$separator%j$separator%Z" 2>"$scratch/stderr") || fail "squeue gets no answer from Slurm"
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
    echo "released     ${not_started[*]}: Slurm held these because a node did not start them; sinfo -R names nodes that are out"
  fi
  [ ${#held[@]} = 0 ] ||
    echo "held         ${held[*]}: these wait until somebody enters scontrol release JOB"
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
      echo "missing      shards $missing of $of; the others are complete and not submitted"
  fi
fi

# The shards that are asked for and missing.
if [ "$indices" != "$all" ]; then
  expand() { tr , '\n' <<<"$1" | awk -F- '{ for (i = $1; i <= $NF; i++) print i }' | sort -u; }
  missing=$(sort <(expand "$missing") <(expand "$indices") | uniq -d | sort -n | paste -sd,)
fi
if [ -z "$missing" ]; then
  echo "all of shards $indices of $of are complete, nothing submitted"
  if [ "$code" = 0 ]; then "${merge[@]}"; fi
  exit
fi

# Runs sbatch, and sets `job` to the job's number. The last of several equal options counts: ours, but for the CPUs.
submit() {
  job=$(sbatch --cpus-per-task=1 "${sbatch[@]}" --parsable --chdir="$folder" --job-name="nqueens-$n${second#-}" \
    --ntasks=1 --requeue --open-mode=append "$@") ||
    fail "sbatch failed: see above; if an array is invalid, choose fewer shards: their numbers must be below the site's MaxArraySize"
  job=${job%%;*} # at some sites the name of the cluster follows
}

# This command, in a form that works from any folder and runs the same program.
given[out]=$folder
command=(env NQUEENS="$nqueens" "$here/submit.sh" "$n")
for option in "${!given[@]}"; do
  if [ "$option" = second ]; then command+=(--second); else command+=("--$option" "${given[$option]}"); fi
done
command+=("${sbatch[@]}")
[ ${#extra[@]} = 0 ] || command+=(-- "${extra[@]}")

# Slurm expands % in the name of a log, so it is doubled there. A backslash would end all expansion.
logs=${folder//%/%%}/log
submit --signal=B:TERM@60 --output="$logs/%A_%a.log" --array="$missing${given[max-running]:+%${given[max-running]}}" \
  "$here/shard.sh" "$nqueens" "$n" "$of" "$folder" ${second:+"$second"} "${extra[@]}"
printf '%-12s shards %s of %s\n' "job $job" "$missing" "$of"
submit --cpus-per-task=1 --output="$logs/merge-%j.log" --dependency="afterany:$job" \
  "$here/merge.sh" "$nqueens" "$of" "$folder" "$second" "${command[@]}"
printf '%-12s merges them: %q\n' "job $job" "$folder/log/merge-$job.log"
printf 'watch        nqueens status %q\n' "$folder"
