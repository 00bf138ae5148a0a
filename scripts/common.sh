# shellcheck shell=bash disable=SC2034
# What every script reads first. It ends at the first error, and works in the root of the repository. --help prints
# the head of the script and does nothing else.
set -euo pipefail
case " $* " in
  *' --help '* | *' -h '*)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit
    ;;
esac
unset CDPATH # or cd could go to another folder of the same name
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# fail MESSAGE [CODE]
fail() {
  echo "${0##*/}: $1" >&2
  exit "${2:-1}"
}

# For arguments that are wrong.
usage() { fail "$1; --help explains" 2; }

# Builds the program as the tests do, with assertions, and says where it is. With the examples, dependencies have the same
# features as for the tests, so that nothing is compiled twice.
build() {
  cargo build --quiet --bins --examples
  program=$(readlink -f "${CARGO_TARGET_DIR:-target}/debug/nqueens")
}

# Whether the user allows that missing packages are installed, as `check.sh --install` does for all that it runs.
may_install() { [ "${NQUEENS_INSTALL:-}" = yes ]; }

# Installs Debian packages, or if that is not allowed, names them and fails with 77.
install_packages() (
  may_install || fail "missing: the Debian package(s) $*; install them, or allow it: scripts/check.sh --install" 77
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" >/dev/null
)

# has COMMAND PACKAGE ...: installs the packages if the command is missing.
has() { type -P "$1" >/dev/null || install_packages "${@:2}"; }

# has_target TARGET: whether the toolchain has this Rust target, or may install it.
has_target() {
  [ -d "$(rustc --print sysroot)/lib/rustlib/$1" ] || { may_install && timeout 60 rustup --quiet target add "$1"; }
}

# static_programs TARGET ...: builds static programs, as releases have them. They do not depend on the folders in which the
# repository and cargo are: within the repository rustc gets relative paths, and the folder of cargo, where the
# dependencies are, gets another name. The linker of the toolchain links all targets, so no C compiler is needed.
static_programs() {
  export RUSTFLAGS="--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo -C target-feature=+crt-static"
  export CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_LINKER=rust-lld CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER=rust-lld
  cargo build --release --locked "${@/#/--target=}"
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
