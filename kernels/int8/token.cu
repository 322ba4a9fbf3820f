/*
 * token.cu - per token, by one block per row, in one kernel and in two.
 *
 *   token_onepass  keeps the row in shared memory from the search for its largest magnitude until
 *                  its codes are computed. It is slower than token_best because each element goes
 *                  through shared memory, and long rows leave few of them resident
 *   token_twopass  two kernels: the largest magnitude of each row, then the codes. Deliberately
 *                  slow: the tensor is read twice. The second kernel has four elements per thread
 *                  and takes a of the row from a workspace, because the scale a / 127 does not give
 *                  a back to the bit
 *
 * Formula: a = max |x|; s = fdiv(a, 127); y = rne(fmul(x, fdiv(127, a))). Bytes per element: 4 read
 * (bf16: 2), twice by token_twopass, the second time from L2 where the tensor fits there; 1
 * written; 4 written per row. Operations: 1 comparison, 1 product.
 */
#include "int8_token.cuh"
#include "kernels/cuda/cuda_limits.h"
#include "kernels/cuda/device_memory.h"

enum { THREADS = 256, WIDTH = 4, ROW_BYTES_MAX = 96 * 1024 };

/* --------------------------------------------------------------- token_onepass -- */

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

static const char *onepass_supports(const struct assay_shape *shape)
{
    return row_bytes(shape) > ROW_BYTES_MAX ? "a row is longer than 96 KiB of shared memory" : NULL;
}

static int onepass_setup(struct assay_call *call)
{
    const void *kernel = call->shape->value[TOKEN_INPUT] == INPUT_BF16
                             ? (const void *)token_onepass<uint16_t>
                             : (const void *)token_onepass<float>;
    return cuda_allow_shared(kernel, row_bytes(call->shape));
}

static int onepass_launch(struct assay_call *call)
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

static const struct assay_variant onepass = {
    .operation = "int8_quantize_token",
    .name = "token_onepass",
    .summary = "one row per block, kept in shared memory",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = onepass_supports,
    .shared_bytes = row_bytes,
    .setup = onepass_setup,
    .launch = onepass_launch,
    .model = int8_model_token,
};
ASSAY_REGISTER_VARIANT(onepass);

/* --------------------------------------------------------------- token_twopass -- */

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

static int twopass_setup(struct assay_call *call)
{
    size_t bytes = sizeof(float) * (size_t)call->shape->value[TOKEN_TOKENS];
    if (assay_cuda(cudaMalloc(&call->state, bytes), "cudaMalloc") < 0) return -1;
    call->workspace_bytes += (int64_t)bytes;
    return 0;
}

template <typename T> static void twopass_enqueue(struct assay_call *call)
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

static int twopass_launch(struct assay_call *call)
{
    if (call->shape->value[TOKEN_INPUT] == INPUT_BF16)
        twopass_enqueue<uint16_t>(call);
    else
        twopass_enqueue<float>(call);
    return assay_launched();
}

static const struct assay_variant twopass = {
    .operation = "int8_quantize_token",
    .name = "token_twopass",
    .summary = "two kernels: largest magnitudes, then codes; reads twice",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .setup = twopass_setup,
    .launch = twopass_launch,
    .teardown = device_memory_free,
    .model = int8_model_token,
};
ASSAY_REGISTER_VARIANT(twopass);
