/*
 * conv3d_tf32.cu - the convolution as a product on tf32 tensor cores, without writing its columns:
 * a block gathers the next part of them from x into shared memory.
 *
 * A block computes 128 voxels (of any leaves) by WIDTH channels, with eight warps of 32 by WIDTH /
 * 2, in steps of 16 numbers of the depth (tap, channel). The next step's operands are loaded into
 * registers while the tensor cores work on this one. Shared memory has two stages, so a step has
 * one barrier. Rows of a stage are padded by 8 words, so that fragments are read without bank
 * conflicts.
 *
 * The fused network (codec_net_tile.cuh) is faster because it leaves out products with the border
 * and does not gather again for every tap; this kernel takes any shape.
 *
 * Operations: 2 * kernel^3 * in per number of y. Bytes: those of the operation; x from cache
 * kernel^3 * out / WIDTH times, w once per block.
 */
#include "conv3d.h"
#include "kernels/codec/search/vq_search_mma.cuh"

constexpr int THREADS = 256, ROWS = 128, DEPTH = 16, PAD = 8;

template <int WIDTH> struct stages {
    uint32_t a[2][DEPTH][ROWS + PAD];
    uint32_t b[2][DEPTH][WIDTH + PAD];
};

/* The part of a step that a thread copies: numbers of one voxel, and of one channel. */
template <int WIDTH> struct gatherer {
    enum { A_EACH = ROWS * DEPTH / THREADS, B_EACH = WIDTH * DEPTH / THREADS };
    enum { A_STEP = THREADS / ROWS, B_STEP = THREADS / WIDTH };
    struct conv_job job;
    const float *x, *w;
    int at_x, at_y, at_z; /* of the voxel's first tap */
    int channel;          /* of y */
    bool voxel_in, channel_in;
    float a[A_EACH], b[B_EACH];

    __device__ __forceinline__ gatherer(const struct conv_job &of, const float *all_x,
                                        const float *all_w)
        : job(of)
    {
        const int r = job.result, voxels = r * r * r, volume = job.side * job.side * job.side;
        const int64_t row = (int64_t)blockIdx.x * ROWS + threadIdx.x % ROWS;
        const int voxel = (int)(row % voxels);
        voxel_in = row < job.leaves * voxels;
        x = all_x + (voxel_in ? row / voxels : 0) * job.in * volume;
        at_x = voxel % r * job.stride - job.pad;
        at_y = voxel / r % r * job.stride - job.pad;
        at_z = voxel / r / r * job.stride - job.pad;
        channel = blockIdx.y * WIDTH + threadIdx.x % WIDTH;
        channel_in = channel < job.out;
        w = all_w + (channel_in ? channel : 0);
    }

    /* The index in its channel of the voxel under a tap, or -1 outside the leaf. */
    __device__ __forceinline__ int place(int tap) const
    {
        const int k = job.kernel, side = job.side;
        const int tx = at_x + tap % k, ty = at_y + tap / k % k, tz = at_z + tap / k / k;
        const bool inside = voxel_in && (unsigned)tx < (unsigned)side &&
                            (unsigned)ty < (unsigned)side && (unsigned)tz < (unsigned)side;
        return inside ? (tz * side + ty) * side + tx : -1;
    }

    /* With SAME, a step consists of channels of a single tap. */
    template <bool SAME> __device__ __forceinline__ void load(int first)
    {
        const int taps = job.kernel * job.kernel * job.kernel, depth = taps * job.in;
        const int volume = job.side * job.side * job.side;
        const int tap = first / job.in, shared = SAME ? place(tap) : -1;
#pragma unroll
        for (int i = 0; i < A_EACH; i++) {
            const int k = first + threadIdx.x / ROWS + A_STEP * i;
            const int at = SAME ? shared : k < depth ? place(k / job.in) : -1;
            a[i] = at < 0 ? 0.0f : x[(SAME ? k - tap * job.in : k % job.in) * volume + at];
        }
#pragma unroll
        for (int i = 0; i < B_EACH; i++) {
            const int k = first + threadIdx.x / WIDTH + B_STEP * i;
            b[i] = channel_in && k < depth ? w[(int64_t)k * job.out] : 0.0f;
        }
    }

    __device__ __forceinline__ void store(struct stages<WIDTH> *stages, int stage) const
    {
#pragma unroll
        for (int i = 0; i < A_EACH; i++)
            stages->a[stage][threadIdx.x / ROWS + A_STEP * i][threadIdx.x % ROWS] = mma_tf32(a[i]);
#pragma unroll
        for (int i = 0; i < B_EACH; i++)
            stages->b[stage][threadIdx.x / WIDTH + B_STEP * i][threadIdx.x % WIDTH] =
                mma_tf32(b[i]);
    }
};

template <int WIDTH>
static __device__ __forceinline__ void multiply(const struct stages<WIDTH> *stages, int stage,
                                                float sum[2][WIDTH / 16][4])
{
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
    const int row = warp % 4 * 32 + g, column = warp / 4 * (WIDTH / 2) + g;
#pragma unroll
    for (int k = q; k < DEPTH; k += 8) {
        uint32_t a[2][4];
#pragma unroll
        for (int m = 0; m < 2; m++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                a[m][i] = stages->a[stage][k + i / 2 * 4][row + 16 * m + i % 2 * 8];
#pragma unroll
        for (int n = 0; n < WIDTH / 16; n++) {
            const uint32_t b[2] = {stages->b[stage][k][column + 8 * n],
                                   stages->b[stage][k + 4][column + 8 * n]};
#pragma unroll
            for (int m = 0; m < 2; m++)
                mma_m16n8k8(sum[m][n], a[m], b);
        }
    }
}

template <int WIDTH>
static __device__ __forceinline__ void store_sums(const struct conv_job &job, const float *bias,
                                                  float *y, const float sum[2][WIDTH / 16][4])
{
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
    const int voxels = job.result * job.result * job.result;
#pragma unroll
    for (int m = 0; m < 2; m++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int64_t row = (int64_t)blockIdx.x * ROWS + warp % 4 * 32 + 16 * m + 8 * half + g;
            if (row >= job.leaves * voxels) continue;
            float *to = y + row / voxels * job.out * voxels + row % voxels;
#pragma unroll
            for (int n = 0; n < WIDTH / 16; n++)
#pragma unroll
                for (int i = 0; i < 2; i++) {
                    const int channel =
                        blockIdx.y * WIDTH + warp / 4 * (WIDTH / 2) + 8 * n + 2 * q + i;
                    if (channel < job.out)
                        to[(int64_t)channel * voxels] = sum[m][n][2 * half + i] + bias[channel];
                }
        }
}

/* Grid: x counts pieces of 128 voxels over all leaves, y WIDTH channels of the result. */
template <int WIDTH, bool SAME>
static __global__ void __launch_bounds__(THREADS, 2)
    implicit_product(const float *__restrict__ x, const float *__restrict__ w,
                     const float *__restrict__ bias, float *__restrict__ y, struct conv_job job)
{
    __shared__ struct stages<WIDTH> stages;
    const int depth = job.in * job.kernel * job.kernel * job.kernel;
    struct gatherer<WIDTH> mine(job, x, w);
    float sum[2][WIDTH / 16][4] = {};
    mine.template load<SAME>(0);
    mine.store(&stages, 0);
    __syncthreads();
    int stage = 0;
    for (int first = DEPTH; first < depth; first += DEPTH, stage ^= 1) {
        mine.template load<SAME>(first);
        multiply<WIDTH>(&stages, stage, sum);
        mine.store(&stages, stage ^ 1);
        __syncthreads();
    }
    multiply<WIDTH>(&stages, stage, sum);
    store_sums<WIDTH>(job, bias, y, sum);
}

/* ---------------------------------------------------------------- launch -- */

struct arrays {
    const float *x, *w, *b;
    float *y;
};

template <int WIDTH, bool SAME>
static int enqueue(const struct conv_job &job, const struct arrays &at, void *stream)
{
    const int64_t rows = job.leaves * conv_voxels(&job);
    const dim3 grid((unsigned)((rows + ROWS - 1) / ROWS),
                    (unsigned)((job.out + WIDTH - 1) / WIDTH));
    implicit_product<WIDTH, SAME>
        <<<grid, THREADS, 0, (cudaStream_t)stream>>>(at.x, at.w, at.b, at.y, job);
    return assay_launched();
}

template <int WIDTH>
static int enqueue_wide(const struct conv_job &job, const struct arrays &at, void *stream)
{
    return job.in % DEPTH == 0 ? enqueue<WIDTH, true>(job, at, stream)
                               : enqueue<WIDTH, false>(job, at, stream);
}

int conv3d_tf32_enqueue(const struct conv_job *job, const float *x, const float *w, const float *b,
                        float *y, void *stream)
{
    const struct arrays at = {x, w, b, y};
    if (job->out > 32) return enqueue_wide<64>(*job, at, stream);
    if (job->out > 16) return enqueue_wide<32>(*job, at, stream);
    return enqueue_wide<16>(*job, at, stream);
}

static int launch(struct assay_call *call)
{
    const struct conv_job job = conv_job(call->shape);
    return conv3d_tf32_enqueue(
        &job, (const float *)call->buffer[CONV_X], (const float *)call->buffer[CONV_W],
        (const float *)call->buffer[CONV_B], (float *)call->buffer[CONV_Y], call->stream);
}

static const struct assay_variant variant = {
    .operation = "conv3d",
    .name = "implicit_tf32",
    .summary = "tf32 tensor cores, columns gathered into shared memory, 128 voxels per block",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .supports = conv_only_tf32,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
