#!/usr/bin/env bash
# assay run on all GPUs of a machine (simulated ones): who measures what, beside what, and what goes wrong.
. "$(dirname "$0")/lib.sh"

cat >mixed.ini <<'END'
[suite]
title = groups that may be beside each other, and copies over the link, which may not
budget = 0.02
[group link]
operation = transfer
bytes = 1Mi, 2Mi
variants = host_memcpy
[group many]
operation = int8_quantize
variants = host_scalar, host_memcpy
n = 100000..100019+1
temperature = hot
END
all() { "$ASSAY" run mixed.ini --device sim:gpus=4,gpu=all "$@"; }

check "all four GPUs measure" exits 0 all --db a.sqlite --label one
cases=$(query a.sqlite "SELECT count(*) FROM result WHERE purpose = 'case'")
check "each case once" gives "$cases|1" query a.sqlite "SELECT count(*), max(n) FROM
    (SELECT count(*) AS n FROM result WHERE purpose = 'case' GROUP BY operation, shape, temperature, variant)"
check "a launch on each, with what it was dealt" gives "4|4|1" query a.sqlite \
    "SELECT count(DISTINCT device_id), count(*), min((SELECT count(*) FROM expected WHERE launch_id = launch.id)
     = (SELECT count(*) FROM result WHERE launch_id = launch.id)) FROM launch"
check "more than one measures cases" gives 1 query a.sqlite "SELECT count(DISTINCT launch_id) > 1 FROM result WHERE purpose = 'case'"
check "groups are beside others" gives 1 query a.sqlite "SELECT count(*) > 0 FROM beside"
check "what crosses the link is beside nothing" gives 0 query a.sqlite \
    "SELECT count(*) FROM beside JOIN result ON id IN (result_id, beside_id) WHERE operation = 'transfer'"
check "no worker comes or goes while it is measured" gives 1 query a.sqlite \
    "SELECT (SELECT max(started_at) FROM launch) <= min(begun_at) AND max(measured_at) <= (SELECT min(ended_at) FROM launch)
     FROM result WHERE operation = 'transfer'"
check "ceilings come before what is held against them" gives 1 query a.sqlite \
    "SELECT max(iif(purpose = 'ceiling', measured_at, '')) <= min(iif(purpose = 'case', begun_at, '9')) FROM result"
check "the table's head says so" says "4 launches on 4 GPUs" "$ASSAY" show --db a.sqlite
check "no row is marked as missing from launches" fails says "missing from some" "$ASSAY" show --db a.sqlite
check "the table has every row" says "$(query a.sqlite "SELECT count(*) FROM result WHERE purpose = 'case' AND status = 'ok'") ok" \
    "$ASSAY" show --db a.sqlite

# Forty of them: one could be over before another GPU begins.
sed 's/^bytes = .*/bytes = 1Mi..40Mi+1Mi/' mixed.ini >copies.ini
check "unless that is asked for" exits 0 "$ASSAY" run copies.ini --device sim:gpus=4,gpu=all --side-by-side --no-ceilings \
    --db side.sqlite
check "it is beside others then" gives 1 query side.sqlite \
    "SELECT count(*) > 0 FROM beside JOIN result ON id = result_id WHERE operation = 'transfer'"

check "three launches" exits 0 all --launches 3 --no-ceilings --db three.sqlite
check "of each case are on one GPU" gives "3|1" query three.sqlite "SELECT min(n), max(d) FROM (SELECT count(*) AS n,
    count(DISTINCT device_id) AS d FROM result JOIN launch ON launch.id = launch_id GROUP BY operation, shape, variant)"
check "every case on each" exits 0 all --replicate --db copies.sqlite
check "as often as there are GPUs, ceilings too" gives "4|4|4|4" query copies.sqlite "SELECT min(n), max(n), min(d), max(d) FROM
    (SELECT count(*) AS n, count(DISTINCT device_id) AS d FROM result JOIN launch ON launch.id = launch_id
     GROUP BY purpose, operation, shape, temperature, variant)"
check "one GPU is all there are" exits 0 "$ASSAY" run mixed.ini --device sim:gpus=1,gpu=all --no-ceilings --db single.sqlite
check "and has the one launch" gives "1|sim:gpu=0,gpus=1" query single.sqlite "SELECT count(*), spec FROM launch"

# ------------------------------------------------------------------ comparing --

check "two runs are compared" exits 0 "$ASSAY" compare a.sqlite:one a.sqlite:one --format json
check "of one launch of each case" says '"launches": 1,' "$ASSAY" compare a.sqlite:one a.sqlite:one --format json
check "case by case: none differs in its GPU" fails says "device uuid" "$ASSAY" compare a.sqlite:one a.sqlite:one
query a.sqlite "UPDATE launch SET device_id = (SELECT id FROM device WHERE uuid = 'SIM-0')" # for all of b
cp a.sqlite b.sqlite
query b.sqlite "UPDATE launch SET device_id = (SELECT id FROM device WHERE uuid = 'SIM-1') WHERE number = 2"
moved=$(query b.sqlite "SELECT count(*) FROM result JOIN launch ON launch.id = launch_id WHERE number = 2 AND purpose = 'case' AND status = 'ok'")
"$ASSAY" compare a.sqlite:one b.sqlite:one --format json >compared.json
check "those of another GPU are not compared" gives "$moved" query :memory: "SELECT count(*)
    FROM json_each(readfile('compared.json'), '\$.rows') WHERE value ->> 'verdict' = 'INCOMPARABLE'
    AND value ->> 'reason' LIKE '%uuid SIM-0 and SIM-1%'"

# homes DATABASE: of a.sqlite's cases, how many are on the same GPU there.
homes() {
    sqlite3 -batch "$1" "ATTACH 'first.sqlite' AS a; SELECT 100 * sum(one.uuid = two.uuid) / count(*) FROM
        (SELECT operation, shape, variant, uuid FROM result JOIN launch ON launch.id = launch_id JOIN device ON device.id = device_id
         WHERE run_id = (SELECT id FROM run ORDER BY started_at DESC LIMIT 1) AND purpose = 'case') AS one
        JOIN (SELECT operation, shape, variant, uuid FROM a.result JOIN a.launch ON launch.id = launch_id JOIN a.device ON device.id = device_id
              WHERE purpose = 'case') AS two USING (operation, shape, variant)"
}
many_groups 100 hundred.ini
two() { "$ASSAY" run hundred.ini --device sim:gpus=2,gpu=all --no-ceilings --db "$1"; }
two first.sqlite >/dev/null 2>&1
cp first.sqlite second.sqlite
check "the next run" exits 0 two second.sqlite
check "has most groups on the GPUs that had them" [ "$(homes second.sqlite)" -ge 70 ]

# ---------------------------------------------------------------- what goes wrong --

check "a crash on one GPU costs its case" exits 5 "$ASSAY" run mixed.ini --no-ceilings --db crash.sqlite \
    --device 'sim:gpus=3,gpu=all,crash=int8_quantize/host_scalar'
check "and no other" gives "20|22" query crash.sqlite "SELECT sum(status = 'crashed'), sum(status = 'ok') FROM result"

many_groups 300 long.ini
long() { exec "$ASSAY" run long.ini --device sim:gpus=3,gpu=all --no-ceilings --budget 2 --db "$1"; }
long stopped.sqlite >stopped.out 2>stopped.err &
pid=$!
check "a run goes on" wait_for 20 [ -s stopped.sqlite ]
has_some() { [ "$(cases "$1")" -gt 4 ]; }
wait_for 20 has_some stopped.sqlite
children=$(cat /proc/$pid/task/*/children)
kill -INT $pid
code=0
wait $pid || code=$?
check "a signal ends it on every GPU" [ "$code" -eq 130 ]
check "with what was measured stored, and the rest known" gives "interrupted|1|600" query stopped.sqlite \
    "SELECT status, (SELECT count(*) FROM result) BETWEEN 4 AND 599, (SELECT count(*) FROM expected) FROM run"
for child in $children; do check "no worker is left" wait_for 20 is_gone "$child"; done
long killed.sqlite >/dev/null 2>&1 &
pid=$!
wait_for 20 has_some killed.sqlite
children=$(cat /proc/$pid/task/*/children)
kill -KILL $pid
wait $pid 2>/dev/null
for child in $children; do check "nor behind one that was killed" wait_for 20 is_gone "$child"; done
check "what it had not measured is known" gives "running|600" query killed.sqlite "SELECT status, (SELECT count(*) FROM expected) FROM run"

check "it is not resumed" ends 2 "--resume goes on with a run of one GPU" \
    "$ASSAY" run long.ini --device sim:gpus=3,gpu=all --no-ceilings --resume --db killed.sqlite
check "--replicate is for all GPUs" ends 2 "--replicate is for --device cuda:all" \
    "$ASSAY" run mixed.ini --device sim:gpus=4 --replicate
check "a GPU that is not there" ends 2 "gpu=4: there is none of that number" "$ASSAY" run mixed.ini --device sim:gpus=4,gpu=4
check "no GPUs" ends 2 "gpus=0: it wants how many there are" "$ASSAY" run mixed.ini --device sim:gpus=0
check "a gate compares on one GPU" ends 2 "launches are compared on one GPU, not on --device sim:gpus=2,gpu=all" \
    "$ASSAY" gate mixed.ini --base "$ASSAY" --device sim:gpus=2,gpu=all --allow-simulated --db gate.sqlite
check "so does a calibration" ends 2 "on one GPU" "$ASSAY" calibrate mixed.ini --device cuda:all --db gate.sqlite
check "and an explanation" ends 2 "on one GPU" "$ASSAY" explain "$ASSAY" "$ASSAY" '*' --device cuda:all --db gate.sqlite
check "which nothing is measured for" fails test -e gate.sqlite
check "doctor looks at one" ends 2 "one GPU at a time" "$ASSAY" doctor --device cuda:all
rank() { SLURM_JOB_ID=$$ SLURM_PROCID=$1 SLURM_LOCALID=$1 SLURM_STEP_NUM_TASKS=2 all --no-ceilings --db ranks.sqlite; }
check "a rank for each machine measures its share on all of its GPUs" exits 0 rank 0
SLURM_JOB_ID=$$ SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_STEP_NUM_TASKS=2 "$ASSAY" run long.ini --shard none --no-ceilings \
    --budget 2 --db hold.sqlite --device sim:gpus=4,gpu=all >/dev/null 2>&1 &
wait_for 20 has_some hold.0001.sqlite
check "two of them on one machine are not" ends 2 "another process of a job measures on this GPU" rank 1
kill -INT $!
wait
check "as a share" gives "1|2|4" query ranks.0001.sqlite "SELECT shard_index, shard_count, (SELECT count(*) FROM launch) FROM run"
