/* threads.cu - a variant on the GPU: a thread per element. */
#include "@NAME@.h"

static __global__ void softsign(const float *x, float *y, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] / (1 + fabsf(x[i]));
}

static int launch(struct assay_call *call)
{
    const int64_t n = call->shape->value[N], threads = 256;
    softsign<<<(n + threads - 1) / threads, threads, 0, (cudaStream_t)call->stream>>>(
        (const float *)call->buffer[X], (float *)call->buffer[Y], n);
    return assay_launched();
}

static const struct assay_variant threads = {
    .operation = "@OPERATION@",
    .name = "threads",
    .summary = "a thread per element",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(threads);
