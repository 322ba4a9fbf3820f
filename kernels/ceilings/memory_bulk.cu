/*
 * memory_bulk.cu - copy and write by the bulk copies of Hopper's TMA: whole chunks travel between
 * device memory and shared memory without passing through registers, started by one thread per
 * block (PTX ISA 8.0, cp.async.bulk).
 *
 *   copy   a ring buffer of STAGES chunks in shared memory. The thread waits on an mbarrier for a
 *          chunk to arrive and stores it. Then it refills the stage whose store was started LAG
 *          stores ago, once that store has read it: STAGES - LAG loads and LAG stores are in flight
 *   write  one chunk is filled once and stored to every place
 *
 * Bytes: exactly the traffic of the operation. Operations: none.
 */
#include <stdlib.h>

#include "kernels/cuda/cuda_limits.h"
#include "kernels/cuda/hopper.cuh"
#include "memory.cuh"

enum {
    CHUNK_BYTES = 16384,
    STAGES = 6,
    LAG = 2,
    RING_BYTES = CHUNK_BYTES * STAGES, /* two blocks share a multiprocessor */
    FILL_THREADS = 128,
    COPY_THREADS = 32,
};

/* ---------------------------------------------------------- PTX, one each -- */

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900

static __device__ inline void load_start(void *to, const void *from, uint32_t bytes,
                                         uint32_t barrier)
{
    hopper_barrier_expect(barrier, bytes);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1], %2, [%3];" ::"r"(hopper_shared(to)),
                 "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(barrier)
                 : "memory");
}

/* Each store is a group of its own. */
static __device__ inline void store_start(void *to, const void *from, uint32_t bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                     __cvta_generic_to_global(to)),
                 "r"(hopper_shared(from)), "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

static __device__ inline void store_wait_all()
{
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/* Bytes of chunk `index` of `bytes`; only the last is short. */
static __device__ inline uint32_t chunk_bytes(int64_t index, int64_t bytes)
{
    int64_t left = bytes - index * CHUNK_BYTES;
    return (uint32_t)(left < CHUNK_BYTES ? left : CHUNK_BYTES);
}

/* Chunks first, first + stride, ... below `chunks`; one thread runs this. */
static __device__ void copy_chunks(char *out, const char *in, int64_t bytes, char *ring,
                                   uint64_t *arrival)
{
    const int64_t chunks = (bytes + CHUNK_BYTES - 1) / CHUNK_BYTES;
    const int64_t stride = gridDim.x, begin = blockIdx.x;
    const int64_t mine = begin < chunks ? (chunks - begin + stride - 1) / stride : 0;
    for (int stage = 0; stage < STAGES; stage++)
        hopper_barrier_init(hopper_shared(&arrival[stage]), 1);
    hopper_store_fence();
    for (int64_t i = 0; i < STAGES - LAG && i < mine; i++) {
        const int64_t chunk = begin + i * stride;
        load_start(ring + i * CHUNK_BYTES, in + chunk * CHUNK_BYTES, chunk_bytes(chunk, bytes),
                   hopper_shared(&arrival[i]));
    }
    for (int64_t i = 0; i < mine; i++) {
        const int stage = (int)(i % STAGES);
        const int64_t chunk = begin + i * stride;
        hopper_barrier_wait(hopper_shared(&arrival[stage]), (uint32_t)(i / STAGES) & 1);
        store_start(out + chunk * CHUNK_BYTES, ring + stage * CHUNK_BYTES,
                    chunk_bytes(chunk, bytes));
        const int64_t next = i + STAGES - LAG; /* uses the stage of store i - LAG */
        if (next >= mine) continue;
        hopper_store_wait<LAG>();
        const int64_t next_chunk = begin + next * stride;
        const int next_stage = (int)(next % STAGES);
        load_start(ring + next_stage * CHUNK_BYTES, in + next_chunk * CHUNK_BYTES,
                   chunk_bytes(next_chunk, bytes), hopper_shared(&arrival[next_stage]));
    }
    store_wait_all();
}

static __device__ void write_chunks(char *out, int64_t bytes, const char *chunk)
{
    const int64_t chunks = (bytes + CHUNK_BYTES - 1) / CHUNK_BYTES;
    for (int64_t i = blockIdx.x; i < chunks; i += gridDim.x)
        store_start(out + i * CHUNK_BYTES, chunk, chunk_bytes(i, bytes));
    store_wait_all();
}

#endif

/* --------------------------------------------------------------- kernels -- */

/* Skipped where code is below sm_90, so the traps are never met. */
static __global__ void __launch_bounds__(COPY_THREADS)
    bulk_copy(uint32_t *__restrict__ out, const uint32_t *__restrict__ in, int64_t out_words,
              int64_t in_words)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    extern __shared__ __align__(128) char ring[];
    __shared__ uint64_t arrival[STAGES];
    if (threadIdx.x == 0)
        copy_chunks((char *)out, (const char *)in, out_words / 4 * 16, ring, arrival);
    if (blockIdx.x == 0 && threadIdx.x == COPY_THREADS - 1)
        copy_mix<cached_access>::rest(out, in, out_words, in_words);
#else
    __trap();
#endif
}

static __global__ void __launch_bounds__(FILL_THREADS)
    bulk_write(uint32_t *__restrict__ out, const uint32_t *__restrict__ in, int64_t out_words,
               int64_t in_words)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    __shared__ __align__(128) uint4 chunk[CHUNK_BYTES / 16];
    for (int i = threadIdx.x; i < CHUNK_BYTES / 16; i += FILL_THREADS)
        chunk[i] = write_mix<cached_access>::load(in, i);
    hopper_store_fence();
    __syncthreads();
    if (threadIdx.x == 0) write_chunks((char *)out, out_words / 4 * 16, (const char *)chunk);
    if (blockIdx.x == 0 && threadIdx.x == FILL_THREADS - 1)
        write_mix<cached_access>::rest(out, in, out_words, in_words);
#else
    __trap();
#endif
}

/* ------------------------------------------------------------- launching -- */

struct plan {
    memory_kernel *kernel;
    unsigned blocks;
    int threads, shared_bytes;
};

static const char *supports(const struct assay_shape *shape)
{
    int64_t mix = shape->value[MEMORY_MIX];
    return mix == MEMORY_COPY || mix == MEMORY_WRITE ? NULL : "a copy or a write only";
}

static int64_t shared_bytes(const struct assay_shape *shape)
{
    return shape->value[MEMORY_MIX] == MEMORY_COPY ? (int64_t)RING_BYTES : 0;
}

static int plan_blocks(struct plan *plan, int64_t chunks)
{
    int each;
    if (assay_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, plan->kernel, plan->threads,
                                                                 plan->shared_bytes),
                   "occupancy"))
        return -1;
    int64_t blocks = (int64_t)assay_card()->multiprocessors * each;
    if (blocks > chunks) blocks = chunks;
    plan->blocks = (unsigned)(blocks > 0 ? blocks : 1);
    return 0;
}

static int prepare(struct plan *plan, const struct assay_shape *shape)
{
    struct memory_layout layout = memory_layout(shape);
    bool copy = layout.mix == MEMORY_COPY;
    plan->kernel = copy ? bulk_copy : bulk_write;
    plan->threads = copy ? COPY_THREADS : FILL_THREADS;
    plan->shared_bytes = (int)shared_bytes(shape);
    if (cuda_allow_shared((const void *)plan->kernel, plan->shared_bytes)) return -1;
    return plan_blocks(plan, (layout.out_words * 4 + CHUNK_BYTES - 1) / CHUNK_BYTES);
}

static int setup(struct assay_call *call)
{
    struct plan *plan = (struct plan *)malloc(sizeof *plan);
    if (!plan) return assay_error("out of memory");
    if (prepare(plan, call->shape)) {
        free(plan);
        return -1;
    }
    call->state = plan;
    return 0;
}

static int launch(struct assay_call *call)
{
    const struct plan *plan = (const struct plan *)call->state;
    struct memory_layout layout = memory_layout(call->shape);
    plan->kernel<<<plan->blocks, plan->threads, plan->shared_bytes, (cudaStream_t)call->stream>>>(
        (uint32_t *)call->buffer[MEMORY_OUT],
        layout.in_words ? (const uint32_t *)call->buffer[MEMORY_IN] : NULL, layout.out_words,
        layout.in_words);
    return assay_launched();
}

static void teardown(struct assay_call *call)
{
    free(call->state);
}

static const struct assay_variant variant = {
    .operation = "memory",
    .name = "bulk",
    .summary = "16 KiB chunks by TMA bulk copies, six in flight per block",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 90,
    .supports = supports,
    .shared_bytes = shared_bytes,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(variant);
