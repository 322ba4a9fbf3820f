#!/usr/bin/env bash
# A run whose system calls fail, one after the other, and a run and its worker that are killed at
# them: whatever was told is stored, what is stored is whole, and --resume completes it.
#
# MOMENTS is how many of each (default 25, spread over all calls); `make campaign` takes more.
. "$(dirname "$0")/lib.sh"

: "${MOMENTS:=25}"
if grep -qa __asan_init "$ASSAY"; then
    skipped "a library cannot be preloaded before the sanitiser's"
    check "the program is there" test -x "$ASSAY"
    exit
fi
${CC:-cc} -shared -fPIC -O1 -D_GNU_SOURCE -o calls.so "$HERE/preload/calls.c" -ldl || exit 1
suite=$HERE/sim/cases10.ini
all=10

# at ROLE MOMENT ERRNO COMMAND...: ERRNO 0 for a kill.
at() {
    local role=$1 moment=$2 error=$3
    shift 3
    [ "$error" -eq 0 ] || export MOMENT_ERRNO=$error
    run timeout 20 env LD_PRELOAD="$PWD/calls.so" MOMENT_IN="$role" MOMENT="$moment" "$@"
    unset MOMENT_ERRNO
} 2>/dev/null
fresh() { rm -f m.sqlite m.sqlite-wal m.sqlite-shm m.sqlite-journal; }

told() { awk '/^\[/ { for (i = 2; i <= NF; i++) if ($i == "ok,") n += $(i - 1) } END { print n + 0 }' said.err; }
stored() {
    local count=0
    [ -s m.sqlite ] && count=$(query m.sqlite "SELECT count(*) FROM result WHERE status = 'ok'" 2>/dev/null)
    echo "${count:-0}"
}
resumes() {
    [ "$(stored)" -lt $all ] || return 0
    [ -s m.sqlite ] && [ "$(query m.sqlite "SELECT count(*) FROM run WHERE status <> 'complete'" 2>/dev/null)" = 1 ] || return 0
    resumed=$((resumed + 1))
    "$ASSAY" run "$suite" --device sim:seed=1 --no-ceilings --db m.sqlite --resume >/dev/null 2>resume.err &&
        [ "$(stored)" -eq $all ]
}

# calls_of ROLE: how many there are in a run that goes well.
calls_of() {
    fresh
    MOMENT_COUNT=$PWD/count at "$1" 0 0 "$ASSAY" run "$suite" --device sim:seed=1 --no-ceilings --seed 3 --db m.sqlite
    cat count
}

# campaign ROLE ERRNO NAME: a run for each moment; a line of what is not as it should be.
campaign() {
    local role=$1 error=$2 count moment bad=0 i
    count=$(calls_of "$role")
    resumed=0
    for ((i = 0; i < MOMENTS; i++)); do
        moment=$((1 + i * count / MOMENTS))
        fresh
        at "$role" $moment "$error" "$ASSAY" run "$suite" --device sim:seed=1 --no-ceilings --seed 3 --db m.sqlite
        case $code in
            124) code=late ;;
            0 | 2 | 5) ;;
            137) [ "$error" -eq 0 ] && [ "$role" = parent ] || code=odd ;;
            *) code=odd ;;
        esac
        local why=
        [ "$code" != odd ] || why="ended with another code"
        [ "$code" != late ] || why="still running after 20 s"
        is_whole m.sqlite || why="not whole"
        [ "$(told)" -le "$(stored)" ] || why="told $(told), stored $(stored)"
        [ -n "$why" ] || resumes || why="not resumed: $(cat resume.err)"
        [ -z "$why" ] || { echo "# $role, call $moment of $count, errno $error: $why: $(tail -n 1 said.err)"; bad=$((bad + 1)); }
    done
    echo "# $role, errno $error: $MOMENTS of $count calls, $resumed resumed, $bad bad"
    [ $bad -eq 0 ]
}

check "a run that is killed at a call of its own" campaign parent 0
check "a run whose worker is" campaign worker 0
check "a call fails for want of space" campaign parent 28
check "a call fails with an error of the disk" campaign parent 5
check "a call fails for want of memory" campaign parent 12
check "a call of the worker fails" campaign worker 12
