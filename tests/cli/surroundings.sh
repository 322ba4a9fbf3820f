#!/usr/bin/env bash
# What a program is started in: closed descriptors, an empty environment, another
# language, a narrow terminal, a reader that goes away.
. "$(dirname "$0")/lib.sh"

many_groups 2 many.ini
measure() { "$ASSAY" run many.ini --device host --no-ceilings --db "$1"; }
# stored DATABASE: all four cases are there and fine, and the file is whole.
stored() {
    [ "$(query "$1" "SELECT count(*) FROM result WHERE status = 'ok'")" -eq 4 ] &&
        [ "$(query "$1" "PRAGMA integrity_check")" = ok ]
}

# A file opened in the place of a closed descriptor would get the messages.
( measure in.sqlite <&- >in.out 2>in.err )
check "a run without standard input is fine" stored in.sqlite
( measure err.sqlite 2>&- >err.out; echo $? >err.code )
check "a run without standard error is exit 0" [ "$(cat err.code)" -eq 0 ]
check "and stores what it measured" stored err.sqlite
check "and shows it" grep -q "4 ok" err.out
( measure out.sqlite >&- 2>out.err; echo $? >out.code )
check "a run without standard output is exit 2" [ "$(cat out.code)" -eq 2 ]
check "and says why" grep -q "cannot write\|Bad file descriptor" out.err
check "and stores what it measured all the same" stored out.sqlite
( measure none.sqlite <&- >&- 2>&- )
check "a run with none of them stores what it measured" stored none.sqlite

# Fewer descriptors than a run needs; how many it may have depends on the libraries.
few() { ( ulimit -n "$1"; measure few.sqlite ); }
check "too few descriptors are told" warns "Too many open files" few 7
check "in one line" one_line few 7

check "nothing of the environment is needed" exits 0 env -i "$ASSAY" run many.ini --device host \
    --no-ceilings --db bare.sqlite
check "nor by the doctor" exits 0 env -i "$ASSAY" doctor --device host
check "nor to show" exits 0 env -i "$ASSAY" show --db bare.sqlite
# The size of the host's cache, which decides what a class of sizes is.
cached() { ASSAY_HOST_CACHE=$1 "$ASSAY" list devices; }
check "the host's cache is what the user says" says "48.0 MiB" cached 48Mi
check "and what it is flushed by and stored as" bash -c '
    ASSAY_HOST_CACHE=1Mi "$0" run many.ini --device host --no-ceilings --flush read --db told.sqlite >/dev/null 2>&1 &&
        [ "$(sqlite3 told.sqlite "SELECT cache_bytes FROM device")" = 1048576 ]' "$ASSAY"
for told in zwei 0 -1 1Ki 32MB; do
    check "ASSAY_HOST_CACHE=$told is exit 2" exits 2 env ASSAY_HOST_CACHE=$told "$ASSAY" run many.ini --device host
    check "and said to be no size" warns "ASSAY_HOST_CACHE=$told is no size of a cache" \
        env ASSAY_HOST_CACHE=$told "$ASSAY" run many.ini --device host
done
check "figures have a point in every language" bash -c '
    cmp <(LC_ALL=C "$0" show --format csv --db bare.sqlite) \
        <(LC_ALL=de_DE.UTF-8 LANG=de_DE.UTF-8 "$0" show --format csv --db bare.sqlite)' "$ASSAY"

for command in "show" "show --format json" "export latest" "list runs"; do
    # shellcheck disable=SC2086 # a list of words
    "$ASSAY" $command --db bare.sqlite 2>pipe.err | true
    check "$command: a reader that goes away is not complained of" test ! -s pipe.err
done

if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1; then
    run env TERM=xterm script -qec "stty cols 40; '$ASSAY' run many.ini --device host \
        --no-ceilings --db narrow.sqlite" /dev/null
    cp said.out narrow.out
    check "a terminal of 40 columns is fine" [ "$code" -eq 0 ]
    check "its bar stays within a line" fails bash -c \
        'tr "\r" "\n" <narrow.out | sed "s/\x1b\[[0-9;]*[mK]//g" | grep "^\[" | grep -qE "^.{40}"'
    check "its table loses no figure" [ "$(grep -cE '±.* %.*[GM]B/s' narrow.out)" -eq 4 ]
fi

for command in "import nosuch.ndjson" "merge nosuch.sqlite"; do
    # shellcheck disable=SC2086 # a list of words
    check "$command: is exit 2" exits 2 "$ASSAY" $command
    # shellcheck disable=SC2086
    check "$command: is named in one line" one_line "$ASSAY" $command
    check "$command: makes no database" [ ! -e results ]
done
