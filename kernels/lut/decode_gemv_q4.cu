/*
 * decode_gemv_q4.cu - decode_gemv for E8 with q = 4: codes of 2 and 4 bits per entry, as
 * lattice_encode makes them. gemv.cuh walks over B, gemv_q4.h says how a codeword is decoded.
 *
 * Bytes: B's codes, M / 4 per entry, once for every 8 rows of A. Operations: 2 * K * columns per
 * row in int8.
 *
 * What bounds it, by count, for 8192 x 28672 (6950 blocks of 8 entries per lane of each SM):
 *
 *   shifts and logic  Their pipe takes one instruction every other cycle. M = 1 needs 13
 *                     instructions per block and lane (machine code: 414 for 32 blocks), 7.6 of
 *                     them in that pipe: 3.8 cycles of an SM per 256 entries, 27,000 cycles in
 *                     all, 14 us at 1.98 GHz. M = 2 needs 34, 20 of them in that pipe: 35 us.
 *   shared memory     The address of a lookup is as good as random: of 32 lanes 3.5 use the
 *                     fullest bank, so a lookup takes 3.5 cycles. A's operands take half a cycle.
 *   device memory     58.7 MB take 12.5 us at 4.70 TB/s.
 *
 * An H200 takes 2.6 (M = 1) and 1.9 times (M = 2) the largest of these for one row: 35.3 and 66.7
 * us. Predicted were 26 to 32 and 55 to 65 us, from the share of its own count that q = 2 reaches,
 * and 5 us for the table, A and the last tile. What else it waits for is not known.
 *
 * The table takes 128 KiB of shared memory and leaves space for 8 rows of A at K = 8192 on an H200;
 * more rows take more launches. Where a block has less than that, the table stays in device memory.
 * One table per row of A, as in table_gemv, does not pay: it would hold 65,536 products per block,
 * for 28,672 columns.
 */
#include <cuda_pipeline.h>
#include <stdlib.h>

#include "gemv.cuh"
#include "gemv_q4.h"
#include "kernels/cuda/ampere.cuh"
#include "kernels/cuda/device_memory.h"

/* SHARED: the table is in shared memory; otherwise look-ups go to L1 and L2. */
template <int M, bool SHARED> struct q4_code {
    static constexpr int TABLE_BYTES = SHARED ? GEMV_Q4_TABLE_BYTES : 0;
    static constexpr int SUMS = GEMV_GROUPS / 2;
    static constexpr int QUADS = 2 / M; /* a chunk */

    static __device__ int bias()
    {
        return gemv_q4_bias(M);
    }

    static __device__ int shift()
    {
        return gemv_q4_shift(M);
    }

    /* Accumulators of m16n8: columns of B down, rows of A across. */
    static __device__ gemv_element place(int two, int i)
    {
        int lane = threadIdx.x % 32;
        return {.row = lane % 4 * 2 + i % 2, .column = (2 * two + i / 2) * 8 + lane / 4};
    }

    static __host__ __device__ int chunks(int64_t blocks)
    {
        return gemv_q4_chunks(blocks, M);
    }

    static __host__ __device__ int64_t a_bytes(int rows, int64_t blocks)
    {
        return gemv_q4_a_bytes(blocks, M, rows);
    }

    static __device__ void fill(const gemv_args &args, const gemv_shared &shared);
    static __device__ void multiply_chunk(const uint4 codes[GEMV_GROUPS], int chunk, int rows,
                                          const gemv_shared &shared, int32_t sum[SUMS][4]);
};

/* ------------------------------------------------------------- prologue -- */

/* Turn a block of A into the factors that B is multiplied by. Returns minus the sum of its entries.
 */
template <int M>
static __device__ __forceinline__ int fill_block(const gemv_args &args, const uint16_t *table,
                                                 uint16_t *a, int row, int block)
{
    uint32_t word[4] = {};
    uint16_t negative[4], factors[4];
    int sum = 0;
#pragma unroll
    for (int m = 0; m < M; m++) {
        uint32_t index = lut_read(&args.a, row, (int64_t)block * M + m);
        gemv_q4_add(index, table[index], M, m, word);
    }
#pragma unroll
    for (int j = 0; j < 4; j++) {
        negative[j] = gemv_q4_negative(word[j], M, j);
        sum = __dp4a((int)negative[j], 0x0101, sum);
    }
    gemv_q4_factors(negative, M, factors);
#pragma unroll
    for (int j = 0; j < 4; j++)
        a[gemv_q4_element(gemv_q4_place(block, M), j, args.rows, row)] = factors[j];
    return sum;
}

template <int M, bool SHARED>
__device__ __forceinline__ void q4_code<M, SHARED>::fill(const gemv_args &args,
                                                         const gemv_shared &shared)
{
    const uint16_t *table = (const uint16_t *)shared.table;
    uint16_t *a = (uint16_t *)shared.a;
    for (int i = threadIdx.x; i < TABLE_BYTES / 16; i += GEMV_THREADS)
        __pipeline_memcpy_async((uint4 *)shared.table + i, (const uint4 *)args.table + i, 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    int blocks = chunks(args.blocks) * QUADS * 16;
    for (int row = 0; row < args.rows; row++) {
        int sum = 0;
        for (int block = threadIdx.x; block < blocks; block += GEMV_THREADS)
            if (block < args.blocks)
                sum += fill_block<M>(args, table, a, row, block);
            else
                for (int j = 0; j < 4; j++)
                    a[gemv_q4_element(gemv_q4_place(block, M), j, args.rows, row)] = 0;
        gemv_add_sum(&shared.sums[row], sum);
    }
}

/* ------------------------------------------------------------ main loop -- */

static __device__ __forceinline__ uint32_t entries_of(const char *table, uint32_t indices)
{
    uint32_t low = *(const uint16_t *)(table + (indices << 1 & 0x1fffe));
    uint32_t high = *(const uint16_t *)(table + (indices >> 15 & 0x1fffe));
    return __byte_perm(low, high, 0x5410);
}

/* Two blocks of B: word j holds their entries j and j + 4. */
template <int M>
static __device__ __forceinline__ void decode_pair(const char *table, uint4 codes, int pair,
                                                   uint32_t out[4])
{
    const uint32_t words[4] = {codes.x, codes.y, codes.z, codes.w};
#pragma unroll
    for (int j = 0; j < 4; j++)
        out[j] = 0;
#pragma unroll
    for (int m = 0; m < M; m++) {
        uint32_t indices = gemv_q4_indices(words, M, m, pair);
        gemv_q4_add(indices, entries_of(table, indices), M, m, out);
    }
}

/* m16n8k32: unsigned bytes of 16 columns of B times signed bytes of 8 rows of A. */
static __device__ __forceinline__ void multiply(int32_t sum[4], uint4 b, uint2 a)
{
#ifdef AMPERE_CODE
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(b.x), "r"(b.y), "r"(b.z), "r"(b.w), "r"(a.x), "r"(a.y));
#else
    __trap();
#endif
}

/* One chunk. Lanes whose rows are beyond A's last take the last row again; their sums are never
 * written. */
template <int M, bool SHARED>
__device__ __forceinline__ void q4_code<M, SHARED>::multiply_chunk(const uint4 codes[GEMV_GROUPS],
                                                                   int chunk, int rows,
                                                                   const gemv_shared &shared,
                                                                   int32_t sum[SUMS][4])
{
    int lane = threadIdx.x % 32;
    const uint2 *mine = (const uint2 *)shared.a + (int64_t)chunk * QUADS * 4 * rows * 4 +
                        min(lane / 4, rows - 1) * 4 + lane % 4;
#pragma unroll
    for (int quad = 0; quad < QUADS; quad++) {
        uint2 a[4];
#pragma unroll
        for (int j = 0; j < 4; j++)
            a[j] = mine[(quad * 4 + j) * rows * 4];
#pragma unroll
        for (int two = 0; two < SUMS; two++) {
            uint32_t low[2][4], high[2][4];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                decode_pair<M>(shared.table, codes[2 * two + i], 2 * quad, low[i]);
                decode_pair<M>(shared.table, codes[2 * two + i], 2 * quad + 1, high[i]);
            }
#pragma unroll
            for (int j = 0; j < 4; j++)
                multiply(sum[two], make_uint4(low[0][j], low[1][j], high[0][j], high[1][j]), a[j]);
        }
    }
}

template <int M, bool SHARED>
static __global__ void __launch_bounds__(GEMV_THREADS, 1)
    decode_gemv_q4(const __grid_constant__ gemv_args args)
{
    extern __shared__ __align__(128) char memory[];
    gemv_tiles<q4_code<M, SHARED>>(args, memory);
}

/* ---------------------------------------------- what decode_gemv.cu calls -- */

template <int M, bool SHARED> static constexpr struct gemv_choice choice_with(void)
{
    return {decode_gemv_q4<M, SHARED>, gemv_shared_bytes<q4_code<M, SHARED>>, GEMV_Q4_ROWS};
}

static struct gemv_choice choice_of(const struct lut_geometry *geometry, bool shared)
{
    static const struct gemv_choice choices[2][2] = {
        {choice_with<1, false>(), choice_with<1, true>()},
        {choice_with<2, false>(), choice_with<2, true>()}};
    return choices[geometry->levels - 1][shared];
}

/* The kernel with its table in shared memory, if a row of A fits beside it; else the other one. */
static struct gemv_choice choice_here(const struct lut_geometry *geometry)
{
    struct gemv_choice choice = choice_of(geometry, true);
    bool fits = choice.bytes(1, geometry->blocks) <= assay_card()->shared_bytes;
    return fits ? choice : choice_of(geometry, false);
}

int64_t gemv_q4_shared_bytes(const struct assay_shape *shape)
{
    struct lut_geometry geometry = lut_geometry(shape);
    return choice_of(&geometry, false).bytes(1, geometry.blocks);
}

const char *gemv_q4_unsupported(const struct assay_shape *shape)
{
    struct lut_geometry geometry = lut_geometry(shape);
    if (geometry.levels > GEMV_Q4_LEVELS) return "coordinates of more than two levels exceed int8";
    if (geometry.format != LUT_PACKED) return "packed indices only";
    return NULL;
}

/* After a failure, too, the caller frees *device. */
static int upload(const struct codebook *codebook, void **device)
{
    uint16_t *table = (uint16_t *)malloc(GEMV_Q4_TABLE_BYTES);
    if (table == NULL) return assay_error("out of host memory for a codebook");
    for (int64_t index = 0; index < GEMV_Q4_CODEWORDS; index++)
        table[index] = gemv_q4_entry(codebook->left + 8 * index);
    int status = assay_cuda(cudaMalloc(device, GEMV_Q4_TABLE_BYTES), "codebook");
    if (status == 0) status = device_upload(*device, table, GEMV_Q4_TABLE_BYTES, "codebook");
    free(table);
    return status;
}

int gemv_q4_setup(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    struct gemv_choice choice = choice_here(&geometry);
    const struct codebook *codebook = lut_codebook(call->shape);
    if (codebook == NULL || upload(codebook, &call->state)) return -1;
    call->workspace_bytes += GEMV_Q4_TABLE_BYTES;
    return gemv_allow(&choice, &geometry);
}

int gemv_q4_launch(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    struct gemv_choice choice = choice_here(&geometry);
    return gemv_enqueue(&choice, &geometry, gemv_arguments(call, &geometry, call->state),
                        (cudaStream_t)call->stream);
}

void gemv_q4_teardown(struct assay_call *call)
{
    cudaFree(call->state);
}
