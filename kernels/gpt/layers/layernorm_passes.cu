/*
 * layernorm_passes.cu - the textbook's ways to a mean and a variance. None keeps the row: it is
 * read again for each pass, and for the answer. Bytes written per element: 4.
 *
 *   naive    one thread per row, the mean, then the variance about it. Deliberately plain:
 *            neighbouring threads read elements a whole row apart, so every load of a warp touches
 *            32 cache lines. Bytes read per element: 12; what is no longer in L1 is read in sectors
 *            of 32 bytes. Sums run from the first element to the last
 *   twopass  the same, one block per row. 12 read, the second and third time mostly from L1 (a row
 *            of 4096 columns is 16 KiB)
 *   sumsq    one block per row, the variance as E[s^2] - mean^2, in one pass, as the published
 *            kernel did (which called it Welford's method). It saves a pass, but the result is
 * wrong where the mean is large compared with the standard deviation: with data=shifted both terms
 * are near 10^6, and their difference, 1, has about one correct digit. Such cases must be reported
 * as wrong. 8 read, the second time mostly from L1 welford  one block per row, mean and sum of
 * squared deviations in one pass, by Welford's update
 *            ("Note on a method for calculating corrected sums of squares and products",
 *            Technometrics 4, 1962). The results of the threads are combined by the formula of
 * Chan, Golub and LeVeque ("Algorithms for computing the sample variance", Amer. Statist. 37, 1983,
 * section 2.1). It is right where sumsq is wrong, at the price of a division per element. 8 read,
 * as sumsq
 */
#include "layernorm.cuh"

enum { THREADS = 256, NAIVE_THREADS = 64 };

/* ------------------------------------------------------------ two passes -- */

template <bool ADD>
static __global__ void __launch_bounds__(NAIVE_THREADS) naive(struct layernorm args)
{
    int64_t row = (int64_t)blockIdx.x * NAIVE_THREADS + threadIdx.x;
    if (row >= args.rows) return;
    int64_t begin = row * args.columns;
    float sum = 0.0f, squares = 0.0f;
    for (int i = 0; i < args.columns; i++)
        sum += layernorm_element<ADD>(args, begin + i);
    float mean = sum / (float)args.columns;
    for (int i = 0; i < args.columns; i++) {
        float off = layernorm_element<ADD>(args, begin + i) - mean;
        squares += off * off;
    }
    float scale = layernorm_scale(squares / (float)args.columns);
    layernorm_write<ADD>(args, begin, 0, 1, mean, scale);
}

template <bool ADD> static __global__ void __launch_bounds__(THREADS) twopass(struct layernorm args)
{
    __shared__ float warps[2][THREADS / 32];
    int64_t begin = (int64_t)blockIdx.x * args.columns;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < args.columns; i += THREADS)
        sum += layernorm_element<ADD>(args, begin + i);
    float mean = gpt_block_sum(sum, warps[0]) / (float)args.columns;
    for (int i = threadIdx.x; i < args.columns; i += THREADS) {
        float off = layernorm_element<ADD>(args, begin + i) - mean;
        squares += off * off;
    }
    float scale = layernorm_scale(gpt_block_sum(squares, warps[1]) / (float)args.columns);
    layernorm_write<ADD>(args, begin, threadIdx.x, THREADS, mean, scale);
}

/* -------------------------------------------------------------- one pass -- */

template <bool ADD> static __global__ void __launch_bounds__(THREADS) sumsq(struct layernorm args)
{
    __shared__ float warps[2][THREADS / 32];
    int64_t begin = (int64_t)blockIdx.x * args.columns;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < args.columns; i += THREADS) {
        float s = layernorm_element<ADD>(args, begin + i);
        sum += s;
        squares += s * s;
    }
    float mean = gpt_block_sum(sum, warps[0]) / (float)args.columns;
    float mean_square = gpt_block_sum(squares, warps[1]) / (float)args.columns;
    /* Rounding can make the difference negative, and its root NaN. */
    float scale = layernorm_scale(fmaxf(mean_square - mean * mean, 0.0f));
    layernorm_write<ADD>(args, begin, threadIdx.x, THREADS, mean, scale);
}

/* The mean of `count` elements, and the sum of their squared deviations from it. */
struct moments {
    float count, mean, squares;
};

static __device__ __forceinline__ moments join(moments a, moments b)
{
    float count = a.count + b.count;
    if (count == 0.0f) return a;
    float off = b.mean - a.mean, share = b.count / count;
    return {count, a.mean + off * share, a.squares + b.squares + off * off * a.count * share};
}

static __device__ __forceinline__ moments warp_join(moments m)
{
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
        m = join(m, {__shfl_down_sync(0xffffffffu, m.count, step),
                     __shfl_down_sync(0xffffffffu, m.mean, step),
                     __shfl_down_sync(0xffffffffu, m.squares, step)});
    return m;
}

template <bool ADD> static __global__ void __launch_bounds__(THREADS) welford(struct layernorm args)
{
    __shared__ moments parts[THREADS / 32];
    __shared__ moments whole;
    int64_t begin = (int64_t)blockIdx.x * args.columns;
    moments m = {0.0f, 0.0f, 0.0f};
    for (int i = threadIdx.x; i < args.columns; i += THREADS) {
        float s = layernorm_element<ADD>(args, begin + i);
        float off = s - m.mean;
        m.count += 1.0f;
        m.mean += off / m.count;
        m.squares += off * (s - m.mean);
    }
    m = warp_join(m);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = m;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < THREADS / 32; i++)
            m = join(m, parts[i]);
        whole = m;
    }
    __syncthreads();
    float scale = layernorm_scale(whole.squares / (float)args.columns);
    layernorm_write<ADD>(args, begin, threadIdx.x, THREADS, whole.mean, scale);
}

/* -------------------------------------------------------------- variants -- */

static int launch_naive(struct assay_call *call)
{
    int64_t blocks = gpt_blocks(call->shape->value[LAYERNORM_ROWS], NAIVE_THREADS);
    return layernorm_launch(call, blocks, NAIVE_THREADS, naive<false>, naive<true>);
}

/* One block per row. */
template <layernorm_kernel *ALONE, layernorm_kernel *ADDING>
static int launch(struct assay_call *call)
{
    return layernorm_launch(call, call->shape->value[LAYERNORM_ROWS], THREADS, ALONE, ADDING);
}

static constexpr struct assay_variant named(const char *name, const char *summary,
                                            int (*launch)(struct assay_call *call))
{
    return {
        .operation = "layernorm",
        .name = name,
        .summary = summary,
        .kind = ASSAY_KERNEL,
        .place = ASSAY_CUDA,
        .launch = launch,
    };
}

static constexpr struct assay_variant by_thread =
    named("naive", "one row per thread, three passes over memory", launch_naive);
static constexpr struct assay_variant by_two_passes =
    named("twopass", "one row per block: mean, variance about it, answer; reads three times",
          launch<twopass<false>, twopass<true>>);
static constexpr struct assay_variant by_squares =
    named("sumsq", "variance as E[s^2] - mean^2; wrong where the mean is large",
          launch<sumsq<false>, sumsq<true>>);
static constexpr struct assay_variant by_update =
    named("welford", "one pass by Welford's update, joined over the block",
          launch<welford<false>, welford<true>>);
ASSAY_REGISTER_VARIANT(by_thread);
ASSAY_REGISTER_VARIANT(by_two_passes);
ASSAY_REGISTER_VARIANT(by_squares);
ASSAY_REGISTER_VARIANT(by_update);
