/* nvbench_samples.c - the files of samples that NVBench writes with --jsonbin: times in seconds,
 * little-endian float32, no header. */
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/exchange/store_foreign.h"

enum { MAX_ROUNDS = 65536, MOST = 1 << 28 };

/* A regular file below a folder; -1 for any other, and for a path that leaves the folder, be it by
 * "..", from the root or through a link. Opening a pipe would wait for its writer. */
static int open_below(int folder, const char *path)
{
    char name[NAME_MAX + 1];
    struct stat about;
    int at = dup(folder);
    while (at >= 0) {
        size_t length = strcspn(path, "/");
        bool is_last = !path[length];
        snprintf(name, sizeof name, "%.*s", (int)length, path);
        bool leaves = length == 0 || length > NAME_MAX || strcmp(name, "..") == 0;
        int next = leaves ? -1
                          : openat(at, name,
                                   O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC |
                                       (is_last ? 0 : O_DIRECTORY));
        close(at);
        at = next;
        if (!is_last) path += length + 1;
        if (!is_last || at < 0) continue;
        if (fstat(at, &about) == 0 && S_ISREG(about.st_mode)) return at;
        close(at);
        return -1;
    }
    return -1;
}

/* The path in the file is relative to where NVBench ran; what it wrote lies in a folder beside the
 * JSON. NULL: not found there or below. */
static FILE *open_samples(const char *json_path, const char *file)
{
    char folder[PATH_MAX] = ".";
    const char *last = strrchr(file, '/'), *beside = file;
    for (const char *c = file; last && c < last; c++)
        if (*c == '/') beside = c + 1; /* its folder and its name */
    if (strrchr(json_path, '/'))
        snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(json_path, '/') + 1 - json_path),
                 json_path);
    int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (at < 0) return NULL;
    int in = open_below(at, beside);
    if (in < 0) in = open_below(at, file);
    close(at);
    FILE *stream = in < 0 ? NULL : fdopen(in, "rb");
    if (in >= 0 && !stream) close(in);
    return stream;
}

/* Little-endian float32, whatever this machine is. */
static float decode(const unsigned char *at)
{
    uint32_t bits =
        (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A round a sample; more samples than rounds share them evenly. */
static int read_samples(const char *name, FILE *in, const char *file, int count,
                        struct samples *samples)
{
    unsigned char bytes[4];
    int rounds = count < MAX_ROUNDS ? count : MAX_ROUNDS;
    if (foreign_samples_alloc(samples, count) != 0) return -1;
    for (int i = 0; i < count; i++) {
        if (fread(bytes, sizeof bytes, 1, in) != 1)
            return assay_error("%s: %s has %d samples, not %d", name, file, i, count);
        samples->time_ns[i] = (float)(1e9 * (double)decode(bytes));
        samples->round[i] = (uint16_t)((int64_t)i * rounds / count);
        if (!(samples->time_ns[i] > 0) || isinf(samples->time_ns[i]))
            return assay_error("%s: sample %d of %s is no time", name, i + 1, file);
    }
    if (fread(bytes, 1, 1, in) != 0)
        return assay_error("%s: %s has more than %d samples", name, file, count);
    return 0;
}

int nvbench_samples_read(const char *json_path, const char *file, double count,
                         struct samples *samples)
{
    if (!(count >= 1 && count <= MOST))
        return assay_error("%s: %s: how many samples it has is not said", json_path, file);
    FILE *in = open_samples(json_path, file);
    if (!in) return 0;
    int status = read_samples(json_path, in, file, (int)count, samples);
    fclose(in);
    return status == 0 ? 1 : -1;
}
