#!/usr/bin/env bash
# What one visit to a machine with a GPU should bring back, from programs that
# were built elsewhere: session.sh PROGRAMS_FOLDER OUT_FOLDER [STEP ...]
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/gpu/env.sh
programs=$(cd "$1" && pwd) out=$(cd "$2" && pwd)
shift 2
export ASSAY=$programs/assay FAULTS=$programs/assay-faults

step_faults() { TMP=$(mktemp -d) bash tests/gpu/faults.sh; }
step_sanitize() { TMP=$(mktemp -d) bash tests/gpu/sanitize.sh; }
# The unit tests that need a GPU: test_*_gpu beside the programs, and cmocka where they find it.
step_units() {
    for test in "$programs"/test_*_gpu; do
        "$test" 2>&1 | tail -n 1 | sed "s/^/$(basename "$test"): /"
    done
}
# The same under compute-sanitizer, side by side: the checking is the host's work.
step_sanitize_units() {
    for test in "$programs"/test_*_gpu; do
        for tool in memcheck racecheck; do
            {
                said=$(compute-sanitizer --tool "$tool" --error-exitcode 99 "$test" 2>&1)
                code=$?
                echo "$(basename "$test"), $tool: exit $code, $(tail -n 1 <<<"$said")"
            } &
        done
    done
    wait
}
# Suites as other cards would run them; assay-ptx: built with ARCH="80 ptx".
step_cards() {
    # shellcheck disable=SC2086 # a list of words
    ASSAY_PTX=$programs/assay-ptx TMP=$(mktemp -d) bash tests/gpu/cards.sh ${SUITES:-}
}
# Functions of Python; the wheel is beside the programs.
step_python() { WHEEL=$programs TMP=$(mktemp -d) bash tests/gpu/python.sh; }
# SUITES, or the smallest choice, one after the other into one database.
step_suites() {
    for suite in ${SUITES:-ceilings int8 core}; do
        /usr/bin/env time -f "$suite took %e s" \
            "$ASSAY" run "$suite" --label "$suite" --db "$out/assay.sqlite" >"$out/$suite.txt" 2>"$out/$suite.err"
        tail -n 1 "$out/$suite.err"
    done
}
# Six launches: does each median repeat?
step_repeat() {
    "$ASSAY" run copies --launches 6 --no-ceilings --label repeat --db "$out/assay.sqlite" 2>/dev/null
}
for step in "$@"; do
    echo "== $step"
    "step_$step"
done
