#!/usr/bin/env bash
# What a gate leaves in the database, and what compares stored runs: latest, the history,
# a stored base, thresholds of suites, --fdr; on the simulated device.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/gate/sim.sh
. "$HERE/cli/gate/sim.sh"

# ------------------------------------------------------- thresholds of suites

{ sed '1,/^\[suite\]/!d' "$ten"; echo 'threshold = 30'; sed '1,/^\[suite\]/d' "$ten"; } >wide.ini
check "a suite may say its threshold" exits 0 "$ASSAY" gate ./wide.ini --base "$ASSAY" \
    --base-device "$(calm 1)" --cand-device "$(calm 2 ',slow=*:10')" --allow-simulated --seed 1 --json g.json
check "which is the floor of its cases" gives 10 rows "abs(value ->> 'threshold' - 0.3) < 1e-9"
check "the command line goes before it" exits 1 "$ASSAY" gate ./wide.ini --base "$ASSAY" \
    --base-device "$(calm 1)" --cand-device "$(calm 2 ',slow=*:10')" --allow-simulated --seed 1 --threshold 2
sed 's/threshold = 30/threshold = wide/' wide.ini >broken.ini
check "one that is no number is refused with its line" warns "broken.ini:" "$ASSAY" run ./broken.ini --device sim

# ----------------------------------------------------- latest and history

# session SEED OPTION...: a run of the suite at another time, called base.
session() {
    "$ASSAY" run "$ten" --seed "$1" --device "$(calm 1)" --no-ceilings --label base "${@:2}"
}
check "a run" exits 0 session 1 --db latest.sqlite
check "and a gate after it" exits 0 gate "$(calm 1)" "$(calm 2)" --db latest.sqlite
check "latest is the run still" says '"base"' "$ASSAY" show latest --db latest.sqlite
check "so is what no word names" says '"base"' "$ASSAY" show --db latest.sqlite
check "latest~1 would be a launch of the gate" warns "it holds 1 run" "$ASSAY" show latest~1 --db latest.sqlite
check "which its label names" exits 0 "$ASSAY" show --db latest.sqlite \
    "$(query latest.sqlite "SELECT label FROM run WHERE label LIKE '%round 3, base'")"
check "the history has the run alone" says "1 run" "$ASSAY" history '*_token/host_omp' --db latest.sqlite

# list WORD...: how many entries `assay list runs` has; they are in l.json.
list() { "$ASSAY" list runs --format json "$@" >l.json && sqlite3 :memory: "SELECT json_array_length(readfile('l.json'))"; }
check "the list has one line for all launches of a gate" gives 2 list --db latest.sqlite
check "with what it came to" says "paired, exit 0" "$ASSAY" list runs --db latest.sqlite
check "in JSON, too" gives "12|paired|0" query :memory: "SELECT value ->> 'launches', value ->> 'gate_mode',
    value ->> 'gate_exit' FROM json_each(readfile('l.json')) WHERE value ->> 'gate' IS NOT NULL"
check "each of them on request" gives 13 list --db latest.sqlite --all
"$ASSAY" claims --db latest.sqlite --format json >claims.json
check "claims look at the run, too" gives base query latest.sqlite "SELECT label FROM run WHERE id =
    json_extract(readfile('claims.json'), '$.runs[0].id')"
run "$ASSAY" calibrate "$ten" --device "$(calm 1)" --allow-simulated --rounds 5 --db latest.sqlite
check "a calibration is one line as well" gives 3 list --db latest.sqlite
check "and called so" says ": calibrate" "$ASSAY" list runs --db latest.sqlite
check "a database of launches of gates has no latest" warns "launches of gates are not counted" \
    "$ASSAY" show --db sim.sqlite

# ------------------------------------------------------------- stored mode

export ASSAY_DB=$TMP/stored.sqlite
check "a base of one launch" exits 0 session 1
stored() { "$ASSAY" gate "$ten" --baseline base --allow-simulated --seed 1 --json g.json "$@"; }
check "is no base: 4, also where all got slower" exits 4 stored --device "$(calm 1 ',slow=*:100')"
check "which is said" warns "needs 5" stored --device "$(calm 1)"
rm "$ASSAY_DB"
check "one session of five launches" exits 0 session 1 --launches 5
check "shows unchanged code unchanged" exits 0 stored --device "$(calm 1)"
check "PASS" gives 10 json '$.counts.PASS'
slow=$(calm 1 ',slow=*_token/host_omp:10')
check "shows a change, and is never sure of it" exits 0 stored --device "$slow"
check "SUSPECT" gives 1 verdicts SUSPECT
check "not even when it is allowed to" exits 0 stored --device "$slow" --allow-stored-verdict
check "as one session proves nothing" grep -q "one session proves nothing" g.json
check "a session more of the same build" exits 0 session 2 --launches 5
check "joins the base" exits 0 stored --device "$slow" --allow-stored-verdict
check "but how far sessions differ is not known: SUSPECT" gives 1 verdicts SUSPECT
check "which is said" grep -q "10 changes of history that a fence is made from" g.json
check "another device is no part of it" gives 10 json '$.base.launches'
for seed in 3 4 5 6 7 8 9 10 11; do session $seed >/dev/null 2>&1; done
check "eleven sessions of history make a fence" exits 1 stored --device "$slow" --allow-stored-verdict
check "beyond it a change is REGRESSED" gives 1 verdicts REGRESSED
check "and the report says who let that count" grep -q "allow-stored-verdict lets" g.json
check "without that it is SUSPECT" exits 0 stored --device "$slow"
check "no PASS says that it finds less than the fence" gives 0 rows "value ->> 'verdict' = 'PASS' AND
    (value ->> 'fence' IS NULL OR value ->> 'mde' < value ->> 'fence' OR value ->> 'floor' < value ->> 'fence')"
check "for speed-ups there is none" exits 0 stored --device "$slow" --allow-stored-verdict --metric speedup
check "so that a change is SUSPECT" more_than_none "value ->> 'verdict' = 'SUSPECT'"
for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
    run "$ASSAY" run "$ten" --device "sim:seed=1,launch=8" --seed $seed --no-ceilings
done
check "history that moves as much" exits 0 stored --device "$slow" --allow-stored-verdict
check "every PASS says so" gives 0 rows "value ->> 'verdict' = 'PASS' AND value ->> 'mde' < 0.1"
check "takes the change back" gives 1 verdicts INCONCLUSIVE \
    "value ->> 'variant' = 'host_omp' AND value ->> 'fence' > 0.1 AND value ->> 'reason' LIKE 'runs of this case%'"
check "another suite has no case in common: 4" exits 4 "$ASSAY" gate smoke --filter 'memory/*' \
    --baseline base --allow-simulated --device "$(calm 1)"
check "and says so" warns "no case in common" "$ASSAY" gate smoke --filter 'memory/*' \
    --baseline base --allow-simulated --device "$(calm 1)"

# -------------------------------------------------------- a pinned release

run "$ASSAY" run "$ten" --device "$(calm 1)" --no-ceilings --launches 5 --label release --db pinned.sqlite
# pinned BASE CANDIDATE NAME: per cent by which the case is slower in either than in the release.
pinned() {
    gate "$(calm 1 ",slow=*_token/host_omp:$1")" "$(calm 2 ",slow=*_token/host_omp:$2")" --pinned "$3" --db pinned.sqlite
}
check "a step below the floor is no reason to fail" exits 0 pinned 4 4.5 release
check "all cases PASS" gives 10 json '$.counts.PASS'
check "but with the steps before it it is seen from the release" grep -q "1 of 10 cases look slower" g.json
check "and named" grep -q "the slowest against release: int8_quantize_token/host_omp" g.json
check "without such steps there is nothing" exits 0 pinned 0 0 release
check "and that is said" grep -q "0 of 10 cases look slower" g.json
check "a release that is not there is 4" exits 4 pinned 0 0 nosuch
check "before any launch" fails warns "round 1" pinned 0 0 nosuch
check "a stored gate has its own base" exits 2 "$ASSAY" gate "$ten" --baseline release --pinned release

# ------------------------------------- what the order of things does not change

for seed in 1 2; do
    run "$ASSAY" run "$ten" --device "$(calm $seed)" --seed $seed --launches 5 --no-ceilings --label "side $seed" \
        --db "side$seed.sqlite"
done
run "$ASSAY" merge side1.sqlite side2.sqlite --db ab.sqlite
run "$ASSAY" merge side2.sqlite side1.sqlite --db ba.sqlite
cp ab.sqlite renamed.sqlite
query renamed.sqlite "UPDATE run SET label = CASE label WHEN 'side 1' THEN 'one' ELSE 'two' END"
# The rows of a comparison, without what names the runs.
table() { "$ASSAY" compare "$2" "$3" --db "$1" --format json | sed '/"\(id\|label\)":/d'; }
table ab.sqlite "side 1" "side 2" >ab.json
check "a comparison has its ten rows" gives 10 sqlite3 -batch :memory: \
    "SELECT json_array_length(readfile('ab.json'), '$.rows')"
check "merging in another order changes nothing" gives "$(cat ab.json)" table ba.sqlite "side 1" "side 2"
check "nor does renaming the runs" gives "$(cat ab.json)" table renamed.sqlite one two
cp ab.sqlite shuffled.sqlite
query shuffled.sqlite "CREATE TEMP TABLE rows AS SELECT * FROM result ORDER BY random();
    PRAGMA foreign_keys = OFF; DELETE FROM result; INSERT INTO result SELECT * FROM rows;"
check "nor does the order of rows" gives "$(cat ab.json)" table shuffled.sqlite "side 1" "side 2"

# ---------------------------------------------------- noise that is known

run "$ASSAY" run "$ten" --device "$(calm 1 ',slow=*:4')" --seed 3 --launches 5 --no-ceilings \
    --label slower --db side1.sqlite
check "four per cent are a change" exits 1 "$ASSAY" compare "side 1" slower --db side1.sqlite --threshold 2
# Blocks of so much spread that five launches a side are known to 4.8 % only.
query side1.sqlite "INSERT INTO noise SELECT DISTINCT lower(hex(operation || variant || shape)), comparability,
    'made up', 'calibrate', operation, variant, kind, place, shape, temperature, 'time', 10, time_ns, 0.01,
    0.035, '' FROM cases GROUP BY operation, variant, shape, temperature"
check "not where the device is known to differ from itself by more" exits 0 \
    "$ASSAY" compare "side 1" slower --db side1.sqlite --threshold 2 --format json -o noise.json
check "the floor of each case is its noise" gives "10" sqlite3 -batch :memory: "SELECT count(*) FROM
    json_each(readfile('noise.json'), '$.rows') WHERE abs(value ->> 'floor' - 0.048) < 0.001
    AND value ->> 'floor' = value ->> 'noise'"
check "and the report says so" says "the noise of unchanged code here: 10 blocks" \
    "$ASSAY" compare "side 1" slower --db side1.sqlite
check "whichever database of the two knows it" exits 0 \
    "$ASSAY" compare "side2.sqlite:side 2" side1.sqlite:slower --threshold 2
check "another metric has a noise of its own" fails says "noise of unchanged code" \
    "$ASSAY" compare "side 1" slower --db side1.sqlite --metric speedup
query side1.sqlite "DELETE FROM noise"

# ---------------------------------------------- many tests taken together

run "$ASSAY" run "$ten" --device "$(calm 2 ',slow=*_token/host_omp:10')" --seed 2 --launches 6 --no-ceilings \
    --label slowed --db side1.sqlite
check "--fdr keeps what is there" exits 1 "$ASSAY" compare "side 1" slowed --db side1.sqlite --fdr 5
check "and says what it did" says "10 tests corrected together" "$ASSAY" compare "side 1" slowed \
    --db side1.sqlite --fdr 5
check "a rate that five launches cannot reach is refused" exits 2 \
    "$ASSAY" compare "side 1" slowed --db side1.sqlite --fdr 0.1
check "and it says how many reach it" warns "measure both with --launches 8" \
    "$ASSAY" compare "side 1" slowed --db side1.sqlite --fdr 0.1
check "the gate has no such option" exits 2 "$ASSAY" gate "$ten" --base "$ASSAY" --fdr 5
