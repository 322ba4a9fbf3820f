/* tensor_map.cc - cuTensorMapEncodeTiled, with the driver's rules (CUDA Driver API, "Tensor Map
 * Object Management"). */
#include <cstdio>

#include "runtime.h"
#include "tensor_map.h"

using namespace emu;

/* With the driver's rules for tiled maps. */
static CUresult encode_tiled(CUtensorMap *out, CUtensorMapDataType type, cuuint32_t rank,
                             void *base, const cuuint64_t *size, const cuuint64_t *stride,
                             const cuuint32_t *box, const cuuint32_t *step,
                             CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                             CUtensorMapL2promotion, CUtensorMapFloatOOBfill outside)
{
    static const int bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    static const int widths[] = {0, 32, 64, 128};
    auto refuse = [](const char *why) {
        fprintf(stderr, "emulator: cuTensorMapEncodeTiled: %s\n", why);
        return CUDA_ERROR_INVALID_VALUE;
    };
    if (rank < 1 || rank > 5 || (unsigned)type > 12 ||
        interleave != CU_TENSOR_MAP_INTERLEAVE_NONE || (unsigned)swizzle > 3)
        return refuse("a kind that is not handled");
    TensorMap t{};
    t.magic = TENSOR_MAP;
    t.base = (uint64_t)base;
    t.rank = (uint8_t)rank;
    t.swizzle = (uint8_t)widths[swizzle];
    t.nan_outside = outside != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
    if (t.nan_outside) return refuse("NaN outside is not handled");
    if (t.base % 16) return refuse("the address is no multiple of 16");
    for (cuuint32_t d = 0; d < rank; d++) {
        t.size[d] = size[d];
        t.stride[d] = d ? stride[d - 1] : (uint64_t)bytes[type];
        t.box[d] = (uint16_t)box[d];
        if (!size[d] || size[d] > 1ull << 32) return refuse("a size of 0 or over 2^32");
        if (d && (t.stride[d] % 16 || t.stride[d] >= 1ull << 40))
            return refuse("a stride that is no multiple of 16, or over 2^40");
        if (!box[d] || box[d] > 256) return refuse("a box of 0 or over 256");
        if (step[d] != 1) return refuse("an element stride other than 1 is not handled");
    }
    int64_t inner = (int64_t)box[0] * bytes[type];
    if (inner % 16) return refuse("a box whose rows are no multiple of 16 bytes");
    if (t.swizzle && inner > t.swizzle)
        return refuse("a box whose rows are wider than the swizzle");
    memset(out, 0, sizeof *out);
    memcpy(out, &t, sizeof t);
    return CUDA_SUCCESS;
}

extern "C" {

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **out, unsigned,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult *found)
{
    bool known = string(name) == "cuTensorMapEncodeTiled";
    *out = known ? (void *)encode_tiled : nullptr;
    if (found) *found = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
}

} /* extern "C" */
