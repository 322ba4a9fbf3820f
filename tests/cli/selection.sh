#!/usr/bin/env bash
# One spelling of a case chooses the same cases in every command: --filter.
. "$(dirname "$0")/lib.sh"
export ASSAY_DB=s.sqlite
suite=$HERE/../suites/smoke.ini
simulated() { "$ASSAY" run "$suite" --device "sim:seed=$1,noise=0.1" --label "$2" --launches 5 --seed "$1" >/dev/null 2>&1; }
simulated 1 one
simulated 2 two
filter='int8_quantize/host_omp cold, int8_quantize/host_memcpy n=100000'
wanted=$("$ASSAY" show two --filter "$filter" --format json | grep -c '"variant"')
check "the pattern names some cases and not all" [ "$wanted" -gt 1 ] &&
    [ "$wanted" -lt "$("$ASSAY" show two --format json | grep -c '"variant"')" ]

# chosen COMMAND...: how many cases it has with the filter.
chosen() { "$@" --filter "$filter" | grep -c "host_omp\|host_memcpy"; }
all() { "$@" | grep -c "host_omp\|host_memcpy"; }
check "compare has them" gives "$wanted" chosen "$ASSAY" compare one two --format table
check "and counts no other" says "\"PASS\": $wanted" "$ASSAY" compare one two --format json --filter "$filter"
check "for a ratio to the baseline, which is not selected, too" fails says INCOMPARABLE "$ASSAY" compare one two \
    --metric speedup --filter 'int8_quantize/host_omp' --format md
check "export has them: csv" gives $((5 * wanted)) chosen "$ASSAY" export two --format csv
check "gbench" gives "$wanted" sh -c '"$0" export two --format gbench --filter "$1" | grep -c "\"run_name\""' "$ASSAY" "$filter"
check "bmf" gives "$wanted" sh -c '"$0" export two --format bmf --filter "$1" | grep -c "\"latency\""' "$ASSAY" "$filter"
check "history has them" gives "$wanted" sh -c '"$0" history --format json --filter "$1" | grep -c "\"variant\""' "$ASSAY" "$filter"
check "as by its words" gives "$("$ASSAY" history 'int8_quantize/host_omp' cold | wc -l)" \
    sh -c '"$0" history --filter "int8_quantize/host_omp cold" | wc -l' "$ASSAY"
check "report has them" exits 0 "$ASSAY" report two --filter "$filter" -o r.html
check "and no other" gives "$wanted" sh -c 'sed -n "/application\/json.*run/,/<\/script>/p" r.html | grep -o "\"variant\":" | wc -l'
check "in Markdown, too" fails says host_scalar "$ASSAY" report two --filter "$filter" --against one --format md -o -
check "a plot takes it" exits 0 "$ASSAY" plot speedup two --filter "$filter" -o p.svg --keep-script
check "as it takes --case" exits 0 "$ASSAY" plot speedup two --case "$filter" -o q.svg --keep-script
check "with the same points" cmp -s p.tsv q.tsv
check "and no others" fails grep -q host_scalar p.tsv

cat >own.ini <<'END'
[suite]
title = two claims
[claim A-1]
document = a note
says = faster
claimed = 2
more = int8_quantize/host_scalar n=100k
less = int8_quantize/host_memcpy n=100k
[claim A-2]
document = a note
says = faster
claimed = 2
more = int8_quantize_token/host_scalar
less = int8_quantize_token/host_omp
END
check "claims are those of such a case" says "1 claim" "$ASSAY" claims two --claims ./own.ini --filter "$filter"
check "and no others" fails says A-2 "$ASSAY" claims two --claims ./own.ini --filter "$filter"

# What matches nothing is said in one line, and ends with 4.
none='nothing/here'
for command in "show two" "compare one two" "export two --format csv" "export two --format bmf" \
    "report two -o none.html" "claims two --claims ./own.ini" history; do
    # shellcheck disable=SC2086
    check "$command says that nothing matches" exits 4 "$ASSAY" $command --filter $none
    # shellcheck disable=SC2086
    check "in a line that names it" warns "$none" "$ASSAY" $command --filter $none
    # shellcheck disable=SC2086
    check "and no other" one_line "$ASSAY" $command --filter $none
done
check "no file is left of it" [ ! -e none.html ]
check "ndjson is a whole run" exits 2 "$ASSAY" export two --filter "$filter"
check "a history wants a case" exits 2 "$ASSAY" history
check "said once" exits 2 "$ASSAY" history 'int8_quantize/*' --filter "$filter"
for command in show 'report -o x.html' 'export --format csv' 'compare one two' history; do
    # shellcheck disable=SC2086 # options on purpose
    check "$command: a name nearly right gets a suggestion" ends 4 "did you mean 'int8_quantize/host_omp'?" \
        "$ASSAY" $command --filter 'int8_quantise/host_omb cold'
done
check "explain, too" ends 4 "did you mean 'int8_quantize/*'?" "$ASSAY" explain one two 'int8_quantise'
check "none is offered for what was right" fails warns "did you mean" "$ASSAY" history --filter 'int8_quantize n=7'
