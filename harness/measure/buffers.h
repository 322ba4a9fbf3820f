/*
 * buffers.h - the buffers that the variants of a group use: allocated on the device,
 * filled or poisoned, with guard areas before and after each.
 *
 * Owned by the worker; variants borrow the pointers.
 */
#pragma once

#include "case/shape.h"
#include "device/device.h"

struct element_range {
    int64_t begin, count;
};

struct buffers {
    const struct device_ops *ops;
    struct device *device;
    const struct assay_shape *shape;
    uint64_t seed;       /* of inputs as first drawn, and of poison */
    uint64_t input_seed; /* of what buffers_redraw drew; `seed` until then */
    uint64_t poisons;    /* how often poisoned */
    int count;
    struct assay_buffer spec[ASSAY_MAX_BUFFERS];
    void *block[ASSAY_MAX_BUFFERS]; /* the allocation: guard, data, guard */
    void *data[ASSAY_MAX_BUFFERS];
    uint64_t sum[ASSAY_MAX_BUFFERS];                  /* checksum of each input and its guards */
    struct element_range poisoned[ASSAY_MAX_BUFFERS]; /* the last time they were poisoned */
    struct element_range redrawn[ASSAY_MAX_BUFFERS];  /* of inputs, from input_seed */
};

/* Allocate and fill. -1 with assay_error; buffers_release is safe either way. */
int buffers_init(struct buffers *buffers, const struct device_ops *ops, struct device *device,
                 const struct assay_shape *shape, uint64_t seed);
void buffers_release(struct buffers *buffers);

/* Another set at other addresses, with the inputs of `from`. */
int buffers_init_moved(struct buffers *buffers, const struct buffers *from);

/* Draw a part of each input that is not constant anew, in place; all of it where the operation
 * fills it. Equal for all sets of the same two seeds. */
int buffers_redraw(struct buffers *buffers, uint64_t input_seed);

/* Checksum of all outputs. */
int buffers_checksum(const struct buffers *buffers, uint64_t *sum);

/* Bytes of device memory that a set takes, guards included. */
int64_t buffers_bytes(const struct buffers *buffers);

/* Fill every output and scratch buffer with bytes that nobody can guess, others each time. */
int buffers_poison(struct buffers *buffers);

/* Poison only 8 elements of each output, somewhere within (fewer than 32: all), so that a variant
 * which looks at some elements seldom sees that its outputs were poisoned. */
int buffers_poison_part(struct buffers *buffers);

/* The seed of the poison that one buffer was last filled with. */
uint64_t buffers_poison_seed(const struct buffers *buffers, int index);

/* Check the guards and inputs. 1: unchanged. 0: a variant wrote where it must not; `reason`
 * says where, and everything is restored. -1: the check could not be made. */
int buffers_intact(struct buffers *buffers, char *reason, size_t size);

/* Whether a launch wrote all of its outputs, counted on the device over every element that was
 * poisoned (of a large output the reference sees only a sample). Returns how many elements of the
 * first output that is not whole still hold the poison, and says so in `reason`; 0 if all outputs
 * are whole; -1 when they could not be counted. */
int64_t coverage_missing(const struct buffers *buffers, char *reason, size_t size);

/* Whether `left`, found in `count` elements of `bytes` bytes each, shows that some were not
 * written: whole words hold the poison, or more elements than do by chance. Pure. */
bool coverage_is_short(const struct unwritten *left, int64_t count, size_t bytes);
