#!/usr/bin/env bash
# assay gate --resume: a gate that was interrupted and gone on with decides what it would have
# decided; nothing is put together that does not belong together.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/gate/sim.sh
. "$HERE/cli/gate/sim.sh"

# An assay that tells what it was launched for, and never ends the launch that HALT names.
cat >arm <<'END'
#!/bin/sh
echo "$*" >>launched
case "$*" in *"${HALT-no such launch}"*) exec sleep 60 ;; esac
exec "$ASSAY" "$@"
END
chmod +x arm
export ASSAY
cp "$ten" ten.ini

# gate DATABASE OPTION...: a case on the floor, so that all 26 rounds are made.
arguments=(gate ./ten.ini --base ./arm --cand ./arm --base-device "$(calm 1)" --threshold 2 --seed 1
    --cand-device "$(calm 2 ',slow=*_token/host_omp:2')" --allow-simulated --json g.json)
gate() {
    local db=$1
    shift
    "$ASSAY" "${arguments[@]}" --db "$db" "$@"
}
# stopped DATABASE LAUNCH OPTION...: a gate that gets as far as to this launch.
stopped() {
    local db=$1 launch=$2 outcome
    shift 2
    interrupted "$launch" "$ASSAY" "${arguments[@]}" --db "$db" "$@"
    outcome=$?
    : >launched
    return $outcome
}
# resumed CODE COPY DATABASE OPTION...: a copy of it is gone on with.
resumed() {
    local code=$1 copy=$2
    cp "$3" "$copy"
    shift 3
    exits "$code" gate "$copy" --resume "$@"
    local outcome=$?
    cp said.err resumed.err
    return $outcome
}
rows() { query :memory: "SELECT value FROM json_each(readfile('$1'), '$.rows')"; }
labels() { query "$1" "SELECT count(*) FROM run WHERE label LIKE '%$2'"; }
# The passes of the proof measure nothing.
launches() { grep -cv -e --fingerprint launched; }

check "a gate on the floor makes all rounds" exits 0 gate whole.sqlite
cp g.json whole.json
check "of two launches, and of three in the second stage" gives 72 query whole.sqlite "SELECT count(*) FROM run"
check "it ended: there is nothing to resume" warns "no gate of 'ten' is unfinished: there is nothing to resume" \
    gate whole.sqlite --resume
check "which is 2" exits 2 gate whole.sqlite --resume
check "no database is none to go on in" warns "none.sqlite: there is no database" gate none.sqlite --resume
check "a stored base is not gone on with" warns "--resume is for --base alone" \
    "$ASSAY" gate tiny --baseline x --resume

# ------------------------------------------------------ the same verdicts

check "a gate is interrupted in its screen" stopped screen.sqlite "round 3, candidate"
check "in its second stage" stopped confirm.sqlite "round 9, candidate"
check "and in its extension" stopped extension.sqlite "round 20, candidate"
for stage in "screen:2:round 3, base" "confirm:8:round 9, base" "extension:19:round 20, base again"; do
    IFS=: read -r name before half <<<"$stage"
    check "$name: it is gone on with" resumed 0 again.sqlite "$name.sqlite"
    check "$name: to the very verdicts of one that was not interrupted" gives "$(rows whole.json)" rows g.json
    check "$name: half a round is measured again as a whole" gives 2 labels again.sqlite "$half"
    check "$name: and nothing else" gives 73 query again.sqlite "SELECT count(*) FROM run"
    check "$name: what was there is said once a stage" grep -q "assay: rounds [0-9]* to [0-9]* were measured before" resumed.err
    check "$name: in the report, too" grep -q "$before of 26 rounds are of before: of the gate" g.json
    check "$name: it has ended" exits 2 gate again.sqlite --resume
done
# What it learnt of noise is stored before its verdicts: a kill between the two leaves it there.
cp whole.sqlite learnt.sqlite
check "a gate is killed before its verdicts are stored" exits 0 sqlite3 learnt.sqlite \
    "PRAGMA foreign_keys = ON; DELETE FROM verdict; DELETE FROM gate"
check "what it had learnt is there" test "$(query learnt.sqlite "SELECT count(*) FROM noise")" -gt 0
check "it is gone on with" resumed 0 again.sqlite learnt.sqlite
check "what it had learnt of itself is no floor of its own" gives "$(rows whole.json)" rows g.json

pairs() {
    "$ASSAY" calibrate --show --format json --db "$1" >pairs.json
    query :memory: "SELECT sum(value ->> 'pairs') FROM json_each(readfile('pairs.json'), '$.devices[0].bands')"
}
check "the half round teaches no noise" gives "$(pairs whole.sqlite)" pairs again.sqlite
check "it is one gate in the list" gives 1 query again.sqlite "SELECT count(DISTINCT substr(label, 6, 8)) FROM run"
check "under one id" gives 1 query again.sqlite "SELECT id GLOB (SELECT substr(label, 6, 8) FROM run) || '*' FROM gate"
cp screen.sqlite twice.sqlite
check "one that is gone on with is interrupted again" stopped twice.sqlite "round 8, candidate" --resume
check "and gone on with again" exits 0 gate twice.sqlite --resume
check "to the same verdicts" gives "$(rows whole.json)" rows g.json

: >launched
check "without the extension it is judged by its first look" resumed 0 first.sqlite extension.sqlite --no-extension
check "from ten rounds" gives "INCONCLUSIVE 10" query :memory: \
    "SELECT (value ->> 'verdict') || ' ' || (value ->> 'launches') FROM json_each(readfile('g.json'), '$.rows')
     WHERE value ->> 'confirmed'"
check "without a launch" gives 0 launches

# ------------------------------------- what does not belong together

# edited SQL: a copy of the gate that was interrupted in its second stage, changed.
edited() {
    cp confirm.sqlite edited.sqlite
    query edited.sqlite "$1"
}
another="CREATE TEMP TABLE another AS SELECT * FROM environment;
    UPDATE another SET id = 'another', git_commit = 'c0ffee00c0ffee00', diff_hash = ''; INSERT INTO environment SELECT * FROM another;
    UPDATE run SET environment_id = 'another'"
for side in base candidate; do
    edited "$another WHERE label LIKE '%$side%'"
    check "another build of the $side is refused" resumed 2 x.sqlite edited.sqlite
    check "and said, with what it was" grep -q "another build of the $side (c0ffee00, and this is " resumed.err
done
edited "$another WHERE label LIKE '%round 8, base'"
check "a round of another build than those before it is measured again" resumed 0 x.sqlite edited.sqlite
check "and all behind it" gives 2 labels x.sqlite "round 8, candidate"
edited "UPDATE launch SET comparability = 'another'"
check "another driver is refused" resumed 2 x.sqlite edited.sqlite
check "and said" grep -qF "is of another device, driver or clock" resumed.err
edited "UPDATE run SET started_at = '2099-01-01T00:00:00.000Z' WHERE label LIKE '%round 8, base again'"
check "launches of two attempts are no round" resumed 0 x.sqlite edited.sqlite
check "so it is measured again" gives 2 labels x.sqlite "round 8, base again"
check "what came before it is not" gives 1 labels x.sqlite "round 7, base again"

: >launched
for option in "--budget 0.01" "--filter *_token/*" "--precision 3" "--cand-device sim:seed=9"; do
    # shellcheck disable=SC2086
    check "$option: what says what is measured is to be repeated" resumed 2 x.sqlite confirm.sqlite $option
    check "$option: and is said" grep -q "was begun with another --[a-z]*: its first launch was 'assay run" resumed.err
done
check "before any launch" gives 0 launches
check "what another threshold makes a suspect is measured anew" resumed 1 x.sqlite confirm.sqlite --threshold 0.5
check "with all rounds of the second stage" gives 2 labels x.sqlite "round 7, base"
check "and none of the screen" gives 1 labels x.sqlite "round 6, base"
echo "# another text" >>ten.ini
check "another text of the suite is refused" resumed 2 x.sqlite confirm.sqlite
check "and said" grep -qF "with another text of 'ten'" resumed.err
