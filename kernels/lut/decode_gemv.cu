/*
 * decode_gemv.cu - for few rows: B stays in memory as M bits per entry (E8, q = 2) and is decoded
 * in registers, directly into operands of the tensor cores (gemv.cuh). For q = 4 the variant uses
 * decode_gemv_q4.cu.
 *
 * Bytes: B's codes once, M / 8 per entry. Operations: 2 K columns per row in int8. For each step a
 * lane does M table lookups and its share of one m16n8k32, for any number of rows up to 16.
 *
 * What bounds it: instructions. At M = 2 a lane issues 2.2 per entry, without loads and loop
 * (machine code: 561 for 32 blocks), for any number of rows. So one row is faster by table_gemv,
 * and 8 rows are faster here (docs/kernels-lut.md has the times).
 *
 * Lookups must not wait for each other. So the table of 256 codewords has 32 bits per codeword
 * (gemv.h) and exists 32 times in shared memory, one copy per bank: lane l reads copy l, and no
 * two lanes ever use the same bank.
 */
#include "gemv.cuh"
#include "gemv_q4.h"
#include "kernels/cuda/ampere.cuh"
#include "lut_cuda.h"

template <int M> struct q2_code {
    static constexpr int TABLE_BYTES = 256 * 32 * 4;
    static constexpr int SUMS = GEMV_GROUPS;

    static __device__ int bias()
    {
        return gemv_bias(M);
    }

    static __device__ int shift()
    {
        return 0;
    }

    /* Accumulators of m16n8: rows of A down, columns of B across. */
    static __device__ gemv_element place(int group, int i)
    {
        int lane = threadIdx.x % 32;
        return {.row = lane / 4 + i / 2 * 8, .column = group * 8 + lane % 4 * 2 + i % 2};
    }

    static __host__ __device__ int chunks(int64_t blocks)
    {
        return gemv_chunks(blocks, M);
    }

    static __host__ __device__ int64_t a_bytes(int rows, int64_t blocks)
    {
        return (int64_t)gemv_pairs(rows) * gemv_steps(blocks, M) * 64;
    }

    static __device__ void fill(const gemv_args &args, const gemv_shared &shared);
    static __device__ void multiply_chunk(const uint4 codes[GEMV_GROUPS], int chunk, int rows,
                                          const gemv_shared &shared, int32_t sum[SUMS][4]);
};

/* ------------------------------------------------------------- prologue -- */

/* Write to shared memory the table, A decoded, and the sums of A's rows. A is [step][pair of
 * rows][part], each an operand of 16 bytes: the first four entries of rows r and r + 8, then their
 * last four. Rows beyond A's last are zeros. */
template <int M>
__device__ __forceinline__ void q2_code<M>::fill(const gemv_args &args, const gemv_shared &shared)
{
    constexpr int EACH = 256 / GEMV_WARPS; /* codewords that a warp copies */
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint2 point = __ldg((const uint2 *)args.table + warp * EACH + lane % EACH);
    uint32_t *table = (uint32_t *)shared.table, *a = (uint32_t *)shared.a;
    uint32_t nibbles = gemv_nibbles((const int8_t *)&point);
#pragma unroll
    for (int i = 0; i < EACH; i++)
        table[(warp * EACH + i) * 32 + lane] = __shfl_sync(0xffffffffu, nibbles, i);
    __syncthreads();
    int pairs = gemv_pairs(args.rows), steps = gemv_steps(args.blocks, M);
    for (int row = 0; row < GEMV_ROWS; row++) {
        if (row % 8 >= pairs) continue;
        int sum = 0;
        for (int block = threadIdx.x; block < 4 * steps; block += GEMV_THREADS) {
            uint32_t low = 0, high = 0;
            if (row < args.rows && block < args.blocks) {
#pragma unroll
                for (int m = 0; m < M; m++) {
                    uint32_t index = lut_read(&args.a, row, (int64_t)block * M + m);
                    gemv_add(table[index * 32 + lane], m, &low, &high);
                }
                low = __vsub4(low, (uint32_t)bias() * 0x01010101u);
                high = __vsub4(high, (uint32_t)bias() * 0x01010101u);
            }
            struct gemv_place place = gemv_place(block, M);
            uint32_t *operand = a + ((place.step * pairs + row % 8) * 4 + place.part) * 4;
            operand[row / 8] = low;
            operand[2 + row / 8] = high;
            sum = __dp4a((int)low, 0x01010101, sum);
            sum = __dp4a((int)high, 0x01010101, sum);
        }
        gemv_add_sum(&shared.sums[row], sum);
    }
}

/* ------------------------------------------------------------ main loop -- */

/* m16n8k32: signed bytes of A times unsigned bytes of B. */
static __device__ __forceinline__ void multiply(int32_t sum[4], uint4 a, uint32_t low,
                                                uint32_t high)
{
#ifdef AMPERE_CODE
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(low), "r"(high));
#else
    __trap();
#endif
}

static __device__ __forceinline__ uint32_t word_of(uint4 codes, int i)
{
    return i == 0 ? codes.x : i == 1 ? codes.y : i == 2 ? codes.z : codes.w;
}

/* One chunk: 16 / M steps. Lanes whose rows are beyond A's last take the last pair of rows again;
 * their sums are never written. */
template <int M>
__device__ __forceinline__ void q2_code<M>::multiply_chunk(const uint4 codes[GEMV_GROUPS],
                                                           int chunk, int rows,
                                                           const gemv_shared &shared,
                                                           int32_t sum[SUMS][4])
{
    constexpr int STEPS = GEMV_LANE_BYTES / M;
    int lane = threadIdx.x % 32, pairs = gemv_pairs(rows);
    const uint4 *mine = (const uint4 *)shared.a + (int64_t)chunk * STEPS * pairs * 4 +
                        min(lane / 4, pairs - 1) * 4 + lane % 4;
#pragma unroll
    for (int step = 0; step < STEPS; step++) {
        uint4 operand = mine[step * pairs * 4];
#pragma unroll
        for (int group = 0; group < GEMV_GROUPS; group++) {
            uint32_t low = 0, high = 0;
#pragma unroll
            for (int m = 0; m < M; m++) {
                /* Byte `place` of the codes, times 128 bytes, and the lane's bank. */
                constexpr uint32_t ENTRY = 0xff << 7;
                int place = step * M + m;
                uint32_t word = word_of(codes[group], place / 4);
                int shift = 8 * (place % 4) - 7;
                uint32_t at = shift < 0 ? word << 7 : word >> (shift & 31);
                const char *entry = shared.table + ((at & ENTRY) | (uint32_t)lane * 4);
                gemv_add(*(const uint32_t *)entry, m, &low, &high);
            }
            multiply(sum[group], operand, low, high);
        }
    }
}

template <int M>
static __global__ void __launch_bounds__(GEMV_THREADS, 1)
    decode_gemv(const __grid_constant__ gemv_args args)
{
    extern __shared__ __align__(128) char memory[];
    gemv_tiles<q2_code<M>>(args, memory);
}

/* -------------------------------------------------------------- variant -- */

static struct gemv_choice choice_of(const struct lut_geometry *geometry)
{
    static const struct gemv_choice choices[] = {
        {decode_gemv<1>, gemv_shared_bytes<q2_code<1>>, GEMV_ROWS},
        {decode_gemv<2>, gemv_shared_bytes<q2_code<2>>, GEMV_ROWS},
        {decode_gemv<4>, gemv_shared_bytes<q2_code<4>>, GEMV_ROWS},
    };
    return choices[geometry->levels / 2];
}

static const char *supports(const struct assay_shape *shape)
{
    struct lut_geometry geometry = lut_geometry(shape);
    if (shape->value[LUT_LATTICE] != CODEBOOK_E8) return "E8 only";
    if (geometry.q == 3) return "an index of q = 3 is 13 bits: codes straddle words";
    if (geometry.rows > GEMV_ROWS) return "more than 16 rows";
    if (geometry.scaled) return "a scale per block does not factor out of the sum";
    if (geometry.q == 4) return gemv_q4_unsupported(shape);
    if (geometry.format != LUT_PACKED && geometry.format != LUT_INT8)
        return "indices of one byte only";
    if (geometry.stride_bytes % 16 != 0) return "rows of codes are not 16-byte aligned";
    return NULL;
}

/* For one row. */
static int64_t shared_bytes(const struct assay_shape *shape)
{
    struct lut_geometry geometry = lut_geometry(shape);
    return geometry.q == 4 ? gemv_q4_shared_bytes(shape)
                           : choice_of(&geometry).bytes(1, geometry.blocks);
}

static int setup(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    if (geometry.q == 4) return gemv_q4_setup(call);
    struct gemv_choice choice = choice_of(&geometry);
    return gemv_allow(&choice, &geometry) ? -1 : lut_points_setup(call);
}

static int launch(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    if (geometry.q == 4) return gemv_q4_launch(call);
    struct gemv_choice choice = choice_of(&geometry);
    const struct lut_points *points = (const struct lut_points *)call->state;
    return gemv_enqueue(&choice, &geometry, gemv_arguments(call, &geometry, points->left),
                        (cudaStream_t)call->stream);
}

static void teardown(struct assay_call *call)
{
    if (lut_geometry(call->shape).q == 4) {
        gemv_q4_teardown(call);
        return;
    }
    lut_points_teardown(call);
}

extern const struct assay_variant lut_decode_gemv = {
    .operation = "lut_matmul",
    .name = "decode_gemv",
    .summary = "few rows: codes from memory, decoded in registers, tensor cores",
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
ASSAY_REGISTER_VARIANT(lut_decode_gemv);
