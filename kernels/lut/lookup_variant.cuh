/*
 * lookup_variant.cuh - the host's side of lookup_mma.cuh, in lookup_mma.cu: which kernel for a
 * shape, how many warps share a task, and the codes of B put in order, which is setup and not
 * timed.
 */
#pragma once

#include "assay.h"
#include "lut.h"

struct lookup_args;

struct lookup_kernel {
    void (*function)(struct lookup_args);
    int tiles, row_tiles;
};

enum {
    LOOKUP_KERNELS = 4,
    LOOKUP_CODES = 5,
    LOOKUP_CODED_ROWS = 64, /* of A as codes, which each group of columns decodes */
};

/* The kernels of a code, for few rows first; copies of its table in shared memory, or 0. */
struct lookup_code {
    int q, levels, bits, copies;
    struct lookup_kernel kernels[LOOKUP_KERNELS];
};

/* The codes of a variant; behind them one without levels. */
struct lookup_codes {
    bool coded;          /* A is codes, and C fp32 */
    const char *refusal; /* of any other */
    struct lookup_code code[LOOKUP_CODES];
};

/* Signatures of assay_variant, but for the codes. */
const char *lookup_unsupported(const struct assay_shape *shape, const struct lookup_codes *codes);
int64_t lookup_shared_bytes(const struct assay_shape *shape, const struct lookup_codes *codes);
int lookup_setup(struct assay_call *call, const struct lookup_codes *codes);
int lookup_launch(struct assay_call *call, const struct lookup_codes *codes);
void lookup_teardown(struct assay_call *call);

/* A variant with these codes. */
template <const lookup_codes *CODES>
static constexpr struct assay_variant lookup_variant(const char *operation, const char *name,
                                                     const char *summary)
{
    return {
        .operation = operation,
        .name = name,
        .summary = summary,
        .kind = ASSAY_KERNEL,
        .place = ASSAY_CUDA,
        .min_sm = 80,
        .supports =
            [](const struct assay_shape *shape) { return lookup_unsupported(shape, CODES); },
        .shared_bytes =
            [](const struct assay_shape *shape) { return lookup_shared_bytes(shape, CODES); },
        .setup = [](struct assay_call *call) { return lookup_setup(call, CODES); },
        .launch = [](struct assay_call *call) { return lookup_launch(call, CODES); },
        .teardown = lookup_teardown,
    };
}
