/*
 * lookup_mma.cu - the host's side of products of looked-up codewords (lookup_variant.cuh).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/cuda_limits.h"
#include "kernels/cuda/device_memory.h"
#include "lookup_mma.cuh"
#include "lookup_variant.cuh"
#include "weight_only.h"

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
        int lane = (int)(at % LOOKUP_LANES), level = (int)(at / LOOKUP_LANES % geometry.levels);
        int64_t rest = at / LOOKUP_LANES / geometry.levels, tile = rest % order.tiles;
        int64_t unit = rest / order.tiles % order.units, group = rest / order.tiles / order.units;
        uint32_t word = 0;
        for (int i = 0; i < 2 * lookup_chunks(order.bits); i++) {
            int64_t column = (group * order.tiles + tile) * LOOKUP_TILE + lane / 4 + i % 2 * 8;
            int64_t block =
                (unit * lookup_chunks(order.bits) + i / 2) * (LOOKUP_CHUNK / 8) + lane % 4;
            if (column < geometry.columns && block < geometry.blocks)
                word |= lut_read(&w, column, block * geometry.levels + level) << i * order.bits;
        }
        out[at] = word;
    }
}

/* -------------------------------------------------------------------- plan -- */

static const struct lookup_code *code_of(const struct lookup_codes *codes,
                                         const struct lut_geometry *geometry)
{
    const struct lookup_code *code = codes->code;
    while (code->levels && (code->q != geometry->q || code->levels != geometry->levels))
        code++;
    return code;
}

struct plan {
    const struct lookup_code *code;
    struct lookup_kernel kernel;
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

static int64_t shared_bytes_of(const struct lookup_code *code, const struct lookup_kernel *kernel,
                               const struct lut_geometry *geometry)
{
    int64_t sums = lookup_shared_sums(4 * kernel->tiles * kernel->row_tiles);
    return 16 * geometry->count * code->copies + 4 * LOOKUP_THREADS * sums;
}

/* Blocks of a multiprocessor: registers are enough for two with one tile per warp. */
static int64_t resident(const struct plan *plan)
{
    return plan->kernel.tiles == 1 && 2 * plan->shared_bytes <= assay_card()->shared_bytes ? 2 : 1;
}

/* How many warps share a task, by the longest time of a multiprocessor: units of K, and one for the
 * sums' way through shared memory; a unit takes as long as its tiles' codes and one for X. */
static int64_t choose_ways(struct plan *plan)
{
    const int64_t tasks = plan->groups * plan->row_blocks;
    const int64_t processors = assay_card()->multiprocessors, most = processors * resident(plan);
    int64_t least = INT64_MAX;
    for (int ways = 1; ways <= LOOKUP_WARPS; ways *= 2) {
        int64_t blocks = ceiling(tasks * ways, LOOKUP_WARPS);
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

static struct plan plan_of(const struct lookup_codes *codes, const struct lut_geometry *geometry)
{
    struct plan best = {.code = code_of(codes, geometry)};
    int64_t least = INT64_MAX;
    const int first = kernel_for(geometry), last = first == 0 ? 1 : first;
    for (int i = first; i <= last; i++) {
        struct plan plan = {.code = best.code, .kernel = best.code->kernels[i]};
        plan.groups = ceiling(geometry->columns, plan.kernel.tiles * LOOKUP_TILE);
        plan.row_blocks = ceiling(geometry->rows, 8 * plan.kernel.row_tiles);
        plan.units = ceiling(geometry->k, LOOKUP_CHUNK * lookup_chunks(plan.code->bits));
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

const char *lookup_unsupported(const struct assay_shape *shape, const struct lookup_codes *codes)
{
    struct lut_geometry geometry = lut_geometry(shape);
    if (shape->value[LUT_LATTICE] != CODEBOOK_E8) return "E8 only";
    if (code_of(codes, &geometry)->levels == 0) return codes->refusal;
    if (!codes->coded) return NULL;
    if (geometry.scaled) return "a scale per block does not factor out of the sum";
    if (geometry.rows > LOOKUP_CODED_ROWS) return "more than 64 rows";
    if (lut_codebook(shape) == NULL) return "out of host memory for a codebook";
    if (lut_coordinate_max(shape) > 256) return "decoded coordinates do not fit bf16";
    bool exact = lut_worst_sum(&geometry, lut_codebook(shape)) < 0x1p24;
    return exact ? NULL : "sums may not be exact in fp32";
}

int64_t lookup_shared_bytes(const struct assay_shape *shape, const struct lookup_codes *codes)
{
    struct lut_geometry geometry = lut_geometry(shape);
    const struct lookup_code *code = code_of(codes, &geometry);
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
        *geometry, lut_codes(geometry, call->buffer[LUT_B], geometry->columns), order, codes);
    if (assay_launched()) return -1;
    return assay_cuda(cudaStreamSynchronize(stream), "ordering codes");
}

int lookup_setup(struct assay_call *call, const struct lookup_codes *codes)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    struct plan plan = plan_of(codes, &geometry);
    struct state *state = (struct state *)calloc(1, sizeof *state);
    if (state == NULL) return assay_error("out of host memory");
    call->state = state;
    struct pack_order order = {plan.groups * plan.units * plan.kernel.tiles * geometry.levels *
                                   LOOKUP_LANES,
                               (int)plan.units, plan.kernel.tiles, plan.code->bits, 0};
    snprintf(call->note, sizeof call->note, "%d columns, warps that share them: %d",
             plan.kernel.tiles * LOOKUP_TILE, plan.ways);
    int status = device_memory(call, &state->codes, 4 * order.words, "codes in order");
    if (status == 0) status = device_memory(call, &state->points, 16 * geometry.count, "codebook");
    if (status == 0)
        status = cuda_allow_shared((const void *)plan.kernel.function, plan.shared_bytes);
    if (status == 0) status = upload_points(lut_codebook(call->shape), state->points);
    if (status == 0) status = pack(call, &geometry, order, (uint32_t *)state->codes);
    return status;
}

/* A whole number of few bits as bf16, twice. */
static uint32_t twice(int value)
{
    float wide = (float)value;
    uint32_t bits;
    memcpy(&bits, &wide, sizeof bits);
    return bits >> 16 | (bits & 0xffff0000u);
}

int lookup_launch(struct assay_call *call, const struct lookup_codes *codes)
{
    const struct state *state = (const struct state *)call->state;
    struct lut_geometry geometry = lut_geometry(call->shape);
    struct plan plan = plan_of(codes, &geometry);
    const float half_beta = weight_only_scale(&geometry);
    struct lookup_args args = {.codes = (const uint32_t *)state->codes,
                               .points = (const uint4 *)state->points,
                               .a = lut_codes(&geometry, call->buffer[LUT_A], geometry.rows),
                               .x = (const uint16_t *)call->buffer[LUT_A],
                               .c = call->buffer[LUT_C],
                               .rows = geometry.rows,
                               .k = geometry.k,
                               .columns = geometry.columns,
                               .tasks = plan.groups * plan.row_blocks,
                               .units = (int)plan.units,
                               .row_blocks = (int)plan.row_blocks,
                               .ways = plan.ways,
                               .count = (int)geometry.count,
                               .weight = {},
                               .scale = codes->coded ? geometry.unit : half_beta};
    for (int m = 1; m < geometry.levels; m++)
        args.weight[m - 1] = twice(lut_weight(geometry.q, m));
    plan.kernel.function<<<(unsigned)plan.blocks, LOOKUP_THREADS, (size_t)plan.shared_bytes,
                           (cudaStream_t)call->stream>>>(args);
    return assay_launched();
}

void lookup_teardown(struct assay_call *call)
{
    struct state *state = (struct state *)call->state;
    if (state == NULL) return;
    cudaFree(state->points);
    cudaFree(state->codes);
    free(state);
}
