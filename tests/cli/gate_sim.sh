#!/usr/bin/env bash
# assay gate over the simulated device: real programs, real launches, known truth.
. "$(dirname "$0")/lib.sh"

ten=$HERE/sim/cases10.ini
two_hundred=$HERE/sim/cases200.ini
export ASSAY_DB=$TMP/sim.sqlite

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
within() { # SECONDS COMMAND...
    local end=$((SECONDS + $1))
    shift
    "$@" && [ $SECONDS -lt $end ]
}

# ------------------------------------------------------- the issue's example

check "a slowed family ends with 1" exits 1 "$ASSAY" gate smoke --base "$ASSAY" \
    --base-device sim:seed=1,launch=0.5 --cand-device 'sim:seed=2,launch=0.5,slow=int8_quantize/*:10' \
    --allow-simulated
check "a simulated device is refused without being allowed" exits 2 "$ASSAY" gate smoke \
    --base "$ASSAY" --device sim
check "and the message says what to do" warns "--allow-simulated" "$ASSAY" gate smoke \
    --base "$ASSAY" --device sim
check "so it is where only one arm is" exits 2 "$ASSAY" gate smoke --base "$ASSAY" \
    --base-device sim --cand-device host
check "a stored base that is simulated is, too" exits 2 "$ASSAY" gate smoke --baseline x --device sim

# ----------------------------------------------------------------- verdicts

check "unchanged code is 0" exits 0 gate "$(calm 1)" "$(calm 2)"
check "all of it PASS" gives 10 json '$.counts.PASS'
check "every PASS says what it would have found" gives 10 rows "value ->> 'mde' > 0"
check "it says that nothing was measured" gives 1 rows \
    "1 AND key = 0 AND json_extract(readfile('g.json'), '$.base.simulated')"
check "a slowed case is 1" exits 1 gate "$(calm 1)" "$(calm 2 ',slow=*_token/host_omp:10')"
check "it is REGRESSED, alone" gives 1 verdicts REGRESSED "value ->> 'variant' = 'host_omp'"
check "by about as much" gives 1 verdicts REGRESSED "abs(value ->> 'ratio' - 1.1) < 0.01"
check "on rounds of its own" gives 1 rows "value ->> 'confirmed' AND value ->> 'launches' >= 10"
check "the others PASS" gives 9 json '$.counts.PASS'
check "its p is below what Holm asks of one suspect" gives 1 rows "value ->> 'p_slower' < 0.04"
cp g.json slowed.json
check "swapped arms are 0" exits 0 gate "$(calm 1 ',slow=*_token/host_omp:10')" "$(calm 2)"
check "and IMPROVED" gives 1 verdicts IMPROVED "value ->> 'variant' = 'host_omp'"
check "a change on the floor is neither" exits 0 gate "$(calm 1)" "$(calm 2 ',slow=*_token/host_omp:2')" \
    --threshold 2
check "but INCONCLUSIVE" gives 1 verdicts INCONCLUSIVE "value ->> 'variant' = 'host_omp'"
check "3 on request" exits 3 gate "$(calm 1)" "$(calm 2 ',slow=*_token/host_omp:2')" --threshold 2 \
    --fail-on INCONCLUSIVE --no-extension
check "a crash is 5" exits 5 gate "$(calm 1)" "$(calm 2 ',crash=*_token/host_omp')"
check "and ERROR, with its signal" gives 1 verdicts ERROR "value ->> 'reason' LIKE 'crashed: %signal 6%'"
check "a hang is 5" exits 5 gate "$(calm 1)" "$(calm 2 ',hang=*_token/host_omp')" \
    --filter '*_token/host_*'
check "and ERROR, timeout" gives 1 verdicts ERROR "value ->> 'reason' LIKE 'timeout%'"
check "a wrong answer is 5, however fast" exits 5 gate "$(calm 1)" "$(calm 2 ',wrong=*_token/host_omp')"
check "and ERROR, wrong" gives 1 verdicts ERROR "value ->> 'reason' LIKE 'wrong: %expected%'"
check "a missing case is 5" exits 5 gate "$(calm 1)" "$(calm 2 ',missing=*_token/host_omp')"
check "and MISSING" gives 1 verdicts MISSING
check "one that the base lacks is 0" exits 0 gate "$(calm 1 ',missing=*_token/host_omp')" "$(calm 2)"
check "and NEW" gives 1 verdicts NEW
check "one that the base crashed in is no error of the candidate" exits 0 \
    gate "$(calm 1 ',crash=*_token/host_omp')" "$(calm 2)"
check "but INCOMPARABLE" gives 1 verdicts INCOMPARABLE "value ->> 'reason' LIKE '%crashed%'"
check "nothing measured on both sides is 4" exits 4 gate 'sim:missing=*' 'sim:missing=*'
check "nothing measured by the candidate is 4" exits 4 gate "$(calm 1)" 'sim:missing=*'
check "a device that throttles throughout proves nothing: 4 or UNSTABLE" exits 3 \
    gate sim:throttle=1 sim:throttle=1 --fail-on UNSTABLE
check "UNSTABLE" gives 10 json '$.counts.UNSTABLE'

check "a host and a simulated device cannot be compared: 4" exits 4 \
    gate host sim --filter 'int8_quantize_token/host_memcpy,*_token/host_copy*' --budget 0.01
check "and it says why" gives 1 verdicts INCOMPARABLE "value ->> 'reason' LIKE '%real and simulated%'"

# -------------------------------------------------------------------- tags

check "throttling is told" exits 0 gate "$(calm 1)" "$(calm 2 ',throttle=0.2')"
check "as THROTTLE" more_than_none "value ->> 'tags' LIKE '%THROTTLE%'"
check "two modes do not fail" exits 0 gate sim:noise=0.1 sim:seed=2,noise=0.1,modes=0.4:4 --threshold 2
check "and are told as BIMODAL" more_than_none "value ->> 'tags' LIKE '%BIMODAL%'"
check "a drift falls on both arms" exits 0 gate "$(calm 1 ',drift=1')" "$(calm 2 ',drift=1')"
check "so nothing changed" gives 10 json '$.counts.PASS'

# ------------------------------------------------------------------ noise

check "calibrating a simulated device wants to be allowed" exits 2 "$ASSAY" calibrate "$ten" --device sim
check "then it is fine" exits 0 "$ASSAY" calibrate "$ten" --device "$(calm 3)" --allow-simulated --blocks 2
check "each case has its blocks" gives "10|2" query "$ASSAY_DB" \
    "SELECT count(DISTINCT operation || variant || shape), count(DISTINCT session) FROM noise
     WHERE source = 'calibrate'"
check "the next gate knows a floor of noise" exits 0 gate "$(calm 1)" "$(calm 2)"
check "of every case" gives 10 rows "value ->> 'noise' > 0"
check "a wild device is calibrated" exits 0 "$ASSAY" calibrate "$ten" \
    --device sim:launch=30 --allow-simulated --db wild.sqlite
check "a floor of noise above 2.5 thresholds" exits 3 gate "$(calm 1)" "$(calm 2 ',slow=*:50')" \
    --db wild.sqlite --fail-on UNSTABLE --threshold 2
check "is UNSTABLE" gives 10 verdicts UNSTABLE "value ->> 'reason' LIKE '%2.5 times%'"

# ------------------------------------------------------- thresholds of suites

{ sed '1,/^\[suite\]/!d' "$ten"; echo 'threshold = 30'; sed '1,/^\[suite\]/d' "$ten"; } >wide.ini
check "a suite may say its threshold" exits 0 "$ASSAY" gate ./wide.ini --base "$ASSAY" \
    --base-device "$(calm 1)" --cand-device "$(calm 2 ',slow=*:10')" --allow-simulated --json g.json
check "which is the floor of its cases" gives 10 rows "abs(value ->> 'threshold' - 0.3) < 1e-9"
check "the command line goes before it" exits 1 "$ASSAY" gate ./wide.ini --base "$ASSAY" \
    --base-device "$(calm 1)" --cand-device "$(calm 2 ',slow=*:10')" --allow-simulated --threshold 2
sed 's/threshold = 30/threshold = wide/' wide.ini >broken.ini
check "one that is no number is refused with its line" warns "broken.ini:" "$ASSAY" run ./broken.ini --device sim

# ------------------------------------------------------------- 200 cases

check "200 cases take seconds" within 20 exits 0 "$ASSAY" gate "$two_hundred" --base "$ASSAY" \
    --base-device "$(calm 1)" --cand-device "$(calm 2)" --allow-simulated --seed 1 --json g.json
check "all are judged" gives 200 json '$.counts.PASS'
check "launches have their rounds in their labels" gives "6|6" query "$ASSAY_DB" \
    "SELECT sum(label LIKE '%base'), sum(label LIKE '%candidate') FROM run JOIN launch ON run.id = run_id
     JOIN (SELECT launch_id, count(*) AS cases FROM result GROUP BY 1) ON launch_id = launch.id
     WHERE cases = 200"

# ----------------------------------------------------- latest and history

# session SEED OPTION...: a run of the suite at another time, called base.
session() {
    "$ASSAY" run "$ten" --seed "$1" --device "$(calm 1)" --no-ceilings --label base "${@:2}"
}
check "a run" exits 0 session 1 --db latest.sqlite
check "and a gate after it" exits 0 gate "$(calm 1)" "$(calm 2)" --db latest.sqlite
check "latest is the run still" says '"base"' "$ASSAY" show latest --db latest.sqlite
check "so is what no word names" says '"base"' "$ASSAY" show --db latest.sqlite
check "latest~1 would be a launch of the gate" warns "there are 1 runs" "$ASSAY" show latest~1 --db latest.sqlite
check "which its label names" exits 0 "$ASSAY" show --db latest.sqlite \
    "$(query latest.sqlite "SELECT label FROM run WHERE label LIKE '%round 3, base'")"
check "the history has the run alone" says "1 run" "$ASSAY" history '*_token/host_omp' --db latest.sqlite
check "a database of launches of gates has no latest" warns "launches of gates are not counted" \
    "$ASSAY" show --db sim.sqlite

# ------------------------------------------------------------- stored mode

export ASSAY_DB=$TMP/stored.sqlite
check "a base of one launch" exits 0 session 1
stored() { "$ASSAY" gate "$ten" --baseline base --allow-simulated --seed 1 --json g.json "$@"; }
check "says too little" exits 0 stored --device "$(calm 1)"
check "of every case" gives 10 verdicts INCONCLUSIVE "value ->> 'reason' LIKE '1 launches%'"
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
check "joins the base" exits 1 stored --device "$slow" --allow-stored-verdict
check "then a change is REGRESSED" gives 1 verdicts REGRESSED
check "and the report says who let that count" grep -q "allow-stored-verdict lets" g.json
check "without that it is SUSPECT" exits 0 stored --device "$slow"
check "another device is no part of it" gives 10 json '$.base.launches'
for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
    run "$ASSAY" run "$ten" --device "sim:seed=1,launch=8" --seed $seed --no-ceilings
done
check "history that moves as much" exits 0 stored --device "$slow" --allow-stored-verdict
check "takes the change back" gives 1 verdicts INCONCLUSIVE \
    "value ->> 'variant' = 'host_omp' AND value ->> 'fence' > 0.1 AND value ->> 'reason' LIKE 'runs of this case%'"
check "another suite has no case in common: 4" exits 4 "$ASSAY" gate smoke --filter 'memory/*' \
    --baseline base --allow-simulated --device "$(calm 1)"
check "and says that the suites differ" warns "no case in common" "$ASSAY" gate smoke --filter 'memory/*' \
    --baseline base --allow-simulated --device "$(calm 1)"

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

# ---------------------------------------------- many tests taken together

run "$ASSAY" run "$ten" --device "$(calm 2 ',slow=*_token/host_omp:10')" --seed 2 --launches 6 --no-ceilings \
    --label slowed --db side1.sqlite
check "--fdr keeps what is there" exits 1 "$ASSAY" compare "side 1" slowed --db side1.sqlite --fdr 5
check "and says what it did" says "10 tests taken together" "$ASSAY" compare "side 1" slowed \
    --db side1.sqlite --fdr 5
check "at a rate that five launches cannot reach nothing is left" exits 0 \
    "$ASSAY" compare "side 1" slowed --db side1.sqlite --fdr 0.1
check "but a word about it" says "not at the false discovery rate" \
    "$ASSAY" compare "side 1" slowed --db side1.sqlite --fdr 0.1
check "the gate has no such option" exits 2 "$ASSAY" gate "$ten" --base "$ASSAY" --fdr 5
