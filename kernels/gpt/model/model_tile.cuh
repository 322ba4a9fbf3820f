/*
 * model_tile.cuh - one kernel for y = act(norm(x) w^T + bias) and y = residual + x w^T + bias, for
 * the products of models that are too small to fill the device with large tiles.
 *
 * A block computes ROWS x COLUMNS outputs by WARPS_M x WARPS_N warps, or by as many for each slice
 * of every stage along k (model_tile_sums.cuh). w is fetched by cp.async, a few stages of 128
 * bytes along k ahead. It does not depend on the kernel before, so its first stages are fetched
 * while the block still waits for x (dependent_launch.cuh).
 *
 * x is fetched the same way. Where it is normalised, whole rows are fetched at once: eight lanes
 * share a row, find its mean, then the squares about it, and write it back normalised. Each block
 * of columns repeats that for its rows, which costs less than another kernel and a trip through
 * memory.
 *
 * Rows in shared memory are padded by 16 bytes, so that eight of them use different banks.
 */
#pragma once

#include "model_cuda.h"
#include "kernels/cuda/dependent_launch.cuh"
#include "model_tile_sums.cuh"

struct tile_args {
    const void *x, *w, *bias, *scale, *shift, *residual;
    void *y;
    int64_t ldx, ldr, ldy;
    int m, n, k;
    int gelu; /* no bytes without a value: a gate compares arguments whole */
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
    const int width = 4 / (int)sizeof(T); /* elements per word */
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
            valid ? from[(int64_t)(row0 + row) * ld + at] : T();
    }
}

/* WIDTH neighbours as floats: one element, or sixteen bytes. */
template <int WIDTH> struct tile_piece {
    float v[WIDTH];
};

template <typename T>
static __device__ __forceinline__ void tile_get(tile_piece<1> &piece, const T *from)
{
    piece.v[0] = gpt_float(*from);
}

static __device__ __forceinline__ void tile_get(tile_piece<4> &piece, const float *from)
{
    float4 raw = *(const float4 *)from;
    piece = {raw.x, raw.y, raw.z, raw.w};
}

template <typename T>
static __device__ __forceinline__ void tile_get(tile_piece<8> &piece, const T *from)
{
    uint4 raw = *(const uint4 *)from;
    const uint32_t word[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float2 pair = gpt_unpack(T(), word[i]);
        piece.v[2 * i] = pair.x, piece.v[2 * i + 1] = pair.y;
    }
}

template <typename T>
static __device__ __forceinline__ void tile_set(T *to, const tile_piece<1> &piece)
{
    gpt_put(to, piece.v[0]);
}

static __device__ __forceinline__ void tile_set(float *to, const tile_piece<4> &piece)
{
    *(float4 *)to = make_float4(piece.v[0], piece.v[1], piece.v[2], piece.v[3]);
}

template <typename T>
static __device__ __forceinline__ void tile_set(T *to, const tile_piece<8> &piece)
{
    uint32_t word[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        word[i] = gpt_pack(T(), piece.v[2 * i], piece.v[2 * i + 1]);
    *(uint4 *)to = make_uint4(word[0], word[1], word[2], word[3]);
}

/* Normalise `rows` rows of k in shared memory, in place, eight lanes per row. */
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
        float mean = gpt_eight_sum(sum) / (float)k;
#pragma unroll 4
        for (int i = first; i < k; i += 8 * WIDTH) {
            tile_piece<WIDTH> piece;
            tile_get(piece, at + i);
#pragma unroll
            for (int j = 0; j < WIDTH; j++)
                squares += (piece.v[j] - mean) * (piece.v[j] - mean);
        }
        float r = rsqrtf(gpt_eight_sum(squares) / (float)k + GPT_LAYERNORM_EPSILON);
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

/* Finish and store one output from its sum. */
template <typename T, bool NORM>
static __device__ __forceinline__ void tile_put(const tile_args &args, int row, int column,
                                                float sum)
{
    if (row >= args.m || column >= args.n) return;
    if (args.bias) sum += gpt_float(__ldg((const T *)args.bias + column));
    if (NORM && args.gelu) sum = gpt_gelu_fast(sum);
    if (!NORM && args.residual)
        sum += gpt_float(((const T *)args.residual)[row * args.ldr + column]);
    gpt_put((T *)args.y + row * args.ldy + column, sum);
}

/* ----------------------------------------------------------------- kernel -- */

/* The configuration of a tile: warps down and across, and slices of k that are added at the end. */
template <int ROWS_, int COLUMNS_, int WARPS_M_, int WARPS_N_, int SLICES_, int STAGES_>
struct tile_config {
    static const int ROWS = ROWS_, COLUMNS = COLUMNS_, WARPS_M = WARPS_M_, WARPS_N = WARPS_N_,
                     SLICES = SLICES_, STAGES = STAGES_, WARPS = WARPS_M * WARPS_N,
                     THREADS = 32 * WARPS * SLICES, WM = ROWS / WARPS_M, WN = COLUMNS / WARPS_N;
    static_assert(SLICES == 1 || SLICES * ROWS <= STAGES * TILE_PITCH,
                  "the slices' sums take the place of w");
};

/* Write the sums of all slices over w; each slice then stores its share of the outputs. */
template <typename T, class CONFIG, bool NORM, class SUMS>
static __device__ __forceinline__ void tile_put_slices(const tile_args &args, const SUMS &sums,
                                                       float *memory, int slice, int warp, int row0,
                                                       int column0)
{
    const int share = SUMS::COUNT / CONFIG::SLICES, of_slice = CONFIG::WARPS * SUMS::COUNT * 32;
    float *own = memory + warp * SUMS::COUNT * 32 + threadIdx.x % 32;
    mma_copy_wait<0>();
    __syncthreads();
#pragma unroll
    for (int i = 0; i < SUMS::COUNT; i++)
        own[slice * of_slice + 32 * i] = sums.sum[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < share; i++) {
        int at = slice * share + i;
        float sum = own[32 * at];
#pragma unroll
        for (int other = 1; other < CONFIG::SLICES; other++)
            sum += own[other * of_slice + 32 * at];
        tile_put<T, NORM>(args, row0 + SUMS::row(at), column0 + SUMS::column(at), sum);
    }
}

template <typename T, int CORES, class CONFIG, bool NORM, bool ALIGNED>
static __global__ void __launch_bounds__(CONFIG::THREADS) tile_kernel(struct tile_args args)
{
    const int threads = CONFIG::THREADS, width = 4 / (int)sizeof(T), stages = CONFIG::STAGES;
    const int rows = CONFIG::ROWS, columns = CONFIG::COLUMNS,
              slice_words = TILE_WORDS / CONFIG::SLICES;
    extern __shared__ __align__(16) uint32_t shared[];
    int row0 = blockIdx.x * rows, column0 = blockIdx.y * columns;
    int chunks = (args.k + TILE_WORDS * width - 1) / (TILE_WORDS * width);
    int x_pitch = NORM ? tile_row_words<T>(args.k) : TILE_PITCH;
    uint32_t *w_stages = shared, *x_stages = shared + stages * columns * TILE_PITCH;
    const T *x = (const T *)args.x, *w = (const T *)args.w;

    auto copy_w = [&](int chunk) {
        tile_copy<T, threads, ALIGNED>(w_stages + chunk % stages * columns * TILE_PITCH, TILE_PITCH,
                                       w, args.k, column0, columns, args.n, chunk * TILE_WORDS,
                                       TILE_WORDS, args.k);
    };
    auto copy_x = [&](int chunk) {
        tile_copy<T, threads, ALIGNED>(x_stages + chunk % stages * rows * TILE_PITCH, TILE_PITCH, x,
                                       args.ldx, row0, rows, args.m, chunk * TILE_WORDS, TILE_WORDS,
                                       args.k);
    };

    /* Before the wait, fetch w for all stages but one. These copies belong to the first group of
     * cp.async; from then on there is one group per stage. */
#pragma unroll 1
    for (int chunk = 0; chunk < min(stages - 1, chunks); chunk++)
        copy_w(chunk);
    dependent_release();
    dependent_wait();
    if (NORM) {
        tile_copy<T, threads, ALIGNED>(x_stages, x_pitch, x, args.ldx, row0, rows, args.m, 0,
                                       x_pitch - 4, args.k);
        mma_copy_commit();
        mma_copy_wait<0>();
        __syncthreads();
        tile_normalise<T, threads, ALIGNED ? 4 * width : 1>((T *)x_stages, x_pitch * width, rows,
                                                            args.k, (const T *)args.scale,
                                                            (const T *)args.shift);
    }
#pragma unroll
    for (int chunk = 0; chunk < stages - 1; chunk++) {
        if (!NORM && chunk < chunks) copy_x(chunk);
        mma_copy_commit();
    }

    int warp = threadIdx.x / 32 % CONFIG::WARPS, slice = threadIdx.x / 32 / CONFIG::WARPS;
    int warp_row = warp / CONFIG::WARPS_N * CONFIG::WM,
        warp_column = warp % CONFIG::WARPS_N * CONFIG::WN;
    int word0 = slice * slice_words;
    tile_sums<T, CORES, CONFIG::WM, CONFIG::WN> sums;
    for (int chunk = 0; chunk < chunks; chunk++) {
        mma_copy_wait<stages - 2>();
        __syncthreads(); /* the stage has arrived, and nobody reads the one before any more */
        int next = chunk + stages - 1;
        if (next < chunks) {
            copy_w(next);
            if (!NORM) copy_x(next);
        }
        mma_copy_commit();
        int stage = chunk % stages;
        const uint32_t *x_at =
            NORM ? x_stages + chunk * TILE_WORDS : x_stages + stage * rows * TILE_PITCH;
        sums.template chunk<slice_words>(x_at + warp_row * x_pitch + word0, x_pitch,
                                         w_stages + (stage * columns + warp_column) * TILE_PITCH +
                                             word0);
    }
    row0 += warp_row, column0 += warp_column;
    if constexpr (CONFIG::SLICES > 1) {
        tile_put_slices<T, CONFIG, NORM>(args, sums, (float *)w_stages, slice, warp, row0, column0);
    } else {
#pragma unroll
        for (int i = 0; i < sums.COUNT; i++)
            tile_put<T, NORM>(args, row0 + sums.row(i), column0 + sums.column(i), sums.sum[i]);
    }
}

/* ----------------------------------------------------------------- table -- */

typedef void tile_function(struct tile_args args);

struct tile {
    const char *name;
    int rows, columns, threads, slices, stages;
    bool unaligned;              /* takes rows that do not start on 16 bytes, too */
    tile_function *kernel[2][2]; /* [norm][aligned]; NULL where there is none */
};

/* ANY: rows that do not start on 16 bytes, too. */
template <typename T, int CORES, int ROWS, int COLUMNS, int WARPS_M, int WARPS_N, int SLICES = 1,
          int STAGES = 6, bool ANY = false>
static constexpr struct tile tile_of(const char *name)
{
    using config = tile_config<ROWS, COLUMNS, WARPS_M, WARPS_N, SLICES, STAGES>;
    struct tile tile = {name, ROWS, COLUMNS, config::THREADS, SLICES, STAGES, ANY, {}};
    tile.kernel[0][1] = tile_kernel<T, CORES, config, false, true>;
    tile.kernel[1][1] = tile_kernel<T, CORES, config, true, true>;
    if constexpr (ANY) {
        tile.kernel[0][0] = tile_kernel<T, CORES, config, false, false>;
        tile.kernel[1][0] = tile_kernel<T, CORES, config, true, false>;
    }
    return tile;
}

/* Shared memory of a launch. */
template <typename T>
static inline size_t tile_shared(const struct tile *tile, bool norm, int64_t k)
{
    size_t stages = (size_t)tile->stages * (size_t)tile->columns * TILE_PITCH;
    size_t x = norm ? (size_t)tile->rows * (size_t)tile_row_words<T>((int)k)
                    : (size_t)tile->stages * (size_t)tile->rows * TILE_PITCH;
    return 4 * (stages + x);
}
