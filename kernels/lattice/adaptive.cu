/*
 * adaptive.cu - two kernels: the sum of squares, then one thread per block of d as fused_tpb has
 * it, which works r out of the sum for itself.
 *
 * Bytes per entry: those of lattice_encode, and 4 read once more (from L2, as x fits it here).
 * Operations: those of lattice_encode, 2 per entry, and a division and a root per thread block.
 *
 * The first kernel adds 64-bit whole numbers: a warp by shuffles, then one atomic per warp. Its
 * grid is that of one thread per 4 entries up to eight blocks per multiprocessor, so that there are
 * few atomics. The sum starts at 0 in each launch.
 */
#include "adaptive.h"
#include "kernels/cuda/device_memory.h"
#include "lattice.cuh"

enum { BLOCKS_PER_SM = 8, PER_THREAD = 4 };

static __global__ void __launch_bounds__(LATTICE_THREADS)
    squares(const float *__restrict__ x, int64_t entries, unsigned long long *__restrict__ total)
{
    int64_t threads = (int64_t)gridDim.x * LATTICE_THREADS;
    unsigned long long sum = 0;
    for (int64_t i = (int64_t)blockIdx.x * LATTICE_THREADS + threadIdx.x; i < entries; i += threads)
        sum += adaptive_square(x[i]);
    for (int apart = 16; apart > 0; apart /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, apart);
    if (threadIdx.x % 32 == 0) atomicAdd(total, sum);
}

template <int LATTICE, int Q>
static __global__ void __launch_bounds__(LATTICE_THREADS)
    encode(const struct lattice_args a, const unsigned long long *__restrict__ total,
           int64_t entries, float *__restrict__ r_out)
{
    constexpr int D = lattice_d(LATTICE);
    __shared__ float r;
    if (threadIdx.x == 0) r = adaptive_r(*total, entries, a.r);
    __syncthreads();
    if (blockIdx.x == 0 && threadIdx.x == 0) *r_out = r;
    int64_t block = (int64_t)blockIdx.x * LATTICE_THREADS + threadIdx.x, offset;
    if (block >= a.count) return;
    float x[D];
    int count = lattice_span<D>(a, block, &offset);
#pragma unroll
    for (int j = 0; j < D; j++)
        x[j] = j < count ? ((const float *)a.in)[offset + j] : 0.0f;
    lattice_put_digits<LATTICE, Q>(a, block, lattice_encode_once(LATTICE, Q, a.levels, x, r, NULL));
}

struct adaptive {
    struct lattice_args args;
    int64_t entries;
    unsigned long long *total;
    float *r;
    cudaStream_t stream;

    template <int LATTICE, int Q> int run() const
    {
        int64_t needed = lattice_grid(entries, LATTICE_THREADS * PER_THREAD);
        int64_t resident = (int64_t)assay_card()->multiprocessors * BLOCKS_PER_SM;
        cudaError_t error = cudaMemsetAsync(total, 0, sizeof *total, stream);
        if (assay_cuda(error, "cudaMemsetAsync") < 0) return -1;
        squares<<<(unsigned)(needed < resident ? needed : resident), LATTICE_THREADS, 0, stream>>>(
            (const float *)args.in, entries, total);
        encode<LATTICE, Q>
            <<<lattice_grid(args.count, LATTICE_THREADS), LATTICE_THREADS, 0, stream>>>(args, total,
                                                                                        entries, r);
        return assay_launched();
    }
};

static int setup(struct assay_call *call)
{
    call->workspace_bytes += sizeof(unsigned long long);
    return assay_cuda(cudaMalloc(&call->state, sizeof(unsigned long long)), "cudaMalloc");
}

static int launch(struct assay_call *call)
{
    const struct lattice_job job = adaptive_job(call->shape);
    struct adaptive kernel = {lattice_make_args(call, &job), job.rows * job.columns,
                              (unsigned long long *)call->state, (float *)call->buffer[ADAPTIVE_R],
                              (cudaStream_t)call->stream};
    return lattice_instance(&job, kernel);
}

static const struct assay_variant variant = {
    .operation = "lattice_encode_adaptive",
    .name = "twopass",
    .summary = "the sum of squares, then one thread per block of d",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .setup = setup,
    .launch = launch,
    .teardown = device_memory_free,
    .model = adaptive_model,
};
ASSAY_REGISTER_VARIANT(variant);
