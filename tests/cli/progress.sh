#!/usr/bin/env bash
# Progress: a bar on a terminal, a line a group elsewhere.
. "$(dirname "$0")/lib.sh"

export OMP_NUM_THREADS=1
many_groups 24 many.ini # long enough to be drawn under way
run "$ASSAY" run many.ini --device host --no-ceilings
cp said.out plain.out
cp said.err plain.err
check "without a terminal there is a line a group" [ "$(grep -cE '^\[[0-9]+/24\] int8_quantize' plain.err)" -eq 24 ]
check "with what came of it and its time" grep -qE '^\[1/24\] .*: 2 ok, [0-9.]+ s$' plain.err
check "and no control characters" fails grep -q $'[\r\033]' plain.err plain.out
check "nor colour in the table" fails grep -q $'\033' plain.out

# A root without /dev/pts lends no terminal to draw on.
if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1; then
    # terminal FILE NAME=VALUE...: the same on a terminal; what it shows is in FILE.
    terminal() {
        local file=$1
        shift
        run env TERM=xterm "$@" script -qec \
            "'$ASSAY' run many.ini --device host --no-ceilings" /dev/null
        cp said.out "$file"
    }
    terminal colour.out NO_COLOR=
    check "a run on a terminal is fine" [ "$code" -eq 0 ]
    check "there is a bar" grep -qF '[###' colour.out
    check "with the count of cases" grep -qE '\] [0-9]+/48' colour.out
    check "with the time left" grep -qE '[0-9]:[0-9]{2} left' colour.out
    check "and the case" grep -q 'int8_quantize n=1000' colour.out
    check "it is wiped away before the table" grep -q $'\r\033\[K' colour.out
    check "the table has colour" grep -q $'\033\[1m' colour.out
    terminal plain.out NO_COLOR=1
    check "NO_COLOR is honoured" fails grep -q $'\033\[[0-9]*m' plain.out
    terminal dumb.out TERM=dumb
    check "a dumb terminal gets no control characters" fails grep -q $'\033' dumb.out
fi

# What could not be stored is not counted.
full() { ( ulimit -f 512; trap '' XFSZ; "$ASSAY" run many.ini --device host --no-ceilings --db full.sqlite ); }
check "a file that may not grow ends the run" exits 2 full
rm -f full.sqlite*
run full
told=$(awk '/^\[/ { for (i = 2; i <= NF; i++) if ($i == "ok,") n += $(i - 1) } END { print n + 0 }' said.err)
check "and progress told of what it holds" gives "$told" query full.sqlite "SELECT count(*) FROM result"
check "which is a part" test "$told" -gt 0 -a "$told" -lt 48
