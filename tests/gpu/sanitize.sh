#!/usr/bin/env bash
# Every kernel under compute-sanitizer, memcheck and racecheck, at odd shapes:
# sanitize.sh [SUITE.ini ...], without a suite those that end in minutes. Two processes a suite, side by side, for the
# checking is the host's work; SHARDS of them (default 1) for each tool.
# LIMIT_S bounds each (0: no bound).
# The event clock: the sanitizer and CUPTI cannot share a process.
set -u
folder=$(dirname "$0")
[ $# -gt 0 ] || set -- "$folder"/odd.ini "$folder"/odd_{lattice,codec}.ini "$folder"/sanitize_*.ini
limit=${LIMIT_S:-0}
shards=${SHARDS:-1}

check() { # TOOL SUITE SHARD NAME
    local tool=$1 suite=$2 shard=$3 name=$4 log=$TMP/$4.log code found
    timeout -s INT "$limit" compute-sanitizer --tool "$tool" --target-processes all --error-exitcode 99 \
        "$ASSAY" run "$suite" --check --device cuda:0 --clock event --seed 7 \
        --shard "$shard/$shards" --db "$TMP/$name.sqlite" >"$log" 2>&1
    code=$?
    # cuBLAS is not ours to check; an error in a kernel of ours is.
    found=$(grep -c 'ERROR SUMMARY: [1-9]\|RACECHECK SUMMARY: [1-9]' "$log")
    if [ "$code" -eq 0 ] && [ "$found" -eq 0 ]; then
        echo "ok - $name finds nothing: $(grep -E '^[0-9]+ ok' "$log") in $SECONDS s"
    else
        echo "not ok - $name (exit $code, $found processes with errors, $SECONDS s)"
        grep -v 'Host Frame' "$log" | grep -A12 -m 3 '^=========  *[A-Z]' | head -n 40
        grep 'ERROR SUMMARY\|RACECHECK SUMMARY' "$log"
        tail -n 8 "$log"
        return 1
    fi
}

jobs=()
failed=0
for suite in "$@"; do
    for tool in ${TOOLS:-memcheck racecheck}; do
        # Where racecheck does not know how a kernel waits, the suite says so.
        [ "$tool" = racecheck ] && [[ $suite == *_persistent.ini ]] && continue
        for ((shard = 1; shard <= shards; shard++)); do
            name=$tool-$(basename "$suite" .ini)-$shard
            check "$tool" "$suite" "$shard" "$name" >"$TMP/$name.said" 2>&1 &
            jobs+=("$! $TMP/$name.said")
        done
    done
done
for job in "${jobs[@]}"; do
    wait "${job%% *}" || failed=1
    cat "${job#* }"
done
exit $failed
