/*
 * buffers.h - the buffers that the variants of a group use: allocated on the device,
 * filled or poisoned, with guard areas before and after each.
 *
 * Owned by the worker; variants borrow the pointers.
 */
#pragma once

#include "case/shape.h"
#include "device/device.h"

struct buffers {
    const struct device_ops *ops;
    struct device *device;
    const struct assay_shape *shape;
    uint64_t seed;
    int count;
    struct assay_buffer spec[ASSAY_MAX_BUFFERS];
    void *block[ASSAY_MAX_BUFFERS]; /* the allocation: guard, data, guard */
    void *data[ASSAY_MAX_BUFFERS];
    uint64_t sum[ASSAY_MAX_BUFFERS]; /* checksum of each input after filling */
};

/* Two different values, so that an element that is never written cannot pass both checks. */
enum { POISON_FIRST = 0xff, POISON_LAST = 0x7d };

/* Allocate and fill. -1 with assay_error; buffers_release is safe either way. */
int buffers_init(struct buffers *buffers, const struct device_ops *ops, struct device *device,
                 const struct assay_shape *shape, uint64_t seed);
void buffers_release(struct buffers *buffers);

/* Set every output and scratch byte to `poison`. */
int buffers_poison(struct buffers *buffers, uint8_t poison);

/* Check the guards and inputs. 1: unchanged. 0: a variant wrote where it must not; `reason`
 * says where, and everything is restored. -1: the check could not be made. */
int buffers_intact(struct buffers *buffers, char *reason, size_t size);
