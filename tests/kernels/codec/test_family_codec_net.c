/*
 * test_family_codec_net.c - the codec's network on the host: the reference against loops written
 * again, its codes, and its weights.
 */
#include "tests/kernels/bench.h"
#include "codec_plain.h"
#include "kernels/codec/network/codec_net_internal.h"
#include "kernels/codec/leaves.h"

enum { MOST_LEAVES = 7 };

TEST(the_encoder_is_its_layers_one_after_another)
{
    const struct codec_weights *w = codec_weights_default();
    assert_non_null(w);
    float leaf[LEAF_VOXELS];
    static volume x, z;
    static double got[LEAF_VECTORS * CODEWORD_LENGTH];
    for (int kind = 0; kind < LEAF_KINDS; kind++) {
        leaves_make((enum leaf_kind)kind, 3, 16 * 1024 + 500, 1, leaf);
        plain_encode(w, leaf, x);
        plain_conv(&w->project, 4, 1, x, z);
        assert_int_equal(codec_vectors_reference(w, leaf, got), 0);
        for (int v = 0; v < LEAF_VECTORS; v++)
            for (int i = 0; i < CODEWORD_LENGTH; i++)
                assert_true(fabs(got[v * CODEWORD_LENGTH + i] - z[i * LEAF_VECTORS + v]) < 1e-9);
    }
}

TEST(the_decoder_is_its_layers_one_after_another)
{
    const struct codec_weights *w = codec_weights_default();
    uint8_t codes[3 * LEAF_VECTORS];
    static double got[3 * LEAF_VOXELS], expected[LEAF_VOXELS];
    for (int i = 0; i < 3 * LEAF_VECTORS; i++)
        codes[i] = (uint8_t)(i * 83 + i / 7);
    assert_int_equal(codec_decode_reference(w, codes, 3, got), 0);
    for (int leaf = 0; leaf < 3; leaf++) {
        plain_decode(w, codes + leaf * LEAF_VECTORS, expected);
        for (int i = 0; i < LEAF_VOXELS; i++)
            assert_true(fabs(got[leaf * LEAF_VOXELS + i] - expected[i]) < 1e-12);
    }
}

TEST(a_code_is_the_nearest_codeword_and_its_margin_that_to_the_second)
{
    const struct codec_weights *w = codec_weights_default();
    static float leaves[MOST_LEAVES * LEAF_VOXELS];
    static double margin[MOST_LEAVES * LEAF_VECTORS], z[LEAF_VECTORS * CODEWORD_LENGTH];
    static uint8_t codes[MOST_LEAVES * LEAF_VECTORS];
    leaves_make(LEAF_NOISE, 9, 0, MOST_LEAVES, leaves);
    assert_int_equal(codec_encode_reference(w, leaves, MOST_LEAVES, codes, margin), 0);
    for (int leaf = 0; leaf < MOST_LEAVES; leaf++) {
        assert_int_equal(codec_vectors_reference(w, leaves + leaf * LEAF_VOXELS, z), 0);
        for (int v = 0; v < LEAF_VECTORS; v++) {
            double distance[CODEWORDS] = {0}, second = INFINITY;
            const int code = codes[leaf * LEAF_VECTORS + v];
            for (int k = 0; k < CODEWORDS; k++)
                for (int i = 0; i < CODEWORD_LENGTH; i++)
                    distance[k] += pow(z[v * CODEWORD_LENGTH + i] -
                                           (double)w->codebook[k * CODEWORD_LENGTH + i],
                                       2);
            for (int k = 0; k < CODEWORDS; k++)
                if (k != code) second = fmin(second, distance[k]);
            assert_true(distance[code] <= second);
            assert_true(fabs(margin[leaf * LEAF_VECTORS + v] - (second / distance[code] - 1)) <
                        1e-9);
        }
    }
}

TEST(codes_and_leaves_do_not_depend_on_the_batch_they_are_in)
{
    const int batches[] = {1, 3, MOST_LEAVES};
    const struct codec_weights *w = codec_weights_default();
    static float leaves[MOST_LEAVES * LEAF_VOXELS], all[MOST_LEAVES * LEAF_VOXELS];
    static float some[MOST_LEAVES * LEAF_VOXELS];
    static uint8_t whole[MOST_LEAVES * LEAF_VECTORS], part[MOST_LEAVES * LEAF_VECTORS];
    leaves_make(LEAF_SMOKE, 4, 16 * 1024 + 100, MOST_LEAVES, leaves);
    assert_int_equal(codec_encode_host(w, leaves, MOST_LEAVES, whole), 0);
    assert_int_equal(codec_decode_host(w, whole, MOST_LEAVES, all), 0);
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        const int count = batches[i];
        assert_int_equal(codec_encode_host(w, leaves, count, part), 0);
        assert_memory_equal(part, whole, (size_t)count * LEAF_VECTORS);
        assert_int_equal(codec_decode_host(w, part, count, some), 0);
        assert_memory_equal(some, all, sizeof *some * LEAF_VOXELS * (size_t)count);
    }
    assert_int_equal(codec_encode_host(w, leaves, 0, part), 0);
    assert_int_equal(codec_decode_host(w, part, 0, some), 0);
}

TEST(the_same_seed_makes_the_same_weights_and_another_others)
{
    struct codec_weights *a = codec_weights_make(1), *b = codec_weights_make(1);
    struct codec_weights *c = codec_weights_make(2);
    assert_true(a && b && c);
    assert_true(a->count ==
                NET_ENCODER_WEIGHTS + NET_DECODER_WEIGHTS - CODEWORDS * CODEWORD_LENGTH);
    assert_memory_equal(a->storage, b->storage, a->count * sizeof *a->storage);
    assert_memory_not_equal(a->storage, c->storage, a->count * sizeof *a->storage);
    codec_weights_release(a);
    codec_weights_release(b);
    codec_weights_release(c);
    codec_weights_release(NULL);
}
