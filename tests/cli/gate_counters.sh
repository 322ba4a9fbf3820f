#!/usr/bin/env bash
# assay gate --counters: what launches count, in the place of times. On the simulated device, whose
# warp instructions follow from its code: slow= adds work, bias= adds none.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/gate/sim.sh
. "$HERE/cli/gate/sim.sh"

coded() { echo "sim:seed=$1,noise=5,launch=3,drift=1,code=$2${3-}"; }
counted() {
    local base=$1 candidate=$2
    shift 2
    gate "$base" "$candidate" --counters --no-proof "$@"
}
launches() { query "$ASSAY_DB" "SELECT count(*) FROM run WHERE label LIKE 'gate ' ||
    (SELECT substr(id, 1, 8) FROM gate ORDER BY judged_at DESC LIMIT 1) || '%'"; }

check "unchanged code passes, however noisy its times are" exits 0 counted "$(coded 1 1)" "$(coded 2 1)"
check "all of it" gives 10 json '$.counts.PASS'
check "by one launch of each program" gives 2 launches
check "to the instruction" gives 10 rows "value ->> 'ratio' = 1 AND value ->> 'base_ns' IS NULL"
check "the document says by what" gives counters json '$.metric'
check "half a per cent more work is 1" exits 1 counted "$(coded 1 1)" "$(coded 2 1 ',slow=*_token/host_omp:0.5')"
check "REGRESSED, alone" gives 1 verdicts REGRESSED "value ->> 'variant' = 'host_omp' AND value ->> 'confirmed'"
check "by what and by how much" gives 1 rows "value ->> 'reason' = 'warp instructions +0.5 %'"
check "four launches more of it alone" gives 10 launches
check "which is said" warns "assay: 1 case differs, counted four times more" \
    counted "$(coded 1 1)" "$(coded 2 1 ',slow=*_token/host_omp:0.5')"
check "less work is 0" exits 0 counted "$(coded 1 1)" "$(coded 2 1 ',slow=*_token/host_omp:-5')"
check "IMPROVED" gives 1 json '$.counts.IMPROVED'
check "a change below 0.1 % is none" exits 0 counted "$(coded 1 1)" "$(coded 2 1 ',slow=*_token/host_omp:0.05')"
check "all PASS" gives 10 json '$.counts.PASS'
check "what only takes longer is not seen" exits 0 counted "$(coded 1 1)" "$(coded 2 1 ',bias=*_token/host_omp:50')"
check "what differs from launch to launch is no change" exits 0 counted "$(coded 1 1 ',modes=0.5:3')" "$(coded 2 1 ',modes=0.5:3')"
check "but INCONCLUSIVE" more_than_none "value ->> 'verdict' = 'INCONCLUSIVE' AND value ->> 'reason' = 'warp instructions not the same in each launch'"
check "nothing is called changed" gives 0 rows "value ->> 'verdict' IN ('REGRESSED', 'IMPROVED')"
check "a wrong answer is 5" exits 5 counted "$(coded 1 1)" "$(coded 2 1 ',wrong=*_token/host_omp')"
check "ERROR" gives 1 json '$.counts.ERROR'
check "so is one that is missing" exits 5 counted "$(coded 1 1)" "$(coded 2 1 ',missing=*_token/host_omp')"
check "MISSING" gives 1 json '$.counts.MISSING'
cat >restated <<END
#!/usr/bin/env bash
"$ASSAY" "\$@" || exit
for i in \$(seq \$#); do [ "\${!i}" != --db ] || { next=\$((i + 1)); db=\${!next}; }; done
sqlite3 "\$db" "UPDATE result SET read_bytes = read_bytes + 1 WHERE variant = 'host_omp'"
END
chmod +x restated
check "work that is restated is no yes: 4" exits 4 counted "$(coded 1 1)" "$(coded 2 1)" --cand ./restated --least-judged 1
check "it is not judged by its counts" gives 3 rows "value ->> 'verdict' = 'INCOMPARABLE' AND value ->> 'reason' LIKE 'the definition%'"
check "what is proven is not counted" exits 1 gate "$(coded 1 1)" "$(coded 2 1 ',slow=*_token/host_omp:5')" --counters
check "but UNCHANGED" gives 9 json '$.counts.UNCHANGED'
check "the table says more work" says "REGRESSED: 1, more work" counted "$(coded 1 1)" "$(coded 2 1 ',slow=*_token/host_omp:5')"
check "where nothing can be counted that is said" warns "there is nothing to profile" counted "$(calm 1)" "$(calm 2)"
for option in "--metric speedup" "--null x" "--pinned x" "--resume" "--max-time 9" --fail-fast "--budget 1" "--precision 1" "--twin" "--threshold 1"; do
    # shellcheck disable=SC2086
    check "it is not for $option" warns "--counters takes no times" counted "$(coded 1 1)" "$(coded 2 1)" $option
done
check "a stored run has no counters to go by" exits 2 "$ASSAY" gate "$ten" --baseline x --counters --device sim --allow-simulated
check "assay profile takes launches apart without times" exits 0 "$ASSAY" profile "$ten" --device sim:code=1 --no-times --counters work
check "none is stored" gives 0 query "$ASSAY_DB" "SELECT count(time_ns) FROM result WHERE launch_id =
    (SELECT id FROM launch ORDER BY started_at DESC LIMIT 1)"
