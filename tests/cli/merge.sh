#!/bin/bash
# assay merge: in any order, again, killed at any moment, and of two contents under one id the first.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/central/clones.sh
. "$HERE/cli/central/clones.sh"

SHARDS=40

shards $SHARDS 40
CASES=$(cases one.sqlite)

# content DATABASE: all its rows, in an order of their own.
content() { sqlite3 -batch "$1" .dump | sort | cksum; }
# same DATABASE DATABASE
same() { [ "$(content "$1")" = "$(content "$2")" ]; }
# whole DATABASE: no run lacks a case or the samples of one.
whole() {
    [ "$(query "$1" "SELECT count(*) FROM run WHERE $CASES !=
        (SELECT count(*) FROM launch JOIN result ON launch_id = launch.id JOIN sample
         ON result_id = result.id WHERE run_id = run.id)")" = 0 ]
}

check "forty shards merge" exits 0 "$ASSAY" merge shards/*.sqlite --db whole.sqlite
check "into forty runs with every case" gives "$SHARDS|$((SHARDS * CASES))" query whole.sqlite \
    "SELECT (SELECT count(*) FROM run), (SELECT count(*) FROM sample)"
turned() { find shards -name '*.sqlite' | sort -r; }
# shellcheck disable=SC2046 # no blanks in them
check "the other order, some of them twice" exits 0 "$ASSAY" merge $(turned) shards/100*.sqlite --db turned.sqlite
check "gives the same rows" same whole.sqlite turned.sqlite

# Each kill comes a little later, until one merge comes to its end.
kills=0
broken=0
for ((delay = 10; delay < 5000; delay *= 2)); do
    "$ASSAY" merge shards/*.sqlite --db killed.sqlite 2>killed.err &
    merger=$!
    sleep "$(printf '0.%04d' $delay)"
    kill -KILL $merger 2>/dev/null && kills=$((kills + 1))
    wait $merger 2>/dev/null && break
    [ ! -s killed.sqlite ] || whole killed.sqlite 2>/dev/null || [ "$(query killed.sqlite 'PRAGMA user_version')" = 0 ] ||
        broken=$((broken + 1))
done
echo "# $kills kills"
check "merges were killed" [ "$kills" -ge 2 ]
check "what a kill leaves has whole runs alone" [ "$broken" -eq 0 ]
check "the merge is made again" exits 0 "$ASSAY" merge shards/*.sqlite --db killed.sqlite
check "and has the same rows" same whole.sqlite killed.sqlite

# Other contents under the ids that are there.
sqlite3 one.sqlite "VACUUM INTO 'forged.sqlite'"
sed "s/SHARD!/ab1000/" shard.sql | sqlite3 -batch forged.sqlite
sqlite3 -batch forged.sqlite "UPDATE result SET time_ns = 2 * time_ns WHERE ordinal <= 3;
    UPDATE sample SET mark = NULL WHERE result_id IN (SELECT id FROM result WHERE ordinal = 1);
    UPDATE run SET label = 'forged'"
check "a conflict has an exit code" exits 1 "$ASSAY" merge forged.sqlite --db whole.sqlite
check "and is told by table" warns "forged.sqlite: 5 rows differ from those with the same id here, which stay as they are: 1 of run, 3 of result, 1 of sample" \
    "$ASSAY" merge forged.sqlite --db whole.sqlite
check "nothing is overwritten" same whole.sqlite killed.sqlite
check "what follows is merged all the same" warns "one.sqlite: " "$ASSAY" merge forged.sqlite one.sqlite --db whole.sqlite
check "a run more" gives $((SHARDS + 1)) query whole.sqlite "SELECT count(*) FROM run"
check "a file that is missing stops before anything is written" exits 2 \
    "$ASSAY" merge shards/1000.sqlite nosuch.sqlite --db fresh.sqlite
check "so there is no database" [ ! -e fresh.sqlite ]
