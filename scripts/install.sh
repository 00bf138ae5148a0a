#!/usr/bin/env bash
# Installs Debian packages, if that was allowed: system packages are nobody's business but the
# user's.
#
#   scripts/install.sh PACKAGE ...
#
# NQUEENS_INSTALL=yes allows it; `check.sh --install` sets it for everything that it runs. Without it
# this says in one line what is missing, and ends with exit code 77.
set -euo pipefail

if [ "${NQUEENS_INSTALL:-}" != yes ]; then
  echo "missing: the Debian package(s) $*; install them, or allow it: scripts/check.sh --install" >&2
  exit 77
fi
if [ "$(id -u)" != 0 ]; then
  echo "missing: the Debian package(s) $*; only root may install them" >&2
  exit 1
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" >/dev/null
