/*
 * trace_writer.h - writes the file of trace_format.h. It needs no CUDA, and holds no file open: the
 * program whose process it is may close what it likes. Not thread-safe.
 */
#pragma once

#include "device/trace_format.h"

struct trace_writer;

/* One launch of a kernel. */
struct trace_launch {
    const char *kernel; /* mangled */
    const char *range;  /* NULL: none */
    uint64_t start_ns, end_ns;
    int32_t device;
    int32_t grid[3], block[3];
    int32_t registers, static_shared_bytes, dynamic_shared_bytes, local_bytes;
};

/* Make the file of this process in `folder`. NULL with errno. */
struct trace_writer *trace_writer_open(const char *folder);

/* What follows is in the file once it is flushed. Where memory is short a launch is counted as
 * lost. */
void trace_writer_device(struct trace_writer *writer, const struct trace_device *device);
void trace_writer_launch(struct trace_writer *writer, const struct trace_launch *launch);
void trace_writer_lost(struct trace_writer *writer, uint64_t launches);
void trace_writer_failed(struct trace_writer *writer, const char *why);

/* Write all of it. 0, or -1 with errno: it is tried again with the next, and given up where too
 * much has gathered. */
int trace_writer_flush(struct trace_writer *writer);

/* The process ends in order: write the rest and release the writer. */
void trace_writer_end(struct trace_writer *writer);
