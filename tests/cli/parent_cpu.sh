#!/usr/bin/env bash
# While a worker measures, its parent uses less than 1 % of a core.
. "$(dirname "$0")/lib.sh"

# One long group: the parent has nothing to do but to wait.
cat >long.ini <<'END'
[suite]
budget = 5
precision = 0.0001
[group a]
operation = fault_double
n = 2000000
variants = right
END
# ticks PID: its processor time so far, in clock ticks.
ticks() { sed 's/.*) //' "/proc/$1/stat" | { read -ra field; echo $((field[11] + field[12])); }; }

OMP_NUM_THREADS=1 "$FAULTS" run long.ini --device host --no-ceilings >run.out 2>run.err &
pid=$!
check "a worker starts" wait_for 20 worker_of "$pid"
sleep 1
before=$(ticks "$pid")
worker=$(worker_of "$pid")
worker_before=$(ticks "$worker")
sleep 3
after=$(ticks "$pid")
worker_after=$(ticks "$worker")
code=0
wait "$pid" || code=$?
hundred=$(getconf CLK_TCK)
echo "# parent: $((after - before)) ticks ($hundred per second) in 3 s; worker: $((worker_after - worker_before))"
check "the run is fine" [ "$code" -eq 0 ]
# A tenth of a second in three: other processes may use most of this machine.
check "the worker was at work meanwhile" [ $((worker_after - worker_before)) -gt $((hundred / 10)) ]
check "the parent used less than 1 % of a core" [ $((100 * (after - before))) -le $((3 * hundred)) ]
