/*
 * decode_gemv_bits.cu - for few rows and E8 with q = 4: B's codes and their table's entries are
 * multiplied as they are, as bits, by bit planes of A (bits.h). Nothing is shifted or masked but an
 * address, so the lookups are what is left. Setup gives B's codes other numbers and an order in
 * which lanes read them, which is not timed; they stay as many bytes but for filling up.
 *
 * A row takes M tiles of 8 planes in shared memory, 4 M KiB per 1024 entries of K, beside the table
 * of 128 KiB. Where two rows do not fit, each takes a launch, which reads B again. For more rows
 * decode_gemv is faster: there a product takes 8 rows, here 8 planes of one.
 *
 * Bytes: B's codes, M / 4 per entry, once for each launch. Operations: 2 * K * columns per row in
 * int8.
 *
 * What bounds it, by count, for 8192 x 28672 on an H200, where an SM has 6950 M lookups of a warp:
 *
 *   shared memory  A lookup is at an address as good as random: 3.5 cycles for 32 lanes. Codes on
 *                  their way take one more, planes a quarter: 32,900 M cycles, 19 M us at 1.7 GHz.
 *   device memory  58.7 M MB take 12.5 M us at 4.70 TB/s.
 *   shifts, logic  Their pipe takes an instruction every other cycle, 1.5 per lookup: 3 M us.
 *   tensor cores   A product every 9.4 cycles, M for each row and 4 lookups: 2.4 M^2 us.
 *
 * Measured (28 November 2026): 25.6 us (M = 1) and 50.0 (M = 2) for one row. The table's way to
 * shared memory comes first, 1.5 us.
 */
#include <stdlib.h>

#include "bits.cuh"
#include "kernels/cuda/cuda_limits.h"
#include "kernels/cuda/device_memory.h"

enum { MOST_ROWS = 2 };

struct gemv_bits_args {
    bit_args bits;
    struct lut_codes a;
    const int8_t *points;
    float *c;
    int64_t columns, row_columns, blocks; /* columns here, and of C */
};

/* Block number `block` of a row of A, decoded; returns the sum of its entries. */
template <int M>
static __device__ __forceinline__ int decode_block(const gemv_bits_args &args, int row, int block,
                                                   int32_t x[8])
{
    int sum = 0;
#pragma unroll
    for (int i = 0; i < 8; i++)
        x[i] = 0;
    if (block >= args.blocks) return 0;
#pragma unroll
    for (int m = 0; m < M; m++) {
        uint32_t index = lut_read(&args.a, row, (int64_t)block * M + m);
        uint2 point = __ldg((const uint2 *)args.points + index);
#pragma unroll
        for (int i = 0; i < 8; i++) {
            int32_t z = (int8_t)((i < 4 ? point.x : point.y) >> 8 * (i % 4)) << 2 * m;
            x[i] += z;
            sum += z;
        }
    }
    return sum;
}

/* Planes of a row of A, and the sum of its entries. */
template <int M>
static __device__ __forceinline__ void fill_row(const gemv_bits_args &args, int row, int planes,
                                                uint2 *out, int *total)
{
    int sum = 0;
    for (int pair = threadIdx.x; pair < (int)args.bits.chunks * BIT_CHUNK / M;
         pair += BIT_THREADS) {
        int32_t x[2][8];
#pragma unroll
        for (int half = 0; half < 2; half++)
            sum += decode_block<M>(args, row, 2 * pair + half, x[half]);
        bit_write<M>(out, planes, row * 8 * M, pair, x);
    }
    atomicAdd(total, sum);
}

template <int M, int ROWS, int WIDE>
static __global__ void __launch_bounds__(BIT_THREADS, 1)
    decode_gemv_bits(const __grid_constant__ gemv_bits_args args)
{
    extern __shared__ __align__(128) char memory[];
    const int64_t each = bit_tiles_each(args.bits.tiles, WIDE, gridDim.x);
    bit_shared shared;
    shared.table = memory;
    shared.planes = (uint2 *)(memory + BIT_TABLE_BYTES);
    shared.sums = (int *)((char *)shared.planes + ROWS * M * bit_planes_bytes(args.bits.chunks, M));
    int *totals = shared.sums + each * M * ROWS * BIT_TILE;
    if (threadIdx.x < ROWS) totals[threadIdx.x] = 0;
    __syncthreads();
    bit_walk<M, ROWS, WIDE>(args.bits, shared, [&] {
#pragma unroll 1
        for (int row = 0; row < ROWS; row++)
            fill_row<M>(args, row, ROWS * 8 * M, shared.planes, totals + row);
    });
    for (int at = threadIdx.x; at < each * ROWS * BIT_TILE; at += BIT_THREADS) {
        int64_t tile = bit_tile_of(at / (ROWS * BIT_TILE), WIDE);
        int64_t column = tile * BIT_TILE + at % BIT_TILE;
        if (column >= args.columns) continue;
        int row = at / BIT_TILE % ROWS, sum = -6 * (M == 1 ? 1 : 5) * totals[row];
#pragma unroll
        for (int m = 0; m < M; m++) {
            int tile_level = at / (ROWS * BIT_TILE) * M + m;
            sum += shared.sums[(tile_level * ROWS + row) * BIT_TILE + at % BIT_TILE] << 2 * m;
        }
        args.c[row * args.row_columns + column] = (float)(sum >> 2); /* E8: / 4 */
    }
}

/* ---------------------------------------------------------------- setting up -- */

/* The table of entries and B's codes with new numbers in the walk's order, on the device. */
struct bit_codes {
    void *table, *codes;
};

static int64_t bit_tiles(const struct lut_geometry *geometry)
{
    return (geometry->columns + BIT_TILE - 1) / BIT_TILE;
}

enum { PACK_THREADS = 256 };

static __global__ void __launch_bounds__(PACK_THREADS)
    pack_bits(struct lut_geometry geometry, struct lut_codes b, const uint16_t *__restrict__ number,
              int64_t chunks, int64_t words, uint32_t *__restrict__ out)
{
    for (int64_t at = (int64_t)blockIdx.x * PACK_THREADS + threadIdx.x; at < words;
         at += (int64_t)gridDim.x * PACK_THREADS) {
        struct bit_place place = bit_place(at, chunks, geometry.levels);
        uint32_t word = 0;
        for (int half = 0; half < 2; half++) {
            int64_t block = place.block + half, index = 0;
            if (block < geometry.blocks && place.column < geometry.columns)
                index = lut_read(&b, place.column, block * geometry.levels + place.level);
            word |= (uint32_t)number[index] << 16 * half;
        }
        out[at] = word;
    }
}

static int allocate(struct assay_call *call, void **out, int64_t bytes, const char *what)
{
    if (assay_cuda(cudaMalloc(out, (size_t)bytes), what)) return -1;
    call->workspace_bytes += bytes;
    return 0;
}

static int pack(struct assay_call *call, const struct lut_geometry *geometry,
                const uint16_t *numbers, struct bit_codes *out)
{
    cudaStream_t stream = (cudaStream_t)call->stream;
    int64_t chunks = bit_chunks(geometry), words = bit_tiles(geometry) * chunks * BIT_TILE_WORDS;
    int64_t blocks = (words + PACK_THREADS - 1) / PACK_THREADS;
    if (allocate(call, &out->codes, 4 * words, "codes in order")) return -1;
    pack_bits<<<(unsigned)(blocks < 1 << 16 ? blocks : 1 << 16), PACK_THREADS, 0, stream>>>(
        *geometry, lut_codes(geometry, call->buffer[LUT_B], geometry->columns), numbers, chunks,
        words, (uint32_t *)out->codes);
    if (assay_launched()) return -1;
    return assay_cuda(cudaStreamSynchronize(stream), "ordering codes");
}

/* In setup. After a failure, too, the caller releases. */
static int prepare(struct assay_call *call, const struct lut_geometry *geometry,
                   struct bit_codes *out)
{
    const struct codebook *codebook = lut_codebook(call->shape);
    uint16_t *host = (uint16_t *)malloc(3 * BIT_TABLE_BYTES), *numbers = NULL;
    if (codebook == NULL || host == NULL) {
        free(host);
        return assay_error("out of host memory for a codebook");
    }
    uint16_t *entries = host + BIT_CODES, *counts = host + 2 * BIT_CODES;
    int status = bit_numbers(codebook->left, host, entries, counts);
    if (status == 0) status = allocate(call, &out->table, BIT_TABLE_BYTES, "table");
    if (status == 0) status = device_upload(out->table, entries, BIT_TABLE_BYTES, "table");
    if (status == 0) status = assay_cuda(cudaMalloc((void **)&numbers, BIT_TABLE_BYTES), "numbers");
    if (status == 0) status = device_upload(numbers, host, BIT_TABLE_BYTES, "table");
    if (status == 0) status = pack(call, geometry, numbers, out);
    cudaFree(numbers);
    free(host);
    return status;
}

/* --------------------------------------------------------------- variant -- */

typedef void gemv_bits_kernel(gemv_bits_args);

static gemv_bits_kernel *kernel_of(int levels, int rows, int wide)
{
    static gemv_bits_kernel *const kernels[3][MOST_ROWS] = {
        {decode_gemv_bits<1, 1, 1>, decode_gemv_bits<1, 2, 1>},
        {decode_gemv_bits<1, 1, 2>, decode_gemv_bits<1, 2, 2>},
        {decode_gemv_bits<2, 1, 1>, decode_gemv_bits<2, 2, 1>}};
    return kernels[levels == 1 ? wide - 1 : 2][rows - 1];
}

/* For so many rows and tiles per block. */
static int64_t bytes_of(const struct lut_geometry *geometry, int64_t rows, int64_t tiles)
{
    int levels = geometry->levels;
    return BIT_TABLE_BYTES + rows * (levels * bit_planes_bytes(bit_chunks(geometry), levels) +
                                     4 * BIT_TILE * levels * tiles + 4);
}

/* What a launch takes: rows, and tiles of columns. */
struct portion {
    int rows, wide;
    int64_t tiles, blocks, bytes;
};

/* Two tiles at a time read planes once for both, as two levels do, if that leaves no more to the
 * block that has most. */
static struct portion portion_of(const struct lut_geometry *geometry)
{
    const struct assay_card *card = assay_card();
    struct portion portion = {.rows = (int)geometry->rows,
                              .wide = 1,
                              .tiles = bit_tiles(geometry),
                              .blocks = card->multiprocessors};
    while (portion.rows > 1 && bytes_of(geometry, portion.rows, 1) > card->shared_bytes)
        portion.rows--;
    int64_t space = card->shared_bytes - bytes_of(geometry, portion.rows, 0);
    int64_t most = space / (4 * BIT_TILE * geometry->levels * portion.rows) * portion.blocks;
    if (portion.tiles > most) portion.tiles = most;
    if (portion.blocks > portion.tiles) portion.blocks = portion.tiles;
    int64_t each = bit_tiles_each(portion.tiles, 1, portion.blocks);
    if (geometry->levels == 1 && bit_tiles_each(portion.tiles, 2, portion.blocks) == each)
        portion.wide = 2;
    portion.bytes = bytes_of(geometry, portion.rows, each);
    return portion;
}

static const char *supports(const struct assay_shape *shape)
{
    struct lut_geometry geometry = lut_geometry(shape);
    if (shape->value[LUT_LATTICE] != CODEBOOK_E8 || geometry.q != 4) return "E8 with q = 4 only";
    if (geometry.levels > 2) return "planes of more than two levels do not fit shared memory";
    if (geometry.rows > MOST_ROWS) return "more than two rows: decode_gemv takes them";
    if (geometry.scaled) return "a scale per block does not factor out of the sum";
    if (geometry.format != LUT_PACKED) return "packed indices only";
    return NULL;
}

/* For one row. */
static int64_t shared_bytes(const struct assay_shape *shape)
{
    struct lut_geometry geometry = lut_geometry(shape);
    return bytes_of(&geometry, 1, 1);
}

struct state {
    struct lut_points points; /* first, for lut_points_teardown */
    struct bit_codes codes;
};

static int setup(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    struct portion portion = portion_of(&geometry);
    struct state *state = (struct state *)calloc(1, sizeof *state);
    if (state == NULL) return assay_error("out of host memory");
    call->state = state;
    for (int rows = 1; rows <= portion.rows; rows++)
        if (cuda_allow_shared((const void *)kernel_of(geometry.levels, rows, portion.wide),
                              portion.bytes))
            return -1;
    if (lut_points_upload(call->shape, &state->points) || prepare(call, &geometry, &state->codes))
        return -1;
    call->workspace_bytes += state->points.bytes;
    return 0;
}

static int launch(struct assay_call *call)
{
    const struct state *state = (const struct state *)call->state;
    struct lut_geometry geometry = lut_geometry(call->shape);
    const struct portion portion = portion_of(&geometry);
    const int64_t tiles = bit_tiles(&geometry), chunks = bit_chunks(&geometry);
    for (int64_t row = 0; row < geometry.rows; row += portion.rows)
        for (int64_t tile = 0; tile < tiles; tile += portion.tiles) {
            int rows =
                (int)(geometry.rows - row < portion.rows ? geometry.rows - row : portion.rows);
            gemv_bits_args args = {
                .bits = {.table = (const uint4 *)state->codes.table,
                         .codes = (const uint4 *)state->codes.codes + tile * chunks * 64,
                         .tiles = tiles - tile < portion.tiles ? tiles - tile : portion.tiles,
                         .chunks = chunks,
                         .two = 2,
                         .upper = 1u << 16},
                .a = lut_codes(&geometry, call->buffer[LUT_A], geometry.rows),
                .points = state->points.left,
                .c = (float *)call->buffer[LUT_C] + row * geometry.columns + tile * BIT_TILE,
                .columns = geometry.columns - tile * BIT_TILE,
                .row_columns = geometry.columns,
                .blocks = geometry.blocks};
            args.a.data = (const char *)args.a.data + row * args.a.stride_bytes;
            kernel_of(geometry.levels, rows,
                      portion.wide)<<<(unsigned)portion.blocks, BIT_THREADS, (size_t)portion.bytes,
                                      (cudaStream_t)call->stream>>>(args);
            if (assay_launched()) return -1;
        }
    return 0;
}

static void teardown(struct assay_call *call)
{
    struct state *state = (struct state *)call->state;
    if (state == NULL) return;
    cudaFree(state->codes.codes);
    cudaFree(state->codes.table);
    lut_points_teardown(call);
}

static const struct assay_variant variant = {
    .operation = "lut_matmul",
    .name = "decode_gemv_bits",
    .summary = "few rows: codes and their entries as bits, tensor cores on bits",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .max_sm = 90, /* later tensor cores have no products of bits */
    .supports = supports,
    .shared_bytes = shared_bytes,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
    .model = lut_model,
};
ASSAY_REGISTER_VARIANT(variant);
