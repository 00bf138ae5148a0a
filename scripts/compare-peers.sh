#!/usr/bin/env bash
# Times nqueens and other programs that count n queens, side by side on one core of this machine, or shows
# what was timed as a table or a picture.
#
#   scripts/compare-peers.sh [--boards 16-20] [--rounds 3] [--seconds-limit 900] [--peers FOLDER]
#                            [--out FILE.csv] [--machine NAME]
#   scripts/compare-peers.sh --table FILE.csv
#   scripts/compare-peers.sh --draw FILE.csv [--svg docs/pictures/peers.svg]
#
# Fetches the other programs from GitHub at the commits that compare-peers.py names, or takes them from
# FOLDER, which holds clones of their repositories. Builds them in target/peers as their authors advise, and
# finds the best of their settings by short races. Then all count each board in turn, --rounds times.
#
# Every count is compared with the published one; a difference is exit code 1. A count that is predicted to
# take longer than the limit is left out, and the CSV says so. Needs Rust, git, gcc, g++ and Python 3, and an
# idle machine for useful figures; $CC and $CXX name other compilers.
set -euo pipefail
cd "$(dirname "$0")/.."

needs=(python3)
case " $* " in
  *' --draw'* | *' --table'* | *' --help '* | *' -h '*) ;;
  *) needs+=(git "${CC:-gcc}" "${CXX:-g++}") ;;
esac
missing=()
for command in "${needs[@]}"; do
  type -P "$command" >/dev/null || missing+=("$command")
done
if [ ${#missing[@]} -gt 0 ]; then scripts/install.sh "${missing[@]}"; fi
exec python3 scripts/compare-peers.py "$@"
