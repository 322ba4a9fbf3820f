/*
 * embedding_vec4.cu - a warp adds 128 channels of one position to those of one token, or of the
 * tokens of four sequences. Each lane loads all its float4, one of the position and one per token,
 * before it uses the first.
 *
 * Bytes per element: 4 read from each table, 4 written. The position's come from L2, or are read
 * once for four sequences.
 *
 * The index of the 128 channels is the slowest of the grid, so the device goes through all rows for
 * the same 512 bytes of each. L2 then holds these parts of all positions and tokens, and a token
 * that occurs again is not read from memory again. Output is marked to leave the cache first
 * (evict_first), the token table to stay (evict_last).
 *
 * Measured on an H200, cold: 16 x 1024 tokens of 4096 channels, where a seventh of the tokens
 * occurs again, take 128 us, 93 % of the copy ceiling; 8 x 1024 of 768 channels take 12.9 us, 92 %.
 */
#include "embedding.cuh"

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

static const char *supports(const struct assay_shape *shape)
{
    return shape->value[EMBEDDING_CHANNELS] % 4 ? "channels are no multiple of 4" : NULL;
}

static int setup(struct assay_call *call)
{
    return embedding_check(call);
}

/* Four sequences per warp, if there are then still enough warps to fill a large device. */
static int launch(struct assay_call *call)
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

static const struct assay_variant variant = {
    .operation = "embedding",
    .name = "vec4",
    .summary = "512 bytes of a position per warp, for several sequences",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports,
    .setup = setup,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
