/*
 * argument.h - one argument of a kernel, as it is typed:
 *
 *   in f32[rows*columns] normal 0 1     a buffer that it reads; uniform A B, integer A B, value A
 *   out f32[rows]                       one that it writes, whole
 *   scratch u8[4Ki]                     one that may hold anything before and after
 *   i32 columns                         a number
 *   null                                a pointer to nothing
 */
#pragma once

#include "bench/expression.h"
#include "suite/suite.h"

enum argument_kind { ARGUMENT_BUFFER, ARGUMENT_NUMBER, ARGUMENT_NULL };

struct argument {
    char name[ASSAY_MAX_NAME];
    enum argument_kind kind;
    enum assay_role role; /* of a buffer */
    int type;             /* which of argument.c's */
    enum assay_type element;
    char expression[SUITE_MAX_VALUE]; /* count of elements, or the number */
    struct assay_fill fill;
    bool constant;
};

/* The value as the kernel gets it. */
union argument_value {
    void *pointer;
    unsigned char bytes[8];
};

/* -1 with assay_error. */
int argument_parse(struct argument *argument, const char *text);

/* Bytes that the kernel gets: 8 of a pointer. */
int argument_bytes(const struct argument *argument);

/* The value of a number at these sizes; -1 with assay_error where its type does not hold it. */
int argument_number(const struct argument *argument, const struct assay_shape *shape,
                    union argument_value *value);

/* The beginning of what argument_parse takes: "i32 n", "out f32[n]"; for messages. */
void argument_text(const struct argument *argument, char *out, size_t size);
