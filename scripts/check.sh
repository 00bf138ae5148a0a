#!/usr/bin/env bash
# All of CI. Without arguments every stage in order; with arguments only the named ones.
#
#   scripts/check.sh [fmt] [clippy] [test] [one-thread] [kernels] [kill-resume] [slurm] [dask] [k8s]
#                    [bench] [doc] [msrv] [aarch64] [shellcheck]
#
# Needs a Rust toolchain. If we are root, installs what else it needs and is missing with apt-get
# (shellcheck, faketime, zsh, fish, Debian's Slurm) and Python packages in target/. Unless we are
# root, the stage slurm is skipped, and so are tests of full and read-only disks, which mount a
# tmpfs.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\n== %s\n' "$*"; }

fmt() { cargo fmt --check; }

clippy() {
  cargo clippy --all-targets -- -D warnings
  cargo clippy --lib --no-default-features -- -D warnings
}

# Installs a Debian package if its command is missing and we may.
install() {
  command -v "$1" >/dev/null && return
  [ "$(id -u)" = 0 ] || { echo "$1 is missing; install it" >&2; return 1; }
  apt-get update -qq && apt-get install -qq -y --no-install-recommends "$1" >/dev/null
}

# The README's own test command.
test() {
  local command
  install faketime || echo "skipped: the test of a clock that is set back"
  install zsh && install fish || echo "skipped: completions in zsh or fish"
  command=$(sed -n '/<!-- test command -->/,/```$/s/^\(cargo test.*\)$/\1/p' README.md)
  [ -n "$command" ] || { echo "README.md names no test command" >&2; return 1; }
  echo "+ $command"
  eval "$command"
}

# Finds dead locks and hidden assumptions on parallelism.
one-thread() { RAYON_NUM_THREADS=1 NQUEENS_THREADS=1 cargo test --test counts --test agreement --test observer -- --test-threads 1; }

kernels() {
  local kernel
  for kernel in $(cargo run --quiet --release -- cpu --json | sed 's/.*"kernels":\[\([^]]*\)\].*/\1/; s/[",]/ /g'); do
    echo "+ kernel $kernel"
    NQUEENS_TEST_KERNEL=$kernel cargo test --test counts --test agreement kernel
  done
}

# Long runs: killed twenty times and resumed.
kill-resume() { scripts/kill-resume.sh; }

# A count on a Slurm cluster, with nodes and processes killed; needs root.
slurm() { scripts/test-slurm.sh; }

# Counts on a Dask cluster on this machine, each of whose parts is killed once.
dask() { scripts/test-dask.sh; }

# The manifests for Kubernetes, without a cluster.
k8s() { scripts/test-k8s.sh; }

# The test profile shares its dependencies with the tests; each benchmark runs once.
bench() { cargo test --benches; }

doc() { RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --document-private-items; }

# The stated Rust version: clippy's lint `incompatible_msrv` holds our own code to it, and no
# dependency may ask for a newer one. If that toolchain is installed, build with it as well.
msrv() {
  local stated
  stated=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
  cargo clippy --all-targets -- -D clippy::incompatible_msrv
  cargo metadata --format-version 1 --locked |
    grep -o '"rust_version":"[0-9.]*"' | cut -d'"' -f4 | sort -uV | tail -n 1 |
    { read -r newest; printf '%s\n%s\n' "$newest" "$stated" | sort -CV ||
      { echo "a dependency needs Rust $newest, Cargo.toml states $stated" >&2; exit 1; }; }
  if command -v rustup >/dev/null && rustup toolchain list | grep -q "^$stated"; then
    cargo "+$stated" check --all-targets
  fi
}

# Another CPU family must build; scripts/test-aarch64.sh also runs it, under an emulator.
aarch64() {
  local target=aarch64-unknown-linux-gnu
  if ! rustup target list --installed | grep -q "$target" && ! timeout 60 rustup target add "$target"; then
    echo "skipped: the Rust target $target is not installed and cannot be fetched"
    return 0
  fi
  cargo clippy --target "$target" --lib --bins -- -D warnings
}

shellcheck() {
  install shellcheck
  command shellcheck scripts/*.sh scripts/slurm/*.sh .ci/run
}

stages=(fmt clippy test one-thread kernels kill-resume slurm dask k8s bench doc msrv aarch64
  shellcheck)
if [ $# -gt 0 ]; then stages=("$@"); fi
rustc --version
for stage in "${stages[@]}"; do
  [ "$(type -t "$stage")" = function ] || { echo "no stage '$stage'" >&2; exit 2; }
  say "$stage"
  begun=$SECONDS
  "$stage"
  echo "-- $stage: $((SECONDS - begun)) s"
done
say "all stages passed in $SECONDS s"
