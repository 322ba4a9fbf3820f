/*
 * decode_imma.cu - codes of E8 with q = 2, 256 codewords of 8 bytes, are decoded to int8 in shared
 * memory and multiplied by Hopper's tensor cores (wgmma). Nothing decoded is ever in device memory.
 *
 * Operations: 2 * rows * K * columns in int8. Bytes: the codes, M / 8 per entry, once for each row
 * of tiles and each column of tiles: a codeword is decoded once per tile, those of A columns / 256
 * times, those of B rows / 128 times; C.
 *
 * Warp specialization: a block has three warpgroups. One decodes, each thread one row of A and two
 * of B; two multiply. A warp that did both could not decode while it waits, because starting a
 * product waits until the last one is done. Blocks are persistent: while the sums of one tile are
 * written, the next tile's stages are decoded.
 *
 * The table exists 16 times in shared memory, once per pair of banks, and once per level with the
 * level's weight. So a lookup of 8 bytes never waits, and a block of M levels takes M lookups and
 * M - 1 additions of bytes. For these additions each byte has a bias of 128 / M, together 128,
 * which one exclusive-or removes.
 *
 * What bounds it: shared memory. For a stage that takes the tensor cores 1024 cycles, their reads
 * take 640, the lookups 384 M and the stores of decoded operands 384: 1408 cycles at M = 1 and
 * 1792 at M = 2, so at best 73 % and 57 % of the tensor cores' peak. An H200 reaches 44 % and 31 %
 * (8192^3); what takes the rest is not known.
 */
#include "imma.cuh"
#include "kernels/cuda/cuda_limits.h"

enum {
    COPIES = 16,
    TABLE_BYTES = 256 * COPIES * 8, /* per level */
    ITEMS = 3,                      /* rows of a stage per decoding thread: A, B, B */
    BLOCKS = IMMA_K / 8,            /* blocks of a row per stage */
};

struct decoding {
    struct lut_codes a, b;
    const int8_t *points;
    int tiles;
};

template <int M> struct fused {
    /* The tables of four levels leave space for two buffers only. */
    static constexpr int STAGES = M <= 2 ? 3 : 2;
    static constexpr int SHARED_BYTES = IMMA_ALIGN + STAGES * IMMA_STAGE_BYTES + M * TABLE_BYTES;
};

#ifdef HOPPER_CODE

template <int M>
static __device__ __forceinline__ void fill_tables(const int8_t *points, uint2 *tables)
{
    constexpr int BIAS = M == 1 ? 0 : 128 / M;
    for (int i = threadIdx.x; i < M * 256 * COPIES; i += IMMA_THREADS) {
        const int8_t *point = points + i / COPIES % 256 * 8;
        int level = i / (256 * COPIES);
        uint32_t word[2] = {};
        for (int e = 0; e < 8; e++)
            word[e / 4] |= (uint32_t)(((point[e] << level) + BIAS) & 0xff) << 8 * (e % 4);
        tables[i] = make_uint2(word[0], word[1]);
    }
}

/* The codes of one row for a stage; beyond the row's end the index 0, which is the point 0. */
template <int M>
static __device__ __forceinline__ void load_codes(const char *row, int64_t row_bytes, int stage,
                                                  uint32_t codes[4 * M])
{
    int64_t at = (int64_t)stage * BLOCKS * M;
#pragma unroll
    for (int i = 0; i < M; i++) {
        uint4 four = make_uint4(0, 0, 0, 0);
        if (at + 16 * i < row_bytes) four = __ldg((const uint4 *)(row + at) + i);
        codes[4 * i] = four.x;
        codes[4 * i + 1] = four.y;
        codes[4 * i + 2] = four.z;
        codes[4 * i + 3] = four.w;
    }
}

/* Block `block` of a row's 16: 8 bytes. */
template <int M>
static __device__ __forceinline__ uint2 decode(const char *table, const uint32_t codes[4 * M],
                                               int block)
{
    uint2 sum = make_uint2(0, 0);
#pragma unroll
    for (int m = 0; m < M; m++) {
        int place = block * M + m, shift = 8 * (place % 4) - 7;
        uint32_t word = codes[place / 4];
        uint32_t at = (shift < 0 ? word << 7 : word >> (shift & 31)) & 0xff << 7;
        uint2 entry = *(const uint2 *)(table + m * TABLE_BYTES + at);
        sum.x += entry.x;
        sum.y += entry.y;
    }
    if (M > 1) {
        sum.x ^= 0x80808080u;
        sum.y ^= 0x80808080u;
    }
    return sum;
}

/* Decode a row of a stage. All lookups come before the first store: the compiler cannot know that
 * no store changes the table, and would otherwise make each lookup wait for the store before. */
template <int M>
static __device__ __forceinline__ void decode_row(const char *table, const uint32_t codes[4 * M],
                                                  char *buffer, int row)
{
    uint2 blocks[BLOCKS];
#pragma unroll
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = decode<M>(table, codes, i);
#pragma unroll
    for (int i = 0; i < BLOCKS; i += 2)
        *(uint4 *)(buffer + imma_offset(row, i / 2)) =
            make_uint4(blocks[i].x, blocks[i].y, blocks[i + 1].x, blocks[i + 1].y);
}

/* The decoders: fill the ring with every tile's stages. The codes of a stage are loaded to
 * registers while the stage before is decoded. */
template <int M>
static __device__ void produce(const struct decoding &args, const struct imma_output &out,
                               char *ring, const char *tables, uint32_t full, uint32_t empty)
{
    const char *table = tables + threadIdx.x % COPIES * 8;
    struct imma_cursor at = {0, 1}; /* the first round finds every stage free */
    for (int index = blockIdx.x; index < args.tiles; index += gridDim.x) {
        struct imma_tile tile = imma_tile_of(index, out.rows, out.columns, IMMA_ROWS);
        const char *source[ITEMS];
        uint32_t next[ITEMS][4 * M];
        source[0] = (const char *)args.a.data +
                    min(tile.row + threadIdx.x, args.a.rows - 1) * args.a.stride_bytes;
        for (int item = 1; item < ITEMS; item++)
            source[item] =
                (const char *)args.b.data +
                min(tile.column + (item - 1) * IMMA_GROUP + threadIdx.x, args.b.rows - 1) *
                    args.b.stride_bytes;
#pragma unroll
        for (int item = 0; item < ITEMS; item++)
            load_codes<M>(source[item], args.a.stride_bytes, 0, next[item]);
        for (int stage = 0; stage < out.stages_of_k; stage++) {
            char *buffer = ring + at.stage * IMMA_STAGE_BYTES;
            uint32_t codes[ITEMS][4 * M];
#pragma unroll
            for (int i = 0; i < ITEMS * 4 * M; i++)
                codes[i / (4 * M)][i % (4 * M)] = next[i / (4 * M)][i % (4 * M)];
#pragma unroll
            for (int item = 0; item < ITEMS; item++)
                load_codes<M>(source[item], args.a.stride_bytes, stage + 1, next[item]);
            hopper_barrier_wait(empty + 8 * at.stage, at.parity);
#pragma unroll
            for (int item = 0; item < ITEMS; item++)
                decode_row<M>(table, codes[item], buffer, item * IMMA_GROUP + threadIdx.x);
            hopper_store_fence();
            hopper_barrier_arrive(full + 8 * at.stage);
            imma_advance<fused<M>::STAGES>(at);
        }
    }
}

/* A warpgroup that multiplies: the sums of every tile of this block. */
template <int M>
static __device__ void consume(const struct decoding &args, const struct imma_output &out,
                               const char *ring, uint32_t full, uint32_t empty)
{
    const int group = threadIdx.x / IMMA_GROUP - 1, lane = threadIdx.x % 32;
    struct imma_cursor at = {0, 0};
    for (int index = blockIdx.x; index < args.tiles; index += gridDim.x) {
        struct imma_tile tile = imma_tile_of(index, out.rows, out.columns, IMMA_ROWS);
        int32_t sum[128];
        imma_tile_sums<fused<M>::STAGES, 1>(sum, out.stages_of_k, ring, group, full, empty, at,
                                            lane);
        tile.row += (threadIdx.x - IMMA_GROUP) / 32 * 16;
        imma_finish(out, tile, sum);
    }
}

#endif

/* Skipped where there is no code for sm_90a, so the trap is never reached. */
template <int M>
static __global__ void __launch_bounds__(IMMA_THREADS, 1)
    imma_fused(const __grid_constant__ struct decoding args,
               const __grid_constant__ struct imma_output out)
{
#ifdef HOPPER_CODE
    constexpr int STAGES = fused<M>::STAGES;
    extern __shared__ char fused_memory[];
    __shared__ uint64_t barriers[2 * STAGES];
    char *ring =
        fused_memory + (IMMA_ALIGN - hopper_shared(fused_memory) % IMMA_ALIGN) % IMMA_ALIGN;
    char *tables = ring + STAGES * IMMA_STAGE_BYTES;
    const uint32_t full = hopper_shared(barriers), empty = full + 8 * STAGES;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; stage++) {
            hopper_barrier_init(full + 8 * stage, IMMA_GROUP);
            hopper_barrier_init(empty + 8 * stage, IMMA_WARPS);
        }
        hopper_barrier_publish();
    }
    fill_tables<M>(args.points, (uint2 *)tables);
    __syncthreads();
    if (threadIdx.x < IMMA_GROUP)
        produce<M>(args, out, ring, tables, full, empty);
    else
        consume<M>(args, out, ring, full, empty);
#else
    __trap();
#endif
}

/* ---------------------------------------------------------------- variant -- */

static const char *supports(const struct assay_shape *shape)
{
    struct lut_geometry geometry = lut_geometry(shape);
    if (shape->value[LUT_LATTICE] != CODEBOOK_E8 || geometry.q != 2)
        return "E8 with q = 2 only: other codebooks go through decode_imma_staged";
    if (geometry.scaled) return "a scale per block does not factor out of the sum";
    if (geometry.format != LUT_PACKED && geometry.format != LUT_INT8)
        return "indices of one byte only";
    if (geometry.stride_bytes % 16 != 0) return "rows of codes are not 16-byte aligned";
    return NULL;
}

template <int M> static int prepare()
{
    return cuda_allow_shared((const void *)imma_fused<M>, fused<M>::SHARED_BYTES);
}

template <int M>
static int enqueue(const struct assay_call *call, const struct lut_geometry *geometry)
{
    const int processors = assay_card()->multiprocessors;
    struct decoding args = {.a = lut_codes(geometry, call->buffer[LUT_A], geometry->rows),
                            .b = lut_codes(geometry, call->buffer[LUT_B], geometry->columns),
                            .points = ((const struct lut_points *)call->state)->left};
    const struct imma_output out = imma_output_of(call);
    args.tiles = (int)imma_tiles(out.rows, out.columns, IMMA_ROWS);
    int blocks = args.tiles < processors ? args.tiles : processors;
    imma_fused<M>
        <<<blocks, IMMA_THREADS, fused<M>::SHARED_BYTES, (cudaStream_t)call->stream>>>(args, out);
    return assay_launched();
}

static int setup(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    int failed = geometry.levels == 1   ? prepare<1>()
                 : geometry.levels == 2 ? prepare<2>()
                                        : prepare<4>();
    return failed ? -1 : lut_points_setup(call);
}

static int launch(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    if (geometry.levels == 1) return enqueue<1>(call, &geometry);
    if (geometry.levels == 2) return enqueue<2>(call, &geometry);
    return enqueue<4>(call, &geometry);
}

extern const struct assay_variant lut_decode_imma = {
    .operation = "lut_matmul",
    .name = "decode_imma",
    .summary = "decoded to int8 in shared memory, wgmma",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 90,
    .max_sm = 90,
    .arch_specific = true,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = lut_points_teardown,
    .model = lut_model,
};
ASSAY_REGISTER_VARIANT(lut_decode_imma);
