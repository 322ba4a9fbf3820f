#!/usr/bin/env bash
# A kernel of a file, as far as it goes without a GPU: what is wrong is said in one line, what is
# right is skipped on the host with its reason.
. "$(dirname "$0")/lib.sh"

export CUDA_VISIBLE_DEVICES="" ASSAY_DB=bench.sqlite
cat >scale.ptx <<'END'
.version 8.0
.target sm_80
.address_size 64
.visible .entry _Z5scalePKfPfif(.param .u64 a, .param .u64 b, .param .u32 c, .param .f32 d) { ret; }
.visible .entry _Z5twicePf(.param .u64 a) { ret; }
.visible .entry _Z5twicePd(.param .u64 a) { ret; }
END
scale() { # OPTION...: the kernel as it should be, and more
    "$ASSAY" bench scale.ptx --kernel scale --size n=1Mi --arg 'x=in f32[n] normal' --arg 'out f32[n]' \
        --arg 'i32 n' --arg 'f32 0.5' --grid 'ceil(n/256)' --block 256 --no-ceilings "$@"
}
check "what is known without a GPU is said" says \
    "scale/scale: _Z5scalePKfPfif of scale.ptx, PTX of sm 80, 4 arguments" scale --dry-run
check "with what would be measured" says "scale/scale n=1048576 cold" scale --dry-run
check "without a GPU there is nothing to measure" exits 4 scale
check "the row says why" says "skipped: it is a kernel for a GPU" scale
check "sizes are measured one after the other" says "2 groups, 2 cases" scale --dry-run --size k=1,2
check "a name of one's own" says "mine/scale: " scale --name mine --dry-run
check "the caches as they are wanted" says "scale n=1048576 hot" scale --temperature hot --dry-run

# refused WORDS OPTION...: in one line with the words, exit 2, without the place of a file that
# nobody wrote.
refused() {
    local words=$1
    shift
    exits 2 scale "$@" && [ "$(wc -l <said.err)" -eq 1 ] && [ ! -s said.out ] &&
        grep -qF -- "$words" said.err && ! grep -qF "bench.ini" said.err
}
misused() { # WORDS FILE OPTION...
    local words=$1
    shift
    exits 2 "$ASSAY" bench "$@" && [ "$(wc -l <said.err)" -eq 1 ] && grep -qF -- "$words" said.err
}
check "no such kernel" refused "it has no kernel 'scalar' (did you mean 'scale'?)" --kernel scalar
check "two of a name" refused "more than one kernel 'twice': _Z5twicePf and _Z5twicePd" --kernel twice
check "too many arguments" refused "takes 4 arguments, and 5 are given" --arg null
check "a grid of 0" refused "grid: x is 0" --grid 'n - 1Mi'
check "a grid that is too large" refused "grid: x is 1125899906842624" --grid 'n*1Gi'
check "a block over 1024" refused "block: 2048 threads" --block 64,32
check "sizes that overflow" refused "does not fit into 64 bits" --grid 'n*8Ti*8Ti'
check "a division by zero" refused "divides by zero" --grid '1/(n - 1Mi)'
check "bytes below 0" refused "bytes: -1 is below 0" --bytes -1
check "a size that is none" refused "it is NAME=VALUE" --size n
check "a size that is no number" refused "'much' is not a size" --size k=much
check "no file of what is right" refused "none.so: cannot be read" --expect none.so
check "no file of Python" refused "none.py: cannot be read" --expect none.py
cp scale.ptx slow.ptx
check "a kernel of another file says what is right" says "1 groups" scale --expect slow.ptx:scale --dry-run
check "with its arguments" refused "slow.ptx: the kernel twice takes 1 argument, and 4 are given" --expect slow.ptx:_Z5twicePf
sed 's/\.param \.u64 a, \.param \.u64 b/.param .align 8 .b8 a[16], .param .u64 b/' scale.ptx >struct.ptx
check "a structure by value" misused "argument 1 of the kernel scale is a structure of 16 bytes, which cannot be described" \
    struct.ptx --kernel scale --arg 'i32 1' --arg 'out f32[1]' --arg 'i32 1' --arg 'f32 1' --grid 1 --block 1
check "and as an argument" refused "no type is called 'struct'" --arg 'struct 1'
check "a value that would end its line" refused "no ';'" --bytes '1;2'
check "an architecture of nothing" refused "--arch is for --dry-run" --arch sm_90
check "no file" misused "which kernel?"
check "no kernel file" misused "a.out: a kernel is in a .cu" a.out
check "two kernel files" misused "one kernel file only" a.cu b.cu
check "a file that is not there" misused "none.cu: cannot be read" none.cu --kernel k
check "no kernel named" misused "no kernel is named" scale.ptx --grid 1 --block 1 --arg 'out f32[1]'
check "no grid" misused "there is no grid" scale.ptx --kernel twice --arg 'out f32[1]'
check "an unknown type" misused "no type is called 'f31'" scale.ptx --kernel k --grid 1 --block 1 --arg 'out f31[1]'
echo hello >text.cubin
check "a file that is no cubin" misused "it is neither a cubin nor PTX" text.cubin --kernel k --grid 1 --block 1 --arg 'out f32[1]'
cp "$ASSAY" program.cubin
check "a file of another machine" misused "not a 64-bit ELF file for CUDA" program.cubin --kernel k --grid 1 --block 1 --arg 'out f32[1]'
check "a name that is taken" misused "is already there: this program has it" \
    scale.ptx --name int8_quantize --kernel _Z5twicePf --grid 1 --block 1 --arg 'out f32[1]'

# The same as a text.
cat >scale.bench.ini <<'END'
[bench scale]
file = scale.ptx
kernel = scale
size n = 1Mi, 4Mi
arg x = in f32[n] normal
arg y = out f32[n]
arg n = i32 n
arg factor = f32 0.5
grid = ceil(n/256)
block = 256
END
check "a description" exits 4 "$ASSAY" bench scale.bench.ini
check "has a row for each size" says "2 skipped" "$ASSAY" bench scale.bench.ini
check "what it says is not said again" misused "--grid is for a kernel file" scale.bench.ini --grid 1
printf '[suite]\ntitle = holds one\nload = scale.bench.ini\n[group a]\noperation = scale\nn = 2Mi\n' >s.ini
check "a suite holds it" exits 4 "$ASSAY" run ./s.ini --device host --allow-load
check "at its own sizes" says "n=2097152" "$ASSAY" run ./s.ini --device host --allow-load --dry-run
check "where it may" exits 2 "$ASSAY" run ./s.ini --device host
check "any command loads it" says "scale" "$ASSAY" list operations --load scale.bench.ini
mkdir sub && cp scale.ptx scale.bench.ini sub/
check "its file is beside it" exits 4 "$ASSAY" bench sub/scale.bench.ini
sed 's/ceil/ciel/' scale.bench.ini >bad.bench.ini
check "a mistake has its line" misused "bad.bench.ini:1: grid: 'ciel(n/256)': there is no size 'ciel' (did you mean 'ceil'?)" bad.bench.ini
check "it is stored with its hash" gives "scale.bench.ini" \
    query bench.sqlite "SELECT name FROM object WHERE length(sha256) = 64 LIMIT 1"

cp scale.ptx kept.ptx
scale --db edited.sqlite >said.out
echo "// edited" >>scale.ptx
scale --db edited.sqlite >said.out
mv kept.ptx scale.ptx
check "so is what it was made of" gives 2 query edited.sqlite "SELECT count(DISTINCT sha256) FROM object"

# A source, where there is a compiler for it.
cat >scale.cu <<'END'
template <class T> __global__ void scale(const T *x, T *y, int n, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}
__global__ void plain(const float *x, float *y, int n, float factor) { if (n) *y = *x; }
END
source_of() {
    "$ASSAY" bench scale.cu --size n=1Mi --arg 'in f32[n]' --arg 'out f32[n]' --arg 'i32 n' --arg 'f32 0.5' \
        --grid 'ceil(n/256)' --block 256 --no-ceilings --dry-run "$@"
}
run source_of --kernel plain
if grep -q "NVRTC cannot be loaded" said.err; then
    skipped "kernels of a source: there is no NVRTC"
else
    check "a kernel of a source" says "plain/plain: _Z5plainPKfPfif of scale.cu, sm 90, " source_of --kernel plain
    check "an instance of a template" says "scale_float/scale_float: _Z5scaleIfEvPKT_PS0_if of scale.cu, sm 80, " \
        source_of --kernel 'scale<float>' --arch sm_80
    check "its registers" says " registers, 4 arguments" source_of --kernel plain
    check "a template without its arguments is no kernel" exits 2 source_of --kernel scale
    sed 's/factor \* x/factr * x/' scale.cu >wrong.cu && mv wrong.cu scale.cu
    check "a source that does not compile" exits 2 source_of --kernel 'scale<float>'
    cp said.err compiler.err
    check "is told in the compiler's own lines" grep -qF 'identifier "factr" is undefined' compiler.err
    check "and in one of ours" grep -qE '^assay bench: .*scale.cu: does not compile: .*\(4\): error: ' compiler.err
    check "options are the compiler's" exits 0 source_of --kernel 'scale<float>' --compiler -Dfactr=factor
    cp "$HERE"/../examples/bench/softmax.* .
    check "the example is what the docs say" says "softmax/once: softmax_once of softmax.cu, sm 90, " \
        "$ASSAY" bench softmax.bench.ini --dry-run
    check "an architecture that is none" exits 2 source_of --kernel plain --arch sm_1
fi
