/*
 * fault_double.c - y[i] = 2 x[i], and host variants that die, hang, lie or grab.
 * The command tests inject each and look at what its row says, and at the rows
 * beside it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "faults.h"
#include "measure/worker.h"

static int double_buffers(const struct assay_shape *shape,
                          struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    static const struct assay_fill uniform = {.kind = ASSAY_FILL_UNIFORM, .a = 1, .b = 2};
    int64_t n = shape->value[FAULT_N];
    out[FAULT_X] = (struct assay_buffer){"x", ASSAY_IN, ASSAY_F32, n, uniform};
    out[FAULT_Y] =
        (struct assay_buffer){.name = "y", .role = ASSAY_OUT, .type = ASSAY_F32, .count = n};
    return 2;
}

static struct assay_work double_work(const struct assay_shape *shape)
{
    double n = (double)shape->value[FAULT_N];
    return (struct assay_work){
        .read_bytes = 4 * n, .write_bytes = 4 * n, .ops = {[ASSAY_FP32] = n}};
}

static int double_reference(const struct assay_shape *shape, const void *const in[], int buffer,
                            int64_t begin, int64_t end, double *expected, double *bound)
{
    (void)shape, (void)buffer, (void)bound;
    const float *x = in[FAULT_X];
    for (int64_t i = begin; i < end; i++)
        expected[i - begin] = 2.0 * x[i];
    return 0;
}

static const char *const baselines[] = {"right", NULL};

static const struct assay_operation fault_double = {
    .name = "fault_double",
    .summary = "y = 2 x",
    .dims = {{.name = "n", .summary = "elements", .fallback = 100003}},
    .buffers = double_buffers,
    .work = double_work,
    .reference = double_reference,
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(fault_double);

/* -------------------------------------------------------------- variants -- */

static void twice(const struct assay_call *call, int64_t begin, int64_t end)
{
    const float *x = call->buffer[FAULT_X];
    float *y = call->buffer[FAULT_Y];
    for (int64_t i = begin; i < end; i++)
        y[i] = 2 * x[i];
}

static int right(struct assay_call *call)
{
    twice(call, 0, call->shape->value[FAULT_N]);
    return 0;
}

/* Right, and with FAULT_PACE=N busy before for about 2 N us: two programs that set it differently
 * differ as two builds would, one slower than the other. */
static int paced(struct assay_call *call)
{
    const char *pace = getenv("FAULT_PACE");
    volatile uint64_t sink = 1;
    uint64_t x = sink;
    for (long i = pace ? 1000 * strtol(pace, NULL, 10) : 0; i > 0; i--)
        x = x * 6364136223846793005u + 1442695040888963407u; /* each waits for the one before */
    sink = x;
    return right(call);
}

static int segfault(struct assay_call *call)
{
    float *volatile nowhere = (float *)(uintptr_t)8;
    *nowhere = 1;
    return 0;
}

static int aborts(struct assay_call *call)
{
    abort();
}

static int exits(struct assay_call *call)
{
    exit(0);
}

/* Leaves a process behind that holds all that the worker had open. */
static void leave_process(void)
{
    if (fork() != 0) return;
    prctl(PR_SET_NAME, "assay-left-over");
    while (pause())
        ;
}

static int hangs(struct assay_call *call)
{
    leave_process();
    while (pause())
        ;
    return 0;
}

static int wrong(struct assay_call *call)
{
    right(call);
    ((float *)call->buffer[FAULT_Y])[call->shape->value[FAULT_N] / 2] += 1;
    return 0;
}

/* Right once and lazy ever after: what a check before the timing alone misses. */
static int lazy(struct assay_call *call)
{
    if (call->state) return 0;
    call->state = call;
    return right(call);
}

static int forgets_the_end(struct assay_call *call)
{
    twice(call, 0, call->shape->value[FAULT_N] - 1);
    return 0;
}

static int overruns(struct assay_call *call)
{
    int64_t n = call->shape->value[FAULT_N];
    right(call);
    ((volatile float *)call->buffer[FAULT_Y])[n] = 0;
    return 0;
}

static int underruns(struct assay_call *call)
{
    right(call);
    ((volatile float *)call->buffer[FAULT_Y])[-1] = 0;
    return 0;
}

static int spoils_input(struct assay_call *call)
{
    right(call);
    ((float *)call->buffer[FAULT_X])[0] = -7;
    return 0;
}

/* Takes memory until there is none. */
static int greedy_setup(struct assay_call *call)
{
    for (int i = 0; i < 1 << 16; i++)
        if (malloc((size_t)1 << 30) == NULL) return assay_error("malloc found no more memory");
    return 0;
}

static int fails(struct assay_call *call)
{
    return assay_error("it does not feel like it");
}

/* Begins a message to the parent, as the start of its header, and goes no further. */
static int half_a_message(struct assay_call *call)
{
    if (write(WORKER_SOCKET, "\7\0\0", 3) != 3) return assay_error("no socket");
    return hangs(call);
}

/* Sends the parent what is none, and goes on as if nothing had been. */
static int garbles(struct assay_call *call)
{
    static const char noise[] = "a descriptor that this variant took for its own";
    if (!call->state && write(WORKER_SOCKET, noise, sizeof noise) < 0)
        return assay_error("no socket");
    call->state = call;
    return right(call);
}

static int forks(struct assay_call *call)
{
    leave_process();
    abort();
}

static int prints(struct assay_call *call)
{
    printf("this must not reach the results\n");
    fflush(stdout);
    return right(call);
}

static const char *never(const struct assay_shape *shape)
{
    return "never supported";
}

#define FAULT(function)                                                                            \
    static const struct assay_variant fault_##function = {.operation = "fault_double",             \
                                                          .name = #function,                       \
                                                          .summary = "a fault",                    \
                                                          .place = ASSAY_HOST,                     \
                                                          .launch = function};                     \
    ASSAY_REGISTER_VARIANT(fault_##function)

FAULT(segfault);
FAULT(aborts);
FAULT(exits);
FAULT(hangs);
FAULT(wrong);
FAULT(lazy);
FAULT(forgets_the_end);
FAULT(overruns);
FAULT(underruns);
FAULT(spoils_input);
FAULT(fails);
FAULT(prints);
FAULT(half_a_message);
FAULT(garbles);
FAULT(forks);

static const struct assay_variant fault_right = {.operation = "fault_double",
                                                 .name = "right",
                                                 .summary = "does what it should",
                                                 .kind = ASSAY_BASELINE,
                                                 .place = ASSAY_HOST,
                                                 .launch = paced};
ASSAY_REGISTER_VARIANT(fault_right);

static const struct assay_variant fault_greedy = {.operation = "fault_double",
                                                  .name = "greedy",
                                                  .summary = "takes all memory",
                                                  .place = ASSAY_HOST,
                                                  .setup = greedy_setup,
                                                  .launch = right};
ASSAY_REGISTER_VARIANT(fault_greedy);

static const struct assay_variant fault_unsupported = {.operation = "fault_double",
                                                       .name = "unsupported",
                                                       .summary = "is always skipped",
                                                       .place = ASSAY_HOST,
                                                       .supports = never,
                                                       .launch = right};
ASSAY_REGISTER_VARIANT(fault_unsupported);
