/*
 * size_class.h - sizes that follow the device's cache.
 *
 *   l2    the working set (every byte read and written once) is at most a
 *         quarter of the device's cache: hot runs hit it whatever its policy
 *   vram  it is at least eight times the cache: what stays in the cache by
 *         chance is a small share
 *
 * Factors in front scale those bytes: 2*l2 is at most half of the cache.
 */
#pragma once

#include "case/result.h"

enum { SIZE_CLASSES = 2 };
extern const char *const size_class_names[SIZE_CLASSES];

/* The largest (l2) or smallest (vram) value of size dim `dim` that brings
 * `shape` into the class on `device`, at `times` the class's bytes; -1 with
 * assay_error when none does. */
int size_class_solve(const struct assay_shape *shape, int dim, const char *class_name, double times,
                     const struct device_info *device, int64_t *value);
