/*
 * vq_gather_smem.cu - the gather from shared memory: one block per multiprocessor copies the
 * codebook there once, and its warps stride over the codes.
 *
 * Bytes per vector: 1 read (widened: 8 or 4), 512 written. Each multiprocessor reads 128 KiB of
 * codebook from L2.
 */
#include "kernels/cuda/cuda_limits.h"
#include "vq_gather.cuh"

enum { THREADS = 1024, WARPS = THREADS / 32, SHARED_BYTES = CODEWORDS * CODEWORD_LENGTH * 4 };

template <typename C>
static __global__ void __launch_bounds__(THREADS, 1)
    smem(const C *__restrict__ codes, const float4 *__restrict__ codebook, float4 *__restrict__ out,
         int64_t vectors)
{
    extern __shared__ float4 codewords[];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll 8
    for (int i = threadIdx.x; i < CODEWORDS * GATHER_PIECES; i += THREADS)
        codewords[i] = codebook[i];
    __syncthreads();
    const int64_t step = (int64_t)gridDim.x * WARPS;
#pragma unroll 4
    for (int64_t i = (int64_t)blockIdx.x * WARPS + warp; i < vectors; i += step)
        out[i * GATHER_PIECES + lane] = codewords[(int)codes[i] * GATHER_PIECES + lane];
}

template <typename C> static int allow()
{
    return cuda_allow_shared((const void *)smem<C>, SHARED_BYTES);
}

static int64_t shared_bytes(const struct assay_shape *)
{
    return SHARED_BYTES;
}

static int setup(struct assay_call *)
{
    return allow<uint8_t>() || allow<int64_t>() || allow<float>() ? -1 : 0;
}

struct gather_smem {
    template <typename C> static void enqueue(const struct assay_call *, gather_job<C> job)
    {
        unsigned blocks = gather_blocks(job.vectors, WARPS);
        unsigned most = (unsigned)assay_card()->multiprocessors;
        unsigned grid = blocks < most ? blocks : most;
        smem<C><<<grid, THREADS, SHARED_BYTES, job.stream>>>(job.codes, job.codebook, job.out,
                                                             job.vectors);
    }
};

static const struct assay_variant variant = {
    .operation = "vq_gather",
    .name = "smem",
    .summary = "the codebook in shared memory, one block per multiprocessor",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .shared_bytes = shared_bytes,
    .setup = setup,
    .launch = gather_launch<gather_smem>,
};
ASSAY_REGISTER_VARIANT(variant);
