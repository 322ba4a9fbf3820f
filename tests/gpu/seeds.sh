#!/usr/bin/env bash
# No right variant is refused, whatever the seed of its inputs: checks suites with seed after
# seed, and prints each row that is wrong and what it said.
#
#   SEEDS=40 FIRST=1 JOBS=4 tests/gpu/seeds.sh [SUITE ...]     (default: 20 seeds of core, one at a time)
#
# ASSAY is the program, TMP a folder. JOBS seeds are checked at a time; they share the host's cores,
# and the GPU by time slices, so that on an H200 more than four end no sooner. A row that is wrong
# with some seeds only is a bound that is too tight, inputs outside of the operation's definition, or
# a kernel with a rare mistake.
set -u
: "${ASSAY:?}" "${TMP:?}"
[ $# -gt 0 ] || set -- core
first=${FIRST:-1} seeds=${SEEDS:-20} jobs=${JOBS:-1} failed=0
[ "$jobs" -eq 1 ] || export OMP_NUM_THREADS=$((($(nproc) + jobs - 1) / jobs))

check() { # SUITE SEED: how many checks were right, or what failed
    local out=$TMP/seed$2 code=0 right
    "$ASSAY" run "$1" --check --seed "$2" --db "$out.sqlite" >"$out.out" 2>"$out.err" || code=$?
    [ "$code" -eq 0 ] || { grep -E ': (wrong|crashed|timeout|unstable)' "$out.err" || tail -n 1 "$out.err"; } |
        sed "s/^/# seed $2: /"
    right=$(sed -n 's/^\([0-9]*\) ok.*/\1/p' "$out.out" | tail -n 1)
    echo "seed $2: exit $code, ${right:-0} ok"
    rm -f "$out".*
}

for suite in "$@"; do
    for ((seed = first; seed < first + seeds; seed++)); do
        [ "$(jobs -rp | wc -l)" -lt "$jobs" ] || wait -n
        check "$suite" "$seed" &
    done >"$TMP/seeds.said"
    wait
    grep '^#' "$TMP/seeds.said"
    checked=$(awk '/^seed/ { sum += $(NF - 1) } END { print sum + 0 }' "$TMP/seeds.said")
    bad=$(grep -c '^seed .*: exit [^0]' "$TMP/seeds.said")
    [ "$bad" -eq 0 ] || { printf 'not '; failed=1; }
    echo "ok - $suite: $seeds seeds from $first, $bad refused, $checked checks ok"
done
exit $failed
