/*
 * rmsnorm_rows.cu - rmsnorm by the kernels of kernels/gpt/row.
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
 * time from L2 where it still has the row. The weight comes from L1 and L2.
 */
#include "kernels/gpt/row/row_launch.cuh"
#include "norms.h"

template <typename T> struct rmsnorm : row_plain {
    typedef T element;
    typedef float part; /* the sum of squares */
    struct args {
        const T *x, *weight;
        T *y;
        int64_t rows;
        int columns;
        int unused; /* no bytes without a value: a gate compares arguments whole */
    };
    struct gain {
        float weight[row_piece<T>::WIDTH];
    };
    typedef float closed; /* 1 / root mean square */
    enum { ADDS = 0, WRITES = 1, RING = 1, GAINS = 1 };

    static __device__ __forceinline__ part nothing()
    {
        return 0.0f;
    }
    static __device__ __forceinline__ part single(float x)
    {
        return x * x;
    }
    static __device__ __forceinline__ part join(part a, part b)
    {
        return a + b;
    }
    template <int LANES, class Each> static __device__ __forceinline__ part measure(Each each)
    {
        float squares = 0.0f;
        each([&](float x) { squares += x * x; });
        return row_sum<LANES>(squares);
    }
    static __device__ __forceinline__ gain gains(const args &args, int column, int count,
                                                 bool aligned)
    {
        gain gain;
        row_floats(gain.weight, args.weight + column, count, aligned);
        return gain;
    }
    static __device__ __forceinline__ const T *gain_array(const args &args, int)
    {
        return args.weight;
    }
    static __device__ __forceinline__ gain gain_of(const uint4 *pieces)
    {
        gain gain;
        row_unpack<T>(gain.weight, pieces[0]);
        return gain;
    }
    static __device__ __forceinline__ closed close(const args &args, int64_t, state, part squares,
                                                   bool)
    {
        return rsqrtf(__fdividef(squares, (float)args.columns) + NORMS_RMSNORM_EPSILON);
    }
    static __device__ __forceinline__ float out(closed scale, const gain &gain, int i, float x)
    {
        return x * scale * gain.weight[i];
    }
};

template <typename T> static void job_of(const struct assay_call *call, struct row_job *out)
{
    const int64_t *value = call->shape->value;
    typename rmsnorm<T>::args args = {
        (const T *)call->buffer[RMSNORM_X], (const T *)call->buffer[RMSNORM_WEIGHT],
        (T *)call->buffer[RMSNORM_Y], value[RMSNORM_ROWS], (int)value[RMSNORM_COLUMNS]};
    row_job_init<rmsnorm<T>>(out, args);
}

static void job(const struct assay_call *call, struct row_job *out)
{
    static row_job_of *const jobs[] = {job_of<float>, job_of<uint16_t>, job_of<fp16_t>};
    jobs[call->shape->value[RMSNORM_TYPE]](call, out);
}

static constexpr struct assay_variant naive =
    row_variant<job, row_plan_naive>("rmsnorm", "naive", "one row per thread, two passes");
static constexpr struct assay_variant stream =
    row_variant<job, row_plan_stream>("rmsnorm", "stream", "one row per block, read twice");
static constexpr struct assay_variant block = row_variant<job, row_plan_block>(
    "rmsnorm", "block", "one row per warp or block, in registers, read once");
static constexpr struct assay_variant cluster = row_variant<job, row_plan_cluster>(
    "rmsnorm", "cluster", "one row per cluster of blocks, in registers, read once", 90);
static constexpr struct assay_variant shared = row_variant<job, row_plan_shared>(
    "rmsnorm", "shared", "one row per block or cluster, in shared memory, read once", 90);
static constexpr struct assay_variant ring = row_variant<job, row_plan_ring>(
    "rmsnorm", "ring", "one row per block or cluster that stays, the next ones fetched by TMA", 90);
static constexpr struct assay_variant best = row_variant_best<job>("rmsnorm", "best");

ASSAY_REGISTER_VARIANT(naive);
ASSAY_REGISTER_VARIANT(stream);
ASSAY_REGISTER_VARIANT(block);
ASSAY_REGISTER_VARIANT(cluster);
ASSAY_REGISTER_VARIANT(shared);
ASSAY_REGISTER_VARIANT(ring);
ASSAY_REGISTER_VARIANT(best);
