#!/usr/bin/env bash
# A long run of the property tests of the journal's reader (tests/journal_fuzz.rs): from any bytes it
# must read true records or report an error, and never count what was not recorded.
#
#   scripts/fuzz-journal.sh [CASES]
#
# CASES is the number of random inputs for each property (default: 50000, about five minutes on two
# cores); `cargo test` tries few. A failing case is made as small as possible and printed.
set -euo pipefail
cd "$(dirname "$0")/.."

cases=${1:-50000}
[[ $cases =~ ^[1-9][0-9]{0,8}$ ]] || { echo "fuzz-journal.sh: '$cases' is not a number of cases" >&2; exit 2; }
# Built first, so that the time at the end is that of the cases alone.
cargo test --test promises --no-run --quiet
begun=$SECONDS
PROPTEST_CASES=$cases cargo test --test promises journal_fuzz::
echo "$cases cases of each property in $((SECONDS - begun)) s"
