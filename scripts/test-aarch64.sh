#!/usr/bin/env bash
# Runs the library's tests and whole counts as an aarch64 program under qemu: the portable kernel on
# another CPU family. An emulator is slow, so check.sh only builds for aarch64.
#
#   scripts/test-aarch64.sh
#
# Needs the Rust target aarch64-unknown-linux-gnu, gcc-aarch64-linux-gnu and qemu-user; installs what
# is missing if NQUEENS_INSTALL=yes.
. "$(dirname "$0")/common.sh" || exit
[ $# = 0 ] || usage "it takes no arguments"
target=aarch64-unknown-linux-gnu
has_target "$target" || fail "missing: rustup target add $target"
has qemu-aarch64 qemu-user
has aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu libc6-dev-arm64-cross
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
cargo test --target "$target" --lib --test promises -- counts::
