/*
 * vq_gather_host.c - the gather on the host, on one core and on all: one copy of 512 bytes per
 * code, after the same widening passes.
 *
 * Bytes per vector: 1 read, 512 written. Operations: none.
 */
#include <string.h>

#include "vq_gather.h"

enum { WORTH_THREADS = 4096 }; /* vectors: 2 MiB */

/* The code of vector `i`, from the buffer that the last widening pass wrote. */
static int code_of(struct assay_call *call, int64_t i)
{
    switch (call->shape->value[GATHER_INDEX]) {
    case GATHER_I64:
        return (int)((const int64_t *)call->buffer[GATHER_WIDE])[i];
    case GATHER_CHAIN:
        return (int)((const float *)call->buffer[GATHER_FLOAT])[i];
    default:
        return ((const uint8_t *)call->buffer[GATHER_CODES])[i];
    }
}

static void widen(struct assay_call *call)
{
    int64_t index = call->shape->value[GATHER_INDEX];
    const uint8_t *codes = call->buffer[GATHER_CODES];
    int64_t *wide = call->buffer[GATHER_WIDE];
    float *floats = call->buffer[GATHER_FLOAT];
    int64_t vectors = gather_vectors(call->shape);
    for (int64_t i = 0; index != GATHER_U8 && i < vectors; i++)
        wide[i] = codes[i];
    for (int64_t i = 0; index == GATHER_CHAIN && i < vectors; i++)
        floats[i] = (float)wide[i];
}

static void copy_one(struct assay_call *call, int64_t i)
{
    const float *codebook = call->buffer[GATHER_CODEBOOK];
    memcpy((float *)call->buffer[GATHER_OUT] + i * CODEWORD_LENGTH,
           codebook + code_of(call, i) * CODEWORD_LENGTH, sizeof(float) * CODEWORD_LENGTH);
}

static int launch_scalar(struct assay_call *call)
{
    widen(call);
    for (int64_t i = 0; i < gather_vectors(call->shape); i++)
        copy_one(call, i);
    return 0;
}

static int launch_omp(struct assay_call *call)
{
    int64_t vectors = gather_vectors(call->shape);
    widen(call);
#pragma omp parallel for schedule(static) if (vectors >= WORTH_THREADS)
    for (int64_t i = 0; i < vectors; i++)
        copy_one(call, i);
    return 0;
}

static const struct assay_variant host_scalar = {
    .operation = "vq_gather",
    .name = "host_scalar",
    .summary = "one copy per code, on one core",
    .kind = ASSAY_REFERENCE,
    .place = ASSAY_HOST,
    .launch = launch_scalar,
};
ASSAY_REGISTER_VARIANT(host_scalar);

static const struct assay_variant host_omp = {
    .operation = "vq_gather",
    .name = "host_omp",
    .summary = "one copy per code, on all cores",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .launch = launch_omp,
};
ASSAY_REGISTER_VARIANT(host_omp);
