/*
 * model_tile.cuh - one kernel for y = residual + act(norm(x) w^T + bias), the products of
 * models that are too small to fill the device with large tiles.
 *
 * A block computes ROWS x COLUMNS outputs by WARPS_M x WARPS_N warps. w comes by cp.async,
 * six stages of 128 bytes along k; it depends on no kernel before, so its first stages are
 * under way before the block waits for x (model_launch.cuh). x comes the same way, or,
 * where it is normalised, whole rows at once: eight lanes take a row, find its mean and then
 * the squares about it, and write it back normalised; each block of columns does that
 * again for its rows, which costs less than a kernel of its own and its passage through
 * memory.
 *
 * Rows in shared memory are padded by 16 bytes, which puts eight of them into different banks.
 * All is counted in words of 32 bits: 8 words of k are a step of the tensor cores, of tf32
 * (m16n8k8) and bf16 (m16n8k16) alike. On the ordinary cores (fp32) a lane holds outputs four
 * rows and eight columns apart and takes four of k at a time.
 */
#ifndef MODEL_TILE_CUH
#define MODEL_TILE_CUH

#include "mma.cuh"
#include "model_cuda.h"
#include "model_launch.cuh"

enum { TILE_STAGES = 6, TILE_WORDS = 32, TILE_PITCH = TILE_WORDS + 4 };

/* Which cores: the choice of a kernel's arithmetic. */
enum tile_cores { TILE_PLAIN, TILE_TENSOR };

struct tile_args {
    const void *x, *w, *bias, *scale, *shift, *residual;
    void *y;
    int64_t ldx, ldr, ldy;
    int m, n, k;
    bool gelu;
};

/* Words of a whole row in shared memory, padding and all. */
template <typename T> static __host__ __device__ __forceinline__ int tile_row_words(int k)
{
    int words = (k * (int)sizeof(T) + 3) / 4;
    return (words + TILE_WORDS - 1) / TILE_WORDS * TILE_WORDS + 4;
}

/* Copy `count` rows of `words` words from word `word0`; zeros outside [rows, k]. ALIGNED:
 * rows start on 16 bytes and k is a whole number of them. */
template <typename T, int THREADS, bool ALIGNED>
static __device__ __forceinline__ void tile_copy(uint32_t *to, int pitch, const T *from, int64_t ld,
                                                 int row0, int count, int rows, int word0,
                                                 int words, int k)
{
    const int width = 4 / (int)sizeof(T); /* elements a word */
    if (ALIGNED) {
        int chunks = words / 4;
        for (int i = threadIdx.x; i < count * chunks; i += THREADS) {
            int row = i / chunks, chunk = i % chunks, at = (word0 + 4 * chunk) * width;
            bool valid = row0 + row < rows && at < k;
            mma_copy(mma_shared(to + row * pitch + 4 * chunk),
                     valid ? from + (int64_t)(row0 + row) * ld + at : from, valid);
        }
        return;
    }
    T *elements = (T *)to;
    int wide = words * width;
    for (int i = threadIdx.x; i < count * wide; i += THREADS) {
        int row = i / wide, element = i % wide, at = word0 * width + element;
        bool valid = row0 + row < rows && at < k;
        elements[row * pitch * width + element] =
            valid ? from[(int64_t)(row0 + row) * ld + at] : T(0);
    }
}

/* WIDTH neighbours as floats: one element, or sixteen bytes. */
template <int WIDTH> struct tile_piece {
    float v[WIDTH];
};

static __device__ __forceinline__ void tile_get(tile_piece<1> &piece, const float *from)
{
    piece.v[0] = *from;
}

static __device__ __forceinline__ void tile_get(tile_piece<1> &piece, const uint16_t *from)
{
    piece.v[0] = gpt_float(*from);
}

static __device__ __forceinline__ void tile_get(tile_piece<4> &piece, const float *from)
{
    float4 raw = *(const float4 *)from;
    piece = {raw.x, raw.y, raw.z, raw.w};
}

static __device__ __forceinline__ void tile_get(tile_piece<8> &piece, const uint16_t *from)
{
    uint4 raw = *(const uint4 *)from;
    const uint32_t word[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
    for (int i = 0; i < 4; i++) {
        piece.v[2 * i] = __uint_as_float(word[i] << 16);
        piece.v[2 * i + 1] = __uint_as_float(word[i] & 0xffff0000u);
    }
}

static __device__ __forceinline__ void tile_set(float *to, const tile_piece<1> &piece)
{
    *to = piece.v[0];
}

static __device__ __forceinline__ void tile_set(uint16_t *to, const tile_piece<1> &piece)
{
    gpt_put(to, piece.v[0]);
}

static __device__ __forceinline__ void tile_set(float *to, const tile_piece<4> &piece)
{
    *(float4 *)to = make_float4(piece.v[0], piece.v[1], piece.v[2], piece.v[3]);
}

static __device__ __forceinline__ void tile_set(uint16_t *to, const tile_piece<8> &piece)
{
    *(uint4 *)to = make_uint4(gpt_pack(piece.v[0], piece.v[1]), gpt_pack(piece.v[2], piece.v[3]),
                              gpt_pack(piece.v[4], piece.v[5]), gpt_pack(piece.v[6], piece.v[7]));
}

/* The sum over eight neighbouring lanes, in each of them. */
static __device__ __forceinline__ float tile_lanes_sum(float value)
{
#pragma unroll
    for (int step = 4; step > 0; step /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, step);
    return value;
}

/* Normalise `rows` rows of k in shared memory, in place, eight lanes a row. */
template <typename T, int THREADS, int WIDTH>
static __device__ __forceinline__ void tile_normalise(T *x, int pitch, int rows, int k,
                                                      const T *scale, const T *shift)
{
    int first = threadIdx.x % 8 * WIDTH;
    for (int row = threadIdx.x / 8; row < rows; row += THREADS / 8) {
        T *at = x + row * pitch;
        float sum = 0.0f, squares = 0.0f;
#pragma unroll 4
        for (int i = first; i < k; i += 8 * WIDTH) {
            tile_piece<WIDTH> piece;
            tile_get(piece, at + i);
#pragma unroll
            for (int j = 0; j < WIDTH; j++)
                sum += piece.v[j];
        }
        float mean = tile_lanes_sum(sum) / (float)k;
#pragma unroll 4
        for (int i = first; i < k; i += 8 * WIDTH) {
            tile_piece<WIDTH> piece;
            tile_get(piece, at + i);
#pragma unroll
            for (int j = 0; j < WIDTH; j++)
                squares += (piece.v[j] - mean) * (piece.v[j] - mean);
        }
        float r = rsqrtf(tile_lanes_sum(squares) / (float)k + GPT_LAYERNORM_EPSILON);
#pragma unroll 4
        for (int i = first; i < k; i += 8 * WIDTH) {
            tile_piece<WIDTH> piece, w, b;
            tile_get(piece, at + i);
            tile_get(w, scale + i);
            tile_get(b, shift + i);
#pragma unroll
            for (int j = 0; j < WIDTH; j++)
                piece.v[j] = (piece.v[j] - mean) * r * w.v[j] + b.v[j];
            tile_set(at + i, piece);
        }
    }
}

/* One output behind its sum. */
template <typename T>
static __device__ __forceinline__ void tile_put(const tile_args &args, int row, int column,
                                                float sum)
{
    if (row >= args.m || column >= args.n) return;
    if (args.bias) sum += gpt_float(__ldg((const T *)args.bias + column));
    if (args.gelu) sum = gpt_gelu_fast(sum);
    if (args.residual) sum += gpt_float(((const T *)args.residual)[row * args.ldr + column]);
    gpt_put((T *)args.y + row * args.ldy + column, sum);
}

/* ------------------------------------------------------------ arithmetic -- */

/* A warp's outputs, WM x WN, on tensor cores. */
template <typename T, int CORES, int WM, int WN> struct tile_sums {
    float sum[WM / 16][WN / 8][4] = {};

    /* 32 words of k; x and w are the warp's first rows there. */
    __device__ __forceinline__ void chunk(const uint32_t *x, int pitch, const uint32_t *w)
    {
        int lane = threadIdx.x % 32;
        struct mma_place a_at = mma_place_a(lane), b_at = mma_place_b(lane);
        uint32_t x_at = mma_shared(x + a_at.row * pitch + 4 * a_at.chunk);
        uint32_t w_at = mma_shared(w + b_at.row * TILE_PITCH + 4 * b_at.chunk);
#pragma unroll
        for (int step = 0; step < TILE_WORDS / 8; step++) {
            uint32_t a[WM / 16][4], b[WN / 16][4];
#pragma unroll
            for (int i = 0; i < WM / 16; i++)
                mma_load(a[i], x_at + (16 * i * pitch + 8 * step) * 4);
#pragma unroll
            for (int j = 0; j < WN / 16; j++)
                mma_load(b[j], w_at + (16 * j * TILE_PITCH + 8 * step) * 4);
#pragma unroll
            for (int i = 0; i < WM / 16; i++)
#pragma unroll
                for (int j = 0; j < WN / 8; j++)
                    mma_step(T(), sum[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
        }
    }

    __device__ __forceinline__ void put(const tile_args &args, int row0, int column0)
    {
        int lane = threadIdx.x % 32;
#pragma unroll
        for (int i = 0; i < WM / 16; i++)
#pragma unroll
            for (int j = 0; j < WN / 8; j++)
#pragma unroll
                for (int e = 0; e < 4; e++)
                    tile_put<T>(args, row0 + 16 * i + mma_row(lane, e),
                                column0 + 8 * j + mma_column(lane, e), sum[i][j][e]);
    }
};

/* On the ordinary cores: lanes are 4 rows by 8 columns. */
template <int WM, int WN> struct tile_sums<float, TILE_PLAIN, WM, WN> {
    float sum[WM / 4][WN / 8] = {};

    __device__ __forceinline__ void chunk(const uint32_t *x, int pitch, const uint32_t *w)
    {
        int lane = threadIdx.x % 32;
        const float *a_from = (const float *)x + lane / 8 * pitch;
        const float *b_from = (const float *)w + lane % 8 * TILE_PITCH;
#pragma unroll 2
        for (int l = 0; l < TILE_WORDS; l += 4) {
            float4 a[WM / 4], b[WN / 8];
#pragma unroll
            for (int i = 0; i < WM / 4; i++)
                a[i] = *(const float4 *)(a_from + 4 * i * pitch + l);
#pragma unroll
            for (int j = 0; j < WN / 8; j++)
                b[j] = *(const float4 *)(b_from + 8 * j * TILE_PITCH + l);
#pragma unroll
            for (int i = 0; i < WM / 4; i++)
#pragma unroll
                for (int j = 0; j < WN / 8; j++) {
                    sum[i][j] = fmaf(a[i].x, b[j].x, sum[i][j]);
                    sum[i][j] = fmaf(a[i].y, b[j].y, sum[i][j]);
                    sum[i][j] = fmaf(a[i].z, b[j].z, sum[i][j]);
                    sum[i][j] = fmaf(a[i].w, b[j].w, sum[i][j]);
                }
        }
    }

    __device__ __forceinline__ void put(const tile_args &args, int row0, int column0)
    {
        int lane = threadIdx.x % 32;
#pragma unroll
        for (int i = 0; i < WM / 4; i++)
#pragma unroll
            for (int j = 0; j < WN / 8; j++)
                tile_put<float>(args, row0 + 4 * i + lane / 8, column0 + 8 * j + lane % 8,
                                sum[i][j]);
    }
};

/* ----------------------------------------------------------------- kernel -- */

template <typename T, int CORES, int ROWS, int COLUMNS, int WARPS_M, int WARPS_N, bool NORM,
          bool ALIGNED>
static __global__ void __launch_bounds__(32 * WARPS_M * WARPS_N) tile_kernel(struct tile_args args)
{
    const int threads = 32 * WARPS_M * WARPS_N, width = 4 / (int)sizeof(T);
    const int wm = ROWS / WARPS_M, wn = COLUMNS / WARPS_N;
    extern __shared__ __align__(16) uint32_t shared[];
    int row0 = blockIdx.x * ROWS, column0 = blockIdx.y * COLUMNS;
    int chunks = (args.k + TILE_WORDS * width - 1) / (TILE_WORDS * width);
    int x_pitch = NORM ? tile_row_words<T>(args.k) : TILE_PITCH;
    uint32_t *w_stages = shared, *x_stages = shared + TILE_STAGES * COLUMNS * TILE_PITCH;
    const T *x = (const T *)args.x, *w = (const T *)args.w;

    auto copy_w = [&](int chunk) {
        tile_copy<T, threads, ALIGNED>(w_stages + chunk % TILE_STAGES * COLUMNS * TILE_PITCH,
                                       TILE_PITCH, w, args.k, column0, COLUMNS, args.n,
                                       chunk * TILE_WORDS, TILE_WORDS, args.k);
    };
    auto copy_x = [&](int chunk) {
        tile_copy<T, threads, ALIGNED>(x_stages + chunk % TILE_STAGES * ROWS * TILE_PITCH,
                                       TILE_PITCH, x, args.ldx, row0, ROWS, args.m,
                                       chunk * TILE_WORDS, TILE_WORDS, args.k);
    };

    /* w of all but one stage before the wait, in the first group; then a group a stage. */
#pragma unroll
    for (int chunk = 0; chunk < TILE_STAGES - 1; chunk++)
        if (chunk < chunks) copy_w(chunk);
    model_release();
    model_wait();
    if (NORM) {
        tile_copy<T, threads, ALIGNED>(x_stages, x_pitch, x, args.ldx, row0, ROWS, args.m, 0,
                                       x_pitch - 4, args.k);
        mma_copy_commit();
        mma_copy_wait<0>();
        __syncthreads();
        tile_normalise<T, threads, ALIGNED ? 4 * width : 1>((T *)x_stages, x_pitch * width, ROWS,
                                                            args.k, (const T *)args.scale,
                                                            (const T *)args.shift);
    }
#pragma unroll
    for (int chunk = 0; chunk < TILE_STAGES - 1; chunk++) {
        if (!NORM && chunk < chunks) copy_x(chunk);
        mma_copy_commit();
    }

    int warp = threadIdx.x / 32, warp_row = warp / WARPS_N * wm, warp_column = warp % WARPS_N * wn;
    tile_sums<T, CORES, wm, wn> sums;
    for (int chunk = 0; chunk < chunks; chunk++) {
        mma_copy_wait<TILE_STAGES - 2>();
        __syncthreads(); /* the stage is there, and the one before it is done with */
        int next = chunk + TILE_STAGES - 1;
        if (next < chunks) {
            copy_w(next);
            if (!NORM) copy_x(next);
        }
        mma_copy_commit();
        int stage = chunk % TILE_STAGES;
        const uint32_t *x_at =
            NORM ? x_stages + chunk * TILE_WORDS : x_stages + stage * ROWS * TILE_PITCH;
        sums.chunk(x_at + warp_row * x_pitch, x_pitch,
                   w_stages + (stage * COLUMNS + warp_column) * TILE_PITCH);
    }
    sums.put(args, row0 + warp_row, column0 + warp_column);
}

/* ----------------------------------------------------------------- table -- */

typedef void tile_function(struct tile_args args);

struct tile {
    const char *name;
    int rows, columns, threads;
    bool unaligned;              /* the one that takes any shape */
    tile_function *kernel[2][2]; /* [norm][aligned]; NULL where there is none */
};

#define TILE(T, CORES, ROWS, COLUMNS, WARPS_M, WARPS_N)                                            \
    {                                                                                              \
#ROWS "x" #COLUMNS, ROWS, COLUMNS, 32 * WARPS_M *WARPS_N, false,                           \
        {                                                                                          \
            {NULL, tile_kernel<T, CORES, ROWS, COLUMNS, WARPS_M, WARPS_N, false, true>},           \
            {                                                                                      \
                NULL, tile_kernel<T, CORES, ROWS, COLUMNS, WARPS_M, WARPS_N, true, true>           \
            }                                                                                      \
        }                                                                                          \
    }
#define TILE_ANY(T, CORES, ROWS, COLUMNS, WARPS_M, WARPS_N)                                        \
    {                                                                                              \
#ROWS "x" #COLUMNS, ROWS, COLUMNS, 32 * WARPS_M *WARPS_N, true,                            \
        {                                                                                          \
            {tile_kernel<T, CORES, ROWS, COLUMNS, WARPS_M, WARPS_N, false, false>,                 \
             tile_kernel<T, CORES, ROWS, COLUMNS, WARPS_M, WARPS_N, false, true>},                 \
            {                                                                                      \
                tile_kernel<T, CORES, ROWS, COLUMNS, WARPS_M, WARPS_N, true, false>,               \
                    tile_kernel<T, CORES, ROWS, COLUMNS, WARPS_M, WARPS_N, true, true>             \
            }                                                                                      \
        }                                                                                          \
    }

/* Shared memory of a launch. */
template <typename T>
static inline size_t tile_shared(const struct tile *tile, bool norm, int64_t k)
{
    size_t stages = (size_t)TILE_STAGES * (size_t)tile->columns * TILE_PITCH;
    size_t x = norm ? (size_t)tile->rows * (size_t)tile_row_words<T>((int)k)
                    : (size_t)TILE_STAGES * (size_t)tile->rows * TILE_PITCH;
    return 4 * (stages + x);
}

/* Each precision's tiles, smallest first, in a file of its own. */
extern const struct tile tiles_fp32[], tiles_tf32[], tiles_bf16[];
extern const int tiles_fp32_count, tiles_tf32_count, tiles_bf16_count;

#endif
