/*
 * memory_vec4.cu - 16-byte accesses with N loads in flight per thread, in all four mixes. A thread
 * issues its N loads before its first store, so that their latencies overlap; neighbouring threads
 * of a warp access neighbouring vectors.
 *
 *   vec4_xN            one pass: as many blocks as the data needs
 *   vec4_xN_evict      the same, with all accesses marked evict-first
 *   persistent_xN      as many blocks as fit on the device at once, with a stride over the data, so
 *                      that no block starts or ends during the kernel
 *   copy_float4        the plainest copy: each thread moves one float4. The table in docs/method.md
 *                      was measured with it, so its times can be compared with that table, which
 *                      counts only the bytes of the source where `bytes` counts read plus written:
 *                      the table's row "1 MiB" is bytes=2Mi
 *
 * `read` is divided into slices of 4 KiB, one per warp: 8 vectors per lane, N of them in flight,
 * then an xor across the warp and one stored word.
 *
 * Bytes: exactly the traffic of the operation. Operations: none counted.
 */
#include <stdlib.h>

#include "kernels/cuda/ampere.cuh"
#include "memory.cuh"

enum { WARPS = MEMORY_THREADS / 32, SLICE_STEPS = MEMORY_SLICE / (4 * 32) };

/* N vectors from `first` on, one width of the block apart. */
template <class Mix, int N>
static __device__ void move(uint32_t *__restrict__ out, const uint32_t *__restrict__ in,
                            int64_t first, int64_t vectors)
{
    if (first + (N - 1) * MEMORY_THREADS < vectors) {
        uint4 value[N];
#pragma unroll
        for (int k = 0; k < N; k++)
            value[k] = Mix::load(in, first + k * MEMORY_THREADS);
#pragma unroll
        for (int k = 0; k < N; k++)
            Mix::store(out, first + k * MEMORY_THREADS, value[k]);
        return;
    }
    for (int64_t vector = first; vector < vectors; vector += MEMORY_THREADS)
        Mix::store(out, vector, Mix::load(in, vector));
}

template <class Mix, int N>
static __global__ void __launch_bounds__(MEMORY_THREADS)
    move_all(uint32_t *__restrict__ out, const uint32_t *__restrict__ in, int64_t out_words,
             int64_t in_words)
{
    const int64_t vectors = Mix::vectors(out_words, in_words);
    const int64_t tile = MEMORY_THREADS * N;
    for (int64_t first = blockIdx.x * tile + threadIdx.x; first < vectors;
         first += gridDim.x * tile)
        move<Mix, N>(out, in, first, vectors);
    if (blockIdx.x == 0 && threadIdx.x == 0) Mix::rest(out, in, out_words, in_words);
}

/* This lane's part of a whole slice that starts at `vector`. */
template <class Access, int N> static __device__ uint32_t read_slice(const uint4 *vector, int lane)
{
    uint32_t word = 0;
#pragma unroll 1
    for (int step = 0; step < SLICE_STEPS; step += N) {
        uint4 value[N];
#pragma unroll
        for (int k = 0; k < N; k++)
            value[k] = Access::load(vector + (step + k) * 32 + lane);
#pragma unroll
        for (int k = 0; k < N; k++)
            word ^= memory_xor(value[k]);
    }
    return word;
}

template <class Access, int N>
static __global__ void __launch_bounds__(MEMORY_THREADS)
    read_all(uint32_t *__restrict__ out, const uint32_t *__restrict__ in, int64_t out_words,
             int64_t in_words)
{
    const int lane = threadIdx.x % 32;
    int64_t slice = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    for (; slice < out_words; slice += (int64_t)gridDim.x * WARPS) {
        const int64_t first = slice * MEMORY_SLICE;
        uint32_t word = 0;
        if (first + MEMORY_SLICE <= in_words) {
            word = read_slice<Access, N>((const uint4 *)(in + first), lane);
        } else {
            for (int64_t i = first + lane; i < in_words; i += 32)
                word ^= in[i];
        }
#ifdef AMPERE_CODE
        word = __reduce_xor_sync(0xffffffff, word);
#else
        for (int lanes = 16; lanes > 0; lanes /= 2)
            word ^= __shfl_xor_sync(0xffffffff, word, lanes);
#endif
        if (lane == 0) out[slice] = word;
    }
}

/* ------------------------------------------------------------- launching -- */

struct plan {
    memory_kernel *kernel;
    unsigned blocks;
};

template <class Access, int N> static memory_kernel *pick_kernel(enum memory_mix mix)
{
    memory_kernel *const kernels[MEMORY_MIXES] = {
        read_all<Access, N>,
        move_all<r4w1_mix<Access>, N>,
        move_all<copy_mix<Access>, N>,
        move_all<write_mix<Access>, N>,
    };
    return kernels[mix];
}

/* Blocks that cover the data in one pass; at least one, for the words after the last vector. */
template <int N> static int64_t blocks_needed(const struct memory_layout *layout)
{
    int64_t units = layout->out_words, tile = WARPS;
    if (layout->mix != MEMORY_READ) {
        units = (layout->mix == MEMORY_R4W1 ? layout->in_words : layout->out_words) / 4;
        tile = MEMORY_THREADS * N;
    }
    int64_t blocks = (units + tile - 1) / tile;
    return blocks > 0 ? blocks : 1;
}

/* Blocks of `kernel` that the device holds at once. */
static int blocks_resident(memory_kernel *kernel, int64_t *blocks)
{
    int each;
    if (assay_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, MEMORY_THREADS, 0),
                   "occupancy"))
        return -1;
    *blocks = (int64_t)assay_card()->multiprocessors * each;
    return 0;
}

template <class Access, int N, bool PERSISTENT> static int setup(struct assay_call *call)
{
    struct memory_layout layout = memory_layout(call->shape);
    memory_kernel *kernel = pick_kernel<Access, N>(layout.mix);
    int64_t blocks = blocks_needed<N>(&layout);
    if (PERSISTENT) {
        int64_t resident;
        if (blocks_resident(kernel, &resident)) return -1;
        if (resident < blocks) blocks = resident;
    }
    if (blocks > INT32_MAX) return assay_error("too many blocks for one grid");
    struct plan *plan = (struct plan *)malloc(sizeof *plan);
    if (!plan) return assay_error("out of memory");
    plan->kernel = kernel;
    plan->blocks = (unsigned)blocks;
    call->state = plan;
    return 0;
}

static int launch(struct assay_call *call)
{
    const struct plan *plan = (const struct plan *)call->state;
    struct memory_layout layout = memory_layout(call->shape);
    plan->kernel<<<plan->blocks, MEMORY_THREADS, 0, (cudaStream_t)call->stream>>>(
        (uint32_t *)call->buffer[MEMORY_OUT],
        layout.in_words ? (const uint32_t *)call->buffer[MEMORY_IN] : NULL, layout.out_words,
        layout.in_words);
    return assay_launched();
}

static void teardown(struct assay_call *call)
{
    free(call->state);
}

/* What all variants share; each adds its own name and setup. */
static constexpr struct assay_variant named(const char *name, const char *summary,
                                            int (*setup)(struct assay_call *))
{
    return {
        .operation = "memory",
        .name = name,
        .summary = summary,
        .kind = ASSAY_KERNEL,
        .place = ASSAY_CUDA,
        .setup = setup,
        .launch = launch,
        .teardown = teardown,
    };
}

static constexpr struct assay_variant vec4_x1 =
    named("vec4_x1", "one 16-byte load in flight per thread", setup<cached_access, 1, false>);
static constexpr struct assay_variant vec4_x2 =
    named("vec4_x2", "two 16-byte loads in flight per thread", setup<cached_access, 2, false>);
static constexpr struct assay_variant vec4_x4 =
    named("vec4_x4", "four 16-byte loads in flight per thread", setup<cached_access, 4, false>);
static constexpr struct assay_variant vec4_x8 =
    named("vec4_x8", "eight 16-byte loads in flight per thread", setup<cached_access, 8, false>);
static constexpr struct assay_variant vec4_x2_evict =
    named("vec4_x2_evict", "two loads in flight, evict-first", setup<streaming_access, 2, false>);
static constexpr struct assay_variant vec4_x4_evict =
    named("vec4_x4_evict", "four loads in flight, evict-first", setup<streaming_access, 4, false>);
static constexpr struct assay_variant vec4_x8_evict =
    named("vec4_x8_evict", "eight loads in flight, evict-first", setup<streaming_access, 8, false>);
static constexpr struct assay_variant persistent_x4 =
    named("persistent_x4", "resident blocks that stride, four loads in flight",
          setup<cached_access, 4, true>);
static constexpr struct assay_variant persistent_x8 =
    named("persistent_x8", "resident blocks that stride, eight loads in flight",
          setup<cached_access, 8, true>);

ASSAY_REGISTER_VARIANT(vec4_x1);
ASSAY_REGISTER_VARIANT(vec4_x2);
ASSAY_REGISTER_VARIANT(vec4_x4);
ASSAY_REGISTER_VARIANT(vec4_x8);
ASSAY_REGISTER_VARIANT(vec4_x2_evict);
ASSAY_REGISTER_VARIANT(vec4_x4_evict);
ASSAY_REGISTER_VARIANT(vec4_x8_evict);
ASSAY_REGISTER_VARIANT(persistent_x4);
ASSAY_REGISTER_VARIANT(persistent_x8);

/* ---------------------------------------------------------------- copy_float4 -- */

static __global__ void copy_float4(float4 *__restrict__ out, const float4 *__restrict__ in,
                                   int64_t vectors)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < vectors) out[i] = in[i];
}

static const char *copy_float4_supports(const struct assay_shape *shape)
{
    if (shape->value[MEMORY_MIX] != MEMORY_COPY) return "a copy only";
    if (shape->value[MEMORY_BYTES] % 32) return "whole float4s only: bytes a multiple of 32";
    return NULL;
}

static int copy_float4_launch(struct assay_call *call)
{
    int64_t vectors = memory_layout(call->shape).out_words / 4;
    int64_t blocks = (vectors + MEMORY_THREADS - 1) / MEMORY_THREADS;
    copy_float4<<<(unsigned)blocks, MEMORY_THREADS, 0, (cudaStream_t)call->stream>>>(
        (float4 *)call->buffer[MEMORY_OUT], (const float4 *)call->buffer[MEMORY_IN], vectors);
    return assay_launched();
}

static const struct assay_variant copy_float4_variant = {
    .operation = "memory",
    .name = "copy_float4",
    .summary = "each thread copies one float4, nothing else",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = copy_float4_supports,
    .launch = copy_float4_launch,
};
ASSAY_REGISTER_VARIANT(copy_float4_variant);
