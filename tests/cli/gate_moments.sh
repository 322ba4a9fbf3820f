#!/usr/bin/env bash
# A gate that is killed at random moments, or one of its launches, or their worker: the database is
# whole, no process is left, and --resume comes to the very rows of a gate that nobody killed.
#
# KILLS is how many of each (default 3); `make campaign` takes more. SEED chooses the moments.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/gate/sim.sh
. "$HERE/cli/gate/sim.sh"

: "${KILLS:=3}" "${SEED:=$RANDOM}"
RANDOM=$SEED
arguments=(gate "$ten" --base "$ASSAY" --base-device "$(calm 1)" --allow-simulated --seed 1 --json g.json
    --cand-device "$(calm 2 ',slow=int8_quantize/host_omp:9')" --db m.sqlite)
decided() { query :memory: "SELECT value FROM json_each(readfile('g.json'), '$.rows')"; }
# differs: what of the rows of the gate is other than that of the gate that nobody killed.
differs() { decided | diff whole - | cut -c 1-600 | sed 's/^/# /'; }
ms() { date +%s%3N; }

begin=$(ms)
check "a gate that nobody kills finds what is slower" exits 1 "$ASSAY" "${arguments[@]}"
took=$(($(ms) - begin))
decided >whole
check "and says so of its cases" grep -q REGRESSED whole

# below PID: all processes below it; with a word, those that have it among their arguments.
below() {
    local each
    for each in $(cat /proc/"$1"/task/*/children); do
        [ -z "${2-}" ] || tr '\0' '\n' <"/proc/$each/cmdline" | grep -qx "$2" && echo "$each"
        below "$each" "${2-}"
    done
} 2>/dev/null
gone() { local each; for each; do is_gone "$each" || return 1; done; }

# resumes: the gate is gone on with to the end; one that had not begun, or had ended, is not.
resumes() {
    run "$ASSAY" "${arguments[@]}" --resume
    [ "$code" -ne 2 ] || ! grep -q "nothing to resume\|there is no database" said.err || return 0
    resumed=$((resumed + 1))
    [ "$code" -eq 1 ] && decided | cmp -s - whole
}

# killed WORD: a gate in which the process of this word is killed; $why says what is wrong then.
killed() {
    local pid left targets
    rm -f m.sqlite*
    "$ASSAY" "${arguments[@]}" >/dev/null 2>&1 &
    pid=$!
    sleep "$(awk -v ms=$((RANDOM % took)) 'BEGIN { print ms / 1000 }')"
    mapfile -t left < <(below $pid)
    targets=$pid
    [ "$1" = gate ] || targets=$(below $pid "$1" | head -n 1)
    # shellcheck disable=SC2086 # one or none
    [ -n "$targets" ] && kill -KILL $targets 2>/dev/null && hits=$((hits + 1))
    wait $pid 2>/dev/null
    why=
    wait_for 20 gone "${left[@]}" || why="processes are left"
    is_whole m.sqlite || why="the database is not whole"
    # A worker that dies is a case that failed: the gate stores that and goes on.
    [ -n "$why" ] || [ "$1" = worker ] || resumes ||
        why="resumed, it ends with $code, or has other rows: $(tail -n 1 said.err)"
}

campaign() {
    local bad=0 hits=0 resumed=0 i why
    for ((i = 0; i < KILLS; i++)); do
        killed "$1"
        [ -z "$why" ] || { echo "# $1, kill $i of SEED=$SEED: $why"; differs; bad=$((bad + 1)); }
    done
    echo "# $1: $KILLS moments in $took ms, $hits killed, $resumed resumed, $bad bad (SEED=$SEED)"
    [ $bad -eq 0 ]
}

check "the gate is killed" campaign gate
check "a launch of it is" campaign run
check "the worker of a launch is" campaign worker
