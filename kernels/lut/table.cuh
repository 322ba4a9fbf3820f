/*
 * table.cuh - shared by the variants that look products up: the table on the device, and one
 * element of C by any kind of lookup.
 */
#pragma once

#include <stdlib.h>

#include "lut_cuda.h"
#include "kernels/cuda/device_memory.h"

/* A launch's operands, by value. */
struct table_args {
    struct lut_geometry geometry;
    struct lut_codes a, b;
    const float *scale_a, *scale_b;
    float *c;
};

static inline struct table_args table_args_of(const struct assay_call *call)
{
    struct table_args args = {};
    args.geometry = lut_geometry(call->shape);
    args.a = lut_codes(&args.geometry, call->buffer[LUT_A], args.geometry.rows);
    args.b = lut_codes(&args.geometry, call->buffer[LUT_B], args.geometry.columns);
    if (args.geometry.scaled) {
        args.scale_a = (const float *)call->buffer[LUT_SCALE_A];
        args.scale_b = (const float *)call->buffer[LUT_SCALE_B];
    }
    args.c = (float *)call->buffer[LUT_C];
    return args;
}

/* The sum over levels of one pair of blocks, in table units. lookup(left, right)
 * is a table entry. */
template <class Lookup>
static __device__ __forceinline__ int block_sum(const struct table_args &args, int64_t row,
                                                int64_t column, int64_t block, Lookup lookup)
{
    int levels = args.geometry.levels, sum = 0;
    int left_weight = 1;
    for (int m = 0; m < levels; m++, left_weight *= args.geometry.q) {
        uint32_t left = lut_read(&args.a, row, block * levels + m);
        int weight = left_weight;
        for (int n = 0; n < levels; n++, weight *= args.geometry.q)
            sum += weight * lookup(left, lut_read(&args.b, column, block * levels + n));
    }
    return sum;
}

static __device__ __forceinline__ float block_scale(const struct table_args &args, int64_t row,
                                                    int64_t column, int64_t block)
{
    return __fmul_rn(args.scale_a[row * args.geometry.blocks + block],
                     args.scale_b[column * args.geometry.blocks + block]);
}

/* One element of C: whole numbers, or with scales floats in the order of blocks. */
template <class Lookup>
static __device__ __forceinline__ void element(const struct table_args &args, int64_t row,
                                               int64_t column, Lookup lookup)
{
    int exact = 0;
    float scaled = 0;
    for (int64_t block = 0; block < args.geometry.blocks; block++) {
        int sum = block_sum(args, row, column, block, lookup);
        if (args.geometry.scaled)
            scaled = __fmaf_rn(block_scale(args, row, column, block), (float)sum, scaled);
        else
            exact += sum;
    }
    float sum = args.geometry.scaled ? scaled : (float)exact;
    args.c[row * args.geometry.columns + column] = sum * args.geometry.unit;
}

/* The table in device memory as Entry; adds to call->workspace_bytes. */
template <typename Entry> static int table_upload(struct assay_call *call, Entry **device)
{
    const struct codebook *codebook = lut_codebook(call->shape);
    if (codebook == NULL) return -1;
    size_t entries = (size_t)(codebook->count * codebook->count);
    int16_t *table = (int16_t *)malloc(entries * sizeof *table);
    Entry *host = (Entry *)malloc(entries * sizeof *host);
    int status = table && host ? 0 : assay_error("out of host memory for the table");
    if (status == 0) {
        codebook_table_i16(codebook, table);
        for (size_t i = 0; i < entries; i++)
            host[i] = (Entry)table[i];
        status = assay_cuda(cudaMalloc((void **)device, entries * sizeof *host), "table");
    }
    if (status == 0) status = device_upload(*device, host, entries * sizeof *host, "table");
    call->workspace_bytes += (int64_t)(entries * sizeof *host);
    free(host);
    free(table);
    return status;
}
