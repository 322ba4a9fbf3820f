#!/usr/bin/env bash
# Lattice codes and lookup tables: what is asked for and cannot be is refused, or skipped with
# the reason in its row; what is no whole number of blocks is filled up.
. "$(dirname "$0")/lib.sh"

# suite LINE...: a suite of one group.
suite() {
    printf '%s\n' '[suite]' 'title = one group' '[group one]' "$@" >one.ini
}

# verify: every answer of one.ini, once, on the host.
verify() { "$ASSAY" run one.ini --check --device host --db one.sqlite --format csv; }

suite 'operation = lattice_encode' 'lattice = E9'
check "a lattice that is not one of the four is refused" exits 2 verify
check "and the four are named" warns "it has Z2, A2, D4, E8" verify
suite 'operation = lattice_encode' 'code = q5m2'
check "a code whose q is not one of the family's is refused" exits 2 verify
suite 'operation = lattice_encode' 'type = int4'
check "a type that holds no digit is refused" exits 2 verify
suite 'operation = lut_matmul' 'k = 0'
check "a product over nothing is refused" exits 2 verify

suite 'operation = lut_matmul' 'rows = 4' 'k = 64' 'columns = 4' 'code = q4m2' \
    'variants = host_table'
check "a table of 4.3 G entries is skipped, so nothing is left to run" exits 4 verify
check "with the reason in its row" says "4.3 G entries" verify
suite 'operation = lut_matmul' 'rows = 4' 'k = 64' 'columns = 4' 'code = q4m1' 'index = int8'
check "indices that a byte does not hold are skipped" says "does not fit 8 bits" verify
suite 'operation = lut_matmul' 'rows = 3' 'k = 13' 'columns = 5' 'lattice = *' 'index = *'
check "a K that no block divides is filled up with zeros, for every lattice" exits 0 verify
suite 'operation = lattice_encode' 'rows = 3' 'columns = 61' 'lattice = *' \
    'overload = off, block' 'data = gaussian, extreme'
check "so are rows of entries, with infinities and NaN among them" exits 0 verify
suite 'operation = quantized_linear' 'rows = 3' 'k = 203' 'columns = 5'
check "and activations" exits 0 verify
suite 'operation = weight_only_linear' 'rows = 3' 'k = 203' 'columns = 5' 'code = q4m1, q4m2'
check "activations that are not encoded are left as they are" exits 0 verify
suite 'operation = weight_only_linear' 'lattice = D4'
check "weights for them are codes of E8" exits 4 verify
check "and a row of another lattice says so" says "E8 only" verify
suite 'operation = weight_only_linear' 'rows = 2147483647'
check "more rows than a matrix has are refused" exits 2 verify

# metrics VARIANT: how many figures of quality it has.
metrics() {
    query one.sqlite "SELECT count(*) FROM result JOIN metric ON metric.result_id = result.id
        WHERE variant = '$1'"
}
rm -f one.sqlite
suite 'operation = lattice_encode' 'rows = 8' 'columns = 64'
check "a quantiser and the copy that bounds it both run" exits 0 verify
check "the quantiser's row has its quality" gives 6 metrics host_omp
check "a copy's has none: it quantises nothing" gives 0 metrics host_copy_encode
