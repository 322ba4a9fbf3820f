#!/usr/bin/env bash
# No right variant is refused, whatever the seed of its inputs: checks suites with seed after
# seed, and prints each row that is wrong and what it said.
#
#   SEEDS=40 FIRST=1 tests/gpu/seeds.sh [SUITE ...]     (default: 20 seeds of core)
#
# ASSAY is the program, TMP a folder. A row that is wrong with some seeds only is a bound that
# is too tight, inputs outside of the operation's definition, or a kernel with a rare mistake.
set -u
: "${ASSAY:?}" "${TMP:?}"
[ $# -gt 0 ] || set -- core
first=${FIRST:-1} seeds=${SEEDS:-20} failed=0

for suite in "$@"; do
    checked=0 before=$failed
    for ((seed = first; seed < first + seeds; seed++)); do
        "$ASSAY" run "$suite" --check --seed "$seed" --db "$TMP/seeds.sqlite" >"$TMP/out" 2>"$TMP/err"
        code=$?
        checked=$((checked + $(sed -n 's/^\([0-9]*\) ok.*/\1/p' "$TMP/out" | tail -n 1)))
        [ "$code" -eq 0 ] && continue
        failed=$((failed + 1))
        grep -E ': (wrong|crashed|timeout|unstable)' "$TMP/err" | sed "s/^/# seed $seed: /"
    done
    rm -f "$TMP/seeds.sqlite"*
    [ "$failed" -eq "$before" ] || printf 'not '
    echo "ok - $suite: $seeds seeds from $first, $checked checks ok"
done
[ "$failed" -eq 0 ]
