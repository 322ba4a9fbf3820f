#!/usr/bin/env bash
# assay gate under attack: what would make it say yes to what it did not judge.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/gate/sim.sh
. "$HERE/cli/gate/sim.sh"

# ------------------------------------------------------ what was judged

check "ten cases that were throttled prove nothing: 4" exits 4 \
    gate sim:launch=0.3 'sim:launch=0.3,throttle=1,slow=*/*:50'
check "which is said" warns "none of 10 cases were judged, and 50 % must be (--least-judged)" \
    gate sim:launch=0.3 'sim:launch=0.3,throttle=1'
check "in JUnit, too" exits 4 gate sim:launch=0.3 'sim:launch=0.3,throttle=1' --junit j.xml
check "as an error" grep -q '<error message="none of 10 cases were judged' j.xml
check "whatever share is asked for" exits 4 gate sim:launch=0.3 'sim:launch=0.3,throttle=1' --least-judged 1
check "a base without eight of ten cases is no base: 4" exits 4 \
    gate "$(calm 1 ',crash=int8_quantize/*')" "$(calm 2)"
check "which is said, with the reason" warns "only 2 of 10 cases were judged, and 50 % must be (--least-judged); of the others most: the base has no time: crashed" \
    gate "$(calm 1 ',crash=int8_quantize/*')" "$(calm 2)"
check "it is one where a fifth is enough" exits 0 \
    gate "$(calm 1 ',crash=int8_quantize/*')" "$(calm 2)" --least-judged 20
check "the json says of how many" gives "2 of 10, 0.2" query :memory: \
    "SELECT (g ->> 'judged') || ' of ' || (g ->> 'cases') || ', ' || (g ->> 'least_judged')
     FROM (SELECT readfile('g.json') AS g)"
check "new cases are none of those" exits 0 gate "$(calm 1 ',missing=int8_quantize/*')" "$(calm 2)"
check "more than all cases cannot be judged" exits 2 gate sim sim --least-judged 101

# ------------------------------------------------------- what is missing

check "a case that both sides lost is missing: 5" exits 5 \
    gate "$(calm 1 ',missing=int8_quantize/host_omp')" "$(calm 2 ',missing=int8_quantize/host_omp')"
check "at each of its shapes" gives 2 verdicts MISSING "value ->> 'variant' = 'host_omp'"
check "with the reason" gives 2 verdicts MISSING \
    "value ->> 'reason' = 'the suite has it, and neither side measured it'"
check "the others PASS" gives 8 verdicts PASS
check "what a filter leaves out is not missing" exits 0 \
    gate "$(calm 1 ',missing=*_token/host_omp')" "$(calm 2 ',missing=*_token/host_omp')" --filter 'int8_quantize/*'
