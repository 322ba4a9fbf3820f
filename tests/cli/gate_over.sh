#!/usr/bin/env bash
# gate --over: one verdict over the gates of several nodes, a node that disagrees, and one whose share is missing.
. "$(dirname "$0")/lib.sh"

int8_suite two.ini 'n = 100k' 'temperature = cold' 'variants = host_scalar, host_omp'
"$ASSAY" gate ./two.ini --base "$ASSAY" --base-device sim:launch=0.2 --cand-device 'sim:launch=0.2,slow=*/host_omp:10' \
    --allow-simulated --seed 1 --no-extension --db gate.sqlite >/dev/null 2>&1

# node N [SQL]: another node that gated the same, with ids and luck of its own.
node() {
    cp gate.sqlite "n$1.sqlite"
    query "n$1.sqlite" "PRAGMA foreign_keys = OFF; UPDATE environment SET id = 'node$1' || substr(id, 6), hostname = 'node$1';
        UPDATE run SET id = '$1' || substr(id, 2), environment_id = 'node$1' || substr(environment_id, 6),
            label = 'gate $1' || substr(label, 7);
        UPDATE launch SET id = '$1' || substr(id, 2), run_id = '$1' || substr(run_id, 2);
        UPDATE expected SET launch_id = '$1' || substr(launch_id, 2);
        UPDATE result SET id = '$1' || substr(id, 2), launch_id = '$1' || substr(launch_id, 2),
            time_ns = time_ns * (1 + 0.001 * ((unicode(id) + $1 * ordinal) % 5 - 2));
        UPDATE sample SET result_id = '$1' || substr(result_id, 2);
        UPDATE gate SET id = '$1' || substr(id, 2); UPDATE verdict SET gate_id = '$1' || substr(gate_id, 2); ${2:-}"
}
for n in 1 2 3 4 5 6; do node $n; done
over() { "$ASSAY" gate --over "$@" --allow-simulated; }

check "what all nodes found holds for all: 1" exits 1 over n[1-6].sqlite
cp said.out all.txt
check "it is REGRESSED" grep -qE '^REGRESSED +\+(9|10)\.[0-9] % .* int8_quantize/host_omp' all.txt
check "what none found passes" grep -qE '^PASS +.* int8_quantize/host_scalar' all.txt
check "it says over how many" grep -q "one verdict over 6 nodes, with 6 rounds of each" all.txt
check "nobody disagrees" fails grep -q disagrees all.txt
check "Markdown says it too" says "one verdict over 6 nodes" over n[1-6].sqlite --format md
over n[1-6].sqlite --format json >all.json
check "and JSON" gives "over|6|1" query :memory: "SELECT readfile('all.json') ->> '\$.mode', readfile('all.json') ->> '\$.rows[0].launches',
    readfile('all.json') ->> '\$.exit'"
check "merged into one database" exits 0 "$ASSAY" merge n[1-6].sqlite --db merged.sqlite
over merged.sqlite >merged.txt
for file in all merged; do grep -E '^(REGRESSED|PASS) ' $file.txt >$file.rows; done
check "they come to the same, to the last digit" cmp all.rows merged.rows
check "one file twice is one node" says "over 2 nodes" over n1.sqlite n2.sqlite n1.sqlite
# Copies from before its gate ended, and of a push that was cut off.
cp n1.sqlite early.sqlite
query early.sqlite "DELETE FROM verdict; DELETE FROM gate"
cp n1.sqlite bare.sqlite
query bare.sqlite "DELETE FROM run WHERE label NOT GLOB '*round 1, base'"
for stale in early bare; do
    check "a copy that lacks something ($stale) gives way to the whole one: 1" exits 1 over $stale.sqlite n1.sqlite n2.sqlite
    check "also where it comes later" exits 1 over n1.sqlite $stale.sqlite n2.sqlite
done
check "two nodes are enough for what is so plain: 1" exits 1 over n1.sqlite n2.sqlite
check "one node says nothing of others: 4" exits 4 over n1.sqlite

"$ASSAY" ack '*/host_omp' --reason "wanted" --until 2099-01-01 --db n2.sqlite >/dev/null 2>&1
check "what one of them acknowledges is no reason to fail: 0" exits 0 over n[1-6].sqlite
check "and is told" says ACK over n[1-6].sqlite
node 2

# A node on which the other case is slower as well.
node 4 "UPDATE result SET time_ns = 1.25 * time_ns WHERE variant = 'host_scalar' AND launch_id IN
    (SELECT launch.id FROM launch JOIN run ON run.id = run_id WHERE label LIKE '%candidate');
    UPDATE verdict SET verdict = 'REGRESSED', ratio = 1.25 WHERE variant = 'host_scalar'"
check "a node that disagrees is named" says "node4 sim:launch=0.2 disagrees: +2" over n[1-6].sqlite
check "and makes no regression of its own" fails says 'REGRESSED: 2' over n[1-6].sqlite

# A gate that proves all its cases launches nothing.
proven() { # N: a node with such a gate
    "$ASSAY" gate ./two.ini --base "$ASSAY" --device sim:code=1 --allow-simulated --seed "$1" --db "p$1.sqlite" >/dev/null 2>&1
    query "p$1.sqlite" "UPDATE gate SET hostname = 'node$1'"
}
for n in 2 3 4; do proven $n; done
check "nothing was launched" gives 0 query p2.sqlite "SELECT count(*) FROM run"
check "what all prove is unchanged for all: 0" exits 0 over p[234].sqlite --nodes 3
cp said.out proven.txt
check "each case" [ "$(grep -c '^UNCHANGED .*int8_quantize' proven.txt)" -eq 2 ]
query p4.sqlite "UPDATE gate SET candidate_build = 'another'"
check "of another build it says nothing: 5" exits 5 over p[234].sqlite
check "which is named" says "node4 sim:code=1: it gated other builds" over p[234].sqlite

# What one node proved, and another measured.
proof() { query "n$1.sqlite" "UPDATE verdict SET verdict = 'UNCHANGED', tags = 'AUDIT' ${3:-} WHERE variant = '$2'"; }
proof 1 host_scalar
proof 2 host_scalar
over n[1-3].sqlite >proof.txt 2>&1
check "what was audited on two nodes is still proven" grep -qE '^UNCHANGED .*int8_quantize/host_scalar' proof.txt
check "on as many as proved it" grep -qF 'proven on 2 of 3 nodes' proof.txt
proof 1 host_omp ', ratio = NULL'
proof 2 host_omp ', ratio = NULL'
over n[1-3].sqlite >proof.txt 2>&1
check "a change on another node is not proven away" grep -qE '^INCOMPARABLE .*int8_quantize/host_omp' proof.txt
node 1
node 2

# Gates of another kind, beside the one that counts.
cp n1.sqlite counted.sqlite
check "a gate by counters passes: 0" exits 0 "$ASSAY" gate ./two.ini --base "$ASSAY" --base-device sim:code=1 \
    --cand-device sim:code=1 --counters --no-proof --allow-simulated --seed 1 --db counted.sqlite
check "it is stored beside the other" gives 2 query counted.sqlite "SELECT count(*) FROM gate"
check "which is not taken: 1" exits 1 over counted.sqlite n2.sqlite n3.sqlite --nodes 3
query counted.sqlite "UPDATE run SET label = replace(label, 'base', 'twins'), command = 'assay run' WHERE command LIKE 'assay profile%'"
check "nor is one of twins: 1" exits 1 over counted.sqlite n2.sqlite n3.sqlite --nodes 3

# Shares that are missing.
node 4 "DELETE FROM gate"
check "a gate that did not end: 5" exits 5 over n[1-6].sqlite
check "its node is named" says "node4 sim:launch=0.2: its gate did not end" over n[1-6].sqlite
over n[1-6].sqlite --junit over.xml >/dev/null 2>&1
check "JUnit has an error of it" grep -q 'name="every node"><error message=.*node4 sim:launch=0.2: its gate did not end' over.xml
check "the others are judged" says 'REGRESSED: 1' over n[1-6].sqlite
check "so is a file that is not there: 5" exits 5 over n1.sqlite n2.sqlite n3.sqlite nowhere.sqlite
check "which is named" says "nowhere.sqlite" over n1.sqlite n2.sqlite n3.sqlite nowhere.sqlite
check "fewer than expected: 5" exits 5 over merged.sqlite --nodes 8
check "which is said" says "2 of 8 nodes have left no gate" over merged.sqlite --nodes 8
check "as many as expected" exits 1 over merged.sqlite --nodes 6
node 4 "UPDATE environment SET git_commit = 'other'"
check "other builds on a node: 5" exits 5 over n[1-6].sqlite
check "which is named" says "node4 sim:launch=0.2: it gated other builds" over n[1-6].sqlite
node 4 "UPDATE run SET suite_text = 'other'"
check "so is another suite" exits 5 over n[1-6].sqlite
node 4 "UPDATE verdict SET verdict = 'ERROR', reason = 'crashed: by a signal', ratio = NULL WHERE variant = 'host_omp'"
check "a case that a node lost is lost: 5" exits 5 over n[1-6].sqlite
check "with the node" says "node4 sim:launch=0.2: crashed: by a signal" over n[1-6].sqlite
"$ASSAY" run smoke --device sim --db runs.sqlite >/dev/null 2>&1
check "no gate at all: 4" exits 4 over runs.sqlite
check "which is said" warns "no gate of two programs is in it" over runs.sqlite

check "a simulated device is refused as ever" exits 2 "$ASSAY" gate --over n1.sqlite n2.sqlite
for wrong in "" "n1.sqlite --base x" "n1.sqlite --threshold 2" "n1.sqlite --db x.sqlite" "n1.sqlite --nodes 0"; do
    # shellcheck disable=SC2086 # words
    check "--over $wrong is a usage error" exits 2 over $wrong
done
check "--nodes is for --over" exits 2 "$ASSAY" gate smoke --base "$ASSAY" --nodes 3
check "a gate without a suite is a usage error" exits 2 "$ASSAY" gate --base "$ASSAY"
check "and one of two" exits 2 "$ASSAY" gate smoke core --base "$ASSAY"
