#!/usr/bin/env bash
# Objects that were compiled with a released assay.h are loaded, and nothing on which they rely has
# moved (tests/abi/README.md).
. "$(dirname "$0")/lib.sh"
now=$HERE/../harness/assay.h

# printed HEADER MINOR [ARGUMENT]: what tests/abi/layout.c says with it of the names of a minor version.
printed() {
    rm -rf include && mkdir include && cp "$1" include/assay.h &&
        ${CC:-cc} -std=c11 -Iinclude -DMINOR="$2" "$HERE/abi/layout.c" -o layout && ./layout "${@:3}"
}
# changed HEADER [ARGUMENT]: the lines that are not as in it.
changed() {
    local minor
    minor=$(version "$1")
    printed "$1" "${minor#*.}" "${@:2}" >then.txt
    printed "$now" "${minor#*.}" "${@:2}" >now.txt
    diff then.txt now.txt | sed -n 's/^[<>] //p'
}
# version HEADER: of its contract.
version() { sed -n 's/.*ASSAY_ABI_MAJOR = \([0-9]*\), ASSAY_ABI_MINOR = \([0-9]*\).*/\1.\2/p' "$1"; }

# The kept headers: the first as it is, the others made from it.
mkdir kept && cp "$HERE"/abi/assay-*.h kept
for difference in "$HERE"/abi/assay-*.diff; do
    patch -s -o "kept/$(basename "$difference" .diff).h" "$HERE/abi/assay-1.0.h" "$difference" || exit 1
done
for kept in kept/assay-*.h; do
    name=$(basename "$kept" .h)
    check "$name is of its version" [ "$name" = "assay-$(version "$kept")" ]
    check "$name: nothing has moved" gives "" changed "$kept"
    mkdir -p released && cp "$kept" released/assay.h
    check "$name compiles an object" exits 0 "${CC:-cc}" -shared -fPIC -Ireleased \
        "$HERE/object/kernel.c" -o "$name.so"
    check "$name: the object is loaded and measured" exits 0 "$ASSAY" run "$HERE/object/twice.ini" \
        --load "./$name.so" --device host --no-ceilings --db "$name.sqlite"
done
check "the version of now is kept" test -s "kept/assay-$(version "$now").h"
check "with its sizes" gives "" changed "kept/assay-$(version "$now").h" sizes

# The check finds what it is for.
sed 's/^    const char \*summary; .*the formula.*/    int moved;\n&/' "$now" >moved.h
now=moved.h
check "a field that moves is found" says "struct assay_operation.summary" changed kept/assay-1.0.h
