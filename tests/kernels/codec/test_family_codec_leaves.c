/*
 * test_family_codec_leaves.c - leaves of procedural volumes and of raw grids in files.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/test.h"
#include "base/error.h"
#include "kernels/codec/leaves.h"

/* A file of `bytes` bytes of `data`; its name goes to `path`. */
static void write_file(char path[32], const void *data, size_t bytes)
{
    strcpy(path, "/tmp/leaves.XXXXXX");
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, data, bytes), bytes);
    close(descriptor);
}

/* ------------------------------------------------------------------ volumes -- */

TEST(a_leaf_depends_on_its_number_and_seed_alone)
{
    static float many[8][LEAF_VOXELS], one[LEAF_VOXELS];
    for (int kind = 0; kind < LEAF_KINDS; kind++) {
        leaves_make((enum leaf_kind)kind, 7, 16900, 8, many[0]);
        leaves_make((enum leaf_kind)kind, 7, 16905, 1, one);
        assert_memory_equal(many[5], one, sizeof one);
    }
    leaves_make(LEAF_NOISE, 8, 16905, 1, one);
    assert_memory_not_equal(many[5], one, sizeof one);
    /* The next volume is another one. */
    leaves_make(LEAF_NOISE, 7, 16905 + LEAF_VOLUME * LEAF_VOLUME * LEAF_VOLUME, 1, one);
    assert_memory_not_equal(many[5], one, sizeof one);
}

/* Leaves spread over one volume. */
enum { LOOKED_AT = 512, APART = LEAF_VOLUME * LEAF_VOLUME * LEAF_VOLUME / LOOKED_AT + 3 };

/* Shares of voxels below, between and above two limits. */
static void shares(enum leaf_kind kind, double low, double high, double share[3])
{
    float leaf[LEAF_VOXELS];
    memset(share, 0, 3 * sizeof *share);
    for (int i = 0; i < LOOKED_AT; i++) {
        leaves_make(kind, 1, (int64_t)i * APART, 1, leaf);
        for (int v = 0; v < LEAF_VOXELS; v++) {
            assert_true(isfinite(leaf[v]));
            int part = (double)leaf[v] <= low ? 0 : (double)leaf[v] < high ? 1 : 2;
            share[part] += 1.0 / (LOOKED_AT * (double)LEAF_VOXELS);
        }
    }
}

TEST(smoke_is_empty_in_part_and_dense_in_part)
{
    double share[3];
    shares(LEAF_SMOKE, 0.0, 0.999, share);
    assert_true(share[0] > 0.2 && share[0] < 0.9 && share[1] > 0.1);
}

TEST(a_shell_has_a_narrow_band_between_its_two_backgrounds)
{
    double share[3];
    shares(LEAF_SDF, -(double)LEAF_BAND, (double)LEAF_BAND, share);
    assert_true(share[0] > 0.05 && share[1] > 0.01 && share[1] < 0.2 && share[2] > 0.3);
}

TEST(noise_is_uniform)
{
    double share[3];
    shares(LEAF_NOISE, 0.25, 0.75, share);
    assert_true(fabs(share[0] - 0.25) < 0.01 && fabs(share[1] - 0.5) < 0.01);
}

/* Mean squared step from a voxel to its neighbour along x, and variance. */
static double roughness(enum leaf_kind kind)
{
    float leaf[LEAF_VOXELS];
    double step = 0, sum = 0, squares = 0;
    for (int i = 0; i < LOOKED_AT; i++) {
        leaves_make(kind, 3, (int64_t)i * APART, 1, leaf);
        for (int v = 0; v < LEAF_VOXELS; v++) {
            double value = (double)leaf[v];
            sum += value;
            squares += value * value;
            if (v % LEAF_EDGE) step += pow(value - (double)leaf[v - 1], 2) * 8 / 7;
        }
    }
    double count = LOOKED_AT * (double)LEAF_VOXELS;
    return step / count / (squares / count - pow(sum / count, 2));
}

TEST(volumes_are_smooth_where_noise_is_not)
{
    assert_true(roughness(LEAF_SMOKE) < 0.1);
    assert_true(roughness(LEAF_SDF) < 0.1);
    assert_true(fabs(roughness(LEAF_NOISE) - 2.0) < 0.05);
}

/* -------------------------------------------------------------------- files -- */

TEST(every_voxel_of_a_grid_reaches_its_place_and_edges_repeat)
{
    enum { X = 11, Y = 8, Z = 17 };
    static float grid[Z][Y][X];
    const int64_t voxels[3] = {X, Y, Z};
    char path[32];
    float *leaves;
    int64_t count;
    for (int i = 0; i < X * Y * Z; i++)
        (&grid[0][0][0])[i] = (float)i;
    write_file(path, grid, sizeof grid);
    assert_int_equal(leaves_read(path, voxels, &leaves, &count), 0);
    assert_int_equal(count, 2 * 1 * 3);
    for (int z = 0; z < 24; z++)
        for (int y = 0; y < 8; y++)
            for (int x = 0; x < 16; x++) {
                int leaf = z / 8 * 2 + x / 8;
                float got = leaves[leaf * LEAF_VOXELS + z % 8 * 64 + y % 8 * 8 + x % 8];
                assert_true(got == grid[z < Z ? z : Z - 1][y][x < X ? x : X - 1]);
            }
    free(leaves);
    unlink(path);
}

/* Reading must fail and say `word`. */
static void refuse(const char *path, const int64_t voxels[3], const char *word)
{
    float *leaves = NULL;
    int64_t count = 0;
    assay_clear_error();
    assert_int_equal(leaves_read(path, voxels, &leaves, &count), -1);
    assert_null(leaves);
    if (!strstr(assay_last_error(), word))
        fail_msg("'%s' does not say '%s'", assay_last_error(), word);
}

TEST(a_file_of_another_size_is_truncated_or_oversized)
{
    static float grid[LEAF_VOXELS + 1];
    const int64_t voxels[3] = {8, 8, 8};
    char path[32];
    write_file(path, grid, sizeof grid - 5);
    refuse(path, voxels, "truncated");
    unlink(path);
    write_file(path, grid, sizeof grid);
    refuse(path, voxels, "oversized");
    unlink(path);
    write_file(path, grid, 0);
    refuse(path, voxels, "truncated");
    unlink(path);
    refuse(path, voxels, "No such file");
    refuse("/tmp", voxels, "/tmp");
}

TEST(a_voxel_that_is_not_finite_is_named)
{
    static float grid[LEAF_VOXELS];
    const int64_t voxels[3] = {8, 8, 8};
    char path[32];
    grid[3 * 64 + 2 * 8 + 1] = NAN;
    write_file(path, grid, sizeof grid);
    refuse(path, voxels, "(1, 2, 3) is NaN");
    unlink(path);
    grid[3 * 64 + 2 * 8 + 1] = -INFINITY;
    write_file(path, grid, sizeof grid);
    refuse(path, voxels, "(1, 2, 3) is infinite");
    unlink(path);
}

TEST(a_grid_without_voxels_or_with_too_many_is_refused)
{
    refuse("/tmp", (const int64_t[]){8, 0, 8}, "empty");
    refuse("/tmp", (const int64_t[]){8, 8, -1}, "empty");
    refuse("/tmp", (const int64_t[]){INT64_C(1) << 40, 1, 1}, "too large");
    refuse("/tmp", (const int64_t[]){INT64_C(1) << 30, INT64_C(1) << 30, INT64_C(1) << 30},
           "too large");
    assert_int_equal(leaves_of_grid((const int64_t[]){1, 9, 16}), 4);
}
