#!/usr/bin/env bash
# assay gate over the simulated device: real programs, real launches, known truth.
. "$(dirname "$0")/lib.sh"

# shellcheck source=tests/cli/gate/sim.sh
. "$HERE/cli/gate/sim.sh"

# ------------------------------------------------------- the issue's example

check "a slowed family ends with 1" exits 1 "$ASSAY" gate smoke --base "$ASSAY" \
    --base-device sim:seed=1,launch=0.5 --cand-device 'sim:seed=2,launch=0.5,slow=int8_quantize/*:10' \
    --allow-simulated --seed 1
check "a simulated device is refused without being allowed" exits 2 "$ASSAY" gate smoke \
    --base "$ASSAY" --device sim
check "and the message says what to do" warns "--allow-simulated" "$ASSAY" gate smoke \
    --base "$ASSAY" --device sim
check "so it is where only one arm is" exits 2 "$ASSAY" gate smoke --base "$ASSAY" \
    --base-device sim --cand-device host
check "a stored base that is simulated is, too" exits 2 "$ASSAY" gate smoke --baseline x --device sim

# ----------------------------------------------------------------- verdicts

# A hang is waited for, once a round: meanwhile the other checks go on.
gate "$(calm 1)" "$(calm 2 ',hang=*_token/host_omp')" --filter '*_token/host_*' \
    --db hangs.sqlite --json hangs.json >/dev/null 2>&1 &
hangs_pid=$!
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
wait $hangs_pid
check "a hang is 5" test $? -eq 5
cp hangs.json g.json
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
check "a device that throttles throughout proves nothing: 4" exits 4 gate sim:throttle=1 sim:throttle=1
check "UNSTABLE" gives 10 json '$.counts.UNSTABLE'

check "a host and a simulated device cannot be compared: 4" exits 4 \
    gate host sim --filter 'int8_quantize_token/host_memcpy,*_token/host_copy*' --budget 0.01
cp said.err host.err
check "the message says why, and not only that one is simulated" grep -q "compared: device real and simulated" host.err
check "and so does the row" gives 1 verdicts INCOMPARABLE "value ->> 'reason' LIKE '%real and simulated%'"

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
check "each case has its blocks, of one session" gives "20|10|1" query "$ASSAY_DB" \
    "SELECT count(*), count(DISTINCT operation || variant || shape), count(DISTINCT session) FROM noise
     WHERE source = 'calibrate'"
check "the next gate knows a floor of noise" exits 0 gate "$(calm 1)" "$(calm 2)"
check "of every case" gives 10 rows "value ->> 'noise' > 0"
check "a wild device is calibrated" exits 0 "$ASSAY" calibrate "$ten" \
    --device sim:launch=30 --allow-simulated --db wild.sqlite
check "a floor of noise above 2.5 thresholds" exits 4 gate "$(calm 1)" "$(calm 2 ',slow=*:5')" \
    --db wild.sqlite --threshold 2
check "is UNSTABLE" gives 10 verdicts UNSTABLE "value ->> 'reason' LIKE '%2.5 times%'"
check "but does not hide what is proven" exits 1 gate "$(calm 1)" "$(calm 2 ',slow=*_token/host_omp:880')" \
    --db wild.sqlite --threshold 2
check "which is REGRESSED" gives 1 verdicts REGRESSED "value ->> 'floor' > 0.05"

# ----------------------------------------------------------- below the tick

# 3 us by a clock of 160 ns are 600 ns by one of 32: two steps are about 10 %.
check "a change of two steps of the clock is found" exits 1 \
    gate "$(calm 1 ,step=160)" "$(calm 2 ',step=160,slow=*_token/host_omp:10')" --filter '*_token/host_*'
check "by means of samples, and it says so" gives 1 verdicts REGRESSED "value ->> 'tags' LIKE '%STEPS%'"
check "by about as much as it is" gives 1 verdicts REGRESSED "abs(value ->> 'ratio' - 1.1) < 0.015"
check "no floor is as wide as the steps" gives 0 rows "value ->> 'floor' > 0.021"
check "an unchanged one passes" exits 0 gate "$(calm 1 ,step=160)" "$(calm 2 ,step=160)"
check "all of them" gives 10 json '$.counts.PASS'
