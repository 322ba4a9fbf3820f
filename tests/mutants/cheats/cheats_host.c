/*
 * cheats_host.c - variants of residual_add on the host that try to be timed without doing their
 * work, or without doing it when it is timed. Each is one known way; none may end as a row with a
 * time.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/mutants/cheats/cheats.h"

static void add(const struct assay_call *call, float *y, int64_t begin, int64_t end)
{
    const float *a = input(call, RESIDUAL_A), *b = input(call, RESIDUAL_B);
    for (int64_t i = begin; i < end; i++)
        y[i] = a[i] + b[i];
}

static int add_all(struct assay_call *call)
{
    add(call, output(call), 0, elements(call));
    return 0;
}

static size_t bytes(const struct assay_call *call)
{
    return (size_t)elements(call) * sizeof(float);
}

/* ---------------------------------------------------- which launches work -- */

static int every_sixteenth(struct assay_call *call)
{
    static int launches;
    int launch = launches++;
    return launch < 2 || launch % 16 == 0 ? add_all(call) : 0;
}

static int alternate_halves(struct assay_call *call)
{
    static int launches;
    int64_t half = elements(call) / 2;
    if (launches++ % 2 == 0)
        add(call, output(call), 0, half);
    else
        add(call, output(call), half, elements(call));
    return 0;
}

/* If the output is as this variant left it, nobody has poisoned it. */
static int if_poisoned(struct assay_call *call)
{
    static float kept[3];
    const float *y = output(call);
    int64_t n = elements(call), place[3] = {0, n / 2, n - 1};
    bool same = true;
    for (int i = 0; i < 3; i++)
        same = same && y[place[i]] == kept[i];
    if (same) return 0;
    add_all(call);
    for (int i = 0; i < 3; i++)
        kept[i] = y[place[i]];
    return 0;
}

/* -------------------------------------------------------- replayed answers -- */

/* The state of a call is the answer that is replayed. */
static int setup_empty(struct assay_call *call)
{
    call->state = calloc(1, bytes(call));
    return call->state ? 0 : assay_error("out of memory");
}

static int setup_answer(struct assay_call *call)
{
    if (setup_empty(call) < 0) return -1;
    add(call, call->state, 0, elements(call));
    return 0;
}

static void release(struct assay_call *call)
{
    free(call->state);
}

static int replay(struct assay_call *call)
{
    memcpy(output(call), call->state, bytes(call));
    return 0;
}

static int by_pointer(struct assay_call *call)
{
    static const void *seen;
    if (seen == call->buffer[RESIDUAL_A]) return replay(call);
    seen = call->buffer[RESIDUAL_A];
    add(call, call->state, 0, elements(call));
    return replay(call);
}

/* By what the first elements of the inputs are. */
enum { LOOK = 64 };
static float seen[2][LOOK];

static int setup_content(struct assay_call *call)
{
    memset(seen, 0xff, sizeof seen);
    return setup_empty(call);
}

static int by_content(struct assay_call *call)
{
    const float *a = input(call, RESIDUAL_A), *b = input(call, RESIDUAL_B);
    if (memcmp(seen[0], a, sizeof seen[0]) || memcmp(seen[1], b, sizeof seen[1])) {
        memcpy(seen[0], a, sizeof seen[0]);
        memcpy(seen[1], b, sizeof seen[1]);
        add(call, call->state, 0, elements(call));
    }
    return replay(call);
}

/* Poison is random bits: one of a few places is not of a number that this sum could be. */
static int unless_wild(struct assay_call *call)
{
    const float *y = output(call);
    int64_t n = elements(call);
    bool wild = false;
    for (int i = 0; i < 16; i++)
        wild = wild || !(fabsf(y[i * (n - 1) / 15]) < 50);
    if (wild) add(call, call->state, 0, n);
    return replay(call);
}

/* --------------------------------------------------------- parts left out -- */

static int hole(struct assay_call *call)
{
    int64_t n = elements(call), begin = n / 3;
    add(call, output(call), 0, begin);
    if (begin + 32768 < n) add(call, output(call), begin + 32768, n);
    return 0;
}

static int edges(struct assay_call *call)
{
    int64_t n = elements(call), edge = n / 16;
    add(call, output(call), 0, edge);
    add(call, output(call), n - edge, n);
    return 0;
}

static int half_precision(struct assay_call *call)
{
    float *y = output(call);
    add_all(call);
    for (int64_t i = 0; i < elements(call); i++)
        y[i] = (float)assay_load(ASSAY_BF16,
                                 &(uint16_t){(uint16_t)(((const uint32_t *)y)[i] >> 16)}, 0);
    return 0;
}

/* The shape is borrowed: a smaller one asks for less. */
static int shrinks_the_shape(struct assay_call *call)
{
    struct assay_shape *shape = (struct assay_shape *)(uintptr_t)call->shape;
    shape->value[RESIDUAL_N] = 1;
    return add_all(call);
}

/* --------------------------------------------------------- somewhere else -- */

static int own_buffer(struct assay_call *call)
{
    call->buffer[RESIDUAL_Y] = call->state;
    return add_all(call);
}

static void *work_late(void *argument)
{
    usleep(200);
    add_all(argument);
    return NULL;
}

static pthread_t worker;
static bool working;

static int later(struct assay_call *call)
{
    if (working) pthread_join(worker, NULL);
    working = pthread_create(&worker, NULL, work_late, call) == 0;
    return working ? 0 : assay_error("no thread");
}

static void end_later(struct assay_call *call)
{
    if (working) pthread_join(worker, NULL);
    working = false;
}

static int beyond_the_end(struct assay_call *call)
{
    add_all(call);
    output(call)[elements(call)] = 0;
    return 0;
}

/* Zeros are quick to add. */
static int changes_inputs(struct assay_call *call)
{
    static int launches;
    add_all(call);
    if (launches++ > 0) memset(call->buffer[RESIDUAL_B], 0, bytes(call));
    return 0;
}

CHEAT(ASSAY_HOST, cheat_only_once, .launch = only_once);
CHEAT(ASSAY_HOST, cheat_every_second, .launch = every_second);
CHEAT(ASSAY_HOST, cheat_every_sixteenth, .launch = every_sixteenth);
CHEAT(ASSAY_HOST, cheat_alternate_halves, .launch = alternate_halves);
CHEAT(ASSAY_HOST, cheat_if_poisoned, .launch = if_poisoned);
CHEAT(ASSAY_HOST, cheat_in_setup, .setup = setup_answer, .launch = replay, .teardown = release);
CHEAT(ASSAY_HOST, cheat_by_pointer, .setup = setup_empty, .launch = by_pointer,
      .teardown = release);
CHEAT(ASSAY_HOST, cheat_by_content, .setup = setup_content, .launch = by_content,
      .teardown = release);
CHEAT(ASSAY_HOST, cheat_unless_wild, .setup = setup_answer, .launch = unless_wild,
      .teardown = release);
CHEAT(ASSAY_HOST, cheat_hole, .launch = hole);
CHEAT(ASSAY_HOST, cheat_edges, .launch = edges);
CHEAT(ASSAY_HOST, cheat_half_precision, .launch = half_precision);
CHEAT(ASSAY_HOST, cheat_shrinks_the_shape, .launch = shrinks_the_shape);
CHEAT(ASSAY_HOST, cheat_own_buffer, .setup = setup_empty, .launch = own_buffer,
      .teardown = release);
CHEAT(ASSAY_HOST, cheat_later, .launch = later, .teardown = end_later);
CHEAT(ASSAY_HOST, cheat_in_check, .launch = nothing, .check = work_in_check);
CHEAT(ASSAY_HOST, cheat_beyond_the_end, .launch = beyond_the_end);
CHEAT(ASSAY_HOST, cheat_changes_inputs, .launch = changes_inputs);
