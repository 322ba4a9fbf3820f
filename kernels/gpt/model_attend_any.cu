/*
 * model_attend_any.cu - causal attention, a block a query, for any head size and for one
 * query a sequence: eight warps share the keys, lanes lie along the head, and
 * the block puts the warps' softmaxes together.
 *
 * Operations: 4 size a pair, and an exponential. Bytes: k and v once a query, from L2.
 */
#include "model_attend.cuh"

enum { ANY_WARPS = 8, ANY_THREADS = 32 * ANY_WARPS, ANY_LANE = MODEL_MAX_HEAD / 32 };

/* A block one query; warp w takes keys w, w + 8, ...; lanes lie along the head. `first` and
 * `step` say which token row blockIdx.y of a sequence is. */
template <typename T>
static __global__ void __launch_bounds__(ANY_THREADS)
    attend_any(const struct attention args, float scale, int first, int step)
{
    __shared__ float sums[ANY_WARPS][MODEL_MAX_HEAD], peaks[ANY_WARPS], totals[ANY_WARPS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, size = args.size;
    int query = first + blockIdx.y * step;
    model_release();
    model_wait();
    const T *head = attention_head<T>(args, blockIdx.x);
    float q[ANY_LANE], sum[ANY_LANE] = {}, peak = -INFINITY, total = 0.0f;
#pragma unroll
    for (int i = 0; i < ANY_LANE; i++)
        q[i] = lane + 32 * i < size ? gpt_float(head[query * args.stride + lane + 32 * i]) * scale
                                    : 0.0f;
    for (int key = warp; key <= query; key += ANY_WARPS) {
        const T *k = head + args.stride_y + key * args.stride, *v = k + args.stride_y;
        float score = 0.0f;
#pragma unroll
        for (int i = 0; i < ANY_LANE; i++)
            if (lane + 32 * i < size) score = fmaf(q[i], gpt_float(k[lane + 32 * i]), score);
        score = gpt_warp_sum(score);
        float most = fmaxf(peak, score), keep = attention_exp2(peak - most),
              weight = attention_exp2(score - most);
        peak = most;
        total = total * keep + weight;
#pragma unroll
        for (int i = 0; i < ANY_LANE; i++)
            if (lane + 32 * i < size)
                sum[i] = fmaf(weight, gpt_float(v[lane + 32 * i]), sum[i] * keep);
    }
    if (lane == 0) peaks[warp] = peak, totals[warp] = total;
#pragma unroll
    for (int i = 0; i < ANY_LANE; i++)
        if (lane + 32 * i < size) sums[warp][lane + 32 * i] = sum[i];
    __syncthreads();
    float most = -INFINITY, all = 0.0f;
    for (int w = 0; w < ANY_WARPS; w++)
        most = fmaxf(most, peaks[w]);
    for (int w = 0; w < ANY_WARPS; w++)
        all += totals[w] * attention_exp2(peaks[w] - most);
    int64_t row = (int64_t)(blockIdx.x / args.heads) * gridDim.y + blockIdx.y;
    T *y = (T *)args.y + row * args.stride_y + (int64_t)(blockIdx.x % args.heads) * size;
    for (int i = threadIdx.x; i < size; i += ANY_THREADS) {
        float value = 0.0f;
        for (int w = 0; w < ANY_WARPS; w++)
            value += sums[w][i] * attention_exp2(peaks[w] - most);
        gpt_put(y + i, value / all);
    }
}

int model_attend_any(const struct model_attend *attend, void *stream)
{
    const struct attention args = attention_of(attend);
    float scale = attention_scale(args.size);
    int first = attend->last ? args.tokens - 1 : 0, step = attend->last ? args.tokens : 1;
    dim3 grid((unsigned)(args.batch * args.heads), attend->last ? 1 : (unsigned)args.tokens);
    auto kernel = attend->precision == GPT_BF16 ? attend_any<uint16_t> : attend_any<float>;
    return model_launch(kernel, grid, ANY_THREADS, 0, stream, args, scale, first, step);
}
