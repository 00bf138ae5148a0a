# shellcheck shell=bash
# What every script reads first, in the root of the repository: --help prints the head of the script and does
# nothing else; `usage MESSAGE` ends it, for arguments that are wrong.
case " $* " in
  *' --help '* | *' -h '*)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "scripts/${0##*/}"
    exit
    ;;
esac
usage() {
  echo "${0##*/}: $*; --help explains" >&2
  exit 2
}
