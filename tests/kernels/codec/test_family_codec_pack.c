/*
 * test_family_codec_pack.c - the packed weights of the GPU's kernels against what they stand for.
 */
#include "tests/kernels/bench.h"
#include "codec_plain.h"
#include "kernels/codec/network/codec_net_internal.h"
#include "kernels/codec/network/codec_pack.h"
#include "kernels/codec/leaves.h"

TEST(tf32_keeps_eleven_bits_rounded_to_nearest)
{
    assert_true(pack_tf32(1.0f) == 1.0f && pack_tf32(-0.0f) == 0.0f);
    assert_true(pack_tf32(1.0f + 0x1p-10f) == 1.0f + 0x1p-10f);
    assert_true(pack_tf32(1.0f + 0x1p-11f) == 1.0f + 0x1p-10f); /* a tie, away from zero */
    assert_true(pack_tf32(-1.0f - 0x1p-11f) == -1.0f - 0x1p-10f);
    assert_true(pack_tf32(1.0f + 0x1.fp-12f) == 1.0f);
}

/* Word of (tap, input, output) as a lane of mma.m16n8k8 finds it. */
static size_t word_of(int tap, int in, int i, int out, int o)
{
    const int lane = 4 * (o % 8) + i % 16 / 4;
    return ((((size_t)tap * (size_t)(in / 16) + (size_t)(i / 16)) * (size_t)(out / 8) +
             (size_t)(o / 8)) *
                32 +
            (size_t)lane) *
               4 +
           (size_t)(i % 4);
}

TEST(packing_moves_every_weight_to_its_lane)
{
    const struct codec_conv *conv = &codec_weights_default()->down_residual.conv[1];
    float *packed = malloc(sizeof *packed * 27 * NET_DOWN * NET_DOWN);
    assert_non_null(packed);
    pack_conv(conv, packed);
    for (int tap = 0; tap < 27; tap++)
        for (int i = 0; i < NET_DOWN; i++)
            for (int o = 0; o < NET_DOWN; o++)
                assert_true(packed[word_of(tap, NET_DOWN, i, NET_DOWN, o)] ==
                            pack_tf32(conv->weight[(tap * NET_DOWN + i) * NET_DOWN + o]));
    free(packed);
}

TEST(the_stem_is_packed_as_channels_of_one_tap_and_zeros)
{
    const struct codec_conv *stem = &codec_weights_default()->stem;
    float packed[PACK_STEM_TAPS * NET_STEM];
    pack_stem(stem, packed);
    for (int tap = 0; tap < PACK_STEM_TAPS; tap++)
        for (int o = 0; o < NET_STEM; o++)
            assert_true(packed[word_of(0, PACK_STEM_TAPS, tap, NET_STEM, o)] ==
                        (tap < 27 ? pack_tf32(stem->weight[tap * NET_STEM + o]) : 0.0f));
}

TEST(the_table_holds_the_decoders_first_convolution_of_every_codeword)
{
    const struct codec_weights *w = codec_weights_default();
    float *table = malloc(sizeof *table * 27 * CODEWORDS * NET_WIDE);
    assert_non_null(table);
    pack_widen(w, table);
    for (int tap = 0; tap < 27; tap += 5)
        for (int k = 0; k < CODEWORDS; k += 51)
            for (int o = 0; o < NET_WIDE; o += 9) {
                double sum = 0;
                for (int i = 0; i < CODEWORD_LENGTH; i++)
                    sum += (double)w->codebook[k * CODEWORD_LENGTH + i] *
                           (double)w->widen.weight[(tap * CODEWORD_LENGTH + i) * NET_WIDE + o];
                assert_true(table[(tap * CODEWORDS + k) * NET_WIDE + o] == (float)sum);
            }
    free(table);
}

TEST(the_folded_search_finds_the_codes_of_the_plain_one)
{
    const struct codec_weights *w = codec_weights_default();
    static float high[NET_DOWN * CODEWORDS], low[NET_DOWN * CODEWORDS], bias[CODEWORDS];
    static float leaves[3 * LEAF_VOXELS];
    static volume x;
    uint8_t codes[3 * LEAF_VECTORS];
    double margin[3 * LEAF_VECTORS];
    pack_search(w, high, low, bias);
    for (int kind = 0; kind < LEAF_KINDS; kind++)
        leaves_make((enum leaf_kind)kind, 8, 16 * 1024 + 520, 1, leaves + kind * LEAF_VOXELS);
    assert_int_equal(codec_encode_reference(w, leaves, 3, codes, margin), 0);
    for (int leaf = 0; leaf < 3; leaf++) {
        plain_encode(w, leaves + leaf * LEAF_VOXELS, x);
        for (int v = 0; v < LEAF_VECTORS; v++) {
            double most = -INFINITY;
            int best = -1;
            for (int k = 0; k < CODEWORDS; k++) {
                double score = (double)bias[k];
                for (int c = 0; c < NET_DOWN; c++) {
                    const size_t word = word_of(0, NET_DOWN, c, CODEWORDS, k);
                    score += x[c * LEAF_VECTORS + v] * ((double)high[word] + (double)low[word]);
                }
                if (score > most) {
                    most = score;
                    best = k;
                }
            }
            if (margin[leaf * LEAF_VECTORS + v] > 1e-4)
                assert_int_equal(best, codes[leaf * LEAF_VECTORS + v]);
        }
    }
}
