/*
 * gridstride.cu - a grid that fits the device once and strides over the tensor.
 *
 * Formula: fma(x, r, z), r = frcp(s), once per thread, so for a large tensor once for very many
 * elements. Bytes per element: 4 read (bf16: 2), 1 written. Operations: 1 fused multiply-add.
 *
 * There are as many blocks as are resident at once; each thread takes 4 elements per step and
 * steps by the width of the grid. Starting blocks costs little then, but a thread has only one
 * load in flight (the next waits for the loop), and the kernel ends with its slowest
 * multiprocessor.
 */
#include <stdlib.h>

#include "int8.cuh"

enum { THREADS = 256, WIDTH = 4 };

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    gridstride(const T *__restrict__ x, int8_t *__restrict__ y, int64_t n, float scale, float zero)
{
    int64_t thread = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    int64_t threads = (int64_t)gridDim.x * THREADS;
    float inverse = __frcp_rn(scale);
    int64_t vectors = n / WIDTH;
    for (int64_t i = thread; i < vectors; i += threads) {
        float4 v = int8_load4(x + WIDTH * i);
        int8_store4(
            y + WIDTH * i,
            int8_pack(make_float4(__fmaf_rn(v.x, inverse, zero), __fmaf_rn(v.y, inverse, zero),
                                  __fmaf_rn(v.z, inverse, zero), __fmaf_rn(v.w, inverse, zero))));
    }
    int64_t rest = WIDTH * vectors + thread;
    if (rest < n) y[rest] = int8_round(__fmaf_rn(int8_float(x[rest]), inverse, zero));
}

/* Blocks resident on the whole device at once. */
struct residency {
    int64_t blocks;
};

static int setup(struct assay_call *call)
{
    int resident;
    bool bf16 = call->shape->value[DIM_INPUT] == INPUT_BF16;
    cudaError_t error = bf16 ? cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                                   &resident, gridstride<uint16_t>, THREADS, 0)
                             : cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                                   &resident, gridstride<float>, THREADS, 0);
    if (assay_cuda(error, "cudaOccupancyMaxActiveBlocksPerMultiprocessor") < 0) return -1;
    struct residency *residency = (struct residency *)malloc(sizeof *residency);
    if (!residency) return assay_error("no memory");
    residency->blocks = (int64_t)assay_card()->multiprocessors * resident;
    call->state = residency;
    return 0;
}

static int launch(struct assay_call *call)
{
    const struct residency *residency = (const struct residency *)call->state;
    int64_t needed = int8_blocks(call->shape->value[DIM_N], THREADS * WIDTH);
    unsigned blocks = (unsigned)(needed < residency->blocks ? needed : residency->blocks);
    return int8_launch(call, blocks, THREADS, int8_scale(call->shape), gridstride, gridstride);
}

static void teardown(struct assay_call *call)
{
    free(call->state);
}

static const struct assay_variant variant = {
    .operation = "int8_quantize",
    .name = "gridstride",
    .summary = "a resident grid, 4 elements per thread and step, fused multiply-add",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
    .model = int8_model_rcp_fma,
};
ASSAY_REGISTER_VARIANT(variant);
