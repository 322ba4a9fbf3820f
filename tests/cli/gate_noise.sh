#!/usr/bin/env bash
# What a gate learns about noise on its way, and what it must not.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/gate/fake.sh
. "$HERE/cli/gate/fake.sh"

build coded CODE=c0de
build coded_slow CODE=c0de SLOW=b PACE=110
build coded_gpu CODE=c0de GPU=1
build coded_gpu_slow CODE=c0de GPU=1 SLOW=b PACE=110

check "identical machine code is told" says "SAME-CODE" gate coded coded --format json
check "a slowdown of it is one still: of the launch, or of the host" exits 1 gate coded coded_slow
check "what a host's clock saw of it is no noise" gives "0" query results/assay.sqlite \
    "SELECT count(*) FROM noise WHERE source = 'code'"
check "what the timestamps of kernels saw of it is" exits 0 gate coded_gpu coded_gpu --db gpu.sqlite
check "of every case" gives "a b c" query gpu.sqlite \
    "SELECT group_concat(variant, ' ') FROM (SELECT variant FROM noise WHERE source = 'code' ORDER BY variant)"
check "its pairs are shown" says "18" "$ASSAY" calibrate --show --db gpu.sqlite
check "a slowdown that kernels show is one, too" exits 1 gate coded_gpu coded_gpu_slow --db gpu_slow.sqlite
check "and not noise" gives "a c" query gpu_slow.sqlite \
    "SELECT group_concat(variant, ' ') FROM (SELECT variant FROM noise WHERE source = 'code' ORDER BY variant)"
check "a verdict is stored with what its floor was made of" gives "1|1" query gpu_slow.sqlite \
    "SELECT min(threshold > 0), min(floor >= threshold AND floor >= coalesce(noise, 0)) FROM verdict"
# As if so many gates had been before: the blocks of this one, a session each.
many_sessions() {
    query "$1" "INSERT INTO noise SELECT id || '-' || value, comparability, printf('%032x', value), source,
        operation, variant, kind, place, shape, temperature, metric, rounds, time_ns, shift, spread, measured_at
        FROM noise, generate_series(1, 30)"
}
for name in coded coded_gpu; do
    check "a regression of $name" exits 1 gate $name ${name}_slow --db again.sqlite
    many_sessions again.sqlite
    check "is one however often it is seen" exits 1 gate $name ${name}_slow --db again.sqlite --json j.json
    check "as no noise was learnt from it" gives 1 query :memory: "SELECT value ->> 'floor' < 0.021
        FROM json_each(readfile('j.json'), '$.rows') WHERE value ->> 'variant' = 'b'"
    rm again.sqlite
done
