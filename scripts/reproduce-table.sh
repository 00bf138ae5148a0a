#!/usr/bin/env bash
# Reproduces the published table with every row checked, and keeps it as CSV.
#
#   scripts/reproduce-table.sh [LAST] [FILE]      default: 18, no file
#
# Exit code 1 if any count differs from the published one.
set -euo pipefail
cd "$(dirname "$0")/.."
last=${1:-18}
file=${2:-/dev/null}
cargo build --release --quiet
target/release/nqueens table "0..=$last" --csv | tee "$file"
