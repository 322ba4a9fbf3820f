/*
 * copy_int8.cu - memory-bound baselines of the int8 family on the GPU.
 *
 *   copy_r4w1    the memory accesses of the best quantiser (int8_stream) without its arithmetic:
 *                reads 4 bytes (bf16: 2) and writes 1, the top byte of the element as fp32. This
 *                bounds the fused kernels
 *   device_copy  cudaMemcpyAsync of half as many bytes from device to device, so that as many are
 *                moved in all, half read and half written; compared by bandwidth
 *
 * For the per-token operation, copy_r4w1 also writes 4 bytes per row: the row's first element.
 */
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/sm_limits.cuh"
#include "kernels/int8/int8.cuh"

enum { THREADS = 256, GROUPS = 4, POISON = 0xa5 };

struct top_bytes {
    __device__ __forceinline__ uint32_t pack(float4 v) const
    {
        uint32_t low = __byte_perm(__float_as_uint(v.x), __float_as_uint(v.y), 0x0073);
        uint32_t high = __byte_perm(__float_as_uint(v.z), __float_as_uint(v.w), 0x0073);
        return __byte_perm(low, high, 0x5410);
    }

    __device__ __forceinline__ int8_t one(float v) const
    {
        return (int8_t)(__float_as_uint(v) >> 24);
    }
};

template <typename T>
static __global__ void __launch_bounds__(THREADS, SM_THREADS / THREADS)
    copy_r4w1(const T *__restrict__ x, int8_t *__restrict__ y, int64_t n,
              float *__restrict__ scales, int64_t tokens, int64_t hidden)
{
    int64_t row = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    int64_t threads = (int64_t)gridDim.x * THREADS;
    for (; row < tokens; row += threads)
        scales[row] = int8_float(x[row * hidden]);
    int8_stream<THREADS, GROUPS>(x, y, n, top_bytes{});
}

/* `tokens` 0: no scales. */
static int enqueue_copy(struct assay_call *call, int64_t n, int64_t input, int64_t tokens,
                        int64_t hidden)
{
    cudaStream_t stream = (cudaStream_t)call->stream;
    int64_t per_block = THREADS * GROUPS * 16 / int8_input_bytes(input);
    unsigned blocks = int8_blocks(n, per_block);
    const void *x = call->buffer[BUF_X];
    int8_t *y = (int8_t *)call->buffer[BUF_Y];
    float *scales = tokens > 0 ? (float *)call->buffer[BUF_SCALES] : NULL;
    if (input == INPUT_BF16)
        copy_r4w1<<<blocks, THREADS, 0, stream>>>((const uint16_t *)x, y, n, scales, tokens,
                                                  hidden);
    else
        copy_r4w1<<<blocks, THREADS, 0, stream>>>((const float *)x, y, n, scales, tokens, hidden);
    return assay_launched();
}

static int launch_copy(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    return enqueue_copy(call, value[DIM_N], value[DIM_INPUT], 0, 0);
}

static int launch_copy_token(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    int64_t tokens = value[TOKEN_TOKENS];
    int64_t hidden = value[TOKEN_HIDDEN];
    return enqueue_copy(call, tokens * hidden, value[TOKEN_INPUT], tokens, hidden);
}

/* ---------------------------------------------------------- device_copy -- */

/* Half of all the bytes, or as many as the input has. */
static size_t half_bytes(const struct assay_shape *shape)
{
    struct assay_work work = shape->operation->work(shape);
    double half = (work.read_bytes + work.write_bytes) / 2;
    return (size_t)(half < work.read_bytes ? half : work.read_bytes);
}

static void teardown_half(struct assay_call *call)
{
    cudaFree(call->state);
    call->state = NULL;
}

static int setup_half(struct assay_call *call)
{
    size_t bytes = half_bytes(call->shape);
    if (assay_cuda(cudaMalloc(&call->state, bytes), "cudaMalloc") < 0) return -1;
    if (assay_cuda(cudaMemset(call->state, POISON, bytes), "cudaMemset") < 0) {
        teardown_half(call);
        return -1;
    }
    call->workspace_bytes += (int64_t)bytes;
    return 0;
}

static int launch_half(struct assay_call *call)
{
    cudaError_t error = cudaMemcpyAsync(call->state, call->buffer[BUF_X], half_bytes(call->shape),
                                        cudaMemcpyDeviceToDevice, (cudaStream_t)call->stream);
    return assay_cuda(error, "cudaMemcpyAsync");
}

/* Compares copy and source on the host, piece by piece, then poisons the copy again. */
static int compare_half(struct assay_call *call, char *got, char *source, size_t piece)
{
    size_t bytes = half_bytes(call->shape);
    for (size_t at = 0; at < bytes; at += piece) {
        size_t count = bytes - at < piece ? bytes - at : piece;
        const char *copied = (const char *)call->state + at;
        const char *original = (const char *)call->buffer[BUF_X] + at;
        cudaError_t error = cudaMemcpy(got, copied, count, cudaMemcpyDeviceToHost);
        if (assay_cuda(error, "cudaMemcpy") < 0) return -1;
        error = cudaMemcpy(source, original, count, cudaMemcpyDeviceToHost);
        if (assay_cuda(error, "cudaMemcpy") < 0) return -1;
        if (memcmp(got, source, count) != 0)
            return assay_error("the copy differs from its source past byte %zu", at);
    }
    return assay_cuda(cudaMemset(call->state, POISON, bytes), "cudaMemset");
}

static int check_half(struct assay_call *call)
{
    const size_t piece = (size_t)16 << 20;
    cudaError_t error = cudaStreamSynchronize((cudaStream_t)call->stream);
    if (assay_cuda(error, "cudaStreamSynchronize") < 0) return -1;
    char *host = (char *)malloc(2 * piece);
    if (!host) return assay_error("no memory to check the copy");
    int failed = compare_half(call, host, host + piece, piece);
    free(host);
    if (failed) return -1;
    return assay_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

/* ------------------------------------------------------------- variants -- */

static const struct assay_variant copy = {
    .operation = "int8_quantize",
    .name = "copy_r4w1",
    .summary = "reads every element, writes its top byte, as the best kernel walks",
    .kind = ASSAY_BOUND,
    .place = ASSAY_CUDA,
    .apart = true,
    .launch = launch_copy,
    .model = int8_model_copy,
};
ASSAY_REGISTER_VARIANT(copy);

static const struct assay_variant copy_token = {
    .operation = "int8_quantize_token",
    .name = "copy_r4w1",
    .summary = "reads every element, writes its top byte, and a scale per row",
    .kind = ASSAY_BOUND,
    .place = ASSAY_CUDA,
    .apart = true,
    .launch = launch_copy_token,
    .model = int8_model_copy_token,
};
ASSAY_REGISTER_VARIANT(copy_token);

static const struct assay_variant half = {
    .operation = "int8_quantize",
    .name = "device_copy",
    .summary = "cudaMemcpyAsync of half the bytes: as many moved, half each way",
    .kind = ASSAY_BOUND,
    .place = ASSAY_CUDA,
    .apart = true,
    .setup = setup_half,
    .launch = launch_half,
    .teardown = teardown_half,
    .check = check_half,
};
ASSAY_REGISTER_VARIANT(half);

static const struct assay_variant half_token = {
    .operation = "int8_quantize_token",
    .name = "device_copy",
    .summary = "cudaMemcpyAsync of half the bytes: as many moved, half each way",
    .kind = ASSAY_BOUND,
    .place = ASSAY_CUDA,
    .apart = true,
    .setup = setup_half,
    .launch = launch_half,
    .teardown = teardown_half,
    .check = check_half,
};
ASSAY_REGISTER_VARIANT(half_token);
