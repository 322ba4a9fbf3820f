/*
 * linear.cu - quantized_linear and quantized_mlp on the GPU: each layer by a kernel that encodes
 * the activations to codes in memory and a variant of lut_matmul that multiplies (without codes in
 * memory: linear_staged.cu). Between two layers lies device memory.
 *
 * Operations: those of the product, 2 * rows * K * columns per layer, and encoding, which has one
 * thread per block of 8 with about 200 operations per level. Bytes: those of the product; 4 read
 * and M / 8 written (E8, q = 2) per activation; 8 per entry of each layer but the last. Clipping is
 * part of the next layer's encoding. Two kernels per layer (three with gemv): with few rows the
 * launches are most of the time.
 */
#include <stdlib.h>

#include "lut_cuda.h"
#include "mlp.h"

enum { LINEAR_THREADS = 128 };

/* Put `index` where lut_read finds it. Packed indices of 13 bits share words and
 * never span more than two. */
static __device__ __forceinline__ void put(const struct lut_geometry &geometry, char *row,
                                           int64_t at, uint32_t index)
{
    if (geometry.format == LUT_FP32)
        ((float *)row)[at] = (float)index;
    else if (geometry.format == LUT_INT32)
        ((int32_t *)row)[at] = (int32_t)index;
    else if (geometry.bits == 8)
        ((uint8_t *)row)[at] = (uint8_t)index;
    else if (geometry.bits == 16)
        ((uint16_t *)row)[at] = (uint16_t)index;
    else {
        int64_t bit = at * geometry.bits;
        int shift = (int)(bit & 31);
        atomicOr((unsigned *)row + (bit >> 5), index << shift);
        if (shift + geometry.bits > 32)
            atomicOr((unsigned *)row + (bit >> 5) + 1, index >> (32 - shift));
    }
}

/* Q: the code's, so that nothing is divided by what is only known at run time. */
template <int Q>
static __global__ void __launch_bounds__(LINEAR_THREADS)
    linear_encode(struct lut_geometry geometry, float limit, float r, const float *__restrict__ x,
                  char *__restrict__ codes)
{
    int64_t at = (int64_t)blockIdx.x * LINEAR_THREADS + threadIdx.x;
    if (at >= geometry.rows * geometry.blocks) return;
    int64_t row = at / geometry.blocks, block = at % geometry.blocks;
    float entries[8];
    int point[8];
#pragma unroll
    for (int i = 0; i < 8; i++)
        entries[i] = block * 8 + i < geometry.k ? x[row * geometry.k + block * 8 + i] : 0.0f;
#pragma unroll
    for (int i = 0; i < 8; i++)
        entries[i] = fminf(fmaxf(entries[i], -limit), limit);
    linear_scale(entries, r);
    lut_closest_e8(entries, point);
    for (int m = 0; m < geometry.levels; m++) {
        if (m > 0) lut_next_e8(point, Q);
        put(geometry, codes + row * geometry.stride_bytes, block * geometry.levels + m,
            lut_index_e8(point, Q));
    }
}

/* decode_gemv is for lattices whose unit is 1, so C is multiplied by beta after it. C has few rows.
 */
static __global__ void __launch_bounds__(LINEAR_THREADS)
    times_beta(float *c, int64_t count, float beta)
{
    int64_t at = (int64_t)blockIdx.x * LINEAR_THREADS + threadIdx.x;
    if (at < count) c[at] *= beta;
}

static inline size_t linear_codes_bytes(const struct lut_geometry *geometry)
{
    return (size_t)(geometry->rows * geometry->stride_bytes);
}

/* Enqueue: X, clipped to -limit to limit, encoded with r into the inner call's LUT_A, and `product`
 * on that. With a limit of infinity NaN becomes one, and either loses its block. */
static inline int linear_layer(const struct lut_geometry *geometry,
                               const struct assay_variant *product, struct assay_call *inner,
                               const float *x, float limit, float r)
{
    cudaStream_t stream = (cudaStream_t)inner->stream;
    char *codes = (char *)inner->buffer[LUT_A];
    float *c = (float *)inner->buffer[LUT_C];
    int64_t count = geometry->rows * geometry->columns;
    unsigned blocks =
        (unsigned)((geometry->rows * geometry->blocks + LINEAR_THREADS - 1) / LINEAR_THREADS);
    /* Bits are set, not stored, where indices share words. */
    bool shared = geometry->format == LUT_PACKED && geometry->bits % 8 != 0;
    if (shared &&
        assay_cuda(cudaMemsetAsync(codes, 0, linear_codes_bytes(geometry), stream), "codes"))
        return -1;
    auto encode = geometry->q == 2   ? linear_encode<2>
                  : geometry->q == 3 ? linear_encode<3>
                                     : linear_encode<4>;
    encode<<<blocks, LINEAR_THREADS, 0, stream>>>(*geometry, limit, r, x, codes);
    if (assay_launched() || product->launch(inner)) return -1;
    if (product != &lut_decode_gemv) return 0;
    times_beta<<<(unsigned)((count + LINEAR_THREADS - 1) / LINEAR_THREADS), LINEAR_THREADS, 0,
                 stream>>>(c, count, geometry->unit);
    return assay_launched();
}

/* For the library's network (mlp.h): layers here clip as they encode. */
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

/* ------------------------------------------------------------- layers -- */

struct mlp_state {
    struct mlp mlp;                           /* the inner calls' shape is here */
    struct assay_call inner[MLP_MOST_LAYERS]; /* one of quantized_linear's products per layer */
    void *codes;
    /* What goes from one layer to the next: its reader ends before its writer begins. */
    float *hidden;
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
    if (state->mlp.layers == 1) hidden = 0;
    if (assay_cuda(cudaMalloc(&state->codes, codes), "codes")) return -1;
    if (assay_cuda(cudaMemset(state->codes, 0, codes), "codes")) return -1; /* the padding */
    if (hidden && assay_cuda(cudaMalloc((void **)&state->hidden, hidden), "a layer")) return -1;
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

/* The variant of an operation whose layers PRODUCT multiplies. */
template <const struct assay_variant *PRODUCT>
static constexpr struct assay_variant encoded(const char *operation, const char *name,
                                              const char *summary, int min_sm = 0)
{
    return {
        .operation = operation,
        .name = name,
        .summary = summary,
        .kind = ASSAY_KERNEL,
        .place = ASSAY_CUDA,
        .min_sm = min_sm,
        .supports = supports<PRODUCT>,
        .shared_bytes = shared_bytes<PRODUCT>,
        .setup = setup<PRODUCT>,
        .launch = launch<PRODUCT>,
        .teardown = teardown<PRODUCT>,
    };
}

/* The same for instructions of Hopper alone. */
template <const struct assay_variant *PRODUCT>
static constexpr struct assay_variant encoded_hopper(const char *operation, const char *name,
                                                     const char *summary)
{
    struct assay_variant variant = encoded<PRODUCT>(operation, name, summary, 90);
    variant.max_sm = 90;
    variant.arch_specific = true;
    return variant;
}

static constexpr struct assay_variant linear_table = encoded<&lut_smem_i8>(
    "quantized_linear", "encode_smem_i8", "encode, then the int8 table in shared memory");
ASSAY_REGISTER_VARIANT(linear_table);

static constexpr struct assay_variant linear_dp4a =
    encoded<&lut_decode_dp4a>("quantized_linear", "encode_dp4a", "encode, then decode_dp4a");
ASSAY_REGISTER_VARIANT(linear_dp4a);

static constexpr struct assay_variant linear_imma =
    encoded_hopper<&lut_decode_imma>("quantized_linear", "encode_imma", "encode, then decode_imma");
ASSAY_REGISTER_VARIANT(linear_imma);

static constexpr struct assay_variant linear_mma = encoded<&lut_decode_mma>(
    "quantized_linear", "encode_mma", "encode, then decode_mma: any code that fits int8", 80);
ASSAY_REGISTER_VARIANT(linear_mma);

static constexpr struct assay_variant linear_gemv = encoded<&lut_decode_gemv>(
    "quantized_linear", "encode_gemv", "encode, then decode_gemv, then beta", 80);
ASSAY_REGISTER_VARIANT(linear_gemv);

static constexpr struct assay_variant linear_lookup =
    encoded<&lut_lookup_mma>("quantized_linear", "encode_lookup", "encode, then lookup_mma", 80);
ASSAY_REGISTER_VARIANT(linear_lookup);

static constexpr struct assay_variant linear_lookup_cached = encoded<&lut_lookup_mma_cached>(
    "quantized_linear", "encode_lookup_cached", "encode, then lookup_mma_cached", 80);
ASSAY_REGISTER_VARIANT(linear_lookup_cached);

static constexpr struct assay_variant mlp_table = encoded<&lut_smem_i8>(
    "quantized_mlp", "encode_smem_i8", "each layer: encode, then the int8 table in shared memory");
ASSAY_REGISTER_VARIANT(mlp_table);

static constexpr struct assay_variant mlp_dp4a = encoded<&lut_decode_dp4a>(
    "quantized_mlp", "encode_dp4a", "each layer: encode, then decode_dp4a");
ASSAY_REGISTER_VARIANT(mlp_dp4a);

static constexpr struct assay_variant mlp_gemv = encoded<&lut_decode_gemv>(
    "quantized_mlp", "encode_gemv", "each layer: encode, then decode_gemv, then beta", 80);
ASSAY_REGISTER_VARIANT(mlp_gemv);
