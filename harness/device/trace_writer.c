#define _GNU_SOURCE /* mkostemps, tdestroy */
#include "device/trace_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/cuda/symbols.h"

enum {
    MOST_BYTES = 16 << 20, /* unwritten; a disk that stays full must not fill the memory */
    MOST_SERIES = 1 << 14, /* what follows in other ranges is of TRACE_MORE_RANGES */
    MOST_RANGE_NAME = 256,
    ALIGNMENT = 8,
};

struct bytes {
    char *at;
    size_t count, room;
};

/* A node of the tree of series: the first three members are compared. */
struct series {
    struct trace_series is;
    struct trace_total total;
    uint32_t kept; /* durations at the level, about */
    bool is_dirty;
    struct series *next_dirty;
};

struct trace_writer {
    char path[PATH_MAX];
    struct symbols names;
    void *series; /* of tsearch(3) */
    uint32_t name_count, series_count;
    struct series *dirty; /* those with launches since the last flush */
    uint32_t dirty_count;
    struct bytes blocks;      /* that belong before the next batch */
    struct bytes durations;   /* of the next batch */
    uint64_t lost, told_lost; /* launches; of them in the last batch */
    bool is_given_up;
};

/* ----------------------------------------------------------------- bytes -- */

static bool bytes_add(struct bytes *bytes, const void *from, size_t count)
{
    if (bytes->count + count > bytes->room) {
        size_t room = 2 * (bytes->count + count);
        char *grown = realloc(bytes->at, room);
        if (!grown) return false;
        bytes->at = grown;
        bytes->room = room;
    }
    memcpy(bytes->at + bytes->count, from, count);
    bytes->count += count;
    return true;
}

/* A block of two parts, or nothing of it. */
static bool block_add(struct bytes *bytes, enum trace_type type, const void *first,
                      size_t first_count, const void *second, size_t second_count)
{
    static const char zeros[ALIGNMENT];
    size_t before = bytes->count, count = first_count + second_count;
    const struct trace_block block = {type, (uint32_t)count};
    if (count <= UINT32_MAX && bytes_add(bytes, &block, sizeof block) &&
        (first_count == 0 || bytes_add(bytes, first, first_count)) &&
        (second_count == 0 || bytes_add(bytes, second, second_count)) &&
        bytes_add(bytes, zeros, -count % ALIGNMENT))
        return true;
    bytes->count = before;
    return false;
}

/* ----------------------------------------------------------------- names -- */

/* The number of a name, which is written when it is new; 0: out of memory. */
static uint32_t name_number(struct trace_writer *writer, const char *text)
{
    struct symbol *name = symbols_intern(&writer->names, text);
    if (!name) return 0;
    if (name->number == 0 && block_add(&writer->blocks, TRACE_NAME, text, strlen(text), NULL, 0))
        name->number = ++writer->name_count;
    return name->number;
}

/* ---------------------------------------------------------------- series -- */

static int by_identity(const void *left, const void *right)
{
    const struct trace_series *a = &((const struct series *)left)->is;
    const struct trace_series *b = &((const struct series *)right)->is;
    if (a->kernel != b->kernel) return a->kernel < b->kernel ? -1 : 1;
    if (a->range != b->range) return a->range < b->range ? -1 : 1;
    return (a->device > b->device) - (a->device < b->device);
}

static struct series *series_add(struct trace_writer *writer, const struct trace_series *is)
{
    struct series *series = calloc(1, sizeof *series);
    if (!series) return NULL;
    series->is = *is;
    series->total = (struct trace_total){.series = writer->series_count, .min_ns = UINT64_MAX};
    if (!block_add(&writer->blocks, TRACE_SERIES, is, sizeof *is, NULL, 0)) {
        free(series);
        return NULL;
    }
    writer->series_count++;
    if (tsearch(series, &writer->series, by_identity)) return series;
    free(series);
    return NULL;
}

static struct series *series_find(struct trace_writer *writer, const struct trace_series *is)
{
    const struct series wanted = {.is = *is};
    struct series *const *found = tfind(&wanted, &writer->series, by_identity);
    return found ? *found : NULL;
}

/* The launches in the ranges of one name each are few series, those in numbered ones are not. */
static struct series *series_in(struct trace_writer *writer, struct trace_series *is,
                                const char *range)
{
    char name[MOST_RANGE_NAME];
    snprintf(name, sizeof name, "%s", range);
    is->range = name_number(writer, name);
    struct series *series = series_find(writer, is);
    if (series || writer->series_count < MOST_SERIES) return series;
    is->range = name_number(writer, TRACE_MORE_RANGES);
    return series_find(writer, is);
}

/* NULL: out of memory. */
static struct series *series_of(struct trace_writer *writer, const struct trace_launch *launch)
{
    struct trace_series is = {
        .device = launch->device,
        .kernel = name_number(writer, launch->kernel),
        .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
        .block = {launch->block[0], launch->block[1], launch->block[2]},
        .registers = launch->registers,
        .static_shared_bytes = launch->static_shared_bytes,
        .dynamic_shared_bytes = launch->dynamic_shared_bytes,
        .local_bytes = launch->local_bytes,
    };
    bool has_range = launch->range && launch->range[0];
    struct series *series =
        has_range ? series_in(writer, &is, launch->range) : series_find(writer, &is);
    bool has_names = is.kernel != 0 && (is.range != 0 || !has_range);
    return series || !has_names ? series : series_add(writer, &is);
}

static bool is_alike(const struct trace_series *is, const struct trace_launch *launch)
{
    return memcmp(is->grid, launch->grid, sizeof is->grid) == 0 &&
           memcmp(is->block, launch->block, sizeof is->block) == 0 &&
           is->dynamic_shared_bytes == launch->dynamic_shared_bytes;
}

static void mark_dirty(struct trace_writer *writer, struct series *series)
{
    if (series->is_dirty) return;
    series->is_dirty = true;
    series->next_dirty = writer->dirty;
    writer->dirty = series;
    writer->dirty_count++;
}

/* Launches past the last number are counted and not kept. */
static void keep_duration(struct trace_writer *writer, struct series *series, uint64_t ns)
{
    uint64_t number = series->total.count - 1;
    if (number > UINT32_MAX || !trace_keeps((uint32_t)number, series->total.level)) return;
    const struct trace_duration duration = {series->total.series, (uint32_t)number, (float)ns};
    bytes_add(&writer->durations, &duration, sizeof duration); /* or it is not kept */
    if (++series->kept < TRACE_KEEP) return;
    series->kept /= 2;
    series->total.level++;
}

void trace_writer_launch(struct trace_writer *writer, const struct trace_launch *launch)
{
    if (writer->is_given_up) return;
    bool has_times = launch->start_ns != 0 && launch->end_ns >= launch->start_ns;
    struct series *series = has_times ? series_of(writer, launch) : NULL;
    if (!series) {
        writer->lost++;
        return;
    }
    struct trace_total *total = &series->total;
    uint64_t ns = launch->end_ns - launch->start_ns;
    total->count++;
    total->total_ns += ns;
    if (ns < total->min_ns) total->min_ns = ns;
    if (ns > total->max_ns) total->max_ns = ns;
    if (!is_alike(&series->is, launch)) total->is_varied = 1;
    keep_duration(writer, series, ns);
    mark_dirty(writer, series);
}

void trace_writer_device(struct trace_writer *writer, const struct trace_device *device)
{
    block_add(&writer->blocks, TRACE_DEVICE, device, sizeof *device, NULL, 0);
}

void trace_writer_lost(struct trace_writer *writer, uint64_t launches)
{
    writer->lost += launches;
}

void trace_writer_failed(struct trace_writer *writer, const char *why)
{
    block_add(&writer->blocks, TRACE_FAILED, why, strlen(why), NULL, 0);
}

/* --------------------------------------------------------------- writing -- */

/* Move what was launched since the last time into a batch. */
static bool batch_add(struct trace_writer *writer)
{
    struct bytes totals = {0};
    const struct trace_batch batch = {
        writer->lost, writer->dirty_count,
        (uint32_t)(writer->durations.count / sizeof(struct trace_duration))};
    bool is_whole = bytes_add(&totals, &batch, sizeof batch);
    for (struct series *series = writer->dirty; series && is_whole; series = series->next_dirty)
        is_whole = bytes_add(&totals, &series->total, sizeof series->total);
    is_whole = is_whole && block_add(&writer->blocks, TRACE_BATCH, totals.at, totals.count,
                                     writer->durations.at, writer->durations.count);
    free(totals.at);
    if (!is_whole) return false;
    for (struct series *series = writer->dirty; series; series = series->next_dirty)
        series->is_dirty = false;
    writer->dirty = NULL;
    writer->dirty_count = 0;
    writer->durations.count = 0;
    writer->told_lost = writer->lost;
    return true;
}

/* All of it, or the file is as it was. */
static int append(const char *path, const struct bytes *bytes)
{
    struct stat before;
    int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (file < 0) return -1;
    int status = fstat(file, &before);
    for (size_t done = 0; status == 0 && done < bytes->count;) {
        ssize_t written = write(file, bytes->at + done, bytes->count - done);
        if (written > 0) done += (size_t)written;
        if (written < 0 && errno != EINTR) status = -1;
    }
    int why = errno;
    if (status != 0 && ftruncate(file, before.st_size) != 0) why = errno;
    close(file);
    errno = why;
    return status;
}

int trace_writer_flush(struct trace_writer *writer)
{
    if (writer->is_given_up) return -1;
    bool has_news = writer->dirty || writer->told_lost != writer->lost;
    if (has_news && !batch_add(writer)) return -1;
    if (writer->blocks.count == 0) return 0;
    int status = append(writer->path, &writer->blocks);
    if (status == 0) writer->blocks.count = 0;
    writer->is_given_up = writer->blocks.count > MOST_BYTES;
    return status;
}

/* ------------------------------------------------------- opening, ending -- */

struct trace_writer *trace_writer_open(const char *folder)
{
    const struct trace_header header = {TRACE_MAGIC, TRACE_VERSION, (uint32_t)getpid()};
    struct trace_writer *writer = calloc(1, sizeof *writer);
    if (!writer) return NULL;
    /* Containers may share the folder and not the numbers of processes. */
    int length = snprintf(writer->path, sizeof writer->path, "%s/%ld-XXXXXX" TRACE_SUFFIX, folder,
                          (long)getpid());
    int file = length < (int)sizeof writer->path
                   ? mkostemps(writer->path, strlen(TRACE_SUFFIX), O_CLOEXEC)
                   : -1;
    if (file >= 0) close(file);
    if (file >= 0 && bytes_add(&writer->blocks, &header, sizeof header)) return writer;
    free(writer);
    return NULL;
}

void trace_writer_end(struct trace_writer *writer)
{
    if (trace_writer_flush(writer) == 0 && block_add(&writer->blocks, TRACE_END, NULL, 0, NULL, 0))
        trace_writer_flush(writer);
    symbols_release(&writer->names);
    tdestroy(writer->series, free);
    free(writer->blocks.at);
    free(writer->durations.at);
    free(writer);
}
