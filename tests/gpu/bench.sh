# shellcheck shell=bash
# Kernels of files, on a GPU: each form of a file, each kind of argument and launch, and each way to
# be wrong, which costs its own row.
. "$(dirname "$0")/../cli/lib.sh"

export ASSAY_DB=bench.sqlite
cp "$HERE/gpu/bench.cu" . && cp "$HERE"/../examples/bench/softmax.* .
sm=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader -i 0 | tr -d .)
[ "$sm" -lt 90 ] || a=a
nvcc -O3 -cubin -arch="sm_$sm${a:-}" bench.cu -o bench.cubin || echo "# nvcc failed"
nvcc -O3 -ptx -arch="compute_80" bench.cu -o bench.ptx || echo "# nvcc failed"
nvcc -O3 -cubin -arch="sm_75" bench.cu -o other.cubin || echo "# nvcc failed"
${CC:-cc} -shared -fPIC -DASSAY_NO_OBJECT -I"$HERE/../harness" "$HERE/gpu/bench_reference.c" -o reference.so

common='size n = 1000003
arg x = in f32[n] normal
arg y = out f32[n]
arg n = i32 n
arg factor = f32 0.5
grid = ceil(n/256)
block = 256
'
# Every form of a file, and every wrong kernel, beside each other and held against one of them.
cat >held.bench.ini <<END
[bench held]
file = bench.cu
${common}expect = right
[kernel right]
kernel = scale
kind = baseline
[kernel of_cubin]
file = bench.cubin
kernel = scale
[kernel of_ptx]
file = bench.ptx
kernel = scale
[kernel staged]
kernel = staged
shared = 100*1Ki
[kernel wrong]
kernel = almost
[kernel short]
kernel = scale
grid = ceil(n/256) - 1
[kernel overruns]
kernel = overruns
[kernel crashes]
kernel = crashes
END
run "$ASSAY" bench held.bench.ini --device cuda:0 --no-ceilings --budget 0.2 --format csv
cp said.out rows.csv
check "a run with a crash ends with 5" [ "$code" -eq 5 ]
row() { # NAME STATUS WORDS
    local line
    line=$(grep ",$1," rows.csv)
    case $line in *",$2,"*"$3"*) return 0 ;; esac
    echo "# $line"
    return 1
}
check "the kernel that says what is right is itself unchecked" row right unchecked ""
check "a cubin is ok" row of_cubin ok ""
check "PTX is ok" row of_ptx ok ""
check "more shared memory than 48 KiB is had" row staged ok ""
check "one wrong element is found" row wrong wrong "y[500001] is 0.75, the kernel right says"
check "a grid that is one block short" row short wrong "(67 of 1000003 wrong)"
check "a write behind the output" row overruns wrong "after 'y'"
check "a crash costs its own row" row crashes crashed ""
check "the same code takes the same time in a cubin and of a source" gives 1 query bench.sqlite \
    "SELECT abs(a.time_ns / b.time_ns - 1) < 0.03 FROM cases a JOIN cases b USING (launch_id, shape)
     WHERE a.variant = 'of_cubin' AND b.variant = 'right'"
check "the row names the file" gives 1 query bench.sqlite \
    "SELECT count(*) FROM result WHERE variant = 'of_cubin' AND note LIKE 'bench.cubin, sha256 %'"
check "its machine code is known" gives 1 query bench.sqlite \
    "SELECT count(*) FROM result WHERE variant = 'of_cubin' AND code_hash != '' AND registers > 0"

one() { # FILE OPTION...: the kernel by options
    local file=$1
    shift
    "$ASSAY" bench "$file" --device cuda:0 --no-ceilings --budget 0.1 --size n=1000003 --arg 'in f32[n] normal' \
        --arg 'out f32[n]' --arg 'i32 n' --arg 'f32 0.5' --grid 'ceil(n/256)' --block 256 --format csv "$@"
}
check "without what is right a row is unchecked" says ",unchecked," one bench.cu --kernel scale
check "which is no error" exits 0 one bench.cu --kernel scale
check "a shared object says what is right" says ",ok," one bench.cu --kernel scale --name referred --expect reference.so
check "and finds what is wrong" exits 1 one bench.cu --kernel almost --name referred --expect reference.so
echo 'def reference(x): return 0.5 * x' >reference.py
python3 -c 'import numpy' 2>/dev/null || export ASSAY_PYTHON=/usr/bin/python3
check "Python says what is right" says ",ok," one bench.cu --kernel scale --expect reference.py
check "and finds what is wrong, too" exits 1 one bench.cu --kernel almost --expect reference.py
check "another kernel of a file" says ",ok," one bench.cubin --kernel scale --expect bench.cu:scale
check "finds it too" exits 1 one bench.cubin --kernel almost --expect bench.cu:scale
check "an output that is not written whole is wrong without that" says "elements of 'a1' were not written" \
    one bench.cu --kernel scale --grid 'ceil(n/256) - 1'
check "hot" says ",hot," one bench.cu --kernel scale --temperature hot
check "a cubin of another card is skipped" says "machine code for sm_75, and the card is sm_$sm" one other.cubin --kernel scale
check "and there is nothing else" exits 4 one other.cubin --kernel scale
check "a card that shows less takes PTX" says ",unchecked," one bench.cu --kernel scale --device cuda:0,sm=80
check "a block over the kernel's own limit" says "compiled for 128 at most" one bench.cu --kernel bounded
check "within it" exits 0 one bench.cu --kernel bounded --block 128 --grid 'ceil(n/128)'
check "buffers beyond memory are a skip" exits 4 one bench.cu --kernel scale --size k=64Gi --arg 'scratch f64[k]'
cp bench.cu wrong.cu && echo 'int broken(' >>wrong.cu
check "a source that does not compile costs its row" exits 5 one wrong.cu --kernel scale
check "in the compiler's words" says "does not compile: " one wrong.cu --kernel scale
check "several launches" exits 0 one bench.cu --kernel scale --launches 3
check "a profile of it" exits 0 "$ASSAY" profile ./held.bench.ini --load held.bench.ini --device cuda:0 --filter '*/right,*/of_cubin'
if [ "$sm" -ge 90 ]; then
    check "clusters" says ",ok," one bench.cu --kernel clustered --name referred --expect reference.so \
        --cluster 2 --grid '2*ceil(n/512)'
fi

check "every type of argument" says ",ok," "$ASSAY" bench bench.cu --kernel typed --device cuda:0 --no-ceilings \
    --budget 0.1 --size n=100003 --arg 'in f64[n] normal' --arg 'in i8[n] integer -128 127' \
    --arg 'in i64[n] integer -1000 1000' --arg 'out f64[n]' --arg 'i64 n' --arg 'i16 -300' --arg 'u8 200' \
    --arg 'f64 1/4' --arg null --grid 'ceil(n/128)' --block 128 --expect reference.so --format csv
check "an instance of a template" says ",unchecked," "$ASSAY" bench bench.cu --kernel 'converted<double>' --device cuda:0 \
    --no-ceilings --budget 0.1 --size n=100003 --arg 'in f32[n]' --arg 'out f64[n]' --arg 'i32 n' \
    --grid 'ceil(n/128)' --block 128 --format csv

check "the example" exits 0 "$ASSAY" bench softmax.bench.ini --device cuda:0 --label softmax
check "holds its second kernel against the first" gives 2 query bench.sqlite \
    "SELECT count(*) FROM cases WHERE run_label = 'softmax' AND variant = 'once' AND status = 'ok'"

# What Triton leaves in its cache.
if python3 -c 'import torch, triton' 2>/dev/null; then
    cat >add.py <<'END'
import torch, triton, triton.language as tl
@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, at < n) + tl.load(y + at, at < n), at < n)
n = 1000003
x, y = (torch.randn(n, device='cuda') for _ in range(2))
add_kernel[(triton.cdiv(n, 1024),)](x, y, torch.empty_like(x), n, BLOCK=1024)
torch.cuda.synchronize()
END
    TRITON_CACHE_DIR=$PWD/triton python3 add.py || echo "# Triton failed"
    cubin=$(find triton -name 'add_kernel.cubin' | head -n 1)
    check "Triton's kernel is measured as it lies in its cache" says ",unchecked," "$ASSAY" bench "$cubin" \
        --device cuda:0 --no-ceilings --budget 0.1 --size n=1000003 --arg 'in f32[n]' --arg 'in f32[n]' \
        --arg 'out f32[n]' --arg 'i32 n' --grid 'ceil(n/1024)' --format csv
else
    skipped "a kernel of Triton: it is not here"
fi
