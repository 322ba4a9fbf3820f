#!/usr/bin/env bash
# What a gate proves unchanged it does not measure; what it cannot prove it does. On the simulated
# device, which says with code=N what it runs, and on the host.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/gate/sim.sh
. "$HERE/cli/gate/sim.sh"

# coded SEED REST: a calm device that says which build it is of.
coded() { calm "$1" ",code=1${2-}"; }
# Programs that tell what they were launched for; the second one is from before there was a proof,
# the third one does not end its pass, the fourth one dies in it, the fifth one ends it only beside
# another, and the sixth one refuses it there.
for name in new old slow dying pair alone; do
    cat >$name <<END
#!/bin/sh
echo "\$*" >>launched
case "$name:\$*" in
    old:*--fingerprint*) echo "assay run: there is no option --fingerprint" >&2; exit 2 ;;
    slow:*--fingerprint*) exec sleep 60 ;;
    dying:*--fingerprint*) kill -9 \$\$ ;;
    pair:*--fingerprint*)
        touch "paired.\$\$"
        for i in 1 2 3 4 5 6 7 8 9 10; do [ "\$(ls paired.* | wc -l)" -ge 2 ] && break; sleep 0.2; done
        [ "\$(ls paired.* | wc -l)" -ge 2 ] || exit 2 ;;
    alone:*--fingerprint*)
        exec 9>taken
        flock -n 9 || exit 2 ;;
esac
exec "$ASSAY" "\$@"
END
    chmod +x $name
done
proved() { # BASE CANDIDATE OPTION...
    local base=$1 candidate=$2
    shift 2
    : >launched
    "$ASSAY" gate "$ten" --base "./${side-new}" --cand "./${cand-new}" --base-device "$base" --cand-device "$candidate" \
        --allow-simulated --seed "${seed-1}" --json g.json "$@"
}
launches() { grep -c -v -e --fingerprint -e --dry-run launched; }

# ---------------------------------------------------------------- all proven

check "where nothing changed a gate passes" exits 0 proved "$(coded 1)" "$(coded 2)"
cp said.err all.err
check "it says in its first line what it will do" grep -qE \
    "^assay: 10 of 10 cases are proven unchanged \([0-9.]+ s\)$" <(head -n 1 all.err)
check "and does nothing more" test "$(wc -l <all.err)" -eq 1
check "all are UNCHANGED" gives 10 json '$.counts.UNCHANGED'
check "and judged" gives 10 json '$.judged'
check "without a launch" test "$(launches)" -eq 0
check "nor a run in the database" gives 0 query "$ASSAY_DB" "SELECT count(*) FROM run"
check "but with its verdicts" gives "10 0" query "$ASSAY_DB" \
    "SELECT count(*) || ' ' || (SELECT exit FROM gate) FROM verdict WHERE verdict = 'UNCHANGED'"
check "a time that was not measured is null" gives 10 rows "value ->> 'base_ns' IS NULL AND value ->> 'ratio' IS NULL"
check "in less than three seconds" takes_less_than 3 proved "$(coded 1)" "$(coded 2)"
check "the table counts them" says "10 UNCHANGED" proved "$(coded 1)" "$(coded 2)"
check "Markdown does, too" says "10 UNCHANGED" proved "$(coded 1)" "$(coded 2)" --format md
check "JUnit has them passed" exits 0 proved "$(coded 1)" "$(coded 2)" --junit g.xml
check "as tests" grep -q 'tests="10" failures="0" errors="0" skipped="0"' g.xml
check "--fail-on any has nothing to fail on" exits 0 proved "$(coded 1)" "$(coded 2)" --fail-on any
check "so is --least-judged 100" exits 0 proved "$(coded 1)" "$(coded 2)" --least-judged 100

side=pair cand=pair check "both passes are made at the same time" exits 0 proved "$(coded 1)" "$(coded 2)"
check "and prove all" gives 10 json '$.counts.UNCHANGED'
side=alone cand=alone check "on a device that takes one program, one after the other" exits 0 proved "$(coded 1)" "$(coded 2)"
check "which prove all, too" gives 10 json '$.counts.UNCHANGED'
check "--no-proof measures them" exits 0 proved "$(coded 1)" "$(coded 2)" --no-proof
check "all of them" gives 10 json '$.counts.PASS'
check "without a pass" fails grep -q -e --fingerprint launched
# Where it is enough that something is measured, one round is.
check "a speed-up is not proven" warns "assay: round 1, base" proved "$(coded 1)" "$(coded 2)" --metric speedup --max-time 1
check "but measured" gives 0 json '$.counts.UNCHANGED'

# -------------------------------------------------------------- some changed

check "a changed case is found" exits 1 proved "$(coded 1)" "$(coded 2 ',slow=*_token/host_omp:10')"
cp said.err some.err
check "alone" gives 1 verdicts REGRESSED "value ->> 'variant' = 'host_omp'"
check "beside those that are proven" gives 9 json '$.counts.UNCHANGED'
check "the first line has how many, and how long" grep -qE \
    "^assay: 9 of 10 cases are proven unchanged \([0-9.]+ s\); 1 to measure, about [0-9]+ s where none is suspect$" \
    <(head -n 1 some.err)
check "the second one what differs" grep -q \
    "^assay: to measure: int8_quantize_token/host_omp tokens=1024 hidden=4096 input=fp32 cold: launch: code" some.err
check "only it is launched" test "$(launches)" -eq "$(grep -v -e --dry-run launched | grep -c -e "--filter int8_quantize_token/host_omp tokens=1024 hidden=4096 input=fp32 cold")"
check "and only its rows are stored" gives "host_omp" query "$ASSAY_DB" \
    "SELECT DISTINCT variant FROM result WHERE launch_id IN (SELECT launch.id FROM launch JOIN run ON run.id = run_id
     WHERE label LIKE 'gate ' || (SELECT substr(id, 1, 8) FROM gate ORDER BY judged_at DESC LIMIT 1) || '%')"
check "one that is slower by less than counts is not slower" exits 0 proved "$(coded 1)" "$(coded 2 ',slow=*_token/host_omp:0.1')"
check "PASS, not UNCHANGED" gives 1 verdicts PASS "value ->> 'variant' = 'host_omp'"
check "a candidate of another build is all changed" warns "nothing is proven, and all is measured: launch: code 2 by 1, base code 1 by 1" \
    proved "$(coded 1)" "$(calm 2 ',code=2')" --max-time 1

# ------------------------------------------------------------ what is broken

check "a case that the candidate lost is MISSING" exits 5 proved "$(coded 1)" "$(coded 2 ',missing=*_token/host_omp')"
check "alone" gives 1 json '$.counts.MISSING'
check "beside what is proven" gives 9 json '$.counts.UNCHANGED'
check "one of which is measured, or a launch would have nothing to do" more_than_none "value ->> 'tags' LIKE '%AUDIT%'"
check "one in which it crashes is an ERROR" exits 5 proved "$(coded 1)" "$(coded 2 ',crash=*_token/host_omp')"
check "alone" gives 1 verdicts ERROR "value ->> 'reason' LIKE 'crashed: %'"
for both in crash missing; do
    check "one of both programs ($both) is no yes" exits 5 \
        proved "$(coded 1 ",$both=*_token/host_omp")" "$(coded 2 ",$both=*_token/host_omp")" --max-time 1
    check "beside what is proven" gives "1 9" query :memory: \
        "SELECT sum(value ->> 'verdict' IN ('ERROR', 'MISSING')) || ' ' || sum(value ->> 'verdict' = 'UNCHANGED')
         FROM json_each(readfile('g.json'), '$.rows')"
done
check "one that the base lost is NEW" exits 0 proved "$(coded 1 ',missing=*_token/host_omp')" "$(coded 2)"
check "alone" gives 1 verdicts NEW
side=old check "a base without fingerprints is measured" warns "assay: round 1, base" proved "$(coded 1)" "$(coded 2)" --max-time 1
cp said.err old.err
check "as before" gives 10 rows "value ->> 'ratio' > 0"
check "and says so first" grep -q "^assay: nothing is proven, and all is measured: ./old ended with 2: assay run: there is no option --fingerprint$" old.err
side=dying check "so is one that dies in its pass" warns "assay: nothing is proven, and all is measured: ./dying died: signal 9" \
    proved "$(coded 1)" "$(coded 2)" --max-time 1
side=slow check "so is one whose pass does not end" warns "./slow was still running after 1 s" \
    proved "$(coded 1)" "$(coded 2)" --timeout 1 --max-time 1
check "and all of it is measured" gives 10 rows "value ->> 'ratio' > 0"
check "a device that does not say its code proves nothing" warns "does not say which code it runs (code=N)" \
    proved "$(calm 1)" "$(calm 2)" --max-time 1
check "a simulated device must be allowed" exits 2 "$ASSAY" gate "$ten" --base ./new --device sim:code=1

# --------------------------------------------------------------- the audit

check "no audit and no change: the bias of a build is not seen" exits 0 proved "$(coded 1)" "$(coded 2 ',bias=*_token/host_omp:10')"
seed=25 check "one gate in twenty measures what it proved" exits 0 proved "$(coded 1)" "$(coded 2)" --max-time 1
cp said.err audit.err
check "and says so" grep -q "proven unchanged .*, of which 10 are measured all the same, to audit the proof; 10 to measure" audit.err
check "they stay UNCHANGED" gives 10 json '$.counts.UNCHANGED'
check "with what was measured" gives 10 rows "value ->> 'tags' LIKE '%AUDIT%' AND value ->> 'ratio' > 0"
seed=25 check "it finds what contradicts the proof" exits 1 proved "$(coded 1)" "$(coded 2 ',bias=*_token/host_omp:10')"
check "and says it" gives 1 query :memory: "SELECT count(*) FROM json_each(readfile('g.json'), '$.notes')
    WHERE value LIKE 'THE PROOF IS CONTRADICTED: int8_quantize_token/host_omp %measures +%'"
check "the verdict is that of the measurement" gives 1 verdicts REGRESSED "value ->> 'reason' LIKE 'proven unchanged%'"
# Beside a case that is measured each of the others is drawn by itself.
drawn=0
for seed in 1 2 3; do
    proved "$(coded 1)" "$(coded 2 ',slow=*_token/host_omp:0.1')" --max-time 1 >/dev/null 2>&1
    drawn=$((drawn + $(rows "value ->> 'tags' LIKE '%AUDIT%'")))
done
check "some are drawn beside what is measured" test $drawn -ge 1 -a $drawn -le 6

# ---------------------------------------------------------------- the host

int8_suite one.ini 'n = 20000' 'device = host' 'variants = host_memcpy'
cp "$ASSAY" copy
printf '#!/bin/sh\nOMP_NUM_THREADS=1 exec "%s" "$@"\n' "$ASSAY" >threads
chmod +x threads
check "the same program proves a case of the host" exits 0 "$ASSAY" gate one.ini --base "$ASSAY" --cand ./copy \
    --device host --seed 1 --json g.json
check "UNCHANGED" gives 1 json '$.counts.UNCHANGED'
check "another environment does not" warns "the code of the host, which its time depends on, differs" "$ASSAY" gate one.ini \
    --base "$ASSAY" --cand ./threads --device host --seed 1 --json g.json --max-time 1
