/*
 * seq.cu - one launch per column of blocks, with one thread per row: the published first version,
 * whose loop over the blocks of a row is in the host's language. The kernel is fused_tpb's.
 * Deliberately slow: it makes columns / d launches, and neighbouring lanes read entries a whole row
 * apart.
 *
 * Bytes per entry: those of the operation, but once the rows exceed the cache, every use of a part
 * of a sector fetches the whole sector.
 */
#include "lattice.cuh"

/* More launches than this say nothing that fewer do not. */
enum { MAX_LAUNCHES = 4096 };

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
    struct lattice_args column = lattice_make_args(call, &job);
    column.count /= column.row_blocks;
    column.step = column.row_blocks;
    for (; column.first < column.row_blocks; column.first++)
        if (lattice_enqueue_blocks(&job, &column, (cudaStream_t)call->stream) < 0) return -1;
    return 0;
}

LATTICE_VARIANTS("seq", "one launch per column of blocks", .supports = supports, .launch = launch);
