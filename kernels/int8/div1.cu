/*
 * div1.cu - the plain kernel: one element per thread, an IEEE division.
 *
 * Formula: fadd(fdiv(x, s), z), each rounded to nearest.
 * Bytes per element: 4 read (bf16: 2), 1 written. Operations: 1 division (about ten instructions),
 * 1 addition.
 *
 * Why it is slow: few bytes are in flight per thread (a warp reads 128 bytes and writes 32 at a
 * time), and it launches more threads than any other variant. The division matters less.
 */
#include "int8.cuh"

enum { THREADS = 256 };

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    div1(const T *__restrict__ x, int8_t *__restrict__ y, int64_t n, float scale, float zero)
{
    int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] = int8_round(__fadd_rn(__fdiv_rn(int8_float(x[i]), scale), zero));
}

static int launch(struct assay_call *call)
{
    unsigned blocks = int8_blocks(call->shape->value[DIM_N], THREADS);
    return int8_launch(call, blocks, THREADS, int8_scale(call->shape), div1, div1);
}

static const struct assay_variant variant = {
    .operation = "int8_quantize",
    .name = "div1",
    .summary = "1 element per thread, IEEE division",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch,
    .model = int8_model_div,
};
ASSAY_REGISTER_VARIANT(variant);
