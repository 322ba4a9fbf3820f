/* test_cheats.c - variants that do not compute their output in every launch, each in its own
 * way, in a group on the host device with one that does. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/measurement.h"
#include "on_host.h"

enum { N = 20011, SEEDS = 6 }; /* enough that inputs and poison change in part */

static int scale_buffers(const struct assay_shape *shape,
                         struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    static const struct assay_fill uniform = {.kind = ASSAY_FILL_UNIFORM, .a = 1, .b = 2};
    int64_t n = shape->value[0];
    out[0] = (struct assay_buffer){
        .name = "x", .role = ASSAY_IN, .type = ASSAY_F32, .count = n, .fill = uniform};
    out[1] = (struct assay_buffer){.name = "w",
                                   .role = ASSAY_IN,
                                   .type = ASSAY_F32,
                                   .count = n,
                                   .fill = uniform,
                                   .constant = true};
    out[2] = (struct assay_buffer){.name = "y", .role = ASSAY_OUT, .type = ASSAY_F32, .count = n};
    return 3;
}

static int scale_reference(const struct assay_shape *shape, const void *const in[], int buffer,
                           int64_t begin, int64_t end, double *expected, double *bound)
{
    for (int64_t i = begin; i < end; i++)
        expected[i - begin] = (double)(((const float *)in[0])[i] * ((const float *)in[1])[i]);
    return 0;
}

static const struct assay_operation scale = {.name = "scale",
                                             .dims = {{.name = "n"}},
                                             .buffers = scale_buffers,
                                             .reference = scale_reference};

static void multiply(const float *x, const float *w, float *y, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++)
        y[i] = x[i] * w[i];
}

static int honest(struct assay_call *call)
{
    multiply(call->buffer[0], call->buffer[1], call->buffer[2], 0, call->shape->value[0]);
    return 0;
}

/* A state that lives from setup to teardown. */
struct state {
    int launches;
    bool known;
    const void *pointer;
    float x[N], w[N], y[N];
};

static int make_state(struct assay_call *call)
{
    call->state = calloc(1, sizeof(struct state));
    return call->state ? 0 : assay_error("out of memory");
}

static void free_state(struct assay_call *call)
{
    free(call->state);
}

/* ------------------------------------------------------------- every second -- */

static int every_second(struct assay_call *call)
{
    struct state *state = call->state;
    return state->launches++ % 2 ? 0 : honest(call);
}

static int odd_seconds(struct assay_call *call)
{
    static int launches; /* of all setups */
    return launches++ % 2 ? 0 : honest(call);
}

static int alternate_halves(struct assay_call *call)
{
    struct state *state = call->state;
    int64_t n = call->shape->value[0];
    bool first = state->launches == 0, second = state->launches++ % 2;
    multiply(call->buffer[0], call->buffer[1], call->buffer[2], first || !second ? 0 : n / 2,
             first || second ? n : n / 2);
    return 0;
}

/* ------------------------------------------------------- answers kept for later -- */

static void keep(struct assay_call *call)
{
    struct state *state = call->state;
    multiply(call->buffer[0], call->buffer[1], state->y, 0, N);
    state->known = true;
}

static int copy_kept(struct assay_call *call)
{
    memcpy(call->buffer[2], ((struct state *)call->state)->y, sizeof(float[N]));
    return 0;
}

static int answer_in_setup(struct assay_call *call)
{
    if (make_state(call)) return -1;
    keep(call);
    return 0;
}

static int compute_once(struct assay_call *call)
{
    if (!((struct state *)call->state)->known) keep(call);
    return copy_kept(call);
}

/* For all setups of the process: the first answer to each address of the input. */
static int cache_by_pointer(struct assay_call *call)
{
    static struct state cache[4];
    int i = 0;
    while (i < 3 && cache[i].known && cache[i].pointer != call->buffer[0])
        i++;
    struct assay_call mine = {.buffer = {call->buffer[0], call->buffer[1], call->buffer[2]},
                              .state = &cache[i]};
    if (cache[i].pointer != call->buffer[0]) keep(&mine);
    cache[i].pointer = call->buffer[0];
    return copy_kept(&mine);
}

/* Prepares an input that is not constant. */
static int prepare_input(struct assay_call *call)
{
    if (make_state(call)) return -1;
    memcpy(((struct state *)call->state)->x, call->buffer[0], sizeof(float[N]));
    return 0;
}

static int by_prepared_input(struct assay_call *call)
{
    multiply(((struct state *)call->state)->x, call->buffer[1], call->buffer[2], 0, N);
    return 0;
}

/* Works on the addresses of the first setup of the process, whatever the call says. */
static const void *first_x, *first_w;

static int remember_pointers(struct assay_call *call)
{
    if (make_state(call)) return -1;
    if (!first_x) first_x = call->buffer[0], first_w = call->buffer[1];
    return 0;
}

static int by_first_content(struct assay_call *call)
{
    static float x[N], w[N];
    static bool known;
    if (!known) memcpy(x, first_x, sizeof x), memcpy(w, first_w, sizeof w);
    known = true;
    multiply(x, w, call->buffer[2], 0, N);
    return 0;
}

/* Knows the inputs again by their first elements. */
static int cache_by_content(struct assay_call *call)
{
    struct state *state = call->state;
    size_t look = sizeof(float[64]);
    if (memcmp(state->x, call->buffer[0], look)) keep(call);
    memcpy(state->x, call->buffer[0], look);
    return copy_kept(call);
}

/* Does nothing if the output is as an earlier launch left it, at three places. */
static int if_output_changed(struct assay_call *call)
{
    static float left[3];
    const int at[3] = {0, N / 2, N - 1};
    const float *y = call->buffer[2];
    if (y[at[0]] == left[0] && y[at[1]] == left[1] && y[at[2]] == left[2]) return 0;
    honest(call);
    for (int i = 0; i < 3; i++)
        left[i] = y[at[i]];
    return 0;
}

/* Keeps its answer unless the output holds what no answer can be, as poison does. */
static int unless_wild(struct assay_call *call)
{
    const float *y = call->buffer[2];
    bool wild = false;
    for (int i = 0; i < 16; i++)
        wild = wild || !(y[i * (N - 1) / 15] >= 1 && y[i * (N - 1) / 15] <= 4);
    if (wild) keep(call);
    return copy_kept(call);
}

static int shrink(struct assay_call *call)
{
    ((struct assay_shape *)(uintptr_t)call->shape)->value[0] = 1;
    return honest(call);
}

static int nothing(struct assay_call *call)
{
    return 0;
}

/* ------------------------------------------------------------------- groups -- */

/* An honest variant that prepares its weights, which are constant. */
static int prepare_weights(struct assay_call *call)
{
    if (make_state(call)) return -1;
    memcpy(((struct state *)call->state)->w, call->buffer[1], sizeof(float[N]));
    return 0;
}

static int by_prepared_weights(struct assay_call *call)
{
    struct state *state = call->state;
    multiply(call->buffer[0], state->w, call->buffer[2], 0, call->shape->value[0]);
    return 0;
}

static const struct assay_variant right = {.operation = "scale", .name = "right", .launch = honest};
static const struct assay_variant packs = {.operation = "scale",
                                           .name = "packs",
                                           .setup = prepare_weights,
                                           .launch = by_prepared_weights,
                                           .teardown = free_state};

/* What the device says is free; -1: unknown, as it is on a host. */
static int64_t pretended = -1;
static int64_t pretend(struct device *device)
{
    return pretended;
}

static void tell_free_bytes(struct device_ops *ops)
{
    ops->free_bytes = pretend;
}

/* From its second launch on it leaves what no answer can be, as poison does. */
static int spoil(struct assay_call *call)
{
    struct state *state = call->state;
    if (state->launches++ == 0) return honest(call);
    memset(call->buffer[2], 0x7d, sizeof(float[N]));
    return 0;
}

static const struct assay_variant spoils = {.operation = "scale",
                                            .name = "spoils",
                                            .setup = make_state,
                                            .launch = spoil,
                                            .teardown = free_state};

/* What is in front of the cheat in its group. */
static const struct assay_variant *neighbour = &right;

/* A group of a neighbour, `cheat` and an honest variant; returns how many seeds found it wrong. */
static int found_by_seeds(const struct assay_variant *cheat, bool check_only, const char *words)
{
    int found = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct case_result results[3];
        const struct measure_request request = {.shape = {&scale, {N}},
                                                .temperature = ASSAY_HOT,
                                                .budget_s = 0.01,
                                                .precision_pct = 50,
                                                .seed = seed,
                                                .check_only = check_only,
                                                .count = 3,
                                                .variant = {neighbour, cheat, &packs}};
        assert_int_equal(measure_on_host(&request, results, tell_free_bytes), 0);
        if (neighbour == &right) assert_string_equal(results[0].reason, "");
        assert_string_equal(results[2].reason, "");
        found += results[1].status == STATUS_WRONG;
        if (results[1].status == STATUS_WRONG && !strstr(results[1].reason, words))
            fail_msg("%s: %s", cheat->name, results[1].reason);
        release_results(results, 3);
    }
    return found;
}

static void check_cheat(int (*setup)(struct assay_call *), int (*launch)(struct assay_call *),
                        const char *words)
{
    struct assay_variant cheat = {.operation = "scale",
                                  .name = "cheat",
                                  .setup = setup,
                                  .launch = launch,
                                  .teardown = setup ? free_state : NULL};
    assert_int_equal(found_by_seeds(&cheat, false, words), SEEDS);
    assert_int_equal(found_by_seeds(&cheat, true, words), SEEDS);
}

TEST(nothing_in_every_second_launch_is_found)
{
    check_cheat(make_state, every_second, "not written");
    check_cheat(NULL, odd_seconds, "not written");
}

TEST(alternate_halves_are_found)
{
    check_cheat(make_state, alternate_halves, "with other inputs: ");
}

TEST(an_answer_prepared_in_setup_is_found)
{
    check_cheat(answer_in_setup, copy_kept, "with other inputs: y[");
    check_cheat(prepare_input, by_prepared_input, "with other inputs: y[");
}

TEST(an_answer_kept_from_the_first_launch_is_found)
{
    check_cheat(make_state, compute_once, "with other inputs: y[");
    check_cheat(NULL, cache_by_pointer, "y[");
    check_cheat(remember_pointers, by_first_content, "y[");
}

TEST(inputs_change_in_place_where_memory_is_short)
{
    pretended = (int64_t)512 << 20; /* enough to go on, not enough for a second set */
    check_cheat(answer_in_setup, copy_kept, "with other inputs: y[");
    check_cheat(make_state, compute_once, "with other inputs: y[");
    pretended = -1;
}

TEST(an_answer_known_again_by_some_inputs_is_found)
{
    check_cheat(make_state, cache_by_content, "with other inputs: y[");
}

TEST(work_only_where_the_output_was_changed_is_found)
{
    check_cheat(NULL, if_output_changed, "y[");
    check_cheat(answer_in_setup, unless_wild, "with other inputs: y[");
}

/* After a wrong neighbour, the cheats would take the check for a first launch. */
TEST(what_the_neighbour_left_does_not_tell_of_a_check)
{
    neighbour = &spoils;
    check_cheat(NULL, if_output_changed, "y[");
    check_cheat(answer_in_setup, unless_wild, "with other inputs: y[");
    neighbour = &right;
}

TEST(a_variant_that_changes_its_shape_harms_itself_alone)
{
    check_cheat(NULL, shrink, "not written");
}

TEST(a_check_that_does_the_work_is_found)
{
    struct assay_variant cheat = {
        .operation = "scale", .name = "cheat", .launch = nothing, .check = honest};
    assert_int_equal(found_by_seeds(&cheat, true, "without a launch"), SEEDS);
}

static int setups;
static int slow_setup(struct assay_call *call)
{
    setups++;
    usleep(5000); /* half of the budget */
    return answer_in_setup(call);
}

TEST(a_slow_setup_is_not_repeated_and_its_answer_is_found)
{
    setups = 0;
    check_cheat(slow_setup, copy_kept, "with other inputs: y[");
    assert_int_equal(setups, 2 * SEEDS); /* one per group */
}
