#!/usr/bin/env bash
# `assay ab`: two programs or revisions, from their names to a verdict. What a new user does first.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/gate/paced.sh
. "$HERE/cli/gate/paced.sh"
export ASSAY_DB=ab.sqlite OMP_NUM_THREADS=1 HOME=$PWD XDG_CACHE_HOME=$PWD/cache

paced_suite few.ini
paced_program base 100
paced_program slower 400
paced_program same 100
echo "# the same" >>same

before=$SECONDS
check "a case that is slowed four times ends with 1" exits 1 \
    "$ASSAY" ab ./base ./slower few.ini --device host --json ab.json -o ab.out
check "in less than half a minute" [ $((SECONDS - before)) -lt 30 ]
check "and is named with its change and both times" grep -qE 'REGRESSED +\+[23][0-9]{2}\.?[0-9]* %.* us .* us ' ab.out
check "JSON has the verdict" gives REGRESSED query :memory: "SELECT json_extract(readfile('$PWD/ab.json'), '\$.rows[0].verdict')"
check "the other way round it is an improvement" exits 0 "$ASSAY" ab ./slower ./base few.ini --device host -o ab.out
check "which is said" grep -q IMPROVED ab.out
check "one that does the same is none" exits 0 "$ASSAY" ab ./base ./same few.ini --device host -o ab.out
check "and said to be, by proof" grep -q UNCHANGED ab.out

# Revisions of git, each built once.
git init -q repository && cd repository || exit 1
git config user.email a@example.org && git config user.name a
for pace in 100 400; do
    cp ../base program && sed -i "s/FAULT_PACE=100/FAULT_PACE=$pace/" program
    git add program && git commit -qm "pace $pace"
done
make="mkdir -p build && cp program build/assay && echo built >>'$PWD/../made'"
ab() { "$ASSAY" ab "$@" ../few.ini --device host --make "$make" --db ../ab.sqlite; }
check "two revisions are built and compared" exits 1 ab HEAD~1 HEAD
check "it says what it builds" [ -n "$(ls ../cache/assay/builds/*.log)" ]
check "each was built once" [ "$(wc -l <../made)" -eq 2 ]
check "a second time none is" exits 1 ab HEAD~1 HEAD
check "as the log says" [ "$(wc -l <../made)" -eq 2 ]
check "no worktree is left" gives 1 sh -c "git worktree list | wc -l"
check "a revision beside a program" exits 0 ab HEAD ../base
git rm -q program && git commit -qm "does not build"
check "a revision that does not build ends with 2" exits 2 ab HEAD~1 HEAD
check "and says so" warns "the revision HEAD does not build" ab HEAD~1 HEAD
check "with the end of the log" warns "program" ab HEAD~1 HEAD
check "nothing half built is kept" gives "" sh -c "ls ../cache/assay/builds | grep '\\.[0-9]*$'"
cd .. || exit 1

# Bad input: one line, exit 2.
bad() { exits 2 "$ASSAY" ab "$@" --device host && [ "$(grep -c "^assay ab: " said.err)" -eq 1 ]; }
check "the same program twice" bad ./base ./base few.ini
check "which is said" warns "the same program, byte for byte" "$ASSAY" ab ./base ./base few.ini
check "what is neither a program nor a revision" bad ./base nowhere few.ini
run "$FAULTS" run few.ini --device host --no-ceilings --label kept
check "a stored run is for another command" warns "(a stored run is called so: assay compare)" "$ASSAY" ab kept ./base few.ini
check "a suite that is not there" bad ./base ./slower nowhere.ini
check "a filter that matches nothing" bad ./base ./slower few.ini --filter 'none/*'
check "whose reason is the only line" one_line "$ASSAY" ab ./base ./slower few.ini --filter 'none/*' --device host
check "as is that of a device" one_line "$ASSAY" ab ./base ./slower few.ini --device hots
check "or of counters" one_line "$ASSAY" gate few.ini --base ./base --cand ./slower --counters --device hots
printf 'bad\n' >bad.ini
check "or of a suite" one_line "$ASSAY" gate bad.ini --base ./base --cand ./slower --device host
check "one program alone" bad ./base
