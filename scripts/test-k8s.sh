#!/usr/bin/env bash
# Checks the example manifests in scripts/k8s against the published schema of Kubernetes, and that the check
# finds a misspelt field. Needs no cluster.
#
#   scripts/test-k8s.sh
. "$(dirname "$0")/common.sh" || exit
[ $# = 0 ] || usage "it takes no arguments"

tools=$(scripts/python-tools.sh) # its exit code ends this, too: 77 if it is skipped
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$tools/kubernetes-validate" --strict scripts/k8s/*.yaml

# A misspelt field must be found.
sed 's/onExitCodes:/onExitCode:/' scripts/k8s/job.yaml >"$folder/job.yaml"
if "$tools/kubernetes-validate" --strict "$folder/job.yaml" >"$folder/output" 2>&1; then fail "onExitCode was not found"; fi
grep "'onExitCode' was unexpected" "$folder/output" || fail "$(cat "$folder/output")"

# What a schema cannot check: the exit codes that are retried without limit, and those that end the Job.
"$tools/python" - scripts/k8s/job.yaml <<'END'
import sys, yaml
job = next(part for part in yaml.safe_load_all(open(sys.argv[1])) if part["kind"] == "Job")
rules = job["spec"]["podFailurePolicy"]["rules"]
actions = {code: rule["action"] for rule in rules for code in rule.get("onExitCodes", {"values": []})["values"]}
if actions != {4: "Ignore", 2: "FailJob", 126: "FailJob", 127: "FailJob"}:
    sys.exit(f"job.yaml: what exit codes lead to: {actions}")
print("exit code 4 is retried, 2, 126 and 127 end the Job, and others count towards the limit")
END

# The program must get the number of shards that Kubernetes makes.
completions=$(sed -n 's/^  completions: //p' scripts/k8s/job.yaml)
for file in scripts/k8s/*.yaml; do
  grep -q -- "--shards=$completions\b" "$file" || fail "$file: --shards is not $completions"
done

# The program must accept these arguments, and find the shard's number where Kubernetes puts it.
build
arguments=$(sed -n '/args:/,/env:/s/^ *- "\?\([^":]*\)"\?$/\1/p' scripts/k8s/job.yaml | sed "s:/journals:$folder:")
for _ in first again; do
  # shellcheck disable=SC2086 # one word an argument
  JOB_COMPLETION_INDEX=63 NQUEENS_THREADS=2 "$program" ${arguments/22/16} >"$folder/output"
  grep -q "shard  *63 (of 0 to $((completions - 1))):" "$folder/output"
done
grep -q "all units were done before" "$folder/output"
echo "the program takes the arguments: ${arguments//$'\n'/ }"
