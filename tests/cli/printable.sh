#!/usr/bin/env bash
# Names and messages of others, as they are printed: nothing that a terminal, Markdown or a
# spreadsheet would obey.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/gate/fake.sh
. "$HERE/cli/gate/fake.sh"
export ASSAY_DB=p.sqlite

# obeyed FILE...: it has a control character (but line ends), DEL, one of C1, or no UTF-8.
obeyed() {
    LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$@" || ! iconv -f UTF-8 -t UTF-8 "$@" >/dev/null
}
# clean COMMAND...: it says something, and nothing of that is obeyed.
clean() {
    run "$@"
    [ -s said.out ] || [ -s said.err ] || return 1
    ! obeyed said.out && ! obeyed said.err
}
esc=$'\x1b]0;owned\x07' del=$'\x7f' csi=$'\xc2\x9b31m' bad=$'\x9b\xff'
odd="=x$esc$del$csi\`|<b>" # no slash: it names files, too

int8_suite few.ini 'variants = host_copy_r4w1, host_memcpy' 'baseline = host_memcpy' 'n = 1M'
for label in one two three; do
    "$ASSAY" run few.ini --label $label --device sim:launch=1 --launches 5 >/dev/null 2>&1
done
"$ASSAY" baseline set odd one >/dev/null
"$ASSAY" ack 'int8_quantize/*' --reason x --until 2099-01-01 >/dev/null
query p.sqlite "PRAGMA foreign_keys = OFF;
    UPDATE run SET suite = suite || '$odd', label = label || '$odd' || CAST(x'9bff' AS TEXT), command = '$odd';
    UPDATE device SET name = name || '$odd'; UPDATE environment SET cpu = '$odd', git_commit = '$odd', version = '$odd';
    UPDATE launch SET driver = driver || '$odd', lost = 'a' || char(10) || '$odd';
    UPDATE expected SET shape = '$odd', group_label = '$odd';
    UPDATE result SET shape = '$odd', group_label = '$odd', note = '$odd', reason = '$odd';
    UPDATE ack SET reason = '$odd'; UPDATE baseline SET note = '$odd'"
id() { query p.sqlite "SELECT id FROM run ORDER BY started_at LIMIT 1 OFFSET $1"; }
one=$(id 0) two=$(id 1)
for format in table md csv json; do
    check "show, $format" clean "$ASSAY" show "$one" --format $format
done
check "a text that begins as a formula is none in CSV" says "'=x" "$ASSAY" show "$one" --format csv
check "a negative number is one" fails says "'-" "$ASSAY" show "$one" --format csv
check "a heading of Markdown is one piece of code" says "#### \`int8_quantize =x\\x1b]0;owned\\x07\\x7f\\x9b31m'|<b> cold\`" \
    "$ASSAY" show "$one" --format md
for list in runs devices variants; do
    check "list $list" clean "$ASSAY" list $list
done
for format in table md json html; do
    check "compare, $format" clean "$ASSAY" compare "$one" "$two" --format $format
done
check "history" clean "$ASSAY" history '*'
check "claims" clean "$ASSAY" claims "$one"
check "baselines" clean "$ASSAY" baseline list
check "acks" clean "$ASSAY" ack --list
check "export as CSV" clean "$ASSAY" export "$one" --format csv
check "export for Prometheus" clean "$ASSAY" export "$one" --format prometheus
check "a report" exits 0 "$ASSAY" report "$one" -o r.md
check "in Markdown" fails obeyed r.md
check "completion of runs" clean "$ASSAY" complete assay show ""
check "and of cases" clean "$ASSAY" complete assay history ""
check "runs that are like a word" clean "$ASSAY" show thre

mkdir suites
printf '[suite]\ntitle = %s\n[group a]\noperation = int8_quantize\n' "$esc" >suites/shouts.ini
printf '[suite]\ntitle = x\n[group a]\noperation = int8_quantize\n' >"suites/$esc.ini"
printf '[suite]\ntitle = ok\n# %s\n[group a]\noperation = int8_quantize\n' "$bad" >suites/comments.ini
check "list suites" clean "$ASSAY" list suites
check "a title that cannot be printed is a mistake" says "cannot be printed" "$ASSAY" list suites
check "in a comment it is none" exits 0 "$ASSAY" run ./suites/comments.ini --dry-run --device host
check "messages" clean "$ASSAY" run "./$odd.ini"
check "of words, too" clean "$ASSAY" "$odd"
check "and files" clean "$ASSAY" import "$odd"

"$ASSAY" export "$one" >"$odd.ndjson"
check "a file that is imported" clean "$ASSAY" import "$odd.ndjson"
cp p.sqlite "$odd.sqlite" 2>/dev/null
check "and one that is merged" clean "$ASSAY" merge "$odd.sqlite" --db other.sqlite

printf '#!/bin/sh\nprintf "\\033]0;owned\\007\\302\\233" >&2\nexit 9\n' >shouts
chmod +x shouts
check "a program's last line, quoted by the gate" clean gate plain shouts
check "is quoted" warns '\x1b]0;owned' gate plain shouts
