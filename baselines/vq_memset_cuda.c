/*
 * vq_memset_cuda.c - memory-bound baseline of `vq_gather` on the GPU: cudaMemsetAsync of as many
 * bytes as a gather writes.
 *
 * Bytes per vector: 512 written. Operations: none.
 */
#include "kernels/cuda/cuda_error.h"
#include "kernels/codec/search/vq_gather.h"

static int launch(struct assay_call *call)
{
    return cuda_error(cudaMemsetAsync(call->buffer[GATHER_OUT], GATHER_BYTE_WRITTEN,
                                      gather_out_bytes(call->shape), call->stream),
                      "cudaMemsetAsync");
}

static const struct assay_variant runtime_memset = {
    .operation = "vq_gather",
    .name = "memset",
    .summary = "cudaMemsetAsync of the bytes that a gather writes",
    .kind = ASSAY_BOUND,
    .place = ASSAY_CUDA,
    .apart = true,
    .launch = launch,
    .model = gather_model_memset,
};
ASSAY_REGISTER_VARIANT(runtime_memset);
