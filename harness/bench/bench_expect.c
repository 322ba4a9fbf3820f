/* bench_expect.c - what is right: a function of an object or of Python, or another kernel. */
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "bench/bench.h"

/* What a different order of additions may cost in each type. */
double bench_share(enum assay_type type)
{
    static const double share[ASSAY_TYPES] = {
        [ASSAY_F32] = 1e-5,    [ASSAY_F64] = 1e-12,  [ASSAY_F16] = 2e-3,
        [ASSAY_BF16] = 1.6e-2, [ASSAY_E4M3] = 0.125, [ASSAY_E5M2] = 0.25};
    return share[type];
}

/* The function of the object, each output judged by its own type unless a tolerance was said. */
static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    const struct bench *bench = bench_of(shape->operation);
    struct assay_buffer buffers[ASSAY_MAX_BUFFERS];
    int status = bench->reference(shape, in, buffer, begin, end, expected, bound);
    if (status || bench->has_tolerance) return status;
    bench->operation.buffers(shape, buffers);
    double share = bench_share(buffers[buffer].type);
    for (int64_t i = 0; i < end - begin; i++)
        if (isnan(bound[i]) && isfinite(expected[i])) bound[i] = share * (1 + fabs(expected[i]));
    return 0;
}

static int find_file(struct bench *bench, const char *file)
{
    char path[PATH_MAX];
    if (bench_path(file, bench->path, path)) return -1;
    if (!realpath(path, bench->reference_file))
        return assay_error("expect = %s: cannot be read: %s", file, strerror(errno));
    return 0;
}

/* NAME_reference of a shared object, and where it is there NAME_reference_cost: functions as
 * assay_operation has them. The object stays loaded. */
static int use_object(struct bench *bench, const char *file)
{
    char symbol[ASSAY_MAX_NAME + 32];
    if (find_file(bench, file)) return -1;
    void *library = dlopen(bench->reference_file, RTLD_NOW | RTLD_LOCAL);
    if (!library) return assay_error("expect = %s: cannot be loaded: %s", file, dlerror());
    snprintf(symbol, sizeof symbol, "%s_reference", bench->name);
    void *function = dlsym(library, symbol);
    if (!function) return assay_error("expect = %s: it has no function %s", file, symbol);
    memcpy(&bench->reference, &function, sizeof function);
    bench->operation.reference = reference;
    snprintf(symbol, sizeof symbol, "%s_reference_cost", bench->name);
    function = dlsym(library, symbol);
    memcpy(&bench->operation.reference_cost, &function, sizeof function);
    return 0;
}

/* The function `reference` of a file of Python: of arrays in float64, whole numbers in int64, and
 * of the sizes that it has parameters for; returns the output, or a tuple of them. */
static int use_python(struct bench *bench, const char *file)
{
    if (find_file(bench, file)) return -1;
    bench->reference = bench_python_reference;
    bench->operation.reference = reference;
    bench->operation.reference_run = bench_python_run;
    return 0;
}

/* "FILE:KERNEL", launched as the first kernel is. */
static int use_kernel_of_file(struct bench *bench, const char *expect)
{
    char file[BENCH_TEXT];
    const char *colon = strchr(expect, ':');
    struct bench_kernel *oracle = &bench->oracle_of_file;
    if (!colon)
        return assay_error(
            "expect = %s: it is FILE.so, FILE.py, FILE.cu:KERNEL or the name of a [kernel]",
            expect);
    snprintf(file, sizeof file, "%.*s", (int)(colon - expect), expect);
    *oracle = bench->kernel[0];
    oracle->nulls = 0;
    text_copy(oracle->name, sizeof oracle->name, expect);
    text_copy(oracle->kernel, sizeof oracle->kernel, colon + 1);
    if (bench_path(file, bench->path, oracle->file)) return -1;
    if (!kernel_image_is_file(file))
        return assay_error("expect = %s: a kernel is in a .cu, .cubin or .ptx file", expect);
    bench->oracle = oracle;
    return 0;
}

static bool has_output(const struct bench *bench)
{
    for (int i = 0; i < bench->argument_count; i++)
        if (bench->argument[i].kind == ARGUMENT_BUFFER && bench->argument[i].role == ASSAY_OUT)
            return true;
    return false;
}

int bench_take_expect(struct bench *bench, const char *expect)
{
    if (!expect[0]) return 0;
    if (!has_output(bench))
        return assay_error("expect = %s: no argument is 'out', so nothing can be held against it",
                           expect);
    for (int i = 0; i < bench->kernel_count && !bench->oracle; i++)
        if (!strcmp(bench->kernel[i].name, expect)) bench->oracle = &bench->kernel[i];
    if (bench->oracle) return 0;
    if (text_ends(expect, ".so")) return use_object(bench, expect);
    return text_ends(expect, ".py") ? use_python(bench, expect) : use_kernel_of_file(bench, expect);
}
