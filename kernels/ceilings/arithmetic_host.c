/*
 * arithmetic_host.c - the chains of `arithmetic` on all cores. Eight vectors of chains stay in
 * registers: enough independent multiply-adds to hide the latency of one. The widest vectors of the
 * processor are used; on a processor without fused multiply-add, the C library's fmaf, which is
 * slow but gives the same bits.
 *
 * The fused step is written with intrinsics because the result must equal that of fmaf bit by bit,
 * and a compiler need not fuse a multiplication and an addition.
 *
 * Operations: 2 * iterations * chains. Bytes: 8 per chain.
 */
#include <math.h>
#include <string.h>

#include "arithmetic.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

enum { VECTORS = 8, TILE = 16 * VECTORS }; /* chains whose steps are interleaved */

typedef void tile_function(float x[TILE], int64_t iterations);

static void tile_plain(float x[TILE], int64_t iterations)
{
    for (int64_t step = 0; step < iterations; step++)
        for (int i = 0; i < TILE; i++)
            x[i] = fmaf(x[i], ARITHMETIC_SCALE, ARITHMETIC_SHIFT);
}

#ifdef __x86_64__

__attribute__((target("avx2,fma"))) static void tile_avx2(float x[TILE], int64_t iterations)
{
    const __m256 scale = _mm256_set1_ps(ARITHMETIC_SCALE);
    const __m256 shift = _mm256_set1_ps(ARITHMETIC_SHIFT);
    for (int half = 0; half < TILE; half += 8 * VECTORS) {
        __m256 row[VECTORS];
#pragma GCC unroll 8
        for (int k = 0; k < VECTORS; k++)
            row[k] = _mm256_loadu_ps(x + half + 8 * k);
        for (int64_t step = 0; step < iterations; step++)
#pragma GCC unroll 8
            for (int k = 0; k < VECTORS; k++)
                row[k] = _mm256_fmadd_ps(row[k], scale, shift);
#pragma GCC unroll 8
        for (int k = 0; k < VECTORS; k++)
            _mm256_storeu_ps(x + half + 8 * k, row[k]);
    }
}

__attribute__((target("avx512f"))) static void tile_avx512(float x[TILE], int64_t iterations)
{
    const __m512 scale = _mm512_set1_ps(ARITHMETIC_SCALE);
    const __m512 shift = _mm512_set1_ps(ARITHMETIC_SHIFT);
    __m512 row[VECTORS];
#pragma GCC unroll 8
    for (int k = 0; k < VECTORS; k++)
        row[k] = _mm512_loadu_ps(x + 16 * k);
    for (int64_t step = 0; step < iterations; step++)
#pragma GCC unroll 8
        for (int k = 0; k < VECTORS; k++)
            row[k] = _mm512_fmadd_ps(row[k], scale, shift);
#pragma GCC unroll 8
    for (int k = 0; k < VECTORS; k++)
        _mm512_storeu_ps(x + 16 * k, row[k]);
}

#endif

static tile_function *widest_tile(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f")) return tile_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return tile_avx2;
#endif
    return tile_plain;
}

static int launch(struct assay_call *call)
{
    const float *in = call->buffer[ARITHMETIC_IN];
    float *out = call->buffer[ARITHMETIC_OUT];
    int64_t chains = call->shape->value[ARITHMETIC_CHAINS];
    int64_t iterations = call->shape->value[ARITHMETIC_ITERATIONS];
    tile_function *tile = widest_tile();
#pragma omp parallel for schedule(static)
    for (int64_t first = 0; first < chains; first += TILE) {
        size_t count = (size_t)(chains - first < TILE ? chains - first : TILE);
        float x[TILE] = {0};
        memcpy(x, in + first, count * sizeof *x);
        tile(x, iterations);
        memcpy(out + first, x, count * sizeof *x);
    }
    return 0;
}

static const struct assay_variant host_fma = {
    .operation = "arithmetic",
    .name = "fma",
    .summary = "every core, eight vectors of chains in registers",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(host_fma);
