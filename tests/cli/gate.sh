#!/usr/bin/env bash
# assay gate, compare, baseline, ack, merge, calibrate: through programs whose
# times are known.
. "$(dirname "$0")/lib.sh"

# build NAME SETTING...: a program that behaves so.
build() {
    local name=$1
    shift
    { echo '#!/bin/sh'; echo "exec env $* '$HERE/cli/gate/program.sh' \"\$@\""; } >"$name"
    chmod +x "$name"
}
export ASSAY

# gate BASE CANDIDATE OPTION...; what it says stays in g.out and g.err.
gate() {
    local base=$1 candidate=$2 ended=0
    shift 2
    "$ASSAY" gate tiny --base "./$base" --cand "./$candidate" --threshold 2 --device host "$@" \
        >g.out 2>g.err || ended=$?
    cat g.out
    cat g.err >&2
    return $ended
}

build plain
build slow SLOW=b PACE=105
build fast SLOW=b PACE=95
build other VARIANTS='"a c d"'
build crashes CRASHED=c
build wrong WRONG=a
build driver DRIVER=2
build fleeting FLEETING=b
build half WRONG=a CRASHED=b
build nothing VARIANTS='""'
build strangers VARIANTS='"x y"'
build simulated SIMULATED=1
build coded CODE=c0de
build coded_slow CODE=c0de SLOW=b PACE=110
build coded_gpu CODE=c0de GPU=1
build coded_gpu_slow CODE=c0de GPU=1 SLOW=b PACE=110
printf '#!/bin/sh\nkill -SEGV $$\n' >dies
# shellcheck disable=SC2016
printf '#!/bin/sh\necho $$ >hangs.pid\nexec sleep 60\n' >hangs
printf '#!/bin/sh\nexit 0\n' >silent
printf '#!/bin/sh\necho "what is run?" >&2\nexit 9\n' >refuses
# shellcheck disable=SC2016
printf '#!/bin/sh\nwhile [ "$1" != --db ]; do shift; done\nsqlite3 "$2" "PRAGMA application_id = 1095979865; PRAGMA user_version = 999; CREATE TABLE t (a)"\n' >newer
# shellcheck disable=SC2016
printf '#!/bin/sh\nwhile [ "$1" != --db ]; do shift; done\necho garbage >"$2"\n' >garbles
chmod +x dies hangs silent refuses newer garbles
touch plain_file

check "unchanged code is fine" exits 0 gate plain plain
check "all its cases pass" grep -qF -- "3 PASS" g.out
check "a slower case is exit 1" exits 1 gate plain slow --junit j.xml --markdown m.md --json j.json --annotations
check "the json has the exit code" grep -q '"exit": 1' j.json
check "the json has one REGRESSED" grep -q '"REGRESSED": 1' j.json
check "it was confirmed on fresh rounds" grep -q '"confirmed": true' j.json
check "the json is one document" [ "$(sqlite3 :memory: "SELECT json_valid(readfile('j.json'))")" = 1 ]
check "junit has a failure" grep -q '<failure message="REGRESSED' j.xml
check "markdown has the row" grep -q '| REGRESSED | 1\.0[45]' m.md
check "an annotation is an error" grep -qF -- "::error title=copy/b" g.err
check "a faster case is fine" exits 0 gate plain fast
check "and IMPROVED" grep -qF -- "1 IMPROVED" g.out
check "swapped arms mirror the verdict" exits 1 gate fast plain
check "no line is wider than 100 columns" fails grep -qE '^.{101}' g.out
check "every launch is in the database" gives "1" \
    query results/assay.sqlite "SELECT count(*) > 100 FROM run"
check "so is the verdict" gives "REGRESSED" query results/assay.sqlite \
    "SELECT verdict FROM verdict JOIN gate ON id = gate_id WHERE exit = 1 AND variant = 'b' LIMIT 1"
check "under the id that its launches have in their labels" gives "1" query results/assay.sqlite \
    "SELECT count(*) = (SELECT count(*) FROM gate) FROM (SELECT DISTINCT gate.id FROM gate
     JOIN run ON run.label LIKE 'gate ' || substr(gate.id, 1, 8) || ' round %')"
check "the null arm is kept as noise" gives "1" query results/assay.sqlite \
    "SELECT count(*) > 0 FROM noise WHERE source = 'null'"

check "a case that crashed is exit 5" exits 5 gate plain crashes
check "a wrong answer is exit 5" exits 5 gate plain wrong
check "a case that is missing is exit 5" exits 5 gate plain other
check "it is named" grep -qF -- "MISSING" g.out
check "a new case is told" grep -qF -- "1 NEW" g.out
check "one that is lost in some launches is exit 5" exits 5 gate plain fleeting
check "and says in how many" grep -qF -- "the candidate does not have it in 5 of 6 launches" g.out
check "one that the base loses is no fault of the candidate" exits 0 gate fleeting plain
check "but cannot be compared" grep -qF -- "the base does not have it in 5 of 6 launches" g.out
check "nothing in common is exit 4" exits 4 gate plain strangers
check "and said" grep -qF -- "no case in common" g.err
check "another driver is exit 4" exits 4 gate plain driver
check "and says which part differs" grep -qF -- "driver 1 and 2" g.out
check "on standard error, too" grep -qF -- "nothing could be compared: driver 1 and 2" g.err
check "a base that hardly works does not look like one that passed" exits 0 gate half plain --markdown m.md
check "the report says how much of it was judged" grep -qF -- "only 1 of 3 cases was judged" g.out
check "and why not the rest" grep -qF -- "the base has no time: wrong" m.md
check "which ends with 3 on request" exits 3 gate half plain --fail-on INCOMPARABLE
check "a program that measured nothing is exit 4" exits 4 gate plain nothing
check "of the base, too" exits 4 gate nothing plain
check "a program that dies is exit 5" exits 5 gate dies plain
check "with its signal" grep -qF -- "signal 11" g.err
check "one that hangs is exit 5" exits 5 gate hangs plain --timeout 1
check "with the limit" grep -qF -- "still running after 1 s" g.err
check "one that is no assay is exit 2" exits 2 gate silent plain
check "it is asked whether it is" grep -qF -- "is it an assay?" g.err
check "what a program says is handed on" warns "what is run?" gate refuses plain
check "one of another schema is exit 2" exits 2 gate newer plain
check "and says so" grep -qF -- "./newer: what it stored cannot be read: its database was made by a newer assay" g.err
check "one that stores no database is exit 2" exits 2 gate garbles plain
check "and says so" grep -qF -- "not a database" g.err
check "one that is not there is exit 2" exits 2 gate none plain
check "with the reason" grep -qF -- "./none: cannot be started: No such file" g.err
check "before any launch, of either" fails warns "round 1" gate plain none
check "a program may be in the PATH" exits 0 env PATH="$PWD:$PATH" \
    "$ASSAY" gate tiny --base plain --cand plain --device host
check "one that is not there" warns "plaid: cannot be started: No such file" \
    "$ASSAY" gate tiny --base plaid --device host --cand ./plain
check "a suite that this build does not know is said before any launch" fails warns "round 1" \
    "$ASSAY" gate smoek --base ./plain --device host
check "with one that is near" warns "did you mean 'smoke'?" "$ASSAY" gate smoek --base ./plain --device host
check "so is a file that is no program" exits 2 gate plain_file plain
check "with its reason" grep -qF -- "cannot be started: Permission denied" g.err
check "so is a folder" exits 2 gate . plain
check "a simulated device is refused" exits 2 gate simulated simulated
check "even by its name" exits 2 gate plain plain --device sim:seed=1
check "unless it is allowed" exits 0 gate simulated simulated --allow-simulated

check "identical machine code is told" says "SAME-CODE" gate coded coded --format json
check "a slowdown of it is one still: of the launch, or of the host" exits 1 gate coded coded_slow
check "what a host's clock saw of it is no noise" gives "0" query results/assay.sqlite \
    "SELECT count(*) FROM noise WHERE source = 'code'"
check "what the timestamps of kernels saw of it is" exits 0 gate coded_gpu coded_gpu --db gpu.sqlite
check "of every case" gives "a b c" query gpu.sqlite \
    "SELECT group_concat(variant, ' ') FROM (SELECT variant FROM noise WHERE source = 'code' ORDER BY variant)"
check "its pairs are shown" says "18" "$ASSAY" calibrate --show --db gpu.sqlite
check "a slowdown that kernels show is one, too" exits 1 gate coded_gpu coded_gpu_slow --db gpu_slow.sqlite
check "and not noise" gives "a c" query gpu_slow.sqlite \
    "SELECT group_concat(variant, ' ') FROM (SELECT variant FROM noise WHERE source = 'code' ORDER BY variant)"
# As if so many gates had been before: the blocks of this one, a session each.
many_sessions() {
    query "$1" "INSERT INTO noise SELECT id || '-' || value, comparability, printf('%032x', value), source,
        operation, variant, kind, place, shape, temperature, metric, rounds, time_ns, shift, spread, measured_at
        FROM noise, generate_series(1, 30)"
}
for name in coded coded_gpu; do
    check "a regression of $name" exits 1 gate $name ${name}_slow --db again.sqlite
    many_sessions again.sqlite
    check "is one however often it is seen" exits 1 gate $name ${name}_slow --db again.sqlite --json j.json
    check "as no noise was learnt from it" gives 1 query :memory: "SELECT value ->> 'floor' < 0.021
        FROM json_each(readfile('j.json'), '$.rows') WHERE value ->> 'variant' = 'b'"
    rm again.sqlite
done

mkdir folders
TMPDIR=$PWD/folders "$ASSAY" gate tiny --base ./plain --cand ./hangs --db stopped.sqlite 2>stopped.err &
gate_pid=$!
check "its launch begins" wait_for 10 grep -q "round 1, candidate" stopped.err
kill -INT $gate_pid
wait $gate_pid
stopped=$?
check "a gate that is interrupted is exit 130" test $stopped -eq 130
check "what was complete is stored" gives 1 query stopped.sqlite "SELECT count(*) FROM run"
check "the list says that it decided nothing" says "no decision" "$ASSAY" list runs --db stopped.sqlite
check "no launch of it goes on" is_gone "$(cat hangs.pid)"
check "and it leaves no folder behind" rmdir folders

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
check "2096-02-29 is one" exits 0 "$ASSAY" ack 'copy/leap*' --reason known --until 2096-02-29
check "a day to come is taken in silence" silent "$ASSAY" ack 'copy/leap*' --reason known --until 2096-02-29
check "an end that has come is said" warns "2020-01-01 has come" \
    "$ASSAY" ack 'copy/b*' --reason known --until 2020-01-01
check "an ack that has ended counts no more" exits 0 "$ASSAY" ack 'copy/b*' --reason known --until 2020-01-01
check "so the gate fails" exits 1 gate plain slow
check "it is listed as such" says "EXPIRED" "$ASSAY" ack --list
check "and can be dropped" exits 0 "$ASSAY" ack 'copy/b*' --drop
check "once" exits 2 "$ASSAY" ack 'copy/b*' --drop

./plain run tiny --db results/assay.sqlite --label one
check "one launch a side can prove nothing" says "one launch a side" "$ASSAY" compare one one
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
check "a case with too few launches of the base is not compared" says "4 launches, and this needs 5 a side" \
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
check "a file that is no database is refused" exits 2 "$ASSAY" merge m.md --db all.sqlite
check "itself is refused" exits 2 "$ASSAY" merge all.sqlite --db all.sqlite

check "a report that could not be written is refused before any launch" exits 2 \
    "$ASSAY" gate tiny --base ./plain --cand ./plain --device host --junit nowhere/j.xml --db unborn.sqlite
check "so nothing was launched" fails test -e unborn.sqlite
check "a folder is no report" warns ". is a folder" \
    "$ASSAY" gate tiny --base ./plain --device host --markdown . --db unborn.sqlite
check "an empty word is no program" exits 2 "$ASSAY" gate tiny --base ''
check "nor a run" warns "'' names no run" "$ASSAY" compare '' one
check "no base is a usage error" exits 2 "$ASSAY" gate tiny
check "what is for a stored base is refused beside a program" warns "--launches is for --baseline alone" \
    "$ASSAY" gate tiny --base x --launches 6
check "two kinds of base are one" exits 2 "$ASSAY" gate tiny --base x --baseline y
check "a verdict that is none gets a suggestion" warns "did you mean SUSPECT" \
    "$ASSAY" gate tiny --base x --fail-on SUSPEKT
