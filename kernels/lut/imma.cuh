/*
 * imma.cuh - an int8 product on Hopper's tensor cores (wgmma), from a ring of stages in shared
 * memory that others fill: warps that decode, or TMA.
 *
 * A block computes a tile of 128 x 256 of C. Each of two warpgroups has half of the rows, in 128
 * accumulators per thread. Both operands are in shared memory as rows of 128 bytes of K, swizzled
 * in pieces of 16 bytes (128-byte mode). Eight rows are an atom of 1 KiB; a step of 32 bytes along
 * K is a step of the start address (PTX ISA, "Asynchronous warpgroup level matrix shared memory
 * layout").
 */
#pragma once

#include "lut_cuda.h"

#include "imma.h"
#include "imma_output.cuh"
#include "kernels/cuda/hopper.cuh"

#ifdef HOPPER_CODE

/* A matrix descriptor: start address, 1 KiB from atom to atom, 128-byte swizzle. */
static __device__ __forceinline__ uint64_t imma_descriptor(const void *shared)
{
    uint64_t address = (uint64_t)__cvta_generic_to_shared(shared);
    return (address & 0x3ffff) >> 4 | (uint64_t)1 << 16 | (uint64_t)(1024 >> 4) << 32 |
           (uint64_t)1 << 62;
}

/* d += a b^T over 32 bytes of K, or d = a b^T unless `adds`; asynchronous. */
static __device__ __forceinline__ void imma_multiply(int32_t d[128], uint64_t a, uint64_t b,
                                                     int adds)
{
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, "
        "%111, "
        "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, "
        "%127}, "
        "%128, %129, p;\n}\n"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]),
          "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]),
          "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]),
          "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]),
          "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), "+r"(d[32]), "+r"(d[33]), "+r"(d[34]),
          "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), "+r"(d[40]), "+r"(d[41]),
          "+r"(d[42]), "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47]), "+r"(d[48]),
          "+r"(d[49]), "+r"(d[50]), "+r"(d[51]), "+r"(d[52]), "+r"(d[53]), "+r"(d[54]), "+r"(d[55]),
          "+r"(d[56]), "+r"(d[57]), "+r"(d[58]), "+r"(d[59]), "+r"(d[60]), "+r"(d[61]), "+r"(d[62]),
          "+r"(d[63]), "+r"(d[64]), "+r"(d[65]), "+r"(d[66]), "+r"(d[67]), "+r"(d[68]), "+r"(d[69]),
          "+r"(d[70]), "+r"(d[71]), "+r"(d[72]), "+r"(d[73]), "+r"(d[74]), "+r"(d[75]), "+r"(d[76]),
          "+r"(d[77]), "+r"(d[78]), "+r"(d[79]), "+r"(d[80]), "+r"(d[81]), "+r"(d[82]), "+r"(d[83]),
          "+r"(d[84]), "+r"(d[85]), "+r"(d[86]), "+r"(d[87]), "+r"(d[88]), "+r"(d[89]), "+r"(d[90]),
          "+r"(d[91]), "+r"(d[92]), "+r"(d[93]), "+r"(d[94]), "+r"(d[95]), "+r"(d[96]), "+r"(d[97]),
          "+r"(d[98]), "+r"(d[99]), "+r"(d[100]), "+r"(d[101]), "+r"(d[102]), "+r"(d[103]),
          "+r"(d[104]), "+r"(d[105]), "+r"(d[106]), "+r"(d[107]), "+r"(d[108]), "+r"(d[109]),
          "+r"(d[110]), "+r"(d[111]), "+r"(d[112]), "+r"(d[113]), "+r"(d[114]), "+r"(d[115]),
          "+r"(d[116]), "+r"(d[117]), "+r"(d[118]), "+r"(d[119]), "+r"(d[120]), "+r"(d[121]),
          "+r"(d[122]), "+r"(d[123]), "+r"(d[124]), "+r"(d[125]), "+r"(d[126]), "+r"(d[127])
        : "l"(a), "l"(b), "r"(adds));
}

/* Multiply one stage, the rows of warpgroup `group`; add to the sums so far, or begin them where
 * `adds` is 0. */
static __device__ __forceinline__ void imma_stage(int32_t d[128], const char *stage, int group,
                                                  int adds)
{
    uint64_t a = imma_descriptor(stage + group * (IMMA_ROWS / 2 * IMMA_K));
    uint64_t b = imma_descriptor(stage + IMMA_ROWS * IMMA_K);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < IMMA_K / 32; k++)
        imma_multiply(d, a + (uint64_t)(2 * k), b + (uint64_t)(2 * k), adds || k > 0);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Wait until at most LEFT stages are still being multiplied. */
template <int LEFT> static __device__ __forceinline__ void imma_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
}

/* The compiler may move no use of the accumulators across this point. */
static __device__ __forceinline__ void imma_pin(int32_t d[128])
{
#pragma unroll
    for (int i = 0; i < 128; i++)
        asm volatile("" : "+r"(d[i])::"memory");
}

/* A lane's accumulators 4 j to 4 j + 3 of a warp's sixteen rows, of which `tile` is the first.
 * Accumulator 4 j + 2 h + i is row lane / 4 + 8 h, column 8 j + 2 (lane % 4) + i. */
static __device__ __forceinline__ void imma_store_quad(const imma_output &out,
                                                       struct imma_tile tile, int j, int32_t d0,
                                                       int32_t d1, int32_t d2, int32_t d3)
{
    const int lane = threadIdx.x % 32;
    const int64_t row = tile.row + lane / 4, column = tile.column + 8 * j + lane % 4 * 2;
    imma_store(out, row, column, d0, d1);
    imma_store(out, row + 8, column, d2, d3);
}

/* Write a warp's sixteen rows. */
static __device__ __forceinline__ void imma_finish(const imma_output &out, struct imma_tile tile,
                                                   const int32_t d[128])
{
#pragma unroll
    for (int j = 0; j < 32; j++)
        imma_store_quad(out, tile, j, d[4 * j], d[4 * j + 1], d[4 * j + 2], d[4 * j + 3]);
}

/* Where a thread is in a ring of STAGES buffers; the parity is the one to wait for. */
struct imma_cursor {
    int stage;
    uint32_t parity;
};

template <int STAGES> static __device__ __forceinline__ void imma_advance(struct imma_cursor &at)
{
    if (++at.stage == STAGES) {
        at.stage = 0;
        at.parity ^= 1;
    }
}

/* A warp has read a stage: tell every block of the cluster, since all of them write to it. */
template <int CLUSTER>
static __device__ __forceinline__ void imma_give_back(uint32_t empty, int stage, int lane)
{
    if (CLUSTER == 1 && lane == 0) hopper_barrier_arrive(empty + 8 * stage);
    if (CLUSTER > 1 && lane < CLUSTER) hopper_barrier_arrive(empty + 8 * stage, lane);
}

/* The sums of one tile, by a warpgroup, from a ring of stages whose barriers say when one is
 * `full` and, to those who fill it, when it is `empty`. One batch of products is always in
 * flight, so a stage is released when the batch of the next one has been started. */
template <int STAGES, int CLUSTER>
static __device__ __forceinline__ void imma_tile_sums(int32_t (&sum)[128], int stages,
                                                      const char *ring, int group, uint32_t full,
                                                      uint32_t empty, struct imma_cursor &at,
                                                      int lane)
{
    int before = 0;
    for (int step = 0; step < stages; step++) {
        hopper_barrier_wait(full + 8 * at.stage, at.parity);
        imma_stage(sum, ring + at.stage * IMMA_STAGE_BYTES, group, step > 0);
        imma_wait<1>();
        if (step > 0) imma_give_back<CLUSTER>(empty, before, lane);
        before = at.stage;
        imma_advance<STAGES>(at);
    }
    imma_wait<0>();
    imma_pin(sum);
    imma_give_back<CLUSTER>(empty, before, lane);
}

#endif
