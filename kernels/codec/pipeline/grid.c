#include "grid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By the last fill of this process. */
static struct {
    char note[ASSAY_MAX_NAME];
    bool failed;
} last;

/* ------------------------------------------------------------------- order -- */

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Multiples of the golden section are spread evenly over a line, however few they are. A step
 * without a common divisor with the count visits no leaf twice. */
int64_t grid_stride(int64_t count)
{
    int64_t stride = (int64_t)(0.6180339887498949 * (double)count);
    while (stride < 1 || common_divisor(stride, count) != 1)
        stride++;
    return stride;
}

/* -------------------------------------------------------------------- hash -- */

/* FNV-1a over the words' bits, folded to 32. */
uint32_t grid_hash(const float *voxels, int64_t count)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (int64_t i = 0; i < count; i++) {
        uint32_t word;
        memcpy(&word, &voxels[i], sizeof word);
        hash = (hash ^ word) * 0x100000001b3u;
    }
    return (uint32_t)(hash ^ hash >> 32);
}

/* The edges come last, and the name is cut for them. */
static void note_take(const char *path, const int64_t edge[3], uint32_t hash)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char edges[ASSAY_MAX_NAME];
    snprintf(edges, sizeof edges, " %lldx%lldx%lld", (long long)edge[0], (long long)edge[1],
             (long long)edge[2]);
    int used = snprintf(last.note, sizeof last.note, "input %08x ", hash);
    int left = (int)sizeof last.note - 1 - used - (int)strlen(edges);
    snprintf(last.note + used, sizeof last.note - (size_t)used, "%.*s%s", left > 0 ? left : 0, name,
             edges);
}

/* -------------------------------------------------------------------- fill -- */

static int edges_of(const char *text, int64_t edge[3])
{
    long long read[3];
    char rest;
    if (sscanf(text, "%lldx%lldx%lld%c", &read[0], &read[1], &read[2], &rest) != 3)
        return assay_error("ASSAY_GRID_VOXELS is '%s', not as in 512x512x256", text);
    for (int axis = 0; axis < 3; axis++)
        edge[axis] = read[axis];
    return 0;
}

/* The grid that the environment names: for the caller to free. */
static int grid_read(float **grid, int64_t *count)
{
    const char *path = getenv("ASSAY_GRID"), *edges = getenv("ASSAY_GRID_VOXELS");
    int64_t edge[3];
    if (!path || !edges)
        return assay_error("volume=grid wants a file in ASSAY_GRID and its edges, as in "
                           "512x512x256, in ASSAY_GRID_VOXELS");
    if (edges_of(edges, edge) || leaves_read(path, edge, grid, count)) return -1;
    note_take(path, edge, grid_hash(*grid, *count * LEAF_VOXELS));
    return 0;
}

int grid_fill(int64_t leaves, float *out)
{
    float *grid = NULL;
    int64_t count;
    last.note[0] = '\0';
    last.failed = grid_read(&grid, &count) != 0;
    if (last.failed) return -1;
    int64_t stride = grid_stride(count), from = 0;
    for (int64_t i = 0; i < leaves; i++, from = (from + stride) % count)
        memcpy(out + i * LEAF_VOXELS, grid + from * LEAF_VOXELS, sizeof *out * LEAF_VOXELS);
    free(grid);
    return 0;
}

int grid_refused(void)
{
    float *grid = NULL;
    int64_t count;
    if (!last.failed) return 0;
    if (grid_read(&grid, &count)) return -1;
    free(grid);
    return assay_error("the grid could not be read when the input was made, and can now");
}

void grid_note(char *out, size_t size)
{
    snprintf(out, size, "%s", last.note);
}
