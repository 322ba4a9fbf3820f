/*
 * weight.cu - the host's side of weight_only_linear on tensor cores (weight.cuh): which kernel and
 * how many slices of K, and codes put in order, which is setup and not timed.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kernels/cuda/cuda_limits.h"
#include "kernels/cuda/dependent_launch.cuh"
#include "weight.cuh"
#include "kernels/cuda/device_memory.h"

enum {
    THREADS = 256,
    MOST_SLICES = 16,                /* where fewer are enough */
    CACHED_SHARED_BYTES = 63 * 1024, /* half of what L1 and shared memory have on small cards */
};

static __global__ void __launch_bounds__(THREADS)
    pack_weights(struct lut_geometry geometry, struct lut_codes w,
                 const uint16_t *__restrict__ number, struct weight_order order, int64_t words,
                 uint32_t *__restrict__ out)
{
    for (int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x; at < words;
         at += (int64_t)gridDim.x * THREADS) {
        struct weight_place place = weight_place(&order, at, geometry.levels);
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

static unsigned grid_of(int64_t threads)
{
    int64_t blocks = (threads + THREADS - 1) / THREADS;
    return (unsigned)(blocks < 1 << 16 ? blocks : 1 << 16);
}

/* ---------------------------------------------------------------- choice -- */

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t ceiling(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* Bytes of the table in shared memory. */
static int64_t table_bytes(const struct weight_kernel *kernel)
{
    return kernel->cached ? 0 : WEIGHT_TABLE_BYTES;
}

/* Shared memory that a block may have: a table in L1 needs what is left. */
static int64_t most_shared(const struct weight_kernel *kernel)
{
    int64_t all = assay_card()->shared_bytes;
    return kernel->cached ? smaller(all, CACHED_SHARED_BYTES) : all;
}

/* Bytes of X in shared memory where a slice has so many steps. */
static int64_t x_bytes(const struct weight_kernel *kernel, const struct lut_geometry *geometry,
                       int64_t steps)
{
    int64_t rows = smaller(8 * kernel->row_tiles, geometry->rows);
    int chunks = WEIGHT_AHEAD * weight_unit_entries(geometry->levels) / WEIGHT_CHUNK;
    return kernel->x_bytes ? kernel->x_bytes : 16 * rows * weight_x_row((int)steps * chunks);
}

/* The kernel for the most rows at a time that the shape has and shared memory takes. */
static struct weight_kernel kernel_for(const struct lut_geometry *geometry,
                                       const struct weight_kernel *kernels)
{
    int64_t space = most_shared(kernels) - table_bytes(kernels);
    while (8 * kernels->row_tiles < geometry->rows && kernels[1].function &&
           x_bytes(kernels + 1, geometry, 1) <= space)
        kernels++;
    return *kernels;
}

struct plan {
    struct weight_kernel kernel;
    int64_t steps, groups; /* of K; of columns */
    int64_t row_blocks;
    int slices, slice_steps, parts; /* of K; of a slice; of a warp's sums, at most */
    int64_t others;                 /* blocks per slice */
    int64_t shared_bytes;
};

/* A plan for so many slices. */
static struct plan plan_with(struct plan plan, const struct lut_geometry *geometry, int64_t slices)
{
    const struct weight_kernel *kernel = &plan.kernel;
    plan.slice_steps = (int)ceiling(plan.steps, slices);
    plan.slices = (int)ceiling(plan.steps, plan.slice_steps); /* none is empty */
    int64_t most = larger(assay_card()->multiprocessors / plan.slices, 1);
    int64_t work = plan.groups * plan.slice_steps;
    plan.others = smaller(most, kernel->x_bytes ? work : ceiling(work, kernel->teams));
    int64_t cuts = plan.others * kernel->teams / plan.groups + 2; /* of a group's K, at most */
    if (kernel->x_bytes) cuts = smaller(plan.others, plan.slice_steps);
    plan.parts = (int)(plan.slices * cuts);
    plan.shared_bytes = table_bytes(kernel) + x_bytes(kernel, geometry, plan.slice_steps);
    return plan;
}

/* How long it takes, about, in ns on an H200: a tile's step in a block where all teams are at work
 * (7 steps of 16 teams with two tiles each took 31 us with one row), as long for half of them; and
 * the sums' way to memory and back. */
static double cost(const struct plan *plan, const struct lut_geometry *geometry)
{
    const struct weight_kernel *kernel = &plan->kernel;
    int64_t whole = plan->groups / plan->others, rest = plan->groups % plan->others;
    int64_t turns = ceiling(plan->groups * plan->slice_steps, plan->others * kernel->teams);
    double steps = (double)turns * kernel->teams;
    if (kernel->x_bytes) {
        steps = (double)(plan->slice_steps * larger(whole, 2));
        if (rest > 0 && whole > 1) steps += (double)ceiling(plan->slice_steps, plan->others / rest);
    }
    double sums = (double)geometry->rows * (double)geometry->columns * plan->slices / 250;
    return steps * kernel->tiles * 140 + (plan->slices > 1 ? sums : 0);
}

static struct plan plan_of(const struct lut_geometry *geometry, weight_kernels *kernels)
{
    struct plan plan = {.kernel = kernel_for(geometry, kernels(geometry->levels))};
    plan.groups = ceiling(geometry->columns, plan.kernel.tiles * WEIGHT_TILE);
    plan.steps = ceiling(weight_units(geometry), WEIGHT_AHEAD);
    plan.row_blocks = ceiling(geometry->rows, 8 * plan.kernel.row_tiles);
    int64_t least = 1;
    struct plan best = plan_with(plan, geometry, least);
    while (best.shared_bytes > most_shared(&plan.kernel) && least < plan.steps)
        best = plan_with(plan, geometry, ++least);
    for (int64_t slices = least + 1; slices <= smaller(least + MOST_SLICES, plan.steps); slices++) {
        struct plan other = plan_with(plan, geometry, slices);
        if (cost(&other, geometry) < cost(&best, geometry)) best = other;
    }
    return best;
}

/* ----------------------------------------------------------------- calls -- */

struct state {
    void *table, *codes, *sums, *finished, *arranged;
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
    const struct weight_kernel *least = kernels(geometry.levels);
    return table_bytes(least) + x_bytes(least, &geometry, 1);
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
    struct weight_order order = {plan->kernel.tiles, WEIGHT_AHEAD * plan->slice_steps,
                                 plan->groups};
    int64_t words =
        plan->slices * plan->groups * order.slice_units * order.tiles * (int64_t)WEIGHT_UNIT_WORDS;
    cudaStream_t stream = (cudaStream_t)call->stream;
    if (allocate(call, &state->codes, 4 * words, "codes in order")) return -1;
    pack_weights<<<grid_of(words), THREADS, 0, stream>>>(
        *geometry, lut_codes(geometry, call->buffer[WEIGHT_ONLY_W], geometry->columns), numbers,
        order, words, (uint32_t *)state->codes);
    if (assay_launched()) return -1;
    return assay_cuda(cudaStreamSynchronize(stream), "ordering codes");
}

int weight_upload(const struct codebook *codebook, void *table, uint16_t *numbers)
{
    uint16_t *host = (uint16_t *)malloc(3 * WEIGHT_TABLE_BYTES);
    if (codebook == NULL || host == NULL) {
        free(host);
        return assay_error("out of host memory for a codebook");
    }
    uint16_t *entries = host + WEIGHT_CODES, *counts = host + 2 * WEIGHT_CODES;
    int status = weight_numbers(codebook->left, host, entries, counts);
    if (status == 0) status = device_upload(table, entries, WEIGHT_TABLE_BYTES, "table");
    if (status == 0) status = device_upload(numbers, host, WEIGHT_TABLE_BYTES, "numbers");
    free(host);
    return status;
}

/* Make the table, and the codes in its numbers. */
static int prepare(struct assay_call *call, const struct lut_geometry *geometry,
                   const struct plan *plan)
{
    struct state *state = (struct state *)call->state;
    uint16_t *numbers = NULL;
    int status = allocate(call, &state->table, WEIGHT_TABLE_BYTES, "table");
    if (status == 0)
        status = assay_cuda(cudaMalloc((void **)&numbers, WEIGHT_TABLE_BYTES), "numbers");
    if (status == 0) status = weight_upload(lut_codebook(call->shape), state->table, numbers);
    if (status == 0) status = pack(call, geometry, plan, numbers);
    cudaFree(numbers);
    return status;
}

/* Space for the sums of parts, and counts of them, which every launch leaves at 0. */
static int allocate_parts(struct assay_call *call, const struct plan *plan)
{
    struct state *state = (struct state *)call->state;
    const struct weight_kernel *kernel = &plan->kernel;
    int64_t warps = plan->row_blocks * plan->groups * (kernel->team_threads / 32);
    int64_t sums = 16 * 8 * kernel->row_tiles * kernel->tiles / (kernel->team_threads / 32);
    if (allocate(call, &state->sums, warps * plan->parts * sums * 4, "sums of parts")) return -1;
    if (allocate(call, &state->finished, warps * 4, "counts of parts")) return -1;
    return assay_cuda(
        cudaMemsetAsync(state->finished, 0, (size_t)warps * 4, (cudaStream_t)call->stream),
        "counts of parts");
}

/* Chunks of X that are arranged for each block of rows. */
static int64_t arranged_chunks(const struct plan *plan, const struct lut_geometry *geometry)
{
    return (int64_t)plan->slices * plan->slice_steps * WEIGHT_AHEAD *
           weight_unit_entries(geometry->levels) / WEIGHT_CHUNK;
}

static int64_t arranged_bytes(const struct plan *plan, const struct lut_geometry *geometry)
{
    return 2 * WEIGHT_CHUNK * arranged_chunks(plan, geometry) * plan->row_blocks * 8 *
           plan->kernel.row_tiles;
}

int weight_setup(struct assay_call *call, weight_kernels *kernels)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    struct plan plan = plan_of(&geometry, kernels);
    struct state *state = (struct state *)calloc(1, sizeof *state);
    if (state == NULL) return assay_error("out of host memory");
    call->state = state;
    snprintf(call->note, sizeof call->note, "k split in %d", plan.slices);
    if (plan.parts > 1 && allocate_parts(call, &plan)) return -1;
    if (plan.kernel.arrange &&
        allocate(call, &state->arranged, arranged_bytes(&plan, &geometry), "X arranged"))
        return -1;
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
                               .arranged = (uint4 *)state->arranged,
                               .c = (uint16_t *)call->buffer[WEIGHT_ONLY_C],
                               .sums = (float4 *)state->sums,
                               .finished = (int *)state->finished,
                               .rows = geometry.rows,
                               .k = geometry.k,
                               .columns = geometry.columns,
                               .groups = plan.groups,
                               .slices = plan.slices,
                               .slice_units = plan.slice_steps * WEIGHT_AHEAD,
                               .most_parts = plan.parts,
                               .scale = weight_only_scale(&geometry),
                               .constants = WEIGHT_CONSTANTS};
    dim3 grid((unsigned)(plan.others * plan.slices), (unsigned)plan.row_blocks);
    const int block = plan.kernel.teams * plan.kernel.team_threads + plan.kernel.other_threads;
    if (!plan.kernel.arrange) {
        plan.kernel.function<<<grid, block, (size_t)plan.shared_bytes, stream>>>(args);
        return assay_launched();
    }
    int64_t threads = arranged_bytes(&plan, &geometry) / 32;
    plan.kernel.arrange<<<grid_of(threads), THREADS, 0, stream>>>(
        args, threads, arranged_chunks(&plan, &geometry));
    if (assay_launched()) return -1;
    return dependent_launch(plan.kernel.function, grid, block, (size_t)plan.shared_bytes, stream,
                            args);
}

void weight_teardown(struct assay_call *call)
{
    struct state *state = (struct state *)call->state;
    if (state == NULL) return;
    cudaFree(state->arranged);
    cudaFree(state->finished);
    cudaFree(state->sums);
    cudaFree(state->codes);
    cudaFree(state->table);
    free(state);
}
