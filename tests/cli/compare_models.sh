#!/usr/bin/env bash
# compare --across: runs on two models of device are held to baselines and ceilings, never to each other's times.
. "$(dirname "$0")/lib.sh"

int8_suite two.ini 'n = 1M' 'variants = host_scalar, host_omp, host_memcpy' 'baseline = host_scalar'
"$ASSAY" run ./two.ini --device sim:launch=0.2 --launches 5 --seed 5 --db one.sqlite >/dev/null 2>&1
# The other model takes twice as long for everything, and "host_omp" 10 % more than that.
cp one.sqlite other.sqlite
query other.sqlite "UPDATE device SET name = 'Other GPU';
    UPDATE result SET time_ns = 2 * time_ns, lo_ns = 2 * lo_ns, hi_ns = 2 * hi_ns"
cp other.sqlite slower.sqlite
query slower.sqlite "UPDATE result SET time_ns = 1.1 * time_ns, lo_ns = 1.1 * lo_ns, hi_ns = 1.1 * hi_ns
    WHERE variant = 'host_omp'"
across() { "$ASSAY" compare one.sqlite:latest "$1.sqlite:latest" --across "${@:2}"; }
# row VARIANT MEMBER: of the JSON of the last comparison.
row() {
    query :memory: "SELECT value ->> '$2' FROM json_each(readfile('found.json'), '\$.rows')
        WHERE value ->> 'variant' = '$1' AND value ->> 'temperature' = 'cold'"
}

check "without --across two models do not compare: 4" exits 4 "$ASSAY" compare one.sqlite:latest other.sqlite:latest
check "a model that is half as fast is no regression" exits 0 across other
cp said.out table.txt
check "it says what cases are judged by" grep -q "between two models times are no verdict" table.txt
check "the column, too" grep -q "change of time/limit" table.txt
check "a speed-up stands beside a speed-up" grep -qE ' ([0-9.]+x) +\1 .*int8_quantize/host_omp n=1000000' table.txt
check "the baseline has its share of the ceiling" grep -qE ' ([0-9.]+ %) +\1 .*int8_quantize/host_scalar n=1000000' table.txt
check "one that lost 10 % beside the baseline is one: 1" exits 1 across slower
across slower --format json >found.json
check "it is REGRESSED" gives REGRESSED row host_omp verdict
check "by its ratio to the baseline" gives speedup row host_omp metric
check "which is a tenth" gives 1 query :memory: "SELECT abs((value ->> 'ratio') - 1.1) < 1e-6
    FROM json_each(readfile('found.json'), '\$.rows') WHERE value ->> 'variant' = 'host_omp' AND value ->> 'temperature' = 'cold'"
check "the baseline passes by its share" gives share row host_scalar metric
check "which it has" gives PASS row host_scalar verdict
check "the metric is of both" gives limits query :memory: "SELECT readfile('found.json') ->> '\$.metric'"
across slower --format md >said.md
check "Markdown says the same" grep -q "between two models times are no verdict" said.md
check "with the speed-ups" grep -qE '^\| REGRESSED \| \+10\.0 % .* \| [0-9.]+x \| [0-9.]+x \| int8_quantize/host_omp' said.md
check "what no device could measure is refused" exits 2 across slower --measure
check "which is said" warns "two models" across slower --measure
# Neither a baseline nor a ceiling: nothing to hold a case to.
query slower.sqlite "DELETE FROM sample; UPDATE result SET is_baseline = 0, read_bytes = NULL, write_bytes = NULL"
cp slower.sqlite bare.sqlite
query bare.sqlite "UPDATE device SET name = 'Third GPU'; UPDATE result SET time_ns = 3 * time_ns"
check "without both nothing is judged: 4" exits 4 "$ASSAY" compare slower.sqlite:latest bare.sqlite:latest --across
check "which is said" warns "no baseline of its group, and no ceiling" "$ASSAY" compare slower.sqlite:latest bare.sqlite:latest --across
