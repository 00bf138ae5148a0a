#!/usr/bin/env bash
# Measures the tests: changes the code in one place at a time, and counts the changes that no test notices.
#
#   scripts/mutants.sh [SAMPLE]
#
# A changed program is a mutant, and cargo-mutants makes it in a copy of the repository. There are ten samples, 0 to 9,
# each of every tenth mutant of the modules that keep the record and its promises: journal_file, record, count, plan,
# verify, forecast and exit codes. Without SAMPLE it is 0. The tests are the unit tests and the promises that take at
# most a few seconds without optimisation. So a mutant takes about twenty seconds on two CPUs, and a sample about 50
# minutes.
#
# In the end it prints a table by module, and the mutants that no test caught. The files of the run are in
# target/mutants-SAMPLE/mutants.out. The exit code is 1 if a mutant was missed. .cargo/mutants.toml names the mutants
# that cannot matter, with the reasons.
#
# Needs cargo-mutants: cargo install cargo-mutants --locked
. "$(dirname "$0")/common.sh" || exit

[ $# -le 1 ] || usage 'there are too many arguments'
sample=${1:-0}
[[ $sample =~ ^[0-9]$ ]] || usage 'SAMPLE is from 0 to 9'
cargo mutants --version >/dev/null 2>&1 || fail 'missing: cargo-mutants; cargo install cargo-mutants --locked' 77

# All unit tests, and these promises.
tests=(
  tests:: answers:: damage:: disputed:: estimate:: folders:: foreign:: harmed::a_journal_that_is
  harmed::a_stopped_count joined:: journal:: kill::a_kill_loses_little memory::a_check memory::a_limit memory::a_user
  memory::memory_that memory::under_a_limit missing:: observer:: old_journals::
  page::processes_that plans:: record:: resume:: resume_commands:: second::a_journal second::both_passes shards::
  status:: time_left::a_damaged unreadable:: usage:: verify::
)
# These are left out: they count for seconds, wait for a clock, or test code that is not changed here.
for slow in \
  engine:: cli::commands:: cli::output:: has_a_closed_form \
  a_unit_of_a_count_with_split_rows every_engine the_text_of_a_count without_a_terminal_progress \
  of_very_many_units published_seeds_choose the_bar_of_a_check \
  an_estimate_ a_sample_is_not_compared a_sample_that_is_too_small \
  a_changed_byte_costs a_file_whose_first_line cut_off_at_any_byte stopped_and_cut_off_counts \
  cpu_time_does_not_pass every_failing_call records_do_not_wait \
  a_kill_while_units_are_settled ten_thousand_disputes learns_the_time_that_is_left the_time_is_the_cpu_time \
  builds_that_resumed_in_place \
  colours_resume the_command_names_the_plan two_writers journals_of_other_shards; do
  tests+=(--skip "$slow")
done

# The build is kept from one mutant to the next, and from one run to the next. In random order, the mutants up to an
# interruption are a sample, too.
out=target/mutants-$sample
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
mkdir -p "$out"
# A mutant of the program may run for ever, and outlives the test that started it. So no process gets more CPU time.
ulimit -t 100
code=0
cargo mutants --gitignore true --shard "$sample/10" --sharding round-robin --shuffle --timeout 180 --output "$out" \
  -- --lib --test promises -- "${tests[@]}" || code=$?
# Codes 2 and 3: mutants were missed, or took too long.
[[ $code =~ ^[023]$ ]] || fail "nothing was measured, because the tests fail without a mutant" "$code"

results=$out/mutants.out
in_room() { grep -cE "^src/$1(\.rs|/)" "$results/$2.txt" || true; }
printf '%-12s %7s %7s %8s %9s\n' module caught missed timeout unviable
for room in journal_file record count plan verify forecast cli; do
  printf '%-12s %7d %7d %8d %9d\n' "$room" "$(in_room "$room" caught)" "$(in_room "$room" missed)" \
    "$(in_room "$room" timeout)" "$(in_room "$room" unviable)"
done
cat "$results/missed.txt"
[ ! -s "$results/missed.txt" ]
