# shellcheck shell=bash
# Each fault on a GPU costs its own row and nothing else.
. "$(dirname "$0")/../cli/lib.sh"

run "$FAULTS" run "$HERE/faults/faults.ini" --device cuda:0 --db faults.sqlite --no-ceilings \
    --format csv
cp said.out rows.csv
check "a run with crashed cases ends with 5" [ "$code" -eq 5 ]

# row NAME STATUS WORDS: the variant's row has this status, and its reason these words.
row() {
    local line
    line=$(grep ",$1," rows.csv)
    case $line in *",$2,"*"$3"*) return 0 ;; esac
    echo "# $line"
    return 1
}
check "the right kernel is ok beside all of them" row right ok ""
check "a bad pointer crashes its own case" row bad_pointer crashed "illegal"
check "a trap crashes its own case" row traps crashed "launch"
check "an abort crashes its own case" row aborts crashed "signal 6"
check "a kernel that never ends is a timeout" row hangs timeout "no answer within"
check "taking all memory crashes its own case" row greedy crashed "memory"
check "a write past the end is wrong" row overruns wrong "after 'y'"
check "a write before the start is wrong" row underruns wrong "before 'y'"
check "a missing last element is wrong" row forgets_the_end wrong "y[100002]"
check "a kernel that works once is wrong" row lazy wrong "were not written"
check "nothing in every second launch is wrong" row every_second wrong "were not written"
check "an unwritten block is wrong" row skips_a_block wrong "32768 of 100003 elements of 'y'"
check "an answer kept from the first launch is wrong" row computes_once wrong "with other inputs"
check "a refused launch crashes its own case" row too_many_threads crashed "invalid"
