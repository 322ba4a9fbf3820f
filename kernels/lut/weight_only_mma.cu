/*
 * weight_only_mma.cu - weight_only_linear on tensor cores by mma.sync, for codes of E8 with q = 4
 * and one or two levels (2 and 4 bits per weight). Weights are decoded in registers, where the
 * instruction wants them: columns of C are its 16 rows, up to 64 rows of X its columns, 8 at a
 * time.
 *
 * Setup numbers the codewords anew (weight_code.h) and lays the codes out in the order in which
 * lanes read them (weight_tiles.h); the bytes stay as many. A warp owns 32 columns of C, and holds
 * four loads of 16 bytes per lane and tile in registers ahead of their use. Warps share the table
 * of codewords, 128 KiB, and X, as much of K as fits beside it. Nothing else is shared, so warps
 * meet only where X is exchanged.
 *
 * Thread blocks may split K. Then each writes its sums in fp32 and a second kernel adds them up.
 *
 * Bytes: M / 4 per weight, once for each 64 rows of X; X from L2 once per thread block; with a
 * split 8 per element of C and part. Operations: 2 * rows * K * columns in bf16.
 */
#include <cuda_bf16.h>
#include <cuda_pipeline.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/cuda/ampere.cuh"
#include "kernels/cuda/cuda_limits.h"
#include "weight_code.h"
#include "weight_only.h"
#include "weight_tiles.h"

enum {
    AHEAD = 4, /* units of codes that a warp holds ahead */
    TILES = 2, /* of 16 columns, of a warp */
    GROUP = TILES * WEIGHT_TILE,
    MOST_SLICES = 16,
    THREADS = 256, /* of the small kernels */
};

struct weight_args {
    const uint4 *table, *codes;
    const uint16_t *x;
    __nv_bfloat16 *c;
    float *sums; /* [slice][row][column], or NULL: one slice, which writes C */
    int64_t rows, k, columns, units, groups;
    int slices, slice_units; /* parts of K, and their units */
    int pass_units;          /* units of X in shared memory; a multiple of AHEAD */
    float scale;
    struct weight_constants constants;
};

/* ----------------------------------------------------------------- setup -- */

static __global__ void __launch_bounds__(THREADS)
    pack_weights(struct lut_geometry geometry, struct lut_codes w,
                 const uint16_t *__restrict__ number, int64_t words, uint32_t *__restrict__ out)
{
    int64_t units = weight_units(&geometry);
    for (int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x; at < words;
         at += (int64_t)gridDim.x * THREADS) {
        struct weight_place place = weight_place(at, units, geometry.levels);
        uint32_t word = 0;
        for (int half = 0; half < 2; half++) {
            int64_t block = place.block + half, index = 0;
            if (block < geometry.blocks && place.column < geometry.columns)
                index = lut_read(&w, place.column, block * geometry.levels + place.level);
            word |= (uint32_t)number[index] << 16 * half;
        }
        out[at] = word;
    }
}

/* ------------------------------------------------------------- main loop -- */

/* a b + c in both halves. */
static __device__ __forceinline__ uint32_t fma_bf16x2(uint32_t a, uint32_t b, uint32_t c)
{
#ifdef AMPERE_CODE
    uint32_t d;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
#else
    __trap();
#endif
}

static __device__ __forceinline__ uint32_t add_bf16x2(uint32_t a, uint32_t b)
{
    return fma_bf16x2(a, 0x3f803f80u, b);
}

static __device__ __forceinline__ void multiply(float c[4], const uint32_t upper[2],
                                                const uint32_t lower[2], uint32_t b0, uint32_t b1)
{
#ifdef AMPERE_CODE
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(upper[0]), "r"(lower[0]), "r"(upper[1]), "r"(lower[1]), "r"(b0), "r"(b1));
#else
    __trap();
#endif
}

/* The table's entries of two numbers; `table` is its address in shared memory. */
static __device__ __forceinline__ uint32_t entries_of(const struct weight_constants &constants,
                                                      uint32_t table, uint32_t numbers)
{
    uint32_t low, high;
    asm volatile("ld.shared.u16 %0, [%1];"
                 : "=r"(low)
                 : "r"((numbers & 0xffff) * constants.two + table));
    asm volatile("ld.shared.u16 %0, [%1];"
                 : "=r"(high)
                 : "r"((numbers >> 16) * constants.two + table));
    return high * constants.upper + low;
}

/* Doubled coordinates of two codewords, plus 4 times `more`, which is at most 8 in magnitude. */
template <bool MORE>
static __device__ __forceinline__ void decode_level(const struct weight_constants &constants,
                                                    uint32_t table, uint32_t numbers,
                                                    uint32_t out[8])
{
    uint32_t fields[8], high = weight_offset(&constants, numbers);
    uint32_t low = add_bf16x2(high, 0x42c042c0u); /* 96 */
    weight_fields(&constants, numbers, entries_of(constants, table, numbers), fields);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        uint32_t offset = weight_is_high(i) ? high : low;
        if (MORE) offset = fma_bf16x2(out[i], 0x40804080u, offset);
        out[i] = add_bf16x2(fields[i], offset);
    }
}

/* The eight pairs of column g (below = 0) or g + 8 of a chunk. */
template <int M>
static __device__ __forceinline__ void decode(const struct weight_constants &constants,
                                              uint32_t table, const uint32_t words[4], int chunk,
                                              int below, uint32_t out[8])
{
    if (M == 1) {
        decode_level<false>(constants, table, words[2 * chunk + below], out);
    } else {
        decode_level<false>(constants, table, words[2 * below + 1], out);
        decode_level<true>(constants, table, words[2 * below], out);
    }
}

/* One unit of TILES tiles times NT times 8 rows of X. `x` points to the unit's first piece. */
template <int M, int NT>
static __device__ __forceinline__ void multiply_unit(const struct weight_constants &constants,
                                                     uint32_t table, const uint4 codes[TILES],
                                                     const uint4 *x, int rows,
                                                     float sum[TILES][NT][4])
{
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int chunk = 0; chunk < 2 / M; chunk++) {
        uint32_t upper[TILES][8], lower[TILES][8];
#pragma unroll
        for (int tile = 0; tile < TILES; tile++) {
            const uint32_t words[4] = {codes[tile].x, codes[tile].y, codes[tile].z, codes[tile].w};
            decode<M>(constants, table, words, chunk, 0, upper[tile]);
            decode<M>(constants, table, words, chunk, 1, lower[tile]);
        }
#pragma unroll
        for (int n = 0; n < NT; n++) {
            /* Rows beyond the last take the last one again; their sums are never written. */
            int row = min(n * 8 + lane / 4, rows - 1);
#pragma unroll
            for (int half = 0; half < 2; half++) {
                uint4 b = x[weight_x_piece(chunk, half, rows, row, lane % 4)];
#pragma unroll
                for (int tile = 0; tile < TILES; tile++) {
                    multiply(sum[tile][n], upper[tile] + 4 * half, lower[tile] + 4 * half, b.x,
                             b.y);
                    multiply(sum[tile][n], upper[tile] + 4 * half + 2, lower[tile] + 4 * half + 2,
                             b.z, b.w);
                }
            }
        }
    }
}

/* Eight entries of a row of X from k on, zeros beyond its end. */
static __device__ __forceinline__ uint4 load_x(const weight_args &args, int64_t row, int64_t k)
{
    const uint16_t *from = args.x + row * args.k + k;
    uint32_t word[4] = {};
    if (args.k % 8 == 0) return k < args.k ? *(const uint4 *)from : make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int i = 0; i < 8; i++)
        if (k + i < args.k) word[i / 2] |= (uint32_t)from[i] << 16 * (i % 2);
    return make_uint4(word[0], word[1], word[2], word[3]);
}

/* Entries 2 j and 2 j + 1 of a block as `a` and `b` have them, to pairs of both blocks. */
static __device__ __forceinline__ uint2 pair_up(uint32_t a, uint32_t b)
{
    return make_uint2(__byte_perm(a, b, 0x5410), __byte_perm(a, b, 0x7632));
}

/* Copy `chunks` chunks of `rows` rows of X from entry k on to shared memory. */
static __device__ __forceinline__ void stage_x(const weight_args &args, int64_t first_row, int rows,
                                               int64_t k, int chunks, uint4 *x)
{
    for (int at = threadIdx.x; at < rows * chunks * 4; at += blockDim.x) {
        int t = at % 4, chunk = at / 4 % chunks, row = at / 4 / chunks;
        int64_t from = k + chunk * WEIGHT_CHUNK + t * 16;
        uint4 a = load_x(args, first_row + row, from), b = load_x(args, first_row + row, from + 8);
        uint2 p0 = pair_up(a.x, b.x), p1 = pair_up(a.y, b.y);
        uint2 p2 = pair_up(a.z, b.z), p3 = pair_up(a.w, b.w);
        x[weight_x_piece(chunk, 0, rows, row, t)] = make_uint4(p0.x, p0.y, p1.x, p1.y);
        x[weight_x_piece(chunk, 1, rows, row, t)] = make_uint4(p2.x, p2.y, p3.x, p3.y);
    }
}

template <int NT>
static __device__ __forceinline__ void store(const weight_args &args, int slice, int64_t first_row,
                                             int rows, int64_t group, const float sum[TILES][NT][4])
{
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int tile = 0; tile < TILES; tile++)
#pragma unroll
        for (int n = 0; n < NT; n++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                int row = n * 8 + lane % 4 * 2 + i % 2;
                int64_t column =
                    (group * TILES + tile) * WEIGHT_TILE + lane / 4 + 8 * (int64_t)(i / 2);
                if (row >= rows || column >= args.columns) continue;
                int64_t at = (first_row + row) * args.columns + column;
                if (args.sums)
                    args.sums[slice * args.rows * args.columns + at] = sum[tile][n][i];
                else
                    args.c[at] = __float2bfloat16(args.scale * sum[tile][n][i]);
            }
}

/* Block x does part x % slices of K, for every (gridDim.x / slices)-th group of columns; its warps
 * take these by turns. Block y does 8 NT rows of X. */
template <int M, int NT, int WARPS>
static __global__ void __launch_bounds__(32 * WARPS, 1) weight_only_mma(struct weight_args args)
{
    extern __shared__ uint4 shared[];
    uint32_t table = (uint32_t)__cvta_generic_to_shared(shared);
    uint4 *x = shared + WEIGHT_TABLE_BYTES / 16;
    const int unit_entries = weight_unit_entries(M), unit_chunks = 2 / M;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int slice = blockIdx.x % args.slices, mine = blockIdx.x / args.slices;
    int others = gridDim.x / args.slices;
    int64_t first_row = (int64_t)blockIdx.y * 8 * NT;
    int rows = (int)min((int64_t)8 * NT, args.rows - first_row);
    int64_t begin = (int64_t)slice * args.slice_units;
    int64_t end = min(begin + args.slice_units, args.units);
    bool whole = args.slice_units <= args.pass_units; /* X is staged once */

    for (int i = threadIdx.x; i < WEIGHT_TABLE_BYTES / 16; i += 32 * WARPS)
        __pipeline_memcpy_async(shared + i, args.table + i, 16);
    __pipeline_commit();

    for (int64_t first_group = mine; first_group < args.groups; first_group += others * WARPS) {
        int64_t group = first_group + (int64_t)others * warp;
        bool busy = group < args.groups;
        const uint4 *from = args.codes + group * TILES * args.units * 32 + lane;
        uint4 codes[AHEAD][TILES];
        float sum[TILES][NT][4] = {};
#pragma unroll
        for (int ahead = 0; ahead < AHEAD; ahead++)
#pragma unroll
            for (int tile = 0; tile < TILES; tile++)
                if (busy && begin + ahead < end)
                    codes[ahead][tile] = __ldcs(from + (tile * args.units + begin + ahead) * 32);
        for (int64_t pass = begin; pass < end; pass += args.pass_units) {
            int64_t stop = min(pass + args.pass_units, end);
            if (!whole || first_group == mine) {
                __syncthreads(); /* nobody reads the X of before */
                stage_x(args, first_row, rows, pass * unit_entries,
                        (int)(stop - pass) * unit_chunks, x);
                __pipeline_wait_prior(0);
                __syncthreads();
            }
            if (!busy) continue;
            for (int64_t unit = pass; unit < stop; unit += AHEAD)
#pragma unroll
                for (int ahead = 0; ahead < AHEAD; ahead++) {
                    if (unit + ahead >= stop) break;
                    multiply_unit<M, NT>(args.constants, table, codes[ahead],
                                         x + (unit + ahead - pass) * unit_chunks * 8 * rows, rows,
                                         sum);
#pragma unroll
                    for (int tile = 0; tile < TILES; tile++)
                        if (unit + ahead + AHEAD < end)
                            codes[ahead][tile] =
                                __ldcs(from + (tile * args.units + unit + ahead + AHEAD) * 32);
                }
        }
        if (busy) store<NT>(args, slice, first_row, rows, group, sum);
    }
}

/* C from the sums of all slices. */
static __global__ void __launch_bounds__(THREADS)
    add_slices(const float *__restrict__ sums, int slices, int64_t count, float scale,
               __nv_bfloat16 *__restrict__ c)
{
    for (int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x; at < count;
         at += (int64_t)gridDim.x * THREADS) {
        float sum = 0;
        for (int slice = 0; slice < slices; slice++)
            sum += sums[slice * count + at];
        c[at] = __float2bfloat16(scale * sum);
    }
}

/* ---------------------------------------------------------------- choice -- */

struct weight_kernel {
    void (*function)(struct weight_args);
    int row_tiles, warps;
};

/* A block's registers are shared by its warps: more rows, fewer warps. */
static const struct weight_kernel *kernels_of(int levels)
{
    static const struct weight_kernel kernels[2][4] = {{{weight_only_mma<1, 1, 16>, 1, 16},
                                                        {weight_only_mma<1, 2, 16>, 2, 16},
                                                        {weight_only_mma<1, 4, 12>, 4, 12},
                                                        {weight_only_mma<1, 8, 8>, 8, 8}},
                                                       {{weight_only_mma<2, 1, 16>, 1, 16},
                                                        {weight_only_mma<2, 2, 16>, 2, 16},
                                                        {weight_only_mma<2, 4, 12>, 4, 12},
                                                        {weight_only_mma<2, 8, 8>, 8, 8}}};
    return kernels[levels - 1];
}

/* Bytes of one unit of so many rows of X. */
static int64_t unit_bytes(const struct lut_geometry *geometry, int64_t rows)
{
    return rows * weight_unit_entries(geometry->levels) * 2;
}

static int64_t least_shared(const struct lut_geometry *geometry, int64_t rows)
{
    return WEIGHT_TABLE_BYTES + AHEAD * unit_bytes(geometry, rows);
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t ceiling(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

struct plan {
    struct weight_kernel kernel;
    int slices, slice_units, pass_units;
    int64_t block_rows, groups, units, shared_bytes;
    unsigned blocks; /* of x */
};

/* The kernel for the most rows at a time that the shape has and shared memory takes. */
static struct weight_kernel kernel_for(const struct lut_geometry *geometry)
{
    const struct weight_kernel *kernels = kernels_of(geometry->levels);
    int chosen = 0;
    while (chosen < 3 && 8 * kernels[chosen].row_tiles < geometry->rows &&
           least_shared(geometry, 8 * kernels[chosen + 1].row_tiles) <= assay_card()->shared_bytes)
        chosen++;
    return kernels[chosen];
}

/* How long so many slices take, about, in ns on an H200: the units of its busiest block, of which
 * few warps hide less of each other's waiting, and the sums' way to memory and back. */
static double cost(const struct plan *plan, const struct lut_geometry *geometry, int slices)
{
    int64_t others = assay_card()->multiprocessors / slices;
    int64_t groups = ceiling(plan->groups, others), turns = ceiling(groups, plan->kernel.warps);
    double sums =
        slices == 1 ? 0 : 2000 + (double)geometry->rows * (double)geometry->columns / 400 * slices;
    return (double)ceiling(plan->units, slices) * (double)(groups + 4 * turns) * 32 + sums;
}

static int slices_for(const struct plan *plan, const struct lut_geometry *geometry)
{
    int best = 1, most = assay_card()->multiprocessors;
    most = (int)smaller(smaller(most, MOST_SLICES), plan->units);
    for (int slices = 2; slices <= most; slices++)
        if (cost(plan, geometry, slices) < cost(plan, geometry, best)) best = slices;
    return best;
}

static struct plan plan_of(const struct lut_geometry *geometry)
{
    struct plan plan = {.kernel = kernel_for(geometry)};
    plan.block_rows = smaller(8 * plan.kernel.row_tiles, geometry->rows);
    plan.groups = ceiling(geometry->columns, GROUP);
    plan.units = weight_units(geometry);
    plan.slices = slices_for(&plan, geometry);
    plan.slice_units = (int)ceiling(plan.units, plan.slices);
    int64_t bytes = unit_bytes(geometry, plan.block_rows) * AHEAD;
    int64_t fit = (assay_card()->shared_bytes - WEIGHT_TABLE_BYTES) / bytes;
    plan.pass_units = AHEAD * (int)smaller(fit, ceiling(plan.slice_units, AHEAD));
    plan.shared_bytes = WEIGHT_TABLE_BYTES + plan.pass_units / AHEAD * bytes;
    int64_t others = smaller(assay_card()->multiprocessors / plan.slices, plan.groups);
    plan.blocks = (unsigned)(others * plan.slices);
    return plan;
}

/* --------------------------------------------------------------- variant -- */

struct state {
    void *table, *codes, *sums;
};

static const char *supports(const struct assay_shape *shape)
{
    struct lut_geometry geometry = lut_geometry(shape);
    if (geometry.q != 4) return "q = 4 only";
    if (geometry.levels > 2) return "coordinates of more than two levels are not exact on the way";
    return NULL;
}

static int64_t shared_bytes(const struct assay_shape *shape)
{
    struct lut_geometry geometry = lut_geometry(shape);
    return least_shared(&geometry, smaller(geometry.rows, 8));
}

static int allocate(struct assay_call *call, void **out, int64_t bytes, const char *what)
{
    if (assay_cuda(cudaMalloc(out, (size_t)bytes), what)) return -1;
    call->workspace_bytes += bytes;
    return 0;
}

/* The codes in the kernel's order; `numbers` is the device's copy of the new numbers. */
static int pack(struct assay_call *call, const struct lut_geometry *geometry, uint16_t *numbers)
{
    struct state *state = (struct state *)call->state;
    int64_t words =
        ceiling(geometry->columns, GROUP) * TILES * weight_units(geometry) * WEIGHT_UNIT_WORDS;
    cudaStream_t stream = (cudaStream_t)call->stream;
    if (allocate(call, &state->codes, 4 * words, "codes in order")) return -1;
    pack_weights<<<(unsigned)smaller(ceiling(words, THREADS), 1 << 16), THREADS, 0, stream>>>(
        *geometry, lut_codes(geometry, call->buffer[WEIGHT_ONLY_W], geometry->columns), numbers,
        words, (uint32_t *)state->codes);
    if (assay_launched()) return -1;
    return assay_cuda(cudaStreamSynchronize(stream), "ordering codes");
}

/* Make the table, and the codes in its numbers. */
static int prepare(struct assay_call *call, const struct lut_geometry *geometry)
{
    struct state *state = (struct state *)call->state;
    const struct codebook *codebook = lut_codebook(call->shape);
    uint16_t *host = (uint16_t *)malloc(3 * WEIGHT_TABLE_BYTES), *numbers = NULL;
    if (codebook == NULL || host == NULL) {
        free(host);
        return assay_error("out of host memory for a codebook");
    }
    uint16_t *entries = host + WEIGHT_CODES, *counts = host + 2 * WEIGHT_CODES;
    int status = weight_numbers(codebook->left, host, entries, counts);
    if (status == 0) status = allocate(call, &state->table, WEIGHT_TABLE_BYTES, "table");
    if (status == 0)
        status = assay_cuda(
            cudaMemcpy(state->table, entries, WEIGHT_TABLE_BYTES, cudaMemcpyHostToDevice), "table");
    if (status == 0)
        status = assay_cuda(cudaMalloc((void **)&numbers, WEIGHT_TABLE_BYTES), "numbers");
    if (status == 0)
        status = assay_cuda(cudaMemcpy(numbers, host, WEIGHT_TABLE_BYTES, cudaMemcpyHostToDevice),
                            "numbers");
    if (status == 0) status = pack(call, geometry, numbers);
    cudaFree(numbers);
    free(host);
    return status;
}

static int setup(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    struct plan plan = plan_of(&geometry);
    struct state *state = (struct state *)calloc(1, sizeof *state);
    if (state == NULL) return assay_error("out of host memory");
    call->state = state;
    snprintf(call->note, sizeof call->note, "k split in %d", plan.slices);
    int64_t sums = plan.slices * geometry.rows * geometry.columns * (int64_t)sizeof(float);
    if (plan.slices > 1 && allocate(call, &state->sums, sums, "partial sums")) return -1;
    if (cuda_allow_shared((const void *)plan.kernel.function, plan.shared_bytes)) return -1;
    return prepare(call, &geometry);
}

static int launch(struct assay_call *call)
{
    const struct state *state = (const struct state *)call->state;
    struct lut_geometry geometry = lut_geometry(call->shape);
    struct plan plan = plan_of(&geometry);
    cudaStream_t stream = (cudaStream_t)call->stream;
    struct weight_args args = {.table = (const uint4 *)state->table,
                               .codes = (const uint4 *)state->codes,
                               .x = (const uint16_t *)call->buffer[WEIGHT_ONLY_X],
                               .c = (__nv_bfloat16 *)call->buffer[WEIGHT_ONLY_C],
                               .sums = (float *)state->sums,
                               .rows = geometry.rows,
                               .k = geometry.k,
                               .columns = geometry.columns,
                               .units = plan.units,
                               .groups = plan.groups,
                               .slices = plan.slices,
                               .slice_units = plan.slice_units,
                               .pass_units = plan.pass_units,
                               .scale = weight_only_scale(&geometry),
                               .constants = WEIGHT_CONSTANTS};
    dim3 grid(plan.blocks, (unsigned)ceiling(geometry.rows, plan.block_rows));
    plan.kernel.function<<<grid, 32 * plan.kernel.warps, (size_t)plan.shared_bytes, stream>>>(args);
    if (assay_launched() || plan.slices == 1) return assay_launched();
    int64_t count = geometry.rows * geometry.columns;
    add_slices<<<(unsigned)smaller(ceiling(count, THREADS), 1 << 16), THREADS, 0, stream>>>(
        args.sums, plan.slices, count, args.scale, args.c);
    return assay_launched();
}

static void teardown(struct assay_call *call)
{
    struct state *state = (struct state *)call->state;
    if (state == NULL) return;
    cudaFree(state->sums);
    cudaFree(state->codes);
    cudaFree(state->table);
    free(state);
}

static const struct assay_variant mma = {
    .operation = "weight_only_linear",
    .name = "mma",
    .summary = "codes decoded in registers, mma.sync in bf16; weights packed in setup",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .supports = supports,
    .shared_bytes = shared_bytes,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(mma);
