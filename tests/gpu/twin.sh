#!/usr/bin/env bash
# assay gate --twin on a GPU: unchanged code in several load orders, and a planted change of 0.1 %.
# TWIN_GATES=10 makes more gates of unchanged code. Where there is no nvcc, SPINS names a folder with
# spin_1000.so and spin_1001.so. OUT is a folder in which these gates are left: what copies of the same code
# differ by is told of all that are there, of earlier sessions and other cards too.
. "$(dirname "$0")/../cli/lib.sh"
root=$(cd "$HERE/.." && pwd)
export XDG_DATA_HOME=$PWD/none

# spread FILE...: how the ratios and the half widths of the gates' rows are distributed.
spread() {
    local files
    files=$(printf ",('%s')" "$@")
    query :memory: "WITH rows AS (SELECT value AS row FROM (VALUES ${files#,}) AS file, json_each(readfile(file.column1), '\$.rows')),
        size AS (SELECT abs(row ->> 'ratio' - 1) * 100 AS off, (row ->> 'ratio_hi' - row ->> 'ratio_lo') * 50 AS half,
            row ->> 'launches' AS turns FROM rows WHERE row ->> 'evidence' = 'turns'),
        ranked AS (SELECT off, half, turns, row_number() OVER (ORDER BY off) AS by_off, row_number() OVER (ORDER BY half) AS by_half,
            row_number() OVER (ORDER BY turns) AS by_turns, count(*) OVER () AS n FROM size)
        SELECT 'cases ' || max(n) || ', |ratio - 1| median ' || round(max(off) FILTER (WHERE by_off <= (n + 1) / 2), 4)
            || ' 90 % ' || round(max(off) FILTER (WHERE by_off <= (9 * n + 9) / 10), 4) || ' most ' || round(max(off), 4)
            || ' %, half width median ' || round(max(half) FILTER (WHERE by_half <= (n + 1) / 2), 4)
            || ' 90 % ' || round(max(half) FILTER (WHERE by_half <= (9 * n + 9) / 10), 4) || ' most ' || round(max(half), 4)
            || ' %, turns median ' || max(turns) FILTER (WHERE by_turns <= (n + 1) / 2) || ' most ' || max(turns) FROM ranked"
}
rows() { query :memory: "SELECT count(*) FROM json_each(readfile('$1'), '\$.rows') WHERE value ->> '$2' = '$3'"; }

# ---- unchanged code, which the proof would not measure; each gate draws another order in which the
# copies are loaded ----
for gate in $(seq "${TWIN_GATES:-2}"); do
    start=$(date +%s)
    check "gate $gate of unchanged code passes" exits 0 "$ASSAY" gate core --base "$ASSAY" --twin --no-proof --device cuda:0 \
        --seed "$gate" --db twin.sqlite --json "same$gate.json" --all
    cp said.out "same$gate.txt"
    cp said.err "same$gate.err"
    echo "# seconds $(($(date +%s) - start)), $(spread "same$gate.json")"
    grep -E '^[A-Z]+: [0-9]+|copies of the same|no twins|not as twins' said.out said.err | sed 's/^/# /'
    check "it was made by twins" fails grep -q "no twins" "same$gate.err"
    [ -z "${OUT-}" ] || cp "same$gate.json" "$OUT/twin.$(nvidia-smi --query-gpu=uuid --format=csv,noheader -i 0).$(date +%s).json"
    check "no case of it is slower" gives 0 rows "same$gate.json" verdict REGRESSED
    check "nor faster" gives 0 rows "same$gate.json" verdict IMPROVED
done
if [ -n "${OUT-}" ]; then
    all=("$OUT"/twin.*.json)
    echo "# ${#all[@]} gates on $(printf '%s\n' "${all[@]##*/twin.}" | cut -d . -f 1 | sort -u | wc -l) cards: $(spread "${all[@]}")"
    for one in "${all[@]}"; do
        query :memory: "SELECT '#   ' || (value ->> 'verdict') || ' ' || (value ->> 'variant') || ' ' || (value ->> 'ratio') || ' ' || (value ->> 'shape')
            FROM json_each(readfile('$one'), '\$.rows') WHERE value ->> 'verdict' IN ('REGRESSED', 'IMPROVED')"
    done
fi
# Told to a tenth of a per cent, however long that takes up to the budget.
start=$(date +%s)
check "at a floor of 0.1 %" exits 0 "$ASSAY" gate core --base "$ASSAY" --twin --no-proof --device cuda:0 --threshold 0.1 \
    --filter "${TWIN_FINE:-int8_quantize/*}" --seed 77 --db twin.sqlite --json fine.json --all
cp said.out fine.txt
echo "# seconds $(($(date +%s) - start)), $(spread fine.json)"
grep -E '^[A-Z]+: [0-9]+|copies of the same' said.out | sed 's/^/# /'

# ---- an end before all of it: on an H200 `core` takes about 65 s ----
start=$(date +%s)
run "$ASSAY" gate core --base "$ASSAY" --twin --no-proof --device cuda:0 --seed 5 --db twin.sqlite --json short.json --max-time 15
echo "# exit code $code after $(($(date +%s) - start)) s, $(query :memory: "SELECT json_extract(readfile('short.json'), '$.counts')")"
check "a gate that has 15 s ends then" test $(($(date +%s) - start)) -le 25
check "with what it measured" test "$(rows short.json verdict PASS)" -ge 1
check "and the rest INCONCLUSIVE" test "$(rows short.json reason 'the gate ended before it was measured')" -ge 1

# ---- a planted change ----
spins=${SPINS:-$PWD}
if [ ! -e "$spins/spin_1000.so" ]; then
    sm=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader -i 0 | tr -d .)
    for steps in 1000 1001 1010; do
        nvcc -std=c++17 -O3 -shared -Xcompiler -fPIC -arch="sm_$sm" -DSPIN_STEPS=$steps -I"$root/harness" \
            "$HERE/gpu/twin_spin.cu" -o "$spins/spin_$steps.so" || exit 1
    done
fi
printf '[suite]\ntitle = a planted change\n[group spin]\noperation = twin_spin\n' >spin.ini
spin() { # EXIT BASE CAND ARGUMENTS...: ab of two numbers of steps
    exits "$1" "$ASSAY" ab "$spins/spin_$2.so" "$spins/spin_$3.so" ./spin.ini --twin --no-proof --device cuda:0 \
        --db spin.sqlite --json spin.json "${@:4}"
}
check "1001 steps for 1000 are found" spin 1 1000 1001 --threshold 0.05 --budget 10
echo "# $(query :memory: "SELECT value ->> 'verdict', value ->> 'ratio', value ->> 'ratio_lo', value ->> 'ratio_hi', value ->> 'launches', value ->> 'base_ns' FROM json_each(readfile('spin.json'), '\$.rows')")"
check "as 0.07 to 0.13 %" gives 1 query :memory: \
    "SELECT value ->> 'ratio' BETWEEN 1.0007 AND 1.0013 FROM json_each(readfile('spin.json'), '\$.rows')"
check "1000 for 1001 are faster" spin 0 1001 1000 --threshold 0.05 --budget 10
check "and told so" gives 1 rows spin.json verdict IMPROVED
check "1001 for 1000 pass at the usual floor" spin 0 1000 1001
check "1010 for 1000 do not" spin 1 1000 1010
echo "# $(query :memory: "SELECT value ->> 'verdict', value ->> 'ratio', value ->> 'ratio_lo', value ->> 'ratio_hi', value ->> 'launches' FROM json_each(readfile('spin.json'), '\$.rows')")"

# ---- the machine code of the object is that of the program ----
objects=$(dirname "$ASSAY")/libassay_variants.so
if command -v objcopy >/dev/null && command -v python3 >/dev/null; then
    objcopy -O binary --only-section=.nv_fatbin --set-section-flags .nv_fatbin=alloc,load,contents "$ASSAY" program.bin
    objcopy -O binary --only-section=.nv_fatbin --set-section-flags .nv_fatbin=alloc,load,contents "$objects" object.bin
    check "the device code of the object is a part of the program's" python3 -c \
        "import sys; a = open('program.bin', 'rb').read(); b = open('object.bin', 'rb').read(); sys.exit(not b or b not in a)"
fi
