/*
 * model_attend_any.cu - causal attention, a block a query, for any head size and for one
 * query a sequence: eight warps share the keys, lanes lie along the head, and
 * the block puts the warps' softmaxes together.
 *
 * Operations: 4 size a pair, and an exponential. Bytes: k and v once a query, from L2.
 */
#include "model_attend.cuh"

enum { ANY_WARPS = 8, ANY_THREADS = 32 * ANY_WARPS, ANY_SIZE = 256, ANY_LANE = ANY_SIZE / 32 };

/* A block one query; warp w takes keys w, w + 8, ...; lanes lie along the head. `first` and
 * `step` say which token row blockIdx.y of a sequence is. */
template <typename T>
static __global__ void __launch_bounds__(ANY_THREADS)
    attend_any(struct attend_args args, int first, int step)
{
    __shared__ float sums[ANY_WARPS][ANY_SIZE], peaks[ANY_WARPS], totals[ANY_WARPS];
    const int64_t c = (int64_t)args.heads * args.size, stride = 3 * c;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, size = args.size;
    int query = first + blockIdx.y * step;
    model_release();
    model_wait();
    const T *head = head_of<T>(args, blockIdx.x);
    float q[ANY_LANE], sum[ANY_LANE] = {}, peak = -INFINITY, total = 0.0f;
#pragma unroll
    for (int i = 0; i < ANY_LANE; i++)
        q[i] = lane + 32 * i < size ? gpt_float(head[query * stride + lane + 32 * i]) * args.scale
                                    : 0.0f;
    for (int key = warp; key <= query; key += ANY_WARPS) {
        const T *k = head + c + key * stride, *v = k + c;
        float score = 0.0f;
#pragma unroll
        for (int i = 0; i < ANY_LANE; i++)
            if (lane + 32 * i < size) score = fmaf(q[i], gpt_float(k[lane + 32 * i]), score);
        score = gpt_warp_sum(score);
        float most = fmaxf(peak, score), keep = power(peak - most), weight = power(score - most);
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
        all += totals[w] * power(peaks[w] - most);
    int64_t row = (int64_t)(blockIdx.x / args.heads) * gridDim.y + blockIdx.y;
    T *y = (T *)args.y + row * c + (int64_t)(blockIdx.x % args.heads) * size;
    for (int i = threadIdx.x; i < size; i += ANY_THREADS) {
        float value = 0.0f;
        for (int w = 0; w < ANY_WARPS; w++)
            value += sums[w][i] * power(peaks[w] - most);
        gpt_put(y + i, value / all);
    }
}

int model_attend_any(const struct model_attend *attend, void *stream)
{
    int tokens = (int)attend->tokens;
    int first = attend->last ? tokens - 1 : 0, step = attend->last ? tokens : 1;
    dim3 grid((unsigned)(attend->batch * attend->heads), attend->last ? 1 : (unsigned)tokens);
    if (attend->precision == GPT_BF16)
        return model_launch(attend_any<uint16_t>, grid, ANY_THREADS, 0, stream, args_of(attend),
                            first, step);
    return model_launch(attend_any<float>, grid, ANY_THREADS, 0, stream, args_of(attend), first,
                        step);
}
