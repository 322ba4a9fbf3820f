/*
 * fused_tpb.cu - one thread per block, with the whole formula in registers. Where one T is wanted
 * for the whole tensor, an extra pass before finds it.
 *
 * Bytes per entry: those of the operation; the extra pass reads x once more. It is slow because
 * neighbouring lanes read 4 bytes each, a block apart, so a warp touches each line d times.
 */
#include "kernels/cuda/device_memory.h"
#include "lattice.cuh"

template <int LATTICE, int Q>
static __global__ void __launch_bounds__(LATTICE_THREADS)
    largest_t(const struct lattice_args a, int *most)
{
    constexpr int D = lattice_d(LATTICE);
    int64_t block = (int64_t)blockIdx.x * LATTICE_THREADS + threadIdx.x, offset;
    if (block >= a.count) return;
    float x[D];
    int t, count = lattice_span<D>(a, block, &offset);
#pragma unroll
    for (int j = 0; j < D; j++)
        x[j] = j < count ? ((const float *)a.in)[offset + j] : 0.0f;
    lattice_encode_protected(LATTICE, Q, a.levels, x, a.r, &t);
    if (t > 0 && t <= LATTICE_T_MAX) atomicMax(most, t);
}

struct fused_tpb {
    enum lattice_task task;
    struct lattice_args args;
    int *most;
    cudaStream_t stream;

    template <int LATTICE, int Q> int run() const
    {
        unsigned grid = lattice_grid(args.count, LATTICE_THREADS);
        if (most) {
            cudaError_t error = cudaMemsetAsync(most, 0, sizeof *most, stream);
            if (assay_cuda(error, "cudaMemsetAsync") < 0) return -1;
            largest_t<LATTICE, Q><<<grid, LATTICE_THREADS, 0, stream>>>(args, most);
        }
        if (task == TASK_ENCODE)
            lattice_thread_a_block<TASK_ENCODE, LATTICE, Q>
                <<<grid, LATTICE_THREADS, 0, stream>>>(args);
        else if (task == TASK_DECODE)
            lattice_thread_a_block<TASK_DECODE, LATTICE, Q>
                <<<grid, LATTICE_THREADS, 0, stream>>>(args);
        else
            lattice_thread_a_block<TASK_ROUNDTRIP, LATTICE, Q>
                <<<grid, LATTICE_THREADS, 0, stream>>>(args);
        return assay_launched();
    }
};

static int setup(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    if (job.task != TASK_ENCODE || job.overload != OVERLOAD_TENSOR) return 0;
    call->workspace_bytes += sizeof(int);
    return assay_cuda(cudaMalloc(&call->state, sizeof(int)), "cudaMalloc");
}

static int launch(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    struct fused_tpb kernel = {job.task, lattice_make_args(call, &job), (int *)call->state,
                               (cudaStream_t)call->stream};
    kernel.args.shared_t = kernel.most;
    return lattice_instance(&job, kernel);
}

LATTICE_VARIANTS("fused_tpb", "one kernel, one block per thread", .setup = setup, .launch = launch,
                 .teardown = device_memory_free);
