# shellcheck shell=bash disable=SC2034
# What every script reads first: --help prints the head of the script and does nothing else.
case " $* " in
  *' --help '* | *' -h '*)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit
    ;;
esac

# fail MESSAGE [CODE]
fail() {
  echo "${0##*/}: $1" >&2
  exit "${2:-1}"
}

# For arguments that are wrong.
usage() { fail "$1; --help explains" 2; }

# Builds the program, and says where it is.
build() {
  cargo build --release --quiet
  program=$(readlink -f "${CARGO_TARGET_DIR:-target}/release/nqueens")
}

# published N: the total of a board.
published() { sed -n "s/^$1,\([0-9]*\),.*/\1/p" src/board/known-counts.csv; }

# wait_for COMMAND ...: waits until it succeeds, at most much longer than a busy machine takes.
wait_for() {
  local end=$((SECONDS + 300))
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$end" ] || fail "still failing after five minutes: $*"
    sleep 0.1
  done
}
