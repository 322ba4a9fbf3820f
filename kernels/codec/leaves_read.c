/* leaves_read.c - leaves of a raw grid in a file; see leaves.h. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "leaves.h"

static const int64_t MOST_VOXELS = INT64_C(1) << 36;

static int64_t leaves_along(int64_t voxels)
{
    return (voxels + LEAF_EDGE - 1) / LEAF_EDGE;
}

int64_t leaves_of_grid(const int64_t voxels[3])
{
    int64_t total = 1, leaves = 1;
    for (int axis = 0; axis < 3; axis++) {
        if (voxels[axis] < 1)
            return assay_error("a grid of %lld x %lld x %lld voxels is empty", (long long)voxels[0],
                               (long long)voxels[1], (long long)voxels[2]);
        if (voxels[axis] > MOST_VOXELS / total)
            return assay_error("a grid of %lld x %lld x %lld voxels is too large",
                               (long long)voxels[0], (long long)voxels[1], (long long)voxels[2]);
        total *= voxels[axis];
        leaves *= leaves_along(voxels[axis]);
    }
    return leaves;
}

static int check_size(const char *path, FILE *file, const int64_t voxels[3])
{
    struct stat status;
    long long expected = (long long)(voxels[0] * voxels[1] * voxels[2]) * (long long)sizeof(float);
    if (fstat(fileno(file), &status) != 0) return assay_error("%s: %s", path, strerror(errno));
    if (!S_ISREG(status.st_mode)) return assay_error("%s: not a regular file", path);
    if ((long long)status.st_size == expected) return 0;
    return assay_error("%s is %s: %lld bytes, and %lld x %lld x %lld floats are %lld", path,
                       (long long)status.st_size < expected ? "truncated" : "oversized",
                       (long long)status.st_size, (long long)voxels[0], (long long)voxels[1],
                       (long long)voxels[2], expected);
}

/* One row of the grid, as many voxels as its edge along x. */
static int read_row(const char *path, FILE *file, const int64_t voxels[3], int64_t y, int64_t z,
                    float *row)
{
    size_t count = (size_t)voxels[0];
    if (fread(row, sizeof *row, count, file) != count)
        return assay_error("%s: %s", path, ferror(file) ? strerror(errno) : "ends early");
    for (size_t x = 0; x < count; x++)
        if (!isfinite(row[x]))
            return assay_error("%s: voxel (%zu, %lld, %lld) is %s", path, x, (long long)y,
                               (long long)z, isnan(row[x]) ? "NaN" : "infinite");
    return 0;
}

/* Copy a row to the leaves that it crosses; past the grid's edge its last voxel is repeated. */
static void place_row(const float *row, const int64_t voxels[3], int64_t y, int64_t z,
                      float *leaves)
{
    const int64_t across = leaves_along(voxels[0]), down = leaves_along(voxels[1]);
    const int64_t first = (z / LEAF_EDGE * down + y / LEAF_EDGE) * across;
    const int64_t within = (z % LEAF_EDGE * LEAF_EDGE + y % LEAF_EDGE) * LEAF_EDGE;
    for (int64_t x = 0; x < across * LEAF_EDGE; x++)
        leaves[(first + x / LEAF_EDGE) * LEAF_VOXELS + within + x % LEAF_EDGE] =
            row[x < voxels[0] ? x : voxels[0] - 1];
}

/* The last voxel along an axis is repeated up to the end of its leaf. */
static int64_t last_of(int64_t at, int64_t voxels)
{
    return at == voxels - 1 ? leaves_along(voxels) * LEAF_EDGE - 1 : at;
}

static int read_rows(const char *path, FILE *file, const int64_t voxels[3], float *row,
                     float *leaves)
{
    for (int64_t z = 0; z < voxels[2]; z++)
        for (int64_t y = 0; y < voxels[1]; y++) {
            if (read_row(path, file, voxels, y, z, row)) return -1;
            for (int64_t to_z = z; to_z <= last_of(z, voxels[2]); to_z++)
                for (int64_t to_y = y; to_y <= last_of(y, voxels[1]); to_y++)
                    place_row(row, voxels, to_y, to_z, leaves);
        }
    return 0;
}

/* Opening a pipe must not block until another process writes to it. */
static FILE *open_now(const char *path)
{
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "rb");
    if (!file && descriptor >= 0) close(descriptor);
    return file;
}

int leaves_read(const char *path, const int64_t voxels[3], float **leaves, int64_t *count)
{
    int status = -1;
    float *made = NULL, *row = NULL;
    int64_t leaf_count = leaves_of_grid(voxels);
    if (leaf_count < 0) return -1;
    FILE *file = open_now(path);
    if (!file) return assay_error("%s: %s", path, strerror(errno));
    if (check_size(path, file, voxels)) goto out;
    made = malloc(sizeof *made * LEAF_VOXELS * (size_t)leaf_count);
    row = malloc(sizeof *row * (size_t)voxels[0]);
    if (!made || !row) {
        assay_error("%s: out of memory for %lld leaves", path, (long long)leaf_count);
        goto out;
    }
    if (read_rows(path, file, voxels, row, made)) goto out;
    *leaves = made;
    *count = leaf_count;
    made = NULL;
    status = 0;
out:
    free(made);
    free(row);
    fclose(file);
    return status;
}
