/*
 * decode_imma_staged.cu - codes are decoded to int8 in device memory, and Hopper's tensor cores
 * multiply (imma_ring.cuh): two kernels, one for both operands and the product. Any code whose
 * coordinates fit int8.
 *
 * Each codeword is decoded only once, where `decode_imma` does it once per tile. Codebooks that do
 * not fit shared memory need that (E8, q = 4: 65,536 codewords, 512 KiB).
 *
 * Operations: 2 * rows * K * columns in int8. Bytes: the codes once, (rows + columns) K written and
 * read again, C; where K is divided into parts, C once more for each part.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "imma_ring.cuh"
#include "lut_staged.h"

struct state {
    struct ring_plan plan; /* first, because its maps must be at multiples of 64 bytes */
    struct lut_points points;
    int8_t *decoded; /* A, then B */
};

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[LUT_SCALED]) return "a scale per block does not factor out of the sum";
    return lut_decode_unsupported(shape);
}

static int setup(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    int64_t stride = lut_decoded_stride(&geometry);
    int64_t bytes = (geometry.rows + geometry.columns) * stride;
    struct state *state = (struct state *)aligned_alloc(64, sizeof *state);
    if (state == NULL) return assay_error("out of host memory");
    memset(state, 0, sizeof *state);
    call->state = state;
    if (lut_points_upload(call->shape, &state->points)) return -1;
    call->workspace_bytes += state->points.bytes;
    int status = device_memory(call, (void **)&state->decoded, bytes, "decoded operands");
    if (status) return status;
    const struct imma_output out = imma_output_of(call);
    status = ring_prepare(&state->plan, state->decoded, state->decoded + geometry.rows * stride,
                          stride, &out, call);
    (void)snprintf(call->note, sizeof call->note, "k in %d", state->plan.parts);
    return status;
}

int8_t *lut_staged_operands(const struct assay_call *call, const struct lut_points **points)
{
    const struct state *state = (const struct state *)call->state;
    *points = &state->points;
    return state->decoded;
}

int lut_staged_multiply(const struct assay_call *call)
{
    const struct state *state = (const struct state *)call->state;
    return ring_enqueue(&state->plan, (cudaStream_t)call->stream);
}

static int launch(struct assay_call *call)
{
    const struct state *state = (const struct state *)call->state;
    struct lut_geometry geometry = lut_geometry(call->shape);
    if (lut_decode_operands(&geometry, call->buffer[LUT_A], call->buffer[LUT_B], &state->points,
                            state->decoded, call->stream))
        return -1;
    return lut_staged_multiply(call);
}

static void teardown(struct assay_call *call)
{
    struct state *state = (struct state *)call->state;
    if (state == NULL) return;
    ring_release(&state->plan);
    cudaFree(state->decoded);
    lut_points_release(&state->points);
    free(state);
}

extern const struct assay_variant lut_decode_imma_staged = {
    .operation = "lut_matmul",
    .name = "decode_imma_staged",
    .summary = "decoded to int8 in device memory, then wgmma",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 90,
    .max_sm = 90,
    .arch_specific = true,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
    .model = lut_model,
};
ASSAY_REGISTER_VARIANT(lut_decode_imma_staged);
