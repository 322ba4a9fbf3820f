#!/usr/bin/env bash
# assay calibrate: what is kept when it ends early, what it goes on with, what it shows.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/gate/sim.sh
. "$HERE/cli/gate/sim.sh"

# calibrate OPTION...: ten cases, half a percent between launches.
calibrate() { "$ASSAY" calibrate "$ten" --device "$(calm 3)" --allow-simulated --db c.sqlite "$@"; }
rounds() { query c.sqlite "SELECT group_concat(DISTINCT rounds) FROM noise"; }
pairs() { query c.sqlite "SELECT count(*) / 2 FROM run"; }
check "nothing to go on with is 2" exits 2 calibrate --resume
check "and said" warns "there is no calibration of 'cases10' to go on with" calibrate --resume
"$ASSAY" calibrate "$ten" --device "$(calm 3)" --allow-simulated --db c.sqlite --rounds 64 2>c.err &
calibrate_pid=$!
check "a calibration goes on for a while" wait_for 20 grep -qs "round 3, unchanged again" c.err
kill -INT $calibrate_pid
wait $calibrate_pid
stopped=$?
check "interrupted it is 130" test $stopped -eq 130
check "no launch claims to be the last one" fails grep -qF "(of " c.err
check "its launches are kept" test "$(query c.sqlite "SELECT count(*) > 2 FROM run")" -eq 1
check "and gone on with" exits 0 calibrate --resume --rounds 6
check "to as many pairs as were asked for" gives 6 rounds
check "none of which was made twice" test "$(pairs)" -le 7
check "once more it is full already" exits 0 calibrate --resume --rounds 6
check "and makes no launch" fails warns "assay: round" calibrate --resume --rounds 6
check "more pairs make the same block better" exits 0 calibrate --resume --rounds 8
check "which gives way to it" gives 8 rounds
check "a second block of the session begins behind it" exits 0 calibrate --resume --rounds 8 --blocks 2
check "with its own pairs" gives "20|10" query c.sqlite \
    "SELECT count(*), count(DISTINCT operation || variant || shape) FROM noise WHERE rounds = 8"
check "what it found is drawn, where there is no other run" exits 0 "$ASSAY" plot noise --db c.sqlite -o noise.svg
check "a limit ends it" exits 0 calibrate --limit 5 --rounds 5
check "with the blocks there was time for" gives 1 query c.sqlite \
    "SELECT count(*) BETWEEN 10 AND 9999 FROM noise WHERE rounds = 5"
short() {
    "$ASSAY" calibrate smoke --limit 1 --filter memory/memcpy --device host --budget 1 --precision 0.001 --db c.sqlite
}
check "a limit too short for a block is 4" exits 4 short
check "and says what to do" warns "--resume goes on" short

# ------------------------------------------------------------------- --show

shown() { query :memory: "SELECT $1 FROM json_each(readfile('shown.json'), '$.devices[0].bands') AS band"; }
check "what is known can be shown" says "100 us" "$ASSAY" calibrate --show --db c.sqlite
cp c.sqlite long.sqlite
query long.sqlite "UPDATE device SET uuid = 'GPU-418a52e2-9d1f', name = 'NVIDIA H100 80GB HBM3';
    UPDATE launch SET driver = '580.159.03'"
check "in 80 columns of a terminal" fits_terminal "$ASSAY" calibrate --show --db long.sqlite
check "in lines as long as they are of a file" grep -qE 'GPU-418a52e2, driver 580.159.03, clock .*session' \
    <("$ASSAY" calibrate --show --db long.sqlite)
check "as Markdown" says "| cases | blocks | pairs | p50 | p95 | max | floor |" \
    "$ASSAY" calibrate --show --format md --db c.sqlite
"$ASSAY" calibrate --show --format json --db c.sqlite >shown.json
check "as JSON, with every block" gives "$(query c.sqlite "SELECT count(*) FROM noise")" shown \
    "sum(band.value ->> 'blocks')"
check "with every pair of launches of every case" gives "$(query c.sqlite "SELECT sum(n) FROM (SELECT
    min(sum(label LIKE '%unchanged'), sum(label LIKE '%again')) AS n FROM cases JOIN run ON run.id = run_id
    WHERE cases.suite = 'cases10' GROUP BY substr(label, 1, 20), operation, variant, cases.shape)")" shown \
    "sum(band.value ->> 'pairs')"
cp c.sqlite card.sqlite
query card.sqlite "UPDATE device SET uuid = 'GPU-418a52e2-9d1f'"
check "the card is named, for a name is of many" says " GPU-418a52e2" "$ASSAY" calibrate --show --db card.sqlite
check "and whole in JSON" says '"uuid": "GPU-418a52e2-9d1f"' "$ASSAY" calibrate --show --format json --db card.sqlite
# Half of the differences of two such launches are below 0.48 %; of 160 pairs the estimate has a tenth of that.
check "half a percent a launch is half a percent in the middle pair" gives 1 shown \
    "sum(band.value ->> 'p50' * (band.value ->> 'pairs')) / sum(band.value ->> 'pairs') BETWEEN 0.003 AND 0.0075"
check "and more in the worst of twenty" gives 1 shown "min(band.value ->> 'p95' > band.value ->> 'p50')"
"$ASSAY" run "$ten" --device sim --filter '*/host_omp' --no-ceilings --db few.sqlite >few.out 2>&1
check "nothing to show is 4" exits 4 "$ASSAY" calibrate --show --db few.sqlite
check "showing measures no suite" exits 2 "$ASSAY" calibrate smoke --show
check "and takes a format" warns "did you mean 'json'?" "$ASSAY" calibrate --show --format jsno

check "another device is none to go on with" exits 2 "$ASSAY" calibrate smoke --resume --filter 'memory/memcpy' \
    --device sim --allow-simulated --db c.sqlite
