/*
 * token_twopass.cu - per token in two kernels: the largest magnitude of each row, then the codes.
 * Deliberately slow: the tensor is read twice.
 *
 * Formula: a = max |x|; s = fdiv(a, 127); y = rne(fmul(x, fdiv(127, a))).
 * Bytes per element: 8 read (bf16: 4), 1 written; the second read comes from L2 where the tensor
 * fits there. Operations: 1 comparison, 1 product.
 *
 * The first kernel has one block per row. The second has four elements per thread and takes a of
 * the row from a workspace, because the scale a / 127 does not give a back to the bit.
 */
#include "kernels/cuda/device_memory.h"
#include "int8_token.cuh"

enum { THREADS = 256, WIDTH = 4 };

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    find_absmax(const T *__restrict__ x, float *__restrict__ scales, float *__restrict__ absmax,
                int64_t hidden)
{
    __shared__ uint32_t warps[THREADS / 32];
    const T *row = x + blockIdx.x * hidden;
    uint32_t most = 0;
    if (hidden % WIDTH == 0) {
        for (int64_t i = WIDTH * threadIdx.x; i < hidden; i += WIDTH * THREADS)
            most = token_fold(most, int8_load4(row + i));
    } else {
        for (int64_t i = threadIdx.x; i < hidden; i += THREADS)
            most = max(most, token_magnitude(int8_float(row[i])));
    }
    float a = token_block_max(most, warps);
    if (threadIdx.x == 0) {
        absmax[blockIdx.x] = a;
        scales[blockIdx.x] = token_scale(a);
    }
}

/* blockIdx.y strides over rows; blockIdx.x is the part of a row. */
template <typename T>
static __global__ void __launch_bounds__(THREADS)
    encode(const T *__restrict__ x, int8_t *__restrict__ y, const float *__restrict__ absmax,
           int64_t tokens, int64_t hidden)
{
    int64_t i = WIDTH * ((int64_t)blockIdx.x * THREADS + threadIdx.x);
    if (i >= hidden) return;
    for (int64_t row = blockIdx.y; row < tokens; row += gridDim.y) {
        float multiplier = token_multiplier(absmax[row]);
        const T *in = x + row * hidden;
        int8_t *out = y + row * hidden;
        if (hidden % WIDTH == 0) {
            int8_store4(out + i, token_pack(int8_load4(in + i), multiplier));
        } else {
            for (int64_t j = i; j < min(i + WIDTH, hidden); j++)
                out[j] = int8_round(__fmul_rn(int8_float(in[j]), multiplier));
        }
    }
}

static int setup(struct assay_call *call)
{
    size_t bytes = sizeof(float) * (size_t)call->shape->value[TOKEN_TOKENS];
    if (assay_cuda(cudaMalloc(&call->state, bytes), "cudaMalloc") < 0) return -1;
    call->workspace_bytes += (int64_t)bytes;
    return 0;
}

template <typename T> static void enqueue(struct assay_call *call)
{
    int64_t tokens = call->shape->value[TOKEN_TOKENS];
    int64_t hidden = call->shape->value[TOKEN_HIDDEN];
    cudaStream_t stream = (cudaStream_t)call->stream;
    const T *x = (const T *)call->buffer[BUF_X];
    int8_t *y = (int8_t *)call->buffer[BUF_Y];
    float *absmax = (float *)call->state;
    dim3 grid(int8_blocks(hidden, THREADS * WIDTH), (unsigned)(tokens < 65535 ? tokens : 65535));
    find_absmax<T><<<(unsigned)tokens, THREADS, 0, stream>>>(x, (float *)call->buffer[BUF_SCALES],
                                                             absmax, hidden);
    encode<T><<<grid, THREADS, 0, stream>>>(x, y, absmax, tokens, hidden);
}

static int launch(struct assay_call *call)
{
    if (call->shape->value[TOKEN_INPUT] == INPUT_BF16)
        enqueue<uint16_t>(call);
    else
        enqueue<float>(call);
    return assay_launched();
}

static const struct assay_variant variant = {
    .operation = "int8_quantize_token",
    .name = "token_twopass",
    .summary = "two kernels: largest magnitudes, then codes; reads twice",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .setup = setup,
    .launch = launch,
    .teardown = device_memory_free,
    .model = int8_model_token,
};
ASSAY_REGISTER_VARIANT(variant);
