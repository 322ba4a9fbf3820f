/*
 * library.h - loads a shared library at run time (dlopen) and fills a table of function
 * pointers from it, so that the program also starts where the library is missing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* One function and where its pointer goes in the caller's table. */
struct library_symbol {
    const char *name;
    const char *older; /* the name it had before, or NULL */
    size_t offset;     /* of the pointer in the table */
    bool is_optional;  /* left NULL where the library lacks it */
};

/* Open the first library that loads: each name by the loader's own search path, then
 * each name in each folder that matches a glob in `patterns` (NULL: none). Both lists end with
 * NULL. Returns NULL when none loads; assay_last_error then has the loader's message for the first
 * name. Close with dlclose. */
void *library_open(const char *const *names, const char *const *patterns);

/* Fill `table`. -1 with assay_error when a required function is missing. */
int library_bind(void *library, const struct library_symbol *symbols, int count, void *table);

/* A table of functions that is written once: EACH(f) is a list of
 * f(member, result, (parameters), name, older, is_optional), and of it
 *
 *     struct api {
 *         EACH(LIBRARY_MEMBER)
 *     };
 *     static const struct library_symbol symbols[] = {EACH(LIBRARY_SYMBOL)};
 *
 * Of functions that a header declares it is a list of f(name): LIBRARY_DECLARED, LIBRARY_NAME. */
#define LIBRARY_MEMBER(member, result, parameters, ...) result(*member) parameters;
#define LIBRARY_SYMBOL(member, result, parameters, name, older, is_optional)                       \
    {name, older, offsetof(struct api, member), is_optional},
#define LIBRARY_DECLARED(name) __typeof__(name) *name;
#define LIBRARY_NAME(name)     {#name, NULL, offsetof(struct api, name), false},
