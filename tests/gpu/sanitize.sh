#!/usr/bin/env bash
# Every kernel under compute-sanitizer, memcheck and racecheck, at odd shapes.
# The event clock: the sanitizer and CUPTI cannot share a process.
set -u
suite=${1:-$(dirname "$0")/odd.ini}
failed=0
for tool in memcheck racecheck; do
    log=$(mktemp)
    compute-sanitizer --tool "$tool" --target-processes all --error-exitcode 99 \
        "$ASSAY" run "$suite" --check --device cuda:0 --clock event --seed 7 \
        --db "$TMP/$tool.sqlite" >"$log" 2>&1
    code=$?
    # cuBLAS is not ours to check; an error in a kernel of ours is.
    found=$(grep -c 'ERROR SUMMARY: [1-9]\|RACECHECK SUMMARY: [1-9]' "$log")
    if [ "$code" -eq 0 ] && [ "$found" -eq 0 ]; then
        echo "ok - $tool finds nothing: $(grep -E '^[0-9]+ ok' "$log")"
    else
        echo "not ok - $tool (exit $code, $found processes with errors)"
        grep -A12 'Invalid\|Race reported\|ERROR SUMMARY\|RACECHECK SUMMARY' "$log" | head -n 60
        tail -n 30 "$log"
        failed=1
    fi
    rm -f "$log"
done
exit $failed
