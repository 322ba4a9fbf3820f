#!/usr/bin/env bash
# assay history: a case over runs, its changes and borders.
. "$(dirname "$0")/lib.sh"

"$HERE/history_db.sh" "$ASSAY" h.sqlite 200 20
export ASSAY_DB=h.sqlite

# json PATH: of what the last `assay history --format json` wrote to j.json.
json() { sqlite3 :memory: "SELECT json_extract(readfile('j.json'), '$1')"; }
history_json() { "$ASSAY" history "$@" --format json >j.json; }

check "a case has its line" says "op_0/v3 n=4000 cold  on Made-up GPU" "$ASSAY" history op_0/v3
check "and how many runs have it" says "199 runs" "$ASSAY" history op_0/v3
check "and how many have no time for it" says "1 without a time" "$ASSAY" history op_0/v3
check "a change is said with its date" says "2026-01-05  change   +10.0 %" "$ASSAY" history op_0/v3
check "a border is said with its cause" says "driver 570 -> 580" "$ASSAY" history op_0/v3
check "a case without a change has its border alone" fails says "change" "$ASSAY" history op_0/v2
check "blocks where the locale has them" says "▁" env LC_ALL=C.UTF-8 "$ASSAY" history op_0/v3
check "plain marks where it has not" says "....." env LC_ALL=C "$ASSAY" history op_0/v3
check "a glob takes several" gives 10 bash -c '"$0" history "op_1/*" | grep -c Made-up' "$ASSAY"
check "an operation takes all its variants" \
    gives 10 bash -c '"$0" history op_1 | grep -c Made-up' "$ASSAY"
check "a word of the shape chooses" \
    gives 1 bash -c '"$0" history "*" n=4000 cold | grep -c Made-up' "$ASSAY"
check "so does a glob in it" gives 2 bash -c '"$0" history "*" "n=[45]000" | grep -c Made-up' "$ASSAY"
check "--last looks at the newest runs only" says "20 runs" "$ASSAY" history op_0/v3 --last 20
check "the same twice" gives "$("$ASSAY" history '*')" "$ASSAY" history '*'
cp h.sqlite long.sqlite
query long.sqlite "UPDATE device SET name = 'NVIDIA H100 80GB HBM3'; UPDATE environment SET git_commit = 'c0ffee00c0ffee00';
    UPDATE result SET operation = 'codec_encode_batch_of_many', shape = 'leaves=64 batches=11000 volume=smoke ' || shape"
"$ASSAY" ack 'codec_encode_batch_of_many/v3' --reason "$(seq -s ' ' 1 60)" --until 2099-01-01 --db long.sqlite >/dev/null
check "in 80 columns of a terminal" fits_terminal "$ASSAY" history '*' --db long.sqlite
check "in lines as long as they are of a file" says "of c0ffee00c0ff  driver 570 -> 580" "$ASSAY" history '*' --db long.sqlite
check "it reports, and ends well" exits 0 "$ASSAY" history op_0/v3

check "json is JSON" history_json op_0/v3
check "of format 1" gives 1 json '$.format'
check "and the runs counted" gives 199 json '$.series[0].runs'
check "the change at its point" gives 99 json '$.series[0].changes[0].at'
check "its kind" gives change json '$.series[0].changes[0].kind'
check "the border after it" gives border json '$.series[0].changes[1].kind'
check "and its cause" gives driver json '$.series[0].changes[1].causes[0]'
interval() { sqlite3 :memory: "SELECT value ->> 'launches', value ->> 'time_ns', value ->> 'lo_ns', value ->> 'hi_ns', value ->> 'interval'
    FROM json_each(readfile('j.json'), '$.series[0].points') LIMIT 1"; }
cp h.sqlite i.sqlite
query i.sqlite "UPDATE result SET lo_ns = 990, time_ns = 1000, hi_ns = 1020"
history_json op_0/v3 --db i.sqlite
check "one launch has the interval of its samples" gives "1|1000|990|1020|95 % confidence" interval
query i.sqlite "CREATE TEMP TABLE more AS SELECT * FROM launch WHERE run_id = printf('%032x', 0);
    UPDATE more SET id = 'second', number = 2; INSERT INTO launch SELECT * FROM more;
    CREATE TEMP TABLE again AS SELECT * FROM result WHERE launch_id = printf('%032x', 1) AND variant = 'v3';
    UPDATE again SET id = 'again' || id, launch_id = 'second', time_ns = 1100; INSERT INTO result SELECT * FROM again"
history_json op_0/v3 --db i.sqlite
check "two have theirs" gives "2|1050|1000|1100|smallest to largest" interval
history_json op_0/v3
check "the shape as an object" gives 4000 json '$.series[0].shape.n'

check "no such case is exit 4" exits 4 "$ASSAY" history nosuch
check "and said on standard error" warns "no case matches 'nosuch'" "$ASSAY" history nosuch
check "a shape that no case has is exit 4" exits 4 "$ASSAY" history '*' n=1
check "no case is a usage error" exits 2 "$ASSAY" history
check "a word that is none is a usage error" exits 2 "$ASSAY" history op_0 warm
check "and is named" warns "'warm'" "$ASSAY" history op_0 warm
check "an unknown format is a usage error" exits 2 "$ASSAY" history op_0 --format xml
check "--last wants a number" exits 2 "$ASSAY" history op_0 --last few
check "no database is exit 2" exits 2 "$ASSAY" history op_0 --db none.sqlite
check "an unknown option gets a suggestion" warns "--format" "$ASSAY" history op_0 --fromat json
check "the help has an example" says "example: assay history" "$ASSAY" help history

# Borders of what else makes times comparable: from run 100 on the power limit, from 120 on ECC, from 140 on MIG.
cp h.sqlite set.sqlite
query set.sqlite "UPDATE launch SET power_limit_w = iif(run_id < printf('%032x', 100), 700, 650.5),
    ecc = run_id < printf('%032x', 120), mig = run_id >= printf('%032x', 140)"
borders() { sqlite3 :memory: "SELECT group_concat(value ->> 'at' || ' ' || (value ->> 'causes'), ', ')
    FROM json_each(readfile('j.json'), '$.series[0].changes') WHERE value ->> 'kind' = 'border'"; }
setting="json_extract(readfile('j.json'), '$.settings[#-1]')"
check "another power limit is a border" says "power limit 700 W -> 650.5 W" "$ASSAY" history op_0/v2 --db set.sqlite
check "another state of ECC is" says "ECC on -> off" "$ASSAY" history op_0/v2 --db set.sqlite
check "another state of MIG is" says "MIG off -> on" "$ASSAY" history op_0/v2 --db set.sqlite
history_json op_0/v2 --db set.sqlite
check "json names them" gives '99 ["power limit"], 119 ["ECC"], 139 ["MIG"], 149 ["driver"]' borders
check "and has what they are" gives "650.5|0|1" sqlite3 :memory: \
    "SELECT $setting ->> 'power_limit_w', $setting ->> 'ecc', $setting ->> 'mig'"
query set.sqlite "UPDATE launch SET power_limit_w = NULL WHERE run_id < printf('%032x', 100);
    UPDATE launch SET ecc = NULL WHERE run_id >= printf('%032x', 120);
    UPDATE launch SET mig = NULL WHERE run_id BETWEEN printf('%032x', 130) AND printf('%032x', 150)"
history_json op_0/v2 --db set.sqlite
check "what is unknown on one side is none, and what changed meanwhile is one later" \
    gives '149 ["driver"], 150 ["MIG"]' borders

# The size that the time was promised for.
"$HERE/history_db.sh" "$ASSAY" big.sqlite 2000 200
limit=0.2
[ -n "${ASAN_OPTIONS-}" ] && limit=1 # the sanitizers take their own time
check "a case of 200 is found in 2,000 runs" says "1999 runs" "$ASSAY" history op_3/v7 --db big.sqlite
check "in less than $limit s" once_in_three takes_less_than $limit "$ASSAY" history op_3/v7 --db big.sqlite
plan() {
    query big.sqlite "EXPLAIN QUERY PLAN SELECT launch_id, status, time_ns, lo_ns, hi_ns FROM result WHERE
        operation = 'a' AND variant = 'b' AND shape = 'c' AND temperature = 'cold' AND place = 'cuda'
        AND purpose = 'case'"
}
check "a case is found by its index" says "USING INDEX result_case" plan
rm big.sqlite # large
