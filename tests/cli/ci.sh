#!/usr/bin/env bash
# The steps of the example workflow, on trees whose builds are already made.
. "$(dirname "$0")/lib.sh"
export ASSAY
steps=$HERE/../examples/ci/gate.sh

# tree NAME SETTING...: a tree whose `make` gives the gate and a program that behaves so.
tree() {
    local name=$1
    shift
    mkdir -p "$name/build"
    printf 'all:\n' >"$name/Makefile"
    printf '#!/bin/sh\ncase $1 in gate | ack) exec "%s" "$@" ;; esac\nexec env %s "%s" "$@"\n' \
        "$ASSAY" "$*" "$HERE/cli/gate/program.sh" >"$name/build/assay"
    chmod +x "$name/build/assay"
}
tree base
tree head
tree slow SLOW=b PACE=108
tree loud NOISE=4000
mkdir broken
printf 'all:\n\tfalse\n' >broken/Makefile

check "unchanged code passes the workflow's steps" exits 0 env THRESHOLD=2 "$steps" base head reports
for file in gate.json gate.md gate.xml gate.sqlite; do
    check "which leave $file" test -s "reports/$file"
done
check "a slower head fails them with 1" exits 1 env THRESHOLD=2 "$steps" base slow reports
check "and is annotated on GitHub" warns "::error title=copy/b" \
    env THRESHOLD=2 GITHUB_STEP_SUMMARY="$TMP/summary" GITHUB_ACTIONS=1 "$steps" base slow reports
check "where the summary is of this run" grep -q REGRESSED summary
check "a head that does not build is 2" exits 2 "$steps" base broken reports
check "and leaves no report of an earlier gate" gives gate.sqlite ls reports

check "a database that is kept" exits 0 env DB="$TMP/kept.sqlite" THRESHOLD=2 "$steps" base head reports
check "has the gates of earlier jobs, too" exits 1 env DB="$TMP/kept.sqlite" THRESHOLD=2 "$steps" base slow reports
check "both" gives 2 query kept.sqlite "SELECT count(*) FROM gate"
check "and what unchanged code differed by" gives 1 query kept.sqlite "SELECT count(*) > 0 FROM noise"
printf "'copy/b *' --reason \"it was meant\" --until 2999-01-01\n" >base/acks.txt
check "what the base acknowledges does not fail" exits 0 \
    env DB="$TMP/kept.sqlite" ACKS=acks.txt THRESHOLD=2 "$steps" base slow reports
check "and is told with its reason" grep -q "it was meant" reports/gate.md
check "a broken acknowledgement is 2" exits 2 env ACKS=Makefile "$steps" base slow reports
check "without such a file there is none" exits 1 env ACKS=nosuch THRESHOLD=2 "$steps" base slow reports
check "the strict line ends with 3 where nothing could be decided" exits 3 \
    env FAIL_ON=INCONCLUSIVE,UNSTABLE,SUSPECT GATE_FLAGS=--no-extension THRESHOLD=2 "$steps" loud loud reports
check "the lenient one with 0" exits 0 env FAIL_ON= GATE_FLAGS=--no-extension THRESHOLD=2 "$steps" loud loud reports
check "too few arguments are 2" exits 2 "$steps" base
check "the workflow runs these steps" grep -q 'examples/ci/gate.sh base head reports' "$HERE/../examples/ci/gate.yml"
