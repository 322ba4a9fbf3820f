/*
 * copy_lattice.cu - memory-bound baselines of the lattice family on the GPU.
 *
 *   copy_TASK      reads and writes the bytes of the operation, without its arithmetic. A thread
 *                  writes eight entries of codes, or four entries of fp32, so a warp writes whole
 *                  cache lines
 *   int8_quantize  the same x to one byte per entry, sat8(rne(x / s)) with s = sigma / 32: the
 *                  quantiser one would use instead. 5 bytes per entry
 */
#include <stdlib.h>

#include "kernels/cuda/device_memory.h"
#include "kernels/lattice/copy.h"
#include "kernels/lattice/lattice_vec.cuh"

enum { THREADS = 256, POISON = 0xa5 };

static const int64_t CHECKED = (int64_t)1 << 22; /* entries of the int8 result */

static __device__ __forceinline__ void load_eight(const void *x, int64_t group, uint32_t out[8])
{
    uint4 low = __ldcs((const uint4 *)x + 2 * group),
          high = __ldcs((const uint4 *)x + 2 * group + 1);
    out[0] = low.x, out[1] = low.y, out[2] = low.z, out[3] = low.w;
    out[4] = high.x, out[5] = high.y, out[6] = high.z, out[7] = high.w;
}

/* TS: how many T a group of eight entries has; 0: none. */
template <int BYTES, int TS>
static __global__ void __launch_bounds__(THREADS)
    copy_encode(const void *__restrict__ x, uint8_t *__restrict__ out, uint8_t *__restrict__ t,
                int64_t groups)
{
    int64_t group = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (group >= groups) return;
    uint32_t mine[8];
    load_eight(x, group, mine);
    uint64_t word = copy_word(mine);
    lattice_store_bytes(out + group * BYTES, BYTES, word);
    if (TS > 0) lattice_store_bytes(t + group * TS, TS, word);
}

/* Four entries per thread; two neighbouring threads share the codes of a group. */
template <int BYTES, int TS>
static __global__ void __launch_bounds__(THREADS)
    copy_decode(const uint8_t *__restrict__ codes, uint4 *__restrict__ y,
                const uint8_t *__restrict__ t, int64_t quads)
{
    int64_t quad = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (quad >= quads) return;
    uint32_t word = (uint32_t)lattice_load_bytes(codes + (quad >> 1) * BYTES, BYTES);
    uint32_t low = 0, high = 0; /* T of the quad's first two entries, and of its last two */
    if (TS == 4) {
        uint32_t both = ((const uint16_t *)t)[quad];
        low = both & 255, high = both >> 8;
    } else if (TS > 0) {
        low = high = t[TS == 2 ? quad : quad >> 1];
    }
    word ^= (uint32_t)(quad & 1) << 2;
    y[quad] = make_uint4(word ^ low, word ^ 1 ^ low, word ^ 2 ^ high, word ^ 3 ^ high);
}

static __global__ void __launch_bounds__(THREADS)
    copy_entries(const uint4 *__restrict__ x, uint4 *__restrict__ y, int64_t quads)
{
    int64_t quad = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (quad < quads) y[quad] = x[quad];
}

template <int BYTES, int TS>
static void enqueue(const struct assay_call *call, const struct lattice_job *job)
{
    int64_t groups = vec_groups(job);
    cudaStream_t stream = (cudaStream_t)call->stream;
    uint8_t *t = TS ? (uint8_t *)call->buffer[BUF_T] : NULL;
    if (job->task == TASK_ENCODE)
        copy_encode<BYTES, TS><<<lattice_grid(groups, THREADS), THREADS, 0, stream>>>(
            call->buffer[BUF_IN], (uint8_t *)call->buffer[BUF_OUT], t, groups);
    else
        copy_decode<BYTES, TS><<<lattice_grid(2 * groups, THREADS), THREADS, 0, stream>>>(
            (const uint8_t *)call->buffer[BUF_IN], (uint4 *)call->buffer[BUF_OUT], t, 2 * groups);
}

template <int BYTES>
static void enqueue_with_ts(const struct assay_call *call, const struct lattice_job *job)
{
    int ts = copy_group_ts(job);
    if (ts == 0) enqueue<BYTES, 0>(call, job);
    if (ts == 1) enqueue<BYTES, 1>(call, job);
    if (ts == 2) enqueue<BYTES, 2>(call, job);
    if (ts == 4) enqueue<BYTES, 4>(call, job);
}

static int launch_copy(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    int64_t groups = vec_groups(&job);
    if (job.task == TASK_ROUNDTRIP) {
        copy_entries<<<lattice_grid(2 * groups, THREADS), THREADS, 0, (cudaStream_t)call->stream>>>(
            (const uint4 *)call->buffer[BUF_IN], (uint4 *)call->buffer[BUF_OUT], 2 * groups);
        return assay_launched();
    }
    int bytes = copy_group_bytes(&job);
    if (bytes == 1) enqueue_with_ts<1>(call, &job);
    if (bytes == 2) enqueue_with_ts<2>(call, &job);
    if (bytes == 4) enqueue_with_ts<4>(call, &job);
    if (bytes == 6) enqueue_with_ts<6>(call, &job);
    if (bytes == 8) enqueue_with_ts<8>(call, &job);
    return assay_launched();
}

/* ---------------------------------------------------------- int8_quantize -- */

static __device__ __forceinline__ uint32_t four_codes(float4 v, float inverse)
{
    int a = max(-128, min(127, __float2int_rn(__fmul_rn(v.x, inverse))));
    int b = max(-128, min(127, __float2int_rn(__fmul_rn(v.y, inverse))));
    int c = max(-128, min(127, __float2int_rn(__fmul_rn(v.z, inverse))));
    int d = max(-128, min(127, __float2int_rn(__fmul_rn(v.w, inverse))));
    return (a & 255) | (b & 255) << 8 | (c & 255) << 16 | (uint32_t)d << 24;
}

static __global__ void __launch_bounds__(THREADS)
    quantize(const float4 *__restrict__ x, uint2 *__restrict__ y, int64_t groups, float inverse)
{
    int64_t group = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (group >= groups) return;
    float4 low = __ldcs(x + 2 * group), high = __ldcs(x + 2 * group + 1);
    y[group] = make_uint2(four_codes(low, inverse), four_codes(high, inverse));
}

static float inverse_scale(const struct assay_shape *shape)
{
    return (float)(32.0 / lattice_job(shape).sigma);
}

static const char *int8_supports(const struct assay_shape *shape)
{
    return shape->value[DIM_COLUMNS] % 8 ? "columns must be a multiple of 8" : NULL;
}

static int int8_setup(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    size_t bytes = (size_t)(job.rows * job.columns);
    if (assay_cuda(cudaMalloc(&call->state, bytes), "cudaMalloc") < 0) return -1;
    call->workspace_bytes += (int64_t)bytes;
    return assay_cuda(cudaMemset(call->state, POISON, bytes), "cudaMemset");
}

static int int8_launch(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    int64_t groups = vec_groups(&job);
    quantize<<<lattice_grid(groups, THREADS), THREADS, 0, (cudaStream_t)call->stream>>>(
        (const float4 *)call->buffer[BUF_IN], (uint2 *)call->state, groups,
        inverse_scale(call->shape));
    return assay_launched();
}

/* The first index that differs, or -1. */
static int64_t first_difference(const float *x, const int8_t *y, int64_t count, float inverse)
{
    for (int64_t i = 0; i < count; i++) {
        float q = x[i] * inverse;
        float clamped = q != q ? 0.0f : fminf(fmaxf(q, -128.0f), 127.0f);
        if (y[i] != (int8_t)rintf(clamped)) return i;
    }
    return -1;
}

/* Checks the last CHECKED entries, then poisons all of them again. */
static int int8_check(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    int64_t entries = job.rows * job.columns, count = entries < CHECKED ? entries : CHECKED;
    int64_t from = entries - count, differs = -1;
    cudaError_t error = cudaStreamSynchronize((cudaStream_t)call->stream);
    if (assay_cuda(error, "cudaStreamSynchronize") < 0) return -1;
    float *x = (float *)malloc((size_t)count * (sizeof(float) + 1));
    if (!x) return assay_error("no memory to check the codes");
    int8_t *y = (int8_t *)(x + count);
    error = cudaMemcpy(x, (const float *)call->buffer[BUF_IN] + from, (size_t)count * sizeof(float),
                       cudaMemcpyDeviceToHost);
    if (error == cudaSuccess)
        error = cudaMemcpy(y, (const int8_t *)call->state + from, (size_t)count,
                           cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) differs = first_difference(x, y, count, inverse_scale(call->shape));
    free(x);
    if (assay_cuda(error, "cudaMemcpy") < 0) return -1;
    if (differs >= 0) return assay_error("int8 code %lld is wrong", (long long)(from + differs));
    if (assay_cuda(cudaMemset(call->state, POISON, (size_t)entries), "cudaMemset") < 0) return -1;
    return assay_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

/* ------------------------------------------------------------- variants -- */

#define COPY(task)                                                                                 \
    static const struct assay_variant copy_of_##task = {                                           \
        .operation = "lattice_" #task,                                                             \
        .name = "copy_" #task,                                                                     \
        .summary = "moves the bytes of the operation, next to no arithmetic",                      \
        .kind = ASSAY_BOUND,                                                                       \
        .place = ASSAY_CUDA,                                                                       \
        .apart = true,                                                                             \
        .supports = lattice_copy_supports,                                                         \
        .launch = launch_copy,                                                                     \
        .model = lattice_model_copy,                                                               \
    };                                                                                             \
    ASSAY_REGISTER_VARIANT(copy_of_##task)

COPY(encode);
COPY(decode);
COPY(roundtrip);

static const struct assay_variant int8 = {
    .operation = "lattice_encode",
    .name = "int8_quantize",
    .summary = "x to one int8 per entry instead, fused: 5 bytes per entry",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .apart = true,
    .supports = int8_supports,
    .setup = int8_setup,
    .launch = int8_launch,
    .teardown = device_memory_free,
    .check = int8_check,
};
ASSAY_REGISTER_VARIANT(int8);
