#!/usr/bin/env bash
# Run every harness for some seconds, two at a time:
#
#   tests/fuzz/run.sh FOLDER SECONDS [NAME...]     FOLDER has the programs fuzz_NAME; `make fuzz` builds them
#
# Each begins with the inputs of corpus/NAME, with the files NAME.json of tests/import, and with those
# that it found before, which it keeps in FOLDER/corpus. An input that breaks something is left in FOLDER/found; the program takes its path
# as its only argument. The last line is "N passed, N failed".
set -u
here=$(cd "$(dirname "$0")" && pwd)
folder=$(cd "$1" && pwd) seconds=$2
shift 2
[ $# -gt 0 ] || { set -- "$folder"/fuzz_*; set -- "${@##*/fuzz_}"; }

one() { # NAME
    local log=$scratch/$1.log inputs kept=$folder/corpus/$1
    mkdir -p "$kept" "$folder/found" "$scratch/$1/inputs"
    cd "$scratch/$1" || return
    cp "$here/corpus/$1"/* "$here/../import/$1".json inputs 2>/dev/null # most have no such file
    if "$folder/fuzz_$1" -max_total_time="$seconds" -max_len=65536 -timeout=10 -rss_limit_mb=2000 -verbosity=1 \
        -print_final_stats=1 -artifact_prefix="$folder/found/$1-" "$kept" inputs >"$log" 2>&1; then
        inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
        printf '  ok    fuzz %-12s %10s inputs %5s s\n' "$1" "$inputs" "$seconds"
    else
        printf '  FAIL  fuzz %s\n' "$1"
        grep -v '^#' "$log" | tail -n 60
    fi
}
export -f one
# Databases and logs; in memory, where there is such a folder.
scratch=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tally=$scratch/tally
export folder seconds here scratch
printf '%s\0' "$@" | xargs -0 -P2 -I{} bash -c 'one {}' | tee "$tally"
passed=$(grep -c '^  ok ' "$tally") failed=$(grep -c '^  FAIL ' "$tally")
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -eq $# ]
