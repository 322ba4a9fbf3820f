/*
 * text.h - helpers for text that people type: patterns, "did you mean", counts; and for
 * text that they read: lists, widths, lines.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Whether `text` matches a shell pattern (fnmatch: * ? [...]); * takes slashes. */
bool text_glob(const char *pattern, const char *text);

/* Whether `text` is longer than `ending` and ends in it. */
bool text_ends(const char *text, const char *ending);

/* The byte order mark of UTF-8, with which some editors begin a file. */
#define TEXT_MARK "\xef\xbb\xbf"

/* What stands behind `beginning` in `text`; NULL where it does not begin so. */
const char *text_begins(const char *text, const char *beginning);

/* The part of a path behind its last slash, which begins where its folder ends. */
const char *text_file_name(const char *path);

/* The one of `words` nearest to `word`, for "did you mean"; NULL when none is near.
 * The edit distance (insert, delete, replace, swap neighbours: Damerau, CACM 7(3),
 * 1964) may be at most a third of the longer word; case is ignored; the first of
 * equals wins. */
const char *text_nearest(const char *word, const char *const *words, int count);

/* " (did you mean 'x'?)" with the nearest; else " (LEADa, b, c)" of all words, or "" where `lead`
 * is NULL or there is no word. Returns `out`. */
enum { TEXT_HINT = 512 };
const char *text_hint(char out[TEXT_HINT], const char *word, const char *const *words, int count,
                      const char *lead);

/* A table whose rows begin with their name, a const char *: an array of structs, or of names. */
struct named_rows {
    const void *first;
    int count;
    size_t size; /* of a row */
};
#define ROWS(table) ((struct named_rows){table, sizeof(table) / sizeof *(table), sizeof *(table)})
/* The place of the row of this name; -1: none. */
int rows_find(struct named_rows rows, const char *name);
/* text_hint of the names. */
const char *rows_hint(char out[TEXT_HINT], const char *word, struct named_rows rows,
                      const char *lead);

/* The words of an enum, in its order. */
struct words {
    const char *what; /* "status" */
    const char *const *list;
    int count;
};
/* WORDS(status, "ok", "skipped") defines status_words. */
#define WORDS(noun, ...)                                                                           \
    static const char *const noun##_list[] = {__VA_ARGS__};                                        \
    const struct words noun##_words = {#noun, noun##_list, sizeof noun##_list / sizeof(char *)}
/* The word of a value; "" where it has none. */
const char *words_name(const struct words *words, int value);
/* The value of a word (NULL: none); -1 where there is no such word. */
int words_find(const struct words *words, const char *word);

/* Copy into `out`. 0, or -1 when it was cut, which is never within a UTF-8 character. */
int text_copy(char *out, size_t size, const char *text);

/* Parse a count as people write it: "500000", "500k", "1M", "2Mi", "1.5G". Decimal
 * suffixes k M G T, binary Ki Mi Gi Ti, k in either case. False, and *value unchanged,
 * for anything else: a sign, blanks, a fraction of one, more than int64_t holds. */
bool text_parse_count(const char *text, int64_t *value);

/* What a suffix of a count stands for; 0: it is none. "" is 1. */
int64_t text_scale(const char *suffix);

/* Copy a text that somebody else wrote (a database, a process, a file's name) so that it can be
 * printed anywhere: a line end or tab becomes a blank, a control character (C0, DEL, C1) or a byte
 * that is no UTF-8 its escape, "\x1b", since a terminal would obey it. It is cut at `size`, never
 * within a character. Bytes in `kept` stay. `out` may not be `text`. */
void text_printable(char *out, size_t size, const char *text, const char *kept);
/* Whether that changes nothing. */
bool text_is_printable(const char *text);

/* Length in bytes of the UTF-8 sequence that `text` begins with; 0 if it is invalid. */
int text_utf8_length(const char *text);

/* Append as printf to what is in `out`, after `between` unless that is empty; cut at `size`. */
void text_add(char *out, size_t size, const char *between, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Append a word of a command line, behind a blank, and quoted for a shell where it must be. */
void text_add_word(char *out, size_t size, const char *word);

/* The same as text_add of one text, whose format has one %s; nothing if it is empty. */
void text_part(char *out, size_t size, const char *between, const char *format, const char *text);

/* Width of a UTF-8 text on a terminal: one column per character. */
int text_width(const char *text);

/* Bytes of `text` that fit into `width` columns; a longer one is cut at a blank if it has one. */
int text_fitting(const char *text, int width);

/* Write a text and its line end, from column `at` on, in lines of `width` columns. Those after
 * the first begin at `indent`. Where `width` leaves them less than 4 columns they have 4. */
void text_wrap(FILE *out, const char *text, int at, int indent, int width);
/* The same of up to 2047 bytes as printf makes them, behind `at` blanks; further lines begin two
 * columns further in. Nothing of "". */
void text_line(FILE *out, int at, int width, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
