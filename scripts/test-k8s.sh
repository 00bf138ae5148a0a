#!/usr/bin/env bash
# Checks the example manifests in scripts/k8s against the published schema of Kubernetes, and that the program takes
# their arguments. Needs no cluster.
#
#   scripts/test-k8s.sh
. "$(dirname "$0")/common.sh" || exit
[ $# = 0 ] || usage "it takes no arguments"

tools=$(scripts/python-tools.sh) # its exit code ends this, too: 77 if it is skipped
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$tools/kubernetes-validate" --strict scripts/k8s/*.yaml

# The program must get the number of shards that Kubernetes makes.
completions=$(sed -n 's/^  completions: //p' scripts/k8s/job.yaml)
for file in scripts/k8s/*.yaml; do
  grep -q -- "--shards=$completions\b" "$file" || fail "$file: --shards is not $completions"
done

# The program finds the shard's number where Kubernetes puts it.
build
arguments=$(sed -n '/args:/,/env:/s/^ *- "\?\([^":]*\)"\?$/\1/p' scripts/k8s/job.yaml | sed "s:/journals:$folder:")
# shellcheck disable=SC2086 # one word an argument
JOB_COMPLETION_INDEX=63 NQUEENS_THREADS=2 "$program" ${arguments/22/16} >"$folder/output"
grep "shard  *63 of 0-$((completions - 1)):" "$folder/output" || fail "$(cat "$folder/output")"
