#!/usr/bin/env bash
# A kernel from a shared object is measured like any other, and a bad object is one clear line.
. "$(dirname "$0")/lib.sh"

# make_object NAME FLAGS...: NAME.so of tests/object/kernel.c.
make_object() {
    local name=$1
    shift
    ${CC:-cc} -shared -fPIC -O2 -I"$HERE/../harness" "$@" "$HERE/object/kernel.c" -o "$name.so" || exit 1
}
suite=$HERE/object/twice.ini
# measure ARGUMENTS...: the suite of the object.
measure() { "$ASSAY" run "$suite" --device host --no-ceilings --db objects.sqlite "$@"; }

make_object good
check "an operation of an object is measured and checked" exits 0 measure --load ./good.so
check "its row is ok" gives "twice|plain|ok" \
    query objects.sqlite "SELECT operation, variant, status FROM result"
check "it is listed" says "y = 2 x" "$ASSAY" list operations --load good.so
check "and is not there without" fails says "y = 2 x" "$ASSAY" list operations
check "what is no kernel is not loaded" exits 2 "$ASSAY" list runs --load good.so
check "its suite says then that it is not" exits 2 measure
make_object other -DNO_OPERATION -DVARIANT=other -DASSAY_OBJECT_COMMIT='"abc123"'
check "a second one adds a variant to it" exits 0 measure --load ./good.so --load ./other.so
check "in any order" exits 0 measure --load ./other.so --load ./good.so
check "both are rows" gives "other plain" \
    query objects.sqlite "SELECT group_concat(variant, ' ') FROM (SELECT variant FROM cases WHERE run_id = (SELECT id FROM run ORDER BY started_at DESC LIMIT 1) ORDER BY variant)"
check "a run of both" exits 0 measure --db provenance.sqlite --load ./good.so --load ./other.so
check "the same file again is the same object" exits 0 measure --load ./good.so --load ./../"$(basename "$PWD")"/good.so
sha=$(sha256sum other.so | cut -d' ' -f1)
check "the run says which objects it had" gives "good.so||,other.so|$sha|abc123" \
    query provenance.sqlite "SELECT group_concat(name || '|' || iif(name = 'other.so', sha256, '') || '|' || git_commit) FROM (SELECT * FROM object ORDER BY ordinal)"
check "show has them in JSON" says "\"sha256\": \"$sha\"" "$ASSAY" show --format json --db provenance.sqlite
check "an export has them" exits 0 "$ASSAY" export latest --db provenance.sqlite -o exported.ndjson
check "and an import" exits 0 "$ASSAY" import exported.ndjson --db imported.sqlite
check "with the same content" gives "$sha" query imported.sqlite "SELECT sha256 FROM object WHERE name = 'other.so'"
check "a merge too" exits 0 "$ASSAY" merge provenance.sqlite --db imported.sqlite
check "a comparison names them" says "other.so ${sha:0:8}" \
    "$ASSAY" compare latest latest --db provenance.sqlite
check "a report says them" exits 0 "$ASSAY" report --db provenance.sqlite -o report.html
check "with the whole hash" grep -q "other.so, SHA-256 $sha, commit abc123" report.html
query provenance.sqlite "UPDATE run SET status = 'running', ended_at = NULL; UPDATE launch SET ended_at = NULL; DELETE FROM sample; DELETE FROM result"
mkdir rebuilt
cp other.so rebuilt/other.so
strip rebuilt/other.so
check "it is not gone on with by another build" warns "was begun with other objects" \
    measure --db provenance.sqlite --resume --load ./good.so --load ./rebuilt/other.so
check "but by the same" exits 0 measure --db provenance.sqlite --resume --load ./good.so --load ./other.so
make_object wrong -DNO_OPERATION -DVARIANT=wrong -DCUT=1
check "a wrong answer of an object is a wrong answer" exits 1 measure --load ./good.so --load ./wrong.so

# refused WHY ARGUMENTS...: usage, one line that has this, and nothing of it on standard output.
refused() {
    local why=$1
    shift
    run measure "$@"
    [ "$code" -eq 2 ] && [ "$(wc -l <said.err)" -eq 1 ] && [ ! -s said.out ] && grep -qE -- "$why" said.err
}
refused_suite() { # WHY
    run "$ASSAY" run ./loads.ini --device host --allow-load
    [ "$code" -eq 2 ] && [ "$(wc -l <said.err)" -eq 1 ] && grep -qF -- "$1" said.err
}
check "no such file" refused "none.so: cannot be read: No such file" --load ./none.so
mkdir folder.so
check "a folder" refused "folder.so is a folder" --load ./folder.so
echo text >text.so
check "a text" refused "text.so is no shared object" --load ./text.so
mkfifo pipe.so
check "a pipe without a writer" refused "pipe.so is no file" --load ./pipe.so
cp good.so closed.so
chmod 000 closed.so
[ -r closed.so ] || check "a file that cannot be read" refused "closed.so: cannot be read: Permission" --load ./closed.so
cp good.so foreign.so
printf '\xf3\x00' | dd of=foreign.so bs=1 seek=18 conv=notrunc status=none # RISC-V
check "another architecture" refused "foreign.so is for another architecture" --load ./foreign.so
head -c 3000 good.so >cut.so
check "half a file" refused "cut.so (cannot be loaded|crashed)" --load ./cut.so
${CC:-cc} -c -fPIC -I"$HERE/../harness" "$HERE/object/kernel.c" -o unlinked.so
check "what was not linked" refused "unlinked.so is no shared object: it was not linked" --load ./unlinked.so
echo 'int nothing;' >nothing.c
${CC:-cc} -shared -fPIC nothing.c -o nothing.so
check "an object that registers nothing" refused "nothing.so registers nothing" --load ./nothing.so
make_object missing -DIN_LAUNCH='{ void nobody_has_this(void); nobody_has_this(); }' -Wno-nested-externs
check "a missing symbol" refused "missing.so cannot be loaded: undefined symbol: nobody_has_this" --load ./missing.so
mkdir later
minor=$(sed -n 's/.*ASSAY_ABI_MINOR = \([0-9]*\).*/\1/p' "$HERE/../harness/assay.h")
sed 's/ASSAY_ABI_MAJOR = 1/ASSAY_ABI_MAJOR = 2/' "$HERE/../harness/assay.h" >later/assay.h
later() { ${CC:-cc} -shared -fPIC -Ilater "$HERE/object/kernel.c" -o "$1.so"; }
later major
check "another major version" refused "major.so was compiled for version 2\.$minor of assay.h, and this program is of version 1\.$minor" --load ./major.so
sed "s/ASSAY_ABI_MINOR = $minor/ASSAY_ABI_MINOR = $((minor + 1))/"'; s/^    const char \*const \*baselines;/&\n    void *added;/' "$HERE/../harness/assay.h" >later/assay.h
later minor
check "a later minor version, with more fields" refused "minor.so was compiled for version 1\.$((minor + 1))" --load ./minor.so
sed 's/^    const char \*const \*baselines;/&\n    void *added;/' "$HERE/../harness/assay.h" >later/assay.h
later edited
check "other sizes under the same version" refused "edited.so says that it is of version 1\.$minor .* other sizes" --load ./edited.so
make_object taken -DOPERATION=memory
check "a name that the program has" refused "taken.so: the operation memory is already there: this program has it" --load ./taken.so
make_object again -DVARIANT=again
check "a name that another object has" refused "again.so: the operation twice is already there: ./good.so has it" --load ./good.so --load ./again.so
make_object lost -DNO_OPERATION -DOPERATION=nowhere
check "a variant of no operation" refused "lost.so: variant plain belongs to operation 'nowhere'" --load ./lost.so

# In the constructor: what the parent does is rehearsed, so it survives.
# bad_at WHERE CODE WHY: refused with that code there.
bad_at() {
    make_object bad -DIN_"$1"="$2"
    refused "$3" --load ./bad.so
}
check "a crash when it is loaded" bad_at CONSTRUCTOR 'raise(SIGSEGV)' "^assay run: ./bad.so crashed when it was loaded: signal 11"
check "an exit" bad_at CONSTRUCTOR 'exit(0)' "^assay run: ./bad.so ended the process when it was loaded: exit status 0"
check "a fork" bad_at CONSTRUCTOR '(void)!fork()' "^assay run: ./bad.so forked when it was loaded"
check "a fork twice" bad_at CONSTRUCTOR 'if (fork() == 0) { if (fork() == 0) sleep(100); _exit(0); } else wait(NULL)' "^assay run: ./bad.so forked when it was loaded"
ASSAY_LOAD_TIMEOUT_S=2 check "a hang" bad_at CONSTRUCTOR 'for (;;) pause()' "^assay run: ./bad.so did not come to an end when it was loaded, in 2 s"
check "a crash when the plan is made" bad_at BUFFERS 'abort()' "^assay run: bad.so crashed when the plan was made: signal 6"
check "an exit there" bad_at BUFFERS 'exit(3)' "^assay run: bad.so ended the process when the plan was made: exit status 3"
make_object chatty -DIN_CONSTRUCTOR='puts("constructed")' -DIN_BUFFERS='puts("buffers")' -DIN_WORK='puts("work")' -DIN_SETUP='puts("set up")'
check "what it prints is not in the results" exits 0 measure --format json --load ./chatty.so
cp said.out chatty.out
cp said.err chatty.err
check "which stay JSON" gives 1 query :memory: "SELECT json_extract(readfile('$PWD/chatty.out'), '\$.run') IS NOT NULL"
check "a dry run too" gives $'twice/plain n=100003 hot\n\n1 groups, 1 cases' measure --dry-run --load ./chatty.so
check "it is on standard error, once" [ "$(grep -c '^constructed$' chatty.err)" -eq 1 ]

# In a worker it costs its row.
# row CODE STATUS WHY: of an object with this in its launch.
row() {
    make_object bad -DIN_"$1"="$2"
    rm -f objects.sqlite
    exits 5 measure --load ./bad.so && query objects.sqlite "SELECT status || ': ' || reason FROM result" >row.txt
    grep -q "$3" row.txt || { sed 's/^/# /' row.txt; return 1; }
}
check "exit in setup" row SETUP 'exit(0)' "^crashed: setup: exit status 0"
check "exit in a launch" row LAUNCH '_exit(0)' "^crashed: .*launch: exit status 0"
check "a crash in a launch" row LAUNCH 'raise(SIGSEGV)' "^crashed: .*launch: signal 11"
make_object forks -DIN_LAUNCH='if (fork() == 0) { sleep(100); _exit(0); } else raise(SIGSEGV)'
check "a fork in a launch" exits 5 measure --load ./forks.so
make_object touched -DIN_LAUNCH='(void)!system("touch touched.so")'
check "an object that is another file at the next launch ends the run" exits 2 measure --load ./touched.so --launches 2
check "and is named" warns "touched.so: the file changed after it was loaded" \
    measure --load ./touched.so --launches 2

# A suite that loads, and the folder of the user.
{ echo '[suite]'; echo 'load = good.so, sub/other.so'; sed 1d "$suite"; } >loads.ini
mkdir sub && cp other.so sub/
check "a suite may not load" exits 2 "$ASSAY" run ./loads.ini --device host
check "it says how it may" warns "assay run: ./loads.ini:2: load = ./good.so: an object is code and runs as you; --allow-load" \
    "$ASSAY" run ./loads.ini --device host
check "where it is let, it loads what is beside it" exits 0 "$ASSAY" run ./loads.ini --device host --allow-load \
    --no-ceilings --db l.sqlite
mkdir from && cd from || exit 1
check "from any folder" exits 0 "$ASSAY" run ../loads.ini --device host --allow-load --dry-run
cd .. || exit 1
sed -i 's/sub.other/sub\/none/' loads.ini
check "one that is not there is told with the line" refused_suite "loads.ini:2: cannot read ./sub/none.so"
export XDG_DATA_HOME=$PWD/data
own=$XDG_DATA_HOME/assay/variants
mkdir -p "$own"
check "an empty folder is none" exits 0 "$ASSAY" list variants
cp good.so other.so "$own"
chmod -R go-w data
check "the folder's objects are there" exits 0 measure
check "both" says "2 cases" measure --dry-run
check "and doctor tells of them" says "2 loaded from your folder" "$ASSAY" doctor --device host
chmod g+w "$own/other.so"
check "not one that others can write" refused "variants/other.so: others can write to it" --dry-run
chmod g-w "$own/other.so"
chmod o+w data/assay
check "nor where they can write above it" refused "data/assay: others can write to it" --dry-run
chmod o-w data/assay
rm "$own"/*
ln -s "$PWD/good.so" "$own/linked.so"
check "a link to one's own is loaded" exits 0 measure --dry-run
mkdir -m 777 open && cp good.so open/
ln -sf "$PWD/open/good.so" "$own/linked.so"
check "one to where others write is not" refused "open: others can write to it" --dry-run

export XDG_DATA_HOME=$PWD/none

# assay.hpp: lambdas, a state, exceptions.
check "an object in C++" exits 0 "${CXX:-c++}" -std=c++20 -shared -fPIC -O2 -I"$HERE/../harness" \
    "$HERE/object/lambdas.cpp" -o lambdas.so
rm -f objects.sqlite
check "is measured, and its exceptions cost their rows" exits 5 measure --load ./good.so --load ./lambdas.so
check "each says why" gives "plain ok: ,remembers ok: ,throws_early crashed: setup: an exception that is no std::exception,throws_one crashed: first launch: it has its reasons" \
    query objects.sqlite "SELECT group_concat(variant || ' ' || status || ': ' || reason) FROM (SELECT * FROM result ORDER BY variant)"

# Two objects side by side, and one on each save. A launch of 60 us gets 2 ms longer, which shows on a busy machine too.
longer='for (volatile int i = 0; i < 2000000; i++) {}'
make_object slow -DIN_LAUNCH="$longer" -DASSAY_OBJECT_COMMIT='"slow"'
cp good.so same.so
ab() { "$ASSAY" ab "$@" "$suite" --device host --budget 0.01 --db ab.sqlite; }
named_slower() { exits 1 ab ./good.so ./slow.so && grep -q "good.so" said.out && grep -q "slow.so" said.out; }
check "an object that became slower is named" named_slower
check "one against itself is nothing" warns "same program, byte for byte" ab ./good.so ./same.so
check "objects are compared by a suite" warns "which suite?" "$ASSAY" ab ./good.so ./slow.so
check "a gate loads on both sides" exits 0 "$ASSAY" gate "$suite" --base "$ASSAY" --load ./good.so \
    --threshold 900 --device host --budget 0.01 --db gate.sqlite
check "a watch wants to know what to watch" warns "--on FOLDERS" "$ASSAY" watch "$suite" --load ./good.so
mkdir sources
cp "$HERE/object/kernel.c" sources/
make_object mine
"$ASSAY" watch "$suite" --load ./mine.so --on sources --device host --db watch.sqlite \
    --make "${CC:-cc} -shared -fPIC -O2 -I'$HERE/../harness' sources/kernel.c -o mine.so" >watch.out 2>watch.err &
watching=$!
check "it watches" wait_for 20 grep -q "1 file below sources" watch.err
touch sources/kernel.c
check "a save that changes nothing is no gate" wait_for 20 grep -q "the objects are as they were" watch.err
check "nothing of its build is left" [ -z "$(cat /proc/$watching/task/$watching/children)" ]
sed -i "s/IN_LAUNCH;/$longer/" sources/kernel.c
# says_slower: within a minute; else what it said.
says_slower() {
    wait_for 60 grep -q "1 REGRESSED" watch.out && return
    tail -n 20 watch.out watch.err | sed 's/^/# /'
    return 1
}
check "one that makes it slower is found" says_slower
kill -INT $watching
check "Ctrl-C ends it" exits 130 wait $watching
