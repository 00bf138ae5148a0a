#!/usr/bin/env bash
# Makes what is handed out: for each target an archive, a wheel for pip, and SHA256SUMS. The same commit gives the same
# bytes, in whatever folder it is.
#
# An archive is unpacked into a folder such as ~/.local or /usr/local. It holds bin/nqueens, which is static, and in
# share/ the manual pages, the completions for three shells, and in doc/nqueens the licences and pages, with the scripts
# that need no clone. A wheel holds the program alone.
#
#   scripts/release.sh [FOLDER]    into a new FOLDER, target/release-archives if none is named
#
# It needs both Rust targets, and scripts/python-tools.sh. Each archive is unpacked and tried: the program for this CPU
# counts, and the other one if qemu can run it. pip installs the wheel for this CPU.
. "$(dirname "$0")/common.sh" || exit
[ $# -le 1 ] || usage "there are too many arguments"

targets=(x86_64-unknown-linux-musl aarch64-unknown-linux-musl)
out=$(realpath -m "${1:-target/release-archives}")
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
[ -z "$(git status --porcelain)" ] || fail "there are changes without a commit, and archives name their commit" 2
[ ! -e "$out" ] || fail "$out exists: remove it, or name another folder" 2
missing=()
for target in "${targets[@]}"; do
  has_target "$target" || missing+=("$target")
done
[ ${#missing[@]} = 0 ] || fail "missing: rustup target add ${missing[*]}" 77
tools=$(scripts/python-tools.sh)

# Everything in the archives has the time of the commit.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# native TARGET: whether this machine runs programs for this target.
native() { [ "${1%%-*}" = "$(uname -m)" ]; }

# run TARGET PROGRAM ARGUMENT ...: runs a program for this target, on qemu if need be.
run() {
  local emulator=()
  native "$1" || emulator=("qemu-${1%%-*}")
  "${emulator[@]}" "${@:2}"
}

# The text of links to files that only a clone has stays, without the link.
unlink_missing() {
  python3 - "$1" <<'END'
import pathlib, re, sys

for page in pathlib.Path(sys.argv[1]).rglob("*.md"):
    def keep(link):
        return link[0] if (page.parent / link[2]).exists() or ":" in link[2] else link[1]
    page.write_text(re.sub(r"\[([^][]*)\]\(([^()\s#]*)[^()\s]*\)", keep, page.read_text()))
END
}

static_programs "${targets[@]}"
built=${CARGO_TARGET_DIR:-target}

# Manual pages and completions are the same for all targets, so the program of this machine writes them.
native_program=''
for target in "${targets[@]}"; do
  if native "$target"; then native_program=$built/$target/release/nqueens; fi
done
[ -n "$native_program" ] || fail "no archive is for the CPU of this machine, so nothing can write the manual pages"

for target in "${targets[@]}"; do
  name=nqueens-$version-${target%%-*}-linux
  share=$work/$name/share
  mkdir -p "$work/$name/bin" "$share"/{bash-completion/completions,zsh/site-functions,fish/vendor_completions.d,doc/nqueens}
  cp "$built/$target/release/nqueens" "$work/$name/bin"
  "$native_program" man --out "$share/man/man1"
  "$native_program" completions bash >"$share/bash-completion/completions/nqueens"
  "$native_program" completions zsh >"$share/zsh/site-functions/_nqueens"
  "$native_program" completions fish >"$share/fish/vendor_completions.d/nqueens.fish"
  git -c tar.umask=0022 archive HEAD -- README.md CHANGELOG.md SECURITY.md CITATION.cff LICENSE-MIT LICENSE-APACHE \
    docs benches/record scripts/{check-unit.py,textbook.c,dask,slurm} | tar -C "$share/doc/nqueens" -xf -
  unlink_missing "$share/doc/nqueens"
  tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=ustar \
    -C "$work" -cf - "$name" | gzip -9n >"$work/$name.tar.gz"
  "$tools/maturin" build --quiet --release --locked --target "$target" --out "$work" \
    --compatibility manylinux2014 musllinux_1_1
done
(cd "$work" && sha256sum -- *.tar.gz *.whl >SHA256SUMS)

# What a user installs works.
for target in "${targets[@]}"; do
  name=nqueens-$version-${target%%-*}-linux
  if ! native "$target" && ! type -P "qemu-${target%%-*}" >/dev/null; then
    echo "not tried: $name, because qemu-${target%%-*} is not installed" >&2
    continue
  fi
  mkdir "$work/local"
  tar -C "$work/local" -xzf "$work/$name.tar.gz" --strip-components=1
  total=$(run "$target" "$work/local/bin/nqueens" count 12 --quiet)
  [ "$total" = "$(published 12)" ] || fail "$name counts Q(12) = $total"
  rm -rf "$work/local"
done
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check --no-index "$work"/*_"$(uname -m)".whl
total=$("$work/venv/bin/nqueens" count 12 --quiet)
[ "$total" = "$(published 12)" ] || fail "the program of the wheel counts Q(12) = $total"

mkdir -p "$(dirname "$out")"
mkdir "$out"
cp "$work"/*.tar.gz "$work"/*.whl "$work/SHA256SUMS" "$out"
cat "$out/SHA256SUMS"
