/* bench_read.c - the sections of a description. */
#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "bench/bench.h"
#include "case/registry.h"
#include "case/result.h"
#include "suite/suite_file.h"

/* ------------------------------------------------------ keys of a kernel -- */

#define KEY(member)                                                                                \
    {                                                                                              \
#member, offsetof(struct bench_kernel, member), sizeof((struct bench_kernel *)0)->member   \
    }
static const struct {
    const char *name;
    size_t at, size;
} kernel_keys[] = {KEY(file),   KEY(kernel),  KEY(grid),   KEY(block),
                   KEY(shared), KEY(cluster), KEY(options)};
#undef KEY
enum { KERNEL_KEYS = sizeof kernel_keys / sizeof *kernel_keys };

/* The others of a bench; what a group may have too (temperature, budget) is the suite's. */
static const char *const bench_keys[] = {"summary", "bytes", "flops", "expect", "tolerance"};
enum { BENCH_KEYS = sizeof bench_keys / sizeof *bench_keys };

static int refuse_key(const char *section, const struct suite_key *key, bool is_bench)
{
    const char *known[KERNEL_KEYS + BENCH_KEYS + 3];
    int count = 0;
    char hint[TEXT_HINT];
    for (int i = 0; i < KERNEL_KEYS; i++)
        known[count++] = kernel_keys[i].name;
    for (int i = 0; is_bench && i < BENCH_KEYS; i++)
        known[count++] = bench_keys[i];
    known[count++] = "kind";
    if (is_bench) known[count++] = "size NAME", known[count++] = "arg NAME";
    return assay_error("[%s] has no key '%s'%s", section, key->name,
                       text_hint(hint, key->name, known, count, "there are "));
}

/* 1: it was one of a kernel's. */
static int take_kernel_key(struct bench_kernel *kernel, const struct suite_key *key,
                           const char *beside)
{
    int i = rows_find(ROWS(kernel_keys), key->name);
    if (i >= 0) {
        char *at = (char *)kernel + kernel_keys[i].at;
        bool is_path = kernel_keys[i].at == offsetof(struct bench_kernel, file);
        if (is_path) return bench_path(key->value, beside, at) ? -1 : 1;
        text_copy(at, kernel_keys[i].size, key->value);
        return 1;
    }
    if (strcmp(key->name, "kind")) return 0;
    int kind = kind_parse(key->value);
    if (kind < 0 || kind == ASSAY_BOUND)
        return assay_error("kind = %s: a kernel is 'kernel', 'baseline' or 'reference'",
                           key->value);
    kernel->kind = (enum assay_kind)kind;
    return 1;
}

/* --------------------------------------------------------- keys of a bench -- */

static int add_size(struct bench *bench, const struct suite_key *key)
{
    const char *name = key->name + strlen("size ");
    if (bench->dim_count == ASSAY_MAX_DIMS)
        return assay_error("more than %d sizes", ASSAY_MAX_DIMS);
    text_copy(bench->dim_name[bench->dim_count], ASSAY_MAX_NAME, name);
    struct assay_dim *dim = &bench->operation.dims[bench->dim_count];
    dim->name = bench->dim_name[bench->dim_count++];
    dim->summary = "a size";
    dim->fallback = 1; /* of the range, until the value is known */
    return bench_first_size(dim, key->value);
}

static int add_argument(struct bench *bench, const struct suite_key *key)
{
    if (bench->argument_count == BENCH_MAX_ARGUMENTS)
        return assay_error("more than %d arguments", BENCH_MAX_ARGUMENTS);
    struct argument *argument = &bench->argument[bench->argument_count++];
    text_copy(argument->name, sizeof argument->name, key->name + strlen("arg "));
    return argument_parse(argument, key->value)
               ? assay_error("argument %d, %s: %s", bench->argument_count, argument->name,
                             assay_last_error())
               : 0;
}

static int take_tolerance(struct bench *bench, const char *text)
{
    char copy[BENCH_TEXT];
    text_copy(copy, sizeof copy, text);
    char *comma = strchr(copy, ',');
    struct assay_tolerance *tolerance = &bench->operation.tolerance;
    bench->has_tolerance = true;
    if (!comma) return assay_error("tolerance = %s: it is ABSOLUTE, RELATIVE", text);
    *comma = '\0';
    if (expression_real(copy, NULL, &tolerance->abs) ||
        expression_real(comma + 1, NULL, &tolerance->rel))
        return -1;
    if (tolerance->abs < 0 || tolerance->rel < 0) return assay_error("a tolerance is not below 0");
    return 0;
}

static int take_key(struct bench *bench, struct bench_kernel *common, const struct suite_key *key,
                    char expect[BENCH_TEXT])
{
    if (text_begins(key->name, "size ")) return add_size(bench, key);
    if (text_begins(key->name, "arg ")) return add_argument(bench, key);
    int taken = take_kernel_key(common, key, bench->path);
    if (taken) return taken < 0 ? -1 : 0;
    if (!strcmp(key->name, "tolerance")) return take_tolerance(bench, key->value);
    char *text = !strcmp(key->name, "summary")  ? bench->summary
                 : !strcmp(key->name, "bytes")  ? bench->bytes
                 : !strcmp(key->name, "flops")  ? bench->flops
                 : !strcmp(key->name, "expect") ? expect
                                                : NULL;
    if (text) return text_copy(text, BENCH_TEXT, key->value), 0;
    bool is_of_group = registry_is_group_key(key->name) && strcmp(key->name, "operation") != 0;
    return is_of_group ? 0 : refuse_key("bench", key, true);
}

/* ---------------------------------------------------------------- kernels -- */

void bench_name(const char *kernel, char out[ASSAY_MAX_NAME])
{
    char *plain = kernel_plain_name(kernel);
    size_t length = 0;
    for (const char *at = plain ? plain : kernel; *at && length < ASSAY_MAX_NAME - 1; at++) {
        bool is_kept = isalnum((unsigned char)*at) || *at == '_';
        if (is_kept)
            out[length++] = (char)tolower((unsigned char)*at);
        else if (length && out[length - 1] != '_')
            out[length++] = '_';
    }
    while (length && out[length - 1] == '_')
        length--;
    out[length] = '\0';
    free(plain);
}

static int complete_kernel(struct bench_kernel *kernel)
{
    if (!kernel->file[0]) return assay_error("there is no file (file = NAME.cu, .cubin or .ptx)");
    if (!kernel_image_is_file(kernel->file))
        return assay_error("%s: a file ends in .cu, .cubin or .ptx", kernel->file);
    if (bench_take_triton(kernel)) return -1;
    if (!kernel->kernel[0])
        return assay_error("no kernel is named (kernel = NAME, or --kernel NAME)");
    if (!kernel->grid[0]) return assay_error("there is no grid (grid = ceil(n/256))");
    if (!kernel->block[0]) return assay_error("there is no block (block = 256)");
    if (!kernel->name[0]) bench_name(kernel->kernel, kernel->name);
    return 0;
}

static int add_kernel(struct bench *bench, const struct bench_kernel *common,
                      const struct suite_group *section)
{
    if (bench->kernel_count == BENCH_MAX_KERNELS)
        return suite_error(section->file, section->line, "more than %d kernels", BENCH_MAX_KERNELS);
    struct bench_kernel *kernel = &bench->kernel[bench->kernel_count++];
    *kernel = *common;
    text_copy(kernel->name, sizeof kernel->name, section->label);
    for (int i = 0; i < section->key_count; i++) {
        int taken = take_kernel_key(kernel, &section->keys[i], bench->path);
        if (taken == 0) refuse_key("kernel", &section->keys[i], false);
        if (taken <= 0) return suite_error_here(section->file, section->keys[i].line);
    }
    return complete_kernel(kernel) ? suite_error_here(section->file, section->line) : 0;
}

int bench_read(struct bench *bench, const struct suite_group *section,
               const struct suite_group *kernels, int kernel_count)
{
    struct bench_kernel common = {.kind = ASSAY_KERNEL};
    char expect[BENCH_TEXT] = "";
    text_copy(bench->name, sizeof bench->name, section->label);
    text_copy(bench->path, sizeof bench->path, section->file);
    for (int i = 0; i < section->key_count; i++)
        if (take_key(bench, &common, &section->keys[i], expect))
            return suite_error_here(section->file, section->keys[i].line);
    for (int i = 0; i < kernel_count; i++)
        if (add_kernel(bench, &common, &kernels[i])) return -1;
    if (kernel_count == 0) {
        if (complete_kernel(&common)) return suite_error_here(section->file, section->line);
        bench->kernel[bench->kernel_count++] = common;
    }
    if (bench_define(bench, expect)) return suite_error_here(section->file, section->line);
    return 0;
}
