/*
 * field.h - members of structs by their names. One table says what SQL, JSON and CSV have of a
 * struct, each under the name of the member:
 *
 *   static FIELD_TABLE(band_fields, FIELDS(noise_band, cases, blocks, p50, p95));
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum field_type {
    FIELD_TEXT,      /* char[size], one line; "" is unknown */
    FIELD_LINES,     /* char[size], one or more */
    FIELD_POINTER,   /* const char *; for JSON alone */
    FIELD_REAL,      /* double; NAN is unknown */
    FIELD_COUNT,     /* int32_t; -1 is unknown */
    FIELD_COUNT64,   /* int64_t; -1 is unknown */
    FIELD_BITS,      /* uint64_t, stored as the int64_t of the same bits */
    FIELD_FLAG,      /* bool, stored as 0 or 1 */
    FIELD_WORD,      /* int32_t enum, stored as its word */
    FIELD_SOME_WORD, /* the same, or -1, which is unknown */
};

struct words;

struct field {
    const char *name; /* NULL ends a table */
    enum field_type type;
    size_t offset, size;
    const struct words *words; /* of the types with a word, else NULL */
};

/* Define a table of these rows, and its end. */
#define FIELD_TABLE(name, ...) const struct field name[] = {__VA_ARGS__, {0}}

/* One row of a table, of any name and type. */
#define FIELD(name, type, owner, member, words)                                                    \
    {                                                                                              \
        name, type, offsetof(struct owner, member), sizeof(((struct owner *)0)->member), words     \
    }
/* Under a name; the type is that of the member. */
#define FIELD_AS(name, owner, member)                                                              \
    FIELD(name,                                                                                    \
          _Generic(((struct owner *)0)->member, char *: FIELD_TEXT, const char *: FIELD_POINTER,   \
                   double: FIELD_REAL, int32_t: FIELD_COUNT, int64_t: FIELD_COUNT64,               \
                   uint64_t: FIELD_BITS, bool: FIELD_FLAG),                                        \
          owner, member, NULL)
/* The word of an enum in an int32_t. */
#define FIELD_OF_WORDS(owner, member, words) FIELD(#member, FIELD_WORD, owner, member, &words)

/* A row for each member that is named, up to 85 of them. */
#define FIELDS(owner, ...) FIELDS_3(FIELDS_NEXT(owner, __VA_ARGS__))
#define FIELDS_3(...)      FIELDS_2(FIELDS_2(FIELDS_2(FIELDS_2(__VA_ARGS__))))
#define FIELDS_2(...)      FIELDS_1(FIELDS_1(FIELDS_1(FIELDS_1(__VA_ARGS__))))
#define FIELDS_1(...)      FIELDS_0(FIELDS_0(FIELDS_0(FIELDS_0(__VA_ARGS__))))
#define FIELDS_0(...)      __VA_ARGS__
#define FIELDS_AGAIN()     FIELDS_NEXT
#define FIELDS_PARENTHESES ()
#define FIELDS_NEXT(owner, member, ...)                                                            \
    FIELD_AS(#member, owner, member)                                                               \
    __VA_OPT__(, FIELDS_AGAIN FIELDS_PARENTHESES(owner, __VA_ARGS__))

struct json;
/* The members of an object; what is unknown is null. */
void json_fields(struct json *json, const struct field *fields, const void *base);
/* The same as an object that is an element of an array, or a member. */
void json_fields_element(struct json *json, const struct field *fields, const void *base);
void json_fields_member(struct json *json, const char *key, const struct field *fields,
                        const void *base);
