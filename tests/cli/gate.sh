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

# gate BASE CANDIDATE OPTION...
gate() {
    local base=$1 candidate=$2
    shift 2
    "$ASSAY" gate tiny --base "./$base" --cand "./$candidate" --threshold 2 --device host "$@"
}

build plain
build slow SLOW=b PACE=1.05
build fast SLOW=b PACE=0.95
build other VARIANTS='"a c d"'
build crashes CRASHED=c
build wrong WRONG=a
build driver DRIVER=2
build nothing VARIANTS='""'
build strangers VARIANTS='"x y"'
build simulated SIMULATED=1
printf '#!/bin/sh\nkill -SEGV $$\n' >dies
printf '#!/bin/sh\nexec sleep 60\n' >hangs
printf '#!/bin/sh\nexit 0\n' >silent
printf '#!/bin/sh\necho "what is run?" >&2\nexit 9\n' >refuses
# shellcheck disable=SC2016
printf '#!/bin/sh\nwhile [ "$1" != --db ]; do shift; done\nsqlite3 "$2" "PRAGMA application_id = 1095979865; PRAGMA user_version = 999; CREATE TABLE t (a)"\n' >newer
chmod +x dies hangs silent refuses newer

check "unchanged code is fine" exits 0 gate plain plain
check "all its cases pass" says "3 PASS" gate plain plain
check "a slower case is exit 1" exits 1 gate plain slow --junit j.xml --markdown m.md --json j.json --annotations
check "the json has the exit code" grep -q '"exit": 1' j.json
check "the json has one REGRESSED" grep -q '"REGRESSED": 1' j.json
check "it was confirmed on fresh rounds" grep -q '"confirmed": true' j.json
check "the json is one document" [ "$(sqlite3 :memory: "SELECT json_valid(readfile('j.json'))")" = 1 ]
check "junit has a failure" grep -q '<failure message="REGRESSED' j.xml
check "markdown has the row" grep -q '| REGRESSED | 1\.0[45]' m.md
check "an annotation is an error" warns "::error title=copy/b" gate plain slow --annotations
check "a faster case is fine" exits 0 gate plain fast
check "and IMPROVED" says "1 IMPROVED" gate plain fast
check "swapped arms mirror the verdict" exits 1 gate fast plain
check "no line is wider than 100 columns" fails grep -qE '^.{101}' said.out
check "every launch is in the database" gives "1" \
    query results/assay.sqlite "SELECT count(*) > 100 FROM run"
check "so is the verdict" gives "REGRESSED" query results/assay.sqlite \
    "SELECT verdict FROM verdict JOIN gate ON id = gate_id WHERE exit = 1 AND variant = 'b' LIMIT 1"
check "the null arm is kept as noise" gives "1" query results/assay.sqlite \
    "SELECT count(*) > 0 FROM noise WHERE source = 'null'"

check "a case that crashed is exit 5" exits 5 gate plain crashes
check "a wrong answer is exit 5" exits 5 gate plain wrong
check "a case that is missing is exit 5" exits 5 gate plain other
check "it is named" says "MISSING" gate plain other
check "a new case is told" says "1 NEW" gate plain other
check "nothing in common is exit 4" exits 4 gate plain strangers
check "and said" warns "no case in common" gate plain strangers
check "another driver is exit 4" exits 4 gate plain driver
check "and says which part differs" says "driver 1 and 2" gate plain driver
check "a program that measured nothing is exit 4" exits 4 gate plain nothing
check "of the base, too" exits 4 gate nothing plain
check "a program that dies is exit 5" exits 5 gate dies plain
check "with its signal" warns "signal 11" gate dies plain
check "one that hangs is exit 5" exits 5 gate hangs plain --timeout 1
check "with the limit" warns "still running after 1 s" gate hangs plain --timeout 1
check "one that is no assay is exit 2" exits 2 gate silent plain
check "it is asked whether it is" warns "is it an assay?" gate silent plain
check "what a program says is handed on" warns "what is run?" gate refuses plain
check "one of another schema is exit 2" exits 2 gate newer plain
check "and says so" warns "made by a newer assay" gate newer plain
check "one that is not there is exit 2" exits 2 gate none plain
check "a simulated device is refused" exits 2 gate simulated simulated
check "even by its name" exits 2 gate plain plain --device sim:seed=1
check "unless it is allowed" exits 0 gate simulated simulated --allow-simulated

check "an ack wants a reason" exits 2 "$ASSAY" ack 'copy/b*' --until 2099-01-01
check "and an end" exits 2 "$ASSAY" ack 'copy/b*' --reason known
check "with both it is taken" exits 0 "$ASSAY" ack 'copy/b*' --reason known --until 2099-01-01 --up-to 20
check "an acknowledged slowdown is no reason to fail" exits 0 gate plain slow
check "and is reported" says "acknowledged until 2099-01-01: known" gate plain slow
check "up to its level" exits 0 "$ASSAY" ack 'copy/b*' --reason known --until 2099-01-01 --up-to 1
check "beyond it fails" exits 1 gate plain slow
check "an ack that has ended counts no more" exits 0 "$ASSAY" ack 'copy/b*' --reason known --until 2020-01-01
check "so the gate fails" exits 1 gate plain slow
check "it is listed as such" says "EXPIRED" "$ASSAY" ack --list
check "and can be dropped" exits 0 "$ASSAY" ack 'copy/b*' --drop
check "once" exits 2 "$ASSAY" ack 'copy/b*' --drop

./plain run tiny --db results/assay.sqlite --label one
check "one launch a side can prove nothing" says "one launch a side" "$ASSAY" compare one one
check "a baseline is set" exits 0 "$ASSAY" baseline set pinned one --note "as shipped"
check "and listed" says "as shipped" "$ASSAY" baseline list
check "a gate against one launch says too little" says "INCONCLUSIVE" \
    "$ASSAY" gate tiny --baseline pinned --cand ./plain
check "which ends with 3 on request" exits 3 \
    "$ASSAY" gate tiny --baseline pinned --cand ./plain --fail-on INCONCLUSIVE
check "a baseline that is not there is exit 4" exits 4 "$ASSAY" gate tiny --baseline nope --cand ./plain
check "a baseline is dropped" exits 0 "$ASSAY" baseline drop pinned
check "only once" exits 2 "$ASSAY" baseline drop pinned

check "a run that is not there is exit 2" exits 2 "$ASSAY" compare nope one
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

check "no base is a usage error" exits 2 "$ASSAY" gate tiny
check "two kinds of base are one" exits 2 "$ASSAY" gate tiny --base x --baseline y
check "a verdict that is none gets a suggestion" warns "did you mean SUSPECT" \
    "$ASSAY" gate tiny --base x --fail-on SUSPEKT
