/*
 * kernel.c - y[i] = 2 x[i] as a shared object of its own, and what may go wrong in one:
 *
 *   -DOPERATION=twice -DVARIANT=plain      names
 *   -DIN_CONSTRUCTOR='raise(SIGSEGV)'      what it does when it is loaded
 *   -DIN_BUFFERS= -DIN_WORK= -DIN_SETUP= -DIN_LAUNCH= and there
 *   -DCUT=1                                a half of the output is not written
 */
#include <assay.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef OPERATION
#define OPERATION twice
#endif
#ifndef VARIANT
#define VARIANT plain
#endif
#ifndef IN_CONSTRUCTOR
#define IN_CONSTRUCTOR (void)0
#endif
#ifndef IN_BUFFERS
#define IN_BUFFERS (void)0
#endif
#ifndef IN_WORK
#define IN_WORK (void)0
#endif
#ifndef IN_SETUP
#define IN_SETUP (void)0
#endif
#ifndef IN_LAUNCH
#define IN_LAUNCH (void)0
#endif
#ifndef CUT
#define CUT 0
#endif
#define TEXT_OF(name) #name
#define TEXT(name)    TEXT_OF(name)

enum { N };
enum { X, Y };

__attribute__((constructor)) static void constructed(void)
{
    IN_CONSTRUCTOR;
}

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    static const struct assay_fill uniform = {.kind = ASSAY_FILL_UNIFORM, .a = 1, .b = 2};
    IN_BUFFERS;
    out[X] = (struct assay_buffer){"x", ASSAY_IN, ASSAY_F32, shape->value[N], uniform};
    out[Y] = (struct assay_buffer){
        .name = "y", .role = ASSAY_OUT, .type = ASSAY_F32, .count = shape->value[N]};
    return 2;
}

static struct assay_work work(const struct assay_shape *shape)
{
    double n = (double)shape->value[N];
    IN_WORK;
    return (struct assay_work){.read_bytes = 4 * n, .write_bytes = 4 * n};
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    (void)shape, (void)buffer, (void)bound;
    for (int64_t i = begin; i < end; i++)
        expected[i - begin] = 2 * assay_load(ASSAY_F32, in[X], i);
    return 0;
}

#ifndef NO_OPERATION
static const struct assay_operation operation = {
    .name = TEXT(OPERATION),
    .summary = "y = 2 x",
    .dims = {{.name = "n", .summary = "elements", .fallback = 100003}},
    .buffers = buffers,
    .work = work,
    .reference = reference,
};
ASSAY_REGISTER_OPERATION(operation);
#endif

static int setup(struct assay_call *call)
{
    (void)call;
    IN_SETUP;
    return 0;
}

static int launch(struct assay_call *call)
{
    const float *x = call->buffer[X];
    float *y = call->buffer[Y];
    IN_LAUNCH;
    for (int64_t i = 0; i < call->shape->value[N] / (CUT + 1); i++)
        y[i] = 2 * x[i];
    return 0;
}

static const struct assay_variant variant = {
    .operation = TEXT(OPERATION),
    .name = TEXT(VARIANT),
    .summary = "a loop",
    .place = ASSAY_HOST,
    .setup = setup,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
