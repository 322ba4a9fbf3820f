/*
 * weight.cu - the host's side of weight_only_linear on tensor cores (weight.cuh): which kernel and
 * how many parts of K, codes put in order, and the sums of parts added up.
 *
 * Bytes of adding up: 4 per element of C and part. Ordering codes is setup, and not timed.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kernels/cuda/cuda_limits.h"
#include "weight.cuh"

enum { THREADS = 256, MOST_SLICES = 16 };

static __global__ void __launch_bounds__(THREADS)
    pack_weights(struct lut_geometry geometry, struct lut_codes w,
                 const uint16_t *__restrict__ number, int64_t units, int64_t words,
                 uint32_t *__restrict__ out)
{
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

/* Bytes of one unit of so many rows of X. */
static int64_t unit_bytes(const struct lut_geometry *geometry, int64_t rows)
{
    return rows * weight_unit_entries(geometry->levels) * 2;
}

static int64_t least_shared(const struct lut_geometry *geometry, int64_t rows)
{
    return WEIGHT_TABLE_BYTES + WEIGHT_AHEAD * unit_bytes(geometry, rows);
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
    int64_t groups, units, shared_bytes;
    unsigned blocks; /* of x */
};

/* Rows of X in shared memory. */
static int64_t stored_rows(const struct weight_kernel *kernel, int64_t rows)
{
    int64_t most = 8 * kernel->row_tiles;
    return kernel->fills ? most : smaller(most, rows);
}

/* The kernel for the most rows at a time that the shape has and shared memory takes. */
static struct weight_kernel kernel_for(const struct lut_geometry *geometry,
                                       const struct weight_kernel *kernels)
{
    int chosen = 0;
    while (chosen < 3 && 8 * kernels[chosen].row_tiles < geometry->rows &&
           least_shared(geometry, 8 * kernels[chosen + 1].row_tiles) <= assay_card()->shared_bytes)
        chosen++;
    return kernels[chosen];
}

/* How long so many slices take, about, in ns on an H200: 1 ns per unit and column of the busiest
 * block; what a warp waits for in each of its tiles, where others do not fill it; and
 * the sums' way to memory and back. An estimate that no card has confirmed. */
static double cost(const struct plan *plan, const struct lut_geometry *geometry, int slices)
{
    const struct weight_kernel *kernel = &plan->kernel;
    int64_t groups = ceiling(plan->groups, assay_card()->multiprocessors / slices);
    int64_t tiles = kernel->group / WEIGHT_TILE / (kernel->team_threads / 32);
    int64_t unit_ns = groups * kernel->group + ceiling(groups, kernel->teams) * tiles * 64;
    double sums = 2000 + (double)geometry->rows * (double)geometry->columns * slices / 400;
    return (double)(ceiling(plan->units, slices) * unit_ns) + (slices > 1 ? sums : 0);
}

static int slices_for(const struct plan *plan, const struct lut_geometry *geometry)
{
    int best = 1, most = assay_card()->multiprocessors;
    most = (int)smaller(smaller(most, MOST_SLICES), plan->units / WEIGHT_AHEAD);
    for (int slices = 2; slices <= most; slices++)
        if (cost(plan, geometry, slices) < cost(plan, geometry, best)) best = slices;
    return best;
}

static struct plan plan_of(const struct lut_geometry *geometry, weight_kernels *kernels)
{
    struct plan plan = {.kernel = kernel_for(geometry, kernels(geometry->levels))};
    int64_t rows = stored_rows(&plan.kernel, geometry->rows);
    plan.groups = ceiling(geometry->columns, plan.kernel.group);
    plan.units = ceiling(weight_units(geometry), WEIGHT_AHEAD) * WEIGHT_AHEAD;
    plan.slices = slices_for(&plan, geometry);
    plan.slice_units = WEIGHT_AHEAD * (int)ceiling(plan.units / WEIGHT_AHEAD, plan.slices);
    plan.slices = (int)ceiling(plan.units, plan.slice_units); /* none is empty */
    int64_t bytes = unit_bytes(geometry, rows) * WEIGHT_AHEAD;
    int64_t fit = (assay_card()->shared_bytes - WEIGHT_TABLE_BYTES) / bytes;
    plan.pass_units = WEIGHT_AHEAD * (int)smaller(fit, plan.slice_units / WEIGHT_AHEAD);
    plan.shared_bytes = WEIGHT_TABLE_BYTES + plan.pass_units / WEIGHT_AHEAD * bytes;
    int64_t others = smaller(assay_card()->multiprocessors / plan.slices, plan.groups);
    plan.blocks = (unsigned)(others * plan.slices);
    return plan;
}

/* ----------------------------------------------------------------- calls -- */

struct state {
    void *table, *codes, *sums;
};

const char *weight_unsupported(const struct assay_shape *shape)
{
    struct lut_geometry geometry = lut_geometry(shape);
    if (geometry.q != 4) return "q = 4 only";
    if (geometry.levels > 2) return "coordinates of more than two levels are not exact on the way";
    return NULL;
}

int64_t weight_shared_bytes(const struct assay_shape *shape, weight_kernels *kernels)
{
    struct lut_geometry geometry = lut_geometry(shape);
    return least_shared(&geometry, stored_rows(kernels(geometry.levels), geometry.rows));
}

static int allocate(struct assay_call *call, void **out, int64_t bytes, const char *what)
{
    if (assay_cuda(cudaMalloc(out, (size_t)bytes), what)) return -1;
    call->workspace_bytes += bytes;
    return 0;
}

/* The codes in the kernel's order; `numbers` is the device's copy of the new numbers. */
static int pack(struct assay_call *call, const struct lut_geometry *geometry,
                const struct plan *plan, const uint16_t *numbers)
{
    struct state *state = (struct state *)call->state;
    int64_t words =
        plan->groups * (plan->kernel.group / WEIGHT_TILE) * plan->units * WEIGHT_UNIT_WORDS;
    cudaStream_t stream = (cudaStream_t)call->stream;
    if (allocate(call, &state->codes, 4 * words, "codes in order")) return -1;
    pack_weights<<<(unsigned)smaller(ceiling(words, THREADS), 1 << 16), THREADS, 0, stream>>>(
        *geometry, lut_codes(geometry, call->buffer[WEIGHT_ONLY_W], geometry->columns), numbers,
        plan->units, words, (uint32_t *)state->codes);
    if (assay_launched()) return -1;
    return assay_cuda(cudaStreamSynchronize(stream), "ordering codes");
}

/* Enqueue: a table of the host's. */
static int copy_table(struct assay_call *call, void *to, const void *from)
{
    return assay_cuda(cudaMemcpyAsync(to, from, WEIGHT_TABLE_BYTES, cudaMemcpyHostToDevice,
                                      (cudaStream_t)call->stream),
                      "table");
}

/* Make the table, and the codes in its numbers. Copies are ordered by the call's stream: on another
 * one a copy from pageable memory may still be under way when it returns. */
static int prepare(struct assay_call *call, const struct lut_geometry *geometry,
                   const struct plan *plan)
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
    if (status == 0) status = copy_table(call, state->table, entries);
    if (status == 0)
        status = assay_cuda(cudaMalloc((void **)&numbers, WEIGHT_TABLE_BYTES), "numbers");
    if (status == 0) status = copy_table(call, numbers, host);
    if (status == 0) status = pack(call, geometry, plan, numbers);
    cudaFree(numbers);
    free(host);
    return status;
}

int weight_setup(struct assay_call *call, weight_kernels *kernels)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    struct plan plan = plan_of(&geometry, kernels);
    struct state *state = (struct state *)calloc(1, sizeof *state);
    if (state == NULL) return assay_error("out of host memory");
    call->state = state;
    snprintf(call->note, sizeof call->note, "k split in %d", plan.slices);
    int64_t sums = plan.slices * geometry.rows * geometry.columns * (int64_t)sizeof(float);
    if (plan.slices > 1 && allocate(call, &state->sums, sums, "partial sums")) return -1;
    if (cuda_allow_shared((const void *)plan.kernel.function, plan.shared_bytes)) return -1;
    return prepare(call, &geometry, &plan);
}

int weight_launch(struct assay_call *call, weight_kernels *kernels)
{
    const struct state *state = (const struct state *)call->state;
    struct lut_geometry geometry = lut_geometry(call->shape);
    struct plan plan = plan_of(&geometry, kernels);
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
    dim3 grid(plan.blocks, (unsigned)ceiling(geometry.rows, 8 * plan.kernel.row_tiles));
    plan.kernel.function<<<grid, plan.kernel.teams * plan.kernel.team_threads,
                           (size_t)plan.shared_bytes, stream>>>(args);
    if (assay_launched() || plan.slices == 1) return assay_launched();
    int64_t count = geometry.rows * geometry.columns;
    add_slices<<<(unsigned)smaller(ceiling(count, THREADS), 1 << 16), THREADS, 0, stream>>>(
        args.sums, plan.slices, count, args.scale, args.c);
    return assay_launched();
}

void weight_teardown(struct assay_call *call)
{
    struct state *state = (struct state *)call->state;
    if (state == NULL) return;
    cudaFree(state->sums);
    cudaFree(state->codes);
    cudaFree(state->table);
    free(state);
}
