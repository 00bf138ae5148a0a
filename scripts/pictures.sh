#!/usr/bin/env bash
# Draws the pictures of the documents: the engines, a board, and the times from committed data.
#
#   scripts/pictures.sh [TIMES.csv]      (default: the newest benches/record/*-compare.csv)
#
# New times: nqueens compare 8 10 12 14 16 18 --engines all --threads 1 --seconds-limit 10 --csv
set -euo pipefail
cd "$(dirname "$0")/.."

times=${1:-$(find benches/record -name '*-compare.csv' | sort | tail -n 1)}
cargo build --release --quiet
mkdir -p docs/pictures
python3 scripts/pictures.py docs/pictures
target/release/nqueens list 8 --limit 1 --style svg >docs/pictures/board.svg
target/release/nqueens compare --draw "$times" --svg docs/pictures/times.svg
