#!/usr/bin/env bash
# assay gate: its verdicts and exit codes, through programs whose times are known.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/gate/fake.sh
. "$HERE/cli/gate/fake.sh"

build fast SLOW=b PACE=95
build other VARIANTS='"a c d"'
build crashes CRASHED=c
build wrong WRONG=a
build half WRONG=a CRASHED=b
build nothing VARIANTS='""'
build simulated SIMULATED=1
printf '#!/bin/sh\nkill -SEGV $$\n' >dies
# shellcheck disable=SC2016
printf '#!/bin/sh\ncase $* in *--dry-run*) exit ;; esac\necho $$ >hangs.pid\nexec sleep 60\n' >hangs
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
check "markdown has the row" grep -q '| REGRESSED | +[45]\.[0-9] %' m.md
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
check "a base that hardly works does not look like one that passed" exits 4 gate half plain --markdown m.md
check "the report says how much of it was judged" grep -qF -- "only 1 of 3 cases was judged" g.out
check "and why not the rest" grep -qF -- "the base has no time: wrong" m.md
check "a third is enough on request" exits 0 gate half plain --least-judged 33
check "which ends with 3 on request" exits 3 gate half plain --least-judged 33 --fail-on INCOMPARABLE
check "a program that measured nothing is exit 4" exits 4 gate plain nothing
check "of the base, too" exits 4 gate nothing plain
check "a program that dies is exit 5" exits 5 gate dies plain
ignoring() { env --ignore-signal=CHLD "$ASSAY" gate smoke --base ./dies --device sim --allow-simulated; }
check "also where who started the gate ignores that children end" warns "died: signal 11" ignoring
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
printf '#!/bin/sh\nprintf "why: %%0900d\\n" 0 >&2\nexit 2\n' >wordy && chmod +x wordy
check "of a long line its beginning is said" warns "would measure nothing: why: 000" gate wordy plain
check "one that is not there is exit 2" exits 2 gate none plain
check "with the reason" grep -qF -- "./none: cannot be started: No such file" g.err
check "before any launch, of either" fails warns "round 1" gate plain none
check "a program may be in the PATH" exits 0 env PATH="$PWD:$PATH" \
    "$ASSAY" gate tiny --base plain --cand plain --device host
check "one that is not there" warns "plaid: cannot be started: No such file" \
    "$ASSAY" gate tiny --base plaid --device host --cand ./plain
check "one that is here and not in the PATH is told how to be typed" warns "not on the PATH (did you mean './plain'?)" \
    "$ASSAY" gate tiny --base plain --device host --cand ./plain
check "a suite that this build does not know is said before any launch" fails warns "round 1" \
    "$ASSAY" gate smoek --base ./plain --device host
check "with one that is near" warns "did you mean 'smoke'?" "$ASSAY" gate smoek --base ./plain --device host
check "so is a file that is no program" exits 2 gate plain_file plain
check "with its reason" grep -qF -- "cannot be started: Permission denied" g.err
check "so is a folder" exits 2 gate . plain
check "a simulated device is refused" exits 2 gate simulated simulated
check "even by its name" exits 2 gate plain plain --device sim:seed=1
check "unless it is allowed" exits 0 gate simulated simulated --allow-simulated

mkdir folders
TMPDIR=$PWD/folders "$ASSAY" gate tiny --base ./plain --cand ./hangs --db stopped.sqlite 2>stopped.err &
gate_pid=$!
check "its launch begins" wait_for 20 grep -q "round 1, candidate" stopped.err
kill -INT $gate_pid
wait $gate_pid
stopped=$?
check "a gate that is interrupted is exit 130" test $stopped -eq 130
check "what was complete is stored" gives 1 query stopped.sqlite "SELECT count(*) FROM run"
check "the list says that it decided nothing" says "no decision" "$ASSAY" list runs --db stopped.sqlite
check "no launch of it goes on" is_gone "$(cat hangs.pid)"
check "and it leaves no folder behind" rmdir folders

check "a report that could not be written is refused before any launch" exits 2 \
    "$ASSAY" gate tiny --base ./plain --cand ./plain --device host --junit nowhere/j.xml --db unborn.sqlite
check "so nothing was launched" fails test -e unborn.sqlite
if [ -w /dev/full ]; then
    check "a disk that is full is told" exits 2 gate plain plain --json /dev/full
    check "with the path and the reason" grep -qF "/dev/full: cannot write JSON: No space" g.err
fi
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
