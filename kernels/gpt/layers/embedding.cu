/*
 * embedding.cu - the embedding, one element per thread or 512 bytes per warp.
 *
 *   fused  one kernel, one element per thread. Bytes per element: 4 read from each table (wpe's
 * rows come from L2), 4 written split  two gathers and an addition, each from memory to memory, as
 * the published model does it: 16 bytes for the gathers and 12 for the addition. Deliberately slow.
 * The two gathered arrays are in memory of this variant's own vec4   a warp adds 128 channels of
 * one position to those of one token, or of the tokens of four sequences. Each lane loads all its
 * float4, one of the position and one per token, before it uses the first. Bytes per element: 4
 * read from each table, 4 written. The position's come from L2, or are read once for four sequences
 *
 * In vec4 the index of the 128 channels is the slowest of the grid, so the device goes through all
 * rows for the same 512 bytes of each. L2 then holds these parts of all positions and tokens, and a
 * token that occurs again is not read from memory again. Output is marked to leave the cache first
 * (evict_first), the token table to stay (evict_last). Measured on an H200, cold: 16 x 1024 tokens
 * of 4096 channels, where a seventh of the tokens occurs again, take 128 us, 93 % of the copy
 * ceiling; 8 x 1024 of 768 channels take 12.9 us, 92 %.
 */
#include "embedding.cuh"
#include "kernels/cuda/device_memory.h"

enum { THREADS = 256 };

static int setup(struct assay_call *call)
{
    return embedding_check(call);
}

/* ------------------------------------------------------------------ fused -- */

static __global__ void __launch_bounds__(THREADS) fused(struct embedding args)
{
    int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= args.rows * args.channels) return;
    int64_t row = i / args.channels, channel = i % args.channels;
    args.y[i] = __ldg(args.wte + (int64_t)__ldg(args.ids + row) * args.channels + channel) +
                __ldg(args.wpe + row % args.tokens * args.channels + channel);
}

static int launch_fused(struct assay_call *call)
{
    struct embedding args = embedding_args(call);
    fused<<<gpt_blocks(args.rows * args.channels, THREADS), THREADS, 0,
            (cudaStream_t)call->stream>>>(args);
    return assay_launched();
}

static const struct assay_variant one_kernel = {
    .operation = "embedding",
    .name = "fused",
    .summary = "one kernel, one element per thread",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .setup = setup,
    .launch = launch_fused,
};
ASSAY_REGISTER_VARIANT(one_kernel);

/* ------------------------------------------------------------------ split -- */

/* out[row] = table[ids[row]]; with `ids` NULL, table[position of the row in its sequence]. */
static __global__ void __launch_bounds__(THREADS)
    gather(struct embedding args, const float *__restrict__ table, const int32_t *__restrict__ ids,
           float *__restrict__ out)
{
    int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= args.rows * args.channels) return;
    int64_t row = i / args.channels, channel = i % args.channels;
    int64_t from = ids ? ids[row] : row % args.tokens;
    out[i] = table[from * args.channels + channel];
}

static __global__ void __launch_bounds__(THREADS)
    add(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ y, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] = a[i] + b[i];
}

static int setup_split(struct assay_call *call)
{
    if (embedding_check(call) < 0) return -1;
    struct embedding args = embedding_args(call);
    int64_t bytes = 2 * (int64_t)sizeof(float) * args.rows * args.channels;
    return device_memory(call, &call->state, bytes, "the gathered rows");
}

static int launch_split(struct assay_call *call)
{
    struct embedding args = embedding_args(call);
    int64_t n = args.rows * args.channels;
    float *of_token = (float *)call->state, *of_position = of_token + n;
    unsigned blocks = gpt_blocks(n, THREADS);
    cudaStream_t stream = (cudaStream_t)call->stream;
    gather<<<blocks, THREADS, 0, stream>>>(args, args.wte, args.ids, of_token);
    gather<<<blocks, THREADS, 0, stream>>>(args, args.wpe, NULL, of_position);
    add<<<blocks, THREADS, 0, stream>>>(of_token, of_position, args.y, n);
    return assay_launched();
}

static const struct assay_variant split = {
    .operation = "embedding",
    .name = "split",
    .summary = "three kernels through memory: gather, gather, add",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .setup = setup_split,
    .launch = launch_split,
    .teardown = device_memory_free,
};
ASSAY_REGISTER_VARIANT(split);

/* ------------------------------------------------------------------- vec4 -- */

enum { WARPS = 8, PART = 32, SEQUENCES = 4, FULL = 1 << 15 };

static __device__ __forceinline__ float4 load_kept(const float4 *from)
{
    float4 v;
#if __CUDA_ARCH__ >= 800
    uint64_t policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("ld.global.nc.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(from), "l"(policy));
#else
    v = __ldg(from);
#endif
    return v;
}

static __device__ __forceinline__ void store_first(float4 *to, float4 v)
{
#if __CUDA_ARCH__ >= 800
    uint64_t policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("st.global.L2::cache_hint.v4.f32 [%0], {%1, %2, %3, %4}, %5;" ::"l"(to), "f"(v.x),
                 "f"(v.y), "f"(v.z), "f"(v.w), "l"(policy)
                 : "memory");
#else
    *to = v;
#endif
}

/* Successive warps take the sequences of one position, COUNT each, then the next position. */
template <int COUNT>
static __global__ void __launch_bounds__(32 * WARPS) embed(struct embedding args, int batch)
{
    int groups = (batch + COUNT - 1) / COUNT, width = args.channels / 4;
    int64_t warp = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    if (warp >= (int64_t)groups * args.tokens) return;
    int token = (int)(warp / groups), first = (int)(warp % groups) * COUNT;
    int at = blockIdx.y * PART + threadIdx.x % 32, id[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        id[i] = __ldg(args.ids + (int64_t)min(first + i, batch - 1) * args.tokens + token);
    float4 v[COUNT], position;
    /* One `if` around all loads: in the loop below, the compiler would move each to its store. */
    if (at < width) {
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            v[i] = load_kept((const float4 *)args.wte + (int64_t)id[i] * width + at);
        position = __ldg((const float4 *)args.wpe + (int64_t)token * width + at);
    }
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        if (first + i >= batch) return;
        int64_t row = (int64_t)(first + i) * args.tokens + token;
        if (at < width)
            store_first((float4 *)args.y + row * width + at,
                        make_float4(v[i].x + position.x, v[i].y + position.y, v[i].z + position.z,
                                    v[i].w + position.w));
    }
}

static const char *supports_vec4(const struct assay_shape *shape)
{
    return shape->value[EMBEDDING_CHANNELS] % 4 ? "channels are no multiple of 4" : NULL;
}

/* Four sequences per warp, if there are then still enough warps to fill a large device. */
static int launch_vec4(struct assay_call *call)
{
    struct embedding args = embedding_args(call);
    int batch = (int)(args.rows / args.tokens);
    unsigned parts = gpt_blocks(args.channels / 4, PART);
    bool many = batch >= SEQUENCES && args.rows * parts >= (int64_t)SEQUENCES * FULL;
    int64_t groups = many ? (batch + SEQUENCES - 1) / SEQUENCES : batch;
    dim3 grid(gpt_blocks(groups * args.tokens, WARPS), parts);
    cudaStream_t stream = (cudaStream_t)call->stream;
    if (many)
        embed<SEQUENCES><<<grid, 32 * WARPS, 0, stream>>>(args, batch);
    else
        embed<1><<<grid, 32 * WARPS, 0, stream>>>(args, batch);
    return assay_launched();
}

static const struct assay_variant vec4 = {
    .operation = "embedding",
    .name = "vec4",
    .summary = "512 bytes of a position per warp, for several sequences",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports_vec4,
    .setup = setup,
    .launch = launch_vec4,
};
ASSAY_REGISTER_VARIANT(vec4);
