#!/usr/bin/env bash
# Prints how much is tested, in numbers, each with the way it is counted. It runs no test, but builds them all, because
# the tests name themselves. Some tests are only there on Linux, and some kernels only on one architecture.
#
#   scripts/testing-numbers.sh
. "$(dirname "$0")/common.sh" || exit
[ $# = 0 ] || usage "it takes no arguments"

# row NUMBER WHAT HOW: a number that is not above 0 means that what it counts has moved.
row() {
  [[ $1 =~ ^[1-9][0-9]*$ ]] || fail "cannot count $2: $3"
  printf '%6d  %-52s %s\n' "$@"
}

# list ARGUMENT ...: the names of the tests that `cargo test` finds with these arguments.
list() { cargo test --quiet "$@" --list | sed -n 's/: test$//p'; }

# code FILE ...: the lines of Rust files without those that are only a comment.
code() { sed '/^ *\/\//d' "$@"; }

sources() { find src -name '*.rs' -print0 | xargs -0 cat; }

unit=$(list --lib --bins --)
promises=$(list --test promises --)
ignored=$(list --tests -- --ignored)
doc=$(list --doc --)
row "$(wc -l <<<"$unit")" "unit tests" "cargo test --lib --bins -- --list"
row "$(wc -l <<<"$promises")" "tests of promises" "cargo test --test promises -- --list"
row "$(wc -l <<<"$ignored")" "of both, tests that are long or need root" "cargo test --tests -- --ignored --list"
row "$(wc -l <<<"$doc")" "examples in the documentation of the library" "cargo test --doc -- --list"
row "$(cat tests/promises/*.rs | sed -n '/^proptest! {/,/^}/p' | grep -c '#\[test\]')" \
  "tests of promises with random inputs" "tests in blocks of proptest! in tests/promises"
row "$(find scripts -name 'test-*.sh' | wc -l)" "tests in shell scripts" "scripts/test-*.sh"
row "$(sed -n '/^stages=(/,/)/p' scripts/check.sh | sed 's/stages=(//; s/)//' | wc -w)" \
  "stages of the whole check" "stages in scripts/check.sh"

row "$(sed -n '/^## Where each promise is kept/,/^## /p' ARCHITECTURE.md | grep '^| ' | sed 1d | wc -l)" \
  "promises to users" "rows in ARCHITECTURE.md, Where each promise is kept"

what="mutants that scripts/mutants.sh can make"
if cargo mutants --version >/dev/null 2>&1; then
  row "$(cargo mutants --list | wc -l)" "$what" "cargo mutants --list"
else
  printf '%6s  %-52s %s\n' - "$what" "not counted: cargo-mutants is missing"
fi

row "$(sed -n '/^enum Damage {/,/^}/p' tests/promises/journal_fuzz.rs | code | grep -c '^    [A-Z]')" \
  "kinds of random damage to a journal" "variants of Damage in tests/promises/journal_fuzz.rs"
row "$(find fuzz/fuzz_targets -name '*.rs' | wc -l)" "targets of fuzzing" "fuzz/fuzz_targets/*.rs"
row "$(find fuzz/corpus -type f | wc -l)" "inputs that fuzzing has found" "files in fuzz/corpus"
row "$(grep -o 'fails("[a-z]*")' tests/shim/journal_io.c | sort -u | wc -l)" \
  "system calls that tests let fail" "calls of fails() in tests/shim/journal_io.c"
row "$(sed -n '/mod errno {/,/^}/p' tests/promises/common/mod.rs | grep -c 'const E')" \
  "errors with which they fail" "constants of errno in tests/promises/common/mod.rs"
row "$(code tests/promises/*.rs | grep -c -e '\.kill()' -e '"KILL"')" \
  "places in tests of promises that kill a process" "lines with .kill() or \"KILL\" in tests/promises/*.rs"
row "$(sed -n 's/.*kills=${2:-\([0-9]*\)}.*/\1/p' scripts/test-kill-resume.sh)" \
  "random kills of one count that is resumed each time" "the default of scripts/test-kill-resume.sh"

row "$(sed -n 's/^ *pub.* const NAMES: .*\[\(.*\)\];/\1/p' src/engine/simd.rs | tr ',' '\n' | wc -l)" \
  "kernels" "NAMES in src/engine/simd.rs"
row "$(cat scripts/test-*.sh | grep -o 'qemu-[a-z0-9_]* ' | sort -u | wc -l)" \
  "emulators of another CPU" "programs of qemu in scripts/test-*.sh"
row "$(sources | code | grep -cE '\bunsafe (\{|impl|trait|fn|extern)')" \
  "lines with unsafe" "blocks, impls and traits in src that are unsafe"
