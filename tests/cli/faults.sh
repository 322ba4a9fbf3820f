#!/usr/bin/env bash
# Each variant that goes wrong costs its own row, says why, and nothing else.
. "$(dirname "$0")/lib.sh"

exits 5 "$FAULTS" run "$HERE/faults/faults.ini" --device host --no-ceilings --db faults.sqlite
faults_code=$code
cp said.out faults.out
cp said.err faults.err
check "a crash is exit 5, wrong answers beside it or not" [ "$faults_code" -eq 5 ]

# row VARIANT: its status and reason as stored.
row() { query faults.sqlite "SELECT status || ': ' || reason FROM result WHERE variant = '$1'"; }
# ends VARIANT STATUS WORDS...: its row has this status, and the words in order.
ends() {
    local variant=$1 status=$2
    shift 2
    run row "$variant"
    grep -q "^$status: .*$*" said.out
}
check "the right variant is ok" gives "ok: " row right
check "one that prints is ok" gives "ok: " row prints
check "a bad pointer is told by its signal" ends segfault crashed "signal 11"
check "abort is told by its signal" ends aborts crashed "signal 6"
check "exit is told by its status" ends exits crashed "exit status 0"
check "the step is told with it" ends aborts crashed "first launch"
check "a loop without end is a timeout" ends hangs timeout "first launch: no answer within 3 s"
check "half a message and then nothing is a timeout" \
    ends half_a_message timeout "first launch: no answer within 3 s"
check "one that writes into its worker's messages is told so" \
    ends garbles crashed "its process sent what is no message"
check "one that leaves a process behind is told by its end" ends forks crashed "signal 6"
none_left() { ! grep -qsx assay-left-over /proc/[0-9]*/comm; }
check "and the process is gone" wait_for 20 none_left
check "one wrong element is named with what it should be" ends wrong wrong "y\[50001\] is .* expected .*1 of 100003 wrong"
check "right once and lazy ever after is found" ends lazy wrong "elements of 'y' were not written"
check "a forgotten end is named" ends forgets_the_end wrong "y\[100002\]"
check "a write after the output names it" ends overruns wrong "after 'y'"
check "a write before the output names it" ends underruns wrong "before 'y'"
check "a changed input is named" ends spoils_input wrong "'x'"
check "the end of memory is told" ends greedy crashed "setup: malloc found no more memory"
check "a failure is told in its own words" ends fails crashed "it does not feel like it"
check "what is not supported is skipped, with the reason" gives "skipped: never supported" row unsupported

check "every case has exactly one row" gives "18|18" \
    query faults.sqlite "SELECT count(*), count(DISTINCT variant) FROM result"
check "and every case was expected" gives "18" query faults.sqlite "SELECT count(*) FROM expected"
check "the run is complete" gives complete query faults.sqlite "SELECT status FROM run"
check "no case that is not ok has a time" gives 0 \
    query faults.sqlite "SELECT count(*) FROM cases WHERE status <> 'ok' AND time_ns IS NOT NULL"
check "the ok cases have all their samples" gives 2 \
    query faults.sqlite "SELECT count(*) FROM cases WHERE samples >= 30 AND time_ns > 0"
check "the database is whole" gives ok query faults.sqlite "PRAGMA integrity_check"
check "what a variant prints is not in the results" fails grep -q "must not reach" faults.out
check "it goes to standard error" grep -q "must not reach" faults.err
check "each culprit is told as it happens" grep -q "^fault_double/segfault .*: crashed: .*signal 11" faults.err

check "the table shows the reason in the place of a time" \
    grep -qE "^ *segfault +crashed: .*signal 11" faults.out
check "and the sum" grep -qF "2 ok, 1 skipped, 6 wrong, 7 crashed, 2 timeout" faults.out
check "show has the same exit code" exits 5 "$ASSAY" show --db faults.sqlite
check "and the same table" gives "$(cat faults.out)" "$ASSAY" show --db faults.sqlite

check "only wrong ones are exit 1" exits 1 "$FAULTS" run "$HERE/faults/faults.ini" --device host \
    --no-ceilings --db wrong.sqlite --filter 'fault_double/[rw][ri]*'
check "only crashed ones are exit 5" exits 5 "$FAULTS" run "$HERE/faults/faults.ini" --device host \
    --no-ceilings --db crashed.sqlite --filter 'fault_double/exits'
check "nothing but skipped ones is exit 4" exits 4 "$FAULTS" run "$HERE/faults/faults.ini" \
    --device host --no-ceilings --db skipped.sqlite --filter 'fault_double/unsupported'
check "nothing that went wrong is exit 0" exits 0 "$FAULTS" run "$HERE/faults/faults.ini" \
    --device host --no-ceilings --db right.sqlite --filter 'fault_double/right'

# ------------------------------------------------- wrong answers that are meant
# expects PATTERNS VARIANTS: a suite whose group has both.
expects() { printf '[group meant]\noperation = fault_double\nn = 100003\nvariants = %s\nexpect_wrong = %s\n' "$2" "$1" >meant.ini; }
meant() { exits "$1" "$FAULTS" run ./meant.ini --device host --no-ceilings --check --db meant.sqlite; }
expects wrong 'right, wrong'
check "a wrong answer that its suite expects is exit 0" meant 0
check "and its row says wrong" gives wrong \
    query meant.sqlite "SELECT status FROM result WHERE variant = 'wrong'"
expects right 'right, wrong'
check "another one is exit 1" meant 1
expects right right
check "a right answer that is expected to be wrong is exit 1" meant 1
expects wrogn right
# A build without CUDA does not know the names of its CUDA variants: there any name may be one.
unknown=2
"$FAULTS" --version | grep -q '^CUDA runtime' || unknown=0
check "an expected variant has to exist" meant "$unknown"

# A parent that waits for the rest of a message hears a signal.
sed 's/^timeout = 1$/timeout = 600/' "$HERE/faults/faults.ini" >patient.ini
"$FAULTS" run patient.ini --device host --no-ceilings --db deaf.sqlite \
    --filter 'fault_double/half*' >/dev/null 2>&1 &
deaf=$!
wait_for 20 worker_of $deaf >/dev/null
sleep 1
worker=$(worker_of $deaf)
kill -TERM $deaf
check "half a message leaves the parent its ears" wait_for 20 is_gone $deaf
check "and the worker dies with it" wait_for 20 is_gone "$worker"
