/*
 * trace_acts.h - what a process had its GPU do, as lines in order that are the same in another
 * process which does the same: addresses are told by their allocation, and handles by the order in
 * which they came. Pure; launch_trace_cuda.c fills it from the driver's calls.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "case/fingerprint.h"
#include "device/cuda/cubin.h"
#include "device/cuda/trace_places.h"
#include "device/device.h"

struct trace_acts;

/* NULL when out of memory. */
struct trace_acts *trace_acts_new(trace_lookup *lookup, trace_plain *plain);
void trace_acts_free(struct trace_acts *acts);

/* Whether a case is being traced. */
bool trace_acts_open(const struct trace_acts *acts);

/* End the part of the trace that was, and begin the next; facts of what ended go to `print`.
 * `kernels`: how many ran in it, by the records of the device; -1 not known. */
void trace_acts_step(struct trace_acts *acts, enum trace_step step, int kernels,
                     struct fingerprint *print);

/* Something was enqueued, or changed what is enqueued later. */
void trace_act(struct trace_acts *acts, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* So many kernels run for it. */
void trace_acts_kernels(struct trace_acts *acts, int kernels);

/* The host waited, or read what the device wrote: what it does behind that is its own doing. */
void trace_acts_waited(struct trace_acts *acts);
void trace_acts_host(struct trace_acts *acts);
/* Bytes of the host are copied: a graph copies what they are by the time it is launched. */
void trace_acts_read(struct trace_acts *acts);
/* The host took the time of something: what is set up may follow from it. The milliseconds that it
 * is to find, in a setup: each a millisecond longer than the last one, so that of candidates the
 * first is the fastest and the others need few trials. 0: what it took. */
float trace_acts_timed(struct trace_acts *acts);
void trace_acts_doubt(struct trace_acts *acts, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The number of a handle (a stream, an event): 1 for the first that came in this case. */
int trace_handle(struct trace_acts *acts, const void *handle);
void trace_handle_gone(struct trace_acts *acts, const void *handle);

/* As of trace_places.h. */
void trace_address(struct trace_acts *acts, uint64_t address, char out[TRACE_ADDRESS]);
bool trace_is_device(struct trace_acts *acts, uint64_t address);
/* Of bytes that the device is given, as trace_places_hash. */
struct code_hash trace_bytes(struct trace_acts *acts, const void *bytes, size_t size);

/* A setting that holds until it is changed: number `id` of a handle (a kernel, a stream), or of the
 * context (NULL). */
void trace_set(struct trace_acts *acts, const void *handle, int id, const void *value, size_t size);
/* A hash of all the settings of a handle. */
uint64_t trace_settings(const struct trace_acts *acts, const void *handle);

/* What is enqueued between these goes into a graph, and not to the device. */
void trace_capture_begin(struct trace_acts *acts);
void trace_capture_end(struct trace_acts *acts, const void *graph);
void trace_graph_made(struct trace_acts *acts, const void *graph, const void *executable);
void trace_graph_launched(struct trace_acts *acts, const void *executable, const void *stream);
