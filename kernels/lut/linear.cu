/*
 * linear.cu - quantized_linear on the GPU: one kernel encodes the activations to codes in memory,
 * then a variant of lut_matmul multiplies.
 * linear.cuh has both; operations and bytes are those of the product, and of encoding as there.
 */
#include <stdlib.h>

#include "linear.cuh"

struct linear_state {
    struct assay_call inner; /* of lut_matmul: A is `codes` */
    void *codes;
};

/* ----------------------------------------------------------- composition -- */

static int setup_with(struct assay_call *call, const struct assay_variant *product)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    struct linear_state *state = (struct linear_state *)calloc(1, sizeof *state);
    size_t bytes = linear_codes_bytes(&geometry);
    if (state == NULL) return assay_error("out of host memory");
    call->state = state;
    if (assay_cuda(cudaMalloc(&state->codes, bytes), "codes")) return -1;
    if (assay_cuda(cudaMemset(state->codes, 0, bytes), "codes")) return -1; /* the padding */
    state->inner.shape = call->shape;
    state->inner.buffer[LUT_A] = state->codes;
    state->inner.buffer[LUT_B] = call->buffer[LINEAR_W];
    state->inner.buffer[LUT_C] = call->buffer[LINEAR_C];
    state->inner.stream = call->stream;
    int status = product->setup(&state->inner);
    if (status) return status;
    call->workspace_bytes += (int64_t)bytes + state->inner.workspace_bytes;
    return 0;
}

static int launch_with(struct assay_call *call, const struct assay_variant *product)
{
    struct linear_state *state = (struct linear_state *)call->state;
    struct lut_geometry geometry = lut_geometry(call->shape);
    state->inner.buffer[LUT_B] = call->buffer[LINEAR_W];
    state->inner.buffer[LUT_C] = call->buffer[LINEAR_C];
    state->inner.stream = call->stream;
    return linear_layer(&geometry, product, &state->inner, (const float *)call->buffer[LINEAR_X],
                        INFINITY, lut_inverse_beta(geometry.q, geometry.levels));
}

static void teardown_with(struct assay_call *call, const struct assay_variant *product)
{
    struct linear_state *state = (struct linear_state *)call->state;
    if (state == NULL) return;
    if (state->inner.shape) product->teardown(&state->inner);
    cudaFree(state->codes);
    free(state);
}

/* ------------------------------------------------------------- variants -- */

template <const struct assay_variant *PRODUCT>
static const char *supports(const struct assay_shape *shape)
{
    return PRODUCT->supports ? PRODUCT->supports(shape) : NULL;
}

template <const struct assay_variant *PRODUCT>
static int64_t shared_bytes(const struct assay_shape *shape)
{
    return PRODUCT->shared_bytes ? PRODUCT->shared_bytes(shape) : 0;
}

template <const struct assay_variant *PRODUCT> static int setup(struct assay_call *call)
{
    return setup_with(call, PRODUCT);
}

template <const struct assay_variant *PRODUCT> static int launch(struct assay_call *call)
{
    return launch_with(call, PRODUCT);
}

template <const struct assay_variant *PRODUCT> static void teardown(struct assay_call *call)
{
    teardown_with(call, PRODUCT);
}

static const struct assay_variant by_table = {
    .operation = "quantized_linear",
    .name = "encode_smem_i8",
    .summary = "encode, then the int8 table in shared memory",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_DEVICE,
    .supports = supports<&lut_smem_i8>,
    .shared_bytes = shared_bytes<&lut_smem_i8>,
    .setup = setup<&lut_smem_i8>,
    .launch = launch<&lut_smem_i8>,
    .teardown = teardown<&lut_smem_i8>,
};
ASSAY_REGISTER_VARIANT(by_table);

static const struct assay_variant by_dp4a = {
    .operation = "quantized_linear",
    .name = "encode_dp4a",
    .summary = "encode, then decode_dp4a",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_DEVICE,
    .supports = supports<&lut_decode_dp4a>,
    .shared_bytes = shared_bytes<&lut_decode_dp4a>,
    .setup = setup<&lut_decode_dp4a>,
    .launch = launch<&lut_decode_dp4a>,
    .teardown = teardown<&lut_decode_dp4a>,
};
ASSAY_REGISTER_VARIANT(by_dp4a);

static const struct assay_variant by_imma = {
    .operation = "quantized_linear",
    .name = "encode_imma",
    .summary = "encode, then decode_imma",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_DEVICE,
    .min_sm = 90,
    .max_sm = 90,
    .arch_specific = true,
    .supports = supports<&lut_decode_imma>,
    .shared_bytes = shared_bytes<&lut_decode_imma>,
    .setup = setup<&lut_decode_imma>,
    .launch = launch<&lut_decode_imma>,
    .teardown = teardown<&lut_decode_imma>,
};
ASSAY_REGISTER_VARIANT(by_imma);

static const struct assay_variant by_staged = {
    .operation = "quantized_linear",
    .name = "encode_imma_staged",
    .summary = "encode, then decode_imma_staged: any code that fits int8",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_DEVICE,
    .min_sm = 90,
    .max_sm = 90,
    .arch_specific = true,
    .supports = supports<&lut_decode_imma_staged>,
    .shared_bytes = shared_bytes<&lut_decode_imma_staged>,
    .setup = setup<&lut_decode_imma_staged>,
    .launch = launch<&lut_decode_imma_staged>,
    .teardown = teardown<&lut_decode_imma_staged>,
};
ASSAY_REGISTER_VARIANT(by_staged);

static const struct assay_variant by_mma = {
    .operation = "quantized_linear",
    .name = "encode_mma",
    .summary = "encode, then decode_mma: any code that fits int8",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_DEVICE,
    .min_sm = 80,
    .supports = supports<&lut_decode_mma>,
    .shared_bytes = shared_bytes<&lut_decode_mma>,
    .setup = setup<&lut_decode_mma>,
    .launch = launch<&lut_decode_mma>,
    .teardown = teardown<&lut_decode_mma>,
};
ASSAY_REGISTER_VARIANT(by_mma);

static const struct assay_variant by_gemv = {
    .operation = "quantized_linear",
    .name = "encode_gemv",
    .summary = "encode, then decode_gemv, then beta",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_DEVICE,
    .min_sm = 80,
    .supports = supports<&lut_decode_gemv>,
    .shared_bytes = shared_bytes<&lut_decode_gemv>,
    .setup = setup<&lut_decode_gemv>,
    .launch = launch<&lut_decode_gemv>,
    .teardown = teardown<&lut_decode_gemv>,
};
ASSAY_REGISTER_VARIANT(by_gemv);
