/*
 * weight.cuh - what weight_only_linear's kernels on tensor cores share: their arguments, sums of
 * parts of K added up, and the choice and preparation on the host (weight.cu). Codewords are
 * decoded by weight_decode.cuh.
 *
 * A kernel's block x does slice x % slices of K; block y does 8 row_tiles rows of X. The table of
 * codewords is in shared memory, and X behind it, or X alone. A block's teams (a warp or a
 * warpgroup) take groups of columns.
 */
#pragma once

#include "kernels/cuda/ampere.cuh"
#include "kernels/cuda/half.cuh"
#include "weight_decode.cuh"
#include "weight_only.h"
#include "weight_tiles.h"

/* Units of codes that a lane holds ahead of their use. K is filled up to a multiple of so many. */
enum { WEIGHT_AHEAD = 4 };

struct weight_args {
    const uint4 *table, *codes;
    const uint16_t *x;
    uint4 *arranged; /* X as the kernel's arrange() leaves it */
    uint16_t *c;
    float4 *sums;  /* [y, warp's columns][part][register / 4][lane] */
    int *finished; /* [y, warp's columns]: parts that are in `sums`; 0 between launches */
    int64_t rows, k, columns, groups;
    int slices, slice_units, most_parts;
    float scale;
    struct weight_constants constants;
};

/* ------------------------------------------------------------- on the host -- */

struct weight_kernel {
    void (*function)(struct weight_args);
    int row_tiles, teams, team_threads;
    int tiles;         /* of 16 columns: a team's group */
    int other_threads; /* of a block, behind those of its teams */

    /* Before it, a thread per 16 entries of X, whole row tiles; NULL: the kernel reads X. The
     * kernel may start meanwhile (dependent_launch.cuh). */
    void (*arrange)(struct weight_args, int64_t threads, int64_t chunks);

    /* Of X in shared memory, or 0: all rows of a slice, and then warps share columns and K evenly.
     * Otherwise blocks do. */
    int x_bytes;

    bool cached; /* the table stays in device memory, and is read through L1 */
};

/* The kernels of one variant for codes of one level or two, those for few rows first; behind them
 * one without a function. */
enum { WEIGHT_KERNELS = 5 };
typedef const struct weight_kernel *weight_kernels(int levels);

/* Signatures of assay_variant, but for the kernels. */
const char *weight_unsupported(const struct assay_shape *shape);
int64_t weight_shared_bytes(const struct assay_shape *shape, weight_kernels *kernels);
int weight_setup(struct assay_call *call, weight_kernels *kernels);
int weight_launch(struct assay_call *call, weight_kernels *kernels);
void weight_teardown(struct assay_call *call);

/* ------------------------------------------------------------------- sums -- */

/* A warp has the sums of part `part` of K for columns number `which`. True in the warp that comes
 * last, which then has the sums of all parts, added in their order. */
template <int COUNT>
static __device__ __forceinline__ bool weight_add_parts(const struct weight_args &args,
                                                        int64_t which, int part, int parts,
                                                        float (&sum)[COUNT])
{
    if (parts == 1) return true;
    int lane = threadIdx.x % 32, before = 0;
    float4 *at = args.sums + which * args.most_parts * (COUNT / 4 * 32) + lane;
#pragma unroll
    for (int i = 0; i < COUNT; i += 4)
        __stcg(at + (part * COUNT + i) / 4 * 32,
               make_float4(sum[i], sum[i + 1], sum[i + 2], sum[i + 3]));
    __threadfence();
    __syncwarp();
    if (lane == 0) before = atomicAdd(args.finished + which, 1);
    if (__shfl_sync(0xffffffffu, before, 0) + 1 < parts) return false;
    __threadfence();
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        sum[i] = 0;
    for (int p = 0; p < parts; p++)
#pragma unroll
        for (int i = 0; i < COUNT; i += 4) {
            float4 more = __ldcg(at + (p * COUNT + i) / 4 * 32);
            sum[i] += more.x;
            sum[i + 1] += more.y;
            sum[i + 2] += more.z;
            sum[i + 3] += more.w;
        }
    if (lane == 0) args.finished[which] = 0;
    return true;
}

static __device__ __forceinline__ void weight_store(const struct weight_args &args, int64_t row,
                                                    int64_t column, float sum)
{
    args.c[row * args.columns + column] = bf16_of(args.scale * sum);
}
