#include "trace/injected.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "assay.h"

/* What make built from device/cuda/inject, and a zero behind it; the zero alone where it could not.
 */
static const unsigned char library[] = {
#include "inject.inc"
    0};

static const char *chosen(void)
{
    const char *path = getenv("ASSAY_TIME_LIBRARY");
    return path && path[0] ? path : NULL;
}

int injected_check(void)
{
    if (chosen() && access(chosen(), R_OK) != 0)
        return assay_error("ASSAY_TIME_LIBRARY: %s: %s", chosen(), strerror(errno));
    if (chosen() || sizeof library > 1) return 0;
    return assay_error("this program was built without CUDA's CUPTI: it cannot record kernels");
}

static int write_all(const char *path)
{
    FILE *out = fopen(path, "wxe");
    bool is_written = out && fwrite(library, 1, sizeof library - 1, out) == sizeof library - 1;
    if (out && fclose(out) != 0) is_written = false;
    return is_written ? 0 : assay_error("%s: cannot be written: %s", path, strerror(errno));
}

int injected_place(const char *folder, char *path, size_t size)
{
    struct statvfs about;
    if (chosen()) {
        snprintf(path, size, "%s", chosen());
        return 0;
    }
    if (statvfs(folder, &about) == 0 && about.f_flag & ST_NOEXEC)
        return assay_error("%s: programs may not be loaded from there (mounted noexec): "
                           "set TMPDIR to a folder from which they may",
                           folder);
    snprintf(path, size, "%s/libassay_time.so", folder);
    return write_all(path);
}
