#!/usr/bin/env bash
# A run says which of its rows are too noisy to be relied on, and what was seen that may be why.
. "$(dirname "$0")/lib.sh"
export ASSAY_DB=n.sqlite

# A budget of microseconds leaves the fewest samples that there may be.
sed 's/^budget.*//; s/^\[suite\]/&\nbudget = 0.00001/' "$HERE/../suites/smoke.ini" >short.ini
noisy() { "$ASSAY" run short.ini --device sim:noise=40 --seed 3 "$@"; }
quiet() { "$ASSAY" run short.ini --device sim:noise=0.1 --seed 3 "$@"; }

check "a noisy run ends with 0" exits 0 noisy --label loud
check "and says so" warns " rows unreliable (± above 5 %)" noisy
check "show says it first, too" [ "$("$ASSAY" show loud | head -n 1 | grep -c 'rows unreliable')" -eq 1 ]
check "and in Markdown" [ "$("$ASSAY" show loud --format md | head -n 1 | grep -c 'rows unreliable')" -eq 1 ]
check "its rows have a mark" says "noisy: its interval is too wide" "$ASSAY" show loud
"$ASSAY" show loud --format json >shown.json
check "JSON counts and names them" gives 1 query :memory: "SELECT count(*) > 0 AND count(*) =
    json_extract(readfile('shown.json'), '\$.run.noise.noisy') FROM json_each(readfile('shown.json'), '\$.rows') r
    WHERE r.value ->> 'noisy'"
check "with --fail-on noisy it ends with 3" exits 3 noisy --fail-on noisy
check "a quiet one with 0" exits 0 quiet --fail-on noisy --label calm
check "and says nothing of it" fails grep -q unreliable said.err
check "nor does show" fails says unreliable "$ASSAY" show calm
check "the bound can be chosen" exits 0 noisy --fail-on noisy --noisy 99
check "for show, too" fails says unreliable "$ASSAY" show loud --noisy 99
check "a bound of 0 is none" exits 2 noisy --noisy 0
check "nor is a word" exits 2 noisy --noisy much
check "what is not noisy is no reason to fail" exits 2 noisy --fail-on loud

# No ceiling from a noisy row: a rate that no other row reached is not known.
check "with more noise" exits 0 noisy --device sim:noise=100 --label limits
"$ASSAY" show limits --format json >shown.json
check "a share of such a ceiling is not shown" gives 0 query :memory: "SELECT count(*)
    FROM json_each(readfile('shown.json'), '\$.rows') r, json_each(readfile('shown.json'), '\$.run.ceilings') c
    WHERE r.value ->> 'ceiling' = c.key AND c.value IS NULL AND r.value ->> 'ceiling_fraction' IS NOT NULL"
check "and there is one" gives 1 query :memory: "SELECT count(*) > 0
    FROM json_each(readfile('shown.json'), '\$.run.ceilings') WHERE value IS NULL"

# What else ran is stored, and named.
check "the load of the machine is stored" gives 1 query n.sqlite \
    "SELECT min(processors > 0 AND start_load >= 0 AND end_load >= 0) FROM launch"
query n.sqlite "UPDATE launch SET start_load = 9, end_load = 9, processors = 2, other_share = NULL"
check "a load above the processors is the cause" says 'load 9.0 on 2 processors: ' "$ASSAY" show loud
query n.sqlite "UPDATE launch SET steal_share = 0.2, end_other_processes = 3"
check "and what else was seen" says 'seen as well: the hypervisor took 20 % of the processors'"' time, 3 other processes on the GPU" "$ASSAY" show loud

check "a quiet machine is not waited for long" exits 0 quiet --wait-quiet 1
for wrong in -1 x; do
    check "--wait-quiet $wrong" exits 2 quiet --wait-quiet $wrong
done

# A comparison gives no verdict on noisy times, unless they prove a change all the same.
check "more of the same noise" exits 0 noisy --seed 4 --label louder
query n.sqlite "UPDATE launch SET start_load = 9, end_load = 9, processors = 2"
check "a comparison of noisy runs says so, with the cause" says "noisy: load 9.0 on 2 processors" \
    "$ASSAY" compare louder loud
"$ASSAY" compare louder loud --format json >both.json
check "and leaves none of them open" gives 1 query :memory: "SELECT sum(verdict = 'UNSTABLE') > 0
    AND sum(verdict IN ('PASS', 'INCONCLUSIVE')) = 0 FROM (SELECT value ->> 'verdict' AS verdict
    FROM json_each(readfile('both.json'), '\$.rows'))"
gate_of() { # NOISE OPTION...: of the simulated device, with the noise of a launch, one draw of it
    "$ASSAY" gate short.ini --seed 1 --base "$ASSAY" --base-device "sim:seed=1,noise=$1" \
        --cand-device "sim:seed=2,noise=$1" --allow-simulated "${@:2}"
}
check "a gate of noisy launches judges nothing" exits 4 gate_of 80 --budget 0.00001 --json gate.json
check "for their noise" gives 1 query :memory: "SELECT sum(value ->> 'reason' LIKE 'noisy: %') > 0
    FROM json_each(readfile('gate.json'), '\$.rows')"
