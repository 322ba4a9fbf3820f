/*
 * vq_gather.cu - the gathers on the GPU, behind the passes that widen the codes.
 *
 *   scalar  one number per thread, 4 bytes at a time
 *   vec4    a warp copies a codeword in one load and one store of 16 bytes per lane
 *   best    the same with four codes per warp, which come in one load; all four codewords are
 *           loaded before the first is stored
 *   smem    one block per multiprocessor copies the codebook, 128 KiB, to shared memory once, and
 *           its warps stride over the codes
 *
 * Bytes per vector: 1 read (widened: 8 or 4), 512 written. But in smem most of the codebook stays
 * in L1.
 */
#include "kernels/cuda/cuda_limits.h"
#include "vq_gather.h"

enum { GATHER_THREADS = 256, GATHER_WARPS = GATHER_THREADS / 32, GATHER_PIECES = 32 };

/* What a launch of a gather needs; C is uint8_t, int64_t or float. */
template <typename C> struct gather_job {
    const C *codes;
    const float4 *codebook; /* GATHER_PIECES per codeword */
    float4 *out;
    int64_t vectors;
    cudaStream_t stream;
};

template <typename From, typename To>
static __global__ void __launch_bounds__(GATHER_THREADS)
    gather_widen(const From *__restrict__ from, To *__restrict__ to, int64_t vectors)
{
    int64_t i = (int64_t)blockIdx.x * GATHER_THREADS + threadIdx.x;
    if (i < vectors) to[i] = (To)from[i];
}

/* How many blocks of `per_block` cover `count`. */
static inline unsigned gather_blocks(int64_t count, int64_t per_block)
{
    return (unsigned)((count + per_block - 1) / per_block);
}

template <typename C>
static inline gather_job<C> gather_job_of(const struct assay_call *call, int codes)
{
    return {(const C *)call->buffer[codes], (const float4 *)call->buffer[GATHER_CODEBOOK],
            (float4 *)call->buffer[GATHER_OUT], gather_vectors(call->shape),
            (cudaStream_t)call->stream};
}

/* Enqueue the widening passes and then Gather::enqueue(call, job). */
template <typename Gather> static inline int gather_launch(struct assay_call *call)
{
    const int64_t index = call->shape->value[GATHER_INDEX], vectors = gather_vectors(call->shape);
    const unsigned blocks = gather_blocks(vectors, GATHER_THREADS);
    cudaStream_t stream = (cudaStream_t)call->stream;
    int64_t *wide = (int64_t *)call->buffer[GATHER_WIDE];
    if (index == GATHER_U8) {
        Gather::enqueue(call, gather_job_of<uint8_t>(call, GATHER_CODES));
        return assay_launched();
    }
    gather_widen<<<blocks, GATHER_THREADS, 0, stream>>>((const uint8_t *)call->buffer[GATHER_CODES],
                                                        wide, vectors);
    if (index == GATHER_I64) {
        Gather::enqueue(call, gather_job_of<int64_t>(call, GATHER_WIDE));
        return assay_launched();
    }
    gather_widen<<<blocks, GATHER_THREADS, 0, stream>>>(
        (const int64_t *)wide, (float *)call->buffer[GATHER_FLOAT], vectors);
    Gather::enqueue(call, gather_job_of<float>(call, GATHER_FLOAT));
    return assay_launched();
}

/* ------------------------------------------------------------------ scalar -- */

template <typename C>
static __global__ void __launch_bounds__(GATHER_THREADS)
    scalar(const C *__restrict__ codes, const float *__restrict__ codebook, float *__restrict__ out)
{
    int64_t i = (int64_t)blockIdx.x * GATHER_THREADS + threadIdx.x;
    int code = (int)codes[i / CODEWORD_LENGTH];
    out[i] = codebook[code * CODEWORD_LENGTH + i % CODEWORD_LENGTH];
}

struct gather_scalar {
    template <typename C> static void enqueue(const struct assay_call *, gather_job<C> job)
    {
        /* A leaf is 64 * 128 numbers, a multiple of the block. */
        unsigned blocks = gather_blocks(job.vectors * CODEWORD_LENGTH, GATHER_THREADS);
        scalar<<<blocks, GATHER_THREADS, 0, job.stream>>>(job.codes, (const float *)job.codebook,
                                                          (float *)job.out);
    }
};

static const struct assay_variant plain = {
    .operation = "vq_gather",
    .name = "scalar",
    .summary = "one number per thread",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = gather_launch<gather_scalar>,
};
ASSAY_REGISTER_VARIANT(plain);

/* -------------------------------------------------------------- vec4, best -- */

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

/* -------------------------------------------------------------------- smem -- */

enum {
    SMEM_THREADS = 1024,
    SMEM_WARPS = SMEM_THREADS / 32,
    SHARED_BYTES = CODEWORDS * CODEWORD_LENGTH * 4
};

template <typename C>
static __global__ void __launch_bounds__(SMEM_THREADS, 1)
    smem(const C *__restrict__ codes, const float4 *__restrict__ codebook, float4 *__restrict__ out,
         int64_t vectors)
{
    extern __shared__ float4 codewords[];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll 8
    for (int i = threadIdx.x; i < CODEWORDS * GATHER_PIECES; i += SMEM_THREADS)
        codewords[i] = codebook[i];
    __syncthreads();
    const int64_t step = (int64_t)gridDim.x * SMEM_WARPS;
#pragma unroll 4
    for (int64_t i = (int64_t)blockIdx.x * SMEM_WARPS + warp; i < vectors; i += step)
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
        unsigned blocks = gather_blocks(job.vectors, SMEM_WARPS);
        unsigned most = (unsigned)assay_card()->multiprocessors;
        unsigned grid = blocks < most ? blocks : most;
        smem<C><<<grid, SMEM_THREADS, SHARED_BYTES, job.stream>>>(job.codes, job.codebook, job.out,
                                                                  job.vectors);
    }
};

static const struct assay_variant shared = {
    .operation = "vq_gather",
    .name = "smem",
    .summary = "the codebook in shared memory, one block per multiprocessor",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .shared_bytes = shared_bytes,
    .setup = setup,
    .launch = gather_launch<gather_smem>,
};
ASSAY_REGISTER_VARIANT(shared);
