/*
 * lattice_shapes.h - what the tests of the lattice family share: shapes, jobs and blocks of
 * entries.
 */
#pragma once

#include <stdlib.h>

#include "tests/test.h"
#include "base/fill.h"
#include "case/registry.h"
#include "kernels/lattice/lattice.h"

enum { SEED = 11 };

/* A shape of operation `name`; values of dims from the third on. */
static inline struct assay_shape shape_of(const char *name, int64_t rows, int64_t columns,
                                          int lattice, int code, int overload, int type, int data)
{
    struct assay_shape shape = {.operation = registry_operation(name)};
    assert_non_null(shape.operation);
    shape.value[DIM_ROWS] = rows;
    shape.value[DIM_COLUMNS] = columns;
    shape.value[DIM_LATTICE] = lattice;
    shape.value[DIM_CODE] = code;
    shape.value[DIM_OVERLOAD] = overload;
    if (strcmp(name, "lattice_roundtrip") == 0) {
        shape.value[DIM_ROUNDTRIP_DATA] = data;
        return shape;
    }
    shape.value[DIM_TYPE] = type;
    if (strcmp(name, "lattice_encode") == 0) shape.value[DIM_DATA] = data;
    return shape;
}

static inline struct lattice_job job_of(int lattice, int code, int overload)
{
    struct assay_shape shape = shape_of("lattice_encode", 1, 8, lattice, code, overload, 0, 0);
    return lattice_job(&shape);
}

/* Block number i of normal entries of standard deviation `sigma`. */
static inline void normal_block(int d, double sigma, int64_t i, float x[8])
{
    struct assay_fill fill = {.kind = ASSAY_FILL_NORMAL, .b = sigma};
    for (int j = 0; j < d; j++)
        x[j] = (float)fill_value(&fill, NULL, SEED, i * d + j);
}

/* Q(x / beta) as a doubled point; false: lost. */
static inline bool closest(const struct lattice_job *job, const float x[8], int z[8])
{
    float v[8];
    if (!lattice_scale(job->lattice, x, job->r, v)) return false;
    lattice_closest(job->lattice, v, z);
    return true;
}

#define EACH_CODE(lattice, code)                                                                   \
    for (int lattice = 0; lattice < LATTICES; lattice++)                                           \
        for (int code = 0; code < CODES; code++)
