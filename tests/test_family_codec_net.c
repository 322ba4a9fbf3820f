/*
 * test_family_codec_net.c - the codec's network on the host: the layers against loops
 * written out here, the packed weights of the GPU's kernels against what they stand for,
 * and every host variant at odd batches.
 */
#include "codec_bench.h"
#include "kernels/codec/codec_batch.h"
#include "kernels/codec/codec_net_internal.h"
#include "kernels/codec/codec_pack.h"
#include "kernels/codec/conv3d.h"
#include "kernels/codec/leaves.h"
#include "kernels/codec/vq_search.h"

/* ------------------------------------------------ a network written again -- */

/* Activations [channel][z][y][x], the largest layer's. */
typedef double volume[NET_EXPANDED * LEAF_VECTORS];

static int cube(int side)
{
    return side * side * side;
}

static void plain_conv(const struct codec_conv *conv, int side, int stride, const double *x,
                       double *y)
{
    const int result = side / stride, pad = conv->kernel > 1, k = conv->kernel;
    for (int o = 0; o < conv->out; o++)
        for (int v = 0; v < cube(result); v++) {
            double sum = (double)conv->bias[o];
            for (int tap = 0; tap < cube(k); tap++) {
                const int ax = v % result * stride + tap % k - pad;
                const int ay = v / result % result * stride + tap / k % k - pad;
                const int az = v / result / result * stride + tap / k / k - pad;
                if (ax < 0 || ay < 0 || az < 0 || ax >= side || ay >= side || az >= side) continue;
                for (int i = 0; i < conv->in; i++)
                    sum += x[i * cube(side) + (az * side + ay) * side + ax] *
                           (double)conv->weight[(tap * conv->in + i) * conv->out + o];
            }
            y[o * cube(result) + v] = sum;
        }
}

static void plain_norm(const struct codec_norm *norm, int channels, int voxels, const double *x,
                       double *y)
{
    const int length = channels / norm->groups * voxels;
    for (int group = 0; group < norm->groups; group++) {
        double sum = 0, squares = 0;
        for (int i = 0; i < length; i++)
            sum += x[group * length + i];
        for (int i = 0; i < length; i++)
            squares += pow(x[group * length + i] - sum / length, 2);
        for (int i = 0; i < length; i++) {
            const int channel = (group * length + i) / voxels;
            const double normal =
                (x[group * length + i] - sum / length) / sqrt(squares / length + 1e-5);
            y[group * length + i] =
                fmax(0, normal * (double)norm->gamma[channel] + (double)norm->beta[channel]);
        }
    }
}

static void plain_residual(const struct codec_residual *block, int side, double *x)
{
    static volume a, b;
    const int channels = block->conv[0].in;
    plain_norm(&block->norm[0], channels, cube(side), x, a);
    plain_conv(&block->conv[0], side, 1, a, b);
    plain_norm(&block->norm[1], channels, cube(side), b, b);
    plain_conv(&block->conv[1], side, 1, b, a);
    for (int i = 0; i < channels * cube(side); i++)
        x[i] += (double)0.1f * a[i];
}

static void plain_attention(const struct codec_attention *attention, double *x)
{
    const int channels = attention->squeeze.in;
    double mean[NET_WIDE] = {0}, hidden[NET_WIDE], gate[NET_WIDE];
    for (int i = 0; i < channels * LEAF_VECTORS; i++)
        mean[i / LEAF_VECTORS] += x[i] / LEAF_VECTORS;
    plain_conv(&attention->squeeze, 1, 1, mean, hidden);
    for (int h = 0; h < attention->squeeze.out; h++)
        hidden[h] = fmax(0, hidden[h]);
    plain_conv(&attention->excite, 1, 1, hidden, gate);
    for (int i = 0; i < channels * LEAF_VECTORS; i++)
        x[i] /= 1 + exp(-gate[i / LEAF_VECTORS]);
}

/* x [32][4^3]: what the encoder's last convolution reads. */
static void plain_encode(const struct codec_weights *w, const float *leaf, double *x)
{
    static volume a, b;
    for (int i = 0; i < LEAF_VOXELS; i++)
        a[i] = (double)leaf[i];
    plain_conv(&w->stem, 8, 1, a, b);
    plain_norm(&w->stem_norm, NET_STEM, LEAF_VOXELS, b, a);
    plain_residual(&w->stem_residual, 8, a);
    plain_conv(&w->down, 8, 2, a, x);
    plain_residual(&w->down_residual, 4, x);
    plain_attention(&w->down_attention, x);
}

static void plain_decode(const struct codec_weights *w, const uint8_t *codes, double *leaf)
{
    static volume a, b;
    for (int i = 0; i < CODEWORD_LENGTH; i++)
        for (int v = 0; v < LEAF_VECTORS; v++)
            a[i * LEAF_VECTORS + v] = (double)w->codebook[codes[v] * CODEWORD_LENGTH + i];
    plain_conv(&w->widen, 4, 1, a, b);
    plain_norm(&w->wide_norm, NET_WIDE, LEAF_VECTORS, b, a);
    plain_residual(&w->wide_residual, 4, a);
    plain_attention(&w->wide_attention, a);
    plain_conv(&w->expand, 4, 1, a, b);
    for (int c = 0; c < NET_EXPANDED; c++)
        for (int v = 0; v < LEAF_VECTORS; v++) {
            const int z = v / 16 * 2 + c / 4 % 2, y = v / 4 % 4 * 2 + c / 2 % 2;
            a[c / 8 * LEAF_VOXELS + z * 64 + y * 8 + v % 4 * 2 + c % 2] = b[c * LEAF_VECTORS + v];
        }
    plain_conv(&w->last, 8, 1, a, leaf);
    for (int i = 0; i < LEAF_VOXELS; i++)
        leaf[i] = 1 / (1 + exp(-leaf[i]));
}

/* ------------------------------------------------------------ the layers -- */

enum { MOST_LEAVES = 7 };

static void the_encoder_is_its_layers_one_after_another(void **state)
{
    (void)state;
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

static void the_decoder_is_its_layers_one_after_another(void **state)
{
    (void)state;
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

static void a_code_is_the_nearest_codeword_and_its_margin_that_to_the_second(void **state)
{
    (void)state;
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

static void codes_and_leaves_do_not_depend_on_the_batch_they_are_in(void **state)
{
    (void)state;
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

static void the_same_seed_makes_the_same_weights_and_another_others(void **state)
{
    (void)state;
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

/* --------------------------------------------------------- packed weights -- */

static void tf32_keeps_eleven_bits_rounded_to_nearest(void **state)
{
    (void)state;
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

static void packing_moves_every_weight_to_its_lane(void **state)
{
    (void)state;
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

static void the_stem_is_packed_as_channels_of_one_tap_and_zeros(void **state)
{
    (void)state;
    const struct codec_conv *stem = &codec_weights_default()->stem;
    float packed[PACK_STEM_TAPS * NET_STEM];
    pack_stem(stem, packed);
    for (int tap = 0; tap < PACK_STEM_TAPS; tap++)
        for (int o = 0; o < NET_STEM; o++)
            assert_true(packed[word_of(0, PACK_STEM_TAPS, tap, NET_STEM, o)] ==
                        (tap < 27 ? pack_tf32(stem->weight[tap * NET_STEM + o]) : 0.0f));
}

static void the_table_holds_the_decoders_first_convolution_of_every_codeword(void **state)
{
    (void)state;
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

static void the_folded_search_finds_the_codes_of_the_plain_one(void **state)
{
    (void)state;
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

/* ------------------------------------------------------------- operations -- */

static void every_host_codec_is_right_at_odd_batches(void **state)
{
    (void)state;
    const int64_t leaves[] = {1, 3, 7};
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) {
        for (int64_t volume = 0; volume < LEAF_KINDS; volume++) {
            int64_t near;
            assert_int_equal(
                bench_run_host(bench_shape("codec_encode", leaves[i], BATCH_FP32, volume), &near),
                1);
            assert_true(near <= 1);
        }
        assert_int_equal(
            bench_run_host(bench_shape("codec_decode", leaves[i], BATCH_FP32, 0), NULL), 1);
    }
}

static void quality_says_how_many_codes_differ_and_how_much_is_saved(void **state)
{
    (void)state;
    struct bench bench;
    struct assay_metric metric[ASSAY_MAX_METRICS];
    bench_init(&bench, bench_shape("codec_encode", 2, BATCH_FP32, LEAF_SMOKE));
    uint8_t *codes = bench.memory[ENCODE_CODES];
    const void *const *host = (const void *const *)bench.memory;
    assert_int_equal(codec_encode_reference(codec_weights_default(), bench.memory[ENCODE_LEAVES], 2,
                                            codes, NULL),
                     0);
    assert_int_equal(bench.shape.operation->quality(&bench.shape, host, metric), 4);
    assert_true(metric[0].value == 0 && metric[1].value > 0 && metric[3].value == 32);
    codes[5] ^= 1;
    assert_int_equal(bench.shape.operation->quality(&bench.shape, host, metric), 4);
    assert_true(metric[0].value == 1.0 / (2 * LEAF_VECTORS));
    bench_release(&bench);
}

static void every_host_convolution_is_right_at_odd_shapes(void **state)
{
    (void)state;
    /* leaves, in, out, side, kernel, stride */
    const int64_t shapes[][6] = {{1, 1, 1, 1, 1, 1},   {3, 1, 16, 8, 3, 1}, {2, 33, 17, 4, 3, 1},
                                 {1, 16, 32, 8, 4, 2}, {5, 32, 1, 8, 3, 1}, {3, 5, 40, 2, 4, 2},
                                 {7, 8, 3, 5, 3, 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct assay_shape shape = bench_shape("conv3d", 0, 0, 0);
        memcpy(shape.value, shapes[i], sizeof shapes[i]);
        shape.value[CONV_TYPE] = CONV_FP32;
        assert_null(shape.operation->supports(&shape));
        assert_true(bench_run_host(shape, NULL) >= 2); /* and one more with OpenBLAS */
    }
}

static void only_convolutions_that_keep_or_halve_the_edge_are_taken(void **state)
{
    (void)state;
    struct assay_shape shape = bench_shape("conv3d", 1, 1, 1);
    const int64_t wrong[][3] = {{8, 2, 1}, {8, 3, 2}, {7, 4, 2}, {8, 1, 2}, {8, 4, 1}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memcpy(shape.value + CONV_SIDE, wrong[i], sizeof wrong[i]);
        assert_non_null(shape.operation->supports(&shape));
    }
}

static void every_host_attention_shuffle_and_sigmoid_is_right_at_odd_shapes(void **state)
{
    (void)state;
    for (int64_t leaves = 1; leaves < 40; leaves += 17) {
        assert_int_equal(bench_run_host(bench_shape("channel_attention", leaves, 4, 1), NULL), 2);
        assert_int_equal(bench_run_host(bench_shape("channel_attention", leaves, 36, 63), NULL), 2);
        assert_int_equal(bench_run_host(bench_shape("pixel_shuffle", leaves, 5, 3), NULL), 2);
        assert_int_equal(bench_run_host(bench_shape("pixel_shuffle", leaves, 32, 4), NULL), 2);
        assert_int_equal(bench_run_host(bench_shape("sigmoid", leaves, 0, 0), NULL), 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_encoder_is_its_layers_one_after_another),
        cmocka_unit_test(the_decoder_is_its_layers_one_after_another),
        cmocka_unit_test(a_code_is_the_nearest_codeword_and_its_margin_that_to_the_second),
        cmocka_unit_test(codes_and_leaves_do_not_depend_on_the_batch_they_are_in),
        cmocka_unit_test(the_same_seed_makes_the_same_weights_and_another_others),
        cmocka_unit_test(tf32_keeps_eleven_bits_rounded_to_nearest),
        cmocka_unit_test(packing_moves_every_weight_to_its_lane),
        cmocka_unit_test(the_stem_is_packed_as_channels_of_one_tap_and_zeros),
        cmocka_unit_test(the_table_holds_the_decoders_first_convolution_of_every_codeword),
        cmocka_unit_test(the_folded_search_finds_the_codes_of_the_plain_one),
        cmocka_unit_test(every_host_codec_is_right_at_odd_batches),
        cmocka_unit_test(quality_says_how_many_codes_differ_and_how_much_is_saved),
        cmocka_unit_test(every_host_convolution_is_right_at_odd_shapes),
        cmocka_unit_test(only_convolutions_that_keep_or_halve_the_edge_are_taken),
        cmocka_unit_test(every_host_attention_shuffle_and_sigmoid_is_right_at_odd_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
