/*
 * vq_search_host.c - the nearest codeword on the host.
 *
 *   host_scalar  the formula, one vector after another on one core
 *   host_omp     all cores; |e|^2 / 2 - z.e in vector units, with eight vectors at a time, so
 *                that a codeword is loaded once for the eight
 *
 * Bytes per vector: 512 read, 1 written. Operations: 2 * 256 * 128; host_scalar has half as many
 * more.
 */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
/* Set before the headers, or their inline functions could not be inlined here. */
#pragma GCC optimize("O3")
/* One clone per vector width, chosen when the program starts. */
#define WIDEST __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define WIDEST
#endif

#include <math.h>

#include "vq_search.h"

enum { TILE = 8, LANES = 16, WORTH_THREADS = 512 };

/* ----------------------------------------------------------- host_scalar -- */

static float distance_of(const float *z, const float *codeword)
{
    float sum = 0;
    for (int i = 0; i < CODEWORD_LENGTH; i++) {
        float difference = z[i] - codeword[i];
        sum += difference * difference;
    }
    return sum;
}

static int launch_scalar(struct assay_call *call)
{
    const float *z = call->buffer[SEARCH_Z];
    const float *codebook = call->buffer[SEARCH_CODEBOOK];
    uint8_t *index = call->buffer[SEARCH_INDEX];
    for (int64_t i = 0; i < search_vectors(call->shape); i++) {
        float least = INFINITY;
        index[i] = 0;
        for (int k = 0; k < CODEWORDS; k++) {
            float distance = distance_of(z + i * CODEWORD_LENGTH, codebook + k * CODEWORD_LENGTH);
            if (distance < least) {
                least = distance;
                index[i] = (uint8_t)k;
            }
        }
    }
    return 0;
}

static const struct assay_variant host_scalar = {
    .operation = "vq_search",
    .name = "host_scalar",
    .summary = "one vector against one codeword at a time, on one core",
    .kind = ASSAY_REFERENCE,
    .place = ASSAY_HOST,
    .supports = search_only_fp32,
    .launch = launch_scalar,
};
ASSAY_REGISTER_VARIANT(host_scalar);

/* -------------------------------------------------------------- host_omp -- */

/* Each sum has LANES partial sums, which the compiler keeps in vector registers. */
WIDEST static void search_tile(const float *restrict z, const float *restrict codebook,
                               const float *restrict half, uint8_t *restrict index)
{
    float least[TILE];
    for (int v = 0; v < TILE; v++) {
        least[v] = INFINITY;
        index[v] = 0;
    }
    for (int k = 0; k < CODEWORDS; k++) {
        const float *codeword = codebook + k * CODEWORD_LENGTH;
        float sum[TILE][LANES] = {{0}};
        for (int i = 0; i < CODEWORD_LENGTH; i += LANES)
            for (int v = 0; v < TILE; v++)
                for (int lane = 0; lane < LANES; lane++)
                    sum[v][lane] += z[v * CODEWORD_LENGTH + i + lane] * codeword[i + lane];
        for (int v = 0; v < TILE; v++) {
            float product = 0;
            for (int lane = 0; lane < LANES; lane++)
                product += sum[v][lane];
            float score = half[k] - product;
            if (score < least[v]) {
                least[v] = score;
                index[v] = (uint8_t)k;
            }
        }
    }
}

static int launch_omp(struct assay_call *call)
{
    const float *z = call->buffer[SEARCH_Z];
    const float *codebook = call->buffer[SEARCH_CODEBOOK];
    uint8_t *index = call->buffer[SEARCH_INDEX];
    int64_t vectors = search_vectors(call->shape);
    float half[CODEWORDS];
    for (int k = 0; k < CODEWORDS; k++) {
        float sum = 0;
        for (int i = 0; i < CODEWORD_LENGTH; i++)
            sum += codebook[k * CODEWORD_LENGTH + i] * codebook[k * CODEWORD_LENGTH + i];
        half[k] = 0.5f * sum;
    }
#pragma omp parallel for schedule(static) if (vectors >= WORTH_THREADS)
    for (int64_t i = 0; i < vectors; i += TILE)
        search_tile(z + i * CODEWORD_LENGTH, codebook, half, index + i);
    return 0;
}

static const struct assay_variant host_omp = {
    .operation = "vq_search",
    .name = "host_omp",
    .summary = "all cores, widest vectors, a codeword against eight vectors",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .supports = search_only_fp32,
    .launch = launch_omp,
};
ASSAY_REGISTER_VARIANT(host_omp);
