/*
 * test_family_lut_weight.c - what weight_only_linear's kernels on tensor cores do, followed on the
 * host: codewords as pairs of bf16, and the order of codes and activations. And the operation's
 * bounds: every order of a sum passes, and nothing that loses terms or cuts C off.
 */
#include "tests/kernels/arithmetics.h"

#include "kernels/lut/weight_code.h"
#include "kernels/lut/weight_only.h"
#include "kernels/lut/weight_tiles.h"

static const struct weight_constants constants = WEIGHT_CONSTANTS;
static uint16_t number[WEIGHT_CODES], entry[WEIGHT_CODES], next[WEIGHT_CODES];

static const int8_t *points(void)
{
    const struct codebook *codebook = codebook_get(CODEBOOK_E8, 4);
    assert_non_null(codebook);
    assert_int_equal(weight_numbers(codebook->left, number, entry, next), 0);
    return codebook->left;
}

/* The half of a word of bf16s, as a number. */
static int bf16_half(uint32_t word, int half)
{
    uint16_t bits = (uint16_t)(word >> 16 * half);
    return (int)assay_load(ASSAY_BF16, &bits, 0);
}

/* Coordinates of two numbers: out[i][0] of the lower one, out[i][1] of the upper one. */
static void coordinates(uint32_t numbers, int out[8][2])
{
    uint32_t fields[8], offset = weight_offset(&constants, numbers);
    uint32_t entries = entry[numbers & 0xffff] | (uint32_t)entry[numbers >> 16] << 16;
    weight_fields(&constants, numbers, entries, fields);
    for (int i = 0; i < 8; i++)
        for (int half = 0; half < 2; half++)
            out[i][half] = bf16_half(fields[i], half) + bf16_half(offset, half) + (i % 2 ? 112 : 0);
}

TEST(every_codeword_comes_back_from_its_number)
{
    const int8_t *point = points();
    static bool seen[WEIGHT_CODES];
    memset(seen, 0, sizeof seen);
    for (int index = 0; index < WEIGHT_CODES; index++) {
        int other = (int)((unsigned)index * 40503u % WEIGHT_CODES), out[8][2];
        assert_false(seen[number[index]]);
        seen[number[index]] = true;
        coordinates(number[index] | (uint32_t)number[other] << 16, out);
        for (int i = 0; i < 8; i++) {
            assert_int_equal(out[i][0], point[8 * index + i]);
            assert_int_equal(out[i][1], point[8 * other + i]);
        }
    }
}

TEST(a_class_of_too_many_codewords_is_an_error)
{
    static int8_t zeros[8 * WEIGHT_CODES];
    assert_int_equal(weight_numbers(zeros, number, entry, next), -1);
}

/* Words of W in a kernel's order. */
static uint32_t *pack(const struct lut_geometry *geometry, const struct weight_order *order,
                      const void *codes, int64_t words)
{
    struct lut_codes w = lut_codes(geometry, codes, geometry->columns);
    uint32_t *out = calloc((size_t)words, sizeof *out);
    for (int64_t at = 0; at < words; at++) {
        struct weight_place place = weight_place(order, at, geometry->levels);
        for (int half = 0; half < 2; half++) {
            int64_t block = place.block + half, index = 0;
            if (block < geometry->blocks && place.column < geometry->columns)
                index = lut_read(&w, place.column, block * geometry->levels + place.level);
            out[at] |= (uint32_t)number[index] << 16 * half;
        }
    }
    return out;
}

/* What a lane's piece of a unit adds to the sum of one column and one row of X: the eight pairs of
 * each chunk times those of X. */
static double lane_sum(const uint32_t word[4], int levels, int below, const double *x, int64_t k,
                       int64_t unit, int t)
{
    double sum = 0;
    for (int chunk = 0; chunk < 2 / levels; chunk++)
        for (int level = 0, weight = 1; level < levels; level++, weight *= 4) {
            int out[8][2], w = levels == 1 ? 2 * chunk + below : 2 * below + level;
            int64_t block = (unit * (2 / levels) + chunk) * 8 + 2 * t;
            coordinates(word[w], out);
            for (int i = 0; i < 16; i++)
                if (8 * block + i < k) sum += x[8 * block + i] * weight * out[i % 8][i / 8];
        }
    return sum;
}

/* K in slices of `slice_units`, columns in groups of `tiles` tiles. */
static void lanes_add_up_to_the_product(int code, int64_t k, int64_t columns, int tiles,
                                        int slice_units)
{
    struct bench bench;
    bench_init(&bench, SHAPE("weight_only_linear", 1, k, columns, CODEBOOK_E8, code, LUT_PACKED));
    struct lut_geometry geometry = lut_geometry(&bench.shape);
    const struct codebook *codebook = lut_codebook(&bench.shape);
    struct lut_codes w = lut_codes(&geometry, bench.buffers.data[WEIGHT_ONLY_W], columns);
    int64_t slices = (weight_units(&geometry) + slice_units - 1) / slice_units;
    struct weight_order order = {tiles, slice_units, (columns + 16 * tiles - 1) / (16 * tiles)};
    int64_t units = slices * slice_units;
    uint32_t *words =
        pack(&geometry, &order, w.data, order.groups * tiles * units * WEIGHT_UNIT_WORDS);
    double *x = calloc((size_t)k, sizeof *x);
    for (int64_t i = 0; i < k; i++)
        x[i] = (double)(i * i % 31 - 15);
    for (int64_t column = 0; column < columns; column++) {
        double got = 0, expected = 0;
        int below = column % 16 / 8;
        for (int64_t unit = 0; unit < units; unit++)
            for (int t = 0; t < 4; t++) {
                int64_t tile = column / 16, group = tile / tiles;
                int64_t at = unit / slice_units * order.groups + group;
                at = (at * slice_units + unit % slice_units) * tiles + tile % tiles;
                int64_t lane = at * 32 + column % 8 * 4 + t;
                got += lane_sum(words + 4 * lane, geometry.levels, below, x, k, unit, t);
            }
        for (int64_t i = 0; i < k; i++) {
            int point[CODEBOOK_MAX_D];
            lut_decode_block(codebook, &geometry, &w, false, column, i / 8, point);
            expected += x[i] * point[i % 8];
        }
        assert_true(got == expected);
    }
    free(x);
    free(words);
    bench_release(&bench);
}

TEST(packed_words_add_up_to_the_exact_sum)
{
    points();
    for (int code = 4; code <= 5; code++) { /* q4m1, q4m2 */
        lanes_add_up_to_the_product(code, 13, 3, 1, 4);
        lanes_add_up_to_the_product(code, 264, 37, 2, 4);
        lanes_add_up_to_the_product(code, 600, 37, 1, 3);
    }
}

TEST(pieces_of_x_have_places_of_their_own)
{
    bool seen[2 * 28] = {false};
    for (int at = 0; at < 2 * 3 * 2 * 4; at++) {
        int piece = at / 24 * weight_x_row(3) + weight_x_piece(at / 8 % 3, at / 4 % 2, at % 4);
        assert_false(seen[piece]);
        seen[piece] = true;
    }
}

/* ---------------------------------------------------------------- bounds -- */

static double operands(const struct bench *bench, int64_t at, double *left, double *right)
{
    struct lut_geometry geometry = lut_geometry(&bench->shape);
    struct lut_codes w = lut_codes(&geometry, bench->in[WEIGHT_ONLY_W], geometry.columns);
    int64_t first = at / geometry.columns * geometry.k;
    const struct codebook *codebook = lut_codebook(&bench->shape);
    int point[CODEBOOK_MAX_D];
    for (int64_t i = 0; i < geometry.k; i++) {
        if (i % 8 == 0)
            lut_decode_block(codebook, &geometry, &w, false, at % geometry.columns, i / 8, point);
        left[i] = assay_load(ASSAY_BF16, bench->in[WEIGHT_ONLY_X], first + i);
        right[i] = point[i % 8] * (double)weight_only_scale(&geometry);
    }
    return 0;
}

/* k, and how many seeds. */
static const int sizes[][2] = {{8, 20}, {512, 1}, {2048, 1}};

static struct assay_shape shape_of(int64_t k, int code)
{
    return SHAPE("weight_only_linear", 4, k, 32, CODEBOOK_E8, code, LUT_PACKED);
}

TEST(every_order_of_a_sum_passes)
{
    static const struct arithmetic right[] = {RIGHT_FP32, RIGHT_TENSOR};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
            struct emulated plain = {"weight_only_linear", "q4m2", WEIGHT_ONLY_C, sizes[s][0],
                                     operands};
            assert_passes(shape_of(sizes[s][0], 5), &plain, &right[i], seeds_of(sizes[s][1]));
        }
}

TEST(fewer_terms_and_outputs_that_are_cut_off_are_wrong)
{
    static const struct arithmetic wrong[] = {
        {"last term dropped", as_it_is, sum_without_last, NULL, NULL},
        {"cut off", as_it_is, sum_blocks_of_16, NULL, bf16_cut}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
            for (int code = 4; code <= 5; code++) {
                struct emulated plain = {"weight_only_linear", lut_code_names[code], WEIGHT_ONLY_C,
                                         sizes[s][0], operands};
                assert_refused(shape_of(sizes[s][0], code), &plain, &wrong[i], 1);
            }
}
