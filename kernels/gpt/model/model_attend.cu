/*
 * model_attend.cu - the attention of the models, straight from the buffer that the qkv product
 * wrote: by the kernels of attention_configs.cuh, and by one for any head size and for one query
 * per sequence.
 *
 * That one is causal attention with one block per query. Eight warps share the keys, the lanes of a
 * warp share the elements of the head, and at the end the block combines the warps' softmaxes. A
 * warp takes several keys at a time, because it then waits once for all of them: first for memory,
 * then for the sum over its lanes.
 *
 * Operations: 4 size per pair, and an exponential. Bytes: k and v once per query, from L2.
 */
#include "kernels/gpt/attention/attention_configs.cuh"
#include "model_attend.cuh"

enum { ANY_WARPS = 8, ANY_THREADS = 32 * ANY_WARPS };

/* One query per block, for heads up to 32 LANE; warp w takes keys w, w + 8, ... `first` and `step`
 * say which token of a sequence blockIdx.y is. */
template <typename T, int LANE>
static __global__ void __launch_bounds__(ANY_THREADS)
    attend_any(const struct attention args, float scale, int first, int step)
{
    const int KEYS = LANE <= 2 ? 8 : 4; /* at a time */
    __shared__ float sums[ANY_WARPS][32 * LANE], peaks[ANY_WARPS], totals[ANY_WARPS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, size = args.size;
    int query = first + blockIdx.y * step;
    dependent_release();
    dependent_wait();
    const T *head = attention_head<T>(args, blockIdx.x);
    float q[LANE], sum[LANE] = {}, peak = -INFINITY, total = 0.0f;
#pragma unroll
    for (int i = 0; i < LANE; i++)
        q[i] = lane + 32 * i < size ? gpt_float(head[query * args.stride + lane + 32 * i]) * scale
                                    : 0.0f;
    for (int key = warp; key <= query; key += KEYS * ANY_WARPS) {
        float k[KEYS][LANE], v[KEYS][LANE], score[KEYS], most = peak;
#pragma unroll
        for (int j = 0; j < KEYS; j++) {
            const T *from = head + args.stride_y + (key + j * ANY_WARPS) * args.stride;
            bool valid = key + j * ANY_WARPS <= query;
#pragma unroll
            for (int i = 0; i < LANE; i++) {
                bool inside = valid && lane + 32 * i < size;
                k[j][i] = inside ? gpt_float(from[lane + 32 * i]) : 0.0f;
                v[j][i] = inside ? gpt_float(from[args.stride_y + lane + 32 * i]) : 0.0f;
            }
        }
#pragma unroll
        for (int j = 0; j < KEYS; j++) {
            score[j] = 0.0f;
#pragma unroll
            for (int i = 0; i < LANE; i++)
                score[j] = fmaf(q[i], k[j][i], score[j]);
            score[j] = gpt_warp_sum(score[j]);
            if (key + j * ANY_WARPS > query) score[j] = -INFINITY;
            most = fmaxf(most, score[j]);
        }
        float keep = gpt_exp2(peak - most);
        peak = most;
        total *= keep;
#pragma unroll
        for (int i = 0; i < LANE; i++)
            sum[i] *= keep;
#pragma unroll
        for (int j = 0; j < KEYS; j++) {
            float weight = gpt_exp2(score[j] - most);
            total += weight;
#pragma unroll
            for (int i = 0; i < LANE; i++)
                sum[i] = fmaf(weight, v[j][i], sum[i]);
        }
    }
    if (lane == 0) peaks[warp] = peak, totals[warp] = total;
#pragma unroll
    for (int i = 0; i < LANE; i++)
        if (lane + 32 * i < size) sums[warp][lane + 32 * i] = sum[i];
    __syncthreads();
    float most = -INFINITY, all = 0.0f;
    for (int w = 0; w < ANY_WARPS; w++)
        most = fmaxf(most, peaks[w]);
    for (int w = 0; w < ANY_WARPS; w++)
        all += totals[w] * gpt_exp2(peaks[w] - most);
    int64_t row = (int64_t)(blockIdx.x / args.heads) * gridDim.y + blockIdx.y;
    T *y = (T *)args.y + row * args.stride_y + (int64_t)(blockIdx.x % args.heads) * size;
    for (int i = threadIdx.x; i < size; i += ANY_THREADS) {
        float value = 0.0f;
        for (int w = 0; w < ANY_WARPS; w++)
            value += sums[w][i] * gpt_exp2(peaks[w] - most);
        gpt_put(y + i, value / all);
    }
}

typedef void any_kernel(const struct attention args, float scale, int first, int step);

template <typename T> static any_kernel *kernel_of(int64_t size)
{
    if (size <= 32) return attend_any<T, 1>;
    if (size <= 64) return attend_any<T, 2>;
    return size <= 128 ? attend_any<T, 4> : attend_any<T, MODEL_MAX_HEAD / 32>;
}

int model_attend_any(const struct model_attend *attend, void *stream)
{
    const struct attention args = attention_of(attend);
    float scale = attention_scale(args.size);
    int first = attend->last ? args.tokens - 1 : 0, step = attend->last ? args.tokens : 1;
    dim3 grid((unsigned)(args.batch * args.heads), attend->last ? 1 : (unsigned)args.tokens);
    any_kernel *kernel = attend->precision == GPT_BF16   ? kernel_of<uint16_t>(args.size)
                         : attend->precision == GPT_FP16 ? kernel_of<fp16_t>(args.size)
                                                         : kernel_of<float>(args.size);
    return dependent_launch(kernel, grid, ANY_THREADS, 0, stream, args, scale, first, step);
}

/* ---------------------------------------------------------- configurations -- */

int model_attend_configs(int64_t precision)
{
    return attention_configs_of(precision).count;
}

const char *model_attend_name(int64_t precision, int config)
{
    return attention_configs_of(precision).list[config].name;
}

const char *model_attend_refused(const struct model_attend *attend, int config)
{
    if (attend->last) return "one query per sequence";
    const struct attention_configs configs = attention_configs_of(attend->precision);
    const struct attention_config *is = &configs.list[config];
    if (is->bytes > assay_card()->shared_bytes) return "not so much shared memory here";
    return attention_config_takes(configs, is, attend->size) ? NULL : "another head size";
}

static int launch(const struct attention_config *config, const struct attention *args, void *stream)
{
    if (attention_config_allow(config)) return -1;
    return attention_config_launch(config, args, true, stream);
}

int model_attend_by(const struct model_attend *attend, int config, void *stream)
{
    struct attention args = attention_of(attend);
    return launch(&attention_configs_of(attend->precision).list[config], &args, stream);
}

int model_attend_own(const struct model_attend *attend, void *stream)
{
    struct attention args = attention_of(attend);
    const struct attention_config *config =
        attention_config_default(attention_configs_of(attend->precision), &args);
    return config && !attend->last ? launch(config, &args, stream)
                                   : model_attend_any(attend, stream);
}
