#!/usr/bin/env bash
# assay gate --twin: both builds in one process, on the simulated device and, with objects, on the host.
. "$(dirname "$0")/lib.sh"
export ASSAY_DB=$TMP/twin.sqlite TMPDIR=$TMP
objects=$(dirname "$ASSAY")/libassay_variants.so
if [ ! -e "$objects" ]; then
    echo "ok - this build has no object of its variants # SKIP"
    exit 0
fi
ten=$HERE/sim/cases10.ini

# build NAME: a program with its object, as a build leaves them.
build() {
    mkdir "$1"
    cp "$ASSAY" "$objects" "$1"
}
build base
# twins DEVICE OPTION...: a gate of ten cases of two builds of the same code; JSON in g.json.
twins() {
    "$ASSAY" gate "$ten" --base base/assay --twin --device "sim:seed=1,noise=0.3${1:+,}$1" --allow-simulated --seed 1 \
        --json g.json "${@:2}"
}
rows() { query :memory: "SELECT count(*) FROM json_each(readfile('g.json'), '$.rows') WHERE $1"; }
some() { [ "$(rows "$1")" -gt 0 ]; }
all() { query :memory: "SELECT group_concat(DISTINCT value ->> '$1') FROM json_each(readfile('g.json'), '$.rows')"; }

check "the same code passes" exits 0 twins ""
check "by turns" gives turns all evidence
check "at half a per cent" gives 0.005 all floor
check "all ten cases" gives 10 rows "value ->> 'verdict' = 'PASS'"
check "it is one launch" gives 1 query "$ASSAY_DB" "SELECT count(*) FROM run"
check "of which all rows are stored" gives "30 10" query "$ASSAY_DB" \
    "SELECT count(*) || ' ' || sum(variant LIKE '%@base') FROM result"
check "it says so" says "launched in turns" twins ""
check "each side has the commit of its object" gives "1" query :memory: \
    "SELECT readfile('g.json') ->> '$.base.commit' = readfile('g.json') ->> '$.candidate.commit'"
check "one per cent slower is found" exits 1 twins 'slow=*_token/host_omp:1'
check "alone" gives host_omp query :memory: \
    "SELECT group_concat(DISTINCT value ->> 'variant') FROM json_each(readfile('g.json'), '$.rows') WHERE value ->> 'verdict' = 'REGRESSED'"
check "one per cent faster is no harm" exits 0 twins 'slow=*_token/host_omp:-1'
check "and told" gives host_omp query :memory: \
    "SELECT group_concat(DISTINCT value ->> 'variant') FROM json_each(readfile('g.json'), '$.rows') WHERE value ->> 'verdict' = 'IMPROVED'"
check "a tenth of a per cent is found if that is asked for" exits 1 twins 'slow=*_token/host_omp:0.1' --threshold 0.05
check "a copy of the base that lies otherwise voids it" exits 0 twins 'slow=*_token/host_omp@base:-2'
check "as unstable" gives host_omp query :memory: \
    "SELECT group_concat(DISTINCT value ->> 'variant') FROM json_each(readfile('g.json'), '$.rows') WHERE value ->> 'verdict' = 'UNSTABLE'"
# Where copies lie differs from process to process, and each time another of ten cases looks changed.
wrongly() { # SEED...: in how many gates of unchanged code a case is called changed; and how many cases looked so
    local wrong=0 seed
    looked=0
    for seed; do
        run "$ASSAY" gate "$ten" --base base/assay --twin --device "sim:seed=$seed,noise=0.3,places=0.04:2" --allow-simulated \
            --seed "$seed" --json g.json
        some "value ->> 'verdict' IN ('REGRESSED', 'IMPROVED')" && wrong=$((wrong + 1))
        looked=$((looked + $(rows "value ->> 'reason' LIKE 'not shown again%'")))
    done
    echo "$wrong"
}
wrongly 1 2 3 4 5 6 7 8 >wrong.txt
check "a change that only one process shows is none" gives 0 cat wrong.txt
check "though there were some" test "$looked" -ge 2
# Several processes tell what copies differ by, in each case, from what changed in it.
one_of() { query :memory: "SELECT value ->> '$1' FROM json_each(readfile('g.json'), '$.rows') WHERE value ->> 'verdict' = '$2'"; }
check "eight processes find a tenth of a per cent" exits 1 twins 'places=0.04:1,slow=*_token/host_omp:0.1' --threshold 0.03 \
    --processes 8 --db eight.sqlite
check "in the case that has it" gives host_omp one_of variant REGRESSED
check "to a hundredth of that" says "+0.104 % [" twins 'places=0.04:1,slow=*_token/host_omp:0.1' --threshold 0.03 --processes 8
check "each of them was launched" gives 8 query eight.sqlite "SELECT count(*) FROM run"
of_200() { ten=$HERE/sim/cases200.ini twins "$@"; } # more than any machine measures eight times in a second
check "ends at the time it has" exits 4 of_200 "" --processes 64 --max-time 1
check "and says of the cases why they are open" some "value ->> 'reason' LIKE 'too few processes%'"
check "fewer say too little" exits 2 twins "" --processes 7
check "short times by a coarse clock say what they can find" exits 0 twins step=256
check "which is a tenth of a step" gives 1 query :memory: \
    "SELECT max(value ->> 'floor') BETWEEN 25.6 / 2816 AND 25.6 / 2048 FROM json_each(readfile('g.json'), '$.rows')
        WHERE value ->> 'verdict' = 'PASS'"
check "and one that never reads another step is open" gives 1 rows "value ->> 'reason' LIKE 'the clock%' AND value ->> 'floor' > 0.05"

check "a variant of the base that crashes is one row" exits 0 twins 'crash=int8_quantize/host_memcpy@base'
check "which says so" some "value ->> 'verdict' = 'INCOMPARABLE' AND value ->> 'reason' LIKE '%the base has no time%'"
check "and the rest passes" some "value ->> 'verdict' = 'PASS'"
check "one of the candidate that crashes is lost" exits 5 twins 'crash=int8_quantize/host_memcpy'
check "what both builds lost is missing" exits 5 twins 'missing=int8_quantize/host_omp*'
check "with the reason" gives 2 rows \
    "value ->> 'verdict' = 'MISSING' AND value ->> 'reason' = 'the suite has it, and neither side measured it'"
check "and the note of what was judged ends where it has said all" grep -q '"only 8 of 10 cases were judged"' g.json
check "a wrong answer fails" exits 5 twins 'wrong=int8_quantize/host_memcpy'
check "nothing is left behind" gives "" find "$TMP" -maxdepth 1 -name 'assay-*'

# ---- what cannot be twins is launched, and that is said ----
# falls_back WHY: launches decide, and both the report and the messages say why not twins.
falls_back() {
    run twins "" "${@:2}"
    [ "$code" -eq 0 ] && grep -qF -- "$1" said.err && grep -q "round 1, base" said.err &&
        tr -s ' \n' ' ' <said.out | grep -qF "not as twins"
}
rm base/libassay_variants.so
check "no object beside the base" falls_back "base/libassay_variants.so: cannot be read"
cp "$objects" base
family=$(strings -n 64 "$objects" | grep -E '^[0-9a-f]{64}$' | head -n 1)
sed "s/$family/${family/[0-9a-f]/x}/" "$objects" >base/libassay_variants.so
check "an object of another build" falls_back "is of another build than base/assay"
check "the sides have different devices" falls_back "the sides have different devices" --cand-device sim:seed=2,noise=0.3
# bad_object FLAGS...: beside the base, one that says it is of its build.
bad_object() {
    printf 'const char family[65] __attribute__((used, section("assay_family"))) = "%s";\n' "$family" >family.c
    ${CC:-cc} -shared -fPIC -I"${INCLUDE:-$HERE/../harness}" "$@" "$HERE/object/kernel.c" family.c -o base/libassay_variants.so
}
bad_object -DIN_CONSTRUCTOR='raise(SIGSEGV)'
check "an object that crashes when it is loaded" falls_back "libassay_variants.so crashed when it was loaded"
mkdir later
sed 's/ASSAY_ABI_MAJOR = 1/ASSAY_ABI_MAJOR = 2/' "$HERE/../harness/assay.h" >later/assay.h
INCLUDE=later bad_object
check "an object of another version of assay.h" falls_back "was compiled for version 2."
bad_object "$HERE/object/kernel.c"
check "an object that registers a name twice" falls_back "two operations are called twice"
cp "$objects" base
printf '#!/bin/sh\nexec "%s" "$@"\n' "$ASSAY" >base/assay
check "a base that is too old to have one" falls_back "base/assay does not say which build its variants are of"
cp "$ASSAY" base
mkdir base/suites
{ cat "$ten"; printf '\n[group more]\noperation = int8_quantize\nn = 4321\n'; } >base/suites/twinned.ini
mkdir cand
cp "$ASSAY" "$objects" cand
mkdir cand/suites
cp "$ten" cand/suites/twinned.ini
check "a base whose suite has more" exits 5 cand/assay gate twinned --base base/assay --twin \
    --device sim:seed=1,noise=0.3 --allow-simulated --seed 1 --markdown more.md
check "is launched, so that what went missing is seen" grep -q "MISSING" more.md
printf '[suite]\n[group copy]\noperation = int8_quantize\nn = 4096\nvariants = host_memcpy\n' >copy.ini
run cand/assay gate ./copy.ini --base base/assay --twin --no-proof --device host --seed 1 --budget 0.01 --db copy.sqlite
check "a variant with a check of its own has all three arms" gives "ok 3" query copy.sqlite \
    "SELECT min(status) || ' ' || count(*) FROM result GROUP BY status"
for options in "--resume" "--pinned x" "--null base/assay"; do
    # shellcheck disable=SC2086 # words
    check "not with $options" exits 2 twins "" $options
done

# ---- two objects ----
object() { ${CC:-cc} -shared -fPIC -O2 -I"$HERE/../harness" "${@:2}" "$HERE/object/kernel.c" -o "$1.so"; }
object before
object after -O3
ab() { "$ASSAY" ab "$1" "$2" "$HERE/object/twice.ini" --twin --json g.json --budget 0.2 "${@:3}"; }
check "two objects" exits 0 ab before.so after.so --device sim:seed=1,noise=0.3 --allow-simulated
check "are twins" gives turns all evidence
object same -O2 -DASSAY_OBJECT_COMMIT='"same"'
check "on the host one case alone of the same code has no verdict" exits 4 ab before.so same.so --device host
check "and says why" gives 1 rows "value ->> 'reason' LIKE 'too few cases%' OR value ->> 'reason' LIKE 'a second copy%'"
object slow -DIN_LAUNCH='for (volatile int i = 0; i < 5000000; i++)'
check "but what takes many times as long is slower there too" exits 1 ab before.so slow.so --device host
if command -v clang >/dev/null; then
    CC=clang object clang
    check "another compiler's object" exits 0 ab before.so clang.so --device sim:seed=1,noise=0.3 --allow-simulated
fi
object wrong -DCUT=1
check "a wrong answer of the candidate" exits 5 ab before.so wrong.so --device host
