#!/usr/bin/env bash
# Kill the mutants: run each suite of this folder with every mutant of a device's place beside right
# variants, and say which were not found out.
#
#   run.sh [PROGRAM [FOLDER]]    (default: build/assay-mutants, and mutants/src beside it)
#
# DEVICE (default: host), SEED (default: 1) and TMP, a folder for the database, may be set. A mutant
# is killed by one row that is wrong, crashed or timed out. It survives when all its rows are ok, and
# also when it has no row: then its suite lacks a shape for it. A cheat (cheat_*) is killed when none of
# its rows has a time; one with right answers and a clock or a cache that it tampers with (timed_*) when
# no row is faster than 0.9 times timed_plain, the same kernel without.
# The last line is "killed N of M"; exit 1 when fewer than 98 % are, or a right variant was refused.
set -u
here=$(dirname "$0")
program=${1:-build/assay-mutants}
sources=${2:-$(dirname "$program")/mutants/src}
device=${DEVICE:-host}
place=${device%%:*}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
database=${TMP:-$scratch}/mutants.sqlite
# Suites are checked beside each other: a thread that spins while it waits takes the other's processor.
export OMP_WAIT_POLICY=PASSIVE

"$program" list variants --format json |
    awk -F'"' '$2 == "variant" { name = $4 } $2 == "device" { print name "," $4 }' >"$scratch/variants.csv"

# measure SUITE [OPTION]: its rows. A mutant that is found out ends a run with 1, one that dies with 5.
measure() {
    local suite=$1 name status=0
    name=$scratch/$(basename "$1" .ini)
    shift
    "$program" run "$suite" --device "$device" "$@" --seed "${SEED:-1}" --no-ceilings --format csv \
        --db "$database" >"$name.rows" 2>"$name.err" || status=$?
    case $status in 0 | 1 | 5) ;; *) cat "$name.err" >&2 ;; esac
}

# As many suites at a time as there are processors, for references are the host's work. Cheats are timed: alone.
at_once=$(nproc)
for suite in "$here"/*.ini; do
    [ "$(basename "$suite")" != cheats.ini ] || continue
    [ "$(jobs -rp | wc -l)" -lt "$at_once" ] || wait -n
    measure "$suite" --check &
done
wait
! grep -q '^cheat_' "$scratch/variants.csv" || measure "$here/cheats.ini"
cat "$scratch"/*.rows >"$scratch/rows.csv"

awk -F, -v place="$place" -v says="$sources/says.tsv" '
# Without the quoted fields, which alone may have commas in them.
function plain(line) { gsub(/"[^"]*"/, "", line); return line }
function of_mutant(variant,    name, best) {
    best = ""
    for (name in text) if (index(variant, name "_") == 1 && length(name) > length(best)) best = name
    if (variant ~ /^(cheat|timed)_/) best = variant
    return best
}
BEGIN { while ((getline line <says) > 0) { split(line, part, "\t"); text[part[1]] = part[2] } }
FILENAME ~ /variants/ {
    mutant = of_mutant($1)
    if (mutant == "" || $2 != place || mutant in is) next
    is[mutant] = 1
    total++
    next
}
{ $0 = plain($0) }
$1 == "run" { for (i = 1; i <= NF; i++) column[$i] = i; next }
{
    mutant = of_mutant($column["variant"])
    status = $column["status"]
    bad = status != "ok" && status != "skipped"
    where = $column["shape"] " " $column["temperature"]
    if (mutant ~ /^timed_/ && !bad) time[mutant "|" where] = $column["time_ns"]
    if (mutant == "" && bad) { print "refused " $column["operation"] "/" $column["variant"] " " $column["shape"]; refused++ }
    if (mutant == "" || status == "skipped") next
    rows[mutant]++
    if (bad) caught[mutant]++
}
END {
    for (key in time) {
        split(key, part, "|")
        if (time[key] < 0.9 * time["timed_plain|" part[2]]) {
            print "too fast " part[1] " " part[2] ": " time[key] " ns"
            fast[part[1]] = 1
        }
    }
    for (mutant in is) {
        cheat = mutant ~ /^cheat_/
        dead = caught[mutant] > 0
        if (cheat) dead = rows[mutant] && rows[mutant] == caught[mutant]
        if (mutant ~ /^timed_/) dead = rows[mutant] && !(mutant in fast)
        killed += dead
        if (!dead) print (rows[mutant] ? "survived " : "not run ") mutant ": " text[mutant] | "sort"
    }
    close("sort")
    printf "killed %d of %d\n", killed, total
    exit refused > 0 || total == 0 || killed < 0.98 * total
}' "$scratch/variants.csv" "$scratch/rows.csv"
