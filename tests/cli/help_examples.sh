#!/usr/bin/env bash
# Every example of every command's help is typed as it stands (but for a time), in a folder where
# what it speaks of is there: suites of these names that take no time, a database
# with runs, another build, another tool's files.
. "$(dirname "$0")/lib.sh"

export CUDA_VISIBLE_DEVICES="" # the host, also where there is a GPU
mkdir -p bin main/build work/suites
ln -s "$ASSAY" bin/assay
ln -s "$ASSAY" main/build/assay
PATH=$TMP/bin:$PATH
export PATH
cd work || exit 1
export ASSAY_SUITES=$PWD/suites

# A change of the host's times is no failure of an example, so it takes 900 % to count.
cat >suites/smoke.ini <<'END'
[suite]
title = stands in for the suite of this name
budget = 0.01
threshold = 900
[group small]
operation = int8_quantize
n = 100k
temperature = cold
variants = host_scalar, host_memcpy
END
cat >suites/int8.ini <<'END'
[suite]
title = stands in for the suite of this name
budget = 0.01
threshold = 900
include = smoke
[group large]
operation = int8_quantize
n = 5M
temperature = cold
variants = host_omp, host_memcpy
END
cp suites/smoke.ini suites/core.ini
cat >suites/claims.ini <<'END'
[suite]
title = stands in for the suite of this name
budget = 0.01
[claim T-1]
document = none
says = a plain copy is faster than quantising an element at a time
claimed = 2
quantity = time
more = int8_quantize/host_scalar n=100k
less = int8_quantize/host_memcpy n=100k
END
cat >scale.ptx <<'END'
.version 8.0
.target sm_80
.visible .entry scale(.param .u64 a, .param .u64 b, .param .u32 c, .param .f32 d) { ret; }
END
printf '[bench scale_file]\nfile = scale.ptx\nkernel = scale\narg x = in f32[8]\narg y = out f32[8]\narg n = i32 8\narg f = f32 1\ngrid = 1\nblock = 8\n' >scale.bench.ini
printf '#!/bin/sh\ncp "%s/import/nvbench.json" "$2"\ncp -r "%s/import/nvbench.json-bin" .\n' \
    "$HERE" "$HERE" >copy_bench
chmod +x copy_bench
# Two builds of an object of somebody's own, which differ in what they say of their sources.
sed 's/budget = .*/budget = 0.01\nthreshold = 900/' "$HERE/object/twice.ini" >softmax.ini
for object in before softmax; do
    ${CC:-cc} -shared -fPIC -O2 -I"$HERE/../harness" -DASSAY_OBJECT_COMMIT="\"$object\"" "$HERE/object/kernel.c" -o $object.so
done
ln -s "$(type -P true)" train
ln -s "$(type -P true)" decode
# A repository of two revisions, whose programs differ in a byte that nobody runs.
mkdir -p kernels && printf 'build/assay: kernels/version\n\tmkdir -p build && cp "%s" build/assay && cat $< >>build/assay\n' \
    "$ASSAY" >Makefile
git init -q -b main . && git config user.email a@example.org && git config user.name a
for version in v0.1.0 v0.2.0; do
    echo "$version" >kernels/version
    git add Makefile kernels && git commit -qm "$version" && git tag "$version"
done
echo v0.3.0 >kernels/version && make -s build/assay
export XDG_CACHE_HOME=$PWD/cache
check "a run to begin with" exits 0 assay run smoke --device host --no-ceilings --launches 5
check "a baseline of it" exits 0 assay baseline set release-1.2 latest
check "databases of others" exits 0 bash -c 'for n in 1 2; do
    assay run smoke --device host --no-ceilings --db node$n.sqlite; done'

# examples COMMAND: its examples, one a line.
examples() {
    assay help "$1" | awk '/^example: /{ on = 1 } on && /^$/ { on = 0 } on { print substr($0, 10) }'
}
assay help | awk '/^Commands:/{ on = 1; next } on && /^$/ { exit } on { print $1 }' >commands
check "the help lists commands" [ "$(wc -l <commands)" -gt 10 ]
while read -r command <&3; do
    examples "$command" >list
    check "$command: has an example" [ -s list ]
    while IFS= read -r example <&4; do
        # A profile, kernels to time and a fleet need a GPU; without one their examples say so. What goes on until Ctrl-C gets it
        # after a second, and what fills the time that it is given a tenth of it.
        expected=0 typed=${example/--limit 120/--limit 12}
        # What the host's noise leaves open is no failure of an example either, if one case is judged.
        case $command in
            profile | time | fleet) expected=4 ;;
            ab | gate) typed="$example --least-judged 1" ;;
            # Their server is an example too: central_store.sh has one. The SQL is for psql.
            push | pull) expected=2 typed="ASSAY_LIBPQ=none.so $example" ;;
        esac
        [[ $example != *'--schema | psql'* ]] || expected=0 typed=${example%|*}
        [ "$command" != watch ] || expected=130 typed="timeout --preserve-status -s INT 1 $example"
        check "$command: $example" exits $expected bash -c "$typed"
    done 4<list
done 3<commands

check "files that examples name were made" test -s sweep.svg -a -s changes.svg -a -s report.html \
    -a -s summary.md -a -s changes.md -a -s gate.md -a -s int8.ndjson.zst -a -s assay.prom -a -s assay.1

# The man page is the same text: every line of an example and every term stands in it.
assay help --man >page.1
if command -v man >/dev/null && command -v groff >/dev/null; then
    # The page as a reader sees it, and what the formatter thinks of it.
    MANWIDTH=400 LC_ALL=C.UTF-8 man --warnings -E UTF-8 ./page.1 >page.txt 2>page.err
    check "the man page formats without a warning" [ ! -s page.err ]
    while read -r command <&3; do
        check "$command: is in the man page" grep -qx "   $command" page.txt
        examples "$command" >list
        while IFS= read -r example <&4; do
            check "$command: its example is in the man page as it stands" grep -qF -- "$example" page.txt
        done 4<list
    done 3<commands
else
    skipped "the man page as a reader sees it: there is no man (apt-get install man-db groff-base)"
fi
