/*
 * check_cuda.c - the row sums of the int32 products that cuBLASLt writes in place of C (lut.h). The
 * harness compares them with a model at its samples; its check of all rows is of C.
 *
 * The sums over the rows of B are made on the device, from its codes and the codebook, by
 * additions alone. On the host they would take as long as all samples of a case.
 */
#include <stdlib.h>

#include "kernels/cuda/cuda_error.h"
#include "lut_cuda.h"

enum { CHECKED_ROWS = 16 };

/* The sums over all rows of call->buffer[LUT_B]. */
static int fetch_column_sums(const struct assay_call *call, int64_t *host)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    size_t bytes = (size_t)(geometry.blocks * geometry.d) * sizeof *host;
    struct lut_points points = {0};
    int64_t *sums = NULL;
    int status = lut_points_upload(call->shape, &points);
    if (status == 0) status = cuda_error(cudaMalloc((void **)&sums, bytes), "checksum");
    if (status == 0) status = cuda_error(cudaMemset(sums, 0, bytes), "checksum");
    if (status == 0) status = lut_column_sums(&geometry, call->buffer[LUT_B], &points, sums, NULL);
    if (status == 0)
        status = cuda_error(cudaMemcpy(host, sums, bytes, cudaMemcpyDeviceToHost), "checksum");
    cudaFree(sums);
    lut_points_release(&points);
    return status;
}

/* `count` rows of `bytes` bytes, spread over all `rows` of a matrix, to `host`. */
static int fetch_rows(const void *device, int64_t rows, int64_t bytes, int count, void *host)
{
    int status = 0;
    for (int i = 0; i < count && status == 0; i++) {
        int64_t row = count > 1 ? (rows - 1) * i / (count - 1) : 0;
        status = cuda_error(cudaMemcpy((char *)host + i * bytes, (const char *)device + row * bytes,
                                       (size_t)bytes, cudaMemcpyDeviceToHost),
                            "checksum");
    }
    return status;
}

/* What the row sums of `count` rows should be. */
static int expect(const struct assay_call *call, int count, int64_t *expected)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    void *a = malloc((size_t)(count * geometry.stride_bytes));
    int64_t *sums = malloc((size_t)(geometry.blocks * geometry.d) * sizeof *sums);
    int status = a && sums ? 0 : assay_error("out of host memory for the checksum");
    if (status == 0)
        status = fetch_rows(call->buffer[LUT_A], geometry.rows, geometry.stride_bytes, count, a);
    if (status == 0) status = fetch_column_sums(call, sums);
    if (status == 0) status = lut_expected_row_sums(call->shape, a, sums, count, expected);
    free(sums);
    free(a);
    return status;
}

int lut_check_products(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    double cost = (double)geometry.rows * (double)geometry.columns * (double)geometry.k;
    if (cost <= LUT_WHOLE) return 0;
    int count = geometry.rows < CHECKED_ROWS ? (int)geometry.rows : (int)CHECKED_ROWS;
    int64_t expected[CHECKED_ROWS], row_bytes = geometry.columns * (int64_t)sizeof(int32_t);
    int32_t *products = malloc((size_t)(count * row_bytes));
    int status = products ? expect(call, count, expected)
                          : assay_error("out of host memory for the products");
    if (status == 0)
        status = fetch_rows(call->buffer[LUT_C], geometry.rows, row_bytes, count, products);
    if (status == 0) {
        int64_t error = lut_row_sum_error(call->shape, expected, products, count);
        if (error != 0)
            status = assay_error("a row sum of the products is off by %lld", (long long)error);
    }
    free(products);
    return status;
}
