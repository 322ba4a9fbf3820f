/*
 * empty.cu - the empty kernel of `empty`, in blocks of at most 1024 threads.
 *
 * Bytes: none. Operations: none.
 */
#include <cuda_runtime.h>

#include "assay.h"

enum { BLOCK = 1024 };

static __global__ void nothing()
{
}

static int launch(struct assay_call *call)
{
    int64_t threads = call->shape->value[0];
    int64_t block = threads < BLOCK ? threads : (int64_t)BLOCK;
    nothing<<<(unsigned)((threads + block - 1) / block), (unsigned)block, 0,
              (cudaStream_t)call->stream>>>();
    return assay_launched();
}

static const struct assay_variant kernel = {
    .operation = "empty",
    .name = "kernel",
    .summary = "an empty kernel",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(kernel);
