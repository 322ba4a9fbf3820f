/*
 * decode_imma_staged.cu - for any code whose coordinates fit int8: one kernel per operand decodes
 * to device memory, and a third multiplies on the tensor cores (imma_ring.cuh).
 *
 * Bytes: the codes, (rows + columns) K written and read again, C. Operations: 2 * rows * K *
 * columns in int8. Each codeword is decoded only once. Codebooks that do not fit shared memory
 * need that (E8, q = 4: 65,536 codewords, 512 KiB).
 */
#include <stdlib.h>
#include <string.h>

#include "imma_ring.cuh"

struct staged_state {
    struct ring_plan plan; /* first, because its maps must be at multiples of 64 bytes */
    struct lut_points points;
    int8_t *decoded; /* A, then B */
};

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[LUT_SCALED]) return "a scale per block does not factor out of the sum";
    return lut_decode_unsupported(shape);
}

static struct imma_output output(const struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    return {.c = (float *)call->buffer[LUT_C],
            .rows = geometry.rows,
            .columns = geometry.columns,
            .stages_of_k = (int)(lut_decoded_stride(&geometry) / IMMA_K),
            .shift = lut_shift(geometry.divisor),
            .unit = geometry.unit};
}

static int setup(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    int64_t stride = lut_decoded_stride(&geometry);
    int64_t bytes = (geometry.rows + geometry.columns) * stride;
    struct staged_state *state = (struct staged_state *)aligned_alloc(64, sizeof *state);
    if (state == NULL) return assay_error("out of host memory");
    memset(state, 0, sizeof *state);
    call->state = state;
    if (lut_points_upload(call->shape, &state->points)) return -1;
    if (assay_cuda(cudaMalloc((void **)&state->decoded, (size_t)bytes), "decoded operands"))
        return -1;
    call->workspace_bytes += state->points.bytes + bytes;
    struct imma_output out = output(call);
    return ring_prepare(&state->plan, state->decoded, state->decoded + geometry.rows * stride,
                        stride, &out);
}

static int launch(struct assay_call *call)
{
    const struct staged_state *state = (const struct staged_state *)call->state;
    struct lut_geometry geometry = lut_geometry(call->shape);
    int8_t *b = state->decoded + geometry.rows * lut_decoded_stride(&geometry);
    if (lut_decode_i8(&geometry, call->buffer[LUT_A], geometry.rows, &state->points, false,
                      state->decoded, call->stream) ||
        lut_decode_i8(&geometry, call->buffer[LUT_B], geometry.columns, &state->points, true, b,
                      call->stream))
        return -1;
    return ring_enqueue(&state->plan, (cudaStream_t)call->stream);
}

static void teardown(struct assay_call *call)
{
    struct staged_state *state = (struct staged_state *)call->state;
    if (state == NULL) return;
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
