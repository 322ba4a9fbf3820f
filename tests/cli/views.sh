#!/usr/bin/env bash
# The database's views say what assay show says of the same run.
. "$(dirname "$0")/lib.sh"

export OMP_NUM_THREADS=1
many_groups 2 many.ini
exits 0 "$ASSAY" run many.ini --device host --db host.sqlite
exits 5 "$FAULTS" run "$HERE/faults/faults.ini" --device host --no-ceilings --db faults.sqlite
exits 0 "$ASSAY" run many.ini ceilings --device sim --launches 1 --db sim.sqlite
exits 0 "$ASSAY" run ceilings --device sim --launches 3 --db launches.sqlite

# rows DATABASE SQL: with the rows of show as table j (JSON) and c (CSV), and its ceilings as limit_.
rows() {
    sqlite3 -batch -cmd ".import --csv $1.csv c" "$1" "
        CREATE TEMP TABLE j AS SELECT r.value ->> 'operation' AS operation, r.value ->> 'variant' AS variant,
            (SELECT group_concat(key || '=' || value, ' ') FROM json_each(r.value, '\$.shape')) AS shape,
            r.value ->> 'temperature' AS temperature, r.value AS row
            FROM json_each(readfile('$1.json'), '\$.rows') AS r;
        CREATE TEMP TABLE limit_ AS SELECT key AS name, value AS rate
            FROM json_each(readfile('$1.json'), '\$.run.ceilings');
        $2"
}
# The rows of a run of one launch beside their view.
pairs="cases JOIN j USING (operation, variant, shape, temperature)"
ceilings_of() { query "$1" "SELECT count(*) FROM ceilings"; }
# How many show has, and how many are in one alone or have another rate.
same_ceilings() {
    rows "$1" "SELECT count(limit_.rate), count(*) FILTER (WHERE NOT coalesce($(near ceilings.rate limit_.rate), 0))
        FROM ceilings FULL JOIN limit_ USING (name)"
}
near() { echo "(abs($1 - $2) <= 1e-8 * abs($2) OR ($1 IS NULL AND $2 IS NULL))"; }

for db in host.sqlite faults.sqlite sim.sqlite; do
    "$ASSAY" show --format json --ceilings --db "$db" >"$db.json" 2>said.err
    "$ASSAY" show --format csv --ceilings --db "$db" >"$db.csv" 2>said.err
    check "$db: every row of show is a row of cases" gives "$(query "$db" "SELECT count(*) FROM cases")" \
        rows "$db" "SELECT count(*) FROM $pairs"
    check "with rows to compare" [ "$(query "$db" "SELECT count(*) FROM cases WHERE status = 'ok'")" -ge 2 ]
    for figure in time_ns lo_ns hi_ns bytes ops samples energy_mj; do
        check "$db: $figure" gives 0 rows "$db" \
            "SELECT count(*) FROM $pairs WHERE NOT $(near "cases.$figure" "(row ->> '$figure')")"
    done
    check "$db: which rows are noisy" gives 0 rows "$db" "SELECT count(*) FROM $pairs LEFT JOIN spread USING (result_id)
        WHERE coalesce(noisy, 0) IS NOT (row ->> 'noisy')"
    for word in kind status reason clock; do
        check "$db: $word" gives 0 rows "$db" \
            "SELECT count(*) FROM $pairs WHERE coalesce(cases.$word, '') IS NOT coalesce(row ->> '$word', '')"
    done
    check "$db: bytes per second where show has them" gives 0 rows "$db" \
        "SELECT count(*) FROM cases JOIN c USING (operation, variant, shape, temperature)
         WHERE rate_unit = 'B/s' AND NOT $(near "1e9 * gb_per_s" "CAST(rate_per_s AS REAL)")"
    check "$db: the baseline" gives 0 rows "$db" \
        "SELECT count(*) FROM cases JOIN c USING (operation, variant, shape, temperature)
         WHERE cases.status = 'ok' AND is_baseline IS NOT (baseline = variant)"
    check "$db: the ceilings" gives "$(ceilings_of "$db")|0" same_ceilings "$db"
done
check "a rate is in bytes per second somewhere" rows host.sqlite "SELECT iif(count(*) > 1, '', 1 / 0) FROM c WHERE rate_unit = 'B/s'"

"$ASSAY" show --format json --db launches.sqlite >launches.sqlite.json
"$ASSAY" show --format csv --db launches.sqlite >launches.sqlite.csv
check "of three launches the best is the ceiling" gives "$(ceilings_of launches.sqlite)|0" same_ceilings launches.sqlite
check "of several" [ "$(rows launches.sqlite "SELECT count(*) FROM limit_")" -ge 5 ]
check "each from one launch, and not all from one" [ "$(query launches.sqlite "SELECT count(DISTINCT launch) FROM ceilings")" -ge 2 ]

check "the views have no figure that is not compared here" gives "spread,beside,cases,ceilings|comparability,samples,time_ns,lo_ns,hi_ns,gb_per_s,bytes,ops,energy_mj,sm_mhz,code_hash|time_ns,unit,rate" \
    query host.sqlite "SELECT (SELECT group_concat(name) FROM sqlite_schema WHERE type = 'view'),
        (SELECT group_concat(name) FROM pragma_table_info('cases') WHERE name NOT IN ('run_id', 'suite', 'run_label',
         'started_at', 'launch_id', 'launch', 'device', 'result_id', 'ordinal', 'purpose', 'group_label', 'operation',
         'variant', 'kind', 'place', 'shape', 'temperature', 'status', 'reason', 'note', 'clock', 'is_baseline')),
        (SELECT group_concat(name) FROM pragma_table_info('ceilings') WHERE name NOT IN ('run_id', 'launch_id',
         'launch', 'device', 'name', 'operation', 'variant', 'shape', 'temperature'))"
