/*
 * vq_gemm_openblas.c - `vq_search` on the host as a matrix product: OpenBLAS computes z.e of a
 * chunk of vectors and all codewords, and a second pass finds the least |e|^2 / 2 - z.e.
 *
 * Operations: 2 * 256 * 128 per vector. Bytes per vector: 512 read, 1 written, and 1024 of products
 * written and read, in the cache.
 */
#include <math.h>
#include <stdlib.h>

#include "kernels/codec/search/vq_search.h"
#include "load_openblas.h"

enum { CHUNK = 4096, WORTH_THREADS = 512 }; /* vectors; 4 MiB of products */

struct scratch {
    float half[CODEWORDS];
    float product[CHUNK * CODEWORDS];
};

static int setup(struct assay_call *call)
{
    int status = openblas_load();
    if (status) return status;
    call->state = malloc(sizeof(struct scratch));
    if (!call->state) return assay_error("out of memory");
    call->workspace_bytes += (int64_t)sizeof(struct scratch);
    return 0;
}

static uint8_t least(const float *half, const float *product)
{
    float score = INFINITY;
    int best = 0;
    for (int k = 0; k < CODEWORDS; k++)
        if (half[k] - product[k] < score) {
            score = half[k] - product[k];
            best = k;
        }
    return (uint8_t)best;
}

static int launch(struct assay_call *call)
{
    const struct openblas *api = openblas_api();
    struct scratch *scratch = call->state;
    const float *z = call->buffer[SEARCH_Z];
    const float *codebook = call->buffer[SEARCH_CODEBOOK];
    uint8_t *index = call->buffer[SEARCH_INDEX];
    int64_t vectors = search_vectors(call->shape);
    for (int k = 0; k < CODEWORDS; k++) {
        const float *codeword = codebook + k * CODEWORD_LENGTH;
        scratch->half[k] = 0.5f * api->sdot(CODEWORD_LENGTH, codeword, 1, codeword, 1);
    }
    for (int64_t first = 0; first < vectors; first += CHUNK) {
        int count = vectors - first < CHUNK ? (int)(vectors - first) : CHUNK;
        api->sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, count, CODEWORDS, CODEWORD_LENGTH, 1.0f,
                   z + first * CODEWORD_LENGTH, CODEWORD_LENGTH, codebook, CODEWORD_LENGTH, 0.0f,
                   scratch->product, CODEWORDS);
#pragma omp parallel for schedule(static) if (count >= WORTH_THREADS)
        for (int i = 0; i < count; i++)
            index[first + i] = least(scratch->half, scratch->product + i * CODEWORDS);
    }
    return 0;
}

static void teardown(struct assay_call *call)
{
    free(call->state);
}

static const struct assay_variant host_gemm_argmin = {
    .operation = "vq_search",
    .name = "host_gemm_argmin",
    .summary = "OpenBLAS, 4096 vectors against all codewords, then the least of each",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_HOST,
    .supports = search_only_fp32,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(host_gemm_argmin);
