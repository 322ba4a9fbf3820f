# shellcheck shell=bash
# What the command tests share. Source it first:
#
#   . "$(dirname "$0")/lib.sh"
#   check "an unknown suite is a usage error" exits 2 "$ASSAY" run nosuch
#   check "it names a suite that is near" says "did you mean" "$ASSAY" run smok
#
# run-tests.sh gives ASSAY (the program), FAULTS (the same with bad variants)
# and TMP (a fresh folder, where the test runs and leaves what it likes).
# A check is one line of TAP; a failed one shows what its last program printed.
set -u
: "${ASSAY:?}" "${FAULTS:?}" "${TMP:?}"
HERE=$(cd "$(dirname "$0")/.." && pwd) # tests/
export HERE
cd "$TMP" || exit 1

checks_failed=0
trap 'exit $((checks_failed > 0 ? 1 : $?))' EXIT

# check RULE COMMAND...: the rule holds when the command succeeds.
# It begins with empty said.out and said.err: keep what an earlier one said by cp.
check() {
    local rule=$1
    shift
    : >said.out
    : >said.err
    if "$@"; then
        echo "ok - $rule"
    else
        echo "not ok - $rule"
        echo "# $*"
        sed 's/^/# out: /' said.out | head -n 40
        sed 's/^/# err: /' said.err | head -n 40
        checks_failed=$((checks_failed + 1))
    fi
}

# int8_suite FILE LINE...: a suite of one group of int8_quantize, which has these lines.
int8_suite() {
    local file=$1
    shift
    printf '%s\n' '[suite]' 'budget = 0.02' '[group sizes]' 'operation = int8_quantize' "$@" >"$file"
}

# Run a program; its output is in said.out and said.err, its exit code in $code.
run() {
    code=0
    "$@" >said.out 2>said.err || code=$?
}

# exits CODE COMMAND...: it ends with this exit code.
exits() {
    local wanted=$1
    shift
    run "$@"
    [ "$code" -eq "$wanted" ] || { echo "# exit code $code, not $wanted"; return 1; }
}

# ends CODE TEXT COMMAND...: it ends so, and says the text on standard error.
ends() {
    local wanted=$1 text=$2
    shift 2
    exits "$wanted" "$@" && grep -qF -- "$text" said.err
}

# says TEXT COMMAND... / warns TEXT COMMAND...: the text (plain, not a pattern)
# is on standard output / standard error.
says() {
    local text=$1
    shift
    run "$@"
    grep -qF -- "$text" said.out
}
warns() {
    local text=$1
    shift
    run "$@"
    grep -qF -- "$text" said.err
}

# quiet COMMAND...: nothing on standard output.
quiet() {
    run "$@"
    [ ! -s said.out ]
}

# silent COMMAND...: nothing on standard error.
silent() {
    run "$@"
    [ ! -s said.err ]
}

# one_line COMMAND...: standard error is exactly one line.
one_line() {
    run "$@"
    [ "$(wc -l <said.err)" -eq 1 ]
}

# fails COMMAND...: the opposite of another check (fails says ...).
fails() { ! "$@"; }

# query DATABASE SQL: what sqlite3 answers, or Python's where only that is there (machines with a GPU).
query() {
    command -v sqlite3 >/dev/null && { sqlite3 -batch "$1" "$2"; return; }
    python3 -c 'import sqlite3, sys
base = sqlite3.connect(sys.argv[1], isolation_level=None)
for one in sys.argv[2].split(";"):
    for row in base.execute(one):
        print(*("" if cell is None else cell for cell in row), sep="|")' "$1" "$2"
}

# gives EXPECTED COMMAND...: standard output is exactly this.
gives() {
    local expected=$1
    shift
    run "$@"
    [ "$(cat said.out)" = "$expected" ] || { echo "# wanted: $expected"; return 1; }
}

# takes_less_than SECONDS COMMAND...: it succeeds, in less processor time of its own, and of the
# system for it, whose share is several times as long in a sandbox as on a plain kernel: other
# processes share this machine.
takes_less_than() {
    local limit=$1 used TIMEFORMAT='%U %S'
    shift
    used=$({ time run "$@" >/dev/null; } 2>&1; exit "$code") || { echo "# it failed"; return 1; }
    echo "# $used s of processor time"
    awk -v l="$limit" '{ exit !($1 < l && $2 < l) }' <<<"$used"
}

# once_in_three COMMAND...: what others do to the caches can only make a time longer.
once_in_three() {
    "$@" || "$@" || "$@"
}

# fits_terminal COMMAND...: in a terminal of 80 columns no line is longer.
fits_terminal() {
    run script -qec "stty cols 80; $(printf '%q ' "$@")" /dev/null
    [ "$code" -eq 0 ] && [ -s said.out ] && ! tr -d '\r' <said.out | grep -qE '^.{81,}$'
}

# skipped WHY: say, in the run's own output, that checks were left out.
skipped() { echo "# skipped: $1"; }

# well_formed FILE: of an SVG, its tags close and its text is escaped.
well_formed() {
    ! tr '\n' ' ' <"$1" | sed 's/<[^<>]*>//g' | grep -qE '<|&($|[^alg#]|[a-z]*[^a-z;])' &&
        [ "$(grep -c '<svg\|</svg>' "$1")" -eq 2 ] && ! tr -d '\t\n\r' <"$1" | grep -q '[[:cntrl:]]'
}

# many_groups N FILE: write a suite of N small groups of two variants, which
# takes a few hundredths of a second per group on the host.
many_groups() {
    cat >"$2" <<END
[suite]
title = many small groups
budget = 0.02
[group many]
operation = int8_quantize
variants = host_scalar, host_memcpy
baseline = host_memcpy
n = 100000..$((99999 + $1))+1
temperature = hot
END
}

# cases DATABASE: how many cases its runs hold; 0 while there is none.
cases() {
    local count=0
    [ -s "$1" ] && count=$(sqlite3 -batch -cmd ".timeout 5000" "$1" "SELECT count(*) FROM result" 2>/dev/null)
    echo "${count:-0}"
}

# is_whole DATABASE: pages, references, and groups with all their cases or none; or it is not there.
is_whole() {
    local state
    [ -s "$1" ] || return 0
    state=$(query "$1" "PRAGMA integrity_check; PRAGMA foreign_key_check;") || return 1
    [ "$state" = ok ] || { echo "# $state"; return 1; }
    [ "$(query "$1" "SELECT count(*) FROM sqlite_schema")" -gt 0 ] || return 0
    [ "$(query "$1" "SELECT count(*) FROM (SELECT (SELECT count(*) FROM result r WHERE
        r.launch_id = e.launch_id AND r.operation = e.operation AND r.shape = e.shape) AS have,
        count(*) AS want FROM expected e GROUP BY launch_id, operation, shape)
        WHERE have NOT IN (0, want)")" -eq 0 ]
}

# wait_for SECONDS COMMAND...: until it succeeds; fails when it never does.
wait_for() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.02
    done
}

# worker_of PID: the process id of its worker; fails while there is none.
worker_of() {
    local child
    child=$(cat "/proc/$1/task/$1/children" 2>/dev/null)
    [ -n "$child" ] && echo ${child%% *}
}

# is_gone PID: no such process (or only its entry, for its parent to read).
is_gone() {
    ! kill -0 "$1" 2>/dev/null || grep -q '^State:.*[ZX]' "/proc/$1/status" 2>/dev/null
}
