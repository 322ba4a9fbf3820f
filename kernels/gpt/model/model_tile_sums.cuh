/*
 * model_tile_sums.cuh - a warp's outputs in the tiles of model_tile.cuh, WM x WN of them.
 *
 * The unit is a word of 32 bits: 8 words of k are one step of the tensor cores, for tf32 (m16n8k8),
 * bf16 and fp16 (m16n8k16) alike. On CUDA cores (fp32) a lane has outputs that are four rows and
 * eight columns apart, and takes four of k at a time.
 *
 * In fp32 the reads of shared memory are the limit: a multiply-add for every lane takes a quarter
 * of a cycle, sixteen bytes for every lane take four. With 8 x 8 outputs per lane the arithmetic
 * keeps up with the reads; with 8 x 4 the reads allow two thirds of its rate. A tile with few rows
 * is then the work of one or two warps, so the others take slices of k, whose sums are added at
 * the end.
 */
#pragma once

#include "kernels/gpt/mma.cuh"

enum { TILE_WORDS = 32, TILE_PITCH = TILE_WORDS + 4 };

/* Which cores: the choice of a kernel's arithmetic. */
enum tile_cores { TILE_PLAIN, TILE_TENSOR };

template <typename T, int CORES, int WM, int WN> struct tile_sums {
    static const int COUNT = WM * WN / 32;
    float sum[COUNT] = {};

    static __device__ __forceinline__ int row(int i)
    {
        return 16 * (i / (WN / 2)) + mma_row(threadIdx.x % 32, i % 4);
    }

    static __device__ __forceinline__ int column(int i)
    {
        return 8 * (i / 4 % (WN / 8)) + mma_column(threadIdx.x % 32, i % 4);
    }

    /* WORDS of k; x and w are the warp's first rows there. */
    template <int WORDS>
    __device__ __forceinline__ void chunk(const uint32_t *x, int pitch, const uint32_t *w)
    {
        int lane = threadIdx.x % 32;
        struct mma_place a_at = mma_place_a(lane), b_at = mma_place_b(lane);
        uint32_t x_at = mma_shared(x + a_at.row * pitch + 4 * a_at.chunk);
        uint32_t w_at = mma_shared(w + b_at.row * TILE_PITCH + 4 * b_at.chunk);
#pragma unroll
        for (int step = 0; step < WORDS / 8; step++) {
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
                    mma_step(T(), sums(i, j), a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
        }
    }

  private:
    __device__ __forceinline__ float (&sums(int i, int j))[4]
    {
        return *(float(*)[4]) & sum[(i * (WN / 8) + j) * 4];
    }
};

/* On CUDA cores: lanes are 4 rows by 8 columns. */
template <int WM, int WN> struct tile_sums<float, TILE_PLAIN, WM, WN> {
    static const int COUNT = WM * WN / 32;
    float sum[COUNT] = {};

    static __device__ __forceinline__ int row(int i)
    {
        return 4 * (i / (WN / 8)) + (int)threadIdx.x % 32 / 8;
    }

    static __device__ __forceinline__ int column(int i)
    {
        return 8 * (i % (WN / 8)) + (int)threadIdx.x % 8;
    }

    template <int WORDS>
    __device__ __forceinline__ void chunk(const uint32_t *x, int pitch, const uint32_t *w)
    {
        int lane = threadIdx.x % 32;
        const float *a_from = (const float *)x + lane / 8 * pitch;
        const float *b_from = (const float *)w + lane % 8 * TILE_PITCH;
#pragma unroll 2
        for (int l = 0; l < WORDS; l += 4) {
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
                    float &at = sum[i * (WN / 8) + j];
                    at = fmaf(a[i].x, b[j].x, at);
                    at = fmaf(a[i].y, b[j].y, at);
                    at = fmaf(a[i].z, b[j].z, at);
                    at = fmaf(a[i].w, b[j].w, at);
                }
        }
    }
};
