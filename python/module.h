/*
 * module.h - what the files of the module assay._assay share (module.c says what it is).
 *
 * described.c  operations and variants of plain tuples; shapes, buffers and work are tables, so
 *              that planning runs no Python
 * callbacks.c  what runs Python, in a worker: set-up, launch, reference, fill
 */
#pragma once

#define Py_LIMITED_API 0x030A0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "assay.h"

/* One of the sizes for which an operation was described. */
struct instance {
    int64_t value[ASSAY_MAX_DIMS];
    int buffers;
    struct assay_buffer buffer[ASSAY_MAX_BUFFERS];
    struct assay_tolerance tolerance[ASSAY_MAX_BUFFERS];
    struct assay_work work;
    double fp8_ops;
};

/* What `described` says (module.c), valid as long as it is; NULL with an exception. */
const struct assay_object *described_read(PyObject *described);

/* The instance of a shape; NULL: the operation was not described for it. */
const struct instance *described_find(const struct assay_shape *shape);

/* Whose methods are called back; borrowed for the life of the process. */
void callbacks_use(PyObject *host);

/* Python, and what the functions have imported: the version of a library, for both places. */
bool callback_versions(char *out, size_t size);

/* Functions of every described variant, which finds itself by the name of call->variant. */
int callback_setup(struct assay_call *call);
int callback_launch(struct assay_call *call);
void callback_teardown(struct assay_call *call);

/* Functions of every described operation. The reference writes a bound for each element. */
int callback_reference(const struct assay_shape *shape, const void *const in[], int buffer,
                       int64_t begin, int64_t end, double *expected, double *bound);
int callback_fill(const struct assay_shape *shape, int buffer, uint64_t seed, void *host);
