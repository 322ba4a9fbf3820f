#!/usr/bin/env bash
# What is acknowledged is no reason to fail for assay compare either.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/gate/sim.sh
. "$HERE/cli/gate/sim.sh"

# side LABEL SEED REST FILE: a run of the ten cases in six launches.
side() {
    "$ASSAY" run "$ten" --device "$(calm "$2" "$3")" --seed "$2" --launches 6 --no-ceilings \
        --label "$1" --db "$4"
}
check "a run" exits 0 side base 1 '' a.sqlite
check "and a slower one" exits 0 side slowed 2 ',slow=*_token/host_omp:10' a.sqlite
check "and one elsewhere" exits 0 side slowed 2 ',slow=*_token/host_omp:10' b.sqlite

compare() { "$ASSAY" compare base "$@" --db a.sqlite; }
ack() { "$ASSAY" ack '*_token/host_omp *' --reason known "$@"; }
check "a slowdown fails" exits 1 compare slowed
check "its acknowledgement" exits 0 ack --until 2099-01-01 --db a.sqlite
check "lets it pass" exits 0 compare slowed
check "with its reason" says "acknowledged until 2099-01-01: known, ACK" compare slowed --format md
check "as REGRESSED still" says " REGRESSED" compare slowed
check "which the last line says, for the exit code is not of it" says " acknowledged), " compare slowed
check "up to its level" exits 0 ack --until 2099-01-01 --up-to 1 --db a.sqlite
check "only" exits 1 compare slowed
check "until its end" exits 0 ack --until 2020-01-01 --db a.sqlite
check "only" exits 1 compare slowed
check "what another database acknowledges" exits 0 ack --until 2099-01-01 --db b.sqlite
check "counts for its own runs" exits 0 compare b.sqlite:slowed
check "and for no others" exits 1 compare slowed
