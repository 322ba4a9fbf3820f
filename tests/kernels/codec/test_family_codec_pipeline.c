/*
 * test_family_codec_pipeline.c - the batch operations on the host, and what a pipeline's plan
 * and its stages' times come to.
 */
#include <unistd.h>

#include "tests/kernels/bench.h"
#include "device/device.h"
#include "kernels/codec/leaves.h"
#include "kernels/codec/network/codec_net.h"
#include "kernels/codec/network/codec_net_internal.h"
#include "kernels/codec/pipeline/pipe_plan.h"
#include "suite/plan.h"

/* ----------------------------------------------------------------- the plan -- */

TEST(a_block_holds_its_parts_one_behind_the_other)
{
    struct pipe_axes plain = {.depth = 1}, full = {.depth = 1, .copies = PIPE_EXTRA | PIPE_WIDEN};
    struct pipe_block block = pipe_block(PIPE_ENCODE, &plain, 3, 1000);
    assert_int_equal(block.in, 0);
    assert_int_equal(block.out, 6144);
    assert_int_equal(block.workspace, 6144 + 256); /* 192 bytes, rounded up */
    assert_int_equal(block.bytes, 6400 + 1024);
    block = pipe_block(PIPE_DECODE, &full, 4, 0);
    assert_int_equal(block.out, 256);
    assert_int_equal(block.extra, 256 + 8192);
    assert_int_equal(block.wide, 8448 + 256);
    assert_int_equal(block.workspace, 8704 + 2048); /* an int64 for each of 256 codes */
    assert_int_equal(block.bytes, 10752);
}

static int64_t kilobyte_a_leaf(enum pipe_direction direction, int64_t leaves)
{
    return 1024 * leaves;
}

TEST(a_batch_that_fits_is_not_split)
{
    struct pipe_axes axes = {.depth = 2};
    int64_t needed, whole = 2 * (100 * 2048 + 6400 + 102400);
    assert_int_equal(pipe_part(PIPE_ENCODE, &axes, 100, whole, kilobyte_a_leaf, &needed), 100);
    assert_int_equal(needed, whole);
}

TEST(a_batch_that_does_not_fit_is_halved_until_it_does)
{
    struct pipe_axes axes = {.depth = 2};
    const int64_t part[] = {100, 52, 28, 16, 8, 4};
    int64_t needed, fixed = 100 * 2048 + 6400;
    for (int i = 0; i < 5; i++) {
        int64_t whole = 2 * (fixed + 1024 * part[i]);
        assert_int_equal(pipe_part(PIPE_ENCODE, &axes, 100, whole, kilobyte_a_leaf, &needed),
                         part[i]);
        assert_int_equal(pipe_part(PIPE_ENCODE, &axes, 100, whole - 1, kilobyte_a_leaf, &needed),
                         part[i + 1]);
    }
}

TEST(no_part_is_larger_than_the_axes_say)
{
    struct pipe_axes axes = {.depth = 1, .part = 32};
    int64_t needed;
    assert_int_equal(pipe_part(PIPE_ENCODE, &axes, 100, 1 << 20, kilobyte_a_leaf, &needed), 32);
    assert_int_equal(pipe_part(PIPE_ENCODE, &axes, 20, 1 << 20, kilobyte_a_leaf, &needed), 20);
}

TEST(a_batch_larger_than_all_memory_says_what_it_needs)
{
    struct pipe_axes axes = {.depth = 2};
    int64_t needed = 0, least = 2 * (100 * 2048 + 6400 + 4096);
    assert_int_equal(pipe_part(PIPE_ENCODE, &axes, 100, least - 1, kilobyte_a_leaf, &needed), 0);
    assert_int_equal(needed, least);
    assert_int_equal(pipe_part(PIPE_ENCODE, &axes, 100, -1, kilobyte_a_leaf, &needed), 0);
}

TEST(no_more_batches_are_in_flight_than_a_gpu_has)
{
    struct pipe_axes axes = {.streams = PIPE_WHOLE, .depth = 8};
    assert_int_equal(pipe_depth(&axes, 127, 1), 8);
    assert_int_equal(pipe_depth(&axes, 8, 1), 8);
    assert_int_equal(pipe_depth(&axes, 7, 1), 7);
    assert_int_equal(pipe_depth(&axes, 1, 1), 1);
    assert_int_equal(pipe_depth(&axes, 7, 2), 4);
    assert_int_equal(pipe_depth(&axes, 1, 2), 1);
}

/* ---------------------------------------------------------------- the times -- */

TEST(the_bound_is_the_longest_stage)
{
    struct pipe_times times = {.h2d_ns = 30, .networks_ns = 50, .d2h_ns = 20};
    assert_true(pipe_bound_ns(&times) == 50);
    times.d2h_ns = 80;
    assert_true(pipe_bound_ns(&times) == 80);
    assert_true(fabs(pipe_share(80, 100) - 0.8) < 1e-12);
    assert_true(isnan(pipe_share(80, 0)));
}

/* Eight networks of few blocks each take as long as one: their sum is no bound. */
TEST(networks_side_by_side_bound_by_what_they_take_together)
{
    struct pipe_times times = {.h2d_ns = 10, .compute_ns = 800, .networks_ns = 110, .d2h_ns = 10};
    struct pipe_axes axes = {.streams = PIPE_WHOLE, .depth = 8};
    assert_true(pipe_bound_ns(&times) == 110);
    assert_true(pipe_networks_overlap(&axes));
    axes.depth = 1;
    assert_false(pipe_networks_overlap(&axes));
    axes.depth = 3;
    axes.streams = PIPE_ROLES;
    assert_false(pipe_networks_overlap(&axes));
}

/* The host's copies take their time beside the link's and the network's. */
TEST(what_the_host_copies_is_a_stage)
{
    struct pipe_times times = {.h2d_ns = 10, .networks_ns = 50, .d2h_ns = 5, .staging_ns = 45};
    times.launch_ns = 65;
    assert_true(pipe_bound_ns(&times) == 50);
    assert_true(fabs(pipe_overlap_share(&times) - 0.75) < 1e-12); /* 45 of 60 */
    times.staging_ns = 70;
    assert_true(pipe_bound_ns(&times) == 70);
}

TEST(the_overlap_is_the_share_of_what_could_be_saved)
{
    struct pipe_times times = {.h2d_ns = 30, .networks_ns = 50, .d2h_ns = 20};
    times.launch_ns = 50;
    assert_true(fabs(pipe_overlap_share(&times) - 1) < 1e-12);
    times.launch_ns = 75;
    assert_true(fabs(pipe_overlap_share(&times) - 0.5) < 1e-12);
    times.launch_ns = 100;
    assert_true(fabs(pipe_overlap_share(&times)) < 1e-12);
    times.launch_ns = 150;
    assert_true(pipe_overlap_share(&times) < 0);
    times.h2d_ns = times.d2h_ns = 0;
    assert_true(isnan(pipe_overlap_share(&times)));
}

/* One difference of two noisy pairs may be anything; the middle of many is the stage. */
TEST(a_stage_takes_the_median_of_its_timings_times_the_batches)
{
    double odd[] = {900, 10, -50, 12, 11}, even[] = {10, 14}, noise[] = {-3, -1, 2};
    assert_true(pipe_stage_ns(odd, 5, 127) == 11.0 * 127);
    assert_true(pipe_stage_ns(even, 2, 3) == 36);
    assert_true(pipe_stage_ns(NULL, 0, 0) == 0);
    assert_true(isnan(pipe_stage_ns(noise, 3, 16)));
    assert_true(isnan(pipe_median(NULL, 0)));
}

TEST(what_a_stage_takes_each_is_its_sum_over_the_calls)
{
    assert_true(fabs(pipe_each_ns(1270, 127) - 10) < 1e-12);
    assert_true(isnan(pipe_each_ns(0, 0)));
}

/* --------------------------------------------------------------- the batches -- */

TEST(host_pipelines_agree_with_the_reference_on_every_volume)
{
    int64_t near;
    for (int volume = LEAF_SMOKE; volume < LEAF_KINDS; volume++) {
        near = bench_all(SHAPE("codec_encode_batch", 5, 3, volume), "host_openmp");
        assert_true(near <= 5 * 3 * LEAF_VECTORS / 50);
    }
    bench_all(SHAPE("codec_decode_batch", 5, 3, 0), "host_openmp");
}

TEST(an_empty_batch_is_no_error_and_writes_nothing)
{
    bench_all(SHAPE("codec_encode_batch", 0, 7, LEAF_SMOKE), "host_openmp");
    bench_all(SHAPE("codec_decode_batch", 0, 7, 0), "host_openmp");
    struct assay_shape empty = SHAPE("codec_encode_batch", 0, 7, LEAF_SMOKE);
    struct assay_metric metric[ASSAY_MAX_METRICS];
    const void *host[ASSAY_MAX_BUFFERS] = {NULL};
    assert_int_equal(empty.operation->quality(&empty, host, metric), 0);
}

TEST(a_batch_gives_the_same_codes_wherever_its_leaves_are_cut)
{
    struct bench one, many;
    struct group group;
    bench_init(&one, SHAPE("codec_encode_batch", 12, 1, LEAF_SDF));
    bench_init(&many, SHAPE("codec_encode_batch", 3, 4, LEAF_SDF));
    assert_memory_equal(one.buffers.data[PIPE_IN], many.buffers.data[PIPE_IN], 12 * LEAF_BYTES);
    bench_group(&group, one.shape);
    bench_runs(&group, "host_openmp");
    for (int i = 0; i < group.variant_count; i++) {
        if (group.skip[i][0]) continue;
        bench_launch(&one, group.variant[i]);
        bench_launch(&many, group.variant[i]);
        assert_memory_equal(one.buffers.data[PIPE_OUT], many.buffers.data[PIPE_OUT],
                            12 * LEAF_CODE_BYTES);
    }
    bench_release(&one);
    bench_release(&many);
}

TEST(more_leaves_than_there_are_different_ones_begin_again)
{
    struct assay_shape shape = SHAPE("codec_encode_batch", PIPE_DISTINCT + 2, 1, LEAF_NOISE);
    float *leaves = malloc((size_t)LEAF_BYTES * (PIPE_DISTINCT + 2));
    assert_non_null(leaves);
    assert_int_equal(shape.operation->fill(&shape, PIPE_IN, 3, leaves), 0);
    assert_memory_equal(leaves, leaves + (size_t)LEAF_VOXELS * PIPE_DISTINCT, 2 * LEAF_BYTES);
    assert_memory_not_equal(leaves, leaves + LEAF_VOXELS, LEAF_BYTES);
    assert_memory_not_equal(leaves, leaves + (size_t)LEAF_VOXELS * (PIPE_DISTINCT - 1), LEAF_BYTES);
    free(leaves);
}

TEST(quality_counts_mismatches_and_a_compression_of_32)
{
    struct bench bench;
    struct assay_metric metric[ASSAY_MAX_METRICS];
    bench_init(&bench, SHAPE("codec_encode_batch", 2, 1, LEAF_NOISE));
    uint8_t *codes = bench.buffers.data[PIPE_OUT];
    assert_int_equal(codec_encode_reference(codec_weights_default(), bench.buffers.data[PIPE_IN], 2,
                                            codes, NULL),
                     0);
    const void *const *host = (const void *const *)bench.buffers.data;
    assert_int_equal(bench.shape.operation->quality(&bench.shape, host, metric), 4);
    assert_string_equal(metric[0].name, "mismatch_rate");
    assert_true(metric[0].value == 0);
    codes[5]++;
    assert_int_equal(bench.shape.operation->quality(&bench.shape, host, metric), 4);
    assert_true(metric[0].value == 1.0 / 128);
    assert_true(metric[1].value > 0 && isfinite(metric[2].value));
    assert_true(metric[3].value == 32);
    bench_release(&bench);
}

TEST(work_is_the_bytes_over_the_link_and_the_networks_operations)
{
    struct assay_shape up = SHAPE("codec_encode_batch", 64, 127, LEAF_SMOKE);
    struct assay_shape down = SHAPE("codec_decode_batch", 64, 127, 0);
    struct assay_work encode = up.operation->work(&up), decode = down.operation->work(&down);
    assert_true(encode.over_link && decode.over_link);
    assert_true(encode.write_bytes == 127 * 64 * 2048.0 && encode.read_bytes == 127 * 64 * 64.0);
    assert_true(decode.write_bytes == 127 * 64 * 64.0 && decode.read_bytes == 127 * 64 * 2048.0);
    assert_true(encode.ops[ASSAY_TF32] == 127 * 64 * NET_ENCODER_OPS);
    assert_true(decode.ops[ASSAY_TF32] == 127 * 64 * NET_DECODER_OPS);
}

/* ----------------------------------------------------------------- bad input -- */

TEST(too_many_leaves_are_refused_before_anything_is_counted)
{
    struct assay_shape shape = SHAPE("codec_encode_batch", 1 << 24, 257, LEAF_SMOKE);
    assert_non_null(shape.operation->supports(&shape));
    shape.value[PIPE_BATCHES] = 256;
    assert_null(shape.operation->supports(&shape));
}

/* ---------------------------------------------------------------- the table -- */

/* The variant of this name on a GPU, or NULL. */
static const struct assay_variant *pipeline(const char *operation, const char *name)
{
    const struct assay_variant *list[REGISTRY_MAX_VARIANTS];
    int count = registry_variants(operation, list, REGISTRY_MAX_VARIANTS);
    assert_true(count <= PLAN_MAX_VARIANTS);
    for (int i = 0; i < count; i++)
        if (list[i]->place == ASSAY_CUDA && strcmp(list[i]->name, name) == 0) return list[i];
    return NULL;
}

/* A row of the table launches as all of them do. */
TEST(every_pipeline_of_the_device_does_both_ways_and_waits_on_the_host)
{
    const char *const operations[] = {"codec_encode_batch", "codec_decode_batch"};
    for (int direction = 0; direction < 2; direction++) {
        const struct assay_variant *list[REGISTRY_MAX_VARIANTS];
        const struct assay_variant *middle = pipeline(operations[direction], "serial");
        const struct assay_variant *host = bench_variant(operations[direction], "host_openmp");
        int count = registry_variants(operations[direction], list, REGISTRY_MAX_VARIANTS);
        assert_true(host->clock == ASSAY_CLOCK_WALL && !host->figures);
        for (int i = 0; middle && i < count; i++) {
            if (list[i]->launch != middle->launch) continue;
            assert_non_null(pipeline(operations[!direction], list[i]->name));
            assert_true(list[i]->clock == ASSAY_CLOCK_WALL && list[i]->figures);
        }
#ifdef ASSAY_HAVE_CUDA
        assert_non_null(middle);
#endif
    }
}
