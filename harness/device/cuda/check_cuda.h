/*
 * check_cuda.h - the functions of struct device_ops that judge whole outputs, on a GPU.
 */
#pragma once

#include "device/cuda/device_cuda.h"

int cuda_poison(struct device *device, void *memory, size_t bytes, uint64_t seed);
int cuda_unwritten(struct device *device, const void *memory, enum assay_type type, int64_t count,
                   uint64_t seed, struct unwritten *left);
int cuda_copy(struct device *device, void *to, const void *from, size_t bytes);
int cuda_differ(struct device *device, const void *a, const void *b, enum assay_type type,
                int64_t count, struct difference out[ASSAY_CHECK_PLACES]);
int cuda_signed_sums(struct device *device, const void *matrix, enum assay_type type, int64_t rows,
                     int64_t columns, uint64_t seed, double *sums);
