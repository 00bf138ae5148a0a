#!/usr/bin/env bash
# Draws the pictures of the documents that the program itself can draw: a board, and the engines side by side,
# which it times for a minute or two; leave the machine idle. `subtrees.svg` is drawn by hand.
#
#   scripts/pictures.sh
. "$(dirname "$0")/common.sh" || exit
[ $# = 0 ] || usage "it takes no arguments"

build
"$program" list 8 --limit 1 --style svg >docs/pictures/board.svg
"$program" compare 8 10 12 14 16 18 --engines all --threads 1 --seconds-limit 10 --svg docs/pictures/times.svg
