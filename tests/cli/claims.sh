#!/usr/bin/env bash
# assay claims: what is measured for them, the ledger, and what is refused. The rules
# of a verdict are in tests/test_claim.c.
. "$(dirname "$0")/lib.sh"
export ASSAY_DB=c.sqlite
rows=$HERE/../suites/claims.ini

# json PATH: of the ledger in l.json.
json() { sqlite3 :memory: "SELECT json_extract(readfile('l.json'), '$1')"; }

cat >own.ini <<'END'
[suite]
title = claims of my own
budget = 0.02

[claim A-1]
document = a note
says = "five" times | <b>faster</b>
claimed = 1000..
more = int8_quantize/host_scalar n=100k hot
less = int8_quantize/host_memcpy n=100k hot

[claim A-2]
document = a note
says = the same bytes
claimed = 1
quantity = bytes
more = int8_quantize/host_scalar n=100k hot
less = int8_quantize/host_memcpy n=100k hot

[claim A-3]
document = a note
says = a kernel to come
claimed = 2
more = nothing_yet/fast n=3
less = int8_quantize/host_memcpy n=100k hot
awaits = yes

[claim A-4]
document = a note
says = no figure can settle it
rule = none
note = it is a matter of taste
END
check "an empty database is no ledger" exits 2 "$ASSAY" claims --claims ./own.ini
check "a file of claims is a suite" exits 0 "$ASSAY" run ./own.ini --device host --no-ceilings
check "which measures what they need, and nothing else" gives 2 cases c.sqlite
check "the ledger is fine" exits 0 "$ASSAY" claims --claims ./own.ini
check "without a word on standard error" silent "$ASSAY" claims --claims ./own.ini
"$ASSAY" claims --claims ./own.ini --format json -o l.json
check "a claim of the same bytes holds" gives HOLDS json '$.claims[1].verdict'
check "with what was measured" gives 1 json '$.claims[1].measured'
check "a ratio has an interval around it" gives 1 sqlite3 :memory: "SELECT
    json_extract(j, '\$.claims[0].measured_lo') <= json_extract(j, '\$.claims[0].measured') AND
    json_extract(j, '\$.claims[0].measured') <= json_extract(j, '\$.claims[0].measured_hi')
    FROM (SELECT readfile('l.json') AS j)"
check "far above the range is not inside it" fails gives HOLDS json '$.claims[0].verdict'
check "a case that the program does not have is said" gives \
    "no such case in this program: no operation is called 'nothing_yet'" json '$.claims[2].why'
check "and is not measured" gives "NOT MEASURED" json '$.claims[2].verdict'
check "what no figure settles is not comparable" gives "NOT COMPARABLE" json '$.claims[3].verdict'
check "verdicts are counted" gives "1|1" sqlite3 :memory: "SELECT
    json_extract(readfile('l.json'), '\$.counts.HOLDS'),
    json_extract(readfile('l.json'), '\$.counts.\"NOT MEASURED\"')"
check "a table for GitHub keeps markup out" says '\<b\>faster\</b\>' "$ASSAY" claims --claims ./own.ini \
    --format md
check "a run can be named" says "run " "$ASSAY" claims latest --claims ./own.ini
check "a run that is not there is refused" exits 2 "$ASSAY" claims nosuch --claims ./own.ini

# ----------------------------------------------------------- the shipped ones
check "the shipped claims can be read" exits 4 "$ASSAY" claims
check "nothing settled has an exit code of its own" exits 4 "$ASSAY" claims latest
"$ASSAY" claims --format json -o l.json
for row in D0-{1..6} D1-{1..6} D2-{1..7} D3-{1..7} D4-{1..7}; do
    check "there is a claim $row" gives 1 sqlite3 :memory: "SELECT count(*) > 0 FROM
        json_each(readfile('l.json'), '\$.claims') WHERE json_extract(value, '\$.id') = '$row' OR
        json_extract(value, '\$.id') LIKE '$row.%'"
done
# missing WHERE: claims whose cases the program lacks.
missing() {
    sqlite3 :memory: "SELECT count(*) FROM json_each(readfile('l.json'), '\$.claims')
        WHERE json_extract(value, '\$.why') LIKE 'no such case in this program%'"
}
check "none is without its cases but those marked as awaiting them" \
    [ "$(missing)" -le "$(grep -c '^awaits = yes' "$rows")" ]
echo "# awaiting their cases: $(missing)"

# ------------------------------------------------------------------ refused
# refused LINE WORDS TEXT: a claim with this in it ends with 2, file, line and words.
refused() {
    printf '[claim B]\ndocument = d\nsays = s\nclaimed = 2\n%b' "$3" >bad.ini
    exits 2 "$ASSAY" claims --claims ./bad.ini || return 1
    grep -qF -- "bad.ini:$1: $2" said.err && [ "$(wc -l <said.err)" -eq 1 ]
}
less='less = int8_quantize/host_memcpy n=100k\n'
check "an unknown operation has its line" refused 5 "no operation is called 'int8_quantise'" \
    "more = int8_quantise/host_scalar\n$less"
check "an unknown dim too" refused 5 "int8_quantize has no dim 'm'" \
    "more = int8_quantize/host_scalar m=3\n$less"
check "an impossible value" refused 5 "" "more = int8_quantize/host_scalar n=0\n$less"
check "an unknown key" refused 5 "a claim has no key 'mor' (did you mean 'more'?)" \
    "mor = int8_quantize/host_scalar\n$less"
check "a suite with such a claim is refused as well" exits 2 "$ASSAY" run ./bad.ini --dry-run
check "a file without claims" warns "there is no [claim] in it" "$ASSAY" claims --claims smoke
check "an unknown format" exits 2 "$ASSAY" claims --format yaml
check "an output that cannot be written" exits 2 "$ASSAY" claims --claims ./own.ini -o no/where.md
check "the help has an example" says "example:" "$ASSAY" help claims
