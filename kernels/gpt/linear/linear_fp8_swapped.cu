/*
 * linear_fp8_swapped.cu - `linear_fp8` on Hopper's tensor cores with rows of w as wgmma's rows and
 * rows of x as its columns: the kernels of linear_swapped.cuh, whose sums of a stage, 128 of k,
 * begin at zero and are added in fp32 (linear_swapped_stages.cuh).
 *
 * So w is read at the speed of memory, by blocks with up to 216 KiB under way, and rows of x come
 * in steps of 8 or 16. The tiles and divisions of k that are expected to be the fastest are timed
 * in setup. Registers bound the tiles: a thread has the sums of a stage beside those of its tile. A
 * warpgroup pauses while it adds the one to the other; the products of other warpgroups hide that.
 *
 * Operations: 2 m n k. Bytes from L2: w m / ROWS times, x n / COLUMNS times.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/cuda_trial.h"
#include "linear_fp8.h"
#include "linear_swapped_tile.cuh"

enum {
    TRIED = 32,  /* those with the least expected times */
    OTHERS = 12, /* registers of a thread that hold neither sums nor scales */
    LEAST = 64,  /* of any thread */
    LANE = 512,  /* of a lane of a quarter of a multiprocessor */
};

template <int ROWS, int GROUPS, bool BY_BLOCK_>
struct config : swapped_config<wgmma_e4m3, ROWS, GROUPS, true, LINEAR_PLAIN, uint16_t> {
    using base = swapped_config<wgmma_e4m3, ROWS, GROUPS, true, LINEAR_PLAIN, uint16_t>;
    static constexpr bool BY_STAGE = true, BY_BLOCK = BY_BLOCK_;
    static constexpr int HELD = OTHERS + ROWS + (BY_BLOCK ? ROWS / 4 : 0);
    static constexpr int REGISTERS = ((HELD > LEAST ? HELD : LEAST) + 7) / 8 * 8;
    static constexpr int TOGETHER = LANE / REGISTERS * 4 / (base::THREADS / 32);
    static constexpr int PAUSE = 300 + (BY_BLOCK ? 2 : 1) * ROWS;
    static_assert((int)base::DEPTH == (int)LFP8_GROUP, "a stage is a group");
};

/* Those that registers have no room for have no kernel. */
template <int ROWS, int GROUPS, bool BY_BLOCK> static constexpr struct swapped_tile tile(void)
{
    using of = config<ROWS, GROUPS, BY_BLOCK>;
    return swapped_tile_of<of, of::TOGETHER == 0>();
}

template <bool BY_BLOCK>
static constexpr struct swapped_tile tiles[] = {
    tile<8, 1, BY_BLOCK>(),   tile<16, 1, BY_BLOCK>(),  tile<32, 1, BY_BLOCK>(),
    tile<48, 1, BY_BLOCK>(),  tile<64, 1, BY_BLOCK>(),  tile<96, 1, BY_BLOCK>(),
    tile<128, 1, BY_BLOCK>(), tile<160, 1, BY_BLOCK>(), tile<192, 1, BY_BLOCK>(),
    tile<8, 2, BY_BLOCK>(),   tile<16, 2, BY_BLOCK>(),  tile<32, 2, BY_BLOCK>(),
    tile<48, 2, BY_BLOCK>(),  tile<64, 2, BY_BLOCK>(),  tile<80, 2, BY_BLOCK>(),
    tile<96, 2, BY_BLOCK>(),  tile<112, 2, BY_BLOCK>(), tile<128, 2, BY_BLOCK>(),
    tile<144, 2, BY_BLOCK>(), tile<152, 2, BY_BLOCK>(), tile<64, 3, BY_BLOCK>(),
    tile<80, 3, BY_BLOCK>(),  tile<96, 3, BY_BLOCK>(),  tile<112, 3, BY_BLOCK>(),
};

template <bool BY_BLOCK> static struct swapped_table table(void)
{
    return {tiles<BY_BLOCK>, sizeof tiles<BY_BLOCK> / sizeof *tiles<BY_BLOCK>};
}

/* ------------------------------------------------------------------ choice -- */

struct state {
    struct tile_parts sums;
    struct linear_swapped products[TRIED];
    int count, chosen;
};

static int enqueue(const void *what, void *stream)
{
    return linear_swapped_enqueue((const struct linear_swapped *)what, (cudaStream_t)stream);
}

static int choose(struct state *state, const struct assay_call *call)
{
    struct cuda_rival rivals[TRIED] = {};
    for (int i = 0; i < state->count; i++)
        rivals[i].work = {enqueue, &state->products[i]};
    return cuda_trial_fastest(call, NULL, rivals, state->count, &state->chosen);
}

/* ----------------------------------------------------------------- variant -- */

static int list_products(struct state *state, const struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    const bool by_block = value[LFP8_SCALE] == LFP8_BLOCK;
    const struct swapped_table tiles = by_block ? table<true>() : table<false>();
    struct linear_operands operands = {};
    operands.x = call->buffer[LFP8_X];
    operands.w = call->buffer[LFP8_W];
    operands.y = call->buffer[LFP8_Y];
    operands.m = value[LFP8_M];
    operands.n = value[LFP8_N];
    operands.k = operands.leading = value[LFP8_K];
    state->count =
        linear_swapped_choose_of(state->products, TRIED, &tiles, &operands, &state->sums);
    for (int i = 0; i < state->count; i++) {
        state->products[i].plan.x_scales = (const float *)call->buffer[LFP8_X_SCALES];
        state->products[i].plan.w_scales = (const float *)call->buffer[LFP8_W_SCALES];
    }
    if (state->count == 0) return assay_error("no tile for this shape");
    return state->count < 0 ? -1 : 0;
}

static int setup(struct assay_call *call)
{
    struct state *state = (struct state *)aligned_alloc(alignof(struct state), sizeof *state);
    call->state = state;
    if (!state) return assay_error("out of memory");
    memset(state, 0, sizeof *state);
    int status = tile_parts_init(&state->sums, call);
    if (status) return status;
    if (list_products(state, call) < 0) return -1;
    status = choose(state, call);
    if (status) return status;
    char name[ASSAY_MAX_NOTE];
    linear_swapped_name(&state->products[state->chosen], name, sizeof name);
    (void)snprintf(call->note, sizeof call->note, "%s, of %d", name, state->count);
    return 0;
}

static int launch(struct assay_call *call)
{
    const struct state *state = (const struct state *)call->state;
    return linear_swapped_enqueue(&state->products[state->chosen], (cudaStream_t)call->stream);
}

static void teardown(struct assay_call *call)
{
    struct state *state = (struct state *)call->state;
    if (state) cudaFree(state->sums.sums);
    free(state);
}

static const char *supports(const struct assay_shape *shape)
{
    return shape->value[LFP8_K] % 16 ? "k is no multiple of 16" : NULL;
}

static const struct assay_variant variant = {
    .operation = "linear_fp8",
    .name = "swapped",
    .summary = "Hopper's tensor cores, rows of w as wgmma's rows, tiles of 8 x 64 to 152 x 128",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 90,
    .max_sm = 90,
    .arch_specific = true,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(variant);
