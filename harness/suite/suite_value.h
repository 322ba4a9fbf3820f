/*
 * suite_value.h - the value of a dim's key in a suite: "500k, 1M..8M*2, 2*l2".
 * docs/suites.md has the grammar.
 */
#pragma once

#include "assay.h"
#include "suite/suite.h"

enum { SUITE_MAX_WORDS = 64, SUITE_MAX_VALUES = 4096 };

/* A list cut at its commas; word[i] points into text. */
struct suite_words {
    char text[SUITE_MAX_VALUE];
    int count;
    char *word[SUITE_MAX_WORDS];
};

/* -1 with assay_error when the list or an item is empty, or there are too many. */
int suite_words_split(struct suite_words *words, const char *list);

/* A number (the index of a choice), or a size class that a device turns into one. */
struct suite_value {
    int64_t value;
    const char *class_name; /* "l2" or "vram"; NULL: `value` holds */
    double times;           /* so many times the class's bytes */
};

/* The values that `list` names, in order; *values is freed by the caller.
 * Returns how many; -1 with assay_error (without file and line). */
int suite_values(const struct assay_dim *dim, const char *list, struct suite_value **values);
