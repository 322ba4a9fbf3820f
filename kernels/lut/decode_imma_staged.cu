/*
 * decode_imma_staged.cu - any code whose coordinates fit int8: one kernel decodes
 * each operand to device memory, a third multiplies on the tensor cores.
 *
 * Bytes: the codes, (rows + columns) K written and read again, C. Operations:
 * 2 rows K columns in int8. A codeword is decoded once, which is what codebooks
 * need that do not fit shared memory (E8 q = 4: 65,536 codewords, 512 KiB).
 *
 * The product copies tiles with cp.async into four buffers, two stages ahead.
 */
#include <stdlib.h>

#include "imma.cuh"

struct copying {
    static constexpr int STAGES = 4, LEFT = 1, PIECES = IMMA_STAGE_BYTES / 16 / (int)IMMA_THREADS;
    static constexpr int SHARED_BYTES = STAGES * IMMA_STAGE_BYTES;
    const int8_t *a, *b;
    int64_t rows, columns, stride;
    int stages;

    int64_t first_row, first_column;

    __device__ __forceinline__ void begin(char *, struct imma_tile tile)
    {
        first_row = tile.row;
        first_column = tile.column;
    }

    /* Eight threads take the eight pieces of a row: 128 bytes at once. Without a
     * branch, and zeros beyond the last stage: over branches the compiler moves the
     * accumulators that the tensor cores are at work on. */
    __device__ __forceinline__ void produce(int stage, char *buffer)
    {
        constexpr int STEP = (int)IMMA_THREADS / 8;
        int thread_row = (int)threadIdx.x / 8, piece = (int)threadIdx.x % 8;
        int bytes = stage < stages ? 16 : 0, at = min(stage, stages - 1);
#pragma unroll
        for (int i = 0; i < PIECES; i++) {
            bool of_a = i * STEP < IMMA_ROWS;
            int row =
                of_a ? min((int)first_row + i * STEP + thread_row, (int)rows - 1)
                     : min((int)first_column + i * STEP - IMMA_ROWS + thread_row, (int)columns - 1);
            const int8_t *from = (of_a ? a : b) + row * stride + (int64_t)at * IMMA_K + piece * 16;
            unsigned to = (unsigned)__cvta_generic_to_shared(
                buffer + imma_offset(i * STEP + thread_row, piece));
            asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to),
                         "l"(from), "r"(bytes)
                         : "memory");
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    }

    __device__ __forceinline__ void settle()
    {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2 - LEFT) : "memory");
    }
};

struct staged_state {
    struct lut_points points;
    int8_t *decoded; /* A, then B */
};

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[LUT_SCALED]) return "a scale a block does not factor out of the sum";
    return lut_decode_unsupported(shape);
}

static int setup(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    struct staged_state *state = (struct staged_state *)calloc(1, sizeof *state);
    int64_t bytes = (geometry.rows + geometry.columns) * lut_decoded_stride(&geometry);
    if (state == NULL) return assay_error("out of host memory");
    call->state = state;
    if (imma_prepare((const void *)imma<copying>, copying::SHARED_BYTES)) return -1;
    if (lut_points_upload(call->shape, &state->points)) return -1;
    if (assay_cuda(cudaMalloc((void **)&state->decoded, (size_t)bytes), "decoded operands"))
        return -1;
    call->workspace_bytes += state->points.bytes + bytes;
    return 0;
}

static int launch(struct assay_call *call)
{
    const struct staged_state *state = (const struct staged_state *)call->state;
    struct lut_geometry geometry = lut_geometry(call->shape);
    int64_t stride = lut_decoded_stride(&geometry);
    copying producer = {};
    producer.a = state->decoded;
    producer.b = state->decoded + geometry.rows * stride;
    producer.rows = geometry.rows;
    producer.columns = geometry.columns;
    producer.stride = stride;
    producer.stages = (int)(stride / IMMA_K);
    imma_output out = {.c = (float *)call->buffer[LUT_C],
                       .rows = geometry.rows,
                       .columns = geometry.columns,
                       .stages_of_k = producer.stages,
                       .shift = lut_shift(geometry.divisor),
                       .unit = geometry.unit};
    if (lut_decode_i8(&geometry, call->buffer[LUT_A], geometry.rows, state->points.left,
                      (int8_t *)producer.a, call->stream) ||
        lut_decode_i8(&geometry, call->buffer[LUT_B], geometry.columns, state->points.right,
                      (int8_t *)producer.b, call->stream))
        return -1;
    imma<copying><<<(unsigned)imma_tiles(out.rows, out.columns), IMMA_THREADS,
                    copying::SHARED_BYTES, (cudaStream_t)call->stream>>>(producer, out);
    return assay_launched();
}

static void teardown(struct assay_call *call)
{
    struct staged_state *state = (struct staged_state *)call->state;
    if (state == NULL) return;
    cudaFree(state->decoded);
    lut_points_release(&state->points);
    free(state);
}

static const struct assay_variant variant = {
    .operation = "lut_matmul",
    .name = "decode_imma_staged",
    .summary = "decoded to int8 in device memory, then wgmma",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_DEVICE,
    .min_sm = 90,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
    .model = lut_model,
    .check = lut_check,
};
ASSAY_REGISTER_VARIANT(variant);
