#!/usr/bin/env bash
# The library that assay time loads into programs, in a process: its driver and its CUPTI are those of
# tests/trace/fake_cuda.c, its NVTX is the real one.
. "$(dirname "$0")/lib.sh"
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH ASSAY_TIME_LIBRARY
run "$ASSAY" time -- true
if grep -q "built without" said.err; then
    check "a program without the library" exits 4 "$ASSAY" time -- true
    check "says so before it runs anything" quiet "$ASSAY" time -- echo "ran for all that"
    skipped "this program was built without CUDA, and so without the library"
    exit 0
fi
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
${CC:-cc} -shared -fPIC -O1 -Wl,-soname,libcuda.so.1 -o libcuda.so.1 "$HERE/trace/fake_cuda.c" -ldl -lpthread &&
    ${CC:-cc} -O1 -I"$(dirname "$(dirname "$(readlink -f "$nvcc")")")/include" -o program \
        "$HERE/trace/fake_program.c" -L. -l:libcuda.so.1 -Wl,-rpath,"\$ORIGIN" -lpthread -ldl || exit 1
export ASSAY_CUPTI=$PWD/libcuda.so.1 ASSAY_DB=$PWD/a.sqlite
timed() { "$ASSAY" time "$@"; }
# counted EXPECTED: range, kernel and count of all cases that were stored.
counted() {
    gives "$1" query a.sqlite "SELECT shape, substr(variant, 1, 7), CAST(value AS INTEGER)
        FROM result JOIN metric ON result.id = result_id WHERE metric.name = 'count' ORDER BY shape, variant"
    rm -f a.sqlite
}
all="|early|5
|late|4
|scale|9
range=forward_pass|softmax|10
range=inner|scale|6
range=of_a_library|scale|15"

check "a program is recorded" exits 0 timed -- ./program
check "whole names are stored" gives "scale(float*, int)" query a.sqlite \
    "SELECT DISTINCT name FROM profile_kernel WHERE name LIKE 'scale%'"
check "a template keeps its arguments" gives "softmax<float,4>" query a.sqlite \
    "SELECT variant FROM result WHERE variant LIKE 'softmax%'"
check "with grid, block and resources" gives "132|128|40|1024|512" query a.sqlite \
    "SELECT DISTINCT grid_x, block_x, registers, static_shared_bytes, dynamic_shared_bytes FROM profile_kernel"
check "the GPU is described" gives "Fake GPU|GPU-a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf|90|132" query a.sqlite \
    "SELECT name, uuid, compute_capability, multiprocessors FROM device"
check "each launch is in the innermost range of its thread" counted "$all"
check "records that CUPTI drops are said" warns "3 launches: CUPTI had no record" timed -- ./program drop
rm -f a.sqlite
check "closed descriptors lose nothing" exits 0 timed -- ./program close
check "of all that ran" counted "$all"
check "a context that is reset takes nothing along" exits 0 timed -- ./program reset
check "of what ran on it" counted "$all"
check "a child that was forked adds nothing" exits 0 timed -- ./program fork
check "to what its parent ran" counted "$all"
check "what a process ran that was killed" exits 5 timed -- ./program kill
check "is there but for the last moments" counted "$all"
check "100000 launches" exits 0 timed -- ./program many
check "are counted" counted "${all/scale|9/scale|100009}"
refuses() { FAKE_REFUSES=1 "$ASSAY" time -- ./program; }
check "a CUPTI that refuses" exits 4 refuses
check "is said, with what to do" warns "NVreg_RestrictProfilingToAdminUsers" refuses
missing() { ASSAY_CUPTI=/nosuch "$ASSAY" time -- ./program; }
check "a CUPTI that is not there is said" warns "CUPTI cannot be loaded: /nosuch" missing
check "and the program runs for all that" exits 4 missing
