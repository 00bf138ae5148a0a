#!/usr/bin/env bash
# Makes what is handed out: for each target an archive with a static program, its manual pages, completions for three
# shells, the licences and all pages with the scripts that they name, and SHA256SUMS. The same commit gives the same
# bytes, in whatever folder it is.
#
#   scripts/release.sh [FOLDER]    into a new FOLDER, target/release-archives if none is named
#
# It needs `rustup target add` for both targets. Each archive is unpacked and tried: the program for this CPU counts, and
# the other one if qemu can run it.
source "$(dirname "$0")/common.sh"

targets=(x86_64-unknown-linux-musl aarch64-unknown-linux-musl)
out=$(realpath -m "${1:-target/release-archives}")
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
[ -z "$(git status --porcelain)" ] || fail "there are changes without a commit, and archives name their commit" 2
[ ! -e "$out" ] || fail "$out exists: remove it, or name another folder" 2

# Everything in the archives has the time of the commit.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022

# The program must not depend on the folders in which the repository and cargo are. Within the repository rustc gets
# relative paths, and for the folder of cargo, where the dependencies are, it gets another name.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cargo_home=${CARGO_HOME:-$HOME/.cargo}
export RUSTFLAGS="--remap-path-prefix=$cargo_home=/cargo -C target-feature=+crt-static"
# The linker of the toolchain links both targets, so no C compiler is needed.
export CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_LINKER=rust-lld CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER=rust-lld

# native TARGET: whether this machine runs programs for this target.
native() { [ "${1%%-*}" = "$(uname -m)" ]; }

# run TARGET PROGRAM ARGUMENT ...: runs a program for this target, on qemu if need be.
run() {
  local emulator=()
  native "$1" || emulator=("qemu-${1%%-*}")
  "${emulator[@]}" "${@:2}"
}

cargo build --release --locked "${targets[@]/#/--target=}"
built=${CARGO_TARGET_DIR:-target}

# Manual pages and completions are the same for all targets, so the program of this machine writes them.
native_program=''
for target in "${targets[@]}"; do
  if native "$target"; then native_program=$built/$target/release/nqueens; fi
done
[ -n "$native_program" ] || fail "no archive is for the CPU of this machine, so nothing can write the manual pages"

for target in "${targets[@]}"; do
  name=nqueens-$version-${target%%-*}-linux
  folder=$work/$name
  mkdir -p "$folder/completions"
  cp "$built/$target/release/nqueens" "$folder"
  git -c tar.umask=0022 archive HEAD -- '*.md' LICENSE-MIT LICENSE-APACHE CITATION.cff docs scripts benches/record |
    tar -C "$folder" -xf -
  "$native_program" man --out "$folder/man/man1"
  "$native_program" completions bash >"$folder/completions/nqueens.bash"
  "$native_program" completions zsh >"$folder/completions/_nqueens"
  "$native_program" completions fish >"$folder/completions/nqueens.fish"
  tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=ustar \
    -C "$work" -cf - "$name" | gzip -9n >"$work/$name.tar.gz"
done
(cd "$work" && sha256sum -- *.tar.gz >SHA256SUMS)

# What a user unpacks works.
for target in "${targets[@]}"; do
  name=nqueens-$version-${target%%-*}-linux
  if ! native "$target" && ! type -P "qemu-${target%%-*}" >/dev/null; then
    echo "not tried: $name, because qemu-${target%%-*} is not installed" >&2
    continue
  fi
  mkdir "$work/unpacked"
  tar -C "$work/unpacked" -xzf "$work/$name.tar.gz"
  total=$(run "$target" "$work/unpacked/$name/nqueens" count 12 --quiet)
  [ "$total" = "$(published 12)" ] || fail "$name counts Q(12) = $total"
  rm -rf "$work/unpacked"
done

mkdir -p "$(dirname "$out")"
mkdir "$out"
cp "$work"/*.tar.gz "$work/SHA256SUMS" "$out"
cat "$out/SHA256SUMS"
