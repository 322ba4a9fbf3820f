/*
 * bench_fixture.h - for tests: a description and the files that it names, in a folder of their own.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assay.h"
#include "base/error.h"

static char fixture_folder[64];

static inline const char *fixture_path(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", fixture_folder, name);
    return path;
}

static inline const char *fixture_write(const char *name, const char *text)
{
    FILE *out = fopen(fixture_path(name), "w");
    fputs(text, out);
    fclose(out);
    return fixture_path(name);
}

/* Kernels `scale`, `bad` and `near` of (x, y, n, factor); `plain`, `two` and `wide` of one, two and
 * five pointers; `five` of a struct. */
static const char fixture_ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry _Z5scalePKfPfif(.param .u64 a, .param .u64 b, .param .u32 c, .param .f32 d)\n"
    "{ ret; }\n"
    ".visible .entry _Z3badPKfPfif(.param .u64 a, .param .u64 b, .param .u32 c, .param .f32 d)\n"
    "{ ret; }\n"
    ".visible .entry _Z4nearPKfPfif(.param .u64 a, .param .u64 b, .param .u32 c, .param .f32 d)\n"
    "{ ret; }\n"
    ".visible .entry plain(.param .u64 a)\n{ ret; }\n"
    ".visible .entry two(.param .u64 a, .param .u64 b)\n{ ret; }\n"
    ".visible .entry wide(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, "
    ".param .u64 e)\n{ ret; }\n"
    ".visible .entry five(.param .align 4 .b8 a[20])\n{ ret; }\n";

static inline int fixture_make(void **state)
{
    strcpy(fixture_folder, "/tmp/assay-test-XXXXXX");
    if (!mkdtemp(fixture_folder)) return -1;
    fixture_write("k.ptx", fixture_ptx);
    return 0;
}

static inline int fixture_remove(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", fixture_folder);
    return system(command);
}
