#include "pipe_compare.h"

#include <inttypes.h>
#include <math.h>

struct pipe_finding pipe_finding_none(void)
{
    return (struct pipe_finding){.first_wrong = -1};
}

static int64_t codes_off(const uint8_t *got, const uint8_t *plain)
{
    int64_t off = 0;
    for (int i = 0; i < LEAF_VECTORS; i++)
        off += got[i] != plain[i];
    return off;
}

/* A NaN is off too. */
static int64_t voxels_off(const float *got, const float *plain)
{
    int64_t off = 0;
    for (int i = 0; i < LEAF_VOXELS; i++)
        off += !(fabs((double)got[i] - (double)plain[i]) <= COMPARE_VOXEL);
    return off;
}

void pipe_compare(enum pipe_direction direction, const void *got, const void *plain, int64_t first,
                  int64_t leaves, struct pipe_finding *finding)
{
    const bool codes = direction == PIPE_ENCODE;
    const int64_t most = codes ? COMPARE_LEAF_TIES : 0;
    int64_t differing = 0, wrong = 0, least = INT64_MAX;
#pragma omp parallel for schedule(static) reduction(+ : differing, wrong)                          \
    reduction(min : least) if (leaves > 64)
    for (int64_t i = 0; i < leaves; i++) {
        int64_t off = codes ? codes_off((const uint8_t *)got + i * LEAF_VECTORS,
                                        (const uint8_t *)plain + i * LEAF_VECTORS)
                            : voxels_off((const float *)got + i * LEAF_VOXELS,
                                         (const float *)plain + i * LEAF_VOXELS);
        differing += off;
        wrong += off > most;
        if (off > most && i < least) least = i;
    }
    finding->compared += leaves * (codes ? LEAF_VECTORS : LEAF_VOXELS);
    finding->differing += differing;
    finding->wrong_leaves += wrong;
    if (finding->first_wrong < 0 && wrong > 0) finding->first_wrong = first + least;
}

int pipe_judge(enum pipe_direction direction, const struct pipe_finding *finding,
               int64_t leaves_a_batch)
{
    const char *what = direction == PIPE_ENCODE ? "codes" : "voxels";
    if (finding->wrong_leaves > 0)
        return assay_error("%" PRId64 " leaves are not what a plain pass of the network makes, the "
                           "first in batch %" PRId64 " (%" PRId64 " of %" PRId64 " %s differ)",
                           finding->wrong_leaves, finding->first_wrong / leaves_a_batch,
                           finding->differing, finding->compared, what);
    double expected = COMPARE_TIE_SHARE * (double)finding->compared;
    if ((double)finding->differing > fmax(COMPARE_LEAF_TIES, expected + 3 * sqrt(expected)))
        return assay_error("%" PRId64 " of %" PRId64 " %s differ from a plain pass of the network",
                           finding->differing, finding->compared, what);
    return 0;
}
