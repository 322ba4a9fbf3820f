#!/usr/bin/env bash
# Operations on rows and rope: dims that cannot be are refused, shapes beyond memory are skipped with
# the reason in their row.
. "$(dirname "$0")/lib.sh"

# suite LINE...: a suite of one group.
suite() {
    printf '%s\n' '[suite]' 'title = one group' '[group one]' "$@" >one.ini
}

# verify: every answer of one.ini, once, on the host.
verify() { "$ASSAY" run one.ini --check --device host --db one.sqlite --format csv; }

for operation in row_softmax rmsnorm cross_entropy; do
    for dim in rows columns; do
        for value in 0 -1 2147483647 9223372036854775807; do
            suite "operation = $operation" "$dim = $value"
            check "$operation with $dim=$value is refused" exits 2 verify
            check "and the dim is named" warns "$dim" verify
        done
    done
    suite "operation = $operation" 'rows = 1' 'columns = 1' 'type = *'
    check "$operation of one element is right" exits 0 verify
    suite "operation = $operation" 'rows = 16777216' 'columns = 1048576'
    check "$operation of 2^44 elements is skipped" exits 4 verify
    check "with the reason in its row" says "the device has" verify
done
for dim in batch=0 tokens=0 heads=0 head_size=0 head_size=2147483647 batch=2147483647; do
    suite 'operation = rope' "${dim/=/ = }"
    check "rope with $dim is refused" exits 2 verify
    check "and the dim is named" warns "${dim%=*}" verify
done
suite 'operation = rope' 'head_size = 3'
check "a head that has no pairs is skipped" exits 4 verify
check "with the reason in its row" says "a head has an odd size" verify
