/*
 * test_family_codec_grid.c - a user's volume: what of a raw grid is encoded, what the rows
 * say of it, and which files are refused.
 */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "tests/kernels/bench.h"
#include "tests/made_root.h"
#include "kernels/codec/pipeline/grid.h"
#include "kernels/codec/pipeline/host_memory.h"
#include "kernels/codec/pipeline/pipe_batch.h"

enum { SMALL = 16 * LEAF_EDGE * LEAF_EDGE, MANY = 1000, TAKEN = 10 };

static float grid[SMALL];
static float leaves[3 * LEAF_VOXELS];

static void in_environment(const char *path, const char *edges)
{
    setenv("ASSAY_GRID", path, 1);
    setenv("ASSAY_GRID_VOXELS", edges, 1);
    assay_clear_error();
}

static void out_of_environment(void)
{
    unsetenv("ASSAY_GRID");
    unsetenv("ASSAY_GRID_VOXELS");
}

static void file_make(char *path, const void *data, size_t bytes)
{
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, data, bytes), bytes);
    close(descriptor);
}

/* `count` leaves of a file of `bytes` bytes of `data`. */
static int fill_from_file(const void *data, size_t bytes, const char *edges, int64_t count,
                          float *out)
{
    char path[] = "/tmp/grid.XXXXXX";
    file_make(path, data, bytes);
    in_environment(path, edges);
    int status = grid_fill(count, out);
    unlink(path);
    out_of_environment();
    return status;
}

TEST(a_grid_fills_the_batches_and_begins_again)
{
    for (int i = 0; i < SMALL; i++)
        grid[i] = (float)i;
    assert_int_equal(fill_from_file(grid, sizeof grid, "16x8x8", 3, leaves), 0);
    assert_true(leaves[1] == 1 && leaves[8] == 16 && leaves[LEAF_VOXELS] == 8);
    assert_memory_equal(leaves, leaves + 2 * LEAF_VOXELS, LEAF_BYTES); /* the grid has two */
}

/* Leaf i of this grid is full of i. */
TEST(few_leaves_of_a_large_grid_come_from_all_over_it)
{
    float *large = malloc((size_t)MANY * LEAF_BYTES), taken[TAKEN * LEAF_VOXELS];
    bool tenth[TAKEN] = {false};
    assert_non_null(large);
    for (int i = 0; i < MANY * LEAF_VOXELS; i++)
        large[i] = (float)(i / LEAF_VOXELS);
    assert_int_equal(fill_from_file(large, (size_t)MANY * LEAF_BYTES, "8x8x8000", TAKEN, taken), 0);
    for (int i = 0; i < TAKEN; i++)
        tenth[(int)taken[i * LEAF_VOXELS] * TAKEN / MANY] = true;
    int reached = 0;
    for (int i = 0; i < TAKEN; i++)
        reached += tenth[i];
    assert_true(reached >= 8);
    free(large);
}

TEST(no_leaf_comes_twice_before_all_have_come)
{
    for (int64_t count = 1; count < 300; count++) {
        bool seen[300] = {false};
        int64_t at = 0, stride = grid_stride(count);
        for (int64_t i = 0; i < count; i++, at = (at + stride) % count) {
            assert_false(seen[at]);
            seen[at] = true;
        }
    }
}

TEST(rows_say_which_file_was_encoded)
{
    char one[ASSAY_MAX_NAME], other[ASSAY_MAX_NAME];
    memset(grid, 0, sizeof grid);
    assert_int_equal(fill_from_file(grid, sizeof grid, "16x8x8", 3, leaves), 0);
    grid_note(one, sizeof one);
    assert_int_equal(strncmp(one, "input ", 6), 0);
    assert_non_null(strstr(one, " grid."));
    assert_string_equal(strrchr(one, ' '), " 16x8x8");
    grid[SMALL - 1] = 1; /* the last voxel is the file's as well */
    assert_int_equal(fill_from_file(grid, sizeof grid, "16x8x8", 3, leaves), 0);
    grid_note(other, sizeof other);
    assert_memory_not_equal(one, other, sizeof "input 01234567" - 1);
}

TEST(a_grid_of_another_size_or_with_a_nan_is_refused_with_the_reason)
{
    memset(grid, 0, sizeof grid);
    assert_int_equal(fill_from_file(grid, sizeof grid - 4, "16x8x8", 3, leaves), -1);
    assert_non_null(strstr(assay_last_error(), "truncated"));
    assert_int_equal(fill_from_file(grid, sizeof grid, "8x8x8", 3, leaves), -1);
    assert_non_null(strstr(assay_last_error(), "oversized"));
    grid[3] = NAN;
    assert_int_equal(fill_from_file(grid, sizeof grid, "16x8x8", 3, leaves), -1);
    assert_non_null(strstr(assay_last_error(), "voxel (3, 0, 0) is NaN"));
}

TEST(a_grid_whose_edges_are_no_edges_is_refused)
{
    const char *const bad[] = {"", "16", "16x8", "16x8x8x8", "axbxc", "16x8x0", "16x-8x8"};
    memset(grid, 0, sizeof grid);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(fill_from_file(grid, sizeof grid, bad[i], 3, leaves), -1);
}

TEST(a_grid_that_nobody_named_is_refused)
{
    out_of_environment();
    assert_int_equal(grid_fill(3, leaves), -1);
    assert_non_null(strstr(assay_last_error(), "ASSAY_GRID"));
}

/* Nobody writes to it: an open that waits would wait for ever. */
TEST(a_pipe_is_refused_and_not_waited_for)
{
    char folder[] = "/tmp/grid.XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/pipe", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    in_environment(path, "8x8x8");
    alarm(20);
    assert_int_equal(grid_fill(1, leaves), -1);
    alarm(0);
    assert_non_null(strstr(assay_last_error(), "not a regular file"));
    out_of_environment();
    unlink(path);
    rmdir(folder);
}

/* A fill that fails would only have the group skipped, as if memory were short. */
TEST(every_variant_refuses_a_grid_that_was_refused)
{
    struct assay_shape shape = SHAPE("codec_encode_batch", 3, 1, PIPE_VOLUME_GRID);
    struct assay_call call = {.shape = &shape};
    out_of_environment();
    assert_int_equal(shape.operation->fill(&shape, PIPE_IN, 1, leaves), 0);
    assert_int_equal(pipe_volume_open(&call), -1);
    assert_non_null(strstr(assay_last_error(), "ASSAY_GRID"));
    shape.value[PIPE_VOLUME] = 0;
    assert_int_equal(pipe_volume_open(&call), 0);
}

/* ------------------------------------------------------------- host memory -- */

ROOT_TEST(the_less_of_the_systems_and_the_groups_memory_is_there)
{
    assert_true(host_memory_left(root) == INT64_MAX);
    put("/proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:    5000 kB\n");
    assert_true(host_memory_left(root) == 5000 * 1024);
    put("/sys/fs/cgroup/memory.max", "4000000\n");
    put("/sys/fs/cgroup/memory.current", "3000000\n");
    put("/sys/fs/cgroup/memory.stat", "anon 5\ninactive_file 200000\n");
    assert_true(host_memory_left(root) == 1200000);
    put("/sys/fs/cgroup/memory.max", "max\n");
    assert_true(host_memory_left(root) == 5000 * 1024);
}

TEST(more_than_there_is_is_skipped_with_both_figures)
{
    assert_int_equal(host_memory_check(INT64_C(1) << 60, "batches"), ASSAY_SKIP);
    assert_non_null(strstr(assay_last_error(), "batches need 1152921504606846976 bytes more"));
}
