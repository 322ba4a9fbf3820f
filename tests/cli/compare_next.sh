#!/usr/bin/env bash
# assay compare of runs with too few launches: the command that would come to a verdict, and
# --measure, which does it.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/gate/paced.sh
. "$HERE/cli/gate/paced.sh"
export ASSAY_DB=next.sqlite OMP_NUM_THREADS=1 HOME=$PWD XDG_CACHE_HOME=$PWD/cache

paced_suite few.ini
paced_program base 200
paced_program slower 800
git init -q . && git config user.email a@example.org && git config user.name a
for side in base slower; do
    cp $side program
    git add program && git commit -qm $side
done
make='mkdir -p build && cp program build/assay'

# stored LABEL COMMIT CHANGES PROGRAM: a run that says it was built from these sources.
stored() {
    ./"$4" run few.ini --device host --no-ceilings --label "$1" >/dev/null 2>&1
    query next.sqlite "INSERT OR IGNORE INTO environment SELECT '$1', version, '$2', '$3', compiler, flags, nvcc,
        nvcc_flags, hostname, cpu, kernel, os, container, cores, memory_bytes FROM environment LIMIT 1;
        UPDATE run SET environment_id = '$1' WHERE label = '$1'"
}
old=$(git rev-parse HEAD~1) new=$(git rev-parse HEAD)
stored old "$old" '' base
stored new "$new" '' slower
stored edited "$new" 0123 slower
stored nowhere unknown unknown base
wanted="assay ab ${old:0:12} ${new:0:12} few.ini --device host"

check "the command is the last line" gives "  $wanted" sh -c '"$0" compare old new | tail -n 1' "$ASSAY"
check "in Markdown it is one, too" says "    $wanted" "$ASSAY" compare old new --format md
check "in HTML" says "<code>$wanted</code>" "$ASSAY" compare old new --format html
"$ASSAY" compare old new --format json >c.json
check "and in JSON" gives "$wanted" query :memory: "SELECT json_extract(readfile('c.json'), '\$.next')"
check "options are handed on" says "$wanted --metric speedup --threshold 7.5" \
    "$ASSAY" compare old new --metric speedup --threshold 7.5
check "so is another database" says "$wanted --db ./next.sqlite" "$ASSAY" compare old new --db ./next.sqlite
check "what is pasted comes to a verdict" exits 1 sh -c "PATH=$(dirname "$ASSAY"):\$PATH; $wanted --make '$make'"

check "sources that were not committed are said" says "CAND stands for the program of the run, built from commit
              ${new:0:8} and changes that were not committed" "$ASSAY" compare old edited --format table
check "with a word in their place" says "assay ab ${old:0:12} CAND few.ini" "$ASSAY" compare old edited
check "unknown ones as well" says "built from sources of an unknown commit" "$ASSAY" compare nowhere new
"$ASSAY" run smoke --device sim:seed=1 --seed 1 --label own >/dev/null 2>&1
"$ASSAY" run smoke --device sim:seed=2,slow=*_token/host_omp:10 --seed 1 --label own_too >/dev/null 2>&1
query next.sqlite "INSERT INTO environment SELECT 'old too', version, '$old', '', compiler, flags, nvcc, nvcc_flags,
    hostname, cpu, kernel, os, container, cores, memory_bytes FROM environment WHERE id = 'old';
    UPDATE run SET environment_id = 'old too' WHERE label = 'own'"
check "a run of this very program names its file" says "assay ab ${old:0:12} $(readlink -f "$ASSAY") smoke" \
    "$ASSAY" compare own own_too
check "simulated devices are named apart and allowed" says \
    "--base-device sim:seed=1 --cand-device 'sim:seed=2,slow=*_token/host_omp:10' --allow-simulated" \
    "$ASSAY" compare own own_too
"$ASSAY" run smoke --device sim:seed=1 --filter '*/host_memcpy' --seed 1 --label part >/dev/null 2>&1
query next.sqlite "UPDATE run SET environment_id = 'old too' WHERE label = 'part'"
"$ASSAY" compare part own_too --format json >part.json
filter=$(query :memory: "SELECT json_extract(readfile('part.json'), '\$.next')" | sed "s/.*--filter '\(.*\)'.*/\1/")
check "a few open cases are named by a filter" gives "$(query :memory: "SELECT count(*) FROM
    json_each(readfile('part.json'), '\$.rows') WHERE value ->> 'verdict' IN ('SUSPECT', 'INCONCLUSIVE')") cases" \
    sh -c '"$0" run smoke --no-ceilings --device sim --dry-run --filter "$1" | grep -c host_memcpy | sed "s/$/ cases/"' "$ASSAY" "$filter"
check "two runs of one build are told what helps" says "assay run smoke --launches 5" "$ASSAY" compare own_too own_too

# Runs of shared objects: their program is the same, and what differs is the object.
for name in mine theirs; do
    ${CC:-cc} -shared -fPIC -O2 -I"$HERE/../harness" "-DNAMED=$name" "$HERE/object/kernel.c" -o $name.so
    printf '%s' $name >>$name.so
    "$ASSAY" run "$HERE/object/twice.ini" --device sim --no-ceilings --load ./$name.so --label $name >/dev/null 2>&1
done
check "an object stands for its side" says "assay ab BASE CAND $HERE/object/twice.ini --device sim" \
    "$ASSAY" compare mine theirs
check "which says what to put there" says "BASE stands for the shared object of the run: mine.so" "$ASSAY" compare mine theirs
check "one that both loaded is to be loaded" says "--load FILE.so" "$ASSAY" compare mine mine

# What is open is measured, where it can be.
measure() { "$ASSAY" compare "$1" "$2" --measure --make "$make"; }
check "--measure comes to the verdict" exits 1 measure old new
check "which is the gate's" says REGRESSED measure old new
check "the other way round it is an improvement" says IMPROVED measure new old
check "it refuses what it cannot have" exits 2 measure old edited
check "in one line" one_line measure old edited
check "which says what is missing" warns "--measure cannot: CAND stands for the program" measure old edited
check "so it does with one build" exits 2 measure own_too own_too
check "--make is for --measure alone" exits 2 "$ASSAY" compare old new --make true

# What it cannot measure is not offered: kernels of files and of other programs.
for command in "assay bench scale.cu --kernel scale" "assay time ./program"; do
    query next.sqlite "UPDATE run SET command = '$command' WHERE label = 'old'"
    check "nothing is offered after ${command:0:11}" fails says "assay ab" "$ASSAY" compare old new
done

# With launches enough nothing is offered.
"$ASSAY" run smoke --device sim:seed=3,noise=0.1,launch=0.1 --launches 5 --seed 1 --label many >/dev/null 2>&1
check "runs of five launches need no more" fails says "assay ab" "$ASSAY" compare many many
check "and --measure measures nothing" exits 0 measure many many
