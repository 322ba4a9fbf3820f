/* test_family_lut_codes.c - codebooks, tables of inner products, and indices as stored. */
#include "tests/kernels/bench.h"
#include "kernels/lut/lut.h"

#include "kernels/lut/short_points.h"

TEST(tables_have_the_known_sizes_maxima_and_zeros)
{
    static const struct {
        int lattice, q;
        int64_t codewords;
        int largest;
        double zeros_pct;
    } known[] = {
        {CODEBOOK_Z2, 3, 9, 2, 40.7},   {CODEBOOK_Z2, 4, 16, 8, 25.4},
        {CODEBOOK_Z2, 8, 64, 32, 9.4},  {CODEBOOK_Z2, 16, 256, 128, 3.0},
        {CODEBOOK_A2, 4, 16, 8, 26.2},  {CODEBOOK_D4, 2, 16, 4, 40.2},
        {CODEBOOK_D4, 3, 81, 6, 25.3},  {CODEBOOK_D4, 4, 256, 16, 13.2},
        {CODEBOOK_E8, 2, 256, 4, 32.2},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct codebook *codebook = codebook_get(known[i].lattice, known[i].q);
        assert_non_null(codebook);
        int64_t entries = codebook->count * codebook->count, zeros = 0;
        int largest = 0;
        int16_t *table = malloc((size_t)entries * sizeof *table);
        codebook_table_i16(codebook, table);
        for (int64_t at = 0; at < entries; at++) {
            zeros += table[at] == 0;
            if (abs(table[at]) > largest) largest = abs(table[at]);
        }
        assert_int_equal(codebook->count, known[i].codewords);
        assert_int_equal(largest, known[i].largest);
        assert_true(fabs(100.0 * (double)zeros / (double)entries - known[i].zeros_pct) < 0.06);
        free(table);
    }
}

TEST(dot_products_of_points_are_multiples_of_the_divisor)
{
    for (int lattice = 0; lattice < CODEBOOK_LATTICES; lattice++) {
        const struct codebook *codebook = codebook_get(lattice, 3);
        for (int64_t a = 0; a < codebook->count; a += codebook->count / 80 + 1)
            for (int64_t b = 0; b < codebook->count; b++) {
                int sum = 0;
                for (int i = 0; i < codebook->d; i++)
                    sum +=
                        codebook->left[a * codebook->d + i] * codebook->right[b * codebook->d + i];
                assert_int_equal(sum % codebook->lattice->divisor, 0);
                assert_int_equal(sum / codebook->lattice->divisor, codebook_entry(codebook, a, b));
            }
    }
}

TEST(codewords_are_distinct_and_index_zero_is_the_origin)
{
    for (int lattice = 0; lattice < CODEBOOK_LATTICES; lattice++)
        for (int q = 2; q <= 4; q++) {
            const struct codebook *codebook = codebook_get(lattice, q);
            int64_t last = codebook->count - 1 < 300 ? codebook->count - 1 : 300;
            for (int i = 0; i < codebook->d; i++)
                assert_int_equal(codebook->left[i], 0);
            for (int64_t a = 0; a <= last; a++)
                for (int64_t b = 0; b < a; b++)
                    assert_memory_not_equal(codebook->left + a * codebook->d,
                                            codebook->left + b * codebook->d, (size_t)codebook->d);
        }
}

/* ---------------------------------------------------------------- storage -- */

TEST(packed_indices_read_back_over_word_boundaries)
{
    const int64_t dims[] = {3, 217, 2, CODEBOOK_E8, 3, LUT_PACKED, 0}; /* q3m2: 13 bits */
    struct assay_shape shape = {.operation = registry_operation("lut_matmul")};
    memcpy(shape.value, dims, sizeof dims);
    struct lut_geometry geometry = lut_geometry(&shape);
    assert_int_equal(geometry.bits, 13);
    assert_int_equal(geometry.blocks, 28); /* 217 / 8, rounded up */
    unsigned char *bytes = malloc((size_t)(3 * geometry.stride_bytes));
    lut_fill_codes(&geometry, 3, 5, bytes);
    struct lut_codes codes = lut_codes(&geometry, bytes, 3);
    for (int64_t row = 0; row < 3; row++)
        for (int64_t at = 0; at < geometry.blocks * geometry.levels; at++) {
            uint32_t index = 0;
            for (int bit = 0; bit < 13; bit++) {
                int64_t place = at * 13 + bit;
                index |= (uint32_t)(bytes[row * geometry.stride_bytes + place / 8] >> place % 8 & 1)
                         << bit;
            }
            assert_int_equal(lut_read(&codes, row, at), index);
            assert_true(index < geometry.count);
        }
    free(bytes);
}

TEST(indices_that_do_not_fit_are_refused)
{
    struct assay_shape shape = {.operation = registry_operation("lut_matmul"),
                                .value = {8, 64, 8, CODEBOOK_E8, 5, LUT_INT8, 0}}; /* q4m2 */
    assert_non_null(shape.operation->supports(&shape));
    assert_non_null(lut_table_unsupported(&shape));
    assert_null(lut_decode_unsupported(&shape));
    shape.value[LUT_CODE] = 6; /* q4m3: 168 is beyond int8 */
    assert_non_null(lut_decode_unsupported(&shape));
}

TEST(points_of_three_bytes_decode_like_those_of_eight)
{
    const struct codebook *codebook = codebook_get(CODEBOOK_E8, 4);
    unsigned char *table = malloc(SHORT_POINTS_BYTES);
    assert_int_equal(codebook->count, SHORT_POINTS);
    for (uint32_t index = 0; index < SHORT_POINTS; index++) {
        uint32_t entry = short_point(index, codebook->left + 8 * (int64_t)index);
        assert_true(entry >> 24 == 0);
        ((uint16_t *)table)[index] = (uint16_t)entry;
        table[2 * SHORT_POINTS + index] = (unsigned char)(entry >> 16);
    }
    for (uint32_t first = 0; first < SHORT_POINTS; first++) {
        const uint32_t index[] = {first, (first * 40503u + 7) & 0xffff};
        for (int levels = 1; levels <= SHORT_POINTS_LEVELS; levels++) {
            uint32_t word[2];
            int8_t expected[8];
            short_points_block(table, index, levels, word);
            for (int i = 0; i < 8; i++) {
                int sum = codebook->left[8 * (int64_t)index[0] + i];
                if (levels > 1) sum += 4 * codebook->left[8 * (int64_t)index[1] + i];
                expected[i] = (int8_t)sum;
            }
            assert_memory_equal(word, expected, sizeof expected);
        }
    }
    free(table);
}
