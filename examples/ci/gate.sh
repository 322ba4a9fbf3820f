#!/usr/bin/env bash
# The gate of a pull request, as the workflow beside this file runs it: build base
# and head, measure them in turns, leave the reports in a folder.
#
#   gate.sh BASE_TREE HEAD_TREE REPORTS [make arguments ...]
#
# Environment: SUITE (smoke), DEVICE (host), THRESHOLD (percent; default the gate's
# own), FAIL_ON (none), GATE_FLAGS (more options of assay gate), DB (the database;
# default REPORTS/gate.sqlite, in which a later job finds nothing: keep it, so that
# calibrations, acknowledged changes and the history apply), ACKS (a file of the base
# with the arguments of one `assay ack` per line).
# The exit code is that of assay gate (docs/ci.md); 2 also when a tree does not build.
# INCONCLUSIVE, UNSTABLE and SUSPECT end with 0:
#   FAIL_ON=                                 lenient: only a proven slowdown blocks
#   FAIL_ON=INCONCLUSIVE,UNSTABLE,SUSPECT    strict: what could not be decided blocks, too (3)
set -u
[ $# -ge 3 ] || { echo "usage: gate.sh BASE_TREE HEAD_TREE REPORTS [make arguments]" >&2; exit 2; }
base=$1
head=$2
reports=$3
shift 3

mkdir -p "$reports" || exit 2
rm -f "$reports"/gate.{json,md,xml} || exit 2 # those of an earlier gate are not this one's
for tree in "$base" "$head"; do
    make -C "$tree" -j"$(nproc)" "$@" all >&2 || exit 2
done

db=${DB:-$reports/gate.sqlite}
if [ -s "${ACKS:+$base/$ACKS}" ]; then # each line as a shell would part it
    xargs -L 1 "$base/build/assay" ack --db "$db" <"$base/$ACKS" >&2 || exit 2
fi
options=(--device "${DEVICE:-host}" --db "$db"
    --junit "$reports/gate.xml" --markdown "$reports/gate.md" --json "$reports/gate.json")
[ -n "${THRESHOLD-}" ] && options+=(--threshold "$THRESHOLD")
[ -n "${FAIL_ON-}" ] && options+=(--fail-on "$FAIL_ON")
[ -n "${GITHUB_ACTIONS-}" ] && options+=(--annotations)
# The base's program judges: a pull request must not bring its own judge.
# shellcheck disable=SC2086
"$base/build/assay" gate "${SUITE:-smoke}" --base "$base/build/assay" \
    --cand "$head/build/assay" "${options[@]}" ${GATE_FLAGS-}
code=$?
# The summary of the job is Markdown; a file that is not there is nobody's loss.
[ -n "${GITHUB_STEP_SUMMARY-}" ] && cat "$reports/gate.md" >>"$GITHUB_STEP_SUMMARY" 2>/dev/null
exit $code
