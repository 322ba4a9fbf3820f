#!/usr/bin/env bash
# The second stage of assay gate launches its suspects, shape and all, and what their values
# need; that changes no verdict. Over the simulated device, where a case takes the same
# time whatever is measured beside it.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/gate/sim.sh
. "$HERE/cli/gate/sim.sh"
export ASSAY

# An assay that never ends the launch that HALT names, and one of before filters could name
# shapes, which plans nothing for them.
cat >newer <<'END'
#!/bin/sh
case "$*" in *"${HALT-no such launch}"*) exec sleep 60 ;; esac
exec "$ASSAY" "$@"
END
cat >older <<'END'
#!/bin/sh
for word; do
    [ "$before" = --filter ] && case $word in *" "*) echo "nothing matches" >&2; exit 2 ;; esac
    before=$word
done
exec ./newer "$@"
END
chmod +x newer older

# cases_of DATABASE WHAT WHERE: of the results of its second stages.
cases_of() {
    query "$1" "SELECT $2 FROM result JOIN launch ON launch.id = launch_id JOIN run ON run.id = run_id
        WHERE CAST(substr(label, 21) AS INTEGER) > 6 AND (${3-1})"
}
kept() { query :memory: "SELECT value FROM json_each(readfile('$1'), '$.rows')" | grep -v '_ns"'; }
# between BASE CANDIDATE DATABASE OPTION...: a gate of these two programs.
gate_line() {
    line=("$ASSAY" gate "$ten" --base "$1" --cand "$2" --db "$3" --base-device "$(calm 1)"
        --cand-device "$(calm 2 "$slowed")" --allow-simulated --seed 1 --json g.json "${@:4}")
}
between() {
    gate_line "$@"
    "${line[@]}"
}

# ---------------------------------------------- one shape of three is a suspect

cat >strict.ini <<END
[suite]
budget = 0.05
precision = 1
[group strict]
operation = int8_quantize
variants = host_scalar, host_copy_r4w1, host_memcpy, host_omp
n = 1M
threshold = 2
[group lax]
operation = int8_quantize
variants = host_scalar, host_copy_r4w1, host_memcpy, host_omp
n = 100k, 4M
threshold = 30
END
ten=./strict.ini
slowed=',slow=*/host_omp:10'
check "a slowdown of one shape is found" exits 1 between "$ASSAY" "$ASSAY" one.sqlite
check "as REGRESSED" gives 1 verdicts REGRESSED "value ->> 'variant' = 'host_omp' AND value ->> '$.shape.n' = 1000000"
check "beside eleven others that pass" gives 11 verdicts PASS
check "the second stage is that case alone" gives "n=1000000 input=fp32 scale=odd" \
    cases_of one.sqlite "DISTINCT shape" "variant = 'host_omp'"
check "in ten rounds of three launches" gives 30 cases_of one.sqlite "count(*)"
kept g.json >one.rows
check "programs whose filters know no shapes find it, too" exits 1 between ./older ./older names.sqlite
cp said.err names.err
check "and are told what that costs" grep -q "their variants are measured at every shape" names.err
check "with the same ratios, intervals and p" gives "$(cat one.rows)" kept g.json
check "from three times as many cases" gives 90 cases_of names.sqlite "count(*)"
check "one such program is enough for that: both measure the same" exits 1 between ./older "$ASSAY" base.sqlite
check "here the base" gives "30|90" cases_of base.sqlite "sum(label LIKE '%candidate'), count(*)"
check "a ratio to a baseline brings the baseline" exits 1 between "$ASSAY" "$ASSAY" ratio.sqlite --metric speedup
check "of that group alone" gives "1000000|2|60" cases_of ratio.sqlite \
    "group_concat(DISTINCT substr(shape, 3, 7)), count(DISTINCT variant), count(*)"

# ------------------------------------------------ unchanged code, on the edge

ten=$HERE/sim/cases10.ini
slowed=
edge=(--threshold 0.8 --no-extension)
between "$ASSAY" "$ASSAY" edge.sqlite "${edge[@]}" >/dev/null 2>&1
kept g.json >edge.rows
suspects=$(rows "value ->> 'confirmed'")
check "of unchanged code there are suspects" test "$suspects" -gt 0
check "none is REGRESSED" gives 0 verdicts REGRESSED
check "each launch of the second stage is of them" gives "$suspects|$suspects" cases_of edge.sqlite \
    "count(*) / count(DISTINCT run.id), count(DISTINCT operation || variant || shape || temperature)"
between ./older ./older around.sqlite "${edge[@]}" >/dev/null 2>&1
check "neighbours would have changed nothing" gives "$(cat edge.rows)" kept g.json
check "though there were some" test \
    "$(cases_of around.sqlite "count(*)")" -gt "$(cases_of edge.sqlite "count(*)")"
between "$ASSAY" "$ASSAY" extended.sqlite --threshold 0.8 >/dev/null 2>&1
check "an extension is of what is still open" test \
    "$(cases_of extended.sqlite "count(*)" "label LIKE '%round 26, base'")" -lt "$(cases_of extended.sqlite "count(*)" "label LIKE '%round 7, base'")"

# ------------------------------------------------------------------- resumed

# stopped PROGRAM DATABASE LAUNCH OPTION...: a gate that gets as far as to this launch.
stopped() {
    gate_line "$1" "$1" "$2" "${@:4}"
    interrupted "$3" "${line[@]}"
}
ten=./strict.ini
slowed=',slow=*/host_omp:10'
check "a gate that named variants is interrupted" stopped ./older before.sqlite "round 9, candidate"
check "one that names shapes goes on with it" exits 1 between ./newer ./newer before.sqlite --resume
check "to the same verdicts" gives "$(cat one.rows)" kept g.json
check "from what was stored, and from the suspect alone" gives "7|3 24|1" query before.sqlite \
    "SELECT group_concat(launches || '|' || cases, ' ') FROM
        (SELECT cases, count(*) AS launches FROM (SELECT count(*) AS cases FROM result
            JOIN launch ON launch.id = launch_id JOIN run ON run.id = run_id
            WHERE CAST(substr(label, 21) AS INTEGER) > 6 GROUP BY run.id)
         GROUP BY cases ORDER BY cases DESC)"
check "a gate that named shapes is interrupted" stopped ./newer shapes.sqlite "round 9, candidate"
check "and gone on with" exits 1 between ./newer ./newer shapes.sqlite --resume
check "to the same verdicts, too" gives "$(cat one.rows)" kept g.json

some=(--filter 'int8_quantize/* *n=1000000 * cold')
check "a gate of some shapes is interrupted" stopped ./newer some.sqlite "round 3, candidate" "${some[@]}"
cp some.sqlite other.sqlite
check "and gone on with" exits 1 between ./newer ./newer some.sqlite --resume "${some[@]}"
check "as one of them" gives 4 rows 1
check "others are other cases" exits 2 between ./newer ./newer other.sqlite --resume --filter 'int8_quantize/* *n=100000'
check "so is the beginning of its filter" exits 2 between ./newer ./newer other.sqlite --resume --filter 'int8_quantize/*'
