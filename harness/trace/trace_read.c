#include "trace/trace_read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/text.h"

/* A file has a few MiB at most, or a process of ours did not write it. */
static const off_t longest_file = 1 << 30;

/* A series of a file, and what the file says of it so far. */
struct series {
    struct trace_series is;
    struct trace_total total; /* count 0: nothing yet */
    int duration_count;
    struct trace_duration *durations;
};

struct file {
    const char *at, *end; /* what is not read yet */
    char **names;         /* number 1 is the first */
    int name_count;
    struct trace_device *devices;
    int device_count;
    struct series *series;
    int series_count;
    uint64_t lost;
    bool is_whole; /* its end was read */
    bool no_memory;
};

static void file_release(struct file *file)
{
    for (int i = 0; i < file->name_count; i++)
        free(file->names[i]);
    for (int i = 0; i < file->series_count; i++)
        free(file->series[i].durations);
    free(file->names);
    free(file->devices);
    free(file->series);
}

/* ---------------------------------------------------------------- blocks -- */

static bool take_name(struct file *file, const char *body, size_t bytes)
{
    char **name = grow_add(&file->names, &file->name_count, sizeof *name, "the names of a trace");
    if (name) *name = strndup(body, bytes);
    file->no_memory = !name || !*name;
    return !file->no_memory;
}

static bool take_device(struct file *file, const char *body, size_t bytes)
{
    struct trace_device *device = NULL;
    if (bytes != sizeof *device) return false;
    device = grow_add(&file->devices, &file->device_count, sizeof *device, "devices");
    file->no_memory = !device;
    if (!device) return false;
    memcpy(device, body, sizeof *device);
    device->name[sizeof device->name - 1] = device->uuid[sizeof device->uuid - 1] = '\0';
    return true;
}

static const struct trace_device *device_of(const struct file *file, int ordinal)
{
    for (int i = 0; i < file->device_count; i++)
        if (file->devices[i].ordinal == ordinal) return &file->devices[i];
    return NULL;
}

/* Such as can be added up: a block has no more shared memory than that, nor a thread registers. */
static bool is_size(int32_t figure)
{
    return figure >= -1 && figure <= (1 << 30) - 1;
}

static bool take_series(struct file *file, const char *body, size_t bytes)
{
    struct series *series = NULL;
    struct trace_series is;
    if (bytes != sizeof is) return false;
    memcpy(&is, body, sizeof is);
    if (is.kernel == 0 || is.kernel > (uint32_t)file->name_count ||
        is.range > (uint32_t)file->name_count || !is_size(is.registers) ||
        !is_size(is.static_shared_bytes) || !is_size(is.dynamic_shared_bytes) ||
        !is_size(is.local_bytes))
        return false;
    series = grow_add(&file->series, &file->series_count, sizeof *series, "kernels");
    file->no_memory = !series;
    if (series) series->is = is;
    return series != NULL;
}

static bool is_possible(const struct trace_total *total)
{
    return total->count > 0 && total->min_ns <= total->max_ns && total->max_ns <= total->total_ns &&
           total->total_ns / total->count >= total->min_ns && total->level < 64;
}

static bool take_durations(struct file *file, const char *body, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++, body += sizeof(struct trace_duration)) {
        struct trace_duration duration, *kept;
        memcpy(&duration, body, sizeof duration);
        if (duration.series >= (uint32_t)file->series_count || !(duration.ns >= 0) ||
            isinf(duration.ns))
            return false;
        struct series *series = &file->series[duration.series];
        if (duration.launch >= series->total.count) return false;
        kept = grow_add(&series->durations, &series->duration_count, sizeof *kept, "durations");
        file->no_memory = !kept;
        if (!kept) return false;
        *kept = duration;
    }
    return true;
}

static bool take_batch(struct file *file, const char *body, size_t bytes)
{
    struct trace_batch batch;
    if (bytes < sizeof batch) return false;
    memcpy(&batch, body, sizeof batch);
    body += sizeof batch;
    if (bytes - sizeof batch != (size_t)batch.totals * sizeof(struct trace_total) +
                                    (size_t)batch.durations * sizeof(struct trace_duration))
        return false;
    for (uint32_t i = 0; i < batch.totals; i++, body += sizeof(struct trace_total)) {
        struct trace_total total;
        memcpy(&total, body, sizeof total);
        if (total.series >= (uint32_t)file->series_count || !is_possible(&total)) return false;
        file->series[total.series].total = total;
    }
    file->lost = batch.lost;
    return take_durations(file, body, batch.durations);
}

static bool take_block(struct file *file, struct trace *trace, uint32_t type, const char *body,
                       size_t bytes)
{
    static bool (*const take[])(struct file * file, const char *body, size_t bytes) = {
        [TRACE_NAME] = take_name,
        [TRACE_DEVICE] = take_device,
        [TRACE_SERIES] = take_series,
        [TRACE_BATCH] = take_batch,
    };
    if (type == TRACE_FAILED)
        snprintf(trace->failed, sizeof trace->failed, "%.*s",
                 (int)(bytes < sizeof trace->failed ? bytes : sizeof trace->failed), body);
    file->is_whole |= type == TRACE_END;
    if (type >= sizeof take / sizeof *take || !take[type]) return type == TRACE_FAILED;
    return take[type](file, body, bytes);
}

/* Up to the end, or to what is no block. */
static void take_blocks(struct file *file, struct trace *trace)
{
    struct trace_block block;
    while ((size_t)(file->end - file->at) >= sizeof block) {
        memcpy(&block, file->at, sizeof block);
        size_t left = (size_t)(file->end - file->at) - sizeof block;
        size_t padded = ((size_t)block.bytes + 7) / 8 * 8;
        if (padded > left ||
            !take_block(file, trace, block.type, file->at + sizeof block, block.bytes))
            return;
        file->at += sizeof block + padded;
    }
}

/* --------------------------------------------------------------- merging -- */

/* The index of a device, by its UUID; -1: out of memory. */
static int device_index(struct trace *trace, const struct file *file, int ordinal)
{
    static const struct trace_device unknown = {-1, -1, -1, 0, -1, -1, -1, "", ""};
    const struct trace_device *device = device_of(file, ordinal);
    if (!device) device = &unknown;
    for (int i = 0; i < trace->device_count; i++)
        if (strcmp(trace->devices[i].uuid, device->uuid) == 0) return i;
    if (grow_keep(&trace->devices, &trace->device_count, device, sizeof *device, "devices") != 0)
        return -1;
    return trace->device_count - 1;
}

/* NULL: out of memory. */
static struct traced_kernel *kernel_of(struct trace *trace, int device, const char *range,
                                       const char *name)
{
    for (int i = 0; i < trace->kernel_count; i++) {
        struct traced_kernel *kernel = &trace->kernels[i];
        if (kernel->device == device && strcmp(kernel->kernel, name) == 0 &&
            strcmp(kernel->range, range) == 0)
            return kernel;
    }
    struct traced_kernel *kernel =
        grow_add(&trace->kernels, &trace->kernel_count, sizeof *kernel, "kernels");
    if (!kernel) return NULL;
    kernel->device = device;
    kernel->range = strdup(range);
    kernel->kernel = strdup(name);
    kernel->min_ns = UINT64_MAX;
    if (kernel->range && kernel->kernel) return kernel;
    assay_error("out of memory for kernels");
    return NULL;
}

static bool is_alike(const struct trace_series *a, const struct trace_series *b)
{
    return memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
           memcmp(a->block, b->block, sizeof a->block) == 0 &&
           a->static_shared_bytes == b->static_shared_bytes &&
           a->dynamic_shared_bytes == b->dynamic_shared_bytes;
}

static int add_series(struct traced_kernel *kernel, const struct series *series)
{
    const struct trace_total *total = &series->total;
    if (kernel->count == 0) kernel->is = series->is;
    kernel->is_varied |= total->is_varied || !is_alike(&kernel->is, &series->is);
    kernel->count += total->count;
    kernel->total_ns += total->total_ns;
    if (total->min_ns < kernel->min_ns) kernel->min_ns = total->min_ns;
    if (total->max_ns > kernel->max_ns) kernel->max_ns = total->max_ns;
    if (total->level > kernel->level) kernel->level = total->level;
    for (int i = 0; i < series->duration_count; i++) {
        if (grow_keep(&kernel->durations, &kernel->duration_count, &series->durations[i],
                      sizeof *series->durations, "durations") != 0)
            return -1;
    }
    return 0;
}

static int merge(struct trace *trace, const struct file *file)
{
    trace->lost += file->lost;
    trace->processes++;
    trace->cut += !file->is_whole;
    for (int i = 0; i < file->device_count; i++)
        if (device_index(trace, file, file->devices[i].ordinal) < 0) return -1;
    for (int i = 0; i < file->series_count; i++) {
        const struct series *series = &file->series[i];
        if (series->total.count == 0) continue;
        int device = device_index(trace, file, series->is.device);
        if (device < 0) return -1;
        const char *range = series->is.range ? file->names[series->is.range - 1] : "";
        struct traced_kernel *kernel =
            kernel_of(trace, device, range, file->names[series->is.kernel - 1]);
        if (!kernel || add_series(kernel, series) != 0) return -1;
    }
    return 0;
}

/* Durations of one level, and not many more than one process keeps. */
static void thin_out(struct traced_kernel *kernel)
{
    int kept;
    do {
        kept = 0;
        for (int i = 0; i < kernel->duration_count; i++)
            if (trace_keeps(kernel->durations[i].launch, kernel->level))
                kernel->durations[kept++] = kernel->durations[i];
        kernel->duration_count = kept;
        kernel->level += kept > 2 * TRACE_KEEP;
    } while (kept > 2 * TRACE_KEEP);
}

/* --------------------------------------------------------------- reading -- */

static bool is_trace(const char *bytes, size_t size)
{
    struct trace_header header;
    if (size < sizeof header) return false;
    memcpy(&header, bytes, sizeof header);
    return memcmp(header.magic, TRACE_MAGIC, sizeof header.magic) == 0 &&
           header.version == TRACE_VERSION;
}

int trace_add(struct trace *trace, const char *bytes, size_t size)
{
    struct file file = {0};
    /* Without a header it was opened just now, and is that of a process all the same. */
    if (is_trace(bytes, size)) {
        file.at = bytes + sizeof(struct trace_header);
        file.end = bytes + size;
        take_blocks(&file, trace);
    }
    int status = file.no_memory ? -1 : merge(trace, &file);
    for (int i = 0; i < trace->kernel_count && status == 0; i++)
        thin_out(&trace->kernels[i]);
    file_release(&file);
    return status;
}

/* What the program may have put there itself (a pipe, a link) is passed over. */
static int read_file(struct trace *trace, const char *path)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    bool is_ours = fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode) &&
                   about.st_size <= longest_file;
    FILE *in = is_ours ? fdopen(fd, "r") : NULL;
    char *bytes = in ? malloc((size_t)about.st_size + 1) : NULL;
    int status = 0;
    if (bytes)
        status = trace_add(trace, bytes, fread(bytes, 1, (size_t)about.st_size, in));
    else if (in)
        status = assay_error("out of memory for a trace");
    free(bytes);
    if (in)
        fclose(in);
    else if (fd >= 0)
        close(fd);
    return status;
}

static int is_trace_file(const struct dirent *file)
{
    return text_ends(file->d_name, TRACE_SUFFIX);
}

/* The files in the order of their names: what is read must not depend on the folder's. */
int trace_read(struct trace *trace, const char *folder)
{
    struct dirent **files;
    int count = scandir(folder, &files, is_trace_file, alphasort), status = 0;
    *trace = (struct trace){0};
    if (count < 0) return assay_error("%s: %s", folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", folder, files[i]->d_name);
        if (status == 0) status = read_file(trace, path);
        free(files[i]);
    }
    free(files);
    return status;
}

void trace_release(struct trace *trace)
{
    for (int i = 0; i < trace->kernel_count; i++) {
        free((char *)trace->kernels[i].range);
        free((char *)trace->kernels[i].kernel);
        free(trace->kernels[i].durations);
    }
    free(trace->kernels);
    free(trace->devices);
    *trace = (struct trace){0};
}
