/*
 * bench_triton.c - what Triton leaves in its cache beside a cubin (NAME.json): the kernel's name,
 * warps, shared memory and clusters, and whether it wants memory of Triton's own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "bench/bench.h"

/* What stands behind "KEY": in a JSON text whose keys are each there once; NULL: nothing. */
static const char *value_of(const char *text, const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\"", key);
    const char *at = strstr(text, quoted);
    if (!at) return NULL;
    at += strlen(quoted);
    at += strspn(at, " \t\r\n");
    return *at == ':' ? at + 1 + strspn(at + 1, " \t\r\n") : NULL;
}

static long number_of(const char *text, const char *key, long otherwise)
{
    const char *value = value_of(text, key);
    char *end;
    long number = value ? strtol(value, &end, 10) : 0;
    return value && end != value ? number : otherwise;
}

/* Older versions write cluster_dims, newer ones only how many blocks a cluster has. */
static void take_clusters(struct bench_kernel *kernel, const char *text)
{
    const char *value = value_of(text, "cluster_dims");
    int x = (int)number_of(text, "num_ctas", 1), y = 1, z = 1;
    if (kernel->cluster[0]) return;
    if (value && sscanf(value, "[%d, %d, %d]", &x, &y, &z) != 3) return;
    if (x > 1 || y > 1 || z > 1)
        snprintf(kernel->cluster, sizeof kernel->cluster, "%d, %d, %d", x, y, z);
}

static int take(struct bench_kernel *kernel, const char *text)
{
    long warps = number_of(text, "num_warps", 0), shared = number_of(text, "shared", -1);
    const char *name = value_of(text, "name");
    if (warps <= 0) return 0; /* somebody else's */
    long scratch =
        number_of(text, "global_scratch_size", 0) + number_of(text, "profile_scratch_size", 0);
    if (scratch > 0)
        return assay_error("%s: the kernel wants %ld bytes of Triton's own memory, which nobody "
                           "gives it here",
                           kernel->file, scratch);
    if (!kernel->kernel[0] && name && *name == '"')
        snprintf(kernel->kernel, sizeof kernel->kernel, "%.*s", (int)strcspn(name + 1, "\""),
                 name + 1);
    if (!kernel->block[0]) snprintf(kernel->block, sizeof kernel->block, "%ld", 32 * warps);
    if (!kernel->shared[0] && shared >= 0)
        snprintf(kernel->shared, sizeof kernel->shared, "%ld", shared);
    take_clusters(kernel, text);
    /* Its compiler adds a pointer for each kind of memory of its own. */
    kernel->nulls = 2;
    return 0;
}

int bench_take_triton(struct bench_kernel *kernel)
{
    char path[PATH_MAX];
    size_t size;
    const char *dot = strrchr(kernel->file, '.');
    if (!dot || strcmp(dot, ".cubin")) return 0;
    if (snprintf(path, sizeof path, "%.*s.json", (int)(dot - kernel->file), kernel->file) >=
            (int)sizeof path ||
        access(path, F_OK))
        return 0;
    char *text = kernel_file_read(path, &size);
    if (!text) return assay_error("%s: %s", path, assay_last_error());
    int failed = take(kernel, text);
    free(text);
    return failed;
}
