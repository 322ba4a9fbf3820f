# shellcheck shell=bash
# What the tests of the gate over the simulated device share; sourced after lib.sh.
ten=$HERE/sim/cases10.ini
export ASSAY_DB=$TMP/sim.sqlite # of gates alone

# gate BASE CANDIDATE OPTION...: ten cases, each arm on a device of its own; the
# JSON is in g.json. With one seed, so that it decides the same every time.
gate() {
    local base=$1 candidate=$2
    shift 2
    "$ASSAY" gate "$ten" --base "$ASSAY" --base-device "$base" --cand-device "$candidate" \
        --allow-simulated --seed 1 --json g.json "$@"
}
# calm SEED REST: a device with half a percent between launches.
calm() { echo "sim:seed=$1,launch=0.5,noise=0.5${2-}"; }
# json PATH of the last gate.
json() { sqlite3 -batch :memory: "SELECT json_extract(readfile('g.json'), '$1')"; }
# rows WHERE: how many rows of the last gate, by the members of a row.
rows() {
    sqlite3 -batch :memory: "SELECT count(*) FROM json_each(readfile('g.json'), '$.rows') AS row
        WHERE $1"
}
verdicts() { rows "value ->> 'verdict' = '$1' AND ${2-1}"; }
more_than_none() { [ "$(rows "$1")" -gt 0 ]; }
# interrupted LAUNCH PROGRAM ARGUMENT...: a gate that is interrupted in this launch, which the
# programs that it compares do not end while HALT names it.
interrupted() {
    local ended=0
    export HALT=$1
    shift
    # Emptied here and appended to: what an earlier one said must not be taken for this one's
    # before it has begun to catch signals.
    : >interrupted.err
    "$@" >/dev/null 2>>interrupted.err &
    local gate_pid=$!
    wait_for 60 grep -qF "assay: $HALT" interrupted.err && kill -INT $gate_pid
    wait $gate_pid || ended=$?
    unset HALT
    [ $ended -eq 130 ]
}
