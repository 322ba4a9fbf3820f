/*
 * mlp.cu - quantized_mlp on the GPU: linear.cuh layer after layer, what lies between two layers in
 * device memory.
 *
 * Operations: 2 * rows * width^2 per layer. Bytes: those of the operation, and 8 per entry of each
 * layer but the last. Clipping is part of the next layer's encoding. Two kernels per layer (three
 * with gemv): with few rows the launches are most of the time.
 */
#include <stdlib.h>

#include "linear.cuh"
#include "mlp.h"

struct mlp_state {
    struct mlp mlp;                           /* the inner calls' shape is here */
    struct assay_call inner[MLP_MOST_LAYERS]; /* one of quantized_linear's products per layer */
    void *codes;
    float *
        hidden; /* what goes from one layer to the next: its reader ends before its writer begins */
};

/* Before the first launch and before each: the harness may move buffers. */
static void aim(struct mlp_state *state, const struct assay_call *call)
{
    for (int layer = 0; layer < state->mlp.layers; layer++) {
        struct assay_call *inner = &state->inner[layer];
        bool last = layer == state->mlp.layers - 1;
        inner->shape = &state->mlp.layer;
        inner->stream = call->stream;
        inner->buffer[LUT_A] = state->codes;
        inner->buffer[LUT_B] = (char *)call->buffer[LINEAR_W] + layer * state->mlp.layer_bytes;
        inner->buffer[LUT_C] = last ? call->buffer[LINEAR_C] : state->hidden;
    }
}

static int setup_with(struct assay_call *call, const struct assay_variant *product)
{
    struct mlp_state *state = (struct mlp_state *)calloc(1, sizeof *state);
    if (state == NULL) return assay_error("out of host memory");
    call->state = state;
    state->mlp = mlp_of(call->shape);
    const struct lut_geometry *geometry = &state->mlp.geometry;
    size_t codes = linear_codes_bytes(geometry);
    size_t hidden = (size_t)(geometry->rows * geometry->columns) * sizeof(float);
    if (assay_cuda(cudaMalloc(&state->codes, codes), "codes")) return -1;
    if (assay_cuda(cudaMemset(state->codes, 0, codes), "codes")) return -1; /* the padding */
    if (assay_cuda(cudaMalloc((void **)&state->hidden, hidden), "a layer")) return -1;
    call->workspace_bytes += (int64_t)(codes + hidden);
    aim(state, call);
    for (int layer = 0; layer < state->mlp.layers; layer++) {
        int status = product->setup(&state->inner[layer]);
        if (status) return status;
        call->workspace_bytes += state->inner[layer].workspace_bytes;
    }
    return 0;
}

static int launch_with(struct assay_call *call, const struct assay_variant *product)
{
    struct mlp_state *state = (struct mlp_state *)call->state;
    aim(state, call);
    for (int layer = 0; layer < state->mlp.layers; layer++) {
        const float *x = layer > 0 ? state->hidden : (const float *)call->buffer[LINEAR_X];
        if (linear_layer(&state->mlp.geometry, product, &state->inner[layer], x,
                         mlp_limit(&state->mlp, layer), mlp_r(&state->mlp, layer)))
            return -1;
    }
    return 0;
}

static void teardown_with(struct assay_call *call, const struct assay_variant *product)
{
    struct mlp_state *state = (struct mlp_state *)call->state;
    if (state == NULL) return;
    for (int layer = 0; layer < state->mlp.layers; layer++)
        if (state->inner[layer].shape) product->teardown(&state->inner[layer]);
    cudaFree(state->hidden);
    cudaFree(state->codes);
    free(state);
}

static __global__ void __launch_bounds__(LINEAR_THREADS)
    clip(float *values, int64_t count, float limit)
{
    int64_t at = (int64_t)blockIdx.x * LINEAR_THREADS + threadIdx.x;
    if (at < count) values[at] = fminf(fmaxf(values[at], -limit), limit);
}

extern "C" int mlp_clip(float *values, int64_t count, float limit, void *stream)
{
    unsigned blocks = (unsigned)((count + LINEAR_THREADS - 1) / LINEAR_THREADS);
    clip<<<blocks, LINEAR_THREADS, 0, (cudaStream_t)stream>>>(values, count, limit);
    return assay_launched();
}

/* ------------------------------------------------------------- variants -- */

template <const struct assay_variant *PRODUCT>
static const char *supports(const struct assay_shape *shape)
{
    const struct mlp mlp = mlp_of(shape);
    return PRODUCT->supports ? PRODUCT->supports(&mlp.layer) : NULL;
}

template <const struct assay_variant *PRODUCT>
static int64_t shared_bytes(const struct assay_shape *shape)
{
    const struct mlp mlp = mlp_of(shape);
    return PRODUCT->shared_bytes ? PRODUCT->shared_bytes(&mlp.layer) : 0;
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
    .operation = "quantized_mlp",
    .name = "encode_smem_i8",
    .summary = "each layer: encode, then the int8 table in shared memory",
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
    .operation = "quantized_mlp",
    .name = "encode_dp4a",
    .summary = "each layer: encode, then decode_dp4a",
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

static const struct assay_variant by_gemv = {
    .operation = "quantized_mlp",
    .name = "encode_gemv",
    .summary = "each layer: encode, then decode_gemv, then beta",
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
