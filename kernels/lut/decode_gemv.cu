/*
 * decode_gemv.cu - few rows: B stays in memory as M bits an entry (E8, q = 2) and
 * is decoded in registers, on its way to the tensor cores.
 *
 * Bytes: B's codes once, M / 8 an entry. Operations: 2 K columns a row in int8; a
 * lane's step is M table lookups and one share of an m16n8k32, whatever the number
 * of rows up to 16.
 *
 * What bounds it: instructions, 3.5 a lane and entry at M = 2 whatever the number of
 * rows (measured: 25.6 million a warp for 8192 x 28672), so that one row or two are
 * faster by table_gemv; a lookup must not wait. So the table
 * of 256 codewords is 32 bits a codeword (gemv.h) and stands in shared memory 32
 * times, once a bank: lane l reads copy l, and no two lanes ever meet in a bank.
 *
 * A block owns an SM and walks over tiles of 32 columns. Its 16 warps split K;
 * each keeps the codes of its next two chunks in flight. Sums meet in shared
 * memory, one barrier a tile.
 */
#include "decode.cuh"
#include "gemv.h"
#include "lut_cuda.h"

enum {
    THREADS = 512,
    WARPS = THREADS / 32,
    GROUPS = 4, /* of 8 columns: a warp's tile */
    TILE = 8 * GROUPS,
    SLOTS = 3, /* chunks of codes in registers: this one and two ahead */
    TABLE_BYTES = 256 * 32 * 4,
};

struct gemv_args {
    struct lut_codes a, b;
    const int8_t *points;
    float *c;
    int64_t columns, blocks;
    int rows, tiles;
};

/* Shared memory: the table, A by steps, sums of A's rows, partial sums (twice). */
static int64_t shared_bytes(int rows, int steps)
{
    return TABLE_BYTES + (int64_t)gemv_pairs(rows) * steps * 64 + GEMV_ROWS * 4 +
           2 * (int64_t)WARPS * rows * TILE * 4;
}

/* ------------------------------------------------------------- prologue -- */

static __device__ __forceinline__ void fill_table(uint32_t *table, const int8_t *points)
{
    for (int i = threadIdx.x; i < 256 * 32; i += THREADS)
        table[i] = gemv_nibbles(points + i / 32 * 8);
}

/* Decode A to shared memory, [step][pair of rows][part] as an operand of 16 bytes:
 * first four entries of rows r and r + 8, then their last four; and sum its rows. A
 * row that is not there is zeros. */
template <int M>
static __device__ __forceinline__ void fill_a(const gemv_args &args, int steps, uint32_t *a,
                                              int *sums)
{
    int pairs = gemv_pairs(args.rows);
    for (int row = 0; row < GEMV_ROWS; row++) {
        if (row % 8 >= pairs) continue;
        int sum = 0;
        for (int block = threadIdx.x; block < 4 * steps; block += THREADS) {
            uint32_t low = 0, high = 0;
            if (row < args.rows && block < args.blocks) {
                low = decode_word<8>(args.a, 2, M, args.points, row, block, 0);
                high = decode_word<8>(args.a, 2, M, args.points, row, block, 1);
            }
            struct gemv_place place = gemv_place(block, M);
            uint32_t *operand = a + ((place.step * pairs + row % 8) * 4 + place.part) * 4;
            operand[row / 8] = low;
            operand[2 + row / 8] = high;
            sum = __dp4a((int)low, 0x01010101, sum);
            sum = __dp4a((int)high, 0x01010101, sum);
        }
        for (int lanes = 16; lanes > 0; lanes /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
        if (threadIdx.x % 32 == 0) atomicAdd(&sums[row], sum);
    }
}

/* ------------------------------------------------------------ main loop -- */

/* 16 bytes of codes of this lane's column in each group; zero beyond a row's end. */
static __device__ __forceinline__ void load_codes(const gemv_args &args, int tile, int chunk,
                                                  uint4 codes[GROUPS])
{
    int lane = threadIdx.x % 32;
    int64_t at = (int64_t)chunk * GEMV_CHUNK_BYTES + lane % 4 * GEMV_LANE_BYTES;
#pragma unroll
    for (int group = 0; group < GROUPS; group++) {
        int64_t column = (int64_t)tile * TILE + group * 8 + lane / 4;
        codes[group] = make_uint4(0, 0, 0, 0);
        if (tile < args.tiles && at < args.b.stride_bytes && column < args.columns)
            codes[group] = __ldcs(
                (const uint4 *)((const char *)args.b.data + column * args.b.stride_bytes + at));
    }
}

static __device__ __forceinline__ void multiply(int32_t sum[4], uint4 a, uint32_t low,
                                                uint32_t high)
{
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(low), "r"(high));
}

static __device__ __forceinline__ uint32_t word_of(uint4 codes, int i)
{
    return i == 0 ? codes.x : i == 1 ? codes.y : i == 2 ? codes.z : codes.w;
}

/* One chunk: 16 / M steps. Lanes of rows beyond A's take its first pairs again: what
 * they add up is never written. */
template <int M>
static __device__ __forceinline__ void multiply_chunk(const uint4 codes[GROUPS], const uint4 *a,
                                                      int pairs, const char *table,
                                                      int32_t sum[GROUPS][4])
{
    constexpr int STEPS = GEMV_LANE_BYTES / M;
    int lane = threadIdx.x % 32;
    const uint4 *mine = a + lane / 4 % pairs * 4 + lane % 4;
#pragma unroll
    for (int step = 0; step < STEPS; step++) {
        uint4 rows = mine[step * pairs * 4];
#pragma unroll
        for (int group = 0; group < GROUPS; group++) {
            uint32_t low = 0, high = 0;
#pragma unroll
            for (int m = 0; m < M; m++) {
                /* Byte `place` of the codes, times 128 bytes, and the lane's bank. */
                constexpr uint32_t ENTRY = 0xff << 7;
                int place = step * M + m;
                uint32_t word = word_of(codes[group], place / 4);
                int shift = 8 * (place % 4) - 7;
                uint32_t at = shift < 0 ? word << 7 : word >> (shift & 31);
                gemv_add(*(const uint32_t *)(table + ((at & ENTRY) | (uint32_t)lane * 4)), m, &low,
                         &high);
            }
            multiply(sum[group], rows, low, high);
        }
    }
}

/* The warps' sums of a tile to C; one barrier, `partial` alternates by tile. */
template <int M>
static __device__ __forceinline__ void finish_tile(const gemv_args &args, int tile,
                                                   int32_t *partial, const int *sums,
                                                   int32_t sum[GROUPS][4])
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int group = 0; group < GROUPS; group++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int row = lane / 4 + i / 2 * 8, column = group * 8 + lane % 4 * 2 + i % 2;
            if (row < args.rows) partial[(warp * args.rows + row) * TILE + column] = sum[group][i];
            sum[group][i] = 0;
        }
    __syncthreads();
    for (int i = threadIdx.x; i < args.rows * TILE; i += THREADS) {
        int64_t column = (int64_t)tile * TILE + i % TILE;
        int32_t total = -gemv_bias(M) * sums[i / TILE];
#pragma unroll
        for (int w = 0; w < WARPS; w++)
            total += partial[w * args.rows * TILE + i];
        if (column < args.columns)
            args.c[i / TILE * args.columns + column] = (float)(total >> 2); /* E8: / 4 */
    }
}

template <int M>
static __global__ void __launch_bounds__(THREADS, 1)
    decode_gemv(const __grid_constant__ gemv_args args)
{
    extern __shared__ __align__(128) char shared[];
    int chunks = gemv_chunks(args.blocks, M), steps = gemv_steps(args.blocks, M);
    uint32_t *table = (uint32_t *)shared;
    uint4 *a = (uint4 *)(shared + TABLE_BYTES);
    int pairs = gemv_pairs(args.rows);
    int *sums = (int *)(a + (int64_t)pairs * steps * 4);
    int32_t *partial = sums + GEMV_ROWS;
    int warp = threadIdx.x / 32;
    int turns = (chunks + WARPS - 1) / WARPS; /* chunks of a tile, a warp */

    /* Item i of this warp: turn i % turns of the block's (i / turns)-th tile. */
    int items = (args.tiles - (int)blockIdx.x + (int)gridDim.x - 1) / (int)gridDim.x * turns;
    uint4 codes[SLOTS][GROUPS];
#pragma unroll
    for (int slot = 0; slot < SLOTS - 1; slot++)
        load_codes(args, blockIdx.x + slot / turns * gridDim.x, warp + slot % turns * WARPS,
                   codes[slot]);

    if (threadIdx.x < GEMV_ROWS) sums[threadIdx.x] = 0;
    __syncthreads();
    fill_table(table, args.points);
    fill_a<M>(args, steps, (uint32_t *)a, sums);
    __syncthreads();

    int32_t sum[GROUPS][4] = {};
    int tile = blockIdx.x, turn = 0, parity = 0;
    for (int first = 0; first < items; first += SLOTS) {
#pragma unroll
        for (int slot = 0; slot < SLOTS; slot++) {
            int item = first + slot;
            if (item >= items) break;
            int ahead = item + SLOTS - 1;
            load_codes(args, blockIdx.x + ahead / turns * gridDim.x, warp + ahead % turns * WARPS,
                       codes[(slot + SLOTS - 1) % SLOTS]);
            int chunk = warp + turn * WARPS;
            if (chunk < chunks)
                multiply_chunk<M>(codes[slot],
                                  a + (int64_t)chunk * (GEMV_LANE_BYTES / M) * pairs * 4, pairs,
                                  (const char *)table, sum);
            if (++turn < turns) continue;
            finish_tile<M>(args, tile, partial + parity * WARPS * args.rows * TILE, sums, sum);
            tile += gridDim.x;
            turn = 0;
            parity ^= 1;
        }
    }
}

/* -------------------------------------------------------------- variant -- */

typedef void gemv_kernel(gemv_args);

static gemv_kernel *kernel_of(const struct lut_geometry *geometry)
{
    static gemv_kernel *const kernels[] = {decode_gemv<1>, decode_gemv<2>, decode_gemv<4>};
    return kernels[geometry->levels / 2];
}

/* The most shared memory a block can have on any card that runs this. */
enum { SHARED_MAX = 227 * 1024 };

static const char *supports(const struct assay_shape *shape)
{
    struct lut_geometry geometry = lut_geometry(shape);
    if (shape->value[LUT_LATTICE] != CODEBOOK_E8) return "E8 only";
    if (geometry.q != 2) return "the codewords of q > 2 do not fit shared memory once a bank";
    if (geometry.rows > GEMV_ROWS) return "more than 16 rows";
    if (geometry.scaled) return "a scale a block does not factor out of the sum";
    if (geometry.format != LUT_PACKED && geometry.format != LUT_INT8)
        return "indices of one byte only";
    if (geometry.stride_bytes % 16 != 0) return "rows of codes are not 16-byte aligned";
    if (shared_bytes((int)geometry.rows, gemv_steps(geometry.blocks, geometry.levels)) > SHARED_MAX)
        return "A does not fit shared memory";
    return NULL;
}

struct gemv_state {
    struct lut_points points;
    int processors;
};

static int setup(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    int64_t bytes = shared_bytes((int)geometry.rows, gemv_steps(geometry.blocks, geometry.levels));
    struct gemv_state *state = (struct gemv_state *)calloc(1, sizeof *state);
    int device = 0;
    if (state == NULL) return assay_error("out of host memory");
    call->state = state;
    if (assay_cuda(cudaGetDevice(&device), "device") ||
        assay_cuda(
            cudaDeviceGetAttribute(&state->processors, cudaDevAttrMultiProcessorCount, device),
            "number of multiprocessors") ||
        assay_cuda(cudaFuncSetAttribute(kernel_of(&geometry),
                                        cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes),
                   "shared memory"))
        return -1;
    if (lut_points_upload(call->shape, &state->points)) return -1;
    call->workspace_bytes += state->points.bytes;
    return 0;
}

static int launch(struct assay_call *call)
{
    const struct gemv_state *state = (const struct gemv_state *)call->state;
    struct lut_geometry geometry = lut_geometry(call->shape);
    int tiles = (int)((geometry.columns + TILE - 1) / TILE);
    struct gemv_args args = {.a = lut_codes(&geometry, call->buffer[LUT_A], geometry.rows),
                             .b = lut_codes(&geometry, call->buffer[LUT_B], geometry.columns),
                             .points = state->points.left,
                             .c = (float *)call->buffer[LUT_C],
                             .columns = geometry.columns,
                             .blocks = geometry.blocks,
                             .rows = (int)geometry.rows,
                             .tiles = tiles};
    int64_t bytes = shared_bytes(args.rows, gemv_steps(geometry.blocks, geometry.levels));
    unsigned grid = (unsigned)(tiles < state->processors ? tiles : state->processors);
    kernel_of(&geometry)<<<grid, THREADS, (size_t)bytes, (cudaStream_t)call->stream>>>(args);
    return assay_launched();
}

static void teardown(struct assay_call *call)
{
    struct gemv_state *state = (struct gemv_state *)call->state;
    if (state == NULL) return;
    lut_points_release(&state->points);
    free(state);
}

extern const struct assay_variant lut_decode_gemv = {
    .operation = "lut_matmul",
    .name = "decode_gemv",
    .summary = "few rows: codes from memory, decoded in registers, tensor cores",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_DEVICE,
    .min_sm = 80,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
    .model = lut_model,
    .check = lut_check,
};
ASSAY_REGISTER_VARIANT(lut_decode_gemv);
