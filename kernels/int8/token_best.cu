/*
 * token_best.cu - per token in one kernel: one block per row, with the row in registers.
 *
 * Formula: a = max |x|; s = fdiv(a, 127); y = rne(fmul(x, fdiv(127, a))).
 * Bytes per element: 4 read (bf16: 2), 1 written; 4 written per row. Operations: 1 comparison, 1
 * product.
 *
 * Why it is fast: nothing is read twice, not even from shared memory. A thread holds PIECES pieces
 * of 16 bytes, one block width apart, and loads all of them before it uses the first. The block
 * finds its largest magnitude with one barrier, and codes are computed from the same registers.
 * PIECES depends on the work:
 *
 *   many rows   four pieces per thread. Blocks are small, and a multiprocessor holds eight or
 *               more: while some wait at the barrier, the loads of others keep the memory busy
 *   few rows    one piece, if 1024 threads cover a row. Such a launch takes two memory latencies
 *               and a barrier, so the fewest instructions are fastest. A row of 4096 is 16 KiB;
 *               spreading it over a cluster would save fewer cycles than the barrier of the
 *               cluster costs
 *
 * Rows whose length is no multiple of a 16-byte piece start on any address. They take a plain path
 * that reads twice, the second time mostly from L1.
 */
#include "int8_token.cuh"

enum { THREADS_MAX = 1024, PIECES_MAX = 8, FEW_TOKENS = 264 };

static __device__ __forceinline__ uint32_t fold(uint32_t most, const float *, uint4 raw)
{
    return token_fold(most, make_float4(__uint_as_float(raw.x), __uint_as_float(raw.y),
                                        __uint_as_float(raw.z), __uint_as_float(raw.w)));
}

static __device__ __forceinline__ uint32_t fold(uint32_t most, const uint16_t *, uint4 raw)
{
    float2 a = int8_float2(raw.x), b = int8_float2(raw.y);
    float2 c = int8_float2(raw.z), d = int8_float2(raw.w);
    most = token_fold(most, make_float4(a.x, a.y, b.x, b.y));
    return token_fold(most, make_float4(c.x, c.y, d.x, d.y));
}

struct multiply {
    float multiplier;

    __device__ __forceinline__ uint32_t pack(float4 v) const
    {
        return token_pack(v, multiplier);
    }
};

template <int PIECES, typename T>
static __global__ void __launch_bounds__(THREADS_MAX)
    token_best(const T *__restrict__ x, int8_t *__restrict__ y, float *__restrict__ scales,
               int hidden)
{
    __shared__ uint32_t warps[THREADS_MAX / 32];
    int pieces = hidden / (int)(16 / sizeof(T));
    const uint4 *in = (const uint4 *)(x + (int64_t)blockIdx.x * hidden);
    int8_t *out = y + (int64_t)blockIdx.x * hidden;

    uint4 raw[PIECES];
#pragma unroll
    for (int k = 0; k < PIECES; k++) {
        int at = threadIdx.x + k * blockDim.x;
        raw[k] = at < pieces ? in[at] : make_uint4(0, 0, 0, 0);
    }
    uint32_t most = 0;
#pragma unroll
    for (int k = 0; k < PIECES; k++)
        most = fold(most, x, raw[k]);

    float absmax = token_block_max(most, warps);
    if (threadIdx.x == 0) scales[blockIdx.x] = token_scale(absmax);

    multiply op = {token_multiplier(absmax)};
#pragma unroll
    for (int k = 0; k < PIECES; k++) {
        int at = threadIdx.x + k * blockDim.x;
        if (at < pieces) int8_put_group(x, out, at, raw[k], op);
    }
}

template <typename T>
static __global__ void __launch_bounds__(THREADS_MAX)
    token_best_any(const T *__restrict__ x, int8_t *__restrict__ y, float *__restrict__ scales,
                   int hidden)
{
    __shared__ uint32_t warps[THREADS_MAX / 32];
    const T *in = x + (int64_t)blockIdx.x * hidden;
    int8_t *out = y + (int64_t)blockIdx.x * hidden;
    uint32_t most = 0;
    for (int i = threadIdx.x; i < hidden; i += blockDim.x)
        most = max(most, token_magnitude(int8_float(in[i])));
    float absmax = token_block_max(most, warps);
    if (threadIdx.x == 0) scales[blockIdx.x] = token_scale(absmax);
    float multiplier = token_multiplier(absmax);
    for (int i = threadIdx.x; i < hidden; i += blockDim.x)
        out[i] = int8_round(__fmul_rn(int8_float(in[i]), multiplier));
}

/* The kernel for this shape and its block: whole warps that cover the row. */
template <typename T> static void enqueue(struct assay_call *call)
{
    typedef void kernel(const T *, int8_t *, float *, int);
    static kernel *const by_pieces[] = {token_best<1, T>, token_best<2, T>, token_best<4, T>,
                                        token_best<PIECES_MAX, T>};
    int64_t tokens = call->shape->value[TOKEN_TOKENS];
    int64_t hidden = call->shape->value[TOKEN_HIDDEN];
    int64_t width = 16 / sizeof(T);
    int64_t pieces = hidden / width;
    int index = tokens <= FEW_TOKENS ? 0 : 2;
    while ((pieces + (1 << index) - 1) >> index > THREADS_MAX)
        index++;
    int64_t threads = ((pieces + (1 << index) - 1) >> index) + 31;
    threads -= threads % 32;
    kernel *chosen = by_pieces[index];
    if (hidden % width != 0) {
        chosen = token_best_any<T>;
        threads = min((hidden + 31) / 32 * 32, (int64_t)THREADS_MAX);
    }
    chosen<<<(unsigned)tokens, (unsigned)threads, 0, (cudaStream_t)call->stream>>>(
        (const T *)call->buffer[BUF_X], (int8_t *)call->buffer[BUF_Y],
        (float *)call->buffer[BUF_SCALES], (int)hidden);
}

static const char *supports(const struct assay_shape *shape)
{
    int64_t bytes = shape->value[TOKEN_HIDDEN] * int8_input_bytes(shape->value[TOKEN_INPUT]);
    return bytes > 16 * THREADS_MAX * PIECES_MAX ? "a row is longer than 128 KiB of registers"
                                                 : NULL;
}

static int launch(struct assay_call *call)
{
    if (call->shape->value[TOKEN_INPUT] == INPUT_BF16)
        enqueue<uint16_t>(call);
    else
        enqueue<float>(call);
    return assay_launched();
}

static const struct assay_variant variant = {
    .operation = "int8_quantize_token",
    .name = "token_best",
    .summary = "one row per block, in registers, all loads first",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports,
    .launch = launch,
    .model = int8_model_token,
};
ASSAY_REGISTER_VARIANT(variant);
