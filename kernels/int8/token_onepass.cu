/*
 * token_onepass.cu - per token in one kernel: one block per row, which keeps the row in shared
 * memory from the search for its largest magnitude until its codes are computed.
 *
 * Formula: a = max |x|; s = fdiv(a, 127); y = rne(fmul(x, fdiv(127, a))). Bytes per element: 4 read
 * (bf16: 2), 1 written; 4 written per row. Operations: 1 comparison, 1 product. It is slower than
 * token_best because each element goes through shared memory, and long rows leave few of them
 * resident.
 */
#include "int8_token.cuh"
#include "kernels/cuda/cuda_limits.h"

enum { THREADS = 256, WIDTH = 4, ROW_BYTES_MAX = 96 * 1024 };

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    token_onepass(const T *__restrict__ x, int8_t *__restrict__ y, float *__restrict__ scales,
                  int hidden)
{
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ uint32_t warps[THREADS / 32];
    T *row = (T *)memory;
    const T *in = x + (int64_t)blockIdx.x * hidden;
    int8_t *out = y + (int64_t)blockIdx.x * hidden;
    bool vectors = hidden % WIDTH == 0;
    uint32_t most = 0;

    /* Each thread reads only what it wrote itself, so the row needs no barrier. */
    if (vectors) {
        for (int i = WIDTH * threadIdx.x; i < hidden; i += WIDTH * THREADS) {
            struct alignas(WIDTH * sizeof(T)) quad {
                T element[WIDTH];
            };
            *(quad *)(row + i) = *(const quad *)(in + i);
            most = token_fold(most, int8_load4(row + i));
        }
    } else {
        for (int i = threadIdx.x; i < hidden; i += THREADS) {
            row[i] = in[i];
            most = max(most, token_magnitude(int8_float(row[i])));
        }
    }

    float absmax = token_block_max(most, warps);
    float multiplier = token_multiplier(absmax);
    if (threadIdx.x == 0) scales[blockIdx.x] = token_scale(absmax);

    if (vectors) {
        for (int i = WIDTH * threadIdx.x; i < hidden; i += WIDTH * THREADS)
            int8_store4(out + i, token_pack(int8_load4(row + i), multiplier));
    } else {
        for (int i = threadIdx.x; i < hidden; i += THREADS)
            out[i] = int8_round(__fmul_rn(int8_float(row[i]), multiplier));
    }
}

static int64_t row_bytes(const struct assay_shape *shape)
{
    return shape->value[TOKEN_HIDDEN] * int8_input_bytes(shape->value[TOKEN_INPUT]);
}

static const char *supports(const struct assay_shape *shape)
{
    return row_bytes(shape) > ROW_BYTES_MAX ? "a row is longer than 96 KiB of shared memory" : NULL;
}

static int setup(struct assay_call *call)
{
    const void *kernel = call->shape->value[TOKEN_INPUT] == INPUT_BF16
                             ? (const void *)token_onepass<uint16_t>
                             : (const void *)token_onepass<float>;
    return cuda_allow_shared(kernel, row_bytes(call->shape));
}

static int launch(struct assay_call *call)
{
    unsigned tokens = (unsigned)call->shape->value[TOKEN_TOKENS];
    int hidden = (int)call->shape->value[TOKEN_HIDDEN];
    size_t shared = (size_t)row_bytes(call->shape);
    cudaStream_t stream = (cudaStream_t)call->stream;
    const void *x = call->buffer[BUF_X];
    int8_t *y = (int8_t *)call->buffer[BUF_Y];
    float *scales = (float *)call->buffer[BUF_SCALES];
    if (call->shape->value[TOKEN_INPUT] == INPUT_BF16)
        token_onepass<<<tokens, THREADS, shared, stream>>>((const uint16_t *)x, y, scales, hidden);
    else
        token_onepass<<<tokens, THREADS, shared, stream>>>((const float *)x, y, scales, hidden);
    return assay_launched();
}

static const struct assay_variant variant = {
    .operation = "int8_quantize_token",
    .name = "token_onepass",
    .summary = "one row per block, kept in shared memory",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports,
    .shared_bytes = row_bytes,
    .setup = setup,
    .launch = launch,
    .model = int8_model_token,
};
ASSAY_REGISTER_VARIANT(variant);
