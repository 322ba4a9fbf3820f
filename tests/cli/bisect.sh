#!/usr/bin/env bash
# `assay bisect`: which of some commits made a program slower.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/gate/paced.sh
. "$HERE/cli/gate/paced.sh"
export ASSAY_DB=$PWD/bisect.sqlite OMP_NUM_THREADS=1 HOME=$PWD XDG_CACHE_HOME=$PWD/cache

paced_suite few.ini
paced_program base 200
git init -q repository && cd repository || exit 1
git config user.email a@example.org && git config user.name a
# Nine commits: the fourth does not build, the sixth takes four times as long.
number=0
for pace in 200 200 200 none 200 800 800 800 800; do
    number=$((number + 1))
    cp ../base program && sed -i "s/FAULT_PACE=200/FAULT_PACE=$pace/" program && echo "# $number" >>program
    [ "$pace" != none ] || rm program
    git add -A && git commit -qm "number $number"
done
make="mkdir -p build && cp program build/assay && echo built >>'$PWD/../made'"
bisect() { "$ASSAY" bisect ../few.ini --device host --make "$make" "$@"; }

check "the commit is found" exits 1 bisect --good HEAD~8 --bad HEAD
cp said.out found.out
cp said.err found.err
check "and named" grep -q "^the first slower commit: [0-9a-f]* number 6$" found.out
check "with what it did to its parent" grep -qE 'REGRESSED +\+[23][0-9]{2}' found.out
check "what was looked at is told" grep -q "number 5: not slower" found.err
check "not every commit was built" [ "$(sort ../made | uniq -c | awk '{print $1}')" -lt 9 ]
check "no worktree is left" gives 1 sh -c "git worktree list | wc -l"
check "nor a bisection of the user's" fails sh -c "git bisect log 2>/dev/null"
check "the tree is as it was" gives "" git status --porcelain -uno

check "one that does not build is skipped, and the next one found" says "number 6" \
    bisect --good HEAD~7 --bad HEAD~3 --fail-fast
check "where nothing is slower it ends with 0" exits 0 bisect --good HEAD~2 --bad HEAD
cp said.err found.err
check "and says so" grep -qF "is not slower than HEAD~2" found.err

# The plants of tests/history: one of them in a history of four commits.
check "a planted regression is found, and its cause" says "1 right commits and 1 right causes of 1" \
    env COMMITS=4 SEED=2 PLANTS=malloc "$HERE/history/planted.sh"

# A device that counts what launches do says what the difference is made of: here a simulated one, another
# for each commit's program.
mkdir ../simulated && cd ../simulated && git init -q . || exit 1
git config user.email a@example.org && git config user.name a
int8_suite two.ini 'n = 100k' 'variants = host_scalar, host_omp'
number=0
for code in 'code=1' 'code=1' 'code=2,slow=int8_quantize/host_omp:40' 'code=2,slow=int8_quantize/host_omp:40'; do
    number=$((number + 1))
    cat >program <<SH
#!/bin/sh
# number $number
for word; do
    shift
    case \$word in sim*) word='sim:$code' ;; esac
    set -- "\$@" "\$word"
done
exec "$ASSAY" "\$@"
SH
    chmod +x program && git add -A && git commit -qm "number $number"
done
check "the commit that does more work is found" says "the first slower commit: $(git log -1 --format='%h %s' HEAD~1)" \
    "$ASSAY" bisect ./two.ini --good HEAD~3 --bad HEAD --device sim:code=1 --allow-simulated --seed 1 --make "$make"
cp said.out found.out
check "and what its time is made of" grep -qE "^instructions +[+][0-9.]+ us +100 %" found.out
cd ../repository || exit 1

# What is changed and not committed is in no revision; a clone that lacks commits is told of.
echo "# more" >>program
check "a dirty tree is told of" warns "what is not committed is in no revision" bisect --good nowhere --bad HEAD
git checkout -q program
git clone -q --depth 2 "file://$PWD" ../shallow
check "so is a shallow clone" warns "this clone is shallow: git fetch --unshallow" sh -c 'cd ../shallow && "$@"' sh \
    "$ASSAY" bisect ../few.ini --device host --good "$(git rev-parse HEAD~8)" --bad HEAD

# Bad input: one line, exit 2.
bad() { exits 2 bisect "$@" && [ "$(grep -c "^assay bisect: " said.err)" -eq 1 ]; }
check "no revisions" bad
check "one alone" bad --good HEAD
check "what is no revision" bad --good nowhere --bad HEAD
check "which is said" warns "'nowhere' is neither a program nor a revision" bisect --good nowhere --bad HEAD
check "the wrong way round" bad --good HEAD --bad HEAD~8
check "which is said" warns "bisect: --bad HEAD~8 is not after --good HEAD" bisect --good HEAD --bad HEAD~8
check "twice the same" bad --good HEAD --bad HEAD
check "what does not build" bad --good HEAD~5 --bad HEAD
check "two suites" bad ../few.ini --good HEAD~8 --bad HEAD

# A base that crashes is an error, not a verdict.
printf '#!/bin/sh\nkill -SEGV $$\n' >program
git commit -qam "it crashes"
git commit -q --allow-empty -m "after it"
check "GOOD that crashes" exits 5 bisect --good HEAD~1 --bad HEAD
cp said.err found.err
check "which is said" grep -qF "died: signal 11" found.err
