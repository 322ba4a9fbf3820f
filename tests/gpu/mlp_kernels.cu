/*
 * mlp_kernels.cu - mlp whose first product is a given one of those that linear_choice.h chooses
 * among, so that every kernel that finishes with gelu can be checked: all of linear_swapped.h,
 * linear_skinny.h, linear_fp32.h and linear_rows.cu, and some of linear_pair.h. The second product
 * has tiles of 128 x 128, or in fp32 of 32 x 32. Built into the program by hand:
 *
 *   make EXTRA=tests/gpu/mlp_kernels.cu BUILD=build/every
 *   build/every/assay run --check tests/gpu/odd_mlp_kernels.ini
 */
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/device_memory.h"
#include "kernels/gpt/linear/linear_fp32.h"
#include "kernels/gpt/linear/linear_pair.h"
#include "kernels/gpt/linear/linear_products.h"
#include "kernels/gpt/linear/linear_skinny.h"
#include "kernels/gpt/linear/linear_swapped.h"

struct state {
    void *h;
    struct tile_parts parts;
    struct linear_operands first, second;
    struct linear_swapped swapped;
    struct linear_pair pair;
    struct linear_skinny skinny;
    struct linear_fp32 tiles;
};

/* 0; or -1 where the kernel does not take the shape. */
typedef int make_first(struct state *state, enum gpt_precision precision);
typedef int enqueue_first(const struct state *state, enum gpt_precision precision,
                          cudaStream_t stream);

template <int TILE, int PARTS, bool SHARES, bool APART, bool TURNS>
static int make_swapped(struct state *state, enum gpt_precision precision)
{
    static_assert(TILE < LINEAR_SWAPPED_TILES, "a tile");
    const struct linear_swapped_how how = {TILE, 0, PARTS, SHARES, APART, TURNS};
    if (precision == GPT_FP32 || !assay_card()->arch_specific) return assay_error("no wgmma");
    if (state->first.k * gpt_bytes(precision) % 16) return assay_error("rows are not aligned");
    return linear_swapped_make(&state->swapped, &how, &state->first, precision, &state->parts);
}

static int enqueue_swapped(const struct state *state, enum gpt_precision, cudaStream_t stream)
{
    return linear_swapped_enqueue(&state->swapped, stream);
}

template <int TILE, enum linear_pair_share SHARE>
static int make_pair(struct state *state, enum gpt_precision precision)
{
    static_assert(TILE < LINEAR_PAIR_TILES, "a tile");
    const struct linear_pair_how how = {TILE, SHARE};
    if (gpt_bytes(precision) != 2 || !assay_card()->arch_specific) return assay_error("no tile");
    return linear_pair_make(&state->pair, &how, &state->first, precision);
}

static int enqueue_pair(const struct state *state, enum gpt_precision, cudaStream_t stream)
{
    return linear_pair_enqueue(&state->pair, stream);
}

template <int DIVISION> static int make_skinny(struct state *state, enum gpt_precision precision)
{
    if (precision == GPT_FP32) return assay_error("not for fp32");
    return linear_skinny_init(&state->skinny, DIVISION, &state->first, precision);
}

static int enqueue_skinny(const struct state *state, enum gpt_precision, cudaStream_t stream)
{
    return linear_skinny_enqueue(&state->skinny, stream);
}

/* CLUSTER 1: tiles divided as HOW says. */
template <int TILING, enum linear_parts_how HOW, int CLUSTER>
static int make_fp32(struct state *state, enum gpt_precision precision)
{
    if (precision != GPT_FP32) return assay_error("for fp32 only");
    if (CLUSTER > 1)
        return linear_fp32_init_clusters(&state->tiles, TILING, CLUSTER, &state->first);
    return linear_fp32_init(&state->tiles, TILING, HOW, &state->first, &state->parts);
}

static int enqueue_fp32(const struct state *state, enum gpt_precision, cudaStream_t stream)
{
    return linear_fp32_enqueue(&state->tiles, stream);
}

template <int LOG_WARPS> static int make_rows(struct state *state, enum gpt_precision precision)
{
    if (state->first.m > LINEAR_ROWS_MOST) return assay_error("too many rows");
    return LOG_WARPS < linear_rows_ways(&state->first, precision) ? 0 : assay_error("k is short");
}

template <int LOG_WARPS>
static int enqueue_rows(const struct state *state, enum gpt_precision precision,
                        cudaStream_t stream)
{
    return linear_rows(&state->first, precision, LOG_WARPS, stream);
}

static void set_operands(struct state *state, const struct assay_call *call)
{
    const int64_t m = call->shape->value[MLP_M], c = call->shape->value[MLP_C];
    void *const *buffer = call->buffer;
    state->first = {buffer[MLP_X], buffer[MLP_W1], buffer[MLP_B1], state->h, m, 4 * c, c, c, false};
    state->first.finish = LINEAR_GELU;
    state->second = {state->h, buffer[MLP_W2], buffer[MLP_B2], buffer[MLP_Y], m,
                     c,        4 * c,          4 * c,          false};
}

template <make_first MAKE> static int setup(struct assay_call *call)
{
    const enum gpt_precision precision = (enum gpt_precision)call->shape->value[MLP_PRECISION];
    const int64_t hidden = 4 * call->shape->value[MLP_M] * call->shape->value[MLP_C];
    struct state *state = (struct state *)aligned_alloc(alignof(struct state), sizeof *state);
    call->state = state;
    if (!state) return assay_error("out of memory");
    memset(state, 0, sizeof *state);
    int status = device_memory(call, &state->h, hidden * gpt_bytes(precision), "the hidden layer");
    if (status == 0) status = tile_parts_init(&state->parts, call);
    if (status) return status;
    set_operands(state, call);
    if (linear_128_allow() < 0) return -1;
    return MAKE(state, precision) < 0 ? ASSAY_SKIP : 0;
}

template <enqueue_first ENQUEUE> static int launch(struct assay_call *call)
{
    static int (*const seconds[])(const struct linear_operands *, cudaStream_t) = {
        linear_smem32, linear_tf32_128, linear_bf16_128, linear_fp16_128};
    const enum gpt_precision precision = (enum gpt_precision)call->shape->value[MLP_PRECISION];
    const struct state *state = (const struct state *)call->state;
    if (ENQUEUE(state, precision, (cudaStream_t)call->stream) < 0) return -1;
    return seconds[precision](&state->second, (cudaStream_t)call->stream);
}

static void teardown(struct assay_call *call)
{
    struct state *state = (struct state *)call->state;
    if (!state) return;
    cudaFree(state->h);
    cudaFree(state->parts.sums);
    free(state);
}

/* Of the second product; the first may have any c. */
static const char *supports(const struct assay_shape *shape)
{
    const int64_t type = shape->value[MLP_PRECISION];
    if (type == GPT_FP32) return NULL;
    return 4 * shape->value[MLP_C] * gpt_bytes(type) % 16 ? "rows of 4 c are not aligned" : NULL;
}

#define OF_MLP(NAME, MAKE, ENQUEUE)                                                                \
    static const struct assay_variant NAME = {                                                     \
        .operation = "mlp",                                                                        \
        .name = #NAME,                                                                             \
        .summary = "one kernel that finishes with gelu",                                           \
        .kind = ASSAY_KERNEL,                                                                      \
        .place = ASSAY_CUDA,                                                                       \
        .min_sm = 80,                                                                              \
        .supports = supports,                                                                      \
        .shared_bytes = linear_128_shared_bytes,                                                   \
        .setup = setup<MAKE>,                                                                      \
        .launch = launch<ENQUEUE>,                                                                 \
        .teardown = teardown,                                                                      \
    };                                                                                             \
    ASSAY_REGISTER_VARIANT(NAME)
#define SWAPPED(NAME, ...) OF_MLP(NAME, (make_swapped<__VA_ARGS__>), enqueue_swapped)
#define WHOLE(NAME, TILE)  SWAPPED(NAME, TILE, 1, false, false, false)
#define STAYS(NAME, TILE)  SWAPPED(NAME, TILE, 1, false, false, true)
#define FP32(NAME, ...)    OF_MLP(NAME, (make_fp32<__VA_ARGS__>), enqueue_fp32)

WHOLE(gw0, 0);
WHOLE(gw1, 1);
WHOLE(gw2, 2);
WHOLE(gw3, 3);
WHOLE(gw4, 4);
WHOLE(gw5, 5);
WHOLE(gw6, 6);
WHOLE(gw7, 7);
WHOLE(gw8, 8);
WHOLE(gw9, 9);
WHOLE(gw10, 10);
WHOLE(gw11, 11);
WHOLE(gw12, 12);
WHOLE(gw13, 13);
WHOLE(gw14, 14);
WHOLE(gw15, 15);
WHOLE(gw16, 16);
WHOLE(gw17, 17);
WHOLE(gw18, 18);
WHOLE(gw19, 19);
WHOLE(gw20, 20);
WHOLE(gw21, 21);
WHOLE(gw22, 22);
WHOLE(gw23, 23);
WHOLE(gw24, 24);
WHOLE(gw25, 25);
STAYS(gt8, 8);
STAYS(gt9, 9);
STAYS(gt10, 10);
STAYS(gt11, 11);
STAYS(gt12, 12);
STAYS(gt17, 17);
STAYS(gt18, 18);
STAYS(gt19, 19);
STAYS(gt23, 23);
STAYS(gt24, 24);
STAYS(gt25, 25);
STAYS(gt26, 26);
STAYS(gt27, 27);
STAYS(gt28, 28);
STAYS(gt29, 29);
STAYS(gt30, 30);
SWAPPED(gw0_4, 0, 4, false, false, false);
SWAPPED(gw12_2, 12, 2, false, false, false);
SWAPPED(gw14_4, 14, 4, false, false, false);
SWAPPED(gw4_w, 4, 1, true, false, false);
SWAPPED(gw19_w, 19, 1, true, false, false);
SWAPPED(gw3_3_apart, 3, 3, false, true, false);
SWAPPED(gw14_3_apart, 14, 3, false, true, false);

OF_MLP(gp1, (make_pair<1, LINEAR_PAIR_NONE>), enqueue_pair);
OF_MLP(gp5_w4, (make_pair<5, LINEAR_PAIR_W4>), enqueue_pair);
OF_MLP(gp7_x4, (make_pair<7, LINEAR_PAIR_X4>), enqueue_pair);
OF_MLP(gp12, (make_pair<12, LINEAR_PAIR_NONE>), enqueue_pair);

OF_MLP(gs16_1, make_skinny<0>, enqueue_skinny);
OF_MLP(gs16_4, make_skinny<2>, enqueue_skinny);
OF_MLP(gs32_1, make_skinny<4>, enqueue_skinny);
OF_MLP(gs32_8, make_skinny<7>, enqueue_skinny);

FP32(gf0, 0, LINEAR_EVENLY, 1);
FP32(gf1, 1, LINEAR_EVENLY, 1);
FP32(gf2, 2, LINEAR_EVENLY, 1);
FP32(gf3, 3, LINEAR_EVENLY, 1);
FP32(gf4, 4, LINEAR_EVENLY, 1);
FP32(gf5, 5, LINEAR_EVENLY, 1);
FP32(gf0_alike, 0, LINEAR_ALIKE, 1);
FP32(gf4_alike, 4, LINEAR_ALIKE, 1);
FP32(gf1_4, 1, LINEAR_WHOLE, 4);
FP32(gf5_4, 5, LINEAR_WHOLE, 4);

OF_MLP(gr0, make_rows<0>, enqueue_rows<0>);
OF_MLP(gr1, make_rows<1>, enqueue_rows<1>);
OF_MLP(gr3, make_rows<3>, enqueue_rows<3>);
