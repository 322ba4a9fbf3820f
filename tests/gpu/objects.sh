# shellcheck shell=bash
# Kernels from shared objects, on a GPU: those of `assay new`, one of the program's own compiled
# apart, and one that goes wrong.
. "$(dirname "$0")/../cli/lib.sh"
root=$(cd "$HERE/.." && pwd)
export XDG_DATA_HOME=$PWD/none

# first_number FOLDER ARGUMENT...: a new folder, built for this GPU and measured on it.
first_number() {
    local folder=$1
    shift
    "$ASSAY" new "$folder" --language cuda "$@" &&
        make -s -C "$folder" run RUN="--device cuda:0 --no-ceilings --db n.sqlite"
}
check "an operation of one's own on the GPU" exits 0 first_number softsign
check "is right" gives "threads cuda ok" query softsign/n.sqlite \
    "SELECT DISTINCT variant || ' ' || place || ' ' || status FROM result"
check "a variant of an operation that is there, as its reference" exits 0 first_number my_norm --operation layernorm
check "is right too" gives "ok" query my_norm/n.sqlite \
    "SELECT DISTINCT status FROM result WHERE variant = 'my_norm'"

# A kernel of the program, under another name: apart and inside it takes the same time.
sm=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader -i 0 | tr -d .)
[ "$sm" -lt 90 ] || a=a
"${CC:-cc}" -std=gnu11 -O2 -ffp-contract=off -fPIC -I"$root" -I"$root/harness" -c "$root/kernels/int8/models.c" -o models.o
sed 's/"best"/"apart"/' "$root/kernels/int8/best.cu" >apart.cu
check "a kernel of the program compiles into an object as it stands" exits 0 nvcc -std=c++17 -O3 -lineinfo \
    -shared -Xcompiler -fPIC -arch="sm_$sm${a:-}" -I"$root" -I"$root/harness" -I"$root/kernels/int8" apart.cu models.o -o apart.so
check "both are measured" exits 0 "$ASSAY" run int8 --load ./apart.so --device cuda:0 --no-ceilings \
    --filter 'int8_quantize/best,int8_quantize/apart' --db apart.sqlite
query apart.sqlite "SELECT a.shape, a.temperature, a.time_ns, b.time_ns FROM result a JOIN result b
    USING (operation, shape, temperature) WHERE a.variant = 'apart' AND b.variant = 'best' ORDER BY a.time_ns" >times.txt
sed 's/^/# /' times.txt
check "there are pairs" [ -s times.txt ]
check "they differ by less than 0.1 us, or 1 %" gives 0 query apart.sqlite "SELECT count(*) FROM result a JOIN result b
    USING (operation, shape, temperature) WHERE a.variant = 'apart' AND b.variant = 'best'
    AND abs(a.time_ns - b.time_ns) > max(100, 0.01 * b.time_ns)"
check "the machine code of an object is known" gives 0 query softsign/n.sqlite \
    "SELECT count(*) FROM result WHERE status = 'ok' AND code_hash = ''"

cp -r softsign astray
sed -i 's/y\[i\] = /y[i + (1ll << 40)] = /; s/"threads"/"astray"/' astray/threads.cu
sed -i 's/^n = .*/n = 1000/' astray/softsign.ini
check "a kernel that writes where nothing is" exits 2 make -s -C astray run RUN="--device cuda:0 --no-ceilings --db n.sqlite"
check "costs its row" says "crashed: " query astray/n.sqlite \
    "SELECT status || ': ' || reason FROM result WHERE variant = 'astray'"
cp -r softsign again && rm -r again/build
make -s -C again CFLAGS="-O3 -DASSAY_OBJECT_COMMIT='\"again\"'" >/dev/null
check "two builds of one code side by side" exits 0 "$ASSAY" ab softsign/softsign.so again/softsign.so \
    softsign/softsign.ini --device cuda:0 --db ab.sqlite
