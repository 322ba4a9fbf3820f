/*
 * text.h - small helpers for names that people type. Pure.
 */
#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether `text` matches a shell pattern (fnmatch: * ? [...]); * takes slashes. */
bool text_glob(const char *pattern, const char *text);

/* The one of `words` that `word` was likely meant to be, for "did you mean";
 * NULL when none is near. Nearest by edit distance (insert, delete, replace,
 * swap of neighbours: Damerau, CACM 7(3), 1964), at most a third of the longer
 * word; case does not matter; the first of equals. */
const char *text_nearest(const char *word, const char *const *words, int count);

/* Copy into `out`. 0, or -1 when it was cut; never within a UTF-8 character. */
int text_copy(char *out, size_t size, const char *text);

/* A count as people write it: "500000", "500k", "1M", "2Mi", "1.5G". Decimal
 * suffixes k M G T, binary Ki Mi Gi Ti, k in either case. False, and *value as
 * it was, for anything else: a sign, blanks, a part of one, more than int64_t. */
bool text_parse_count(const char *text, int64_t *value);

/* Length of the UTF-8 sequence that `text` begins with; 0 when it is not one. */
int text_utf8_length(const char *text);

#endif
