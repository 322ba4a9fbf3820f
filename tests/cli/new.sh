#!/usr/bin/env bash
# `assay new`: a folder that builds, passes, and shows its first checked number.
. "$(dirname "$0")/lib.sh"

# first_number FOLDER ARGUMENT...: from nothing to a run whose answers are all right. Small caches
# make small sizes: the time of a case does not matter here.
first_number() {
    local folder=$1
    shift
    "$ASSAY" new "$folder" "$@" && make -s -C "$folder" run RUN="--device host --no-ceilings --budget 0.01 --db n.sqlite"
}
# rows FOLDER: its variants and how they ended.
rows() {
    query "$1/n.sqlite" "SELECT DISTINCT variant || ' ' || status FROM result ORDER BY 1"
}
check "an operation of one's own has its first number in a minute of two processors" \
    takes_less_than 60 first_number softsign
check "its answers are checked" gives "loop ok" rows softsign
check "and it says what it was built from" gives "softsign.so" query softsign/n.sqlite "SELECT name FROM object"
check "a path with a blank is one word" says "'a b/assay' run softsign.ini" make -n -C softsign run ASSAY="a b/assay"
check "the same by its long name, elsewhere" exits 0 first_number softsign/other --from-scratch --language c
check "in C++" exits 0 first_number mine --language cpp
check "where std::transform is right too" gives $'loop ok\ntransform ok' rows mine
check "a variant of an operation that is there" exits 0 first_number my_quantize --operation int8_quantize
check "is right" gives "my_quantize ok" sh -c "sqlite3 my_quantize/n.sqlite \"SELECT DISTINCT variant || ' ' || status FROM result WHERE variant = 'my_quantize'\""
check "beside those that are there" [ "$(rows my_quantize | wc -l)" -gt 2 ]
check "in C++ too" exits 0 first_number my_gelu --operation gelu --language cpp
"$ASSAY" new for_a_card --language cuda
check "CUDA is compiled for the card that is there" says "-O3 -lineinfo -arch=native -c -o build/threads.cu.o" \
    env -u NVCCFLAGS make -n -C for_a_card
if command -v nvcc >/dev/null; then
    export NVCCFLAGS=-arch=sm_90
    check "CUDA: it builds, and its loop runs where there is no GPU" exits 0 first_number on_gpu --language cuda
    check "a variant too" exits 0 first_number my_norm --operation layernorm --language cuda
fi
if command -v cmake >/dev/null; then
    check "CMake configures it" exits 0 cmake -S mine -B mine/cmake
    check "and builds it" exits 0 cmake --build mine/cmake
    check "into the same" exits 0 "$ASSAY" run mine/mine.ini --load mine/cmake/mine.so --device host \
        --no-ceilings --budget 0.01 --db n.sqlite
fi

check "an object can bring the operation" exits 0 "$ASSAY" new again --operation softsign --load softsign/softsign.so
check "which its buffers name" grep -q "0  in       x  f32\[" again/again.c
check "a folder that is there stays" warns "File exists" "$ASSAY" new mine
check "a name is a word" warns "a name is made of" "$ASSAY" new 'A B'
check "an operation that is there is told" warns "there is an operation gelu" "$ASSAY" new gelu
check "one that is not too" warns "no operation is called 'nowhere'" "$ASSAY" new x --operation nowhere
check "with one that is near" warns "did you mean 'gelu'?" "$ASSAY" new x --operation gelo
check "one without a reference cannot begin as it" warns "no reference" "$ASSAY" new x --operation empty
check "one or the other" warns "not both" "$ASSAY" new x --operation gelu --from-scratch
check "no folder is made then" fails test -e x
cramped() { (ulimit -f 1 && trap '' XFSZ && "$ASSAY" new full); }
check "a disk that is full is said" warns "cannot be written: File too large" cramped
check "and leaves nothing" fails test -e full
check "so that the next one begins anew" exits 0 "$ASSAY" new full
