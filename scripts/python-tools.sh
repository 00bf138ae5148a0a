#!/usr/bin/env bash
# Makes a Python environment with the tools of the tests of Dask and Kubernetes in target/, once,
# and prints its folder of programs.
#
#   scripts/python-tools.sh
#
# Exit code 77: it cannot be made, and we are not root, who could install what is missing; a test
# may then be skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

# A new version here makes a new environment.
packages=(distributed==2026.8.0 kubernetes-validate==1.37.0 mypy==2.4.1 ruff==0.17.5)
folder=$PWD/target/python-tools

make() {
  rm -rf "$folder"
  if ! python3 -c 'import ensurepip' 2>/dev/null; then
    [ "$(id -u)" = 0 ] || return 1
    apt-get update -qq && apt-get install -qq -y --no-install-recommends python3-venv
  fi
  python3 -m venv "$folder" &&
    timeout 300 "$folder/bin/pip" install --quiet --disable-pip-version-check "${packages[@]}" &&
    echo "${packages[*]}" >"$folder/complete"
}

if [ "$(cat "$folder/complete" 2>/dev/null)" != "${packages[*]}" ] && ! make >&2; then
  echo "the Python tools cannot be installed: ${packages[*]}" >&2
  [ "$(id -u)" = 0 ] && exit 1
  exit 77
fi
echo "$folder/bin"
