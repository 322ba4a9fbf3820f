#!/usr/bin/env bash
# One spelling of a case: what a command prints is what each other one takes, pasted as it
# stands, and it takes that case alone. How patterns match is in tests/test_case_name.c.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/gate/sim.sh
. "$HERE/cli/gate/sim.sh"
export ASSAY_DB=names.sqlite

int8_suite two.ini 'variants = host_memcpy, host_scalar' 'baseline = host_memcpy' \
    'n = 100k, 1M' 'temperature = cold, hot'
slow=',slow=int8_quantize/*:10'
plan() { "$ASSAY" run two.ini --device sim --no-ceilings --dry-run "$@"; }
# side LABEL SEED REST: a run of them.
side() {
    "$ASSAY" run two.ini --device "$(calm "$2" "$3")" --seed "$2" --launches 6 --no-ceilings --label "$1"
}

# --------------------------------------------------------------- what is printed

# within WHAT: what stands in a text for one of the eight, each spelling once.
within() { grep -oE 'int8_quantize/host_memcpy[ ,]+n=100000[ ,][^|<"]*hot' | sort -u; }
# of_heading: the same, where the variant stands in a row of its own.
of_heading() { sed -nE 's/^(#### `)?int8_quantize( n=100000 .*hot)(`|  .*|: .*)?$/int8_quantize\/host_memcpy\2/p' | sort -u; }

plan "$@" >plan.out
case=$(within <plan.out)
check "a dry run names the case" [ -n "$case" ]
check "once" gives 1 grep -cxF "$case" plan.out

side base 1 '' >/dev/null 2>base.err
sed 's/^\[[0-9/]*\] //' base.err >groups.err
side slowed 2 "$slow" >/dev/null 2>&1
gate_two() {
    "$ASSAY" gate two.ini --base "$ASSAY" --base-device "$(calm 1)" --cand-device "$(calm 2 "$slow")" \
        --allow-simulated --seed 1 "$@"
}
run gate_two --pinned base --markdown gate.md --junit gate.xml --json gate.json
cp said.out gate.out
check "a gate that slowed has failed" [ "$code" -eq 1 ]
"$ASSAY" report slowed --against base --format md -o report.md
"$ASSAY" plot roofline base -o roofline.svg --keep-script

prints() { [ "$("$@")" = "$case" ] || { "$@" | sed 's/^/# printed: /'; return 1; }; }
of() { "$1" <"$2"; }
told_by() { "$ASSAY" "${@:2}" | "$1"; }
assembled() { sed -nE 's/.*classname="([^"]*)" name="([^"]*)".*/\1\/\2/p'; }
junit() { assembled <gate.xml | within; }
check "progress has it in its line of a group" prints of of_heading groups.err
check "show has it in its headings" prints told_by of_heading show base
check "in markdown too" prints told_by of_heading show base --format md
for format in table md; do
    check "compare prints it as $format" prints told_by within compare base slowed --format $format
done
for file in gate.out gate.md roofline.tsv; do
    check "$file has it" prints of within $file
done
check "a test of JUnit has it in its two names" prints junit
slowest=$(sed -nE 's/.*the slowest against base: (.*) [+-][0-9.]+ %.*/\1/p' gate.md)
check "so does what a gate says of the slowest" says "1 groups, 1 cases" plan --filter "$slowest"
check "history prints it" prints told_by within history '*'

# ----------------------------------------------------------------- what is taken

# alone COMMAND...: what it says of cases is of this one.
alone() {
    run "$@"
    [ "$(grep -oE 'int8_quantize/host_[a-z]* n=[^|<"]*(cold|hot)' said.out | sort -u)" = "$case" ]
}
acked() {
    "$ASSAY" compare base slowed --format json >c.json
    sqlite3 -batch :memory: "SELECT group_concat(value ->> 'variant' || ' ' || (value ->> '$.shape.n')
        || ' ' || (value ->> 'temperature')) FROM json_each(readfile('c.json'), '$.rows')
        WHERE value ->> 'reason' LIKE 'acknowledged%'"
}
# takes_ack PATTERN: it is acknowledged, and no other.
takes_ack() {
    "$ASSAY" ack "$1" --reason known --until 2099-01-01 || return 1
    local found
    found=$(acked)
    [ "$("$ASSAY" ack --list | grep -cF -- "$1")" = 1 ] && "$ASSAY" ack "$1" --drop &&
        [ "$found" = "host_memcpy 100000 hot" ] && [ -z "$(acked)" ]
}
# takes_plot PATTERN: a picture has it, and no other.
takes_plot() {
    rm -f one.*
    "$ASSAY" plot roofline base --case "$1" -o one.svg --keep-script && alone cat one.tsv
}
with_comma="${case% hot}, hot"
for spelling in "$case" "$with_comma"; do
    check "--filter takes it ($spelling)" alone plan --filter "$spelling"
    check "and nothing else" says "1 groups, 1 cases" plan --filter "$spelling"
    check "history does" alone "$ASSAY" history "$spelling"
    # shellcheck disable=SC2086
    check "as words too" alone "$ASSAY" history $spelling
    check "ack does" takes_ack "$spelling"
    check "plot does" takes_plot "$spelling"
done
check "a gate's --filter takes it" exits 1 gate_two --filter "$case" --json one.json
check "alone" gives "host_memcpy 100000 hot" sqlite3 -batch :memory: "SELECT value ->> 'variant' || ' ' ||
    (value ->> '$.shape.n') || ' ' || (value ->> 'temperature') FROM json_each(readfile('one.json'), '$.rows')"

heading=${case/\/host_memcpy/}
check "a heading takes its group" says "1 groups, 2 cases" plan --filter "$heading"
other=${case/host_memcpy/host_scalar}
check "two cases with a comma between are two" says "1 groups, 2 cases" plan --filter "$case,$other"
check "words stand in any order" alone plan --filter 'int8_quantize/host_memcpy hot n=100000'

# ---------------------------------------------------------------------- claims

cat >own.ini <<END
[suite]
title = a claim
[claim A-1]
document = a note
says = slower
claimed = 0.001..1000
more = $other
less = $case host
END
ledger() { "$ASSAY" claims base --claims "./$1" --format json >l.json; }
verdict() { ledger "$1"; sqlite3 -batch :memory: "SELECT json_extract(readfile('l.json'), '$.claims[0].verdict')"; }
side_of_claim() {
    ledger own.ini
    sqlite3 -batch :memory: "SELECT json_extract(readfile('l.json'), '$.claims[0].$1.variant') || ' ' ||
        json_extract(readfile('l.json'), '$.claims[0].$1.shape.n') || ' ' ||
        json_extract(readfile('l.json'), '$.claims[0].$1.temperature')"
}
check "a claim takes it" gives "host_memcpy 100000 hot" side_of_claim less
check "and finds it in the run" gives HOLDS verdict own.ini
check "what a claim needs is these two" says "1 groups, 2 cases" \
    "$ASSAY" run ./own.ini --device sim --no-ceilings --dry-run
sed 's/ host$/ cuda/' own.ini >elsewhere.ini
check "one at a place where nothing ran is not found" gives "NOT MEASURED" verdict elsewhere.ini
