#!/usr/bin/env bash
# Two runs into one database at once: both complete.
. "$(dirname "$0")/lib.sh"

export OMP_NUM_THREADS=1 # the runs share few cores
many_groups 12 many.ini
for i in 1 2 3; do
    "$ASSAY" run many.ini --device host --no-ceilings --label "run $i" --db shared.sqlite \
        >"$i.out" 2>"$i.err" &
    pids[i]=$!
done
for i in 1 2 3; do
    code=0
    wait "${pids[i]}" || code=$?
    check "run $i is fine" [ "$code" -eq 0 ]
    check "run $i shows its own cases" grep -qF "24 ok" "$i.out"
done
check "all are complete" gives 3 query shared.sqlite "SELECT count(*) FROM run WHERE status = 'complete'"
check "each has all of its cases" gives "24,24,24" query shared.sqlite \
    "SELECT group_concat(n) FROM (SELECT count(*) AS n FROM cases GROUP BY run_id)"
check "the database is whole" gives ok query shared.sqlite "PRAGMA integrity_check"
check "the environment and the device are there once" gives "1|1" query shared.sqlite \
    "SELECT (SELECT count(*) FROM environment), (SELECT count(*) FROM device)"
