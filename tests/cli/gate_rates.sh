#!/usr/bin/env bash
# The rates of docs/gate-statistics.md through the programs themselves: whole gates on simulated
# devices, some of them, with fixed seeds. The model alone is `make check-stats`.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/gate/sim.sh
. "$HERE/cli/gate/sim.sh"

# rates SLOWED: eight gates; in found and called how many REGRESSED they found, and
# elsewhere; in passed the slowed cases that passed.
slowed="value ->> 'variant' = 'host_omp' AND value ->> 'operation' LIKE '%_token'"
rates() {
    found=0 called=0 passed=0
    for seed in 1 2 3 4 5 6 7 8; do
        run gate "$(calm $seed)" "$(calm $((seed + 100)) "$1")" --seed $seed --db rates.sqlite
        found=$((found + $(verdicts REGRESSED "$slowed")))
        called=$((called + $(verdicts REGRESSED "NOT ($slowed)")))
        passed=$((passed + $(verdicts PASS "$slowed")))
        judged=$((judged + $(rows "value ->> 'ratio' > 0")))
    done
    echo "# '$1': $found found, $called others, $passed passed"
}

judged=0
check "gates of unchanged code" rates ''
check "call nothing REGRESSED" test "$found$called" = 00
check "and judge every case" test $judged -eq 80
check "gates of a case that is 5 % slower" rates ',slow=*_token/host_omp:5'
check "find it" test "$found" -ge 7
check "and no other" test "$called$passed" = 00
