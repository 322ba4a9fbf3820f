/* bench_define.c - a description as an operation with variants. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "bench/bench.h"
#include "case/result.h"
#include "case/shape.h"

int bench_split(char text[BENCH_TEXT], char *part[BENCH_PARTS], int most)
{
    int count = 0, open = 0;
    part[count++] = text;
    for (char *at = text; *at; at++) {
        open += (*at == '(') - (*at == ')');
        if (*at != ',' || open > 0) continue;
        if (count == most) return assay_error("more than %d numbers", most);
        *at = '\0';
        part[count++] = at + 1;
    }
    return count;
}

/* ---------------------------------------------------------------- launch -- */

/* CUDA C++ Programming Guide, "Technical Specifications per Compute Capability". */
static const int64_t most_grid[3] = {INT32_MAX, 65535, 65535}, most_block[3] = {1024, 1024, 64};
enum { MOST_THREADS = 1024, MOST_CLUSTER = 16, MOST_SHARED = 227 << 10 };
static const int64_t most_cluster[3] = {MOST_CLUSTER, MOST_CLUSTER, MOST_CLUSTER};

/* Up to three numbers, 1 to `most`; what is not said is 1. */
static int three(const char *what, const char *text, const struct assay_shape *shape,
                 const int64_t most[3], unsigned out[3])
{
    char copy[BENCH_TEXT], *part[BENCH_PARTS];
    text_copy(copy, sizeof copy, text);
    int parts = bench_split(copy, part, 3);
    if (parts < 0) return assay_error("%s: %s", what, assay_last_error());
    for (int i = 0; i < 3; i++) {
        int64_t value = 1;
        if (i < parts && expression_whole(part[i], shape, &value))
            return assay_error("%s: %s", what, assay_last_error());
        if (value < 1 || value > most[i])
            return assay_error("%s: %c is %lld, and must be 1 to %lld", what, "xyz"[i],
                               (long long)value, (long long)most[i]);
        out[i] = (unsigned)value;
    }
    return 0;
}

static int64_t product(const unsigned of[3])
{
    return (int64_t)of[0] * of[1] * of[2];
}

static int read_cluster(const struct bench_kernel *kernel, const struct assay_shape *shape,
                        struct kernel_launch *launch)
{
    if (!kernel->cluster[0]) return 0;
    if (three("cluster", kernel->cluster, shape, most_cluster, launch->cluster)) return -1;
    if (product(launch->cluster) > MOST_CLUSTER)
        return assay_error("cluster: %lld blocks, and %d are possible",
                           (long long)product(launch->cluster), MOST_CLUSTER);
    for (int i = 0; i < 3; i++)
        if (launch->grid[i] % launch->cluster[i])
            return assay_error("grid: %c is %u, no multiple of the cluster's %u", "xyz"[i],
                               launch -> grid[i], launch -> cluster[i]);
    return 0;
}

int bench_launch_of(const struct bench_kernel *kernel, const struct assay_shape *shape,
                    struct kernel_launch *launch)
{
    int64_t shared = 0;
    *launch = (struct kernel_launch){0};
    if (three("grid", kernel->grid, shape, most_grid, launch->grid) ||
        three("block", kernel->block, shape, most_block, launch->block))
        return -1;
    if (product(launch->block) > MOST_THREADS)
        return assay_error("block: %lld threads, and %d are possible",
                           (long long)product(launch->block), MOST_THREADS);
    if (kernel->shared[0] && expression_whole(kernel->shared, shape, &shared))
        return assay_error("shared: %s", assay_last_error());
    if (shared < 0 || shared > MOST_SHARED)
        return assay_error("shared: %lld bytes, and 0 to %d are possible", (long long)shared,
                           MOST_SHARED);
    launch->shared_bytes = (unsigned)shared;
    return read_cluster(kernel, shape, launch);
}

/* ------------------------------------------------------------------ work -- */

static int bytes_of(const struct bench *bench, const struct assay_shape *shape,
                    struct assay_work *work)
{
    for (int i = 0; i < bench->argument_count; i++) {
        const struct argument *argument = &bench->argument[i];
        int64_t elements;
        if (argument->kind != ARGUMENT_BUFFER || argument->role == ASSAY_SCRATCH) continue;
        if (expression_whole(argument->expression, shape, &elements)) return -1;
        double bytes = (double)elements * (double)assay_type_bytes(argument->element);
        *(argument->role == ASSAY_IN ? &work->read_bytes : &work->write_bytes) += bytes;
    }
    if (!bench->bytes[0]) return 0;
    double all;
    if (expression_real(bench->bytes, shape, &all))
        return assay_error("bytes: %s", assay_last_error());
    if (all < 0) return assay_error("bytes: %g is below 0", all);
    work->write_bytes = fmin(work->write_bytes, all);
    work->read_bytes = all - work->write_bytes;
    return 0;
}

/* "2*m*n*k", of fp32, or "bf16 2*m*n*k, fp32 m*n". */
static int flops_of(const struct bench *bench, const struct assay_shape *shape,
                    double ops[ARITHMETICS])
{
    char copy[BENCH_TEXT], *part[BENCH_PARTS];
    if (!bench->flops[0]) return 0;
    text_copy(copy, sizeof copy, bench->flops);
    int parts = bench_split(copy, part, ARITHMETICS);
    if (parts < 0) return assay_error("flops: %s", assay_last_error());
    for (int i = 0; i < parts; i++) {
        char *text = part[i] + strspn(part[i], " "), word[16];
        size_t length = strcspn(text, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        int arithmetic = words_find(&arithmetic_words, word);
        double count;
        if (arithmetic >= 0) text += length;
        if (arithmetic < 0) arithmetic = ASSAY_FP32;
        if (expression_real(text, shape, &count))
            return assay_error("flops: %s", assay_last_error());
        if (count < 0) return assay_error("flops: %g is below 0", count);
        ops[arithmetic] += count;
    }
    return 0;
}

/* ------------------------------------------------- functions of the operation -- */

static struct bench *bench_of_shape(const struct assay_shape *shape)
{
    return (struct bench *)bench_of(shape->operation);
}

static int count_buffer(const struct argument *argument, const struct assay_shape *shape,
                        int64_t *elements)
{
    if (expression_whole(argument->expression, shape, elements))
        return assay_error("%s: %s", argument->name, assay_last_error());
    if (*elements < 1 || *elements > INT64_C(1) << 40)
        return assay_error("%s: %lld elements, and 1 to 2^40 are possible", argument->name,
                           (long long)*elements);
    return 0;
}

static int define_buffers(const struct assay_shape *shape,
                          struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    const struct bench *bench = bench_of_shape(shape);
    int buffers = 0;
    for (int i = 0; i < bench->argument_count; i++) {
        const struct argument *argument = &bench->argument[i];
        int64_t elements = 0;
        if (argument->kind != ARGUMENT_BUFFER) continue;
        if (count_buffer(argument, shape, &elements)) elements = 0; /* `supports` says so */
        out[buffers++] = (struct assay_buffer){.name = argument->name,
                                               .role = argument->role,
                                               .type = argument->element,
                                               .count = elements,
                                               .fill = argument->fill,
                                               .constant = argument->constant};
    }
    return buffers;
}

static struct assay_work define_work(const struct assay_shape *shape)
{
    const struct bench *bench = bench_of_shape(shape);
    struct assay_work work = {0};
    double ops[ARITHMETICS] = {0};
    if (bytes_of(bench, shape, &work) || flops_of(bench, shape, ops)) return (struct assay_work){0};
    memcpy(work.ops, ops, sizeof work.ops);
    return work;
}

static double define_fp8_ops(const struct assay_shape *shape)
{
    double ops[ARITHMETICS] = {0};
    return flops_of(bench_of_shape(shape), shape, ops) ? 0 : ops[ARITHMETIC_FP8];
}

/* What the sizes make of all expressions but those of a launch. */
static int check_sizes(const struct bench *bench, const struct assay_shape *shape)
{
    struct assay_work work = {0};
    double ops[ARITHMETICS] = {0};
    for (int i = 0; i < bench->argument_count; i++) {
        const struct argument *argument = &bench->argument[i];
        union argument_value value;
        int64_t elements;
        int failed = argument->kind == ARGUMENT_BUFFER   ? count_buffer(argument, shape, &elements)
                     : argument->kind == ARGUMENT_NUMBER ? argument_number(argument, shape, &value)
                                                         : 0;
        if (failed) return -1;
    }
    return bytes_of(bench, shape, &work) || flops_of(bench, shape, ops) ? -1 : 0;
}

/* Valid until the next call of the thread. */
static const char *reason(void)
{
    static _Thread_local char text[ASSAY_MAX_REASON];
    text_copy(text, sizeof text, assay_last_error());
    return text;
}

static const char *supports_sizes(const struct assay_shape *shape)
{
    return check_sizes(bench_of_shape(shape), shape) ? reason() : NULL;
}

static int launch_at(const struct assay_shape *shape, int index, struct kernel_launch *launch)
{
    return bench_launch_of(&bench_of_shape(shape)->kernel[index], shape, launch);
}

static const char *supports_launch(const struct assay_shape *shape, int index)
{
    struct kernel_launch launch;
    return launch_at(shape, index, &launch) ? reason() : NULL;
}

static int64_t shared_at(const struct assay_shape *shape, int index)
{
    struct kernel_launch launch;
    return launch_at(shape, index, &launch) ? 0 : launch.shared_bytes;
}

/* These do not get to know which variant they are of: each has its own. */
#define FUNCTIONS(index)                                                                           \
    static const char *supports_##index(const struct assay_shape *shape)                           \
    {                                                                                              \
        return supports_launch(shape, index);                                                      \
    }                                                                                              \
    static const char *refuses_##index(const struct assay_shape *shape)                            \
    {                                                                                              \
        const char *why = supports_launch(shape, index);                                           \
        return why ? why : "it is a kernel for a GPU";                                             \
    }                                                                                              \
    static int64_t shared_##index(const struct assay_shape *shape)                                 \
    {                                                                                              \
        return shared_at(shape, index);                                                            \
    }
#define OWN(index)     {supports_##index, refuses_##index, shared_##index},
#define EACH_KERNEL(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7)
EACH_KERNEL(FUNCTIONS)
static const struct {
    const char *(*supports)(const struct assay_shape *shape);
    const char *(*refuses)(const struct assay_shape *shape);
    int64_t (*shared_bytes)(const struct assay_shape *shape);
} own[] = {EACH_KERNEL(OWN)};
_Static_assert(sizeof own / sizeof *own == BENCH_MAX_KERNELS, "one for each");

/* ------------------------------------------------------------- definition -- */

static int check_arguments(const struct bench *bench)
{
    int buffers = 0, outputs = 0;
    for (int i = 0; i < bench->argument_count; i++) {
        const struct argument *argument = &bench->argument[i];
        for (int j = 0; j < i; j++)
            if (!strcmp(bench->argument[j].name, argument->name))
                return assay_error("two arguments are called %s", argument->name);
        buffers += argument->kind == ARGUMENT_BUFFER;
        outputs += argument->kind == ARGUMENT_BUFFER && argument->role != ASSAY_IN;
    }
    if (buffers > ASSAY_MAX_BUFFERS)
        return assay_error("%d buffers, and %d are possible", buffers, ASSAY_MAX_BUFFERS);
    if (outputs == 0)
        return assay_error("no argument is 'out' or 'scratch': the kernel could leave nothing");
    return 0;
}

static void define_variant(struct bench *bench, int index)
{
    struct bench_kernel *kernel = &bench->kernel[index];
    bool is_held = bench->oracle && bench->oracle != kernel;
    kernel->variant = (struct assay_variant){
        .operation = bench->name,
        .name = kernel->name,
        .summary = kernel->file,
        .kind = kernel->kind,
        .place = ASSAY_CUDA,
        .clock = ASSAY_CLOCK_DEVICE,
        .supports = own[index].supports,
        .shared_bytes = own[index].shared_bytes,
        .setup = bench_setup,
        .launch = bench_launch,
        .teardown = bench_teardown,
        .check = is_held ? bench_check : NULL,
    };
    kernel->on_host = kernel->variant;
    kernel->on_host.place = ASSAY_HOST;
    kernel->on_host.supports = own[index].refuses;
    kernel->on_host.shared_bytes = NULL;
    if (kernel->kind == ASSAY_BASELINE && !bench->baselines[0]) bench->baselines[0] = kernel->name;
}

/* The first value of each size must do: a grid of 0 there is a mistake of the description. */
static int check_first_sizes(const struct bench *bench)
{
    struct assay_shape shape = shape_default(&bench->operation);
    struct kernel_launch launch;
    if (check_sizes(bench, &shape)) return -1;
    for (int i = 0; i < bench->kernel_count; i++)
        if (bench_launch_of(&bench->kernel[i], &shape, &launch)) return -1;
    return 0;
}

int bench_define(struct bench *bench, const char *expect)
{
    struct assay_operation *operation = &bench->operation;
    if (!bench->summary[0])
        text_copy(bench->summary, sizeof bench->summary, "a kernel of the user's own");
    operation->name = bench->name;
    operation->summary = bench->summary;
    operation->supports = supports_sizes;
    operation->buffers = define_buffers;
    operation->work = define_work;
    operation->fp8_ops = define_fp8_ops;
    operation->baselines = bench->baselines;
    if (check_arguments(bench) || check_first_sizes(bench) || bench_take_expect(bench, expect))
        return -1;
    for (int i = 0; i < bench->kernel_count; i++)
        define_variant(bench, i);
    return 0;
}
