#!/usr/bin/env bash
# assay time on a card: a CUDA program, its ends, a graph, a script of PyTorch where it is installed.
. "$(dirname "$0")/../cli/lib.sh"
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH ASSAY_TIME_LIBRARY
nvcc -std=c++17 -arch=native -o program "$HERE/gpu/time_program.cu" -Xcompiler -pthread -ldl || exit 1
export ASSAY_DB=$PWD/a.sqlite
timed() { "$ASSAY" time --name p "$@"; }
# counted EXPECTED [VARIANT]: variant, range and count of what the last run holds.
counted() {
    gives "$1" query a.sqlite "SELECT variant, shape, CAST(value AS INTEGER)
        FROM result JOIN metric ON result.id = result_id WHERE metric.name = 'count'
        AND launch_id = (SELECT id FROM launch ORDER BY started_at DESC LIMIT 1)
        AND variant GLOB '${2:-*}' ORDER BY shape, variant"
}
usual="scale<float>||5
scale<float>|range=warm_up|20
spin|range=work|50"

check "a program is recorded" exits 0 timed -- ./program
check "and prints what it prints" gives "done" timed -- ./program
check "each launch is in its range" counted "$usual"
check "a time is the kernel's own" gives 1 query a.sqlite \
    "SELECT min(time_ns > 195000 AND time_ns < 230000) FROM result WHERE variant = 'spin'"
check "its interval is narrow" gives 1 query a.sqlite \
    "SELECT min((hi_ns - lo_ns) / time_ns < 0.05) FROM result WHERE variant = 'spin'"
check "grid and block are those of the launch" gives "4096|256|1" query a.sqlite \
    "SELECT DISTINCT grid_x, block_x, registers > 0 FROM profile_kernel WHERE name LIKE 'void scale%'"
check "the card is the one that assay run finds" exits 0 "$ASSAY" run smoke --device cuda:0 --no-ceilings --label ours
check "by its name and its UUID" gives 1 query a.sqlite "SELECT count(DISTINCT name || uuid) FROM device"
check "and its driver" gives 1 query a.sqlite "SELECT count(DISTINCT driver) FROM launch"

check "a graph is recorded" exits 0 timed -- ./program graph
check "kernel by kernel, in the range of its launch" counted "scale<float>||5
scale<float>|range=graph|15
scale<float>|range=warm_up|20" 'scale*'
check "another thread has no range of the first" exits 0 timed -- ./program thread
check "so its launches are outside" counted "scale<float>||12
scale<float>|range=warm_up|20" 'scale*'
check "a context that is reset takes nothing along" exits 0 timed -- ./program reset
check "all is there" counted "$usual"
check "child processes are recorded" exits 0 timed -- ./program child
check "each launch of both" counted "scale<float>||10
scale<float>|range=warm_up|40
spin|range=work|100"
check "300000 launches" exits 0 timed -- ./program many
check "are counted" counted "scale<float>||300005
scale<float>|range=warm_up|20" 'scale*'
check "a fault on the GPU" exits 5 timed -- ./program fault
check "keeps what ran before" counted "spin|range=work|50" spin
check "an abort" exits 5 timed -- ./program abort
check "keeps what ran before, too" counted "$usual"

check "six launches" exits 0 timed --launches 6 --label one -- ./program
check "six more" exits 0 timed --launches 6 --label two -- ./program
check "have not changed" exits 0 "$ASSAY" compare one two

if python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
    cat >script.py <<'END'
import torch
x = torch.randn(1024, 1024, device="cuda")
for step in range(20):
    torch.cuda.nvtx.range_push("softmax")
    y = torch.softmax(x, -1)
    torch.cuda.nvtx.range_pop()
    with torch.cuda.nvtx.range("product"):
        z = y @ x
torch.cuda.synchronize()
END
    check "a script of PyTorch is recorded" exits 0 "$ASSAY" time --name torch -- python3 script.py
    check "with its ranges" gives "range=product
range=softmax" query a.sqlite "SELECT DISTINCT shape FROM result WHERE operation = 'torch' AND shape != '' ORDER BY shape"
    check "each softmax" gives 20.0 query a.sqlite "SELECT max(value) FROM metric JOIN result ON result.id = result_id
        WHERE operation = 'torch' AND shape = 'range=softmax' AND metric.name = 'count'"
else
    skipped "PyTorch is not there, or sees no GPU"
fi
