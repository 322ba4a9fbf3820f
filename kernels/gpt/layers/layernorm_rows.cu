/*
 * layernorm_rows.cu - layernorm by the kernels of kernels/gpt/row: one row per warp, block or
 * cluster, in registers, divided as is fastest in setup. Rows may have any length.
 *
 * Mean and sum of squared deviations of each warp's elements are joined by the formula of Chan,
 * Golub and LeVeque (see layernorm_passes.cu), so a block waits once. Where a lane has few pieces,
 * weight and bias are read beside x, not after the sums.
 *
 * Bytes per element: 4 read, 4 written (8 and 8 with a residual), the minimum.
 */
#include "layernorm.cuh"
#include "kernels/gpt/row/row_launch.cuh"

struct layernorm_part {
    float count, mean, squares; /* squared deviations from the mean */
};

template <bool ADD> struct layernorm_rows : row_plain {
    typedef float element;
    typedef layernorm_part part;
    typedef layernorm args;
    struct gain {
        float weight[4], bias[4];
    };
    struct closed {
        float mean, scale;
    };
    enum { ADDS = ADD, WRITES = 1, RING = 0 };

    static __device__ __forceinline__ part nothing()
    {
        return {0.0f, 0.0f, 0.0f};
    }
    static __device__ __forceinline__ part single(float x)
    {
        return {1.0f, x, 0.0f};
    }
    static __device__ __forceinline__ part join(part a, part b)
    {
        float count = a.count + b.count;
        if (count == 0.0f) return a;
        float off = b.mean - a.mean, share = __fdividef(b.count, count);
        return {count, a.mean + off * share, a.squares + b.squares + off * off * a.count * share};
    }
    template <int LANES, class Each> static __device__ __forceinline__ part measure(Each each)
    {
        float count = 0.0f, sum = 0.0f, squares = 0.0f;
        each([&](float x) {
            count += 1.0f;
            sum += x;
        });
        count = row_sum<LANES>(count);
        float mean = row_sum<LANES>(sum) / fmaxf(count, 1.0f);
        each([&](float x) { squares += (x - mean) * (x - mean); });
        return {count, mean, row_sum<LANES>(squares)};
    }
    static __device__ __forceinline__ gain gains(const args &args, int column, int count,
                                                 bool aligned)
    {
        gain gain;
        row_floats(gain.weight, args.weight + column, count, aligned);
        row_floats(gain.bias, args.bias + column, count, aligned);
        return gain;
    }
    static __device__ __forceinline__ closed close(const args &args, int64_t, state, part whole,
                                                   bool)
    {
        return {whole.mean, layernorm_scale(whole.squares / (float)args.columns)};
    }
    static __device__ __forceinline__ float out(closed row, const gain &gain, int i, float x)
    {
        return (x - row.mean) * row.scale * gain.weight[i] + gain.bias[i];
    }
};

static void job(const struct assay_call *call, struct row_job *out)
{
    if (layernorm_adds(call->shape))
        row_job_init<layernorm_rows<true>>(out, layernorm_args(call));
    else
        row_job_init<layernorm_rows<false>>(out, layernorm_args(call));
}

static constexpr struct assay_variant rows = row_variant_best<job>("layernorm", "rows");
ASSAY_REGISTER_VARIANT(rows);
