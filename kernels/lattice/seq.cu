/*
 * seq.cu - one launch per column of blocks, with one thread per row: the published first version,
 * whose loop over the blocks of a row is in the host's language. Deliberately slow: it makes
 * columns / d launches, and neighbouring lanes read entries a whole row apart.
 *
 * Bytes per entry: those of the operation, but once the rows exceed the cache, every use of a part
 * of a sector fetches the whole sector.
 */
#include "lattice.cuh"

/* More launches than this say nothing that fewer do not. */
enum { MAX_LAUNCHES = 4096 };

struct seq {
    enum lattice_task task;
    struct lattice_args args;
    cudaStream_t stream;

    template <int TASK, int LATTICE, int Q> int columns() const
    {
        struct lattice_args column = args;
        column.count = args.count / args.row_blocks;
        column.step = args.row_blocks;
        unsigned grid = lattice_grid(column.count, LATTICE_THREADS);
        for (column.first = 0; column.first < args.row_blocks; column.first++) {
            lattice_thread_a_block<TASK, LATTICE, Q><<<grid, LATTICE_THREADS, 0, stream>>>(column);
            if (assay_launched() < 0) return -1;
        }
        return 0;
    }

    template <int LATTICE, int Q> int run() const
    {
        return task == TASK_ENCODE   ? columns<TASK_ENCODE, LATTICE, Q>()
               : task == TASK_DECODE ? columns<TASK_DECODE, LATTICE, Q>()
                                     : columns<TASK_ROUNDTRIP, LATTICE, Q>();
    }
};

static const char *supports(const struct assay_shape *shape)
{
    const struct lattice_job job = lattice_job(shape);
    if (job.row_blocks > MAX_LAUNCHES) return "more than 4096 launches, one per column of blocks";
    if (job.task == TASK_ENCODE && job.overload == OVERLOAD_TENSOR)
        return "one scale for the tensor needs a pass before the first column";
    return NULL;
}

static int launch(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    struct seq kernel = {job.task, lattice_make_args(call, &job), (cudaStream_t)call->stream};
    return lattice_instance(&job, kernel);
}

LATTICE_VARIANTS("seq", "one launch per column of blocks", .supports = supports, .launch = launch);
