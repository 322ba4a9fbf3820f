/*
 * softmax_rows.cu - softmax by the kernels of kernels/gpt/row.
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
 * Bytes per element: one read and one written, the minimum; naive and stream read twice, the second
 * time from L2 where it still has the row. Operations per element: 8, two of them exponentials, of
 * which the second costs less than the registers that would keep the first.
 */
#include "softmax.cuh"

template <typename T> struct softmax : softmax_sums<T> {
    typedef softmax_part part;
    typedef row_plain::state state;
    typedef typename softmax_sums<T>::gain gain;
    struct args {
        const T *x;
        T *y;
        int64_t rows;
        int columns;
        int unused; /* no bytes without a value: a gate compares arguments whole */
    };
    typedef softmax_closed closed;
    enum { ADDS = 0, WRITES = 1, RING = 1, GAINS = 0 };

    static __device__ __forceinline__ closed close(const args &, int64_t, state, part whole, bool)
    {
        return softmax_close(whole, 1.0f);
    }
    static __device__ __forceinline__ float out(closed row, const gain &, int, float x)
    {
        return softmax_out(row, x);
    }
};

template <typename T> static inline void job_of(const struct assay_call *call, struct row_job *out)
{
    const int64_t *value = call->shape->value;
    typename softmax<T>::args args = {(const T *)call->buffer[SOFTMAX_X],
                                      (T *)call->buffer[SOFTMAX_Y], value[SOFTMAX_ROWS],
                                      (int)value[SOFTMAX_COLUMNS]};
    row_job_init<softmax<T>>(out, args);
}

static inline void job(const struct assay_call *call, struct row_job *out)
{
    static row_job_of *const jobs[] = {job_of<float>, job_of<uint16_t>, job_of<fp16_t>};
    jobs[call->shape->value[SOFTMAX_TYPE]](call, out);
}

static constexpr struct assay_variant naive =
    row_variant<job, row_plan_naive>("row_softmax", "naive", "one row per thread, two passes");
static constexpr struct assay_variant stream =
    row_variant<job, row_plan_stream>("row_softmax", "stream", "one row per block, read twice");
static constexpr struct assay_variant block = row_variant<job, row_plan_block>(
    "row_softmax", "block", "one row per warp or block, in registers, read once");
static constexpr struct assay_variant cluster = row_variant<job, row_plan_cluster>(
    "row_softmax", "cluster", "one row per cluster of blocks, in registers, read once", 90);
static constexpr struct assay_variant shared = row_variant<job, row_plan_shared>(
    "row_softmax", "shared", "one row per block or cluster, in shared memory, read once", 90);
static constexpr struct assay_variant ring = row_variant<job, row_plan_ring>(
    "row_softmax", "ring", "one row per block or cluster that stays, the next ones fetched by TMA",
    90);
static constexpr struct assay_variant best = row_variant_best<job>("row_softmax", "best");

ASSAY_REGISTER_VARIANT(naive);
ASSAY_REGISTER_VARIANT(stream);
ASSAY_REGISTER_VARIANT(block);
ASSAY_REGISTER_VARIANT(cluster);
ASSAY_REGISTER_VARIANT(shared);
ASSAY_REGISTER_VARIANT(ring);
ASSAY_REGISTER_VARIANT(best);
