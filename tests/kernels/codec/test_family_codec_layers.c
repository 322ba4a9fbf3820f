/*
 * test_family_codec_layers.c - the network and its layers as operations: every host variant at
 * odd batches and shapes, and what is refused.
 */
#include "tests/kernels/bench.h"
#include "kernels/codec/layers/conv3d.h"
#include "kernels/codec/network/codec_batch.h"
#include "kernels/codec/network/codec_net_internal.h"
#include "kernels/codec/leaves.h"

TEST(every_host_codec_is_right_at_odd_batches)
{
    const int64_t leaves[] = {1, 3, 7};
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) {
        for (int64_t volume = 0; volume < LEAF_KINDS; volume++) {
            int64_t near;
            near = bench_all(SHAPE("codec_encode", leaves[i], BATCH_FP32, volume), "host_omp");
            assert_true(near <= 1);
        }
        bench_all(SHAPE("codec_decode", leaves[i], BATCH_FP32, 0), "host_omp");
    }
}

TEST(quality_says_how_many_codes_differ_and_how_much_is_saved)
{
    struct bench bench;
    struct assay_metric metric[ASSAY_MAX_METRICS];
    bench_init(&bench, SHAPE("codec_encode", 2, BATCH_FP32, LEAF_SMOKE));
    uint8_t *codes = bench.buffers.data[ENCODE_CODES];
    const void *const *host = (const void *const *)bench.buffers.data;
    assert_int_equal(codec_encode_reference(codec_weights_default(),
                                            bench.buffers.data[ENCODE_LEAVES], 2, codes, NULL),
                     0);
    assert_int_equal(bench.shape.operation->quality(&bench.shape, host, metric), 4);
    assert_true(metric[0].value == 0 && metric[1].value > 0 && metric[3].value == 32);
    codes[5] ^= 1;
    assert_int_equal(bench.shape.operation->quality(&bench.shape, host, metric), 4);
    assert_true(metric[0].value == 1.0 / (2 * LEAF_VECTORS));
    bench_release(&bench);
}

TEST(every_host_convolution_is_right_at_odd_shapes)
{
    /* leaves, in, out, side, kernel, stride */
    const int64_t shapes[][6] = {{1, 1, 1, 1, 1, 1},   {3, 1, 16, 8, 3, 1}, {2, 33, 17, 4, 3, 1},
                                 {1, 16, 32, 8, 4, 2}, {5, 32, 1, 8, 3, 1}, {3, 5, 40, 2, 4, 2},
                                 {7, 8, 3, 5, 3, 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct assay_shape shape = SHAPE("conv3d", 0, 0, 0);
        memcpy(shape.value, shapes[i], sizeof shapes[i]);
        shape.value[CONV_TYPE] = CONV_FP32;
        assert_null(shape.operation->supports(&shape));
        bench_all(shape, "host_scalar host_omp");
    }
}

TEST(only_convolutions_that_keep_or_halve_the_edge_are_taken)
{
    struct assay_shape shape = SHAPE("conv3d", 1, 1, 1);
    const int64_t wrong[][3] = {{8, 2, 1}, {8, 3, 2}, {7, 4, 2}, {8, 1, 2}, {8, 4, 1}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memcpy(shape.value + CONV_SIDE, wrong[i], sizeof wrong[i]);
        assert_non_null(shape.operation->supports(&shape));
    }
}

TEST(every_host_attention_shuffle_and_sigmoid_is_right_at_odd_shapes)
{
    for (int64_t leaves = 1; leaves < 40; leaves += 17) {
        bench_all(SHAPE("channel_attention", leaves, 4, 1), "host_scalar host_omp");
        bench_all(SHAPE("channel_attention", leaves, 36, 63), "host_scalar host_omp");
        bench_all(SHAPE("pixel_shuffle", leaves, 5, 3), "host_scalar host_omp");
        bench_all(SHAPE("pixel_shuffle", leaves, 32, 4), "host_scalar host_omp");
        bench_all(SHAPE("sigmoid", leaves, 0, 0), "host_scalar host_omp");
    }
}
