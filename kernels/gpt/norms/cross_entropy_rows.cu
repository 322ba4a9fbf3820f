/*
 * cross_entropy_rows.cu - cross_entropy by the kernels of kernels/gpt/row. The softmax is never
 * in memory: the loss and the gradient are written from the logits in registers.
 *
 *   naive    one row per thread, two passes
 *   stream   one row per block, of any length; read twice
 *   block    one row per warp or block, in registers; read once
 *   cluster  one row per cluster of 2 to 16 blocks, in registers; read once
 *   shared   one row per block or cluster, in shared memory; read once
 *   ring     one row per block or cluster that stays on its multiprocessor; the next ones are
 *            fetched into shared memory by TMA
 *   best     the fastest of all divisions of a row that fit, measured in setup
 *
 * Bytes per element: one read, and one written with the gradient, the minimum; with it naive and
 * stream read twice, the second time from L2 where it still has the row.
 */
#include <stdlib.h>

#include "softmax.cuh"

template <typename T, bool GRADIENT> struct cross_entropy : softmax_sums<T> {
    typedef softmax_part part;
    typedef typename softmax_sums<T>::gain gain;
    struct args {
        const T *x;
        const int32_t *target;
        T *y; /* the gradient */
        float *loss;
        int64_t rows;
        int columns;
        float share; /* of a row in the mean loss */
    };
    typedef int hint; /* the target */
    struct state {
        int target;
        float x; /* of the target */
    };
    struct closed {
        softmax_closed softmax; /* times the share */
        float share;            /* what the target has less */
        int target;
    };
    enum { ADDS = 0, WRITES = GRADIENT, RING = 1, GAINS = 0 };

    static __device__ __forceinline__ hint hints(const args &args, int64_t row)
    {
        return __ldg(args.target + row);
    }
    static __device__ __forceinline__ state open(const args &args, int64_t row, hint target)
    {
        return {target, gpt_float(__ldg(args.x + row * args.columns + target))};
    }
    static __device__ __forceinline__ closed close(const args &args, int64_t row, state state,
                                                   part whole, bool leader)
    {
        if (leader) args.loss[row] = logf(whole.sum) + (whole.most - state.x);
        return {softmax_close(whole, args.share), args.share, state.target};
    }
    static __device__ __forceinline__ float out(closed row, const gain &, int, float x)
    {
        return softmax_out(row.softmax, x);
    }
    template <int COUNT>
    static __device__ __forceinline__ void finish(closed row, float (&out)[COUNT], int column)
    {
        if ((unsigned)(row.target - column) >= COUNT) return;
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            if (column + i == row.target) out[i] -= row.share;
    }
};

template <typename T, bool GRADIENT>
static void job_of(const struct assay_call *call, struct row_job *out)
{
    const int64_t *value = call->shape->value;
    typename cross_entropy<T, GRADIENT>::args args = {(const T *)call->buffer[CROSS_X],
                                                      (const int32_t *)call->buffer[CROSS_TARGET],
                                                      (T *)call->buffer[CROSS_DX],
                                                      (float *)call->buffer[CROSS_LOSS],
                                                      value[CROSS_ROWS],
                                                      (int)value[CROSS_COLUMNS],
                                                      1.0f / (float)value[CROSS_ROWS]};
    row_job_init<cross_entropy<T, GRADIENT>>(out, args);
}

static void job(const struct assay_call *call, struct row_job *out)
{
    static row_job_of *const jobs[][2] = {{job_of<float, true>, job_of<float, false>},
                                          {job_of<uint16_t, true>, job_of<uint16_t, false>},
                                          {job_of<fp16_t, true>, job_of<fp16_t, false>}};
    const int64_t *value = call->shape->value;
    jobs[value[CROSS_TYPE]][value[CROSS_GRADIENT]](call, out);
}

/* 0, or -1 with assay_error where a target is out of range. */
static int check(struct assay_call *call)
{
    int64_t rows = call->shape->value[CROSS_ROWS];
    size_t bytes = sizeof(int32_t) * (size_t)rows;
    int32_t *targets = (int32_t *)malloc(bytes);
    if (!targets) return assay_error("no memory for a copy of the targets");
    int status =
        assay_cuda(cudaMemcpy(targets, call->buffer[CROSS_TARGET], bytes, cudaMemcpyDeviceToHost),
                   "cudaMemcpy");
    if (status == 0) status = gpt_check_ids(targets, rows, call->shape->value[CROSS_COLUMNS]);
    free(targets);
    return status;
}

static constexpr struct assay_variant naive = row_variant<job, row_plan_naive, check>(
    "cross_entropy", "naive", "one row per thread, two passes");
static constexpr struct assay_variant stream = row_variant<job, row_plan_stream, check>(
    "cross_entropy", "stream", "one row per block, read twice");
static constexpr struct assay_variant block = row_variant<job, row_plan_block, check>(
    "cross_entropy", "block", "one row per warp or block, in registers, read once");
static constexpr struct assay_variant cluster = row_variant<job, row_plan_cluster, check>(
    "cross_entropy", "cluster", "one row per cluster of blocks, in registers, read once", 90);
static constexpr struct assay_variant shared = row_variant<job, row_plan_shared, check>(
    "cross_entropy", "shared", "one row per block or cluster, in shared memory, read once", 90);
static constexpr struct assay_variant ring = row_variant<job, row_plan_ring, check>(
    "cross_entropy", "ring",
    "one row per block or cluster that stays, the next ones fetched by TMA", 90);
static constexpr struct assay_variant best = row_variant_best<job, check>("cross_entropy", "best");

ASSAY_REGISTER_VARIANT(naive);
ASSAY_REGISTER_VARIANT(stream);
ASSAY_REGISTER_VARIANT(block);
ASSAY_REGISTER_VARIANT(cluster);
ASSAY_REGISTER_VARIANT(shared);
ASSAY_REGISTER_VARIANT(ring);
ASSAY_REGISTER_VARIANT(best);
