/*
 * shared_object.h - for tests: a shared library made from source on the spot, to
 * stand in for a vendor's.
 */
#pragma once

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Compile `source` (C) with options of the compiler in a new folder; *path is the library. 0, or
 * -1. */
static inline int shared_object_compile(const char *options, const char *source, char *path,
                                        size_t size)
{
    char folder[] = "/tmp/assay-test-XXXXXX", command[512];
    if (!mkdtemp(folder)) return -1;
    snprintf(path, size, "%s/library.so", folder);
    snprintf(command, sizeof command, "${CC:-cc} -shared -fPIC %s -x c -o %s -", options, path);
    FILE *compiler = popen(command, "w");
    if (!compiler) return -1;
    fputs(source, compiler);
    return pclose(compiler) == 0 ? 0 : -1;
}

static inline int shared_object_make(const char *source, char *path, size_t size)
{
    return shared_object_compile("", source, path, size);
}

static inline void shared_object_remove(char *path)
{
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
}

/* Store a function of a library that is loaded. */
static inline void shared_object_find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    if (!symbol) abort();
}
