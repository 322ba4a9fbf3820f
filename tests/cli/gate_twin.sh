#!/usr/bin/env bash
# assay gate --null: what builds of the same code differ by, on the simulated device.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/gate/sim.sh
. "$HERE/cli/gate/sim.sh"

# A build whose cases each lie a little better or worse in memory than those of the base.
cat >other_build <<END
#!/usr/bin/env bash
words=("\$@")
for i in "\${!words[@]}"; do
    [ "\${words[i]}" = --device ] && words[i+1]+=,slow=*_token/host_omp:0.8,slow=*_token/host_copy*:-0.6,slow=int8_quantize/host_[cm]*:0.6,slow=int8_quantize/host_[so]*:-0.6
done
exec "$ASSAY" "\${words[@]}"
END
chmod +x other_build
twin() { gate "$(calm 1)" "$(calm 2 ",slow=*_token/host_omp:$1")" --threshold 2 --null ./other_build "${@:2}"; }

check "a build that lies worse by 3 % fails a gate" exits 1 \
    gate "$(calm 1)" "$(calm 2 ',slow=*_token/host_omp:3')" --threshold 2
check "where a second build of the base differs as much it does not" exits 0 twin 3
check "the floor is what the two differ by" gives 10 rows "value ->> 'floor' BETWEEN 0.022 AND 0.05"
check "and the report says so" grep -q "may differ by .* in memory (a second build of the base, 10 cases)" g.json
unchanged() { query "$ASSAY_DB" "SELECT count(*) FROM noise WHERE source = 'null'"; }
known=$(unchanged)
check "a real change is found all the same" exits 1 twin 10
check "alone" gives 1 verdicts REGRESSED "value ->> 'variant' = 'host_omp'"
check "what the second build differs by is no noise of the base against itself" gives "$known" unchanged
check "six launches of it are in the database" gives 1 query "$ASSAY_DB" \
    "SELECT count(*) >= 12 FROM run WHERE label LIKE '%, second build'"
check "a program that is not there is 2" exits 2 twin 3 --null ./nosuch
check "against a stored run there is no null arm" exits 2 "$ASSAY" gate "$ten" --baseline x --null ./other_build
