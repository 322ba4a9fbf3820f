/*
 * bulk.cu - TMA copies tiles to shared memory and back in bulk; threads only compute.
 *
 * Formula: fma(x, r, z), r = 1 / s rounded to nearest, computed once on the host.
 * Bytes per element: 4 read (bf16: 2), 1 written. Operations: 1 fused multiply-add.
 *
 * One thread starts a bulk copy of Hopper's TMA (PTX cp.async.bulk) of a 16 KiB tile with one
 * instruction; an mbarrier reports when it has arrived. The grid is resident, two blocks per
 * multiprocessor, each with a ring of four tiles. That is 128 KiB in flight per multiprocessor,
 * five times what Little's law asks for at 4.3 TB/s and 700 ns, and takes no registers or load
 * slots. Codes are collected in shared memory and written by a bulk store, two tiles deep.
 *
 * Tile t of a block uses ring slot t % STAGES in its (t / STAGES)-th turn; the barrier's phase has
 * the parity of that turn. Elements behind the last whole tile are done with plain loads.
 */
#include "bulk.cuh"
#include "int8.cuh"
#include "kernels/cuda/cuda_limits.h"

enum {
    THREADS = 256,
    STAGES = 4,
    TILE_BYTES = 16384,
    VECTORS = TILE_BYTES / 16 / THREADS, /* 16-byte pieces of a tile per thread */
    BLOCKS_PER_SM = 2,
};

template <typename T> struct ring {
    enum { TILE = TILE_BYTES / sizeof(T) };
    uint4 in[STAGES][TILE_BYTES / 16];
    uint32_t out[2][TILE / 4];
    uint64_t landed[STAGES];
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

static __device__ __forceinline__ uint32_t quantize4(float4 v, float inverse, float zero)
{
    return int8_pack(make_float4(__fmaf_rn(v.x, inverse, zero), __fmaf_rn(v.y, inverse, zero),
                                 __fmaf_rn(v.z, inverse, zero), __fmaf_rn(v.w, inverse, zero)));
}

static __device__ __forceinline__ void quantize_vector(const float *, uint32_t *out, int at,
                                                       uint4 raw, float inverse, float zero)
{
    out[at] = quantize4(make_float4(__uint_as_float(raw.x), __uint_as_float(raw.y),
                                    __uint_as_float(raw.z), __uint_as_float(raw.w)),
                        inverse, zero);
}

static __device__ __forceinline__ void quantize_vector(const uint16_t *, uint32_t *out, int at,
                                                       uint4 raw, float inverse, float zero)
{
    float2 a = int8_float2(raw.x);
    float2 b = int8_float2(raw.y);
    float2 c = int8_float2(raw.z);
    float2 d = int8_float2(raw.w);
    ((uint2 *)out)[at] = make_uint2(quantize4(make_float4(a.x, a.y, b.x, b.y), inverse, zero),
                                    quantize4(make_float4(c.x, c.y, d.x, d.y), inverse, zero));
}

#endif

template <typename T>
static __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
    bulk(const T *__restrict__ x, int8_t *__restrict__ y, int64_t n, float inverse, float zero)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    extern __shared__ __align__(128) unsigned char memory[];
    ring<T> &own = *(ring<T> *)memory;
    const int tile = ring<T>::TILE;
    const bool leader = threadIdx.x == 0;
    int64_t tiles = n / tile;
    int64_t step = gridDim.x;

    if (leader) {
        for (int s = 0; s < STAGES; s++)
            bulk_barrier_init(&own.landed[s]);
        hopper_store_fence();
        for (int s = 0; s < STAGES; s++) {
            int64_t t = blockIdx.x + s * step;
            if (t < tiles) bulk_fetch(own.in[s], x + t * tile, TILE_BYTES, &own.landed[s]);
        }
    }
    __syncthreads();

    /* The elements after the last whole tile, while the first tiles are being copied. */
    for (int64_t i = tiles * tile + (int64_t)blockIdx.x * THREADS + threadIdx.x; i < n;
         i += step * THREADS)
        y[i] = int8_round(__fmaf_rn(int8_float(x[i]), inverse, zero));

    int slot = 0, side = 0;
    uint32_t parity = 0;
    for (int64_t t = blockIdx.x; t < tiles; t += step) {
        bulk_wait_landed(&own.landed[slot], parity);
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            int at = threadIdx.x + k * THREADS;
            quantize_vector(x, own.out[side], at, own.in[slot][at], inverse, zero);
        }
        /* The codes were written by ordinary stores; TMA reads them next. */
        hopper_store_fence();
        /* The previous tile's codes have left the other side, which the barrier
         * then frees for everyone. */
        if (leader) hopper_store_wait<0>();
        __syncthreads();
        if (leader) {
            bulk_put(y + t * tile, own.out[side], tile);
            int64_t next = t + STAGES * step;
            if (next < tiles)
                bulk_fetch(own.in[slot], x + next * tile, TILE_BYTES, &own.landed[slot]);
        }
        side ^= 1;
        if (++slot == STAGES) {
            slot = 0;
            parity ^= 1;
        }
    }
    if (leader) bulk_wait_written();
#else
    __trap(); /* skipped where code is below sm_90 */
#endif
}

static int64_t shared_bytes(const struct assay_shape *shape)
{
    return shape->value[DIM_INPUT] == INPUT_BF16 ? sizeof(ring<uint16_t>) : sizeof(ring<float>);
}

static int setup(struct assay_call *call)
{
    const void *kernel = call->shape->value[DIM_INPUT] == INPUT_BF16 ? (const void *)bulk<uint16_t>
                                                                     : (const void *)bulk<float>;
    return cuda_allow_shared(kernel, shared_bytes(call->shape));
}

static int launch(struct assay_call *call)
{
    cudaStream_t stream = (cudaStream_t)call->stream;
    int64_t n = call->shape->value[DIM_N];
    int64_t needed = int8_blocks(n, 4 * THREADS);
    int64_t resident = (int64_t)assay_card()->multiprocessors * BLOCKS_PER_SM;
    unsigned blocks = (unsigned)(needed < resident ? needed : resident);
    float inverse = 1.0f / int8_scale(call->shape), zero = int8_zero(call->shape);
    int8_t *y = (int8_t *)call->buffer[BUF_Y];
    if (call->shape->value[DIM_INPUT] == INPUT_BF16)
        bulk<<<blocks, THREADS, sizeof(ring<uint16_t>), stream>>>(
            (const uint16_t *)call->buffer[BUF_X], y, n, inverse, zero);
    else
        bulk<<<blocks, THREADS, sizeof(ring<float>), stream>>>((const float *)call->buffer[BUF_X],
                                                               y, n, inverse, zero);
    return assay_launched();
}

static const struct assay_variant variant = {
    .operation = "int8_quantize",
    .name = "bulk",
    .summary = "TMA bulk copies through shared memory, a ring of 4 tiles per block",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 90,
    .shared_bytes = shared_bytes,
    .setup = setup,
    .launch = launch,
    .model = int8_model_rcp_fma,
};
ASSAY_REGISTER_VARIANT(variant);
