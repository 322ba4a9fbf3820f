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
# Half as many again as there are processors run at a time (TEST_JOBS): many wait for a device or for
# each other's processes, the longest first (tests/longest.txt). A line is printed when a test ends.
#
# Environment for the scripts: ASSAY, FAULTS (programs), TMP (a fresh folder).
set -u

limit=${TEST_TIMEOUT:-240}
# What tests write is in memory, where a gigabyte is free and programs may run: waiting for a disk
# is a sixth of the time of a test with databases.
folder=/dev/shm
if [[ $(findmnt -n -o OPTIONS $folder) == *noexec* ]] ||
    ! [ "$(df --output=avail $folder 2>/dev/null | tail -n 1)" -gt 1000000 ] 2>/dev/null; then
    folder=${TMPDIR:-/tmp}
fi
scratch=$(mktemp -d -p "$folder")
export TMPDIR=$scratch/temporary
mkdir "$TMPDIR"
declare -A running=() begun=() # by process
# A process group for each test: what a shell without job control starts in the background ignores
# SIGINT, and so would all that a test starts.
set -m
stop() {
    local process
    for process in "${!running[@]}"; do kill -TERM -- "-$process"; done
    rm -rf "$scratch"
}
trap stop EXIT
trap 'exit 130' INT TERM
# Tests speak for this tree alone, not for the caller's settings.
unset ASSAY_DB ASSAY_LOAD_TIMEOUT_S NO_COLOR MAKEFLAGS MFLAGS MAKELEVEL
# Nor are they processes of a job, whoever started them.
# shellcheck disable=SC2046 # names
unset $(compgen -e | grep -E '^(SLURM|OMPI|PMI|PMIX|PBS|MPI|PALS)_|^JOB_COMPLETION_INDEX$|^ASSAY_(SHARDS|JOB)$')
export XDG_DATA_HOME=$scratch/none
# Sizes follow from the cache, and so does what a cold case reads before each of its samples; a machine
# of two processors may show one of 480 MiB.
export ASSAY_HOST_CACHE=8Mi
export CMOCKA_MESSAGE_OUTPUT=TAP LC_ALL=C TERM=xterm
# Threads wait asleep: where cores are shared, spinning takes the other test's time.
export OMP_WAIT_POLICY=PASSIVE

passed=0
failed=0

# begin TEST: in the background, its output in a log.
begin() {
    local name runner
    name=$(basename "$1")
    mkdir "$scratch/$name.tmp"
    case $1 in
        *.sh) runner=(bash "$1") ;;
        *) runner=("$1") ;;
    esac
    TMP="$scratch/$name.tmp" timeout --kill-after=5 "$limit" "${runner[@]}" \
        </dev/null >"$scratch/$name.log" 2>&1 &
    running[$!]=$1
    begun[$!]=$SECONDS
}

# tell TEST STATUS SECONDS: its line, and what it said where it failed.
tell() {
    local name log good bad why status=$2
    name=$(basename "$1")
    log="$scratch/$name.log"
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
        printf '  ok    %-32s %4d checks  %3d s\n' "$name" "$good" "$3"
        sed -n 's/^# skipped: /          left out: /p' "$log"
    else
        printf '  FAIL  %-32s %4d of %d failed (%s)\n' "$name" "$bad" $((good + bad)) "$why"
        # What failed comes first: a record that is cut off keeps its top.
        { grep -v '^ok ' "$log"; grep '^ok ' "$log"; } | sed 's/^/        | /'
    fi
    rm -rf "$scratch/$name.tmp"
}

# end_one: wait for one of those that run.
end_one() {
    local process status
    wait -n -p process "${!running[@]}"
    status=$?
    tell "${running[$process]}" "$status" $((SECONDS - begun[$process]))
    unset "running[$process]" "begun[$process]"
}

# longest_first TEST...: those of the list in its order, then the others as they came.
declare -A place=()
while read -r name; do
    [[ $name == \#* ]] || place[$name]=${#place[@]}
done <"$(dirname "$0")/../tests/longest.txt"
longest_first() {
    local test
    for test; do printf '%d %s\n' "${place[${test##*/}]-${#place[@]}}" "$test"; done | sort -s -n -k1,1 | cut -d ' ' -f 2-
}

# run_by JOBS TEST...: begin them, so many at a time with those that still run.
run_by() {
    local at_once=$1 test
    shift
    [ $# -gt 0 ] || return
    mapfile -t tests < <(longest_first "$@")
    for test in "${tests[@]}"; do
        while [ "${#running[@]}" -ge "$at_once" ]; do end_one; done
        begin "$test"
    done
}

# Tests that hold processor time against a limit come last, and each has a processor to itself.
timed=()
others=()
for test; do
    if [[ $test == *.sh ]] && grep -q takes_less_than "$test"; then
        timed+=("$test")
    else
        others+=("$test")
    fi
done
processors=$(nproc)
jobs=${TEST_JOBS:-$(((3 * processors + 1) / 2))}
run_by "$jobs" "${others[@]}"
run_by "$((jobs < processors ? jobs : processors))" "${timed[@]}"
while [ "${#running[@]}" -gt 0 ]; do end_one; done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
