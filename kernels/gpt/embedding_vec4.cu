/*
 * embedding_vec4.cu - a warp takes up to 512 channels of a row: one id, four float4 of
 * each table a lane, all in flight before the first is used.
 *
 * Bytes of an element: 4 read of each table (the position's from L2), 4 written. No
 * division: blockIdx.y is the part of the row.
 */
#include "embedding.cuh"

enum { WARPS = 8, LOADS = 4, PER_WARP = 32 * LOADS };

static __global__ void __launch_bounds__(32 * WARPS) embed(struct embedding args)
{
    int64_t row = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= args.rows) return;
    int width = args.channels / 4;
    int first = blockIdx.y * PER_WARP + threadIdx.x % 32;
    const float4 *token = (const float4 *)args.wte + (int64_t)__ldg(args.ids + row) * width;
    const float4 *position = (const float4 *)args.wpe + row % args.tokens * width;
    float4 *y = (float4 *)args.y + row * width;
    float4 a[LOADS], b[LOADS];
#pragma unroll
    for (int k = 0; k < LOADS; k++) {
        int at = first + 32 * k;
        if (at < width) a[k] = __ldg(token + at);
        if (at < width) b[k] = __ldg(position + at);
    }
#pragma unroll
    for (int k = 0; k < LOADS; k++) {
        int at = first + 32 * k;
        if (at < width)
            y[at] = make_float4(a[k].x + b[k].x, a[k].y + b[k].y, a[k].z + b[k].z, a[k].w + b[k].w);
    }
}

static const char *supports(const struct assay_shape *shape)
{
    return shape->value[EMBEDDING_CHANNELS] % 4 ? "channels are no multiple of 4" : NULL;
}

static int setup(struct assay_call *call)
{
    return embedding_check(call);
}

static int launch(struct assay_call *call)
{
    struct embedding args = embedding_args(call);
    dim3 grid(gpt_blocks(args.rows, WARPS), gpt_blocks(args.channels / 4, PER_WARP));
    embed<<<grid, 32 * WARPS, 0, (cudaStream_t)call->stream>>>(args);
    return assay_launched();
}

static const struct assay_variant variant = {
    .operation = "embedding",
    .name = "vec4",
    .summary = "a warp a row, four float4 of each table in flight",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_DEVICE,
    .supports = supports,
    .setup = setup,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
