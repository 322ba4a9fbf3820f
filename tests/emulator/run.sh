#!/usr/bin/env bash
# Every kernel at a few odd shapes, emulated: run.sh PROGRAM [SUITE.ini [OPTION of assay run ...]]
# A program of emulate.mk; the suite is emulate.ini where none is named. Prints the faults and the cases that are not ok,
# then how many are. Exit 1 if there is such a case or the emulator said anything.
set -u
program=${1:?usage: run.sh PROGRAM [SUITE.ini [OPTION ...]]}
suite=${2:-$(dirname "$0")/emulate.ini}
shift $(($# < 2 ? $# : 2))
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0
"$program" run "$suite" --check --device cuda:0 --clock event --seed 7 --no-ceilings \
    --db "$scratch/emulated.sqlite" "$@" >"$scratch/table" 2>"$scratch/said" || status=$?
grep -A6 '^emulator: F' "$scratch/said"
grep -E 'wrong|crashed|timeout|unstable' "$scratch/table"
grep -E '^[0-9]+ ok' "$scratch/table" || cat "$scratch/said"
[ "$status" -eq 0 ] && ! grep -q '^emulator: F' "$scratch/said"
