/*
 * shape.h - the dims of operations and the shapes that give them values. Pure.
 */
#pragma once

#include "case/work.h"

struct json; /* base/json.h */

/* How many dims an operation has. */
int shape_dims(const struct assay_operation *operation);

/* Index of the dim of this name, or -1. */
int shape_dim(const struct assay_operation *operation, const char *name);

/* Range of a dim's value, both ends included; for a choice dim, of its indices. */
void shape_range(const struct assay_dim *dim, int64_t *min, int64_t *max);

/* Index of a choice of a choice dim, or -1. */
int shape_choice(const struct assay_dim *dim, const char *choice);

/* Every dim at its fallback. */
struct assay_shape shape_default(const struct assay_operation *operation);

bool shape_equal(const struct assay_shape *a, const struct assay_shape *b);

/* "n=5000000 input=fp32": every dim in order. */
void shape_text(const struct assay_shape *shape, char *out, size_t size);

/* What identifies the case of a variant at a shape. */
struct case_id;
void case_id_of(struct case_id *id, const struct assay_variant *variant,
                const struct assay_shape *shape, enum assay_temperature temperature);

/* The text of a shape as a JSON object: sizes are numbers, other values strings. */
void json_shape(struct json *json, const char *text);

/* Parse the output of shape_text. Dims that are not named get their fallback. -1 with
 * assay_error for an unknown dim, a dim named twice, or an impossible value. */
int shape_parse(const struct assay_operation *operation, const char *text,
                struct assay_shape *shape);

/* The work of a shape, and the ceiling that it measures at a temperature (NULL: none), as its
 * operation says; what the operation of an object prints is lost. */
struct case_work shape_work(const struct assay_shape *shape);
const char *shape_ceiling(const struct assay_shape *shape, enum assay_temperature temperature);

/* Bytes of the working set: every byte read and written once. */
double shape_bytes(const struct assay_shape *shape);

/* Size of the guard area before and after each buffer, which detects writes outside it. */
enum { GUARD_BYTES = 64 * 1024 };

/* Bytes of all buffers together; NAN when the operation lists too many. */
double shape_buffer_bytes(const struct assay_shape *shape);
