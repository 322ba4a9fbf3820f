/*
 * work.h - the least that a case must do: struct assay_work of assay.h, and the operations in FP8,
 * for which that struct, which cannot grow within a version of the contract, has no place.
 */
#pragma once

#include "assay.h"

/* Those of enum assay_arithmetic, and FP8. */
enum { ARITHMETIC_FP8 = ASSAY_ARITHMETICS, ARITHMETICS };

struct case_work {
    double read_bytes;
    double write_bytes;
    double ops[ARITHMETICS];
    bool over_link; /* not stored: follows from operation and shape */
};

/* What the operation of a shape says. */
struct case_work case_work_of(const struct assay_shape *shape);
