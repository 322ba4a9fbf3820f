# shellcheck shell=bash
# Volumes and batches that cannot be encoded: each is refused in a line that says why, and
# its row says of what.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# A grid of two leaves, and one voxel less and more.
head -c 4096 /dev/zero >grid.raw
head -c 4092 /dev/zero >short.raw
head -c 4100 /dev/zero >long.raw
{ head -c 40 grid.raw; printf '\0\0\300\177'; head -c 4052 grid.raw; } >nan.raw
{ head -c 40 grid.raw; printf '\0\0\200\377'; head -c 4052 grid.raw; } >infinite.raw

# suite LEAVES VOLUME [BATCHES]
suite() {
    printf '[suite]\ntitle = t\nbudget = 0.01\n[group g]\noperation = codec_encode_batch\ndevice = host\n'
    printf 'leaves = %s\nvolume = %s\nbatches = %s\n' "$1" "$2" "${3:-1}"
}
suite 2 grid >grid.ini
suite 0 smoke >empty.ini
suite 16Mi smoke 255 >large.ini
{ suite 2 grid; suite 1 smoke | sed -n '/group g/,$p' | sed 's/group g/group h/'; } >both.ini
mkfifo pipe.raw

# encode FILE EDGES [SUITE]
encode() {
    ASSAY_GRID=$1 ASSAY_GRID_VOXELS=$2 "$ASSAY" run "./${3:-grid.ini}" --device host --no-ceilings \
        --check --db input.sqlite
}
exported() {
    encode "$@" >/dev/null && "$ASSAY" export --db input.sqlite
}
check "a grid of the right size is encoded" exits 0 encode grid.raw 16x8x8
check "a truncated grid is refused" says "short.raw is truncated: 4092 bytes" encode short.raw 16x8x8
check "an oversized grid is refused" says "long.raw is oversized: 4100 bytes" encode long.raw 16x8x8
check "a NaN voxel is refused" says "voxel (10, 0, 0) is NaN" encode nan.raw 16x8x8
check "an infinite voxel is refused" says "voxel (10, 0, 0) is infinite" encode infinite.raw 16x8x8
check "a file that is not there is refused" says "none.raw: No such file" encode none.raw 16x8x8
check "a folder is refused" says "not a regular file" encode . 16x8x8
check "edges that are none are refused" says "not as in 512x512x256" encode grid.raw 16x8
check "a grid nobody named is refused" says "wants a file in ASSAY_GRID" \
    "$ASSAY" run ./grid.ini --device host --no-ceilings --check --db input.sqlite
check "a pipe is refused, and not waited for" says "not a regular file" \
    timeout 60 env ASSAY_GRID=pipe.raw ASSAY_GRID_VOXELS=16x8x8 "$ASSAY" run ./grid.ini \
    --device host --no-ceilings --check --db input.sqlite
check "a grid that is refused is lost, and not skipped" exits 5 encode nan.raw 16x8x8
check "also where another volume was encoded" exits 5 encode nan.raw 16x8x8 both.ini
check "which is encoded" exits 0 encode grid.raw 16x8x8 both.ini
check "the row says which case it was" \
    says "codec_encode_batch leaves=2 batches=1 volume=grid" encode nan.raw 16x8x8
check "and which file" says ' grid.raw 16x8x8"' \
    exported grid.raw 16x8x8
check "an empty batch is no error" exits 0 encode grid.raw 16x8x8 empty.ini
check "a batch larger than memory says what it needs and what is there" \
    says "needs 8.22 TiB, the device has" encode grid.raw 16x8x8 large.ini

# Cases of two files have one name, and are not one case.
head -c 4096 /dev/zero | tr '\0' '\1' >other.raw
measured() {
    ASSAY_GRID=$1 ASSAY_GRID_VOXELS=16x8x8 "$ASSAY" run ./grid.ini --device host --no-ceilings \
        --db compare.sqlite --label "$2"
}
check "one grid is measured" exits 0 measured grid.raw one
check "and again" exits 0 measured grid.raw again
check "and another" exits 0 measured other.raw other
check "a file compares with itself" fails says "another file" \
    "$ASSAY" compare one again --db compare.sqlite
check "two files do not compare" warns "its input is another file" \
    "$ASSAY" compare one other --db compare.sqlite
