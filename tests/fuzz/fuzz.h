/*
 * fuzz.h - what the harnesses share. A harness is one file, fuzz_NAME.c, which gives one parser the
 * bytes that libFuzzer makes (https://llvm.org/docs/LibFuzzer.html) out of those in corpus/NAME/,
 * and uses what comes out as the program would. It states what must hold by fuzz_check; the
 * sanitisers find the rest.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void fuzz_check(int holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "does not hold: %s (%s)\n", what, assay_last_error());
    abort();
}

/* The bytes as a string, to be freed; a NUL among them ends it. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    fuzz_check(text != NULL, "there is memory");
    memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

/* The path of a file of these bytes, in memory. It is the same file each time. */
static inline const char *fuzz_file(const uint8_t *data, size_t size)
{
    static char path[64];
    static int fd = -1;
    if (fd < 0) fd = memfd_create("input", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    fuzz_check(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size,
               "a file is written");
    return path;
}

/* A stream to read these bytes from; NULL for none, which fmemopen does not have. */
static inline FILE *fuzz_stream(const uint8_t *data, size_t size)
{
    return size > 0 ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
}

/* Where output goes that nobody reads. */
static inline FILE *fuzz_sink(void)
{
    static FILE *sink;
    if (!sink) sink = fopen("/dev/null", "w");
    return sink;
}
