/*
 * model_steps.cu - the steps between the products of a model, where they are kernels of their own:
 * embedding, layernorm, bias with gelu or residual; and the product of a few rows.
 *
 * Bytes: each kernel reads its operands once and writes its output once. The product of a few rows
 * is bound by reading w: one warp per output, with its lanes along k, sixteen bytes at a time, and
 * all rows of x in shared memory.
 */
#include "model_operands.h"
#include "model_cuda.h"
#include "kernels/cuda/dependent_launch.cuh"
#include "kernels/gpt/row/row.cuh"

enum { THREADS = 256, WARPS = THREADS / 32, SHARED_ROWS = 48 << 10 };
enum { NORM_FEW_PIECES = 4, NORM_PIECES = 8 };

/* ------------------------------------------------------------- embedding -- */

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    embed(const int32_t *ids, const T *wte, const T *wpe, T *x, int64_t count, int c, int tokens,
          int first, int step)
{
    int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    dependent_release();
    dependent_wait();
    if (at >= count) return;
    int64_t row = at / c * step + first;
    int column = (int)(at % c);
    gpt_put(x + at, gpt_float(wte[(int64_t)ids[row] * c + column]) +
                        gpt_float(wpe[row % tokens * c + column]));
}

template <typename T>
static int enqueue_embed(const struct model *model, const int32_t *ids, const void *wte,
                         const void *wpe, void *x, bool last, void *stream)
{
    int64_t rows = last ? model->batch : model->rows, count = rows * model->channels;
    int c = (int)model->channels, tokens = (int)model->tokens;
    int first = last ? tokens - 1 : 0, step = last ? tokens : 1;
    return dependent_launch(embed<T>, gpt_blocks(count, THREADS), THREADS, 0, stream, ids,
                            (const T *)wte, (const T *)wpe, (T *)x, count, c, tokens, first, step);
}

int model_embed(const struct model *model, const int32_t *ids, const void *wte, const void *wpe,
                void *x, bool last, void *stream)
{
    auto *enqueue = model->precision == GPT_BF16   ? enqueue_embed<uint16_t>
                    : model->precision == GPT_FP16 ? enqueue_embed<fp16_t>
                                                   : enqueue_embed<float>;
    return enqueue(model, ids, wte, wpe, x, last, stream);
}

/* ------------------------------------------------------------- layernorm -- */

/* One warp per row, read three times: from memory once, then from the nearest cache. */
template <typename T>
static __global__ void __launch_bounds__(THREADS)
    norm(const T *x, int64_t ldx, const T *scale, const T *shift, T *y, int64_t rows, int k)
{
    int64_t row = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    dependent_release();
    dependent_wait();
    if (row >= rows) return;
    x += row * ldx;
    y += row * k;
    float sum = 0.0f, squares = 0.0f;
    for (int i = lane; i < k; i += 32)
        sum += gpt_float(x[i]);
    float mean = gpt_warp_sum(sum) / (float)k;
    for (int i = lane; i < k; i += 32) {
        float d = gpt_float(x[i]) - mean;
        squares += d * d;
    }
    float r = rsqrtf(gpt_warp_sum(squares) / (float)k + GPT_LAYERNORM_EPSILON);
    for (int i = lane; i < k; i += 32)
        gpt_put(y + i, (gpt_float(x[i]) - mean) * r * gpt_float(__ldg(scale + i)) +
                           gpt_float(__ldg(shift + i)));
}

/* One warp per row, in registers: at most PIECES of 16 bytes per lane, few where that is enough, so
 * that blocks of the kernel behind it fit beside it. The weights are there before x is. */
template <typename T, int PIECES>
static __global__ void __launch_bounds__(THREADS)
    norm_held(const T *x, int64_t ldx, const T *scale, const T *shift, T *y, int64_t rows, int k)
{
    enum { WIDTH = row_piece<T>::WIDTH };
    const int64_t row = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    const int lane = threadIdx.x % 32, pieces = k / WIDTH;
    uint4 held[PIECES] = {}, gain[PIECES] = {}, offset[PIECES] = {};
    const auto each = [&](auto f) {
#pragma unroll
        for (int i = 0; i < PIECES; i++)
            if (lane + 32 * i < pieces) f(i, lane + 32 * i);
    };
    each([&](int i, int at) {
        gain[i] = __ldg((const uint4 *)scale + at);
        offset[i] = __ldg((const uint4 *)shift + at);
    });
    dependent_release();
    dependent_wait();
    if (row >= rows) return;
    float v[WIDTH], sum = 0.0f, squares = 0.0f;
    each([&](int i, int at) { held[i] = ((const uint4 *)(x + row * ldx))[at]; });
    each([&](int i, int) {
        row_unpack<T>(v, held[i]);
#pragma unroll
        for (int j = 0; j < WIDTH; j++)
            sum += v[j];
    });
    const float mean = gpt_warp_sum(sum) / (float)k;
    each([&](int i, int) {
        row_unpack<T>(v, held[i]);
#pragma unroll
        for (int j = 0; j < WIDTH; j++)
            squares += (v[j] - mean) * (v[j] - mean);
    });
    const float r = rsqrtf(gpt_warp_sum(squares) / (float)k + GPT_LAYERNORM_EPSILON);
    each([&](int i, int at) {
        float a[WIDTH], b[WIDTH];
        row_unpack<T>(v, held[i]);
        row_unpack<T>(a, gain[i]);
        row_unpack<T>(b, offset[i]);
#pragma unroll
        for (int j = 0; j < WIDTH; j++)
            v[j] = (v[j] - mean) * r * a[j] + b[j];
        ((uint4 *)(y + row * k))[at] = row_pack(v, T());
    });
}

template <typename T> static int enqueue_norm(const struct model_step *step, void *y, void *stream)
{
    const int width = row_piece<T>::WIDTH;
    const bool held = step->k % width == 0 && step->ldx % width == 0 &&
                      step->k <= 32 * NORM_PIECES * width && model_on(step->x, 16) &&
                      model_on(step->scale, 16) && model_on(step->shift, 16) && model_on(y, 16);
    const bool few = step->k <= 32 * NORM_FEW_PIECES * width;
    auto *kernel = !held ? norm<T>
                   : few ? norm_held<T, NORM_FEW_PIECES>
                         : norm_held<T, NORM_PIECES>;
    return dependent_launch(kernel, dim3(gpt_blocks(step->m, WARPS)), THREADS, 0, stream,
                            (const T *)step->x, step->ldx, (const T *)step->scale,
                            (const T *)step->shift, (T *)y, step->m, (int)step->k);
}

int model_norm(const struct model_step *step, void *y, void *stream)
{
    auto *enqueue = step->precision == GPT_BF16   ? enqueue_norm<uint16_t>
                    : step->precision == GPT_FP16 ? enqueue_norm<fp16_t>
                                                  : enqueue_norm<float>;
    return enqueue(step, y, stream);
}

/* ---------------------------------------------------------------- finish -- */

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    finish(const T *y, int64_t ldy, const T *bias, bool gelu, const T *residual, int64_t ldr,
           T *out, int64_t ld, int64_t count, int n)
{
    int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    dependent_release();
    dependent_wait();
    if (at >= count) return;
    int64_t row = at / n;
    int column = (int)(at % n);
    float value = gpt_float(y[row * ldy + column]);
    if (bias) value += gpt_float(__ldg(bias + column));
    if (gelu) value = gpt_gelu_fast(value);
    if (residual) value += gpt_float(residual[row * ldr + column]);
    gpt_put(out + row * ld + column, value);
}

template <typename T>
static int enqueue_finish(const struct model_step *step, const void *bias, bool gelu,
                          const void *residual, void *out, int64_t ld, void *stream)
{
    int64_t count = step->m * step->n;
    return dependent_launch(finish<T>, gpt_blocks(count, THREADS), THREADS, 0, stream,
                            (const T *)step->y, step->ldy, (const T *)bias, gelu,
                            (const T *)residual, step->ldr, (T *)out, ld, count, (int)step->n);
}

int model_finish(const struct model_step *step, const void *bias, bool gelu, const void *residual,
                 void *out, int64_t ld, void *stream)
{
    auto *enqueue = step->precision == GPT_BF16   ? enqueue_finish<uint16_t>
                    : step->precision == GPT_FP16 ? enqueue_finish<fp16_t>
                                                  : enqueue_finish<float>;
    return enqueue(step, bias, gelu, residual, out, ld, stream);
}

/* ------------------------------------------------------------- a few rows -- */

/* Sixteen bytes as floats. */
static __device__ __forceinline__ void widen(const float *from, float out[4])
{
    float4 raw = __ldg((const float4 *)from);
    out[0] = raw.x, out[1] = raw.y, out[2] = raw.z, out[3] = raw.w;
}

template <typename T> static __device__ __forceinline__ void widen(const T *from, float out[8])
{
    uint4 raw = __ldg((const uint4 *)from);
    const uint32_t word[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float2 pair = gpt_unpack(T(), word[i]);
        out[2 * i] = pair.x, out[2 * i + 1] = pair.y;
    }
}

struct gemv_args {
    const void *x, *w, *bias, *scale, *shift, *residual;
    void *y;
    int64_t ldx, ldr, ldy;
    int m, n, k;
    int gelu; /* no bytes without a value: a gate compares arguments whole */
};

/* Load x to shared memory as fp32 [m][k], normalised if the step has a norm; one warp per row. */
template <typename T>
static __device__ __forceinline__ void gemv_rows(const gemv_args &args, float *shared)
{
    int lane = threadIdx.x % 32, k = args.k;
    for (int row = threadIdx.x / 32; row < args.m; row += WARPS) {
        const T *x = (const T *)args.x + row * args.ldx;
        float *to = shared + row * k;
        float sum = 0.0f, squares = 0.0f;
        for (int i = lane; i < k; i += 32)
            sum += to[i] = gpt_float(x[i]);
        if (!args.scale) continue;
        float mean = gpt_warp_sum(sum) / (float)k;
        for (int i = lane; i < k; i += 32)
            squares += (to[i] - mean) * (to[i] - mean);
        float r = rsqrtf(gpt_warp_sum(squares) / (float)k + GPT_LAYERNORM_EPSILON);
        for (int i = lane; i < k; i += 32)
            to[i] = (to[i] - mean) * r * gpt_float(__ldg((const T *)args.scale + i)) +
                    gpt_float(__ldg((const T *)args.shift + i));
    }
    __syncthreads();
}

template <typename T, int M>
static __global__ void __launch_bounds__(THREADS) gemv(struct gemv_args args)
{
    const int width = 16 / (int)sizeof(T);
    extern __shared__ __align__(16) float shared_rows[];
    int lane = threadIdx.x % 32, k = args.k;
    dependent_release();
    dependent_wait();
    gemv_rows<T>(args, shared_rows);
    for (int column = blockIdx.x * WARPS + threadIdx.x / 32; column < args.n;
         column += gridDim.x * WARPS) {
        const T *w = (const T *)args.w + (int64_t)column * k;
        float sum[M] = {};
        for (int i = lane * width; i < k; i += 32 * width) {
            float weight[width];
            widen(w + i, weight);
#pragma unroll
            for (int row = 0; row < M; row++)
                if (row < args.m) {
#pragma unroll
                    for (int j = 0; j < width; j++)
                        sum[row] = fmaf(weight[j], shared_rows[row * k + i + j], sum[row]);
                }
        }
#pragma unroll
        for (int row = 0; row < M; row++) {
            float value = gpt_warp_sum(sum[row]);
            if (lane != 0 || row >= args.m) continue;
            if (args.bias) value += gpt_float(__ldg((const T *)args.bias + column));
            if (args.gelu) value = gpt_gelu_fast(value);
            if (args.residual)
                value += gpt_float(((const T *)args.residual)[row * args.ldr + column]);
            gpt_put((T *)args.y + row * args.ldy + column, value);
        }
    }
}

const char *model_gemv_refused(const struct model_step *step)
{
    if (step->m > MODEL_GEMV_ROWS) return "more than a few rows";
    if (step->m * step->k * 4 > SHARED_ROWS) return "rows too long for shared memory";
    if (step->k % (16 / gpt_bytes(step->precision)) != 0 || (uintptr_t)step->w % 16 != 0)
        return "rows that do not start on 16 bytes";
    return NULL;
}

int model_gemv_enqueue(const struct model_step *step, void *stream)
{
    struct gemv_args args = {};
    args.x = step->x, args.w = step->w, args.bias = step->bias;
    args.scale = step->scale, args.shift = step->shift, args.residual = step->residual;
    args.y = step->y;
    args.ldx = step->ldx, args.ldr = step->ldr, args.ldy = step->ldy;
    args.m = (int)step->m, args.n = (int)step->n, args.k = (int)step->k;
    args.gelu = step->gelu;
    const int64_t most = 1024; /* blocks: a few on every multiprocessor */
    int64_t blocks = (int64_t)gpt_blocks(step->n, WARPS);
    dim3 grid((unsigned)(blocks < most ? blocks : most));
    static void (*const kernels[][2])(struct gemv_args) = {{gemv<float, 8>, gemv<float, 1>},
                                                           {gemv<float, 8>, gemv<float, 1>},
                                                           {gemv<uint16_t, 8>, gemv<uint16_t, 1>},
                                                           {gemv<fp16_t, 8>, gemv<fp16_t, 1>}};
    auto *kernel = kernels[step->precision][step->m == 1];
    size_t shared = (size_t)(step->m * step->k) * sizeof(float);
    return dependent_launch(kernel, grid, THREADS, shared, stream, args);
}
