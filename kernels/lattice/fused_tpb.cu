/*
 * fused_tpb.cu - one thread per block, with the whole formula in registers.
 *
 *   fused_tpb  every block in one launch. Where one T is wanted for the whole tensor, an extra pass
 *              before finds it
 *   seq        one launch per column of blocks, with one thread per row: the published first
 *              version, whose loop over the blocks of a row is in the host's language.
 *              Deliberately slow: it makes columns / d launches
 *
 * Bytes per entry: those of the operation; the extra pass reads x once more. It is slow because
 * neighbouring lanes read 4 bytes each, a block apart, so a warp touches each line d times. Those
 * of seq read a whole row apart: once the rows exceed the cache, every use of a part of a sector
 * fetches the whole sector.
 */
#include "kernels/cuda/device_memory.h"
#include "lattice.cuh"

/* With `most`, only the largest T. */
template <int LATTICE, int Q>
static __global__ void __launch_bounds__(LATTICE_THREADS)
    lattice_thread_a_block(const struct lattice_args a, enum lattice_task task, int *most)
{
    constexpr int D = lattice_d(LATTICE);
    int64_t i = (int64_t)blockIdx.x * LATTICE_THREADS + threadIdx.x;
    if (i >= a.count) return;
    int64_t block = a.first + i * a.step, offset;
    int t, count = lattice_span<D>(a, block, &offset);
    uint64_t digits;
    float x[D];
    if (task == TASK_DECODE) {
        digits = lattice_get_digits<LATTICE, Q>(a, block);
        t = lattice_get_t(a, block);
    } else {
#pragma unroll
        for (int j = 0; j < D; j++)
            x[j] = j < count ? ((const float *)a.in)[offset + j] : 0.0f;
        float r = a.shared_t ? a.r * lattice_power(-*a.shared_t) : a.r;
        digits = lattice_encode_block(LATTICE, Q, a.levels, x, r, a.overload == OVERLOAD_BLOCK, &t);
    }
    if (most) {
        if (t > 0 && t <= LATTICE_T_MAX) atomicMax(most, t);
        return;
    }
    if (task == TASK_ENCODE) {
        lattice_put_digits<LATTICE, Q>(a, block, digits);
        if (a.overload == OVERLOAD_BLOCK) a.t[block] = (uint8_t)t;
        if (a.shared_t && block == 0) a.t[0] = (uint8_t)*a.shared_t;
        return;
    }
    lattice_decode_block(LATTICE, Q, a.levels, digits, a.half, t, x);
#pragma unroll
    for (int j = 0; j < D; j++)
        if (j < count) ((float *)a.out)[offset + j] = x[j];
}

struct blocks {
    enum lattice_task task;
    struct lattice_args args;
    cudaStream_t stream;
    int *most;

    template <int LATTICE, int Q> int run() const
    {
        lattice_thread_a_block<LATTICE, Q>
            <<<lattice_grid(args.count, LATTICE_THREADS), LATTICE_THREADS, 0, stream>>>(args, task,
                                                                                        most);
        return assay_launched();
    }
};

/* The blocks of `args`, one per thread. */
static int enqueue(const struct lattice_job *job, const struct lattice_args *args,
                   cudaStream_t stream)
{
    const struct blocks kernel = {job->task, *args, stream, NULL};
    return lattice_instance(job, kernel);
}

static int tpb_setup(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    if (job.task != TASK_ENCODE || job.overload != OVERLOAD_TENSOR) return 0;
    call->workspace_bytes += sizeof(int);
    return assay_cuda(cudaMalloc(&call->state, sizeof(int)), "cudaMalloc");
}

static int tpb_launch(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    struct lattice_args args = lattice_make_args(call, &job);
    cudaStream_t stream = (cudaStream_t)call->stream;
    int *most = (int *)call->state;
    if (most) {
        struct blocks kernel = {job.task, args, stream, most};
        kernel.args.overload = OVERLOAD_BLOCK;
        cudaError_t error = cudaMemsetAsync(most, 0, sizeof *most, stream);
        if (assay_cuda(error, "cudaMemsetAsync") < 0 || lattice_instance(&job, kernel) < 0)
            return -1;
    }
    args.shared_t = most;
    return enqueue(&job, &args, stream);
}

LATTICE_VARIANTS(fused_tpb, "one kernel, one block per thread", .setup = tpb_setup,
                 .launch = tpb_launch, .teardown = device_memory_free);

/* ----------------------------------------------------------------------- seq -- */

/* More launches than this say nothing that fewer do not. */
enum { MAX_LAUNCHES = 4096 };

static const char *seq_supports(const struct assay_shape *shape)
{
    const struct lattice_job job = lattice_job(shape);
    if (job.row_blocks > MAX_LAUNCHES) return "more than 4096 launches, one per column of blocks";
    if (job.task == TASK_ENCODE && job.overload == OVERLOAD_TENSOR)
        return "one scale for the tensor needs a pass before the first column";
    return NULL;
}

static int seq_launch(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    struct lattice_args column = lattice_make_args(call, &job);
    column.count /= column.row_blocks;
    column.step = column.row_blocks;
    for (; column.first < column.row_blocks; column.first++)
        if (enqueue(&job, &column, (cudaStream_t)call->stream) < 0) return -1;
    return 0;
}

LATTICE_VARIANTS(seq, "one launch per column of blocks", .supports = seq_supports,
                 .launch = seq_launch);
