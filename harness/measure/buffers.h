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
    uint64_t seed;       /* of constant inputs and of poison */
    uint64_t input_seed; /* of the other inputs */
    uint64_t poisons;    /* how often poisoned */
    int count;
    struct assay_buffer spec[ASSAY_MAX_BUFFERS];
    void *block[ASSAY_MAX_BUFFERS]; /* the allocation: guard, data, guard */
    void *data[ASSAY_MAX_BUFFERS];
    uint64_t sum[ASSAY_MAX_BUFFERS]; /* checksum of each input after filling */
};

/* Allocate and fill. -1 with assay_error; buffers_release is safe either way. */
int buffers_init(struct buffers *buffers, const struct device_ops *ops, struct device *device,
                 const struct assay_shape *shape, uint64_t seed);
void buffers_release(struct buffers *buffers);

/* Another set at other addresses: constant inputs as in `from`, the others from `input_seed`. */
int buffers_init_moved(struct buffers *buffers, const struct buffers *from, uint64_t input_seed);

/* Draw the inputs that are not constant anew, in place. */
int buffers_redraw(struct buffers *buffers, uint64_t input_seed);

/* Checksum of all outputs. */
int buffers_checksum(const struct buffers *buffers, uint64_t *sum);

/* What a set takes of the device's memory. */
int64_t buffers_bytes(const struct buffers *buffers);

/* Fill every output and scratch buffer with bytes that nobody can guess, others each time. */
int buffers_poison(struct buffers *buffers);

/* The seed of those bytes in one buffer. */
uint64_t buffers_poison_seed(const struct buffers *buffers, int index);

/* Check the guards and inputs. 1: unchanged. 0: a variant wrote where it must not; `reason`
 * says where, and everything is restored. -1: the check could not be made. */
int buffers_intact(struct buffers *buffers, char *reason, size_t size);
