/* bench_launch.c - a described kernel in a worker: an image per process, a module per setup. */
#define _GNU_SOURCE /* basename */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "device/elements.h"

/* Not there in a program without CUDA, which has no device that would call them. */
#pragma weak kernel_module_capability
#pragma weak kernel_module_load
#pragma weak kernel_module_unload
#pragma weak kernel_module_launch
#pragma weak kernel_memory_alloc
#pragma weak kernel_memory_free
#pragma weak kernel_memory_read

enum { MOST_PARAMETERS = BENCH_MAX_ARGUMENTS + 2 };

struct ready {
    struct kernel_module *module;
    struct kernel_launch launch;
    union argument_value value[MOST_PARAMETERS];
    void *parameter[MOST_PARAMETERS]; /* point to the values */
};

struct state {
    const struct bench *bench;
    struct ready kernel, oracle;
    void *expected[ASSAY_MAX_BUFFERS]; /* outputs of the oracle, on the GPU; NULL: not an output */
    struct assay_buffer buffer[ASSAY_MAX_BUFFERS];
    int buffer_count;
};

/* ----------------------------------------------------------------- images -- */

/* Machine code runs on its own generation, from its own card on; PTX on all later ones (CUDA C++
 * Programming Guide, "Binary Compatibility"). */
static int check_card(const struct bench_kernel *kernel, int sm)
{
    const struct kernel_image *image = &kernel->image;
    if (image->sm <= sm && (image->is_ptx || image->sm / 10 == sm / 10)) return 0;
    assay_error("%s is %s for sm_%d, and the card is sm_%d", kernel->file,
                image->is_ptx ? "PTX" : "machine code", image->sm, sm);
    return ASSAY_SKIP;
}

/* All that a card has, also what only its generation has ("a"); or PTX where it is to show less. */
static void name_arch(char out[16], int sm, int shown)
{
    if (shown < sm)
        snprintf(out, 16, "compute_%d", shown);
    else
        snprintf(out, 16, "sm_%d%s", sm, sm >= 90 ? "a" : "");
}

/* 0, -1, or ASSAY_SKIP. */
static int make_image(struct bench_kernel *kernel)
{
    int sm, shown;
    char arch[16];
    if (kernel_module_capability(&sm, &shown)) return -1;
    if (!kernel->image.bytes) {
        name_arch(arch, sm, shown);
        if (kernel_image_open(&kernel->image, kernel->file, arch, kernel->options, kernel->kernel))
            return -1;
    }
    return check_card(kernel, sm);
}

/* ------------------------------------------------------------------ setup -- */

static int set_values(const struct bench *bench, const struct assay_shape *shape,
                      void *const buffer[], struct ready *ready)
{
    int next = 0;
    for (int i = 0; i < MOST_PARAMETERS; i++) {
        ready->parameter[i] = &ready->value[i];
        if (i >= bench->argument_count) continue; /* null */
        const struct argument *argument = &bench->argument[i];
        if (argument->kind == ARGUMENT_BUFFER) ready->value[i].pointer = buffer[next++];
        if (argument->kind == ARGUMENT_NUMBER && argument_number(argument, shape, &ready->value[i]))
            return -1;
    }
    return 0;
}

static int check_threads(const struct kernel_entry *entry, const struct kernel_launch *launch)
{
    int64_t threads = (int64_t)launch->block[0] * launch->block[1] * launch->block[2];
    if (entry->max_threads == 0 || threads <= entry->max_threads) return 0;
    return assay_error("a block of %lld threads, and the kernel %s is compiled for %d at most",
                       (long long)threads, entry->plain, entry->max_threads);
}

/* 0, -1, or ASSAY_SKIP. */
static int make_ready(const struct bench *bench, struct bench_kernel *kernel,
                      const struct assay_shape *shape, void *const buffer[], struct ready *ready)
{
    int status = make_image(kernel);
    if (status) return status;
    const struct kernel_entry *entry = bench_entry(bench, kernel, &kernel->image);
    if (!entry || bench_launch_of(kernel, shape, &ready->launch) ||
        check_threads(entry, &ready->launch) || set_values(bench, shape, buffer, ready))
        return -1;
    return kernel_module_load(&ready->module, &kernel->image, entry->name, &ready->launch);
}

/* Memory for the outputs of the oracle; it takes the inputs and the scratch of the kernel. */
static int make_oracle(struct state *state, const struct assay_call *call)
{
    void *buffer[ASSAY_MAX_BUFFERS];
    memcpy(buffer, call->buffer, sizeof buffer);
    for (int b = 0; b < state->buffer_count; b++) {
        const struct assay_buffer *spec = &state->buffer[b];
        if (spec->role != ASSAY_OUT) continue;
        size_t bytes = (size_t)spec->count * assay_type_bytes(spec->type);
        if (kernel_memory_alloc(&state->expected[b], bytes)) return -1;
        buffer[b] = state->expected[b];
    }
    return make_ready(state->bench, state->bench->oracle, call->shape, buffer, &state->oracle);
}

int bench_setup(struct assay_call *call)
{
    const struct bench *bench = bench_of(call->shape->operation);
    struct bench_kernel *kernel =
        (void *)((char *)call->variant - offsetof(struct bench_kernel, variant));
    struct state *state = call->state = calloc(1, sizeof *state);
    if (!state) return assay_error("out of memory for a kernel");
    state->bench = bench;
    state->buffer_count = bench->operation.buffers(call->shape, state->buffer);
    snprintf(call->note, sizeof call->note, "%.40s, sha256 %s", basename(kernel->file),
             kernel->sha);
    int status = make_ready(bench, kernel, call->shape, call->buffer, &state->kernel);
    if (status == 0 && kernel->variant.check) status = make_oracle(state, call);
    return status;
}

int bench_launch(struct assay_call *call)
{
    struct state *state = call->state;
    struct ready *ready = &state->kernel;
    return kernel_module_launch(ready->module, &ready->launch, ready->parameter, call->stream);
}

void bench_teardown(struct assay_call *call)
{
    struct state *state = call->state;
    if (!state) return;
    kernel_module_unload(state->kernel.module);
    kernel_module_unload(state->oracle.module);
    for (int b = 0; b < ASSAY_MAX_BUFFERS; b++)
        kernel_memory_free(state->expected[b]);
    free(state);
    call->state = NULL;
}

/* ------------------------------------------------------------------ check -- */

struct difference_found {
    int64_t wrong, first;
};

/* An I64 is not compared as a double, which does not tell large ones apart. */
static bool is_near(const struct assay_tolerance *tolerance, enum assay_type type, const void *got,
                    const void *expected, int64_t i)
{
    double y = assay_load(type, expected, i);
    double off =
        type == ASSAY_I64
            ? fabs((double)((__int128)((const int64_t *)got)[i] - ((const int64_t *)expected)[i]))
            : difference_of(assay_load(type, got, i), y);
    if (off == 0) return true;
    return off <= tolerance->abs + tolerance->rel * fabs(y) && !isinf(y);
}

/* Where nothing was said, small outputs are not all right because they are small. */
static struct assay_tolerance tolerance_of(const struct bench *bench,
                                           const struct assay_buffer *spec, const void *expected)
{
    double sum = 0, share = bench_share(spec->type);
    if (bench->has_tolerance) return bench->operation.tolerance;
#pragma omp parallel for reduction(+ : sum)
    for (int64_t i = 0; i < spec->count; i++) {
        double value = assay_load(spec->type, expected, i);
        if (isfinite(value)) sum += value * value;
    }
    double size = fmin(1, sqrt(sum / (double)spec->count));
    return (struct assay_tolerance){.abs = share * size, .rel = share};
}

static struct difference_found compare(const struct assay_tolerance *tolerance,
                                       const struct assay_buffer *spec, const void *got,
                                       const void *expected)
{
    int64_t wrong = 0, first = INT64_MAX;
#pragma omp parallel for reduction(+ : wrong) reduction(min : first)
    for (int64_t i = 0; i < spec->count; i++) {
        if (is_near(tolerance, spec->type, got, expected, i)) continue;
        wrong++;
        if (i < first) first = i;
    }
    return (struct difference_found){wrong, first};
}

static int check_output(const struct state *state, const struct assay_call *call, int b)
{
    const struct assay_buffer *spec = &state->buffer[b];
    size_t bytes = (size_t)spec->count * assay_type_bytes(spec->type);
    char *got = malloc(bytes), *expected = malloc(bytes);
    int status = got && expected ? 0 : assay_error("out of host memory for a check");
    if (!status) status = kernel_memory_read(got, call->buffer[b], bytes, call->stream);
    if (!status) status = kernel_memory_read(expected, state->expected[b], bytes, call->stream);
    if (!status) {
        struct assay_tolerance tolerance = tolerance_of(state->bench, spec, expected);
        struct difference_found found = compare(&tolerance, spec, got, expected);
        if (found.wrong)
            status = assay_error(
                "%s[%lld] is %.9g, the kernel %s says %.9g (%lld of %lld wrong)", spec->name,
                (long long)found.first, assay_load(spec->type, got, found.first),
                state->bench->oracle->name, assay_load(spec->type, expected, found.first),
                (long long)found.wrong, (long long)spec->count);
    }
    free(got);
    free(expected);
    return status;
}

/* The oracle writes outputs of its own, from the same inputs. */
int bench_check(struct assay_call *call)
{
    struct state *state = call->state;
    struct ready *oracle = &state->oracle;
    if (kernel_module_launch(oracle->module, &oracle->launch, oracle->parameter, call->stream))
        return -1;
    for (int b = 0; b < state->buffer_count; b++)
        if (state->expected[b] && check_output(state, call, b)) return -1;
    return 0;
}
