/*
 * memory_alloc_cuda.c - four ways to allocate a batch's block of device memory:
 *
 *   malloc            cudaMalloc and cudaFree, which wait for the device
 *   malloc_async_0    a stream-ordered pool that gives all free memory back at every
 *                     synchronisation (release threshold 0, the default)
 *   malloc_async_max  the same, but the pool keeps everything
 *   preallocated      one block, kept
 *
 * Each variant has its own pool, so that none sees another's memory.
 * Bytes: 64 written and copied. Operations: none.
 */
#include <stdlib.h>

#include "kernels/cuda/cuda_error.h"
#include "kernels/cuda/device_memory.h"
#include "memory_alloc.h"

static size_t block_bytes(const struct assay_call *call)
{
    return (size_t)call->shape->value[ALLOC_BYTES];
}

static int use(struct assay_call *call, void *block)
{
    if (cuda_error(cudaMemsetAsync(block, ALLOC_BYTE, ALLOC_TOUCHED, call->stream), "use"))
        return -1;
    return cuda_error(cudaMemcpyAsync(call->buffer[ALLOC_OUT], block, ALLOC_TOUCHED,
                                      cudaMemcpyDeviceToDevice, call->stream),
                      "use");
}

/* ---------------------------------------------------------------- malloc -- */

static int launch_malloc(struct assay_call *call)
{
    void *block = NULL;
    if (cuda_error(cudaMalloc(&block, block_bytes(call)), "cudaMalloc")) return -1;
    int status = use(call, block);
    if (cuda_error(cudaFree(block), "cudaFree")) return -1;
    return status;
}

static const struct assay_variant malloc_each = {
    .operation = "memory_alloc",
    .name = "malloc",
    .summary = "cudaMalloc and cudaFree for each batch",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_WALL,
    .launch = launch_malloc,
};
ASSAY_REGISTER_VARIANT(malloc_each);

/* ------------------------------------------------------------------ pools -- */

static int setup_pool(struct assay_call *call, uint64_t threshold)
{
    int device;
    cudaMemPool_t pool = NULL;
    if (cuda_error(cudaGetDevice(&device), "cudaGetDevice")) return -1;
    struct cudaMemPoolProps props = {.allocType = cudaMemAllocationTypePinned,
                                     .handleTypes = cudaMemHandleTypeNone,
                                     .location = {.type = cudaMemLocationTypeDevice}};
    props.location.id = device;
    if (cuda_error(cudaMemPoolCreate(&pool, &props), "cudaMemPoolCreate")) return -1;
    call->state = pool;
    return cuda_error(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold),
                      "release threshold");
}

static int setup_pool_0(struct assay_call *call)
{
    return setup_pool(call, 0);
}

static int setup_pool_max(struct assay_call *call)
{
    return setup_pool(call, UINT64_MAX);
}

static int launch_pool(struct assay_call *call)
{
    void *block = NULL;
    if (cuda_error(cudaMallocFromPoolAsync(&block, block_bytes(call), call->state, call->stream),
                   "cudaMallocFromPoolAsync"))
        return -1;
    int status = use(call, block);
    if (cuda_error(cudaFreeAsync(block, call->stream), "cudaFreeAsync")) return -1;
    return status;
}

static void teardown_pool(struct assay_call *call)
{
    if (call->state) cudaMemPoolDestroy(call->state);
}

static const struct assay_variant malloc_async_0 = {
    .operation = "memory_alloc",
    .name = "malloc_async_0",
    .summary = "from a pool that gives free memory back at every synchronisation",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_WALL,
    .setup = setup_pool_0,
    .launch = launch_pool,
    .teardown = teardown_pool,
};
ASSAY_REGISTER_VARIANT(malloc_async_0);

static const struct assay_variant malloc_async_max = {
    .operation = "memory_alloc",
    .name = "malloc_async_max",
    .summary = "from a pool that keeps all its memory",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_WALL,
    .setup = setup_pool_max,
    .launch = launch_pool,
    .teardown = teardown_pool,
};
ASSAY_REGISTER_VARIANT(malloc_async_max);

/* ----------------------------------------------------------- preallocated -- */

static int setup_preallocated(struct assay_call *call)
{
    if (cuda_error(cudaMalloc(&call->state, block_bytes(call)), "cudaMalloc")) return -1;
    call->workspace_bytes += call->shape->value[ALLOC_BYTES];
    return 0;
}

static int launch_preallocated(struct assay_call *call)
{
    return use(call, call->state);
}

static const struct assay_variant preallocated = {
    .operation = "memory_alloc",
    .name = "preallocated",
    .summary = "one block, kept",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_WALL,
    .setup = setup_preallocated,
    .launch = launch_preallocated,
    .teardown = device_memory_free,
};
ASSAY_REGISTER_VARIANT(preallocated);
