/*
 * row_sums_cuda.c - the row sums of lut_matmul_onesided for buffers on a GPU: operands are copied
 * to the host and summed there.
 */
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/cuda_error.h"
#include "lut_cuda.h"
#include "row_sums.h"

/* At most so many rows are checked, every `step`-th; so many entries of B are fetched at a time. */
enum { MOST_ROWS = 1024, PART_ENTRIES = 1 << 24 };

struct rows {
    int64_t step, count;
    void *left; /* copy of the codes of A */
    float *c;
    struct row_sum *sums;
};

static bool is_compared_whole(const struct assay_shape *shape)
{
    return (double)shape->value[LUT_ROWS] * (double)shape->value[LUT_COLUMNS] *
               shape->operation->reference_cost(shape) <=
           LUT_WHOLE;
}

static int fetch(const struct rows *rows, const void *device, size_t row_bytes, void *host)
{
    return cuda_error(cudaMemcpy2D(host, row_bytes, device, (size_t)rows->step * row_bytes,
                                   row_bytes, (size_t)rows->count, cudaMemcpyDeviceToHost),
                      "checksum");
}

static int rows_init(struct rows *rows, const struct assay_call *call, size_t left_bytes)
{
    int64_t all = call->shape->value[LUT_ROWS], columns = call->shape->value[LUT_COLUMNS];
    rows->step = (all + MOST_ROWS - 1) / MOST_ROWS;
    rows->count = (all + rows->step - 1) / rows->step;
    size_t count = (size_t)rows->count, c_bytes = (size_t)columns * sizeof *rows->c;
    rows->left = malloc(count * left_bytes);
    rows->c = malloc(count * c_bytes);
    rows->sums = calloc(count, sizeof *rows->sums);
    if (!rows->left || !rows->c || !rows->sums)
        return assay_error("out of host memory for the checksum");
    if (fetch(rows, call->buffer[LUT_A], left_bytes, rows->left)) return -1;
    return fetch(rows, call->buffer[LUT_C], c_bytes, rows->c);
}

static void rows_release(struct rows *rows)
{
    free(rows->sums);
    free(rows->c);
    free(rows->left);
}

static int judge(const struct rows *rows, const struct assay_shape *shape, const bool *finite)
{
    int64_t wrong = row_sums_wrong(shape, rows->c, finite, rows->sums, rows->count);
    if (wrong < 0) return 0;
    return assay_error("the sum of row %lld of c is not %.9g", (long long)(wrong * rows->step),
                       rows->sums[wrong].expected);
}

/* Sums over B, fetched in parts. */
static int sum_columns(struct column_sums *sums, const struct assay_call *call)
{
    int64_t k = call->shape->value[LUT_K], columns = call->shape->value[LUT_COLUMNS];
    int64_t most = PART_ENTRIES / k < columns ? PART_ENTRIES / k : columns;
    const float *device = call->buffer[LUT_B];
    float *part = malloc((size_t)(most * k) * sizeof *part);
    int status = part ? 0 : assay_error("out of host memory for the checksum");
    for (int64_t first = 0; first < columns && status == 0; first += most) {
        int64_t count = columns - first < most ? columns - first : most;
        status = cuda_error(cudaMemcpy(part, device + first * k, (size_t)(count * k) * sizeof *part,
                                       cudaMemcpyDeviceToHost),
                            "checksum");
        if (status == 0) column_sums_add(sums, call->shape, part, first, count);
    }
    free(part);
    return status;
}

int onesided_check(struct assay_call *call)
{
    const struct assay_shape *shape = call->shape;
    struct column_sums sums = {0};
    struct rows rows = {0};
    if (is_compared_whole(shape)) return 0;
    int status = column_sums_init(&sums, shape);
    if (status == 0) status = sum_columns(&sums, call);
    if (status == 0) status = rows_init(&rows, call, (size_t)lut_geometry(shape).stride_bytes);
    if (status == 0) status = onesided_row_sums(shape, rows.left, &sums, rows.count, rows.sums);
    if (status == 0) status = judge(&rows, shape, sums.finite);
    rows_release(&rows);
    column_sums_release(&sums);
    return status;
}
