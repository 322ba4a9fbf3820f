/*
 * linear_128.cu - bf16_128, fp16_128 and tf32_128, the tensor-core products in tiles of 128 x 128
 * outputs: by wgmma where device and build have it (linear_128_wgmma.cu), else by mma.sync m16n8k16
 * (bf16, fp16) and m16n8k8 (tf32), whose kernel is here, for Ampere and any later device. The note
 * of a result says which.
 *
 * A block is four warps, each with 64 x 64 outputs in registers. Operands are fetched by cp.async
 * in three stages of 128 bytes along k (64 halves or 32 tf32), 32 KiB each, so two blocks fit on a
 * multiprocessor of 228 KiB and one computes while the other waits; one fits where there are 100.
 * Chunks of 16 bytes are swizzled (mma_layout.h), so neither copies nor reads have bank conflicts.
 * Fragments of the next step of k are loaded while the products of this one run. T is uint16_t
 * (bf16), fp16_t or float (tf32, whose low bits the tensor core ignores). Blocks take tiles in the
 * order of linear_order.h, eight bands per group.
 *
 * Operations: 2 m n k. Bytes from L2: x n / 128 times and w m / 128 times.
 *
 * Every operand goes through registers, so mma.sync reaches about five eighths of what Hopper's
 * wgmma does, and this kernel 42 to 43 % of the vendor's library there (8192^3, H200). On Hopper
 * wgmma is used instead, except for a transposed weight in tf32 and fp16.
 */
#include <stdio.h>

#include "kernels/cuda/cuda_limits.h"
#include "linear.cuh"
#include "linear_128.h"
#include "linear_order.h"
#include "kernels/gpt/mma.cuh"

enum {
    L128_TILE = 128,
    L128_THREADS = 128,
    L128_STAGES = 3,
    L128_ROW_BYTES = 128,                            /* of k, in a stage */
    L128_OPERAND_BYTES = L128_TILE * L128_ROW_BYTES, /* in a stage, of x or w */
    L128_SHARED_BYTES = L128_STAGES * 2 * L128_OPERAND_BYTES,
    L128_GROUP = 8,
};

/* Copy rows [row0, row0 + 128) of a matrix that lies along k, 128 bytes of each from
 * element k0; zeros outside. */
template <typename T>
static __device__ __forceinline__ void l128_copy_rows(uint32_t to, const T *from, int64_t row0,
                                                      int64_t rows, int64_t k0, int64_t k)
{
    const int width = 16 / sizeof(T);
    int chunk = threadIdx.x % 8;
    int64_t at_k = k0 + chunk * width;
#pragma unroll
    for (int i = 0; i < L128_TILE / (L128_THREADS / 8); i++) {
        int row = threadIdx.x / 8 + i * (L128_THREADS / 8);
        bool valid = row0 + row < rows && at_k < k;
        mma_copy(to + row * L128_ROW_BYTES + mma_swizzle(row, chunk) * 16,
                 valid ? from + (row0 + row) * k + at_k : from, valid);
    }
}

/* Copy 128 columns from n0 of a matrix [k, leading], as many rows from k0 as fill the
 * same bytes: rows of 256 bytes (bf16) or 512 (tf32). */
template <typename T>
static __device__ __forceinline__ void l128_copy_columns(uint32_t to, const T *from, int64_t n0,
                                                         int64_t leading, int64_t k0, int64_t k)
{
    const int width = 16 / sizeof(T), chunks = L128_TILE / width;
    int chunk = threadIdx.x % chunks;
    int64_t at_n = n0 + chunk * width;
#pragma unroll
    for (int i = 0; i < L128_ROW_BYTES / (int)sizeof(T) / (L128_THREADS / chunks); i++) {
        int row = threadIdx.x / chunks + i * (L128_THREADS / chunks);
        bool valid = k0 + row < k && at_n < leading;
        int place = sizeof(T) == 2 ? mma_swizzle(row, chunk) : mma_swizzle_words(row, chunk);
        mma_copy(to + (row * chunks + place) * 16,
                 valid ? from + (k0 + row) * leading + at_n : from, valid);
    }
}

/* The fragments of one step of k for a warp: four tiles of 16 rows, eight of 8 columns. */
struct l128_fragments {
    uint32_t a[4][4];
    uint32_t b[4][4]; /* b[j]: columns 16 j to 16 j + 15, b0 b1 of each half */
};

static __device__ __forceinline__ void l128_load_rows(uint32_t r[4][4], uint32_t from, int row0,
                                                      struct mma_place place, int step)
{
#pragma unroll
    for (int i = 0; i < 4; i++) {
        int row = row0 + 16 * i + place.row;
        mma_load(r[i], from + row * L128_ROW_BYTES + mma_swizzle(row, 2 * step + place.chunk) * 16);
    }
}

/* From a transposed weight. */
template <typename T>
static __device__ __forceinline__ void l128_load_columns(T, uint32_t r[4][4], uint32_t from,
                                                         int column0, int lane, int step)
{
    struct mma_place place = mma_place_b_trans(lane);
    int row = 16 * step + place.row;
#pragma unroll
    for (int j = 0; j < 4; j++)
        mma_load_trans(r[j], from + row * 256 +
                                 mma_swizzle(row, (column0 + 16 * j) / 8 + place.chunk) * 16);
}

static __device__ __forceinline__ void l128_load_columns(float, uint32_t r[4][4], uint32_t from,
                                                         int column0, int lane, int step)
{
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int row = 8 * step + lane % 4 + i % 2 * 4;
            int column = column0 + 16 * j + i / 2 * 8 + lane / 4;
            r[j][i] = mma_load_word(from + row * 512 + mma_swizzle_words(row, column / 4) * 16 +
                                    column % 4 * 4);
        }
}

template <typename T, bool TRANSPOSED>
static __device__ __forceinline__ void l128_load(struct l128_fragments &f, uint32_t stage, int row0,
                                                 int column0, int lane, int step)
{
    l128_load_rows(f.a, stage, row0, mma_place_a(lane), step);
    if (TRANSPOSED)
        l128_load_columns(T(), f.b, stage + L128_OPERAND_BYTES, column0, lane, step);
    else
        l128_load_rows(f.b, stage + L128_OPERAND_BYTES, column0, mma_place_b(lane), step);
}

template <typename T, bool TRANSPOSED>
static __global__ void __launch_bounds__(L128_THREADS, 2)
    linear_128_mma(struct linear_operands operands, enum linear_finish finish)
{
    extern __shared__ __align__(128) unsigned char l128_memory[];
    const int depth = L128_ROW_BYTES / sizeof(T);
    const uint32_t memory = mma_shared(l128_memory);
    const T *x = (const T *)operands.x, *w = (const T *)operands.w;

    int bands = (int)((operands.m + L128_TILE - 1) / L128_TILE);
    int columns = (int)((operands.n + L128_TILE - 1) / L128_TILE);
    struct linear_tile at = linear_order(blockIdx.x, bands, columns, L128_GROUP);
    int64_t m0 = (int64_t)at.band * L128_TILE, n0 = (int64_t)at.column * L128_TILE;

    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int row0 = warp / 2 * 64, column0 = warp % 2 * 64;
    int tiles_k = (int)((operands.k + depth - 1) / depth);

    auto fetch = [&](int tile) {
        if (tile < tiles_k) {
            uint32_t stage = memory + tile % L128_STAGES * 2 * L128_OPERAND_BYTES;
            int64_t k0 = (int64_t)tile * depth;
            l128_copy_rows(stage, x, m0, operands.m, k0, operands.k);
            if (TRANSPOSED)
                l128_copy_columns(stage + L128_OPERAND_BYTES, w, n0, operands.leading, k0,
                                  operands.k);
            else
                l128_copy_rows(stage + L128_OPERAND_BYTES, w, n0, operands.n, k0, operands.k);
        }
        mma_copy_commit(); /* an empty group keeps the count of groups right */
    };

    float sum[4][8][4] = {};
    struct l128_fragments f[2];
#pragma unroll
    for (int tile = 0; tile < L128_STAGES - 1; tile++)
        fetch(tile);
    for (int tile = 0; tile < tiles_k; tile++) {
        mma_copy_wait<L128_STAGES - 2>();
        __syncthreads(); /* this tile is there for all, and the one before is read by all */
        uint32_t stage = memory + tile % L128_STAGES * 2 * L128_OPERAND_BYTES;
        l128_load<T, TRANSPOSED>(f[0], stage, row0, column0, lane, 0);
        fetch(tile + L128_STAGES - 1);
#pragma unroll
        for (int step = 0; step < 4; step++) {
            if (step < 3)
                l128_load<T, TRANSPOSED>(f[(step + 1) % 2], stage, row0, column0, lane, step + 1);
            const struct l128_fragments &now = f[step % 2];
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 8; j++)
                    mma_step(T(), sum[i][j], now.a[i], now.b[j / 2][j % 2 * 2],
                             now.b[j / 2][j % 2 * 2 + 1]);
        }
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 8; j++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                int column = (int)n0 + column0 + 8 * j + mma_column(lane, 0);
                float2 bias = linear_bias_pair((const T *)operands.bias, column, (int)operands.n);
                float2 pair =
                    linear_finish_pair(finish, sum[i][j][2 * half], sum[i][j][2 * half + 1], bias);
                linear_write_pair<T>(operands, m0 + row0 + 16 * i + mma_row(lane, 2 * half), column,
                                     pair);
            }
}

/* Once, in setup: a block may have more than 48 KiB. */
template <typename T> static int l128_allow(void)
{
    if (cuda_allow_shared((const void *)linear_128_mma<T, false>, L128_SHARED_BYTES) < 0) return -1;
    return cuda_allow_shared((const void *)linear_128_mma<T, true>, L128_SHARED_BYTES);
}

template <typename T>
static int l128_enqueue(const struct linear_operands *operands, cudaStream_t stream)
{
    const enum linear_finish finish = operands->finish;
    int64_t blocks =
        (int64_t)gpt_blocks(operands->m, L128_TILE) * gpt_blocks(operands->n, L128_TILE);
    if (operands->transposed)
        linear_128_mma<T, true>
            <<<(unsigned)blocks, L128_THREADS, L128_SHARED_BYTES, stream>>>(*operands, finish);
    else
        linear_128_mma<T, false>
            <<<(unsigned)blocks, L128_THREADS, L128_SHARED_BYTES, stream>>>(*operands, finish);
    return assay_launched();
}

/* ---------------------------------------------------------------- choice -- */

static bool has_wgmma(void)
{
    return assay_card()->arch_specific;
}

int64_t linear_128_shared_bytes(const struct assay_shape *)
{
    return L128_SHARED_BYTES;
}

int linear_128_allow(void)
{
    if (l128_allow<uint16_t>() < 0 || l128_allow<fp16_t>() < 0 || l128_allow<float>() < 0)
        return -1;
    return has_wgmma() ? linear_128_wgmma_allow() : 0;
}

int linear_bf16_128(const struct linear_operands *operands, cudaStream_t stream)
{
    return has_wgmma() ? linear_128_wgmma_bf16(operands, stream)
                       : l128_enqueue<uint16_t>(operands, stream);
}

int linear_fp16_128(const struct linear_operands *operands, cudaStream_t stream)
{
    return has_wgmma() && !operands->transposed ? linear_128_wgmma_fp16(operands, stream)
                                                : l128_enqueue<fp16_t>(operands, stream);
}

int linear_tf32_128(const struct linear_operands *operands, cudaStream_t stream)
{
    return has_wgmma() && !operands->transposed ? linear_128_wgmma_tf32(operands, stream)
                                                : l128_enqueue<float>(operands, stream);
}

/* --------------------------------------------------------------- variants -- */

template <enum gpt_precision PRECISION> static const char *supports(const struct assay_shape *shape)
{
    const char *other = linear_only<PRECISION>(shape);
    return other ? other : linear_unaligned(shape);
}

static int setup(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    const int64_t precision = value[LINEAR_PRECISION], deep = 32 / gpt_bytes(precision);
    if (linear_128_allow() < 0) return -1;
    if (has_wgmma() && (precision == GPT_BF16 || value[LINEAR_WEIGHT] == LINEAR_DIRECT))
        (void)snprintf(call->note, sizeof call->note, "wgmma m64n128k%d", (int)deep);
    else
        (void)snprintf(call->note, sizeof call->note, "mma.sync m16n8k%d", (int)deep);
    return linear_setup(call);
}

typedef int product_128(const struct linear_operands *, cudaStream_t);

template <enum gpt_precision PRECISION, product_128 *PRODUCT>
static constexpr struct assay_variant named(const char *name)
{
    return {
        .operation = "linear",
        .name = name,
        .summary = "tensor cores, tiles of 128 x 128: wgmma on Hopper, else mma.sync",
        .kind = ASSAY_KERNEL,
        .place = ASSAY_CUDA,
        .min_sm = 80,
        .supports = supports<PRECISION>,
        .shared_bytes = linear_128_shared_bytes,
        .setup = setup,
        .launch = linear_launch<PRODUCT>,
        .teardown = device_memory_free,
    };
}

static constexpr struct assay_variant bf16 = named<GPT_BF16, linear_bf16_128>("bf16_128");
static constexpr struct assay_variant fp16 = named<GPT_FP16, linear_fp16_128>("fp16_128");
static constexpr struct assay_variant tf32 = named<GPT_TF32, linear_tf32_128>("tf32_128");
ASSAY_REGISTER_VARIANT(bf16);
ASSAY_REGISTER_VARIANT(fp16);
ASSAY_REGISTER_VARIANT(tf32);
