/*
 * trace_places.h - addresses and handles of a process as numbers that are the same in another
 * process which does the same: an address by its allocation, a handle by the order in which it
 * came. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/cuda/cubin.h"

/* The allocation that an address is in. One that is made where another was has another id. */
struct trace_range {
    uint64_t begin, bytes, id;
    bool on_host; /* or managed: the host may write it without a call */
};
/* false: it is no address of an allocation. */
typedef bool trace_lookup(uint64_t address, struct trace_range *range);

/* A word that is no address of an allocation, without what differs from process to process.
 * `is_read`: it is an address of the host, and the device reads all of the host's memory. */
typedef uint64_t trace_plain(uint64_t word, bool *is_read);

struct trace_places {
    trace_lookup *lookup;
    trace_plain *plain;
    const void **handles;
    int handle_count;
    struct trace_range *ranges;
    int range_count;
    bool is_incomplete; /* memory was short */
};

/* Number handles and allocations from the beginning; frees them. */
void trace_places_forget(struct trace_places *places);

/* The number of a handle (a stream, an event): 1 for the first that came. */
int trace_places_handle(struct trace_places *places, const void *handle);
void trace_places_handle_gone(struct trace_places *places, const void *handle);

/* "range 2 of 4096 bytes + 128" of an address; "host" of one that is in no allocation. */
enum { TRACE_ADDRESS = 96 };
void trace_places_address(struct trace_places *places, uint64_t address, char out[TRACE_ADDRESS]);
bool trace_places_is_device(struct trace_places *places, uint64_t address);

/* A hash of bytes in which each aligned word that is an address counts as its place. *reads_host is
 * set where it is one of the host, whose memory the device may read. */
struct code_hash trace_places_hash(struct trace_places *places, const void *bytes, size_t size,
                                   bool *reads_host);
