/*
 * attention_online_fp32.cu - one kernel in fp32: keys and values by tiles through shared
 * memory, the softmax taken as they come (Milakov and Gimelshein, "Online normalizer
 * calculation for softmax", 2018; Dao et al., "FlashAttention", NeurIPS 2022, algorithm 1).
 *
 * A block takes 64 queries: four threads hold two of them, each a quarter of the head:
 * every fourth float4. Tiles are 32 keys; eight scores of a query are found at a
 * time, so that the maximum is looked at and the sums rescaled once in eight keys.
 *
 * Operations: 4 d a pair, in fp32, and an exponential. Bytes: q and y once, k and v once
 * a block of queries.
 */
#include "attention.cuh"

enum { THREADS = 128, PARTS = 4, EACH = 2, GROUPS = THREADS / PARTS, KEYS = 32, BATCH = 8 };
enum { QUERIES = GROUPS * EACH };

static __device__ __forceinline__ float dot(float4 a, float4 b, float sum)
{
    return fmaf(a.x, b.x, fmaf(a.y, b.y, fmaf(a.z, b.z, fmaf(a.w, b.w, sum))));
}

static __device__ __forceinline__ float4 scaled(float4 a, float by)
{
    return make_float4(a.x * by, a.y * by, a.z * by, a.w * by);
}

static __device__ __forceinline__ float4 added(float4 sum, float p, float4 v)
{
    return make_float4(fmaf(p, v.x, sum.x), fmaf(p, v.y, sum.y), fmaf(p, v.z, sum.z),
                       fmaf(p, v.w, sum.w));
}

template <int SIZE>
static __global__ void __launch_bounds__(THREADS) online(struct attention args, float scale)
{
    const int vectors = SIZE / 4, own = vectors / PARTS;
    __shared__ float4 keys[KEYS][vectors], values[KEYS][vectors];
    const float *head = attention_head<float>(args, blockIdx.x);
    int first = (gridDim.y - 1 - blockIdx.y) * QUERIES; /* the longest first */
    int part = threadIdx.x % PARTS, group = threadIdx.x / PARTS;

    float4 q[EACH][own], sum[EACH][own];
    float peak[EACH], total[EACH];
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        int query = min(first + group + e * GROUPS, args.tokens - 1);
        const float4 *from = (const float4 *)(head + query * args.stride);
#pragma unroll
        for (int i = 0; i < own; i++) {
            q[e][i] = scaled(__ldg(from + part + PARTS * i), scale);
            sum[e][i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        }
        peak[e] = -INFINITY;
        total[e] = 0.0f;
    }

    int end = min(first + QUERIES, args.tokens);
    for (int key0 = 0; key0 < end; key0 += KEYS) {
        for (int at = threadIdx.x; at < KEYS * vectors; at += THREADS) {
            int row = at / vectors, column = at % vectors;
            int token = min(key0 + row, args.tokens - 1); /* behind the end: masked below */
            const float4 *k = (const float4 *)(head + args.stride_y + token * args.stride);
            const float4 *v = (const float4 *)(head + 2 * args.stride_y + token * args.stride);
            keys[row][column] = __ldg(k + column);
            values[row][column] = __ldg(v + column);
        }
        __syncthreads();
        for (int j0 = 0; j0 < KEYS; j0 += BATCH) {
            float p[EACH][BATCH];
#pragma unroll
            for (int j = 0; j < BATCH; j++) {
#pragma unroll
                for (int e = 0; e < EACH; e++)
                    p[e][j] = 0.0f;
#pragma unroll
                for (int i = 0; i < own; i++) {
                    float4 k = keys[j0 + j][part + PARTS * i];
#pragma unroll
                    for (int e = 0; e < EACH; e++)
                        p[e][j] = dot(q[e][i], k, p[e][j]);
                }
            }
#pragma unroll
            for (int e = 0; e < EACH; e++) {
                int query = first + group + e * GROUPS;
                float most = peak[e];
#pragma unroll
                for (int j = 0; j < BATCH; j++) {
                    p[e][j] += __shfl_xor_sync(0xffffffffu, p[e][j], 1);
                    p[e][j] += __shfl_xor_sync(0xffffffffu, p[e][j], 2);
                    if (key0 + j0 + j > query) p[e][j] = -INFINITY;
                    most = fmaxf(most, p[e][j]);
                }
                float keep = attention_exp2(peak[e] - most);
                peak[e] = most;
                total[e] *= keep;
#pragma unroll
                for (int j = 0; j < BATCH; j++) {
                    p[e][j] = attention_exp2(p[e][j] - most);
                    total[e] += p[e][j];
                }
#pragma unroll
                for (int i = 0; i < own; i++)
                    sum[e][i] = scaled(sum[e][i], keep);
            }
#pragma unroll
            for (int j = 0; j < BATCH; j++)
#pragma unroll
                for (int i = 0; i < own; i++) {
                    float4 v = values[j0 + j][part + PARTS * i];
#pragma unroll
                    for (int e = 0; e < EACH; e++)
                        sum[e][i] = added(sum[e][i], p[e][j], v);
                }
        }
        __syncthreads();
    }

    float *y = attention_out<float>(args, blockIdx.x);
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        int query = first + group + e * GROUPS;
        if (query >= args.tokens) continue;
        float4 *to = (float4 *)(y + query * args.stride_y);
#pragma unroll
        for (int i = 0; i < own; i++)
            to[part + PARTS * i] = scaled(sum[e][i], 1.0f / total[e]);
    }
}

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[ATTENTION_PRECISION] != GPT_FP32) return "fp32 only";
    return attention_size_refused(shape);
}

static int launch(struct assay_call *call)
{
    struct attention args = attention_args(call);
    /* Powers of two in the place of e. */
    float scale = 1.4426950408889634f / sqrtf((float)args.size);
    void (*kernel)(struct attention, float) = args.size == 16   ? online<16>
                                              : args.size == 32 ? online<32>
                                              : args.size == 64 ? online<64>
                                                                : online<128>;
    dim3 grid(args.batch * args.heads, gpt_blocks(args.tokens, QUERIES));
    kernel<<<grid, THREADS, 0, (cudaStream_t)call->stream>>>(args, scale);
    return assay_launched();
}

static const struct assay_variant variant = {
    .operation = "attention",
    .name = "online_fp32",
    .summary = "one kernel, softmax as keys come, fp32 on the ordinary cores",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_DEVICE,
    .supports = supports,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
