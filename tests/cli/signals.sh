#!/usr/bin/env bash
# A run that is ended, killed or loses its worker: what is complete is stored,
# nothing else is, and --resume goes on from there.
. "$(dirname "$0")/lib.sh"

export OMP_NUM_THREADS=1 # several runs share few cores
many_groups 24 many.ini
all=48

# start DATABASE: a run of the suite in the background; its id in $pid.
start() {
    rm -f "$1" "$1"-wal "$1"-shm
    "$ASSAY" run many.ini --device host --no-ceilings --seed 7 --db "$1" >run.out 2>run.err &
    pid=$!
}
has_cases() { [ "$(cases "$1")" -ge "$2" ]; }
# end_with SIGNAL: the run's exit code in $ended.
end_with() {
    worker=$(worker_of "$pid")
    kill -"$1" "$pid"
    ended=0
    wait "$pid" || ended=$?
} 2>/dev/null
# The database is whole, and every row of it complete: an ok case with its samples.
is_complete() {
    is_whole "$1" && [ "$(query "$1" "SELECT count(*) FROM cases WHERE status <> 'ok' OR samples IS NULL OR
        samples < 30 OR time_ns IS NULL")" -eq 0 ]
}

for signal in INT TERM HUP; do
    start "$signal.sqlite"
    check "$signal: the run gets going" wait_for 20 has_cases "$signal.sqlite" 4
    end_with "$signal"
    check "$signal: exit 130" [ "$ended" -eq 130 ]
    check "$signal: no worker is left" wait_for 20 is_gone "$worker"
    check "$signal: what is stored is whole" is_complete "$signal.sqlite"
    check "$signal: it is a part" [ "$(cases "$signal.sqlite")" -lt $all ]
    check "$signal: the run is interrupted" \
        gives interrupted query "$signal.sqlite" "SELECT status FROM run"
    check "$signal: the table is printed of what there is" grep -q "int8_quantize" run.out
done

# A terminal that is closed sends HUP, and takes nothing more.
rm -f closed.sqlite*
"$ASSAY" run many.ini --device host --no-ceilings --db closed.sqlite >/dev/full 2>/dev/full &
pid=$!
wait_for 20 has_cases closed.sqlite 4
end_with HUP
check "a terminal that was closed is an interruption" [ "$ended" -eq 130 ]
check "and what was measured is stored" is_complete closed.sqlite

before=$(query INT.sqlite "SELECT id, measured_at FROM result ORDER BY id")
check "show of a part is exit 5" exits 5 "$ASSAY" show --db INT.sqlite
check "another choice of cases is not resumed" exits 2 "$ASSAY" run many.ini --device host \
    --no-ceilings --db INT.sqlite --resume --filter '*/host_scalar'
check "and is told what it began with" warns "(assay run many.ini --device host --no-ceilings" "$ASSAY" \
    run many.ini --device host --no-ceilings --db INT.sqlite --resume --filter '*/host_scalar'
check "another flush is not resumed" warns "begun with --flush" "$ASSAY" run many.ini --device host \
    --no-ceilings --db INT.sqlite --resume --flush write
check "--resume completes the run" exits 0 "$ASSAY" run many.ini --device host --no-ceilings \
    --db INT.sqlite --resume
check "in the same run and launch" gives "1|1|complete" query INT.sqlite \
    "SELECT count(*), (SELECT count(*) FROM launch), status FROM run"
check "with every case" gives "$all" query INT.sqlite "SELECT count(*) FROM result"
check "all of them whole" is_complete INT.sqlite
printf '%s\n' "$before" >before
query INT.sqlite "SELECT id, measured_at FROM result" >after
check "none measured again" [ "$(grep -cxFf before after)" -eq "$(wc -l <before)" ]
check "a complete run is not resumed" warns "nothing to resume" "$ASSAY" run many.ini --device host \
    --no-ceilings --db INT.sqlite --resume

# A run that ended between two launches goes on with the next one.
query INT.sqlite "UPDATE run SET status = 'interrupted'"
check "a run of which a launch is left is resumed" exits 0 "$ASSAY" run many.ini --device host \
    --no-ceilings --db INT.sqlite --resume --launches 2
check "with the next launch" gives "$all|$all|complete" query INT.sqlite "SELECT
    (SELECT count(*) FROM result JOIN launch ON launch.id = launch_id WHERE number = 1),
    (SELECT count(*) FROM result JOIN launch ON launch.id = launch_id WHERE number = 2), status FROM run"

# Ctrl-Z: the worker, in a process group of its own, stops with the run. Job control gives the run
# a group that this shell may continue; without one the signal would stop nothing.
is_stopped() { [ "$(awk '$1 == "State:" { print $2 }' "/proc/$1/status")" = T ]; }
# stop COMMAND...: it is stopped when "${when[@]}" succeeds, and continued 2.5 s later.
stop() {
    set -m
    "$@" >run.out 2>run.err &
    pid=$!
    set +m
    check "what is to be stopped gets going" wait_for 20 "${when[@]}"
    worker=$(worker_of "$pid")
    kill -TSTP "$pid"
    check "a run that is stopped stops" wait_for 20 is_stopped "$pid"
    check "and its worker with it" wait_for 20 is_stopped "$worker"
    sleep 2.5
    check "for as long" is_stopped "$worker"
    kill -CONT "$pid"
}
sed 's/^budget.*/&\ntimeout = 1/' many.ini >short.ini
when=(has_cases stopped.sqlite 4)
stop "$ASSAY" run short.ini --device host --no-ceilings --db stopped.sqlite
ended=0
wait "$pid" || ended=$?
check "it goes on to the end, and no time limit counts the stop" [ "$ended" -eq 0 ]
check "with every case" gives "$all" query stopped.sqlite "SELECT count(*) FROM result"
check "all of them whole" is_complete stopped.sqlite

# In a case that hangs, and has forked, it is known what it was stopped in.
sed 's/^timeout.*/timeout = 60/' "$HERE/faults/faults.ini" >hangs.ini
in_the_case() { [ -n "$(worker_of "$(worker_of "$pid")")" ]; }
has_another_worker() { is_gone "$worker" && worker_of "$pid" >/dev/null; }
when=(in_the_case)
stop "$FAULTS" run hangs.ini --device host --no-ceilings --filter '*/hangs' --db hangs.sqlite
check "what it was stopped in is measured again, by another worker" wait_for 20 has_another_worker
end_with INT
check "and that is an interruption, not a crash" [ "$ended" -eq 130 ]

start early.sqlite
sleep 0.02
end_with TERM
check "a signal before the first case ends it too" test "$ended" -eq 130 -o "$ended" -eq 143

for delay in 0.03 0.1 0.2 0.3 0.4; do
    start killed.sqlite
    sleep $delay
    end_with KILL
    check "killed after $delay s: the worker dies too" wait_for 20 is_gone "${worker:-$pid}"
    check "killed after $delay s: what is stored is whole" \
        bash -c '[ ! -e killed.sqlite ] || [ "$(sqlite3 killed.sqlite "PRAGMA integrity_check")" = ok ]'
    if [ "$(cases killed.sqlite)" -gt 0 ]; then
        check "killed after $delay s: every case is whole" is_complete killed.sqlite
    fi
done
start killed.sqlite
wait_for 20 has_cases killed.sqlite 4
end_with KILL
check "a run killed half-way still says that it runs" \
    gives running query killed.sqlite "SELECT status FROM run"
check "a killed run is resumed" exits 0 "$ASSAY" run many.ini --device host --no-ceilings \
    --db killed.sqlite --resume
check "to the end" gives "$all|complete" query killed.sqlite \
    "SELECT (SELECT count(*) FROM result), status FROM run"

start worker.sqlite
check "the run with a worker to kill gets going" wait_for 20 has_cases worker.sqlite 4
victim=$(worker_of "$pid")
kill -KILL "$victim"
ended=0
wait "$pid" || ended=$?
check "a killed worker is exit 5" [ "$ended" -eq 5 ]
check "every case has a row" gives "$all" query worker.sqlite "SELECT count(*) FROM result"
check "the case it was in crashed, by that signal" [ "$(query worker.sqlite \
    "SELECT count(*) FROM result WHERE status = 'crashed' AND reason LIKE '%signal 9%'")" -ge 1 ]
check "at most its group is lost" [ "$(query worker.sqlite \
    "SELECT count(DISTINCT shape) FROM result WHERE status <> 'ok'")" -le 1 ]
check "the run is complete" gives complete query worker.sqlite "SELECT status FROM run"
