#!/usr/bin/env bash
# Checks the manifests in scripts/k8s against the published schema of Kubernetes, and that the check
# finds a misspelt field. Needs no cluster.
#
#   scripts/test-k8s.sh
set -euo pipefail
cd "$(dirname "$0")/.."

tools=$(scripts/python-tools.sh) || { [ $? = 77 ] && echo "skipped: the manifests" && exit 77; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

valid() { "$tools/kubernetes-validate" --strict "$@"; }

valid scripts/k8s/*.yaml

# A misspelt field must be found at every level: the right name, then the wrong one.
while read -r right wrong; do
  sed "s/\b$right:/$wrong:/" scripts/k8s/job.yaml >"$folder/job.yaml"
  if cmp --silent scripts/k8s/job.yaml "$folder/job.yaml"; then
    echo "job.yaml has no field $right" >&2
    exit 1
  fi
  if valid "$folder/job.yaml" >"$folder/output" 2>&1; then
    echo "the misspelt field $wrong was not found" >&2
    exit 1
  fi
  grep -q "$wrong" "$folder/output" || { cat "$folder/output" >&2; exit 1; }
  echo "found: $wrong instead of $right"
done <<'END'
backoffLimitPerIndex backofLimitPerIndex
accessModes accesModes
resourceFieldRef resourceFieldref
onPodConditions onPodCondition
onExitCodes onExitCode
END

# What a schema cannot check: the exit codes that are retried without limit, and those that end the Job.
"$tools/python" - scripts/k8s/job.yaml <<'END'
import sys, yaml
job = next(part for part in yaml.safe_load_all(open(sys.argv[1])) if part["kind"] == "Job")
rules = job["spec"]["podFailurePolicy"]["rules"]
actions = {code: rule["action"] for rule in rules for code in rule.get("onExitCodes", {"values": []})["values"]}
if actions != {4: "Ignore", 2: "FailJob"}:
    sys.exit(f"job.yaml: what exit codes lead to: {actions}")
print("exit code 4 is retried, 2 ends the Job, and others count towards the limit")
END

# The program must get the number of shards that Kubernetes makes.
completions=$(sed -n 's/^  completions: //p' scripts/k8s/job.yaml)
for file in scripts/k8s/*.yaml; do
  grep -q -- "--shards=$completions\b" "$file" || { echo "$file: --shards is not $completions" >&2; exit 1; }
done

# The program must accept these arguments, and find the shard's number where Kubernetes puts it.
cargo build --release --quiet
arguments=$(sed -n '/args:/,/env:/s/^ *- "\?\([^":]*\)"\?$/\1/p' scripts/k8s/job.yaml | sed "s:/journals:$folder:")
for _ in first again; do
  # shellcheck disable=SC2086 # one word an argument
  JOB_COMPLETION_INDEX=63 NQUEENS_THREADS=2 target/release/nqueens ${arguments/22/16} >"$folder/output"
  grep -q "shard  *63 (of 0 to $((completions - 1))):" "$folder/output"
done
grep -q "nothing was left to count" "$folder/output"
echo "the program takes the arguments: ${arguments//$'\n'/ }"
