/*
 * bench_text.h - what `assay bench FILE.cu ...` was given as options, as the text that describes
 * the kernel in a file (bench/bench.h).
 */
#pragma once

#include <stdio.h>

#include "cmd/commands.h"

struct bench_text {
    const char *file, *name, *kernel, *grid, *block, *shared, *cluster, *bytes, *flops, *expect,
        *tolerance, *compiler, *temperature;
    struct each sizes, arguments;
};

/* The name of the operation: that which was given, else made of the kernel's or the file's. */
void bench_text_name(const struct bench_text *text, char out[ASSAY_MAX_NAME]);

/* -1 with assay_error: a value cannot stand in such a text. */
int bench_text_write(FILE *out, const struct bench_text *text);
