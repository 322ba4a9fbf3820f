#!/usr/bin/env bash
# assay explain on a GPU: half as many steps again are half as many instructions again, and nothing else;
# and two launches of the same code leave next to nothing unexplained.
. "$(dirname "$0")/../cli/lib.sh"
root=$(cd "$HERE/.." && pwd)
export XDG_DATA_HOME=$PWD/none ASSAY_DB=$PWD/explain.sqlite

# within LEAST MOST TERM: the term's share of the difference in said.json, in per cent.
within() {
    query :memory: "SELECT CASE '$3' WHEN 'unexplained' THEN (SELECT value ->> 'unexplained_share' FROM
            json_each(readfile('said.json'), '\$.rows')) ELSE (SELECT term.value ->> 'share' FROM
            json_each(readfile('said.json'), '\$.rows') AS row, json_each(row.value, '\$.terms') AS term
            WHERE term.value ->> 'term' = '$3') END" >share.txt
    echo "# $3: $(cat share.txt) of the difference"
    awk -v least="$1" -v most="$2" '{ exit !($1 != "" && 100 * $1 >= least && 100 * $1 <= most) }' share.txt
}

spins=${SPINS:-$PWD}
if [ ! -e "$spins/spin_1500.so" ]; then
    sm=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader -i 0 | tr -d .)
    for steps in 1000 1500; do
        nvcc -std=c++17 -O3 -shared -Xcompiler -fPIC -arch="sm_$sm" -DSPIN_STEPS=$steps -I"$root/harness" \
            "$HERE/gpu/twin_spin.cu" -o "$spins/spin_$steps.so" || exit 1
    done
fi
printf '[suite]\ntitle = more instructions\n[group spin]\noperation = twin_spin\n' >spin.ini
check "more instructions are explained" exits 0 "$ASSAY" explain "$spins/spin_1000.so" "$spins/spin_1500.so" 'twin_spin/*' \
    --suite ./spin.ini --device cuda:0 --format json -o said.json
check "by the instructions" within 90 110 instructions
check "not by launches" within -1 1 launches
check "nor by gaps" within -1 1 gaps
check "nor by bytes" within -5 5 bytes
check "nor by waits" within -10 10 waits
check "and little is unexplained" within -10 10 unexplained

# The same code twice: the difference is small, and so is what is unexplained beside the time.
for run in 1 2; do
    check "run $run of int8" exits 0 "$ASSAY" profile int8 --filter 'int8_quantize n=50000000' --counters default,work \
        --label "explain $run"
done
check "the same code twice" exits 0 "$ASSAY" explain "explain 1" "explain 2" 'int8_quantize/*' --format json -o said.json
query :memory: "SELECT '# ' || round(100 * (value ->> 'unexplained_ns') / (value ->> 'base_ns'), 2) || ' % unexplained: '
    || (value ->> 'variant') || ' ' || (value ->> 'shape') FROM json_each(readfile('said.json'), '\$.rows')
    WHERE abs(value ->> 'unexplained_ns') > 0.03 * (value ->> 'base_ns')"
# Two runs of a minute's distance: the times of a tenth of the cases may differ by more.
check "nine in ten have at most 3 % of their time unexplained" gives 1 query :memory: "SELECT
    count(*) FILTER (WHERE abs(value ->> 'unexplained_ns') > 0.03 * (value ->> 'base_ns')) <= 0.1 * count(*)
    FROM json_each(readfile('said.json'), '\$.rows')"
check "nothing is left to be counted" gives "" query :memory: "SELECT json_extract(readfile('said.json'), '\$.next')"
