/* bench.c - see bench.h. What is registered is never freed. */
#include "bench/bench.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text.h"
#include "case/registry.h"
#include "suite/suite_file.h"
#include "suite/suite_value.h"

static struct bench **benches;
static int bench_count;

int bench_list(struct bench *const **list)
{
    *list = benches;
    return bench_count;
}

const struct bench *bench_of(const struct assay_operation *operation)
{
    for (int i = 0; i < bench_count; i++)
        if (&benches[i]->operation == operation) return benches[i];
    return NULL;
}

int bench_path(const char *path, const char *beside, char out[PATH_MAX])
{
    int folder = *path == '/' ? 0 : (int)(text_file_name(beside) - beside);
    if (snprintf(out, PATH_MAX, "%.*s%s", folder, beside, path) >= PATH_MAX)
        return assay_error("%.100s...: the path is too long", path);
    return 0;
}

/* A size class has no number before there is a device; a megabyte stands for it until then. */
int bench_first_size(struct assay_dim *dim, const char *list)
{
    struct suite_value *values;
    if (expression_is_function(dim->name))
        return assay_error("a size cannot be called %s, which is a function", dim->name);
    if (!islower((unsigned char)dim->name[0]))
        return assay_error("size '%s': a name is made of a-z, 0-9 and _, and begins with a letter",
                           dim->name);
    if (suite_values(dim, list, &values) < 0) return -1;
    dim->fallback = values[0].class_name ? 1 << 20 : values[0].value;
    free(values);
    return 0;
}

static int kernels_of(const struct suite_file *file, int index, const struct suite_group **first)
{
    int from = file->benches[index].line, count = 0;
    int to = index + 1 < file->bench_count ? file->benches[index + 1].line : INT_MAX;
    *first = NULL;
    for (int i = 0; i < file->kernel_count; i++) {
        if (file->kernels[i].line < from || file->kernels[i].line > to) continue;
        if (count++ == 0) *first = &file->kernels[i];
    }
    return count;
}

static int register_bench(struct bench *bench, const char *name)
{
    bench->operations[0] = &bench->operation;
    for (int i = 0; i < bench->kernel_count; i++) {
        bench->variants[2 * i] = &bench->kernel[i].variant;
        bench->variants[2 * i + 1] = &bench->kernel[i].on_host;
    }
    bench->object = registry_object(bench->operations, 1, bench->variants, 2 * bench->kernel_count);
    return registry_add(&bench->object, name);
}

static int add_bench(const struct suite_file *file, int index, const char *name)
{
    const struct suite_group *kernels;
    int kernel_count = kernels_of(file, index, &kernels);
    struct bench *bench = calloc(1, sizeof *bench);
    if (!bench) return assay_error("out of memory for a kernel");
    struct bench **added = grow_add(&benches, &bench_count, sizeof *added, "the kernels");
    if (!added) {
        free(bench);
        return -1;
    }
    *added = bench;
    if (bench_read(bench, &file->benches[index], kernels, kernel_count)) return -1;
    if (bench_check_files(bench)) return suite_error_here(file->path, file->benches[index].line);
    return register_bench(bench, name);
}

int bench_load(const char *path, const char *name)
{
    struct suite_file file;
    if (suite_file_read(&file, path)) return -1;
    int failed = file.bench_count ? 0 : assay_error("%s: there is no [bench NAME] in it", name);
    if (file.kernel_count && file.bench_count && file.kernels[0].line < file.benches[0].line)
        failed = suite_error(path, file.kernels[0].line, "a [kernel] stands below its [bench]");
    for (int i = 0; i < file.bench_count && !failed; i++)
        failed = add_bench(&file, i, name);
    suite_file_release(&file);
    return failed;
}
