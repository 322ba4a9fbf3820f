/*
 * fdividef4.cu - four elements per thread, by approximate division.
 *
 * Formula: fadd(fdividef(x, s), z). __fdividef multiplies by the hardware's approximate reciprocal
 * and is good to 2 units in the last place. Its bits depend on the hardware, so there is no host
 * model, and only the reference judges it.
 *
 * Bytes per element: 4 read (bf16: 2), 1 written. Operations: 1 reciprocal (on the special-function
 * unit), 1 product, 1 addition. A warp reads 512 bytes at a time, coalesced, and writes 128.
 */
#include "int8.cuh"

enum { THREADS = 256, WIDTH = 4 };

static __device__ __forceinline__ float quotient(float x, float scale, float zero)
{
    return __fadd_rn(__fdividef(x, scale), zero);
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    fdividef4(const T *__restrict__ x, int8_t *__restrict__ y, int64_t n, float scale, float zero)
{
    int64_t i = WIDTH * ((int64_t)blockIdx.x * THREADS + threadIdx.x);
    if (i + WIDTH <= n) {
        float4 v = int8_load4(x + i);
        int8_store4(y + i,
                    int8_pack(make_float4(quotient(v.x, scale, zero), quotient(v.y, scale, zero),
                                          quotient(v.z, scale, zero), quotient(v.w, scale, zero))));
        return;
    }
    for (; i < n; i++)
        y[i] = int8_round(quotient(int8_float(x[i]), scale, zero));
}

static int launch(struct assay_call *call)
{
    unsigned blocks = int8_blocks(call->shape->value[DIM_N], THREADS * WIDTH);
    return int8_launch(call, blocks, THREADS, int8_scale(call->shape), fdividef4, fdividef4);
}

static const struct assay_variant variant = {
    .operation = "int8_quantize",
    .name = "fdividef4",
    .summary = "4 elements per thread, approximate division",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
