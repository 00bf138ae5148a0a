#!/usr/bin/env bash
# Counts in terminals of 20, 40, 80 and 120 columns, and stops by Ctrl-C. No line may wrap or fill the last column, and
# at the end the prompt must stand on a line of its own, with exit code 3. A message is one line, which only the
# terminal wraps. A window that becomes narrower shows one bar, and nothing of the wider one.
#
#   scripts/test-terminal.sh
#
# Takes a minute. Needs Debian's tmux, which it installs only with NQUEENS_INSTALL=yes; skipped (exit code 77)
# without it.
. "$(dirname "$0")/common.sh" || exit
[ $# = 0 ] || usage "it takes no arguments"

if ! command -v tmux >/dev/null; then
  install_packages tmux || { [ $? = 77 ] && echo "skipped: the bar on terminals" && exit 77; exit 1; }
fi
build
bin=${program%/*}

work=$(mktemp -d)
finish() {
  local code=$?
  if [ "$code" != 0 ]; then { echo "$columns columns:"; screen || true; } >&2; fi
  terminal kill-server 2>/dev/null || true
  rm -rf "$work"
  exit "$code"
}
trap finish EXIT

# Each terminal has a server of its own: one that is ending takes no new session.
opened=0
terminal() { tmux -S "$work/socket-$opened" -f /dev/null "$@"; }
type_line() { terminal send-keys -l "$1" && terminal send-keys Enter; }
# What the terminal shows; the second without the line breaks of the terminal.
screen() { terminal capture-pane -p | sed '/^$/d'; }
joined_screen() { terminal capture-pane -p -J | sed 's/ *$//; /^$/d'; }

shows() { joined_screen | grep -Eq "$1"; }
is_back() { [ "$(screen | tail -n 1)" = 'prompt>' ]; }

# open_terminal COLUMNS: its prompt is back.
open_terminal() {
  columns=$1
  terminal kill-server 2>/dev/null || true
  opened=$((opened + 1))
  terminal new-session -d -x "$columns" -y 24 \
    "cd '$work' && PS1='prompt> ' HISTFILE= PATH='$bin:$PATH' exec bash --norc --noprofile"
  wait_for is_back
}

# Takes seconds on every machine. A script, so that the command fits a line.
printf 'exec nqueens count 20 --kernel portable --threads 2 "$@"\n' >"$work/run"

label='n = 20'
bar="^$label "'\[=*>? *\]( [0-9].*)?$'
stopped='^nqueens: stopped after [0-9]+ of 46508 units, [0-9]+ solutions so far; nothing was kept, because there is no --journal$'

# What a command has left between its line and the prompt: one message, which only the terminal has wrapped.
message() { joined_screen | sed '1d;$d'; }
is_answered() { is_back && [ "$(screen | wc -l)" -gt 1 ]; }

for columns in 20 40 80 120; do
  open_terminal "$columns"
  type_line 'bash run'
  wait_for shows "$bar"
  seen=0
  # The narrowest has no room for it.
  until [ "$seen" -ge 15 ] && { [ "$columns" = 20 ] || shows 'ETA'; }; do
    bars=$(screen | sed 1d)
    # Nothing is there for the moment of a redraw.
    if [ -n "$bars" ]; then
      grep -Eq "$bar" <<<"$bars" || fail "this is no bar: $bars"
      [ "$(wc -l <<<"$bars")" = 1 ] || fail "more than one line: $bars"
      [ "${#bars}" -lt "$columns" ] || fail "too long: $bars"
    fi
    seen=$((seen + 1))
    [ "$seen" -lt 600 ] || fail "no ETA: $bars"
    sleep 0.1
  done
  terminal send-keys C-c
  wait_for is_answered
  [ "$(screen | sed -n 1p)" = 'prompt> bash run' ] || fail "the first line is not the command"
  message | grep -Eq "$stopped" || fail "what is left is not '$stopped' but '$(message)'"
  type_line "echo code \$?"
  wait_for shows 'code 3$'
  echo "$columns columns: $bars"
done

open_terminal 120
# The bar stands in the last row, so whatever it leaves above stays in sight.
type_line 'seq 30; bash run'
wait_for shows ' units$'
is_one_bar() { screen | tail -n 1 | grep -q '^n =' && [ "$(screen | grep -cE '^n =|\[|%|ETA|elapsed|units')" = 1 ]; }
for columns in 50 15 5 120; do
  terminal resize-window -x "$columns"
  wait_for is_one_bar
done
terminal send-keys C-c
wait_for is_back
echo "a window that becomes narrower: one bar"

open_terminal 80
type_line 'TERM=dumb bash run --progress always'
wait_for shows "^nqueens: $label: [0-9.]+%, (.*, )?elapsed 1\\.[0-9] s"
if screen | grep -q "^$label"; then fail "a bar on a dumb terminal"; fi
terminal send-keys C-c
wait_for is_back
echo "a dumb terminal: lines instead of a bar"

# Of /proc/PID/stat behind the name of the program: the state, and user and system time in hundredths of a second.
state() { sed 's/.*) //' "/proc/$1/stat" | cut -d ' ' -f 1; }
ticks() { sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'; }
# counts PID: it uses CPU time, however little of it a busy machine leaves.
counts() {
  local before
  before=$(ticks "$1")
  sleep 2
  [ $(($(ticks "$1") - before)) -ge 20 ] || fail "process $1 does not count, its state is $(state "$1")"
}

# The count takes minutes. Its number is the only line on the screen that is a number.
number() { screen | grep -Ex '[0-9]+' | tail -n 1; }
shows_number() { [ -n "$(number)" ]; }
has_ended() { [ ! -e "/proc/$1" ]; }

open_terminal 80
# The shell prints the number of the process that becomes the program.
type_line "sh -c 'echo \$\$; exec nqueens count 24 --threads 2'"
wait_for shows '^n = 24'
pid=$(number)
terminal send-keys C-s
sleep 1
counts "$pid"
kill -TERM "$pid"
sleep 1
has_ended "$pid" && fail "it does not wait for its terminal"
kill -TERM "$pid"
wait_for has_ended "$pid"
terminal send-keys C-q
wait_for is_back
echo "Ctrl-S: the count goes on, and the second signal ends it"
