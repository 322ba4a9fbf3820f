# shellcheck shell=bash
# The check of the floor plan (scripts/layers.sh) finds what is planted: an include that points
# up, one into another room's folder, a foreign library in a second room, a room without README.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

mkdir house house/scripts
cp "$HERE/../scripts/layers.sh" house/scripts/
cp -r "$HERE/../harness" "$HERE/../kernels" "$HERE/../baselines" house/
layers() { house/scripts/layers.sh "$@"; }
# planted FILE LINE TEXT: with that line in that file the check fails and says TEXT.
planted() {
    cp "house/$1" kept
    printf '%s\n' "$2" >>"house/$1"
    run layers
    cp kept "house/$1"
    [ "$code" -ne 0 ] && grep -qF -- "$3" said.out
}

check "no arrow points up" says ", 0 upward" layers
check "and nothing else is found" exits 0 layers
check "no call points up" says "calls: " layers "$(dirname "$ASSAY")"
check "nor is any call found" exits 0 layers "$(dirname "$ASSAY")"
check "an include that points up is found" \
    planted harness/base/text.c '#include "store/store.h"' "upward: harness/base/text.c"
check "a kernel that includes more than the contract and base is found" \
    planted kernels/int8/quantize.c '#include "measure/verify.h"' "upward: kernels/int8/quantize.c"
check "a kernel that includes a baseline is found" \
    planted kernels/int8/quantize.c '#include "baselines/lut_cublas.h"' "upward: kernels/int8/"
check "a header of another room's folder is found" \
    planted harness/cmd/main.c '#include "device/cuda/cupti.h"' "inside another room: harness/cmd/main.c"
check "a foreign library in a second room is found" \
    planted harness/show/show.c '#include <sqlite3.h>' "sqlite3.h belongs to harness/store"
rm house/harness/judge/README.md
check "a room without a README is found" says "harness/judge has no README" layers
