/*
 * model_attend.cu - causal attention for short sequences, straight from the buffer that
 * the qkv product wrote: no copies, no scores in memory.
 *
 *   tensor  a block takes 32 queries, so that 8 x 4 heads of 128 tokens already are 128
 *           blocks; two warps share 16 of them and halve each tile of 64 keys, and put
 *           their halves together at the end. Keys and values pass through shared memory as
 *           fp32; bf16 is widened, which tf32 holds exactly.
 *           Scores and sums stay in registers, the softmax is taken as keys come
 *           (Milakov and Gimelshein 2018; Dao et al. 2022). Accumulators hold columns 2t and
 *           2t + 1 where the next operand wants rows t and t + 4 of the values: values are
 *           read in that order instead.
 *   plain   fp32 on the ordinary cores: four lanes a query and a quarter of the head each,
 *           32 queries a block; two halves of the block share the keys.
 *
 * Operations: 4 size a pair of the tiles touched, and an exponential. Bytes: q and y once, k
 * and v once a block of queries, from L2.
 */
#include "mma.cuh"
#include "model_attend.cuh"

/* Four neighbours as fp32. */
static __device__ __forceinline__ float4 fetch(const float *from)
{
    return *(const float4 *)from;
}

static __device__ __forceinline__ float4 fetch(const uint16_t *from)
{
    uint2 raw = *(const uint2 *)from;
    return make_float4(__uint_as_float(raw.x << 16), __uint_as_float(raw.x & 0xffff0000u),
                       __uint_as_float(raw.y << 16), __uint_as_float(raw.y & 0xffff0000u));
}

template <typename T>
static __device__ __forceinline__ T *out_of(const attend_args &args, int index)
{
    int64_t c = (int64_t)args.heads * args.size;
    return (T *)args.y + (int64_t)(index / args.heads) * args.tokens * c +
           (int64_t)(index % args.heads) * args.size;
}

/* ---------------------------------------------------------------- tensor -- */

enum { SHARED_PLAIN = 48 << 10 }; /* what a kernel may take unasked */
enum { MMA_WARPS = 4, MMA_THREADS = 32 * MMA_WARPS, MMA_QUERIES = 32, MMA_KEYS = 64 };
enum { MMA_HALF = MMA_KEYS / 2 };

template <typename T, int SIZE>
static __global__ void __launch_bounds__(MMA_THREADS) attend_tensor(struct attend_args args)
{
    const int pitch = SIZE + 4, vectors = SIZE / 4;
    extern __shared__ __align__(16) float shared[];
    float *keys = shared, *values = shared + MMA_KEYS * pitch;
    const int64_t c = (int64_t)args.heads * SIZE, stride = 3 * c;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    int half = warp / 2 * MMA_HALF; /* this warp's keys of a tile start there */
    int first = (gridDim.y - 1 - blockIdx.y) * MMA_QUERIES; /* the longest first */
    int query = first + 16 * (warp % 2) + g;                /* and query + 8 */
    model_release();
    model_wait();
    const T *head = head_of<T>(args, blockIdx.x);

    uint32_t q[SIZE / 8][4];
#pragma unroll
    for (int i = 0; i < SIZE / 8; i++)
#pragma unroll
        for (int r = 0; r < 4; r++) {
            int row = min(query + r % 2 * 8, args.tokens - 1), at = 8 * i + t + r / 2 * 4;
            q[i][r] = __float_as_uint(gpt_float(head[row * stride + at]) * args.scale);
        }
    float sum[SIZE / 8][4] = {}, peak[2] = {-INFINITY, -INFINITY}, total[2] = {};

    int end = min(first + MMA_QUERIES, args.tokens);
    for (int key0 = 0; key0 < end; key0 += MMA_KEYS) {
        __syncthreads();
        int count = min(MMA_KEYS, (end - key0 + 7) / 8 * 8);
#pragma unroll 4
        for (int i = threadIdx.x; i < MMA_KEYS * vectors; i += MMA_THREADS) {
            int row = i / vectors, column = i % vectors * 4;
            const T *from = head + min(key0 + row, args.tokens - 1) * stride + column;
            *(float4 *)(keys + row * pitch + column) = fetch(from + c);
            *(float4 *)(values + row * pitch + column) = fetch(from + 2 * c);
        }
        __syncthreads();
        float p[MMA_HALF / 8][4];
        float most[2] = {peak[0], peak[1]}, base[2];
#pragma unroll
        for (int j = 0; j < MMA_HALF / 8; j++) {
#pragma unroll
            for (int e = 0; e < 4; e++)
                p[j][e] = 0.0f;
            if (half + 8 * j < count) {
                const float *from = keys + (half + 8 * j + g) * pitch + t;
#pragma unroll
                for (int i = 0; i < SIZE / 8; i++)
                    mma_step(float(), p[j], q[i], __float_as_uint(from[8 * i]),
                             __float_as_uint(from[8 * i + 4]));
            }
#pragma unroll
            for (int e = 0; e < 4; e++) {
                int key = key0 + half + 8 * j + 2 * t + e % 2;
                if (key > query + e / 2 * 8) p[j][e] = -INFINITY;
                most[e / 2] = fmaxf(most[e / 2], p[j][e]);
            }
        }
#pragma unroll
        for (int r = 0; r < 2; r++) {
            most[r] = fmaxf(most[r], __shfl_xor_sync(0xffffffffu, most[r], 1));
            most[r] = fmaxf(most[r], __shfl_xor_sync(0xffffffffu, most[r], 2));
            base[r] = most[r] == -INFINITY ? 0.0f : most[r]; /* no key yet */
            float keep = power(peak[r] - base[r]);
            peak[r] = most[r];
            total[r] *= keep;
#pragma unroll
            for (int i = 0; i < SIZE / 8; i++) {
                sum[i][2 * r] *= keep;
                sum[i][2 * r + 1] *= keep;
            }
        }
#pragma unroll
        for (int j = 0; j < MMA_HALF / 8; j++) {
            if (half + 8 * j >= count) continue;
#pragma unroll
            for (int e = 0; e < 4; e++) {
                p[j][e] = power(p[j][e] - base[e / 2]);
                total[e / 2] += p[j][e];
            }
            /* Columns 2t and 2t + 1 stand for rows t and t + 4 of the values. */
            const uint32_t a[4] = {__float_as_uint(p[j][0]), __float_as_uint(p[j][2]),
                                   __float_as_uint(p[j][1]), __float_as_uint(p[j][3])};
            const float *from = values + (half + 8 * j + 2 * t) * pitch + g;
#pragma unroll
            for (int i = 0; i < SIZE / 8; i++)
                mma_step(float(), sum[i], a, __float_as_uint(from[8 * i]),
                         __float_as_uint(from[8 * i + pitch]));
        }
    }

    /* The second half's warps hand over; the first half's put both together. */
    __syncthreads();
    float *mine = shared + threadIdx.x % (MMA_THREADS / 2);
    if (half > 0)
#pragma unroll
        for (int r = 0; r < 2; r++) {
            mine[r * MMA_THREADS / 2] = peak[r];
            mine[(2 + r) * MMA_THREADS / 2] = total[r];
#pragma unroll
            for (int i = 0; i < SIZE / 8; i++)
#pragma unroll
                for (int e = 0; e < 2; e++)
                    mine[(4 + 4 * i + 2 * r + e) * MMA_THREADS / 2] = sum[i][2 * r + e];
        }
    __syncthreads();
    if (half > 0) return;
    T *y = out_of<T>(args, blockIdx.x);
#pragma unroll
    for (int r = 0; r < 2; r++) {
        float other = mine[r * MMA_THREADS / 2], most = fmaxf(peak[r], other);
        float keep = power(peak[r] - most), add = power(other - most);
        total[r] = total[r] * keep + mine[(2 + r) * MMA_THREADS / 2] * add;
#pragma unroll
        for (int i = 0; i < SIZE / 8; i++)
#pragma unroll
            for (int e = 0; e < 2; e++)
                sum[i][2 * r + e] = sum[i][2 * r + e] * keep +
                                    mine[(4 + 4 * i + 2 * r + e) * MMA_THREADS / 2] * add;
        total[r] += __shfl_xor_sync(0xffffffffu, total[r], 1);
        total[r] += __shfl_xor_sync(0xffffffffu, total[r], 2);
        int row = query + 8 * r;
        if (row >= args.tokens) continue;
#pragma unroll
        for (int i = 0; i < SIZE / 8; i++)
#pragma unroll
            for (int e = 0; e < 2; e++)
                gpt_put(y + row * c + 8 * i + 2 * t + e, sum[i][2 * r + e] / total[r]);
    }
}

/* ----------------------------------------------------------------- plain -- */

enum { FMA_THREADS = 256, FMA_HALF = 128, FMA_PARTS = 4, FMA_QUERIES = 32, FMA_BATCH = 8 };

static __device__ __forceinline__ float dot(float4 a, float4 b, float sum)
{
    return fmaf(a.x, b.x, fmaf(a.y, b.y, fmaf(a.z, b.z, fmaf(a.w, b.w, sum))));
}

template <int SIZE>
static __global__ void __launch_bounds__(FMA_THREADS) attend_plain(struct attend_args args)
{
    const int vectors = SIZE / 4, own = vectors / FMA_PARTS;
    const int tile_keys = SIZE > 64 ? 32 : 64;
    __shared__ float4 keys[2 * tile_keys][vectors]; /* and values behind them */
    float4(*values)[vectors] = keys + tile_keys;
    const int64_t c = (int64_t)args.heads * SIZE, stride = 3 * c;
    int first = (gridDim.y - 1 - blockIdx.y) * FMA_QUERIES;
    int part = threadIdx.x % FMA_PARTS, query = first + threadIdx.x % FMA_HALF / FMA_PARTS;
    int half = threadIdx.x / FMA_HALF * (tile_keys / 2);
    model_release();
    model_wait();
    const float *head = head_of<float>(args, blockIdx.x);
    const float4 *from = (const float4 *)(head + min(query, args.tokens - 1) * stride);
    float4 q[own], sum[own];
    float peak = -INFINITY, total = 0.0f;
#pragma unroll
    for (int i = 0; i < own; i++) {
        float4 raw = from[part + FMA_PARTS * i];
        q[i] = make_float4(raw.x * args.scale, raw.y * args.scale, raw.z * args.scale,
                           raw.w * args.scale);
        sum[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
    int end = min(first + FMA_QUERIES, args.tokens);
    for (int key0 = 0; key0 < end; key0 += tile_keys) {
        __syncthreads();
#pragma unroll
        for (int at = threadIdx.x; at < tile_keys * vectors; at += FMA_THREADS) {
            int row = at / vectors, column = at % vectors;
            const float *token = head + min(key0 + row, args.tokens - 1) * stride + 4 * column;
            keys[row][column] = fetch(token + c);
            values[row][column] = fetch(token + 2 * c);
        }
        __syncthreads();
        for (int j0 = half; j0 < half + tile_keys / 2 && key0 + j0 < end; j0 += FMA_BATCH) {
            float p[FMA_BATCH], most = peak;
#pragma unroll
            for (int j = 0; j < FMA_BATCH; j++) {
                p[j] = 0.0f;
#pragma unroll
                for (int i = 0; i < own; i++)
                    p[j] = dot(q[i], keys[j0 + j][part + FMA_PARTS * i], p[j]);
                p[j] += __shfl_xor_sync(0xffffffffu, p[j], 1);
                p[j] += __shfl_xor_sync(0xffffffffu, p[j], 2);
                if (key0 + j0 + j > query) p[j] = -INFINITY;
                most = fmaxf(most, p[j]);
            }
            float base = most == -INFINITY ? 0.0f : most; /* no key yet */
            float keep = power(peak - base);
            peak = most;
            total *= keep;
#pragma unroll
            for (int i = 0; i < own; i++)
                sum[i] =
                    make_float4(sum[i].x * keep, sum[i].y * keep, sum[i].z * keep, sum[i].w * keep);
#pragma unroll
            for (int j = 0; j < FMA_BATCH; j++) {
                float weight = power(p[j] - base);
                total += weight;
#pragma unroll
                for (int i = 0; i < own; i++) {
                    float4 v = values[j0 + j][part + FMA_PARTS * i];
                    sum[i] = make_float4(fmaf(weight, v.x, sum[i].x), fmaf(weight, v.y, sum[i].y),
                                         fmaf(weight, v.z, sum[i].z), fmaf(weight, v.w, sum[i].w));
                }
            }
        }
    }
    /* The second half of the block hands over. */
    __syncthreads();
    float4 *mine = &keys[0][0] + threadIdx.x % FMA_HALF;
    if (half > 0) {
        mine[0] = make_float4(peak, total, 0.0f, 0.0f);
#pragma unroll
        for (int i = 0; i < own; i++)
            mine[(1 + i) * FMA_HALF] = sum[i];
    }
    __syncthreads();
    if (half > 0 || query >= args.tokens) return;
    float4 other = mine[0];
    float most = fmaxf(peak, other.x), keep = power(peak - most), add = power(other.x - most);
    float r = 1.0f / (total * keep + other.y * add);
    keep *= r;
    add *= r;
    float4 *to = (float4 *)(out_of<float>(args, blockIdx.x) + query * c);
#pragma unroll
    for (int i = 0; i < own; i++) {
        float4 a = sum[i], b = mine[(1 + i) * FMA_HALF];
        to[part + FMA_PARTS * i] = make_float4(a.x * keep + b.x * add, a.y * keep + b.y * add,
                                               a.z * keep + b.z * add, a.w * keep + b.w * add);
    }
}

/* ---------------------------------------------------------------- launch -- */

const char *model_attend_tile_refused(const struct model_attend *attend)
{
    int64_t size = attend->size;
    if (attend->last) return "one query a sequence";
    if (size != 16 && size != 32 && size != 64 && size != 128)
        return "made for head sizes 16, 32, 64 and 128";
    return NULL;
}

template <typename T, int SIZE> static int tensor(const struct model_attend *attend, void *stream)
{
    const size_t shared = MMA_KEYS * 2 * (SIZE + 4) * sizeof(float);
    dim3 grid((unsigned)(attend->batch * attend->heads), gpt_blocks(attend->tokens, MMA_QUERIES));
    if (shared > SHARED_PLAIN &&
        assay_cuda(cudaFuncSetAttribute(attend_tensor<T, SIZE>,
                                        cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared),
                   "shared memory of the attention") < 0)
        return -1;
    return model_launch(attend_tensor<T, SIZE>, grid, MMA_THREADS, shared, stream, args_of(attend));
}

template <int SIZE> static int plain(const struct model_attend *attend, void *stream)
{
    dim3 grid((unsigned)(attend->batch * attend->heads), gpt_blocks(attend->tokens, FMA_QUERIES));
    return model_launch(attend_plain<SIZE>, grid, FMA_THREADS, 0, stream, args_of(attend));
}

int model_attend_tile(const struct model_attend *attend, void *stream)
{
    typedef int function(const struct model_attend *attend, void *stream);
    static function *const functions[][4] = {
        {plain<16>, plain<32>, plain<64>, plain<128>},
        {tensor<float, 16>, tensor<float, 32>, tensor<float, 64>, tensor<float, 128>},
        {tensor<uint16_t, 16>, tensor<uint16_t, 32>, tensor<uint16_t, 64>, tensor<uint16_t, 128>}};
    int size = attend->size == 16 ? 0 : attend->size == 32 ? 1 : attend->size == 64 ? 2 : 3;
    return functions[attend->precision][size](attend, stream);
}

int model_attend_own(const struct model_attend *attend, void *stream)
{
    return model_attend_tile_refused(attend) ? model_attend_any(attend, stream)
                                             : model_attend_tile(attend, stream);
}
