#!/usr/bin/env bash
# What a gate keeps or finds in a database: acks, baselines, stored runs; compare and
# merge of runs whose times are known.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/gate/fake.sh
. "$HERE/cli/gate/fake.sh"

check "an ack wants a reason" exits 2 "$ASSAY" ack 'copy/b*' --until 2099-01-01
check "and an end" exits 2 "$ASSAY" ack 'copy/b*' --reason known
check "with both it is taken" exits 0 "$ASSAY" ack 'copy/b*' --reason known --until 2099-01-01 --up-to 20
check "an acknowledged slowdown is no reason to fail" exits 0 gate plain slow
check "and is reported" grep -qF -- "acknowledged until 2099-01-01: known" g.out
check "up to its level" exits 0 "$ASSAY" ack 'copy/b*' --reason known --until 2099-01-01 --up-to 1
check "beyond it fails" exits 1 gate plain slow
for day in 2099-02-30 2099-13-01 2099-00-10 2099-04-31; do
    check "$day is no day" warns "there is no such day" "$ASSAY" ack 'copy/b*' --reason known --until $day
done
check "2096-02-29 is one" exits 0 "$ASSAY" ack 'copy/a*' --reason known --until 2096-02-29
check "a day to come is taken in silence" silent "$ASSAY" ack 'copy/a*' --reason known --until 2096-02-29
check "a pattern that no case matches so far is kept" exits 0 "$ASSAY" ack 'copz/b n=1' --reason known --until 2099-01-01
check "and said, with what is near" warns "matches 'copz/b n=1' (did you mean 'copy/b'?) so far" \
    "$ASSAY" ack 'copz/b n=1' --reason known --until 2099-01-01
check "where there is no case yet it is in order" silent \
    "$ASSAY" ack 'copz/b' --reason known --until 2099-01-01 --db fresh.sqlite
check "an end that has come is said" warns "2020-01-01 has come" \
    "$ASSAY" ack 'copy/b*' --reason known --until 2020-01-01
check "an ack that has ended counts no more" exits 0 "$ASSAY" ack 'copy/b*' --reason known --until 2020-01-01
check "so the gate fails" exits 1 gate plain slow
check "it is listed as such" says "EXPIRED" "$ASSAY" ack --list
check "and can be dropped" exits 0 "$ASSAY" ack 'copy/b*' --drop
check "once" exits 2 "$ASSAY" ack 'copy/b*' --drop

./plain run tiny --db results/assay.sqlite --label one
check "one launch on each side can prove nothing" says "one launch on each side" "$ASSAY" compare one one
check "a baseline is set" exits 0 "$ASSAY" baseline set pinned one --note "as shipped"
check "and listed" says "as shipped" "$ASSAY" baseline list
check "a gate against one launch is exit 4" exits 4 "$ASSAY" gate tiny --baseline pinned --cand ./plain
check "and says what it needs" warns "more than 1 launch: a stored gate needs 5" \
    "$ASSAY" gate tiny --baseline pinned --cand ./plain
check "before any launch" fails warns "round 1" "$ASSAY" gate tiny --baseline pinned --cand ./plain
check "so few launches of the candidate are a usage error" exits 2 \
    "$ASSAY" gate tiny --baseline pinned --cand ./plain --launches 4
for launch in 1 2 3 4 5; do
    ./plain run tiny --db five.sqlite --label "of five" --seed $launch
done
query five.sqlite "UPDATE launch SET number = (SELECT count(*) FROM launch AS other WHERE other.id < launch.id) + 1;
    UPDATE launch SET run_id = (SELECT min(id) FROM run); DELETE FROM run WHERE id NOT IN (SELECT run_id FROM launch)"
check "against five it says something" exits 0 "$ASSAY" gate tiny --baseline "of five" --cand ./plain --db five.sqlite
check "a case that the candidate loses is exit 5" exits 5 \
    "$ASSAY" gate tiny --baseline "of five" --cand ./fleeting --db five.sqlite
check "and says in how many launches" says "the candidate does not have it in 5 of 6 launches" \
    "$ASSAY" gate tiny --baseline "of five" --cand ./fleeting --db five.sqlite
query five.sqlite "DELETE FROM result WHERE variant = 'b' AND launch_id = (SELECT min(id) FROM launch WHERE run_id =
    (SELECT id FROM run WHERE label = 'of five'))"
check "what the filter leaves out is not missing" exits 0 \
    "$ASSAY" gate tiny --baseline "of five" --cand ./plain --db five.sqlite --filter copy/a --json j.json
check "and not in the report" gives "1|0" query :memory: "SELECT json_extract(readfile('j.json'), '$.counts.PASS'),
    json_extract(readfile('j.json'), '$.counts.MISSING')"
check "a case with too few launches of the base is not compared" says "4 launches, and this needs 5 on each side" \
    "$ASSAY" gate tiny --baseline "of five" --cand ./plain --db five.sqlite
check "where that is every case it is exit 4" exits 4 \
    "$ASSAY" gate tiny --baseline "of five" --cand ./plain --db five.sqlite --filter copy/b
check "a filter that nothing matches, too" exits 4 \
    "$ASSAY" gate tiny --baseline "of five" --cand ./plain --db five.sqlite --filter copy/x
check "a database that is not there is none for a baseline" exits 2 \
    "$ASSAY" gate tiny --baseline nope --cand ./plain --db typo.sqlite
check "and is not made" fails test -e typo.sqlite
check "a baseline that is not there is exit 4" exits 4 "$ASSAY" gate tiny --baseline nope --cand ./plain
check "a baseline is dropped" exits 0 "$ASSAY" baseline drop pinned
check "only once" exits 2 "$ASSAY" baseline drop pinned
for name in '' latest latest~1 a.sqlite:b; do
    check "'$name' is no name of a baseline" warns "cannot name a baseline" "$ASSAY" baseline set "$name" one
done
check "dropping makes no database" exits 2 "$ASSAY" baseline drop pinned --db typo.sqlite
check "nor does setting" exits 2 "$ASSAY" baseline set pinned one --db typo.sqlite
check "there is none" fails test -e typo.sqlite

check "a run that is not there is exit 2" exits 2 "$ASSAY" compare nope one
check "and is named" warns "there is no run 'nope'" "$ASSAY" compare nope one
check "a database that is not there is exit 2" exits 2 "$ASSAY" compare one one --db none.sqlite
check "and is named" warns "none.sqlite: there is no database" "$ASSAY" compare one one --db none.sqlite
./strangers run other --db results/assay.sqlite --label other
check "another suite without a common case is exit 4" exits 4 "$ASSAY" compare one other
check "and said" warns "no case in common" "$ASSAY" compare one other
check "with the suites" says "different suites: tiny and other" "$ASSAY" compare one other
check "one run is a usage error" exits 2 "$ASSAY" compare one
./driver run tiny --db results/assay.sqlite --label two
check "another key is exit 4" exits 4 "$ASSAY" compare one two
check "unless it is asked for" exits 0 "$ASSAY" compare one two --across
check "then the tag says it" says "DRIVER" "$ASSAY" compare one two --across
for format in table md json html; do
    check "compare as $format" exits 0 "$ASSAY" compare one one --format "$format"
done
check "an unknown format gets a suggestion" warns "did you mean 'html'?" "$ASSAY" compare one one --format htm

./plain run tiny --db a.sqlite
./plain run tiny --db b.sqlite
check "databases merge" exits 0 "$ASSAY" merge a.sqlite b.sqlite --db all.sqlite
check "all of it" gives "2" query all.sqlite "SELECT count(*) FROM run"
check "twice is once" warns "a.sqlite: 0 new rows" "$ASSAY" merge a.sqlite --db all.sqlite
check "the other order gives the same" exits 0 "$ASSAY" merge b.sqlite a.sqlite --db turned.sqlite
check "run for run" gives "$(query all.sqlite "SELECT id FROM run ORDER BY id")" \
    query turned.sqlite "SELECT id FROM run ORDER BY id"
check "a file that is no database is refused" exits 2 "$ASSAY" merge plain --db all.sqlite
check "itself is refused" exits 2 "$ASSAY" merge all.sqlite --db all.sqlite
