/*
 * host_check.h - the functions of struct device_ops that judge whole outputs, for devices
 * that use host memory (host and sim), parallel with OpenMP. `device` is not used.
 */
#pragma once

#include "device/device.h"

int host_check_poison(struct device *device, void *memory, size_t bytes, uint64_t seed);
int host_check_unwritten(struct device *device, const void *memory, enum assay_type type,
                         int64_t count, uint64_t seed, struct unwritten *left);
int host_check_differ(struct device *device, const void *a, const void *b, enum assay_type type,
                      int64_t count, struct difference out[ASSAY_CHECK_PLACES]);
int host_check_signed_sums(struct device *device, const void *matrix, enum assay_type type,
                           int64_t rows, int64_t columns, uint64_t seed, double *sums);
