#!/usr/bin/env bash
# Runs the library's tests and whole counts as an aarch64 program under qemu: the portable kernel on
# another CPU family. An emulator is slow, so check.sh only builds for aarch64.
#
#   scripts/test-aarch64.sh
#
# Needs the Rust target aarch64-unknown-linux-gnu, gcc-aarch64-linux-gnu and qemu-user; installs what
# is missing if NQUEENS_INSTALL=yes (see install.sh).
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$(dirname "$0")/.."
[ $# = 0 ] || usage "it takes no arguments"
target=aarch64-unknown-linux-gnu
if ! rustup target list --installed | grep -q "$target"; then
  [ "${NQUEENS_INSTALL:-}" = yes ] || { echo "missing: rustup target add $target" >&2; exit 1; }
  rustup target add "$target"
fi
if ! command -v qemu-aarch64 >/dev/null || ! command -v aarch64-linux-gnu-gcc >/dev/null; then
  scripts/install.sh qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross
fi
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
cargo test --target "$target" --lib --test promises -- counts::
