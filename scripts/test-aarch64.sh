#!/usr/bin/env bash
# Runs the tests of the kernels and whole counts as an aarch64 program under qemu: each kernel, both passes, and journals
# that this machine began with each of its own kernels.
#
#   scripts/test-aarch64.sh
#
# The program is the static one of a release. Needs the Rust target aarch64-unknown-linux-musl, qemu-user and, for a
# dependency of the tests, gcc-aarch64-linux-gnu; installs what is missing if NQUEENS_INSTALL=yes.
. "$(dirname "$0")/common.sh" || exit
[ $# = 0 ] || usage "it takes no arguments"
target=aarch64-unknown-linux-musl
has_target "$target" || fail "missing: rustup target add $target" 77
has qemu-aarch64 qemu-user
has aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu libc6-dev-arm64-cross
build
static_programs "$target"
arm_program=${CARGO_TARGET_DIR:-target}/$target/release/nqueens
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER=qemu-aarch64 CC_aarch64_unknown_linux_musl=aarch64-linux-gnu-gcc
cargo test --target "$target" --lib --no-default-features -- kernel::
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# check N ARGUMENT ...: counts under the emulator, and compares the total with the published one.
check() {
  local total
  echo "+ count $*"
  total=$(qemu-aarch64 "$arm_program" count "$@" --quiet)
  [ "$total" = "$(published "$1")" ] || fail "Q($1) = $total, published is $(published "$1")"
}

for kernel in portable neon; do
  for n in {1..15}; do check "$n" --engine colours --kernel "$kernel"; done
  for n in {1..12}; do check "$n" --engine subtrees --kernel "$kernel"; done
  check 16 --kernel "$kernel"
  check 16 --kernel "$kernel" --second
done
for kernel in $("$program" cpu --json | sed 's/.*"kernels":\[\([^]]*\)\].*/\1/; s/[",]/ /g'); do
  echo "+ begun with $kernel on $(uname -m)"
  journals=$folder/$kernel
  "$program" count 16 --quiet --kernel "$kernel" --journal "$journals" >"$folder/total"
  # As after a kill: the first line, and some units.
  sed -i '12,$d' "$journals"/*.journal
  check 16 --kernel neon --journal "$journals"
  [ "$(cat "$journals"/*.journal | grep -c '^run .* kernel=')" = 2 ] || fail "the journals do not name two runs"
done
