#!/usr/bin/env bash
# Launches, shards, seeds, labels, dry runs; and the JSON of show.
. "$(dirname "$0")/lib.sh"

export OMP_NUM_THREADS=1
many_groups 4 many.ini
measure() { "$ASSAY" run many.ini --device host --no-ceilings "$@"; }

check "a dry run is fine" exits 0 measure --dry-run
check "it says what would be measured" says "4 groups, 8 cases" measure --dry-run
check "it makes no database" fails test -e results

check "two launches are measured" exits 0 measure --launches 2 --label twice --seed 5
check "into one run" gives "1|2|16" query results/assay.sqlite \
    "SELECT count(*), (SELECT count(*) FROM launch), (SELECT count(*) FROM result) FROM run"
check "with orders of their own" gives 2 query results/assay.sqlite "SELECT count(DISTINCT seed) FROM launch"
check "show combines them into a row a case" says "8 ok" "$ASSAY" show
check "and says how many they were" says "2 launches" "$ASSAY" show
check "an interval of two launches is no confidence interval" says "smallest to largest" "$ASSAY" show
check "in JSON neither" says '"interval": "smallest to largest"' "$ASSAY" show --format json

check "the same seed again" exits 0 measure --launches 2 --label again --seed 5
check "has the same seeds of launches" gives 2 query results/assay.sqlite "SELECT count(DISTINCT seed) FROM launch"
check "and another seed" exits 0 measure --label other --seed 6
check "has another" gives 3 query results/assay.sqlite "SELECT count(DISTINCT seed) FROM launch"

for i in 1 2; do
    check "shard $i of 2 is measured" exits 0 measure --shard $i/2 --db shards.sqlite
done
check "two shards are all cases, each once" gives "8|8" query shards.sqlite \
    "SELECT count(*), count(DISTINCT shape || variant) FROM result"
check "a filter leaves the rest out" exits 0 measure --filter '*/host_scalar' --db filter.sqlite
check "an interval of samples is one" says '"interval": "95 % confidence"' \
    "$ASSAY" show --db filter.sqlite --format json
check "of the same groups" gives "4|host_scalar" query filter.sqlite "SELECT count(*), min(variant) FROM result"

id=$(query results/assay.sqlite "SELECT id FROM run WHERE label = 'twice'")
for name in twice "$id" "${id:0:8}" latest~2 results/assay.sqlite:twice; do
    check "show $name is that run" says "\"twice\"" "$ASSAY" show "$name"
done
check "latest is the default" says "\"other\"" "$ASSAY" show
check "an unknown run gets a suggestion" warns "did you mean 'twice'?" "$ASSAY" show twise
check "and is exit 2" exits 2 "$ASSAY" show twise
# A long name of a device goes on in a line of its own.
check "list runs has a row a run" gives 3 bash -c '"$0" list runs | grep -cE "^[0-9a-f]{8} "' "$ASSAY"

two=$HERE/../suites
check "suites that share shapes are measured together" says "groups" "$ASSAY" run "$two/smoke.ini" \
    "$two/core.ini" --device host --dry-run
check "each shape once" [ -z "$(grep '^[a-z]' said.out | sort | uniq -d)" ]

# ------------------------------------------------------------------- JSON --

exits 1 "$FAULTS" run "$HERE/faults/faults.ini" --device host --db json.sqlite --format json \
    --filter 'fault_double/[ruw][rin]*'
cp said.out run.json
json() { sqlite3 -batch :memory: "SELECT $1 FROM (SELECT readfile('run.json') AS doc)"; }
# keys PATH: the keys of an object, sorted.
keys() { json "(SELECT group_concat(key, ' ') FROM (SELECT key FROM json_each(doc, '$1') ORDER BY key))"; }
check "show's JSON is one document" gives 1 json "json_valid(doc)"
check "of this format" gives "1" json "json_extract(doc, '\$.format')"
check "of this version" gives "$(cat "$HERE/../VERSION")" json "json_extract(doc, '\$.assay')"
check "with these parts" gives "assay format rows run" keys '$'
wanted="bytes ceiling checked outputs ceiling_fraction clock device energy_mj event_ns first_call_ns hi_ns kind lo_ns operation ops"
wanted+=" quality reason samples shape speedup speedup_hi speedup_lo status temperature time_ns variant wall_ns workspace_bytes"
has_keys() {
    local have
    have=" $(keys '$.rows[0]') "
    for key in $wanted; do
        case $have in *" $key "*) ;; *) echo "# no key $key in:$have"; return 1 ;; esac
    done
}
check "a row has every key of the format" has_keys
check "every row has the same" gives 1 \
    json "(SELECT count(DISTINCT (SELECT group_concat(key) FROM json_each(r.value))) FROM json_each(doc, '\$.rows') AS r)"
# of VARIANT KEY: the JSON text of a row's key.
of() { json "(SELECT json_extract(value, '\$.$2') IS NULL FROM json_each(doc, '\$.rows') WHERE json_extract(value, '\$.variant') = '$1')"; }
for key in time_ns lo_ns hi_ns speedup energy_mj; do
    check "$key of a wrong case is null" gives 1 of wrong "$key"
done
check "an energy that nobody measured is null" gives 1 of right energy_mj
check "an event time on the host is null" gives 1 of right event_ns
check "a time that was measured is not" gives 0 of right time_ns
check "a shape is an object" gives 100003 \
    json "json_extract(doc, '\$.rows[0].shape.n')"
check "it is the same from the store" gives "$(cat run.json)" "$ASSAY" show --format json --db json.sqlite
for format in table md csv json; do
    check "$format is on standard output alone" exits 1 "$ASSAY" show --db json.sqlite --format $format
    check "$format writes nothing to standard error" silent "$ASSAY" show --db json.sqlite --format $format
done
