/*
 * trace_fixture.h - traces as a process writes them, as bytes.
 */
#pragma once

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/trace_writer.h"

static inline struct trace_launch fixture_launch(const char *kernel, const char *range, uint64_t ns)
{
    return (struct trace_launch){kernel,      range, 1000, 1000 + ns, 0, {132, 1, 1},
                                 {256, 1, 1}, 32,    1024, 0,         0};
}

static inline void fixture_device(struct trace_writer *writer, int ordinal, const char *uuid)
{
    struct trace_device device = {ordinal,           90,    132, 0, 1 << 18, 50 << 20,
                                  INT64_C(80) << 30, "GPU", ""};
    snprintf(device.uuid, sizeof device.uuid, "%s", uuid);
    trace_writer_device(writer, &device);
}

/* What `fill` writes, to be freed; NULL where that fails. It may end the process in order
 * (trace_writer_end) and return true, or leave it as one that was killed. */
static inline char *fixture_trace(bool (*fill)(struct trace_writer *writer), size_t *size)
{
    char folder[] = "/tmp/assay-test-XXXXXX", pattern[64];
    glob_t found = {0};
    char *bytes = NULL;
    if (!mkdtemp(folder)) return NULL;
    struct trace_writer *writer = trace_writer_open(folder);
    if (writer && !fill(writer)) trace_writer_flush(writer); /* and the process is gone */
    snprintf(pattern, sizeof pattern, "%s/*" TRACE_SUFFIX, folder);
    FILE *in = glob(pattern, 0, NULL, &found) == 0 ? fopen(found.gl_pathv[0], "r") : NULL;
    if (in) {
        bytes = malloc(1 << 24);
        *size = bytes ? fread(bytes, 1, 1 << 24, in) : 0;
        fclose(in);
        unlink(found.gl_pathv[0]);
    }
    globfree(&found);
    rmdir(folder);
    return bytes;
}
