/*
 * weight_only_decode.cu - weight_only_linear on tensor cores by mma.sync for every code: codewords
 * are looked up in a table of bf16, 16 bytes each, which are what a lane gives to the instruction.
 *
 * Columns of C are the product's 16 rows, 8 rows of X its columns, NT times. The order of K within
 * a product is free: of 32 entries, lane t of four takes the block 8 t to 8 t + 7 of columns g and
 * g + 8, one lookup for each level, and of a row of X the same entries, 16 bytes in a row. Levels
 * are added by fma in bf16, exactly: all sums are whole numbers of at most 8 bits. So a block of
 * one level costs four instructions, where weight_only_mma.cu has 17.
 *
 * Setup puts the codes into the order in which lanes read them, 8 bits per index for q = 2 and
 * else 16. With q = 2 the table is in shared memory eight times, 32 KiB, one for each of the eight
 * lanes that read 16 bytes at a time, so that lookups have no bank conflicts; with q = 3 once, 103
 * KiB. `decode_mma_cached` reads it through L1 and L2, whatever q is (1 MiB for q = 4): no block
 * waits for its copy, but each lookup is a sector of 32 bytes.
 *
 * The warps of a block stay for all tasks, tiles of C. Where these are few, 2 to 16 warps (`ways`)
 * share one: each takes every so many unit of K, and sums meet in shared memory, added in order.
 *
 * Bytes: 1 or 2 per index, once for each 64 rows of X, where weights are M / 8 indices; X from L2
 * for each group of columns; 2 per element of C. Operations: 2 * rows * K * columns in bf16.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/cuda_limits.h"
#include "kernels/cuda/device_memory.h"
#include "weight_only.h"
#include "weight_points.cuh"

enum { PACK_THREADS = 256 };

/* ------------------------------------------------------------------- codes -- */

struct pack_order {
    int64_t words;
    int units, tiles, bits, unused;
};

static __global__ void __launch_bounds__(PACK_THREADS)
    pack_codes(struct lut_geometry geometry, struct lut_codes w, struct pack_order order,
               uint32_t *__restrict__ out)
{
    const int64_t step = (int64_t)gridDim.x * PACK_THREADS;
    for (int64_t at = (int64_t)blockIdx.x * PACK_THREADS + threadIdx.x; at < order.words;
         at += step) {
        int lane = (int)(at % LANES), level = (int)(at / LANES % geometry.levels);
        int64_t rest = at / LANES / geometry.levels, tile = rest % order.tiles;
        int64_t unit = rest / order.tiles % order.units, group = rest / order.tiles / order.units;
        uint32_t word = 0;
        for (int i = 0; i < 2 * chunks_of(order.bits); i++) {
            int64_t column = (group * order.tiles + tile) * TILE + lane / 4 + i % 2 * 8;
            int64_t block = (unit * chunks_of(order.bits) + i / 2) * (CHUNK / 8) + lane % 4;
            if (column < geometry.columns && block < geometry.blocks)
                word |= lut_read(&w, column, block * geometry.levels + level) << i * order.bits;
        }
        out[at] = word;
    }
}

/* -------------------------------------------------------------------- plan -- */

struct decode_kernel {
    void (*function)(struct decode_args);
    int tiles, row_tiles;
};

enum { KERNELS = 4 };

/* For few rows first. */
struct decode_code {
    int q, levels, bits, copies;
    struct decode_kernel kernels[KERNELS];
};

template <int M, int BITS, int COPIES> static constexpr struct decode_code code_with(int q)
{
    return {q,
            M,
            BITS,
            COPIES,
            {{weight_only_decode<M, BITS, COPIES, 1, 1>, 1, 1},
             {weight_only_decode<M, BITS, COPIES, 2, 1>, 2, 1},
             {weight_only_decode<M, BITS, COPIES, 2, 4>, 2, 4},
             {weight_only_decode<M, BITS, COPIES, 2, 8>, 2, 8}}};
}

/* The codes of a variant, ended by one without levels. */
struct decode_codes {
    const char *refusal; /* of any other */
    struct decode_code code[5];
};

static const struct decode_codes shared_codes = {
    "q = 2 and 3 only",
    {code_with<1, 8, 8>(2), code_with<2, 8, 8>(2), code_with<4, 8, 8>(2), code_with<2, 16, 1>(3)}};
static const struct decode_codes cached_codes = {"q = 3 and 4 only",
                                                 {code_with<2, 16, 0>(3), code_with<1, 16, 0>(4),
                                                  code_with<2, 16, 0>(4), code_with<3, 16, 0>(4)}};

static const struct decode_code *code_of(const struct decode_codes *codes,
                                         const struct lut_geometry *geometry)
{
    const struct decode_code *code = codes->code;
    while (code->levels && (code->q != geometry->q || code->levels != geometry->levels))
        code++;
    return code;
}

struct plan {
    const struct decode_code *code;
    struct decode_kernel kernel;
    int64_t groups, row_blocks, units, blocks, shared_bytes;
    int ways;
};

static int64_t ceiling(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t shared_bytes_of(const struct decode_code *code, const struct decode_kernel *kernel,
                               const struct lut_geometry *geometry)
{
    int64_t sums = 4 * LANES * 4 * kernel->tiles * kernel->row_tiles;
    return 16 * geometry->count * code->copies + warps_of(kernel->row_tiles) * sums;
}

/* Blocks of a multiprocessor: registers are enough for two of these kernels' blocks. */
static int64_t resident(const struct plan *plan)
{
    bool two = plan->kernel.tiles == 1 || plan->kernel.row_tiles == 8;
    return two && 2 * plan->shared_bytes <= assay_card()->shared_bytes ? 2 : 1;
}

/* How many warps share a task, by the longest time of a multiprocessor: units of K, and one for the
 * sums' way through shared memory; a unit takes as long as its tiles' codes and one for X. */
static int64_t choose_ways(struct plan *plan)
{
    const int warps = warps_of(plan->kernel.row_tiles);
    const int64_t tasks = plan->groups * plan->row_blocks;
    const int64_t processors = assay_card()->multiprocessors, most = processors * resident(plan);
    int64_t least = INT64_MAX;
    for (int ways = 1; ways <= warps; ways *= 2) {
        int64_t blocks = ceiling(tasks * ways, warps);
        int64_t units = ceiling(plan->units, ways) + (ways > 1);
        int64_t cost = ceiling(blocks, processors) * units * (plan->kernel.tiles + 1);
        if (cost >= least) continue;
        least = cost;
        plan->ways = ways;
        plan->blocks = smaller(blocks, most);
    }
    return least;
}

/* The number of the first kernel for the shape's rows; with 16 columns it has one of 32 behind it.
 */
static int kernel_for(const struct lut_geometry *geometry)
{
    return geometry->rows <= 8 ? 0 : geometry->rows <= 32 ? 2 : 3;
}

static struct plan plan_of(const struct decode_codes *codes, const struct lut_geometry *geometry)
{
    struct plan best = {.code = code_of(codes, geometry)};
    int64_t least = INT64_MAX;
    const int first = kernel_for(geometry), last = first == 0 ? 1 : first;
    for (int i = first; i <= last; i++) {
        struct plan plan = {.code = best.code, .kernel = best.code->kernels[i]};
        plan.groups = ceiling(geometry->columns, plan.kernel.tiles * TILE);
        plan.row_blocks = ceiling(geometry->rows, 8 * plan.kernel.row_tiles);
        plan.units = ceiling(geometry->k, CHUNK * chunks_of(plan.code->bits));
        plan.shared_bytes = shared_bytes_of(plan.code, &plan.kernel, geometry);
        int64_t cost = choose_ways(&plan);
        if (cost < least) best = plan;
        if (cost < least) least = cost;
    }
    return best;
}

/* ----------------------------------------------------------------- variant -- */

struct state {
    void *codes, *points;
};

template <const decode_codes *CODES> static const char *supports(const struct assay_shape *shape)
{
    struct lut_geometry geometry = lut_geometry(shape);
    return code_of(CODES, &geometry)->levels ? NULL : CODES->refusal;
}

template <const decode_codes *CODES> static int64_t shared_bytes(const struct assay_shape *shape)
{
    struct lut_geometry geometry = lut_geometry(shape);
    const struct decode_code *code = code_of(CODES, &geometry);
    const int first = kernel_for(&geometry);
    return shared_bytes_of(code, code->kernels + (first == 0 ? 1 : first), &geometry);
}

/* Coordinates as bf16: the upper halves of fp32. */
static int upload_points(const struct codebook *codebook, void *to)
{
    if (codebook == NULL) return -1;
    int64_t count = codebook->count * 8;
    uint16_t *host = (uint16_t *)malloc((size_t)count * sizeof *host);
    if (host == NULL) return assay_error("out of host memory for a codebook");
    for (int64_t i = 0; i < count; i++) {
        float coordinate = codebook->left[i];
        uint32_t bits;
        memcpy(&bits, &coordinate, sizeof bits);
        host[i] = (uint16_t)(bits >> 16);
    }
    int status = device_upload(to, host, (size_t)count * sizeof *host, "codebook");
    free(host);
    return status;
}

static int pack(const struct assay_call *call, const struct lut_geometry *geometry,
                struct pack_order order, uint32_t *codes)
{
    cudaStream_t stream = (cudaStream_t)call->stream;
    int64_t blocks = smaller(ceiling(order.words, PACK_THREADS), 1 << 16);
    pack_codes<<<(unsigned)blocks, PACK_THREADS, 0, stream>>>(
        *geometry, lut_codes(geometry, call->buffer[WEIGHT_ONLY_W], geometry->columns), order,
        codes);
    if (assay_launched()) return -1;
    return assay_cuda(cudaStreamSynchronize(stream), "ordering codes");
}

template <const decode_codes *CODES> static int setup(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    struct plan plan = plan_of(CODES, &geometry);
    struct state *state = (struct state *)calloc(1, sizeof *state);
    if (state == NULL) return assay_error("out of host memory");
    call->state = state;
    struct pack_order order = {plan.groups * plan.units * plan.kernel.tiles * geometry.levels *
                                   LANES,
                               (int)plan.units, plan.kernel.tiles, plan.code->bits, 0};
    snprintf(call->note, sizeof call->note, "%d columns, %d warps share them",
             plan.kernel.tiles * TILE, plan.ways);
    int status = device_memory(call, &state->codes, 4 * order.words, "codes in order");
    if (status == 0) status = device_memory(call, &state->points, 16 * geometry.count, "codebook");
    if (status == 0)
        status = cuda_allow_shared((const void *)plan.kernel.function, plan.shared_bytes);
    if (status == 0) status = upload_points(lut_codebook(call->shape), state->points);
    if (status == 0) status = pack(call, &geometry, order, (uint32_t *)state->codes);
    return status;
}

/* Two times `value`, a whole number of few bits, as bf16. */
static uint32_t twice(int value)
{
    float wide = (float)value;
    uint32_t bits;
    memcpy(&bits, &wide, sizeof bits);
    return bits >> 16 | (bits & 0xffff0000u);
}

template <const decode_codes *CODES> static int launch(struct assay_call *call)
{
    const struct state *state = (const struct state *)call->state;
    struct lut_geometry geometry = lut_geometry(call->shape);
    struct plan plan = plan_of(CODES, &geometry);
    struct decode_args args = {.codes = (const uint32_t *)state->codes,
                               .points = (const uint4 *)state->points,
                               .x = (const uint16_t *)call->buffer[WEIGHT_ONLY_X],
                               .c = (uint16_t *)call->buffer[WEIGHT_ONLY_C],
                               .rows = geometry.rows,
                               .k = geometry.k,
                               .columns = geometry.columns,
                               .tasks = plan.groups * plan.row_blocks,
                               .units = (int)plan.units,
                               .row_blocks = (int)plan.row_blocks,
                               .ways = plan.ways,
                               .count = (int)geometry.count,
                               .weight = {},
                               .scale = weight_only_scale(&geometry)};
    for (int m = 1; m < geometry.levels; m++)
        args.weight[m - 1] = twice(lut_weight(geometry.q, m));
    plan.kernel.function<<<(unsigned)plan.blocks, LANES * warps_of(plan.kernel.row_tiles),
                           (size_t)plan.shared_bytes, (cudaStream_t)call->stream>>>(args);
    return assay_launched();
}

static void teardown(struct assay_call *call)
{
    struct state *state = (struct state *)call->state;
    if (state == NULL) return;
    cudaFree(state->points);
    cudaFree(state->codes);
    free(state);
}

static const struct assay_variant decode_mma = {
    .operation = "weight_only_linear",
    .name = "decode_mma",
    .summary = "codewords looked up as bf16 in shared memory, mma.sync; weights packed in setup",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .supports = supports<&shared_codes>,
    .shared_bytes = shared_bytes<&shared_codes>,
    .setup = setup<&shared_codes>,
    .launch = launch<&shared_codes>,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(decode_mma);

static const struct assay_variant decode_mma_cached = {
    .operation = "weight_only_linear",
    .name = "decode_mma_cached",
    .summary = "as decode_mma, with the table of codewords in L1 and L2",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .supports = supports<&cached_codes>,
    .shared_bytes = shared_bytes<&cached_codes>,
    .setup = setup<&cached_codes>,
    .launch = launch<&cached_codes>,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(decode_mma_cached);
