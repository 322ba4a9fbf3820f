#!/usr/bin/env bash
# assay gate that ends before all rounds: --max-time, --fail-fast; and what it says on its way.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/gate/sim.sh
. "$HERE/cli/gate/sim.sh"

slow=',slow=*_token/host_omp:10'
check "a gate says first what it will do" exits 0 gate "$(calm 1)" "$(calm 2)"
cp said.err calm.err
check "in its first lines" test "$(sed 's/measured: .*/measured/;2q' calm.err)" = \
    "assay: nothing is proven, and all is measured
assay: 6 launches of each program screen all cases; 10 rounds or more of what then looks changed"
check "each launch says which of how many" grep -q "^assay: round 1, base (of 6)$" calm.err
check "and, from the second round on, how long it takes" grep -qE "^assay: round 3, base \(of 6, about [0-9]+ s more\)$" calm.err

# Both sides of 2 %, so that the first look leaves a case open, and one far beyond it.
open=',slow=int8_quantize/host_memcpy:2'
script -qec "stty cols 80; $(printf '%q ' "$ASSAY" gate "$ten" --base "$ASSAY" --base-device "$(calm 1)" \
    --cand-device "$(calm 2)" --allow-simulated --seed 1)" /dev/null >bar.out
check "a terminal has a bar in their place" grep -qF "[########............] round 3, candidate (of 6, about " bar.out
check "of one line" test "$(grep -c 'round [1-6], ' bar.out)" -le 2
check "without --fail-fast what is open is measured on" exits 1 gate "$(calm 1)" "$(calm 2 "$slow$open")" --threshold 2
cp said.err whole.err
check "to round 26" grep -q "round 26, " whole.err
check "with it a gate that fails ends" exits 1 gate "$(calm 1)" "$(calm 2 "$slow$open")" --threshold 2 --fail-fast
cp said.err fast.err
check "after its first look" fails grep -q "round 17, " fast.err
check "with the verdict" gives 1 verdicts REGRESSED "value ->> 'variant' = 'host_omp'"
check "and says why" grep -q "ended after 16 rounds (--fail-fast)" g.json
check "one that may still pass goes on" exits 0 gate "$(calm 1)" "$(calm 2 "$open")" --threshold 2 --fail-fast
cp said.err on.err
check "to its end" grep -q "round 26, " on.err
check "a case that is missing ends it after the screen" exits 5 \
    gate "$(calm 1)" "$(calm 2 ",missing=*_token/host_omp$open")" --threshold 2 --fail-fast
check "with six rounds" grep -q "ended after 6 rounds" g.json
run "$ASSAY" ack 'int8_quantize_token/host_omp *' --reason meant --until 2999-01-01 --db acked.sqlite
check "what is acknowledged is no reason to end" exits 0 gate "$(calm 1)" "$(calm 2 "$slow$open")" --threshold 2 \
    --fail-fast --db acked.sqlite
check "nor told as one" fails grep -q "fail-fast" g.json

printf '#!/bin/sh\nsleep 1\nexec "%s" "$@"\n' "$ASSAY" >lazy # a launch takes longer than there is time
chmod +x lazy
check "a gate without time makes one round" exits 4 "$ASSAY" gate "$ten" --base ./lazy --base-device "$(calm 1)" \
    --cand-device "$(calm 2 "$slow")" --allow-simulated --seed 1 --json g.json --max-time 1
check "and has no verdict by it" gives 10 verdicts INCONCLUSIVE "value ->> 'launches' = 1"
check "it says why" grep -q "ended by --max-time 1 after" g.json
check "against a stored run there is nothing to end early" exits 2 "$ASSAY" gate "$ten" --baseline x --max-time 9
check "with time enough it is as without" exits 1 gate "$(calm 1)" "$(calm 2 "$slow")" --max-time 3600
check "and says nothing" fails grep -q "max-time" g.json
