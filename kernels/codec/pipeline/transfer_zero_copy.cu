/*
 * transfer_zero_copy.cu - `transfer` by a kernel that reads and writes host memory itself.
 *
 * The host's side is page-locked and mapped, and has the same address on the GPU (one address space
 * for both). A thread takes 16 bytes per step of the grid, one load of each direction in flight, so
 * with both directions the link works both ways at once. The grid has eight blocks per
 * multiprocessor: 4 MB in flight on an H200, where a PCIe link of 64 GB/s with 2 us of latency
 * needs 128 KB.
 *
 * Bytes: `bytes` per direction over the link. Operations: none.
 */
#include <stdlib.h>

#include "transfer.h"

enum { THREADS = 256, BLOCKS_PER_SM = 8, WIDTH = 16 };

/* The host's side; NULL where the direction has none. */
struct mapped {
    uint8_t *up, *down;
};

/* Copies whose destination is not NULL. */
static __global__ void __launch_bounds__(THREADS)
    zero_copy(uint8_t *__restrict__ up_to, const uint8_t *__restrict__ up_from,
              uint8_t *__restrict__ down_to, const uint8_t *__restrict__ down_from, int64_t bytes)
{
    int64_t thread = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    int64_t threads = (int64_t)gridDim.x * THREADS, vectors = bytes / WIDTH;
    for (int64_t i = thread; i < vectors; i += threads) {
        uint4 up = up_to ? ((const uint4 *)up_from)[i] : uint4{};
        uint4 down = down_to ? ((const uint4 *)down_from)[i] : uint4{};
        if (up_to) ((uint4 *)up_to)[i] = up;
        if (down_to) ((uint4 *)down_to)[i] = down;
    }
    int64_t rest = vectors * WIDTH + thread;
    if (rest >= bytes) return;
    if (up_to) up_to[rest] = up_from[rest];
    if (down_to) down_to[rest] = down_from[rest];
}

static int map(uint8_t **out, int64_t bytes)
{
    return assay_cuda(cudaHostAlloc((void **)out, (size_t)bytes, cudaHostAllocMapped),
                      "mapped memory");
}

static int setup(struct assay_call *call)
{
    int64_t bytes = call->shape->value[TRANSFER_BYTES];
    bool up = transfer_up(call->shape), down = transfer_down(call->shape);
    struct mapped *mapped = (struct mapped *)calloc(1, sizeof *mapped);
    if (!mapped) return assay_error("out of memory");
    call->state = mapped;
    if ((up && map(&mapped->up, bytes)) || (down && map(&mapped->down, bytes))) return -1;
    if (up) transfer_host_source(mapped->up, bytes);
    if (down) transfer_host_poison(mapped->down, bytes);
    call->workspace_bytes += (up + down) * bytes;
    return 0;
}

static int launch(struct assay_call *call)
{
    const struct mapped *mapped = (const struct mapped *)call->state;
    int64_t bytes = call->shape->value[TRANSFER_BYTES];
    int64_t needed = (bytes / WIDTH + THREADS) / THREADS;
    int64_t resident = (int64_t)assay_card()->multiprocessors * BLOCKS_PER_SM;
    unsigned blocks = (unsigned)(needed < resident ? needed : resident);
    zero_copy<<<blocks, THREADS, 0, (cudaStream_t)call->stream>>>(
        (uint8_t *)transfer_destination(call), mapped->up, mapped->down,
        (const uint8_t *)transfer_source(call), bytes);
    return assay_launched();
}

static void teardown(struct assay_call *call)
{
    struct mapped *mapped = (struct mapped *)call->state;
    if (!mapped) return;
    cudaFreeHost(mapped->up); /* takes NULL */
    cudaFreeHost(mapped->down);
    free(mapped);
}

static int check(struct assay_call *call)
{
    const struct mapped *mapped = (const struct mapped *)call->state;
    int64_t bytes = call->shape->value[TRANSFER_BYTES];
    if (!mapped->down) return 0;
    if (transfer_host_check(mapped->down, bytes)) return -1;
    transfer_host_poison(mapped->down, bytes);
    return 0;
}

static const struct assay_variant variant = {
    .operation = "transfer",
    .name = "zero_copy",
    .summary = "a kernel reads and writes mapped host memory itself",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
    .check = check,
};
ASSAY_REGISTER_VARIANT(variant);
