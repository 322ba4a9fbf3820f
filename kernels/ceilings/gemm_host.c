/*
 * gemm_host.c - `gemm` on all cores without a library, so that the host always has a variant. C is
 * computed in tiles. The block of A's rows and the block of B's rows that a tile needs stay in the
 * second-level cache while k advances. Within a tile, four by two dot products are computed at a
 * time, vectorised along k.
 *
 * Operations: 2 m n k. Bytes: those of the operation, and the blocks of A and B once more for each
 * further tile that needs them.
 */
#include <string.h>

#include "gemm.h"

enum { ROWS = 64, COLUMNS = 64, DEPTH = 512, STEP_I = 4, STEP_J = 2 };

#ifdef __x86_64__
#define WIDEST __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WIDEST
#endif

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ------------------------------------------------------------------ fp32 -- */

/* 4 x 2 dot products of `depth` terms, added to c. */
WIDEST static void add_dots_f32(float *c, int64_t ldc, const float *a, const float *b, int64_t ld,
                                int64_t depth)
{
    const float *a1 = a + ld, *a2 = a + 2 * ld, *a3 = a + 3 * ld, *b1 = b + ld;
    float c00 = 0, c01 = 0, c10 = 0, c11 = 0, c20 = 0, c21 = 0, c30 = 0, c31 = 0;
#pragma omp simd reduction(+ : c00, c01, c10, c11, c20, c21, c30, c31)
    for (int64_t l = 0; l < depth; l++) {
        c00 += a[l] * b[l];
        c01 += a[l] * b1[l];
        c10 += a1[l] * b[l];
        c11 += a1[l] * b1[l];
        c20 += a2[l] * b[l];
        c21 += a2[l] * b1[l];
        c30 += a3[l] * b[l];
        c31 += a3[l] * b1[l];
    }
    c[0] += c00;
    c[1] += c01;
    c[ldc] += c10;
    c[ldc + 1] += c11;
    c[2 * ldc] += c20;
    c[2 * ldc + 1] += c21;
    c[3 * ldc] += c30;
    c[3 * ldc + 1] += c31;
}

static float one_dot_f32(const float *a, const float *b, int64_t depth)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t l = 0; l < depth; l++)
        sum += a[l] * b[l];
    return sum;
}

/* Add terms [l0, l1) to the tile [i0, i1) x [j0, j1) of C. */
static void add_tile_f32(const struct assay_call *call, int64_t i0, int64_t i1, int64_t j0,
                         int64_t j1, int64_t l0, int64_t l1)
{
    int64_t n = call->shape->value[GEMM_N], k = call->shape->value[GEMM_K];
    const float *a = (const float *)call->buffer[GEMM_A] + l0;
    const float *b = (const float *)call->buffer[GEMM_B] + l0;
    float *c = call->buffer[GEMM_C];
    int64_t whole_i = i0 + (i1 - i0) / STEP_I * STEP_I, whole_j = j0 + (j1 - j0) / STEP_J * STEP_J;
    for (int64_t i = i0; i < whole_i; i += STEP_I)
        for (int64_t j = j0; j < whole_j; j += STEP_J)
            add_dots_f32(c + i * n + j, n, a + i * k, b + j * k, k, l1 - l0);
    for (int64_t i = i0; i < i1; i++)
        for (int64_t j = i < whole_i ? whole_j : j0; j < j1; j++)
            c[i * n + j] += one_dot_f32(a + i * k, b + j * k, l1 - l0);
}

/* ------------------------------------------------------------------ int8 -- */

WIDEST static int32_t one_dot_i8(const int8_t *a, const int8_t *b, int64_t depth)
{
    int32_t sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t l = 0; l < depth; l++)
        sum += (int32_t)a[l] * b[l];
    return sum;
}

static void add_tile_i8(const struct assay_call *call, int64_t i0, int64_t i1, int64_t j0,
                        int64_t j1, int64_t l0, int64_t l1)
{
    int64_t n = call->shape->value[GEMM_N], k = call->shape->value[GEMM_K];
    const int8_t *a = (const int8_t *)call->buffer[GEMM_A] + l0;
    const int8_t *b = (const int8_t *)call->buffer[GEMM_B] + l0;
    int32_t *c = call->buffer[GEMM_C];
    for (int64_t i = i0; i < i1; i++)
        for (int64_t j = j0; j < j1; j++)
            c[i * n + j] += one_dot_i8(a + i * k, b + j * k, l1 - l0);
}

/* --------------------------------------------------------------- variant -- */

static const char *supports(const struct assay_shape *shape)
{
    int64_t type = shape->value[GEMM_TYPE];
    return type == GEMM_FP32 || type == GEMM_INT8 ? NULL : "fp32 and int8 only";
}

static int launch(struct assay_call *call)
{
    const struct assay_shape *shape = call->shape;
    int64_t m = shape->value[GEMM_M], n = shape->value[GEMM_N], k = shape->value[GEMM_K];
    bool is_int8 = shape->value[GEMM_TYPE] == GEMM_INT8;
#pragma omp parallel for collapse(2) schedule(dynamic)
    for (int64_t i0 = 0; i0 < m; i0 += ROWS) {
        for (int64_t j0 = 0; j0 < n; j0 += COLUMNS) {
            int64_t i1 = smaller(i0 + ROWS, m), j1 = smaller(j0 + COLUMNS, n);
            /* All bits zero is 0 in both output types, which are 4 bytes wide. */
            for (int64_t i = i0; i < i1; i++)
                memset((char *)call->buffer[GEMM_C] + 4 * (i * n + j0), 0, 4 * (size_t)(j1 - j0));
            for (int64_t l0 = 0; l0 < k; l0 += DEPTH)
                (is_int8 ? add_tile_i8 : add_tile_f32)(call, i0, i1, j0, j1, l0,
                                                       smaller(l0 + DEPTH, k));
        }
    }
    return 0;
}

static const struct assay_variant blocked = {
    .operation = "gemm",
    .name = "blocked",
    .summary = "every core, tiles that stay in cache, SIMD along k, no library",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .supports = supports,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(blocked);
