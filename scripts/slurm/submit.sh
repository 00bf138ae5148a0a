#!/usr/bin/env bash
# Counts a board on a Slurm cluster: submits its shards as a job array, and a job that merges them. Run
# again, the same command submits only the shards that are still missing.
#
#   scripts/slurm/submit.sh N --shards K [--indices LIST] [--second] [--out FOLDER] [--time T]
#                           [--cpus C] [--partition P] [--max-running M] [--verify-units U]
#                           [-- OPTION ...]
#
#   --indices LIST     only these shards, as `nqueens merge` names them: 3,7-9
#   --second           a second count; its journals may lie in the folder of the first
#   --out FOLDER       journals, logs and what was submitted, on a file system that all nodes share
#                      (default: qN in the current folder)
#   --time T           time limit of a task, as of sbatch; a task that reaches it is requeued
#   --cpus C           CPUs and threads of a task (default: 1)
#   --max-running M    at most M tasks run at the same time
#   --verify-units U   each task recounts U units of its finished shard in another way
#   OPTION ...         of `nqueens shard`, for example --engine
#
# Other options of sbatch go in its own variables: SBATCH_ACCOUNT, SBATCH_QOS, SBATCH_MEM_PER_CPU.
# In FOLDER it writes shard.sh, merge.sh, submitted, submit.lock and log/, and replaces only what it has
# made itself. A link, a pipe or a file of somebody else in the place of one of these is wrong usage.
# The program is $NQUEENS, or nqueens on the path, or target/release/nqueens of this repository.
# Exit codes: 0 submitted, or nothing is missing; 1 failed; 2 wrong usage; 3 earlier jobs still exist;
# 4 not now: another submit.sh works on this folder, or Slurm's queue is full.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")

fail() { echo "submit.sh: $1" >&2; exit "${2:-1}"; }
usage() { fail "$1" 2; }

# The beginning of a long list.
brief() { if [ ${#1} -le 200 ]; then echo "$1"; else echo "${1:0:200}..."; fi; }

# A whole number from $2 to $3, without signs or leading zeros.
is_number() { [[ $1 =~ ^(0|[1-9][0-9]{0,8})$ ]] && [ "$1" -ge "$2" ] && [ "$1" -le "$3" ]; }

n='' of='' indices='' second='' folder='' time='' cpus=1 partition='' max_running='' verify_units=''
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
    --second)
      second=--second
      shift
      ;;
    --shards | --indices | --out | --time | --cpus | --partition | --max-running | --verify-units)
      if [ $# -lt 2 ] || [ -z "$2" ] || [ "$2" = -- ]; then usage "$1 needs a value"; fi
      case $1 in
        --shards) of=$2 ;;
        --indices) indices=$2 ;;
        --out) folder=$2 ;;
        --time) time=$2 ;;
        --cpus) cpus=$2 ;;
        --partition) partition=$2 ;;
        --max-running) max_running=$2 ;;
        --verify-units) verify_units=$2 ;;
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
for option in "$@"; do
  [ "$option" != --second ] || usage "--second must stand before --"
done

[ -n "$n" ] || usage "which board? submit.sh N --shards K"
is_number "$n" 0 32 || usage "'$n' is not a board size: choose a whole number from 0 to 32"
[ -n "$of" ] || usage "--shards is missing: how many tasks?"
is_number "$of" 1 1000000 || usage "--shards: '$of' is not a whole number from 1 to 1000000"
IFS=, read -ra ranges <<<"$indices"
[[ $indices != *, ]] || ranges+=('') # which `read` drops
for range in "${ranges[@]}"; do
  if ! is_number "${range%%-*}" 0 $((of - 1)) || ! is_number "${range#*-}" "${range%%-*}" $((of - 1)); then
    usage "--indices: '$range' is not a shard or a range of shards from 0 to $((of - 1)): write 3,7-9"
  fi
done
is_number "$cpus" 1 100000 || usage "--cpus: '$cpus' is not a whole number from 1 on"
[ -z "$max_running" ] || is_number "$max_running" 1 1000000 ||
  usage "--max-running: '$max_running' is not a whole number from 1 on"
[ -z "$verify_units" ] || is_number "$verify_units" 1 1000000 ||
  usage "--verify-units: '$verify_units' is not a whole number from 1 on"
[ -z "$time" ] || [[ $time =~ ^([0-9]+-)?[0-9]+(:[0-9]+){0,2}$ ]] ||
  usage "--time: '$time' is not a time limit: write minutes, HOURS:MINUTES:SECONDS or DAYS-HOURS"

nqueens=${NQUEENS:-$(type -P nqueens || echo "$here/../../target/release/nqueens")}
if [ ! -x "$nqueens" ] || [ -d "$nqueens" ]; then
  usage "no program at $nqueens: set NQUEENS, or build it by cargo build --release"
fi
nqueens=$(readlink -f "$nqueens")

# Slurm expands % in the name of a log, so it is doubled there. A backslash would end all expansion.
folder=${folder:-q$n}
[[ $folder != -* ]] || usage "--out: '$folder' is an option, not a folder"
is_usable() { [[ $1 != *[[:cntrl:]\\]* ]]; }
resolved=$(readlink -m -- "$folder") || usage "--out: '$folder' is no path"
if ! is_usable "$folder" || ! is_usable "$resolved"; then
  usage "--out: Slurm cannot write logs below a path with a backslash or a control character: choose another folder"
fi
folder=$resolved

# Nobody else may have put something in the place of a file that is written or read here: opening a pipe
# would wait for ever, and what a link leads to would be overwritten. Our own files are known by how they
# begin: the scripts by their second line, `submitted` by a job's number.
refuse() { usage "$1 $2: take it away, or choose another folder"; }
is_there() { [ -e "$1" ] || [ -L "$1" ]; }
is_plain() { [ -f "$1" ] && [ ! -L "$1" ]; }
check_folder() {
  local file first
  if is_there "$folder/log" && { [ -L "$folder/log" ] || [ ! -d "$folder/log" ]; }; then
    refuse "$folder/log" "is no folder of this script"
  fi
  for file in "$folder"/{shard.sh,merge.sh,submitted,submit.lock} "$folder"/log/*.log; do
    if is_there "$file" && ! is_plain "$file"; then refuse "$file" "is not a plain file"; fi
  done
  for file in "$folder"/*.journal; do
    if is_there "$file" && [ ! -f "$file" ]; then refuse "$file" "is not a plain file"; fi
  done
  for file in shard.sh merge.sh; do
    if [ -e "$folder/$file" ] && ! cmp -s <(sed -n 2p "$folder/$file") <(sed -n 2p "$here/$file"); then
      refuse "$folder/$file" "is not a copy that this script has made"
    fi
  done
  if [ -s "$folder/submitted" ]; then
    IFS= read -r -n 200 first <"$folder/submitted" || true
    [[ $first =~ ^[0-9]+' sbatch ' ]] || refuse "$folder/submitted" "is not a list that this script has made"
  fi
  [ ! -s "$folder/submit.lock" ] || refuse "$folder/submit.lock" "is not a lock that this script has made"
}
check_folder

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

configuration=$(scontrol show config 2>/dev/null) || fail "no answer from Slurm: scontrol show config"
limit() { sed -n "s/^$1 *= *//p" <<<"$configuration"; }
tasks_of_array=$(limit MaxArraySize) most_jobs=$(limit MaxJobCount)
is_number "$tasks_of_array" 1 999999999 || fail "this cluster has no job arrays: MaxArraySize is $tasks_of_array"
is_number "$most_jobs" 1 999999999 || fail "Slurm does not say how many jobs it takes: MaxJobCount is '$most_jobs'"
# A list of every second task of a longer array would not fit into one argument of sbatch.
[ "$tasks_of_array" -le 10000 ] || tasks_of_array=10000
for name in ${partition//,/ }; do
  scontrol show partition "$name" >/dev/null 2>&1 || usage "--partition: Slurm has no partition '$name'"
done

mkdir -p "$folder/log" 2>/dev/null || usage "--out: cannot make the folder $folder/log"
[ -w "$folder" ] || usage "--out: the folder $folder is not yours to write to"
submitted=$folder/submitted

# Two of these scripts at the same time would submit every shard twice. The kernel releases the lock
# when the script and its sbatch have ended, however they end.
exec {lock}>>"$folder/submit.lock"
code=0
flock --nonblock --conflict-exit-code 4 "$lock" 2>/dev/null || code=$?
case $code in
  0) ;;
  4) fail "nothing submitted: another submit.sh works on $folder; try again when it has ended" 4 ;;
  *) echo "submit.sh: warning: no lock on $folder/submit.lock; let no other submit.sh run on this folder now" >&2 ;;
esac

# The jobs of this count that still wait or run would be submitted again and counted twice. Their folder
# tells, also if an earlier submit.sh was killed before it recorded them.
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

# Whether any journal of this count has its first line, which is what `nqueens merge` needs to know the
# plan.
has_journals() {
  local file
  for file in "$folder"/*.journal; do
    if [[ $file == */n"$n"-second-* ]] && [ -z "$second" ]; then continue; fi
    if [[ $file != */n"$n"-second-* ]] && [ -n "$second" ]; then continue; fi
    if [ -e "$file" ] && IFS= read -r _ <"$file"; then return 0; fi
  done
  return 1
}

# A field of the object that `nqueens merge --json` prints.
field() { sed -n "s/.*\"$1\":\"\{0,1\}\([^\"}]*\).*/\1/p" "$scratch/merge"; }

all=0-$((of - 1))
missing=$all
if has_journals; then
  code=0
  "$nqueens" merge "$folder" ${second:+"$second"} --shards "$of" --json >"$scratch/merge" 2>"$scratch/stderr" || code=$?
  case $code in
    0 | 3) [ "$(field n | cut -d, -f1)" = "$n" ] || usage "--out: $folder holds journals of another board" ;;
    *)
      cat "$scratch/stderr" >&2
      exit "$code"
      ;;
  esac
  if [ "$code" = 0 ]; then
    echo "all $of shards are complete, nothing submitted"
    "$nqueens" merge "$folder" ${second:+"$second"} --shards "$of"
    exit 0
  fi
  missing=$(field indices)
  [[ $missing == [0-9]* ]] || fail "nqueens merge does not name the missing shards: '$missing'"
  echo "missing      shards $(brief "$missing") of $of; the others are complete and not submitted"
fi

# Slurm keeps at most MaxJobCount tasks of all users, ended ones included. A tenth is left to others.
known=$(squeue -h -r -t all -o %i 2>"$scratch/stderr" | wc -l) || fail "no answer from Slurm: squeue"
room=$((most_jobs - most_jobs / 10 - known - 1))
[ "$room" -ge 1 ] ||
  fail "nothing submitted: Slurm has $known of at most $most_jobs jobs (MaxJobCount); run this command again later" 4

# The shards that are asked for and missing: how many, and the first of them that Slurm has room for.
read -r count shards < <(
  awk -F- -v of="$of" -v room="$room" '
    function add() { if (from != "") list = list (list == "" ? "" : ",") (from == last ? from : from "-" last) }
    FNR == 1 { lists++ }
    { for (i = $1 + 0; i <= $NF + 0; i++) if (seen[i] == lists - 1) seen[i] = lists }
    END {
      for (i = 0; i < of; i++) if (seen[i] == 2 && ++count <= room) {
        if (from == "" || i > last + 1) { add(); from = i }
        last = i
      }
      add()
      print count + 0, list
    }' <(tr , '\n' <<<"$missing") <(tr , '\n' <<<"${indices:-$all}")
)
if [ "$count" = 0 ]; then
  echo "all of shards $(brief "$indices") of $of are complete, nothing submitted"
  exit 0
fi

# Array c holds the shards from c * tasks_of_array on. `tasks[c]` lists the chosen ones as sbatch
# expects it, numbered from 0, and `named[c]` lists them by their shard numbers.
tasks=() named=()
IFS=, read -ra ranges <<<"$shards"
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
for script in shard.sh merge.sh; do
  cp --remove-destination --no-target-directory "$here/$script" "$folder/$script"
done

# Runs sbatch, records the job's number and the command in the folder, and sets `job` to the number.
submit() {
  job=$(sbatch --parsable --chdir="$folder" --job-name="nqueens-$n${second#-}" --ntasks=1 --requeue --open-mode=append "$@") ||
    fail "sbatch failed: see above; run this command again when the jobs so far have ended"
  job=${job%%;*} # at some sites the name of the cluster follows
  { printf '%s sbatch' "$job"; printf ' %q' "$@"; echo; } |
    dd of="$submitted" oflag=append,nofollow,nonblock conv=notrunc status=none
}

# This command, in a form that works from any folder.
command=("$here/submit.sh" "$n" --shards "$of" --out "$folder" --cpus "$cpus")
[ -z "$indices" ] || command+=(--indices "$indices")
[ -z "$second" ] || command+=("$second")
[ -z "${NQUEENS:-}" ] || command=(env NQUEENS="$nqueens" "${command[@]}")
[ -z "$time" ] || command+=(--time "$time")
[ -z "$partition" ] || command+=(--partition "$partition")
[ -z "$max_running" ] || command+=(--max-running "$max_running")
[ -z "$verify_units" ] || command+=(--verify-units "$verify_units")
[ ${#extra[@]} = 0 ] || command+=(-- "${extra[@]}")

logs=${folder//%/%%}/log
shard_options=(--cpus-per-task="$cpus" --signal=B:TERM@60 --output="$logs/%A_%a.log")
merge_options=(--cpus-per-task=1 --output="$logs/merge-%j.log")
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
    "$folder/shard.sh" ${verify_units:+--verify-units "$verify_units"} "$nqueens" $((c * tasks_of_array)) "$n" "$of" "$folder" ${second:+"$second"} "${extra[@]}"
  printf '%-12s shards %s of %s\n' "job $job" "$(brief "${named[c]}")" "$of"
  after=${after:+$after:}$job
done
submit "${merge_options[@]}" --dependency="afterany:$after" \
  "$folder/merge.sh" "$nqueens" "$of" "$folder" "$second" "${command[@]}"
printf '%-12s merges them: %q\n' "job $job" "$folder/log/merge-$job.log"
printf 'watch        nqueens status %q\n' "$folder"
[ "$count" -le "$room" ] ||
  echo "later        $((count - room)) shards: Slurm takes no more now (MaxJobCount is $most_jobs); run this command again when these have ended, or choose fewer shards"
