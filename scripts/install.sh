#!/usr/bin/env bash
# Installs Debian packages if the user allows it.
#
#   scripts/install.sh PACKAGE ...
#
# NQUEENS_INSTALL=yes allows it, and `check.sh --install` sets that for everything it runs. Without it,
# this names the missing packages in one line and exits with code 77.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || usage "which package?"

if ! may_install; then
  echo "missing: the Debian package(s) $*; install them, or allow it: scripts/check.sh --install" >&2
  exit 77
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" >/dev/null
