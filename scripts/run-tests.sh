#!/bin/bash
# Run unit test programs and command test scripts, one line each.
#
#   run-tests.sh PROGRAM|SCRIPT.sh ...
#
# Both report in TAP ("ok ...", "not ok ..."): cmocka by itself, the scripts
# through tests/cli/lib.sh. What a test prints is shown only when it fails. A
# test that dies, hangs (TEST_TIMEOUT, seconds) or checks nothing has failed.
# The last line is "N passed, N failed"; exit 1 on any failure or no test.
#
# Environment for the scripts: ASSAY, FAULTS (programs), TMP (a fresh folder).
set -u

limit=${TEST_TIMEOUT:-120}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Tests speak for this tree alone, not for the caller's settings.
unset ASSAY_DB NO_COLOR MAKEFLAGS MFLAGS MAKELEVEL
# Sizes follow from the cache, and a machine of two processors may show one of 480 MiB.
export ASSAY_HOST_CACHE=32Mi
export CMOCKA_MESSAGE_OUTPUT=TAP LC_ALL=C
# Threads wait asleep: where cores are shared, spinning takes the other test's time.
export OMP_WAIT_POLICY=PASSIVE

passed=0
failed=0
for test in "$@"; do
    name=$(basename "$test")
    export TMP="$scratch/$name.tmp"
    log="$scratch/$name.log"
    mkdir "$TMP"
    case $test in
        *.sh) runner=(bash "$test") ;;
        *) runner=("$test") ;;
    esac
    started=$SECONDS
    timeout --kill-after=5 "$limit" "${runner[@]}" </dev/null >"$log" 2>&1
    status=$?

    # cmocka calls a skipped test "not ok N # SKIP": a check that did not run
    # has not passed, so it counts as the failure that it looks like.
    good=$(grep -c '^ok ' "$log")
    bad=$(grep -c '^not ok ' "$log")
    case $status in
        0) why="checked nothing"; [ $((good + bad)) -gt 0 ] || bad=1 ;;
        124 | 137) why="still running after $limit s"; bad=$((bad + 1)) ;;
        *) why="exit status $status"; [ "$bad" -gt 0 ] || bad=1 ;;
    esac
    passed=$((passed + good))
    failed=$((failed + bad))

    if [ "$bad" -eq 0 ]; then
        printf '  ok    %-32s %4d checks  %3d s\n' "$name" "$good" $((SECONDS - started))
        sed -n 's/^# skipped: /          left out: /p' "$log"
    else
        printf '  FAIL  %-32s %4d of %d failed (%s)\n' "$name" "$bad" $((good + bad)) "$why"
        sed 's/^/        | /' "$log"
    fi
    rm -rf "$TMP"
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
