/*
 * vq_gather_vec4.cu - the gather in pieces of 16 bytes: a warp copies a codeword in one load and
 * one store.
 *
 *   vec4  one warp per code
 *   best  four codes per warp, which come in one load; all four codewords are loaded before
 *         the first is stored
 *
 * Most of the codebook, 128 KiB, stays in L1. Bytes per vector: 1 read (widened: 8 or 4), 512
 * written.
 */
#include "vq_gather.cuh"

enum { CODES_AT_ONCE = 4 };

template <typename C, int N>
static __global__ void __launch_bounds__(GATHER_THREADS)
    vec4(const C *__restrict__ codes, const float4 *__restrict__ codebook, float4 *__restrict__ out)
{
    /* N successive codes, aligned so that one load fetches all. */
    struct alignas(N * sizeof(C)) several {
        C code[N];
    };
    const int lane = threadIdx.x % 32;
    const int64_t group = (int64_t)blockIdx.x * GATHER_WARPS + threadIdx.x / 32;
    const several mine = ((const several *)codes)[group];
    float4 piece[N];
#pragma unroll
    for (int i = 0; i < N; i++)
        piece[i] = codebook[(int)mine.code[i] * GATHER_PIECES + lane];
#pragma unroll
    for (int i = 0; i < N; i++)
        out[(group * N + i) * GATHER_PIECES + lane] = piece[i];
}

/* A leaf has 64 codes, a multiple of the block's 8 N for N up to 8. */
template <int N> struct gather_vec4 {
    template <typename C> static void enqueue(const struct assay_call *, gather_job<C> job)
    {
        unsigned blocks = gather_blocks(job.vectors, GATHER_WARPS * N);
        vec4<C, N><<<blocks, GATHER_THREADS, 0, job.stream>>>(job.codes, job.codebook, job.out);
    }
};

static const struct assay_variant one = {
    .operation = "vq_gather",
    .name = "vec4",
    .summary = "one code per warp, 16 bytes per lane",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = gather_launch<gather_vec4<1>>,
};
ASSAY_REGISTER_VARIANT(one);

static const struct assay_variant best = {
    .operation = "vq_gather",
    .name = "best",
    .summary = "four codes per warp, 16 bytes per lane, four loads in flight",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = gather_launch<gather_vec4<CODES_AT_ONCE>>,
};
ASSAY_REGISTER_VARIANT(best);
