/*
 * seq.cu - the published variant "original": a loop on the host over elements and blocks, with one
 * launch of one thread each, and the host waits for every one. Deliberately slow.
 *
 * Operations: M^2 lookups per launch. Its time is rows columns K / d times that of a launch and a
 * synchronisation, so it is timed by the wall clock. It takes the published sizes only.
 */
#include "kernels/cuda/device_memory.h"
#include "table.cuh"

enum { LAUNCHES_MAX = 1 << 17 }; /* 32 x 256 x 128, the largest published: a second */

struct lookup_global {
    const float *table;
    int64_t count;

    __device__ __forceinline__ int operator()(uint32_t left, uint32_t right) const
    {
        return (int)table[left * count + right];
    }
};

/* Adds one block to one element; the launch of the last block also multiplies by the unit. */
static __global__ void seq(struct table_args args, const float *table, int64_t row, int64_t column,
                           int64_t block)
{
    lookup_global lookup = {table, args.geometry.count};
    float *c = &args.c[row * args.geometry.columns + column];
    float sum = (float)block_sum(args, row, column, block, lookup);
    float scale = args.geometry.scaled ? block_scale(args, row, column, block) : 1.0f;
    float total = __fmaf_rn(scale, sum, block > 0 ? *c : 0.0f);
    *c = block == args.geometry.blocks - 1 ? total * args.geometry.unit : total;
}

static const char *supports(const struct assay_shape *shape)
{
    struct lut_geometry geometry = lut_geometry(shape);
    const char *why = lut_table_unsupported(shape);
    if (why) return why;
    if (geometry.rows > LAUNCHES_MAX || geometry.columns > LAUNCHES_MAX ||
        geometry.rows * geometry.columns * geometry.blocks > LAUNCHES_MAX)
        return "more than 131072 launches, each waited for";
    return NULL;
}

static int setup(struct assay_call *call)
{
    return table_upload(call, (float **)&call->state);
}

static int launch(struct assay_call *call)
{
    struct table_args args = table_args_of(call);
    cudaStream_t stream = (cudaStream_t)call->stream;
    for (int64_t column = 0; column < args.geometry.columns; column++)
        for (int64_t row = 0; row < args.geometry.rows; row++)
            for (int64_t block = 0; block < args.geometry.blocks; block++) {
                seq<<<1, 1, 0, stream>>>(args, (const float *)call->state, row, column, block);
                if (assay_launched()) return -1;
                if (assay_cuda(cudaStreamSynchronize(stream), "waiting for a block")) return -1;
            }
    return 0;
}

static const struct assay_variant variant = {
    .operation = "lut_matmul",
    .name = "seq",
    .summary = "a launch and a wait per block of an element, as the seed's loop",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_WALL,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = device_memory_free,
    .model = lut_model,
};
ASSAY_REGISTER_VARIANT(variant);
