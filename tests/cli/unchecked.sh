#!/usr/bin/env bash
# A row whose answer nothing was held against has a time and is called unchecked, never ok.
. "$(dirname "$0")/lib.sh"

suite=$HERE/faults/unjudged.ini
check "what is unchecked is no error, an unwritten output is one" \
    exits 1 "$FAULTS" run "$suite" --device host --no-ceilings --db u.sqlite --label one
cp said.out table.out
row() { query u.sqlite "SELECT status || ': ' || reason FROM result WHERE variant = '$1'"; }
check "it is stored as unchecked" gives "unchecked: " row plain
check "a wrong answer too" gives "unchecked: " row thrice
check "what wrote a part of its outputs is wrong" gives \
    "wrong: 50002 of 100003 elements of 'y' were not written, the first at y[50002]" row half
check "it has a time" gives 2 query u.sqlite "SELECT count(*) FROM cases WHERE time_ns > 0"
check "and an interval" gives 2 query u.sqlite "SELECT count(*) FROM spread"
check "the table marks it" grep -qE "thrice .*[0-9] .s " table.out
check "and says what the mark is" grep -qF "unchecked: nothing says whether its answer is right" table.out
check "the sum has the word" grep -qF "2 unchecked, 1 wrong" table.out
check "it can be a baseline" grep -qF "base" table.out

check "JSON" says '"status": "unchecked"' "$FAULTS" show one --db u.sqlite --format json
check "CSV" says ",unchecked," "$FAULTS" show one --db u.sqlite --format csv
check "Markdown" says "| u" "$FAULTS" show one --db u.sqlite --format md # "u~" on a busy machine
check "without a wrong one the run ends well" exits 0 "$FAULTS" run "$suite" --device host \
    --filter '*/thrice,*/plain' --db u.sqlite --label two
check "runs of it can be compared, and the tag says so" says UNCHECKED \
    "$FAULTS" compare one two --db u.sqlite --format json
check "exported and imported it stays so" exits 0 "$FAULTS" export one --db u.sqlite -o one.ndjson
"$FAULTS" import one.ndjson --db v.sqlite 2>import.err
check "the word survives" gives 2 query v.sqlite "SELECT count(*) FROM result WHERE status = 'unchecked'"
