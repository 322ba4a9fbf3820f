/*
 * decode_mma.cu - decode_imma_staged for cards without wgmma: one kernel per operand decodes to
 * int8 in device memory, and a third multiplies by mma.sync m16n8k32, from Ampere on.
 *
 * A block is four warps, each with 64 x 64 of a tile of 128 x 128 of C in registers. Operands are
 * fetched by cp.async in three stages of 128 bytes along K, 32 KiB each: 96 KiB, which every card
 * from Ampere on has. Rows are swizzled as those of decode_imma (imma.h), so that neither copies
 * nor ldmatrix have bank conflicts. Fragments of the next step along K are loaded while the
 * products of this one run. The fragments of int8 are those of bf16, with two numbers for one (PTX
 * ISA, "Matrix fragments for mma.m16n8k32" and ".m16n8k16"), which is what ldmatrix loads.
 *
 * Bytes: the codes, (rows + columns) K written and read again, C. Operations: 2 * rows * K *
 * columns in int8.
 */
#include <cuda_pipeline.h>
#include <stdlib.h>

#include "imma.h"
#include "imma_output.cuh"
#include "kernels/cuda/ampere.cuh"
#include "kernels/cuda/cuda_limits.h"
#include "kernels/cuda/device_memory.h"
#include "lut_cuda.h"

enum {
    SIDE = 128, /* of a tile of C */
    THREADS = 128,
    STAGES = 3,
    OPERAND_BYTES = SIDE * IMMA_K, /* of a stage */
    SHARED_BYTES = STAGES * 2 * OPERAND_BYTES,
    STEPS = IMMA_K / 32, /* of m16n8k32 in a stage */
    WARP_SIDE = 64,
    BAND = 8, /* tile rows that are walked together, for the L2 cache */
};

struct mma_product {
    const int8_t *a, *b; /* decoded, rows of `stride` */
    int64_t stride;
    struct imma_output out;
};

/* Row and column of this block's tile: bands of BAND tile rows, column by column in a band. */
static __device__ __forceinline__ struct imma_tile tile_of(const struct imma_output &out)
{
    int64_t down = (out.rows + SIDE - 1) / SIDE, across = (out.columns + SIDE - 1) / SIDE;
    int64_t band = blockIdx.x / (BAND * across), rest = blockIdx.x % (BAND * across);
    int64_t height = min(down - band * BAND, (int64_t)BAND);
    struct imma_tile tile;
    tile.row = (band * BAND + rest % height) * SIDE;
    tile.column = rest / height * SIDE;
    return tile;
}

/* Fetch 128 bytes of 128 rows. Beyond the last row it is fetched again; those sums are not written.
 */
static __device__ __forceinline__ void fetch(char *to, const int8_t *from, int64_t first,
                                             int64_t rows, int64_t stride)
{
    const int piece = threadIdx.x % 8;
#pragma unroll
    for (int i = 0; i < SIDE / (THREADS / 8); i++) {
        const int row = threadIdx.x / 8 + i * (THREADS / 8);
        const int8_t *at = from + min(first + row, rows - 1) * stride + piece * 16;
        __pipeline_memcpy_async(to + imma_offset(row, piece), at, 16);
    }
}

/* Four tiles of 8 rows by 16 bytes, at the addresses that the lanes have. */
static __device__ __forceinline__ void load(uint32_t r[4], const char *at)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"((uint32_t)__cvta_generic_to_shared(at))
                 : "memory");
}

static __device__ __forceinline__ void multiply(int32_t sum[4], const uint32_t a[4], uint32_t b0,
                                                uint32_t b1)
{
#ifdef AMPERE_CODE
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
    __trap();
#endif
}

/* A warp's operands for one step along K: rows of A in tiles of 16, rows of B in pairs of tiles of
 * 8, for each the lower and the upper half of the step. */
struct fragments {
    uint32_t a[WARP_SIDE / 16][4], b[WARP_SIDE / 16][4];

    __device__ __forceinline__ void load_step(const char *stage, int row, int column, int step)
    {
        const int lane = threadIdx.x % 32, eight = lane / 8;
#pragma unroll
        for (int i = 0; i < WARP_SIDE / 16; i++) {
            load(a[i], stage + imma_offset(row + 16 * i + eight % 2 * 8 + lane % 8,
                                           2 * step + eight / 2));
            load(b[i],
                 stage + OPERAND_BYTES +
                     imma_offset(column + 16 * i + eight / 2 * 8 + lane % 8, 2 * step + eight % 2));
        }
    }
};

static __global__ void __launch_bounds__(THREADS, 2)
    decode_mma(const __grid_constant__ struct mma_product product)
{
    extern __shared__ __align__(128) char memory[];
    const struct imma_tile tile = tile_of(product.out);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int row = warp / 2 * WARP_SIDE, column = warp % 2 * WARP_SIDE;
    const int stages = product.out.stages_of_k;

    auto fetch_stage = [&](int stage) {
        if (stage < stages) {
            char *to = memory + stage % STAGES * 2 * OPERAND_BYTES;
            int64_t at = (int64_t)stage * IMMA_K;
            fetch(to, product.a + at, tile.row, product.out.rows, product.stride);
            fetch(to + OPERAND_BYTES, product.b + at, tile.column, product.out.columns,
                  product.stride);
        }
        __pipeline_commit(); /* an empty group keeps the count of groups right */
    };

    int32_t sum[WARP_SIDE / 16][WARP_SIDE / 8][4] = {};
    struct fragments f[2];
#pragma unroll
    for (int stage = 0; stage < STAGES - 1; stage++)
        fetch_stage(stage);
    for (int stage = 0; stage < stages; stage++) {
        const char *at = memory + stage % STAGES * 2 * OPERAND_BYTES;
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads(); /* this stage has arrived for all, and nobody reads the one before */
        f[0].load_step(at, row, column, 0);
        fetch_stage(stage + STAGES - 1);
#pragma unroll
        for (int step = 0; step < STEPS; step++) {
            if (step < STEPS - 1) f[(step + 1) % 2].load_step(at, row, column, step + 1);
            const struct fragments &now = f[step % 2];
#pragma unroll
            for (int i = 0; i < WARP_SIDE / 16; i++)
#pragma unroll
                for (int j = 0; j < WARP_SIDE / 8; j++)
                    multiply(sum[i][j], now.a[i], now.b[j / 2][j % 2 * 2],
                             now.b[j / 2][j % 2 * 2 + 1]);
        }
    }

    /* Sums of m16n8: rows lane / 4 and that + 8, columns 2 (lane % 4) and the next. */
#pragma unroll
    for (int i = 0; i < WARP_SIDE / 16; i++)
#pragma unroll
        for (int j = 0; j < WARP_SIDE / 8; j++)
#pragma unroll
            for (int half = 0; half < 2; half++)
                imma_store(product.out, tile.row + row + 16 * i + 8 * half + lane / 4,
                           tile.column + column + 8 * j + lane % 4 * 2, sum[i][j][2 * half],
                           sum[i][j][2 * half + 1]);
}

/* -------------------------------------------------------------- variant -- */

struct mma_state {
    struct lut_points points;
    void *decoded; /* A, then B */
};

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[LUT_SCALED]) return "a scale per block does not factor out of the sum";
    return lut_decode_unsupported(shape);
}

static int64_t shared_bytes(const struct assay_shape *)
{
    return SHARED_BYTES;
}

static int setup(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    int64_t bytes = (geometry.rows + geometry.columns) * lut_decoded_stride(&geometry);
    struct mma_state *state = (struct mma_state *)calloc(1, sizeof *state);
    if (state == NULL) return assay_error("out of host memory");
    call->state = state;
    if (cuda_allow_shared((const void *)decode_mma, SHARED_BYTES)) return -1;
    if (lut_points_upload(call->shape, &state->points)) return -1;
    call->workspace_bytes += state->points.bytes;
    return device_memory(call, &state->decoded, bytes, "decoded operands");
}

static int launch(struct assay_call *call)
{
    const struct mma_state *state = (const struct mma_state *)call->state;
    struct lut_geometry geometry = lut_geometry(call->shape);
    int64_t stride = lut_decoded_stride(&geometry);
    int8_t *a = (int8_t *)state->decoded, *b = a + geometry.rows * stride;
    struct mma_product product = {.a = a, .b = b, .stride = stride, .out = imma_output_of(call)};
    if (lut_decode_operands(&geometry, call->buffer[LUT_A], call->buffer[LUT_B], &state->points, a,
                            call->stream))
        return -1;
    int64_t blocks = (geometry.rows + SIDE - 1) / SIDE * ((geometry.columns + SIDE - 1) / SIDE);
    decode_mma<<<(unsigned)blocks, THREADS, SHARED_BYTES, (cudaStream_t)call->stream>>>(product);
    return assay_launched();
}

static void teardown(struct assay_call *call)
{
    struct mma_state *state = (struct mma_state *)call->state;
    if (state == NULL) return;
    cudaFree(state->decoded);
    lut_points_release(&state->points);
    free(state);
}

extern const struct assay_variant lut_decode_mma = {
    .operation = "lut_matmul",
    .name = "decode_mma",
    .summary = "decoded to int8 in device memory, then mma.sync: tensor cores since Ampere",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .supports = supports,
    .shared_bytes = shared_bytes,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
    .model = lut_model,
};
ASSAY_REGISTER_VARIANT(lut_decode_mma);
