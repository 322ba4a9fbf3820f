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
check "it is listed" says "twice" "$ASSAY" list operations --load good.so
check "and is not there without" fails says "twice" "$ASSAY" list operations
check "its suite says then that it is not" exits 2 measure
make_object other -DNO_OPERATION -DVARIANT=other
check "a second one adds a variant to it" exits 0 measure --load ./good.so --load ./other.so
check "both are rows" says "other" cat said.out
check "the same file again is the same object" exits 0 measure --load ./good.so --load ./../"$(basename "$PWD")"/good.so
make_object wrong -DNO_OPERATION -DVARIANT=wrong -DCUT=1
check "a wrong answer of an object is a wrong answer" exits 1 measure --load ./good.so --load ./wrong.so

# refused WHY ARGUMENTS...: usage, one line that has this, and nothing of it on standard output.
refused() {
    local why=$1
    shift
    run measure "$@"
    [ "$code" -eq 2 ] && [ "$(wc -l <said.err)" -eq 1 ] && [ ! -s said.out ] && grep -qE -- "$why" said.err
}
export ASSAY_LOAD_TIMEOUT_S=2
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
sed 's/ASSAY_ABI_MAJOR = 1/ASSAY_ABI_MAJOR = 2/' "$HERE/../harness/assay.h" >assay.h
make_object major -I.
check "no object of another version is here" fails refused "version" --load ./major.so
mkdir later && sed 's/ASSAY_ABI_MAJOR = 1/ASSAY_ABI_MAJOR = 2/' "$HERE/../harness/assay.h" >later/assay.h
later() { ${CC:-cc} -shared -fPIC -Ilater "$HERE/object/kernel.c" -o "$1.so"; }
later major
check "another major version" refused "major.so was compiled for version 2\.0 of assay.h, and this program is of version 1\.0" --load ./major.so
sed 's/ASSAY_ABI_MINOR = 0/ASSAY_ABI_MINOR = 1/; s/^    const char \*const \*baselines;/&\n    void *added;/' "$HERE/../harness/assay.h" >later/assay.h
later minor
check "a later minor version, with more fields" refused "minor.so was compiled for version 1\.1" --load ./minor.so
sed 's/^    const char \*const \*baselines;/&\n    void *added;/' "$HERE/../harness/assay.h" >later/assay.h
later edited
check "other sizes under the same version" refused "edited.so says that it is of version 1\.0 .* other sizes" --load ./edited.so
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
check "a hang" bad_at CONSTRUCTOR 'for (;;) pause()' "^assay run: ./bad.so did not come to an end when it was loaded, in 2 s"
check "a crash when the plan is made" bad_at BUFFERS 'abort()' "^assay run: bad.so crashed when the plan was made: signal 6"
check "an exit there" bad_at BUFFERS 'exit(3)' "^assay run: bad.so ended the process when the plan was made: exit status 3"
make_object chatty -DIN_CONSTRUCTOR='puts("constructed")' -DIN_BUFFERS='puts("buffers")' -DIN_SETUP='puts("set up")'
check "what it prints is not in the results" exits 0 measure --format json --load ./chatty.so
cp said.out chatty.out
cp said.err chatty.err
check "which stay JSON" jq -e .run chatty.out
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

check "an object that changes while it is measured ends the run" true
