/*
 * table_fresh.cu - smem_i8 with its table made anew in each call, from the codewords: what keeping
 * a table saves.
 *
 * Operations: those of smem_i8, and d multiply-adds per entry of the table. Bytes: those of
 * smem_i8, 2 d read and 1 written per entry. One thread per entry; codewords come from L1.
 */
#include <stdlib.h>

#include "lut_cuda.h"

enum { THREADS = 256, POISON = 0x55 };

struct fresh {
    struct lut_points points;
    int8_t *table;
};

/* Dot products of points are multiples of 2^shift. */
static __global__ void __launch_bounds__(THREADS)
    make_table(const int8_t *__restrict__ left, const int8_t *__restrict__ right, int count, int d,
               int shift, int8_t *__restrict__ table)
{
    int at = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (at >= count * count) return;
    int sum = 0;
    for (int i = 0; i < d; i++)
        sum += left[at / count * d + i] * right[at % count * d + i];
    table[at] = (int8_t)(sum >> shift);
}

static int setup(struct assay_call *call)
{
    struct fresh *fresh = (struct fresh *)calloc(1, sizeof *fresh);
    struct assay_call inner = *call;
    if (fresh == NULL) return assay_error("out of host memory");
    call->state = fresh;
    inner.state = NULL;
    int status = lut_smem_i8.setup(&inner);
    fresh->table = (int8_t *)inner.state;
    call->workspace_bytes = inner.workspace_bytes;
    if (status || lut_points_upload(call->shape, &fresh->points)) return -1;
    call->workspace_bytes += fresh->points.bytes;
    /* The table that setup made must not be the one that is used. */
    int64_t count = lut_geometry(call->shape).count;
    return assay_cuda(cudaMemset(fresh->table, POISON, (size_t)(count * count)), "table");
}

static int launch(struct assay_call *call)
{
    const struct fresh *fresh = (const struct fresh *)call->state;
    struct lut_geometry geometry = lut_geometry(call->shape);
    int count = (int)geometry.count;
    struct assay_call inner = *call;
    inner.state = fresh->table;
    make_table<<<(unsigned)(count * count + THREADS - 1) / THREADS, THREADS, 0,
                 (cudaStream_t)call->stream>>>(fresh->points.left, fresh->points.right, count,
                                               geometry.d, lut_shift(geometry.divisor),
                                               fresh->table);
    if (assay_launched()) return -1;
    return lut_smem_i8.launch(&inner);
}

static void teardown(struct assay_call *call)
{
    struct fresh *fresh = (struct fresh *)call->state;
    if (fresh == NULL) return;
    lut_points_release(&fresh->points);
    cudaFree(fresh->table);
    free(fresh);
}

static const char *supports(const struct assay_shape *shape)
{
    return lut_smem_i8.supports(shape);
}

static int64_t shared_bytes(const struct assay_shape *shape)
{
    return lut_smem_i8.shared_bytes(shape);
}

static const struct assay_variant variant = {
    .operation = "lut_matmul",
    .name = "smem_i8_fresh",
    .summary = "smem_i8, with the table made anew in each call",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports,
    .shared_bytes = shared_bytes,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
    .model = lut_model,
};
ASSAY_REGISTER_VARIANT(variant);
