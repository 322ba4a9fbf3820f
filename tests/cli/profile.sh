#!/usr/bin/env bash
# assay profile and show --profile where there is nothing to profile by, and misuse.
. "$(dirname "$0")/lib.sh"

printf '[suite]\nbudget = 0.02\n[group a]\noperation = int8_quantize\nn = 1000\nvariants = host_scalar\n' >small.ini

# refused TEXT ARGUMENT...: a misuse, in one line that has the text; nothing is made.
refused() {
    local text=$1
    shift
    run "$ASSAY" profile "$@"
    [ "$code" -eq 2 ] && [ "$(wc -l <said.err)" -eq 1 ] && [ ! -s said.out ] &&
        grep -qF -- "$text" said.err && [ ! -e results ]
}
check "no suite at all" refused "which suite?"
check "a suite that is not there" refused "nosuch" nosuch
check "an unknown option gets a suggestion" refused "did you mean --counters" small.ini --countres all
check "an option without its value" refused "--counters" small.ini --counters
check "an unknown set names those there are" refused "default, memory, compute" small.ini --counters everything
check "a set nearly right gets a suggestion" refused "did you mean 'memory'" small.ini --counters memry
check "a metric without its rollup" refused "dram__bytes.sum" small.ini --counters dram__bytes
check "an unknown format names those there are" refused "table, md or json" small.ini --format csv
check "a seed that is no number" refused "--seed" small.ini --seed abc

check "the host has nothing to profile by" exits 4 "$ASSAY" profile small.ini --device host
check "and says so in one line" one_line "$ASSAY" profile small.ini --device host
check "with what it lacks" warns "no kernel records" "$ASSAY" profile small.ini --device host
check "nor has a simulated device" exits 4 "$ASSAY" profile small.ini --device sim:seed=1
check "which says so" warns "simulated" "$ASSAY" profile small.ini --device sim:seed=1
check "nothing is stored by it" [ ! -e results ]
check "help is had" says "usage: assay profile" "$ASSAY" profile --help

check "a run without a profile" exits 0 "$ASSAY" run small.ini --device host --no-ceilings --db a.sqlite
check "has none to show" exits 4 "$ASSAY" show --profile --db a.sqlite
check "which says how to make one" warns "assay profile" "$ASSAY" show --profile --db a.sqlite
check "a profile is not shown as csv" exits 2 "$ASSAY" show --profile --format csv --db a.sqlite

query a.sqlite "INSERT INTO profile SELECT id, 1, 100, 100, 0, 0, 27, '' FROM result;
    INSERT INTO profile_kernel SELECT id, 1, 'kernel', 'fill(float*)', 1, 8, 1, 1, 128, 1, 1, 32, 0, 0, 0,
        9000, 9000, 9000 FROM result;
    INSERT INTO profile_counter SELECT id, k, 1, 'dram__throughput.avg.pct_of_peak_sustained_elapsed', 91.0
        FROM result, (SELECT 0 AS k UNION SELECT 1)"
check "a stored profile is shown" says "fill(float*)" "$ASSAY" show --profile --db a.sqlite
check "with what bounds it" says "memory: DRAM at 91 % of its peak" "$ASSAY" show --profile --db a.sqlite
check "in Markdown too" says '| fill(float\*) | 1 | 8 x 128 |' "$ASSAY" show --profile --format md --db a.sqlite
check "and as JSON" says '"bound": "memory: DRAM at 91 % of its peak"' \
    "$ASSAY" show --profile --format json --db a.sqlite
name="void tile_kernel<float, 0, $(seq -s, 1 60 | tr -d ' ')>(tile_args)"
cp a.sqlite long.sqlite
query long.sqlite "UPDATE profile_kernel SET name = '$name'"
check "in 80 columns of a terminal, whatever its name" fits_terminal "$ASSAY" show --profile --db long.sqlite
cp said.out fits.out
check "with all of its name" gives "${name//[ ]/}" bash -c "tr -d '\r\n ' <fits.out | grep -o 'void.*(tile_args)'"
check "in a line of a file" says "$name" "$ASSAY" show --profile --db long.sqlite
if command -v python3 >/dev/null; then
    "$ASSAY" show --profile --format json --db a.sqlite >whole.json
    check "which is whole" python3 -c 'import json; json.load(open("whole.json"))'
fi
