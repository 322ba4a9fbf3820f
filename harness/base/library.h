/*
 * library.h - a foreign library loaded at run time, so that the program starts
 * where it is missing: dlopen, and a table of functions filled from it.
 */
#ifndef LIBRARY_H
#define LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* One function and where its pointer goes in the caller's table. */
struct library_symbol {
    const char *name;
    const char *older; /* the name it had before, or NULL */
    size_t offset;     /* of the pointer in the table */
    bool is_optional;  /* left NULL where the library lacks it */
};

/* The first file that opens of names[i] alone (the loader's own search), then
 * of every name in every folder that a pattern (glob) matches. Both lists end
 * with NULL. NULL when none opens; assay_last_error then has the loader's words
 * for the first name. Close with dlclose. */
void *library_open(const char *const *names, const char *const *patterns);

/* Fill `table`. -1 with assay_error when a function that is needed is missing. */
int library_bind(void *library, const struct library_symbol *symbols, int count, void *table);

#endif
