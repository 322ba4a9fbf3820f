#!/bin/bash
# sass_int8.sh - does the machine code of the int8 kernels do what their names say?
#
# usage: sass_int8.sh [PROGRAM]        (default $ASSAY, else build/assay; needs cuobjdump)
#
# FCHK, the check before an IEEE division, must be in the kernels that divide and in
# no other; a product and a sum meant to be apart must not have become one FFMA.
set -u
program=${1:-${ASSAY:-build/assay}}
command -v cuobjdump >/dev/null || { echo "cuobjdump is not installed" >&2; exit 2; }
[ -r "$program" ] || { echo "cannot read $program" >&2; exit 2; }
sass=$(mktemp) || exit 2
trap 'rm -f "$sass"' EXIT
cuobjdump -sass "$program" >"$sass" || exit 2
failures=0

# count KERNEL OPCODE: how often OPCODE stands in each instance of KERNEL, a line each.
# A mangled name holds its own length: _Z4div1If... is div1<float>.
count() {
    awk -v name="${#1}$1" -v opcode="$2" '
        /Function :/ { if (inside) print n; inside = index($0, "_Z" name) > 0; n = 0 }
        inside && $0 ~ "[ \t]" opcode { n++ }
        END { if (inside) print n }' "$sass"
}

# expect KERNEL OPCODE some|none
expect() {
    local found
    found=$(count "$1" "$2" | sort -n)
    if [ -z "$found" ]; then
        echo "not ok - $1: no such kernel in $program"
        failures=$((failures + 1))
        return
    fi
    if [ "$3" = some ] && [ "$(head -n 1 <<<"$found")" -gt 0 ]; then return; fi
    if [ "$3" = none ] && [ "$(tail -n 1 <<<"$found")" -eq 0 ]; then return; fi
    echo "not ok - $1: $3 of $2 expected, found" $found
    failures=$((failures + 1))
}

for kernel in div1 divide; do
    expect "$kernel" FCHK some
done
for kernel in fdividef4 rcp4_muladd rcp4_fma rcp8_adjacent rcp8_strided rcp16 cvtsat16 gridstride \
    best_large best_small; do
    expect "$kernel" FCHK none
done

# FADD alone: a sum of the formula. (The slow paths of a reciprocal use FADD.FTZ.)
for kernel in div1 fdividef4 rcp4_muladd; do
    expect "$kernel" 'FADD ' some
done
for kernel in rcp4_fma rcp8_adjacent rcp8_strided rcp16 cvtsat16 gridstride best_large best_small; do
    expect "$kernel" 'FADD ' none
    expect "$kernel" FFMA some
done

# Nothing may have gone to local memory.
for kernel in best_large best_small rcp16 cvtsat16 row_codes_team row_codes_block row_codes_cluster \
    token_onepass copy_r4w1; do
    expect "$kernel" LDL none
    expect "$kernel" STL none
done

[ "$failures" -eq 0 ] && echo "ok - the machine code of the int8 kernels is as named"
exit $((failures > 0))
