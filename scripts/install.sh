#!/usr/bin/env bash
# Installs Debian packages if NQUEENS_INSTALL=yes allows it, which `check.sh --install` sets for everything it runs.
# Without it, this names them in one line and exits with code 77.
#
#   scripts/install.sh PACKAGE ...
. "$(dirname "$0")/common.sh" || exit
[ $# -gt 0 ] || usage "which package?"
may_install || fail "missing: the Debian package(s) $*; install them, or allow it: scripts/check.sh --install" 77
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" >/dev/null
