#!/usr/bin/env bash
# A gate, or a run, that is killed without a word (kill -9) leaves no process behind, not even one
# that a variant forked, and what it left in the temporary folder goes with the next.
. "$(dirname "$0")/lib.sh"

mkdir tmp
export TMPDIR=$PWD/tmp
# hanging COMMAND...: in the background, up to a case that never ends; $pid.
hanging() { "$@" >out.txt 2>err.txt & pid=$!; }
# descendants PID: of all generations.
descendants() {
    local child
    for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do echo "$child"; descendants "$child"; done
}
has_descendants() { [ "$(descendants "$pid" | wc -l)" -ge "$1" ]; }
has_forked() { descendants "$pid" | sed 's,.*,/proc/&/comm,' | xargs -r grep -qsx assay-left-over; }
all_gone() { local each; for each; do is_gone "$each" || return 1; done; }
folders() { find tmp -mindepth 1 -maxdepth 1 -name 'assay-launch.*' | wc -l; }

hang='sim:hang=*/host_omp'
hanging "$ASSAY" gate "$HERE/sim/cases10.ini" --base "$ASSAY" --device "$hang" --allow-simulated --db gate.sqlite
check "a gate has a launch, and that a worker" wait_for 20 has_descendants 3
sleep 0.5
mapfile -t left < <(descendants "$pid")
kill -KILL "$pid"
wait "$pid" 2>/dev/null
check "which die with it when it is killed" wait_for 20 all_gone "${left[@]}"
check "what it left is there" [ "$(folders)" -ge 1 ]
find tmp -mindepth 1 -maxdepth 1 -exec touch -d '1 hour ago' {} +
"$ASSAY" gate "$HERE/sim/cases10.ini" --base "$ASSAY" --device sim:seed=1 --allow-simulated --seed 1 --db gate.sqlite \
    >/dev/null 2>&1
check "and goes with the next gate" [ "$(folders)" -eq 0 ]

hanging "$FAULTS" run "$HERE/faults/faults.ini" --device host --no-ceilings --filter '*/hangs' --db run.sqlite
check "a run has a worker, in which a variant forks" wait_for 20 has_forked
mapfile -t left < <(descendants "$pid")
kill -KILL "$pid"
wait "$pid" 2>/dev/null
check "all of them die with it" wait_for 20 all_gone "${left[@]}"

hanging "$ASSAY" gate "$HERE/faults/faults.ini" --base "$FAULTS" --device host --filter '*/hangs' --timeout 60 --db fork.sqlite
check "so has a launch of a gate" wait_for 20 has_forked
mapfile -t left < <(descendants "$pid")
kill -KILL "$pid"
wait "$pid" 2>/dev/null
check "all of them die with the gate" wait_for 20 all_gone "${left[@]}"

deep=$PWD/tmp/$(printf '%0150d' 0)
mkdir -p "$deep"
check "a temporary folder with a long name is used" exits 0 env TMPDIR="$deep" "$ASSAY" gate \
    "$HERE/sim/cases10.ini" --base "$ASSAY" --device sim:seed=1 --allow-simulated --seed 1 --db long.sqlite
check "one that is not there is named in full" warns "$deep/none" env TMPDIR="$deep/none" "$ASSAY" gate \
    "$HERE/sim/cases10.ini" --base "$ASSAY" --device sim:seed=1 --allow-simulated --seed 1 --db long.sqlite
