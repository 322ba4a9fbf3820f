#!/usr/bin/env bash
# docs/adding-a-kernel.md shows code that is compiled (tests/probe/, kernels/), as it stands there,
# and its commands measure one case.
. "$(dirname "$0")/lib.sh"
root=$(cd "$HERE/.." && pwd)
page=$root/docs/adding-a-kernel.md

# Each block of code is part of one of the files that the page links to.
files=()
while read -r link; do files+=("$(<"$root/$link")"); done < <(
    sed -n 's/.*(\.\.\/\([a-z0-9_/]*\.\(c\|cu\|ini\)\)).*/\1/p' "$page" | sort -u)
shown_as_it_stands() {
    local file
    for file in "${files[@]}"; do [[ $file == *"$1"* ]] && return; done
    echo "# in no file: $1"
    return 1
}
blocks=0 block=
while IFS= read -r line; do
    case $line in
        '```'?*) block='' reading=1 ;;
        '```')
            reading=0 blocks=$((blocks + 1))
            check "block $blocks is code that is compiled" shown_as_it_stands "${block%$'\n'}"
            ;;
        *) [ "${reading-0}" -eq 0 ] || block+=$line$'\n' ;;
    esac
done <"$page"
check "there are blocks" [ "$blocks" -gt 5 ]

# measured FILTER: the filter of the loop picks one case of the suite.
measured() { "$ASSAY" run int8 --filter "$1" --device host --no-ceilings --db one.sqlite; }
loop=$(sed -n "s/.*run int8 --no-ceilings --filter '\(int8_quantize\/host_bf16 [^']*\)'.*/\1/p" "$page")
check "the loop is there" [ -n "$loop" ]
check "it measures" exits 0 measured "${loop/host_bf16/host_omp}"
check "one case" gives "host_omp|ok" query one.sqlite "SELECT variant, status FROM result"
