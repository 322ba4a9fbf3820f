/*
 * memory_copy_float4.cu - the plainest copy: each thread moves one float4.
 *
 * The table in docs/method.md was measured with this kernel, so its times can be compared with that
 * table. The table counts only the bytes of the source, `bytes` counts read plus written: the
 * table's row "1 MiB" is bytes=2Mi.
 *
 * Bytes: 4 * out_words read and as many written. Operations: none.
 */
#include "memory.cuh"

static __global__ void copy_float4(float4 *__restrict__ out, const float4 *__restrict__ in,
                                   int64_t vectors)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < vectors) out[i] = in[i];
}

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[MEMORY_MIX] != MEMORY_COPY) return "a copy only";
    if (shape->value[MEMORY_BYTES] % 32) return "whole float4s only: bytes a multiple of 32";
    return NULL;
}

static int launch(struct assay_call *call)
{
    int64_t vectors = memory_layout(call->shape).out_words / 4;
    int64_t blocks = (vectors + MEMORY_THREADS - 1) / MEMORY_THREADS;
    copy_float4<<<(unsigned)blocks, MEMORY_THREADS, 0, (cudaStream_t)call->stream>>>(
        (float4 *)call->buffer[MEMORY_OUT], (const float4 *)call->buffer[MEMORY_IN], vectors);
    return assay_launched();
}

static const struct assay_variant variant = {
    .operation = "memory",
    .name = "copy_float4",
    .summary = "each thread copies one float4, nothing else",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
