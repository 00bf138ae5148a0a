#!/usr/bin/env bash
# Counts and estimates in terminals of 40, 80 and 120 columns, and stops by Ctrl-C. No line may wrap, no bar
# may be torn or doubled, and at the end the prompt must stand on a line of its own, with exit code 3.
#
#   scripts/test-terminal.sh
#
# Takes a minute. Needs Debian's tmux, which it installs only with NQUEENS_INSTALL=yes (see
# install.sh); skipped (exit code 77) without it.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v tmux >/dev/null; then
  scripts/install.sh tmux || { [ $? = 77 ] && echo "skipped: the bar on terminals" && exit 77; exit 1; }
fi
cargo build --release --quiet

work=$(mktemp -d)
finish() {
  local code=$?
  if [ "$code" != 0 ]; then screen >&2 || true; fi
  terminal kill-server 2>/dev/null || true
  rm -rf "$work"
  exit "$code"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Each terminal has a server of its own: one that is ending takes no new session.
opened=0
terminal() { tmux -S "$work/socket-$opened" -f /dev/null "$@"; }
type_line() { terminal send-keys -l "$1" && terminal send-keys Enter; }
# What the terminal shows; the second without the line breaks of the terminal.
screen() { terminal capture-pane -p | sed '/^$/d'; }
joined_screen() { terminal capture-pane -p -J | sed 's/ *$//; /^$/d'; }

fail() {
  echo "test-terminal.sh: $columns columns: $*" >&2
  exit 1
}

# wait_for COMMAND ...: waits until it succeeds, a minute at most.
wait_for() {
  local _
  for _ in {1..600}; do
    if "$@"; then return; fi
    sleep 0.1
  done
  fail "still failing after a minute: $*"
}

shows() { joined_screen | grep -Eq "$1"; }
is_back() { [ "$(screen | tail -n 1)" = 'prompt>' ]; }

# open_terminal COLUMNS: its prompt is back.
open_terminal() {
  columns=$1
  terminal kill-server 2>/dev/null || true
  opened=$((opened + 1))
  terminal new-session -d -x "$columns" -y 24 \
    "cd '$work' && PS1='prompt> ' HISTFILE= PATH='$PWD/target/release:$PATH' exec bash --norc --noprofile"
  wait_for is_back
}

# Takes seconds on every machine. A script, so that the command fits a line.
printf 'exec nqueens count 20 --kernel portable --threads 2 "$@"\n' >"$work/run"

bar='^halves 20 (\[=*>? *\] )?[0-9.]+%(, [^,]+)*$'
stopped='^nqueens: stopped after [0-9]+ of 46508 units, [0-9]+ solutions so far$'

# Longer than the test.
printf 'exec nqueens estimate 24 --seconds 10m\n' >"$work/sample"

estimate_bar='^estimate (\[=*>? *\] )?[0-9.]+s of 10m00s(, [0-9]+ counted)?$'
estimate_stopped='^nqueens: stopped after [0-9.]+s of 10m00s: '

# interrupt MESSAGE COMMAND: what is left after Ctrl-C.
interrupt() {
  terminal send-keys C-c
  wait_for is_back
  local left
  left=$(joined_screen)
  [ "$(sed -n 1p <<<"$left")" = "prompt> $2" ] || fail "the first line is not the command"
  sed -n 2p <<<"$left" | grep -Eq "$1" || fail "the second line is not '$1'"
  [ "$(sed -n '3,$p' <<<"$left")" = 'prompt>' ] || fail "more than the prompt is left"
  type_line "echo code \$?"
  wait_for shows '^code 3$'
}

for columns in 40 80 120; do
  open_terminal "$columns"
  type_line 'bash run'
  wait_for shows "$bar"
  seen=0
  while [ "$seen" -lt 40 ] || ! shows 'ETA'; do
    bars=$(screen | sed 1d)
    # Nothing is there for the moment of a redraw.
    if [ -n "$bars" ]; then
      grep -Eq "$bar" <<<"$bars" || fail "this is no bar: $bars"
      [ "$(wc -l <<<"$bars")" = 1 ] || fail "more than one line: $bars"
      [ "${#bars}" -le $((columns - 2)) ] || fail "too long for ^C: $bars"
    fi
    seen=$((seen + 1))
    [ "$seen" -lt 600 ] || fail "no ETA in a minute: $bars"
    sleep 0.1
  done
  interrupt "$stopped" 'bash run'
  echo "$columns columns: $bars"

  open_terminal "$columns"
  type_line 'bash sample'
  wait_for shows "$estimate_bar"
  wait_for shows '^estimate (\[.*\] )?[2-9]\.[0-9]s of'
  bars=$(screen | sed 1d)
  [ "$(wc -l <<<"$bars")" -le 1 ] || fail "more than one line: $bars"
  [ "${#bars}" -le $((columns - 2)) ] || fail "too long for ^C: $bars"
  terminal send-keys C-c
  wait_for is_back
  joined_screen | sed -n 2p | grep -Eq "$estimate_stopped" || fail "the estimate left a bar"
  shows '^total +about .* with 95 %$' || fail "no answer"
  type_line "echo code \$?"
  wait_for shows '^code 3$'
done

open_terminal 80
type_line 'TERM=dumb bash run --progress always'
wait_for shows '^nqueens: [0-9.]+%, .*, 1\.[0-9]s'
if screen | grep -q '^halves 20'; then fail "a bar on a dumb terminal"; fi
terminal send-keys C-c
wait_for is_back

open_terminal 80
type_line 'nqueens count 23 --threads 1'
wait_for shows 'halves 23'
[ "$(screen | grep -c '^nqueens: n = 23 takes about .* here; --journal FILE makes it resumable$')" = 1 ] ||
  fail "not told what n = 23 takes"
terminal send-keys C-c
wait_for is_back
echo "a dumb terminal, and the warning of a long count: as expected"
