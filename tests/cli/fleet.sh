#!/usr/bin/env bash
# assay fleet: a slow card among 64 is found, a healthy fleet is left alone, and a card is heard.
. "$(dirname "$0")/lib.sh"

sweep() { rm -f "$1"; "$HERE/fleet_db.sh" "$ASSAY" "$@"; }
fleet() { "$ASSAY" fleet --db f.sqlite "$@"; }
# of_card I SQL...: change the launch or the results of a card.
launch() { query f.sqlite "UPDATE launch SET $2 WHERE device_id = 'd$1'"; }
results() { query f.sqlite "UPDATE result SET $2 WHERE launch_id = (SELECT id FROM launch WHERE device_id = 'd$1')"; }
# figure GPU MEMBER: what the JSON says of a card.
figure() {
    fleet --format json >fleet.json
    query :memory: "SELECT value ->> '$2' FROM json_each(readfile('fleet.json'), '\$.cards') WHERE value ->> 'gpu' = '$1'"
}

sweep f.sqlite 64
check "64 healthy cards end with 0" exits 0 fleet
check "and nothing is found" says "64 cards: 0 with a finding, 64 judged by their times" fleet
check "it says what would be found" says "64 cards; their times are 0.196 % apart: one that is 1.00 % slower is found" fleet
check "--all lists them" [ "$(fleet --all | grep -c '^GPU-00')" -eq 64 ]
check "without it they are not listed" fails says GPU-0007 fleet

results 7 "time_ns = time_ns * 1.02"
check "one that is 2 % slower is found, and ends with 1" exits 1 fleet
cp said.out slow.txt
check "it is named, with by how much" grep -qE '^GPU-0007 .* (1\.[6-9]|2\.[0-4])[0-9]* % slower in 30 cases \(p = ' slow.txt
check "and no other is" [ "$(grep -c '^GPU-' slow.txt)" -eq 1 ]
check "its node is told" exits 1 fleet --host node0
check "another node is not" exits 0 fleet --host node1
check "by its own name" exits 1 fleet --gpu GPU-0007
check "of a GPU that nobody measured nothing is known: 4" exits 4 fleet --host node99
check "which is said" warns "no run of such a GPU is in the database" fleet --host node99
check "a threshold above it finds nothing" exits 0 fleet --threshold 5
check "nor do the cases in which it is not slow" exits 4 fleet --filter 'no_such/*'
check "JSON says that it was found" gives '["slow","ceiling"]' figure GPU-0007 findings
check "with its p-value" gives 1 query :memory: "SELECT value ->> '\$.measures[0].p' < 1e-6
    FROM json_each(readfile('fleet.json'), '\$.cards') WHERE value ->> 'gpu' = 'GPU-0007'"

# What a card says of itself.
sweep f.sqlite 64
launch 1 "link_width = 8"
launch 2 "link_generation = 4"
launch 3 "ecc = 0"
launch 4 "ecc_uncorrected = 3"
launch 5 "power_limit_w = 500"
results 6 "clock_reasons = 64"
results 7 "sm_mhz = 1785"
query f.sqlite "UPDATE result SET time_ns = 2 * time_ns WHERE operation = 'stream' AND shape = 'n=1000000'
    AND launch_id = (SELECT id FROM launch WHERE device_id = 'd8')"
for pair in 1=link 2=link 3=ecc 4=ecc 5=power 6=throttle 7=clock 8=ceiling 9=; do
    want=${pair#*=}
    check "GPU-000${pair%=*}: ${want:-nothing}" gives "[${want:+\"$want\"}]" figure "GPU-000${pair%=*}" findings
done
check "lanes are said" says "PCIe lanes 8, others have 16" fleet
check "a ceiling is said by its name" says "memory_copy 49.8 % lower" fleet
check "and a slow-down" says "slowed down: hw thermal slowdown" fleet

# Prometheus: names and labels as its text format has them, one line per metric and card.
query f.sqlite 'UPDATE environment SET hostname = '"'"'a "b" \c'"'"' WHERE id = '"'e1'"
check "Prometheus text ends with the same code" exits 1 fleet --format prometheus
cp said.out fleet.prom
check "every line is one of the format" fails grep -vE \
    '^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+\{[a-z_]+="([^"\\]|\\["\\n])*"(,[a-z_]+="([^"\\]|\\["\\n])*")*\} [-+0-9.e]+)$' fleet.prom
check "each metric has its type once" [ "$(grep -c '^# TYPE' fleet.prom)" -eq "$(grep '^# TYPE' fleet.prom | sort -u | wc -l)" ]
check "a line per card" [ "$(grep -c '^assay_gpu_healthy{' fleet.prom)" -eq 64 ]
check "quotes are escaped" grep -qF 'host="a \"b\" \\c"' fleet.prom
check "a finding is 1" grep -q '^assay_gpu_finding{gpu="GPU-0001",.*,finding="link"} 1$' fleet.prom
check "and 0 elsewhere" grep -q '^assay_gpu_finding{gpu="GPU-0001",.*,finding="slow"} 0$' fleet.prom
check "a clock is a ratio" grep -q '^assay_gpu_ratio{gpu="GPU-0007",.*,measure="clock"} 0.9015' fleet.prom
check "into a file" exits 1 fleet --format prometheus -o out.prom
check "which is the same" cmp -s out.prom fleet.prom

# Answers and cases that only one card lacks.
sweep f.sqlite 16
results 3 "status = 'wrong', time_ns = NULL"
query f.sqlite "UPDATE result SET status = 'wrong', time_ns = NULL WHERE operation = 'solve' AND shape = 'n=5000'"
check "a wrong answer on one card is its fault: 1" exits 1 fleet
check "one that is wrong on all is not" gives 28 figure GPU-0003 wrong
check "of nobody" gives 0 figure GPU-0004 wrong
query f.sqlite "DELETE FROM result WHERE operation = 'stream' AND launch_id = (SELECT id FROM launch WHERE device_id = 'd5')"
check "a case that is missing on one card: 5" exits 5 fleet
check "which is said" says "10 cases lost, which others have" fleet
launch 5 "ended_at = NULL"
check "a launch that goes on has lost nothing" exits 0 fleet --gpu GPU-0005

# Who is compared with whom.
sweep f.sqlite 5
check "five cards are too few: 4" exits 4 fleet
check "which is said" warns "on 6 or more of a model" fleet
launch 2 "link_width = 4"
check "but they are heard" exits 1 fleet
sweep f.sqlite 16
query f.sqlite "UPDATE launch SET driver = '590' WHERE device_id IN ('d0', 'd1');
    UPDATE result SET time_ns = 2 * time_ns WHERE launch_id IN (SELECT id FROM launch WHERE driver = '590')"
check "another driver is another fleet" exits 0 fleet
check "which is said" says "driver 590, assay 1 c0ffee: 2 cards; no case was measured on 6 of them" fleet
sweep f.sqlite 16
query f.sqlite "UPDATE result SET time_ns = 2 * time_ns WHERE launch_id = (SELECT id FROM launch WHERE device_id = 'd3');
    UPDATE run SET label = 'gate 12345678 round 1, base' WHERE id = (SELECT run_id FROM launch WHERE device_id = 'd3')"
check "launches of gates do not count" exits 0 fleet
query f.sqlite "UPDATE run SET label = 'old', started_at = '2026-10-01T00:00:00.000Z'
    WHERE id = (SELECT run_id FROM launch WHERE device_id = 'd3')"
check "a label names a sweep" exits 0 fleet --label sweep
check "all together" exits 1 fleet
check "what is too old is left out" exits 4 fleet --days 1
query f.sqlite "UPDATE launch SET device_id = 'd4' WHERE device_id = 'd3';
    UPDATE run SET environment_id = 'e0' WHERE label = 'old'"
check "of a card the newest run counts" exits 0 fleet
check "and there is one less" says "15 cards: 0 with" fleet

check "a simulated device is no card" exits 0 "$ASSAY" run smoke --device sim:seed=1 --db sim.sqlite
check "unless it is asked for" exits 4 "$ASSAY" fleet --db sim.sqlite
check "then it is marked" says "SIMULATED, simulated device" "$ASSAY" fleet --db sim.sqlite --allow-simulated
for wrong in "--days 0" "--threshold -1" "--format xml" "GPU-0001"; do
    # shellcheck disable=SC2086 # two words
    check "$wrong is a usage error" exits 2 fleet $wrong
done

# All GPUs of a machine in one run: each is a card.
int8_suite two.ini 'n = 100k, 1M' 'variants = host_scalar, host_omp'
all() { "$ASSAY" run ./two.ini --device sim:gpus=8,gpu=all,launch=0.1 --seed 1 --no-ceilings "$@"; }
check "eight GPUs of one machine, each with all cases" exits 0 all --replicate --label each --db gpus.sqlite
check "are eight cards" says "8 cards: 0 with a finding, 8 judged" "$ASSAY" fleet --db gpus.sqlite --allow-simulated
check "a run that they shared out" exits 0 all --db shared.sqlite
check "says nothing of a card" says "8 cards; no case was measured on 6 of them" "$ASSAY" fleet --db shared.sqlite --allow-simulated
