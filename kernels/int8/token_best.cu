/*
 * token_best.cu - per token in one kernel, with the row in registers, at any length and alignment.
 *
 * Formula: a = max |x|; s = fdiv(a, 127); y = rne(fmul(x, fdiv(127, a))).
 * Bytes per element: 4 read (bf16: 2), 1 written; 4 written per row. Operations: 1 comparison, 1
 * product.
 *
 * Why it is fast: nothing is read twice, not even from shared memory. A thread holds up to eight
 * pieces of 16 bytes and loads all of them before it uses the first. The largest magnitude is found
 * by shuffles (up to 256 pieces), with one barrier (up to 4096), or with that of a cluster, and
 * codes are computed from the same registers. How many pieces a thread has depends on the work:
 *
 *   many rows   four pieces per thread. Blocks are small, and a multiprocessor holds eight or
 *               more: while some wait at the barrier, the loads of others keep the memory busy.
 *               Short rows share a warp
 *   few rows    one piece, if 1024 threads cover a row. Such a launch takes two memory latencies
 *               and a barrier, so the fewest instructions are fastest. A row of 4096 is 16 KiB;
 *               spreading it over a cluster would save fewer cycles than the barrier of the
 *               cluster costs
 *
 * Rows whose length is no multiple of a 16-byte piece start on any address. Whole pieces of memory
 * are moved as in other rows; the elements beside them, fewer than two pieces, one per lane
 * (row_codes.cuh). Only rows longer than a cluster's registers, 1 MiB, are read twice.
 */
#include "int8_token.cuh"
#include "kernels/cuda/row_codes_launch.cuh"

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

/* The operation of row_codes.cuh. */
template <typename T> struct token_codes {
    typedef T element;
    typedef int8_t code;
    int columns;

    static __device__ __forceinline__ uint32_t size(T x)
    {
        return token_magnitude(int8_float(x));
    }
    static __device__ __forceinline__ uint32_t fold(uint32_t most, const uint4 &piece)
    {
        return ::fold(most, (const T *)NULL, piece);
    }
    static __device__ __forceinline__ uint32_t block_max(uint32_t most, uint32_t *warps)
    {
        return __float_as_uint(token_block_max(most, warps));
    }
    static __device__ __forceinline__ float scale(uint32_t most)
    {
        return token_scale(__uint_as_float(most));
    }
    static __device__ __forceinline__ float multiplier(uint32_t most)
    {
        return token_multiplier(__uint_as_float(most));
    }
    static __device__ __forceinline__ void put(int8_t *y, int at, const uint4 &piece,
                                               float multiplier)
    {
        int8_put_group((const T *)NULL, y, at, piece, multiply{multiplier});
    }
    static __device__ __forceinline__ int8_t one(T x, float multiplier)
    {
        return int8_round(__fmul_rn(int8_float(x), multiplier));
    }
};

template <typename T> static int enqueue(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    return row_codes_launch(call->buffer[BUF_X], call->buffer[BUF_Y],
                            (float *)call->buffer[BUF_SCALES], value[TOKEN_TOKENS],
                            token_codes<T>{(int)value[TOKEN_HIDDEN]}, (cudaStream_t)call->stream);
}

static int launch(struct assay_call *call)
{
    if (call->shape->value[TOKEN_INPUT] == INPUT_BF16) return enqueue<uint16_t>(call);
    return enqueue<float>(call);
}

static const struct assay_variant variant = {
    .operation = "int8_quantize_token",
    .name = "token_best",
    .summary = "one pass, a row in the registers of lanes, a block or a cluster, all loads first",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch,
    .model = int8_model_token,
};
ASSAY_REGISTER_VARIANT(variant);
