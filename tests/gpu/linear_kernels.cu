/*
 * linear_kernels.cu - every kernel of linear_wgmma.cuh as a variant of its own, in whole tiles and
 * with tiles divided along k, every division of linear_skinny.h, every tile of linear_swapped.h,
 * linear_pair.h and linear_fp32.h, so that all of them can be checked at any shape and compared;
 * `best` shows one. Built into the program by hand:
 *
 *   make EXTRA=tests/gpu/linear_kernels.cu BUILD=build/every
 *   build/every/assay run --check tests/gpu/odd_gpt_linear_kernels.ini
 */
#include <stdlib.h>

#include "kernels/gpt/linear/linear.cuh"
#include "kernels/gpt/linear/linear_fp32.h"
#include "kernels/gpt/linear/linear_pair.h"
#include "kernels/gpt/linear/linear_skinny.h"
#include "kernels/gpt/linear/linear_split.h"
#include "kernels/gpt/linear/linear_swapped.h"
#include "kernels/gpt/linear/linear_wgmma_kernels.h"

struct state {
    struct tile_parts parts;
    struct linear_split split; /* in fp32 */
    struct linear_wgmma *product;
};

static const struct lwg_kernel *find(enum gpt_precision precision, int columns, int cluster,
                                     bool turns)
{
    const struct lwg_kernels all = lwg_kernels_of(precision);
    for (int i = 0; i < all.count; i++) {
        const struct lwg_kernel *kernel = &all.kernel[i];
        if (kernel->columns == columns && kernel->cluster == cluster && kernel->turns == turns)
            return kernel;
    }
    return NULL;
}

template <int COLUMNS, int CLUSTER, bool TURNS, enum linear_parts_how DIVIDE>
static int setup(struct assay_call *call)
{
    enum gpt_precision precision = (enum gpt_precision)call->shape->value[LINEAR_PRECISION];
    struct state *state = (struct state *)calloc(1, sizeof *state);
    struct linear_operands operands;
    call->state = state;
    if (!state) return assay_error("out of memory");
    const struct lwg_kernel *kernel = find(precision, COLUMNS, CLUSTER, TURNS);
    if (!kernel) {
        (void)assay_error("no such kernel of this type");
        return ASSAY_SKIP;
    }
    const struct lwg_how how = {DIVIDE, &state->parts};
    int status = DIVIDE != LINEAR_WHOLE ? tile_parts_init(&state->parts, call) : 0;
    if (status) return status;
    if (linear_begin(call, NULL, &operands) < 0) return -1;
    if (precision == GPT_FP32) {
        status = linear_split_init(&state->split, &operands, call);
        if (status) return status;
        operands = state->split.parts;
    }
    if (linear_wgmma_make(&state->product, kernel, &operands, &how) < 0) return -1;
    if (DIVIDE == LINEAR_WHOLE || linear_wgmma_divided(state->product)) return 0;
    (void)assay_error("nothing to divide");
    return ASSAY_SKIP;
}

static int launch(struct assay_call *call)
{
    const struct state *state = (const struct state *)call->state;
    cudaStream_t stream = (cudaStream_t)call->stream;
    if (state->split.memory && linear_split_enqueue(&state->split, stream) < 0) return -1;
    if (linear_wgmma_enqueue(state->product, stream) < 0) return -1;
    return linear_end(call);
}

static void teardown(struct assay_call *call)
{
    struct state *state = (struct state *)call->state;
    if (!state) return;
    linear_wgmma_release(state->product);
    linear_split_release(&state->split);
    cudaFree(state->parts.sums);
    free(state);
}

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[LINEAR_WEIGHT] != LINEAR_DIRECT) return "w as it lies only";
    if (shape->value[LINEAR_PRECISION] != GPT_FP32) return linear_unaligned(shape);
    return shape->value[LINEAR_K] < LINEAR_SPLIT_LEAST ? "k is less than 64" : NULL;
}

template <int DIVISION> static int setup_skinny(struct assay_call *call)
{
    enum gpt_precision precision = (enum gpt_precision)call->shape->value[LINEAR_PRECISION];
    struct linear_skinny *product = (struct linear_skinny *)calloc(1, sizeof *product);
    struct linear_operands operands;
    call->state = product;
    if (!product) return assay_error("out of memory");
    if (linear_begin(call, NULL, &operands) < 0) return -1;
    return linear_skinny_init(product, DIVISION, &operands, precision) ? ASSAY_SKIP : 0;
}

static int launch_skinny(struct assay_call *call)
{
    const struct linear_skinny *product = (const struct linear_skinny *)call->state;
    if (linear_skinny_enqueue(product, (cudaStream_t)call->stream) < 0) return -1;
    return linear_end(call);
}

static void teardown_skinny(struct assay_call *call)
{
    free(call->state);
}

static const char *supports_skinny(const struct assay_shape *shape)
{
    if (shape->value[LINEAR_PRECISION] == GPT_FP32) return "tf32 and bf16 only";
    return shape->value[LINEAR_WEIGHT] == LINEAR_DIRECT ? NULL : "w as it lies only";
}

struct swapped_state {
    struct linear_swapped product;
    struct tile_parts sums;
};

template <int TILE, int NARROW, int PARTS, bool SHARES, bool APART, bool TURNS>
static int setup_swapped(struct assay_call *call)
{
    static_assert(TILE < LINEAR_SWAPPED_TILES, "a tile");
    enum gpt_precision precision = (enum gpt_precision)call->shape->value[LINEAR_PRECISION];
    struct swapped_state *state =
        (struct swapped_state *)aligned_alloc(alignof(struct swapped_state), sizeof *state);
    struct linear_operands operands;
    call->state = state;
    if (!state) return assay_error("out of memory");
    int status = tile_parts_init(&state->sums, call);
    if (status) return status;
    if (linear_begin(call, NULL, &operands) < 0) return -1;
    const struct linear_swapped_how how = {TILE, NARROW, PARTS, SHARES, APART, TURNS};
    return linear_swapped_make(&state->product, &how, &operands, precision, &state->sums)
               ? ASSAY_SKIP
               : 0;
}

static int launch_swapped(struct assay_call *call)
{
    const struct swapped_state *state = (const struct swapped_state *)call->state;
    if (linear_swapped_enqueue(&state->product, (cudaStream_t)call->stream) < 0) return -1;
    return linear_end(call);
}

static void teardown_swapped(struct assay_call *call)
{
    struct swapped_state *state = (struct swapped_state *)call->state;
    if (state) cudaFree(state->sums.sums);
    free(state);
}

template <int TILE, enum linear_pair_share SHARE> static int setup_pair(struct assay_call *call)
{
    static_assert(TILE < LINEAR_PAIR_TILES, "a tile");
    enum gpt_precision precision = (enum gpt_precision)call->shape->value[LINEAR_PRECISION];
    struct linear_pair *product =
        (struct linear_pair *)aligned_alloc(alignof(struct linear_pair), sizeof *product);
    struct linear_operands operands;
    call->state = product;
    if (!product) return assay_error("out of memory");
    if (linear_begin(call, NULL, &operands) < 0) return -1;
    const struct linear_pair_how how = {TILE, SHARE};
    if (linear_pair_make(product, &how, &operands, precision) < 0) return ASSAY_SKIP;
    linear_pair_name(product, call->note, sizeof call->note);
    return 0;
}

static int launch_pair(struct assay_call *call)
{
    const struct linear_pair *product = (const struct linear_pair *)call->state;
    if (linear_pair_enqueue(product, (cudaStream_t)call->stream) < 0) return -1;
    return linear_end(call);
}

static const char *supports_pair(const struct assay_shape *shape)
{
    if (gpt_bytes(shape->value[LINEAR_PRECISION]) != 2) return "bf16 and fp16 only";
    return supports(shape);
}

struct fp32_state {
    struct tile_parts parts;
    struct linear_fp32 product;
};

/* CLUSTER 1: tiles divided as HOW says. */
template <int TILING, enum linear_parts_how HOW, int CLUSTER>
static int setup_fp32(struct assay_call *call)
{
    struct fp32_state *state = (struct fp32_state *)calloc(1, sizeof *state);
    struct linear_operands operands;
    call->state = state;
    if (!state) return assay_error("out of memory");
    if (linear_begin(call, NULL, &operands) < 0) return -1;
    int status = CLUSTER == 1 ? tile_parts_init(&state->parts, call) : 0;
    if (status) return status;
    if (CLUSTER > 1)
        status = linear_fp32_init_clusters(&state->product, TILING, CLUSTER, &operands);
    else
        status = linear_fp32_init(&state->product, TILING, HOW, &operands, &state->parts);
    return status ? ASSAY_SKIP : 0;
}

static int launch_fp32(struct assay_call *call)
{
    const struct fp32_state *state = (const struct fp32_state *)call->state;
    if (linear_fp32_enqueue(&state->product, (cudaStream_t)call->stream) < 0) return -1;
    return linear_end(call);
}

static void teardown_fp32(struct assay_call *call)
{
    struct fp32_state *state = (struct fp32_state *)call->state;
    if (state) cudaFree(state->parts.sums);
    free(state);
}

static const char *supports_fp32(const struct assay_shape *shape)
{
    if (shape->value[LINEAR_PRECISION] != GPT_FP32) return "fp32 only";
    return shape->value[LINEAR_WEIGHT] == LINEAR_DIRECT ? NULL : "w as it lies only";
}

#define OF_LINEAR(NAME, SUMMARY, ...)                                                              \
    static const struct assay_variant NAME = {                                                     \
        .operation = "linear",                                                                     \
        .name = #NAME,                                                                             \
        .summary = SUMMARY,                                                                        \
        .kind = ASSAY_KERNEL,                                                                      \
        .place = ASSAY_CUDA,                                                                       \
        __VA_ARGS__,                                                                               \
    };                                                                                             \
    ASSAY_REGISTER_VARIANT(NAME)
/* WGMMA's own card. */
#define HOPPER .min_sm = 90, .max_sm = 90, .arch_specific = true, .supports = supports

#define SWAPPED_AS(NAME, TILE, NARROW, PARTS, SHARES, APART, TURNS)                                \
    OF_LINEAR(NAME, "one tile of linear_swapped.h", HOPPER,                                        \
              .setup = setup_swapped<TILE, NARROW, PARTS, SHARES, APART, TURNS>,                   \
              .launch = launch_swapped, .teardown = teardown_swapped)
#define SWAPPED(NAME, TILE, NARROW, PARTS)                                                         \
    SWAPPED_AS(NAME, TILE, NARROW, PARTS, false, false, false)
#define SHARED(NAME, TILE, NARROW)       SWAPPED_AS(NAME, TILE, NARROW, 1, true, false, false)
#define APART(NAME, TILE, NARROW, PARTS) SWAPPED_AS(NAME, TILE, NARROW, PARTS, false, true, false)
#define TURNS(NAME, TILE, NARROW)        SWAPPED_AS(NAME, TILE, NARROW, 1, false, false, true)
#define PAIR(NAME, TILE, SHARE)                                                                    \
    OF_LINEAR(NAME, "one tile of linear_pair.h", .min_sm = 90, .max_sm = 90,                       \
              .arch_specific = true, .supports = supports_pair, .setup = setup_pair<TILE, SHARE>,  \
              .launch = launch_pair, .teardown = teardown_skinny)
#define FP32(NAME, TILING, HOW, CLUSTER)                                                           \
    OF_LINEAR(NAME, "one tile of linear_fp32.h", .supports = supports_fp32,                        \
              .setup = setup_fp32<TILING, HOW, CLUSTER>, .launch = launch_fp32,                    \
              .teardown = teardown_fp32)
#define SKINNY(NAME, DIVISION)                                                                     \
    OF_LINEAR(NAME, "one division of linear_skinny.h", .min_sm = 80, .supports = supports_skinny,  \
              .setup = setup_skinny<DIVISION>, .launch = launch_skinny,                            \
              .teardown = teardown_skinny)
#define KERNEL(NAME, COLUMNS, CLUSTER, TURNS, DIVIDE)                                              \
    OF_LINEAR(NAME, "one kernel of linear_wgmma.cuh", HOPPER,                                      \
              .setup = setup<COLUMNS, CLUSTER, TURNS, DIVIDE>, .launch = launch,                   \
              .teardown = teardown)

KERNEL(k256_4, 256, 4, false, LINEAR_WHOLE);
KERNEL(k256_4_alike, 256, 4, false, LINEAR_ALIKE);
KERNEL(k256_4_divided, 256, 4, false, LINEAR_EVENLY);
KERNEL(k256_3, 256, 3, false, LINEAR_WHOLE);
KERNEL(k256_3_alike, 256, 3, false, LINEAR_ALIKE);
KERNEL(k256_3_divided, 256, 3, false, LINEAR_EVENLY);
KERNEL(k256_2, 256, 2, false, LINEAR_WHOLE);
KERNEL(k256_2_alike, 256, 2, false, LINEAR_ALIKE);
KERNEL(k256_2_divided, 256, 2, false, LINEAR_EVENLY);
KERNEL(k256_1, 256, 1, false, LINEAR_WHOLE);
KERNEL(k256_1_divided, 256, 1, false, LINEAR_EVENLY);
KERNEL(k192_2_turns, 192, 2, true, LINEAR_WHOLE);
KERNEL(k192_2, 192, 2, false, LINEAR_WHOLE);
KERNEL(k192_2_alike, 192, 2, false, LINEAR_ALIKE);
KERNEL(k192_2_divided, 192, 2, false, LINEAR_EVENLY);
KERNEL(k192_3, 192, 3, false, LINEAR_WHOLE);
KERNEL(k192_3_alike, 192, 3, false, LINEAR_ALIKE);
KERNEL(k192_3_divided, 192, 3, false, LINEAR_EVENLY);
KERNEL(k192_1, 192, 1, false, LINEAR_WHOLE);
KERNEL(k192_1_divided, 192, 1, false, LINEAR_EVENLY);
KERNEL(k128_2_turns, 128, 2, true, LINEAR_WHOLE);
KERNEL(k128_2, 128, 2, false, LINEAR_WHOLE);
KERNEL(k128_2_divided, 128, 2, false, LINEAR_EVENLY);
KERNEL(k128_1, 128, 1, false, LINEAR_WHOLE);
KERNEL(k128_1_alike, 128, 1, false, LINEAR_ALIKE);
KERNEL(k128_1_divided, 128, 1, false, LINEAR_EVENLY);
KERNEL(k128_2_alike, 128, 2, false, LINEAR_ALIKE);
KERNEL(k96_1, 96, 1, false, LINEAR_WHOLE);
KERNEL(k96_1_alike, 96, 1, false, LINEAR_ALIKE);
KERNEL(k96_1_divided, 96, 1, false, LINEAR_EVENLY);
KERNEL(k64_1, 64, 1, false, LINEAR_WHOLE);
KERNEL(k64_1_alike, 64, 1, false, LINEAR_ALIKE);
KERNEL(k64_1_divided, 64, 1, false, LINEAR_EVENLY);

SKINNY(ks16_1, 0);
SKINNY(ks16_2, 1);
SKINNY(ks16_4, 2);
SKINNY(ks16_8, 3);
SKINNY(ks32_1, 4);
SKINNY(ks32_2, 5);
SKINNY(ks32_4, 6);
SKINNY(ks32_8, 7);

SWAPPED(kw0_1, 0, 0, 1);
SWAPPED(kw0_4, 0, 0, 4);
SWAPPED(kw1_1, 1, 0, 1);
SWAPPED(kw2_1, 2, 0, 1);
SWAPPED(kw2_4, 2, 0, 4);
SWAPPED(kw3_1, 3, 0, 1);
SWAPPED(kw4_1, 4, 0, 1);
SWAPPED(kw5_1, 5, 0, 1);
SWAPPED(kw5_4, 5, 0, 4);
SWAPPED(kw6_1, 6, 0, 1);
SWAPPED(kw7_1, 7, 0, 1);
SWAPPED(kw8_1, 8, 0, 1);
SWAPPED(kw8_4, 8, 0, 4);
SWAPPED(kw9_1, 9, 0, 1);
SWAPPED(kw10_1, 10, 0, 1);
SWAPPED(kw11_1, 11, 0, 1);
SWAPPED(kw12_1, 12, 0, 1);
SWAPPED(kw12_4, 12, 0, 4);
SWAPPED(kw13_1, 13, 0, 1);
SWAPPED(kw13_4, 13, 0, 4);
SWAPPED(kw14_1, 14, 0, 1);
SWAPPED(kw15_1, 15, 0, 1);
SWAPPED(kw16_1, 16, 0, 1);
SWAPPED(kw17_1, 17, 0, 1);
SWAPPED(kw18_1, 18, 0, 1);
SWAPPED(kw19_1, 19, 0, 1);
SWAPPED(kw20_1, 20, 0, 1);
SWAPPED(kw21_1, 21, 0, 1);
SWAPPED(kw22_1, 22, 0, 1);
SWAPPED(kw23_1, 23, 0, 1);
SWAPPED(kw24_1, 24, 0, 1);
SWAPPED(kw25_1, 25, 0, 1);
SWAPPED(kw25_2, 25, 0, 2);
/* Narrower tiles. */
SWAPPED(kw0_1_48, 0, 16, 1);
SWAPPED(kw0_4_48, 0, 16, 4);
SWAPPED(kw2_1_48, 2, 16, 1);
SWAPPED(kw2_8_16, 2, 48, 8);
SWAPPED(kw5_1_112, 5, 16, 1);
SWAPPED(kw6_1_80, 6, 48, 1);
SWAPPED(kw3_1_32, 3, 32, 1);
SWAPPED(kw7_1_80, 7, 48, 1);
SWAPPED(kw11_1_144, 11, 48, 1);
SWAPPED(kw18_1_160, 18, 32, 1);
SWAPPED(kw11_2_144, 11, 48, 2);
/* Two blocks share rows of w. */
SHARED(kw2_w, 2, 0);
SHARED(kw3_w, 3, 0);
SHARED(kw4_w, 4, 0);
SHARED(kw7_w, 7, 0);
SHARED(kw8_w, 8, 0);
SHARED(kw11_w, 11, 0);
SHARED(kw12_w, 12, 0);
SHARED(kw17_w, 17, 0);
SHARED(kw18_w, 18, 0);
SHARED(kw19_w, 19, 0);
SHARED(kw25_w, 25, 0);
SHARED(kw7_80_w, 7, 48);
/* Blocks that stay. */
TURNS(kt8, 8, 0);
TURNS(kt9, 9, 0);
TURNS(kt10, 10, 0);
TURNS(kt11, 11, 0);
TURNS(kt12, 12, 0);
TURNS(kt17, 17, 0);
TURNS(kt18, 18, 0);
TURNS(kt19, 19, 0);
TURNS(kt23, 23, 0);
TURNS(kt24, 24, 0);
TURNS(kt25, 25, 0);
TURNS(kt26, 26, 0);
TURNS(kt27, 27, 0);
TURNS(kt28, 28, 0);
TURNS(kt29, 29, 0);
TURNS(kt30, 30, 0);
TURNS(kt18_160, 18, 32);
APART(kw1_5_apart, 1, 0, 5);
APART(kw3_16_apart, 3, 0, 16);
APART(kw8_3_apart, 8, 0, 3);
APART(kw12_7_144_apart, 12, 48, 7);
APART(kw14_6_apart, 14, 0, 6);
APART(kw21_12_48_apart, 21, 16, 12);
SWAPPED(kw13_1_48, 13, 16, 1);
SWAPPED(kw14_1_32, 14, 32, 1);
SWAPPED(kw16_2_48, 16, 16, 2);

/* Every tile of linear_pair.h, with some of what its blocks may share. */
PAIR(kp0, 0, LINEAR_PAIR_NONE);
PAIR(kp0_w, 0, LINEAR_PAIR_W);
PAIR(kp0_x, 0, LINEAR_PAIR_X);
PAIR(kp0_w2x4, 0, LINEAR_PAIR_W2_X4);
PAIR(kp1, 1, LINEAR_PAIR_NONE);
PAIR(kp1_w, 1, LINEAR_PAIR_W);
PAIR(kp1_w2x4, 1, LINEAR_PAIR_W2_X4);
PAIR(kp2, 2, LINEAR_PAIR_NONE);
PAIR(kp2_w, 2, LINEAR_PAIR_W);
PAIR(kp3, 3, LINEAR_PAIR_NONE);
PAIR(kp3_w2x4, 3, LINEAR_PAIR_W2_X4);
PAIR(kp4, 4, LINEAR_PAIR_NONE);
PAIR(kp4_w, 4, LINEAR_PAIR_W);
PAIR(kp5, 5, LINEAR_PAIR_NONE);
PAIR(kp5_w4, 5, LINEAR_PAIR_W4);
PAIR(kp5_x4, 5, LINEAR_PAIR_X4);
PAIR(kp5_w4x2, 5, LINEAR_PAIR_W4_X2);
PAIR(kp6, 6, LINEAR_PAIR_NONE);
PAIR(kp6_w2x4, 6, LINEAR_PAIR_W2_X4);
PAIR(kp7, 7, LINEAR_PAIR_NONE);
PAIR(kp7_w4, 7, LINEAR_PAIR_W4);
PAIR(kp7_x4, 7, LINEAR_PAIR_X4);
PAIR(kp7_w4x2, 7, LINEAR_PAIR_W4_X2);
PAIR(kp8, 8, LINEAR_PAIR_NONE);
PAIR(kp8_w, 8, LINEAR_PAIR_W);
PAIR(kp9, 9, LINEAR_PAIR_NONE);
PAIR(kp10, 10, LINEAR_PAIR_NONE);
PAIR(kp11_w, 11, LINEAR_PAIR_W);
PAIR(kp12, 12, LINEAR_PAIR_NONE);
PAIR(kp12_w4, 12, LINEAR_PAIR_W4);
PAIR(kp13, 13, LINEAR_PAIR_NONE);
PAIR(kp14, 14, LINEAR_PAIR_NONE);
PAIR(kp14_x, 14, LINEAR_PAIR_X);

FP32(kf0_divided, 0, LINEAR_EVENLY, 1);
FP32(kf0_alike, 0, LINEAR_ALIKE, 1);
FP32(kf0_cluster, 0, LINEAR_WHOLE, 4);
FP32(kf1_divided, 1, LINEAR_EVENLY, 1);
FP32(kf1_alike, 1, LINEAR_ALIKE, 1);
FP32(kf1_cluster, 1, LINEAR_WHOLE, 4);
FP32(kf2_divided, 2, LINEAR_EVENLY, 1);
FP32(kf2_alike, 2, LINEAR_ALIKE, 1);
FP32(kf2_cluster, 2, LINEAR_WHOLE, 4);
FP32(kf3_divided, 3, LINEAR_EVENLY, 1);
FP32(kf3_alike, 3, LINEAR_ALIKE, 1);
FP32(kf3_cluster, 3, LINEAR_WHOLE, 4);
FP32(kf4_divided, 4, LINEAR_EVENLY, 1);
FP32(kf4_alike, 4, LINEAR_ALIKE, 1);
FP32(kf4_cluster, 4, LINEAR_WHOLE, 4);
FP32(kf5_divided, 5, LINEAR_EVENLY, 1);
FP32(kf5_alike, 5, LINEAR_ALIKE, 1);
FP32(kf5_cluster, 5, LINEAR_WHOLE, 4);
