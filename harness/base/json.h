/*
 * json.h - writes one JSON document (RFC 8259) to a stream, value by value.
 *
 *   struct json json;
 *   json_begin(&json, stdout, 2);
 *   json_begin_object(&json);
 *   json_key(&json, "time_ns");
 *   json_number(&json, NAN);            writes null: not measured
 *   if (json_finish(&json)) ...         closes the object; the stream failed
 *
 * The writer adds commas, line ends and indentation. The caller writes a key before
 * each value of an object and keeps within JSON_MAX_DEPTH (both asserted).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { JSON_MAX_DEPTH = 32 };

struct json {
    FILE *out; /* borrowed */
    int indent;
    int depth;
    bool is_array[JSON_MAX_DEPTH];
    bool has_member[JSON_MAX_DEPTH];
    bool has_key; /* a key is written and waits for its value */
};

/* `indent`: spaces per level; 0 writes the document on one line. */
void json_begin(struct json *json, FILE *out, int indent);

/* Close what is open and end the line. -1 with assay_error when the stream failed on the way. */
int json_finish(struct json *json);

void json_begin_object(struct json *json);
void json_begin_array(struct json *json);
void json_end(struct json *json); /* closes the innermost object or array */

void json_key(struct json *json, const char *name);

/* UTF-8 passes through; a byte that is not UTF-8 becomes U+FFFD. NULL: null. */
void json_string(struct json *json, const char *text);

/* A finite number in the fewest digits that read back as the same double. */
enum { JSON_DIGITS = 32 };
void json_digits(double value, char out[JSON_DIGITS]);

/* In these; null for NAN and infinities. */
void json_number(struct json *json, double value);
void json_int(struct json *json, int64_t value);
void json_bool(struct json *json, bool value);
void json_null(struct json *json);

/* A member of an object, its key and its value, in one call; an object or array is left open. */
void json_object_member(struct json *json, const char *key);
void json_array_member(struct json *json, const char *key);
void json_text_member(struct json *json, const char *key, const char *text); /* NULL: null */
void json_known_member(struct json *json, const char *key,
                       const char *text); /* "", unknown: null */
void json_number_member(struct json *json, const char *key, double value);
void json_int_member(struct json *json, const char *key, int64_t value);
void json_count_member(struct json *json, const char *key, int64_t value); /* -1, unknown: null */
void json_bool_member(struct json *json, const char *key, bool value);
