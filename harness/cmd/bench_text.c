#define _GNU_SOURCE /* asprintf */
#include "cmd/bench_text.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "assay.h"
#include "base/text.h"
#include "bench/bench.h"

void bench_text_name(const struct bench_text *text, char out[ASSAY_MAX_NAME])
{
    char file[ASSAY_MAX_NAME];
    text_copy(file, sizeof file, text_file_name(text->file));
    file[strcspn(file, ".")] = '\0';
    bench_name(text->name ? text->name : text->kernel ? text->kernel : file, out);
}

static int write_key(FILE *out, const char *key, const char *value)
{
    if (!value) return 0;
    if (strpbrk(value, ";\n") || !text_is_printable(value))
        return assay_error("'%.100s': a value has no ';', no line end and nothing unprintable",
                           value);
    fprintf(out, "%s = %s\n", key, value);
    return 0;
}

/* "n=1Mi" of a size; of an argument "in f32[n]", or with a name, "x=in f32[n]". */
static int write_each(FILE *out, const char *what, const struct each *each)
{
    bool is_size = strcmp(what, "size") == 0;
    for (int i = 0; i < each->count; i++) {
        const char *text = each->text[i], *equals = strchr(text, '=');
        char key[ASSAY_MAX_NAME + 8];
        if (is_size && (!equals || equals == text))
            return assay_error("--size %s: it is NAME=VALUE, as n=1Mi", text);
        if (equals)
            snprintf(key, sizeof key, "%s %.*s", what, (int)(equals - text), text);
        else
            snprintf(key, sizeof key, "%s a%d", what, i);
        if (write_key(out, key, equals ? equals + 1 : text)) return -1;
    }
    return 0;
}

/* A path as it is seen from any folder. A file that is to be loaded must be there. */
static int write_path(FILE *out, const char *key, const char *path, const char *behind)
{
    char *real = realpath(path, NULL), *value = NULL;
    if (!real) return assay_error("%s: cannot be read: %s", path, strerror(errno));
    int failed = asprintf(&value, "%s%s", real, behind) < 0 ? assay_error("out of memory")
                                                            : write_key(out, key, value);
    free(real);
    free(value);
    return failed;
}

/* FILE.so or FILE.cu:KERNEL. */
static int write_expect(FILE *out, const char *expect)
{
    char path[PATH_MAX];
    const char *colon = expect ? strchr(expect, ':') : NULL;
    if (!expect) return 0;
    if (!colon) return write_path(out, "expect", expect, "");
    snprintf(path, sizeof path, "%.*s", (int)(colon - expect), expect);
    return write_path(out, "expect", path, colon);
}

int bench_text_write(FILE *out, const struct bench_text *text)
{
    const char *const keys[][2] = {
        {"kernel", text->kernel},    {"grid", text->grid},
        {"block", text->block},      {"shared", text->shared},
        {"cluster", text->cluster},  {"bytes", text->bytes},
        {"flops", text->flops},      {"tolerance", text->tolerance},
        {"options", text->compiler}, {"temperature", text->temperature},
    };
    char name[ASSAY_MAX_NAME];
    bench_text_name(text, name);
    fprintf(out, "[bench %s]\n", name);
    if (write_path(out, "file", text->file, "")) return -1;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (write_key(out, keys[i][0], keys[i][1])) return -1;
    if (write_each(out, "size", &text->sizes) || write_each(out, "arg", &text->arguments))
        return -1;
    return write_expect(out, text->expect);
}
