/*
 * test_family_lut_layout.c - where the GPU kernels of the lookup-table family put things: their
 * index rules followed on the host, and summed up.
 */
#include "tests/kernels/bench.h"
#include "kernels/lut/lut.h"

#include "kernels/lut/gemv.h"
#include "kernels/lut/gemv_q4.h"
#include "kernels/lut/gemv_table.h"
#include "kernels/lut/imma.h"

/* One element as decode_gemv adds it up: chunk, part and step, nibbles and bias. */
static int32_t gemv_element(const struct bench *bench, int64_t row, int64_t column)
{
    struct lut_geometry geometry = lut_geometry(&bench->shape);
    const struct codebook *codebook = lut_codebook(&bench->shape);
    struct lut_codes a = lut_codes(&geometry, bench->buffers.data[LUT_A], geometry.rows);
    const unsigned char *codes =
        (const unsigned char *)bench->buffers.data[LUT_B] + column * geometry.stride_bytes;
    int levels = geometry.levels, of_lane = GEMV_LANE_BYTES / levels;
    int steps = gemv_steps(geometry.blocks, levels);
    int(*left)[4][8] = calloc((size_t)steps, sizeof *left);
    int32_t sum = 0, row_sum = 0;
    for (int block = 0; block < geometry.blocks; block++) {
        struct gemv_place place = gemv_place(block, levels);
        lut_decode_block(codebook, &geometry, &a, false, row, block, left[place.step][place.part]);
        for (int i = 0; i < 8; i++)
            row_sum += left[place.step][place.part][i];
    }
    for (int step = 0; step < steps; step++)
        for (int part = 0; part < 4; part++) {
            uint32_t low = 0, high = 0;
            int64_t lane = (int64_t)(step / of_lane) * GEMV_CHUNK_BYTES + part * GEMV_LANE_BYTES;
            for (int m = 0; m < levels; m++) {
                int64_t at = lane + step % of_lane * levels + m;
                int index = at < geometry.stride_bytes ? codes[at] : 0;
                gemv_add(gemv_nibbles(codebook->left + index * 8), m, &low, &high);
            }
            for (int i = 0; i < 4; i++)
                sum += left[step][part][i] * (int)(low >> 8 * i & 0xff) +
                       left[step][part][i + 4] * (int)(high >> 8 * i & 0xff);
        }
    free(left);
    return (sum - gemv_bias(levels) * row_sum) >> 2;
}

TEST(gemv_adds_up_to_the_exact_sum)
{
    for (int code = 0; code < 3; code++) /* q2m1, q2m2, q2m4 */
        for (int64_t k = 8; k <= 2072; k += 688) {
            struct bench bench;
            bench_init(&bench, SHAPE("lut_matmul", 3, k, 4, CODEBOOK_E8, code, LUT_PACKED, 0));
            struct lut_geometry geometry = lut_geometry(&bench.shape);
            for (int64_t at = 0; at < 12; at++)
                assert_int_equal(gemv_element(&bench, at / 4, at % 4),
                                 lut_exact(lut_codebook(&bench.shape), &geometry,
                                           bench.buffers.data[LUT_A], bench.buffers.data[LUT_B],
                                           at / 4, at % 4));
            bench_release(&bench);
        }
}

/* The table of gemv_q4.h. */
static uint16_t *make_q4_table(const struct codebook *codebook)
{
    uint16_t *table = malloc(GEMV_Q4_TABLE_BYTES);
    for (int index = 0; index < GEMV_Q4_CODEWORDS; index++)
        table[index] = gemv_q4_entry(codebook->left + 8 * index);
    return table;
}

TEST(q4_codewords_are_half_in_the_table_and_half_in_the_index)
{
    const struct codebook *codebook = codebook_get(CODEBOOK_E8, 4);
    uint16_t *table = make_q4_table(codebook);
    for (uint32_t index = 0; index < GEMV_Q4_CODEWORDS; index++) {
        uint32_t other = index * 40503u >> 3 & 0xffff; /* any: halves must not mix */
        uint32_t two[2] = {index, other}, word[4] = {0};
        gemv_q4_add(index | other << 16, table[index] | (uint32_t)table[other] << 16, 1, 0, word);
        for (int half = 0; half < 2; half++)
            for (int i = 0; i < 8; i++) {
                int m = word[i % 4] >> (16 * half + 8 * (i / 4)) & 0xff;
                if (i % 4 >= 2) m >>= 4;
                assert_int_equal(GEMV_Q4_ZERO - m, codebook->left[two[half] * 8 + i]);
            }
    }
    free(table);
}

/* Rows of A as decode_gemv keeps them for q = 4, negative, and the sum of each. */
static int8_t *make_q4_rows(const struct bench *bench, const uint16_t *table, int sums[])
{
    struct lut_geometry geometry = lut_geometry(&bench->shape);
    struct lut_codes a = lut_codes(&geometry, bench->buffers.data[LUT_A], geometry.rows);
    int rows = (int)geometry.rows, levels = geometry.levels;
    uint16_t *out = calloc(1, (size_t)gemv_q4_a_bytes(geometry.blocks, levels, rows));
    for (int row = 0; row < rows; row++) {
        sums[row] = 0;
        for (int block = 0; block < geometry.blocks; block++) {
            uint32_t word[4] = {0};
            for (int m = 0; m < levels; m++) {
                uint32_t index = lut_read(&a, row, (int64_t)block * levels + m);
                gemv_q4_add(index, table[index], levels, m, word);
            }
            uint16_t negative[4], factors[4];
            for (int j = 0; j < 4; j++) {
                negative[j] = gemv_q4_negative(word[j], levels, j);
                sums[row] += (int8_t)(negative[j] & 0xff) + (int8_t)(negative[j] >> 8);
            }
            gemv_q4_factors(negative, levels, factors);
            for (int j = 0; j < 4; j++)
                out[gemv_q4_element(gemv_q4_place(block, levels), j, rows, row)] = factors[j];
        }
    }
    return (int8_t *)out;
}

/* One element: chunk, part, quad and the four products of 8 bytes each. */
static int32_t gemv_q4_sum(const struct bench *bench, const uint16_t *table, const int8_t *a,
                           int row, int64_t column)
{
    struct lut_geometry geometry = lut_geometry(&bench->shape);
    int levels = geometry.levels, rows = (int)geometry.rows;
    const char *codes = (const char *)bench->buffers.data[LUT_B] + column * geometry.stride_bytes;
    int32_t sum = 0;
    for (int chunk = 0; chunk < gemv_q4_chunks(geometry.blocks, levels); chunk++)
        for (int part = 0; part < 4; part++) {
            uint32_t words[4] = {0};
            int64_t at = (int64_t)chunk * GEMV_CHUNK_BYTES + part * GEMV_LANE_BYTES;
            if (at < geometry.stride_bytes) memcpy(words, codes + at, sizeof words);
            for (int quad = 0; quad < 2 / levels; quad++)
                for (int half = 0; half < 2; half++) {
                    uint32_t m[4] = {0};
                    for (int level = 0; level < levels; level++) {
                        uint32_t two = gemv_q4_indices(words, levels, level, 2 * quad + half);
                        uint32_t entries = table[two & 0xffff] | (uint32_t)table[two >> 16] << 16;
                        gemv_q4_add(two, entries, levels, level, m);
                    }
                    for (int j = 0; j < 4; j++)
                        for (int byte = 0; byte < 4; byte++)
                            sum += (int)(m[j] >> 8 * byte & 0xff) *
                                   a[(((chunk * (2 / levels) + quad) * 4 + j) * rows + row) * 32 +
                                     part * 8 + half * 4 + byte];
                }
        }
    return sum;
}

TEST(factors_of_every_q4_codeword_fit_int8)
{
    const struct codebook *codebook = codebook_get(CODEBOOK_E8, 4);
    for (int index = 0; index < GEMV_Q4_CODEWORDS; index++)
        for (int i = 0; i < 8; i++) {
            const int8_t *z = codebook->left + 8 * index;
            if (i % 4 >= 2) continue;
            assert_in_range(128 - 16 * z[i] + z[i + 2], 0, 255);
        }
}

TEST(gemv_q4_adds_up_to_the_exact_sum)
{
    const struct codebook *codebook = codebook_get(CODEBOOK_E8, 4);
    uint16_t *table = make_q4_table(codebook);
    for (int code = 4; code < 6; code++) /* q4m1, q4m2 */
        for (int64_t k = 8; k <= 2072; k += 344) {
            struct bench bench;
            int sums[3];
            bench_init(&bench, SHAPE("lut_matmul", 3, k, 4, CODEBOOK_E8, code, LUT_PACKED, 0));
            struct lut_geometry geometry = lut_geometry(&bench.shape);
            assert_int_equal(geometry.q, 4);
            int8_t *a = make_q4_rows(&bench, table, sums);
            for (int at = 0; at < 12; at++) {
                int32_t sum =
                    gemv_q4_sum(&bench, table, a, at / 4, at % 4) >> gemv_q4_shift(geometry.levels);
                assert_int_equal((sum - gemv_q4_bias(geometry.levels) * sums[at / 4]) >> 2,
                                 lut_exact(codebook, &geometry, bench.buffers.data[LUT_A],
                                           bench.buffers.data[LUT_B], at / 4, at % 4));
            }
            free(a);
            bench_release(&bench);
        }
    free(table);
}

/* The tables of one part of a row of A, as table_gemv lays them out. */
static void make_tables(const struct bench *bench, int64_t row, int part, char *table)
{
    struct lut_geometry geometry = lut_geometry(&bench->shape);
    const struct codebook *codebook = lut_codebook(&bench->shape);
    struct lut_codes a = lut_codes(&geometry, bench->buffers.data[LUT_A], geometry.rows);
    memset(table, 0x55, GEMV_TABLE_BYTES);
    for (int word = 0; word < GEMV_TABLE_WORDS; word++)
        for (int lane = 0; lane < 32; lane++) {
            int x[4][8] = {{0}};
            for (int i = 0; i < 4; i++) {
                int64_t block = (int64_t)part * GEMV_TABLE_BLOCKS +
                                gemv_table_block(geometry.levels, word, lane) + i;
                if (block < geometry.blocks)
                    lut_decode_block(codebook, &geometry, &a, false, row, block, x[i]);
            }
            for (int b = 0; b < 256; b++) {
                int product[4] = {0};
                for (int i = 0; i < 4; i++)
                    for (int e = 0; e < 8; e++)
                        product[i] += x[i][e] * codebook->right[b * 8 + e];
                uint32_t packed = gemv_table_word(product[0], product[1], product[2], product[3]);
                memcpy(table + word / 2 * 65536 + b * 256 + word % 2 * 128 + lane * 4, &packed, 4);
            }
        }
}

/* What a part adds to one element: every byte of codes looked up, dp4a written out. */
static int32_t look_up_part(const struct bench *bench, int64_t column, int part, const char *table)
{
    struct lut_geometry geometry = lut_geometry(&bench->shape);
    int levels = geometry.levels;
    const unsigned char *codes =
        (const unsigned char *)bench->buffers.data[LUT_B] + column * geometry.stride_bytes;
    int32_t sum = 0;
    for (int chunk = 0; chunk < levels; chunk++)
        for (int lane = 0; lane < 32; lane++) {
            int64_t at = ((int64_t)part * levels + chunk) * GEMV_TABLE_CHUNK + lane * 16;
            if (at > geometry.stride_bytes - 16) at = geometry.stride_bytes - 16;
            for (int i = 0; i < 16; i++) {
                int8_t word[4], weight[4];
                int weights = gemv_table_weight(levels, i);
                memcpy(word,
                       table + gemv_table_offset(levels, chunk, i) + codes[at + i] * 256 + lane * 4,
                       4);
                memcpy(weight, &weights, 4);
                for (int e = 0; e < 4; e++)
                    sum += word[e] * weight[e];
            }
        }
    return sum;
}

TEST(table_gemv_adds_up_to_the_exact_sum)
{
    char *table = malloc(GEMV_TABLE_BYTES);
    for (int code = 0; code < 3; code++) /* q2m1, q2m2, q2m4 */
        for (int64_t k = 8; k <= 8968; k += 2240) {
            struct bench bench;
            bench_init(&bench, SHAPE("lut_matmul", 2, k, 4, CODEBOOK_E8, code, LUT_PACKED, 0));
            struct lut_geometry geometry = lut_geometry(&bench.shape);
            int32_t sum[2][4] = {{0}};
            for (int64_t row = 0; row < 2; row++)
                for (int part = 0; part < gemv_table_parts(geometry.blocks); part++) {
                    make_tables(&bench, row, part, table);
                    for (int64_t column = 0; column < 4; column++)
                        sum[row][column] += look_up_part(&bench, column, part, table);
                }
            for (int64_t at = 0; at < 8; at++)
                assert_int_equal(sum[at / 4][at % 4],
                                 lut_exact(lut_codebook(&bench.shape), &geometry,
                                           bench.buffers.data[LUT_A], bench.buffers.data[LUT_B],
                                           at / 4, at % 4));
            bench_release(&bench);
        }
    free(table);
}

TEST(every_piece_of_a_stage_has_a_place_of_its_own)
{
    bool taken[IMMA_STAGE_BYTES / 16] = {false};
    for (int row = 0; row < IMMA_ROWS + IMMA_COLUMNS; row++)
        for (int piece = 0; piece < IMMA_K / 16; piece++) {
            int at = imma_offset(row, piece);
            assert_int_equal(at % 16, 0);
            assert_int_equal(at / IMMA_K, row);
            assert_false(taken[at / 16]);
            taken[at / 16] = true;
        }
}

TEST(k_is_divided_only_where_tiles_leave_the_device_idle)
{
    assert_int_equal(imma_parts(66, 100, 66), 1);
    assert_int_equal(imma_parts(1024, 64, 66), 1);
    assert_int_equal(imma_parts(1, 7, 66), 1);
    assert_int_equal(imma_parts(1, 100, 66), 25);
    for (int stages = 1; stages < 300; stages++)
        for (int tiles = 1; tiles < 300; tiles += 7) {
            int parts = imma_parts(tiles, stages, 66);
            assert_true(parts >= 1 && parts <= stages && parts <= IMMA_PARTS);
            assert_true(parts == 1 || parts * tiles <= 66);
        }
}

TEST(tiles_cover_the_output_once)
{
    static const int64_t sizes[][2] = {{1, 1}, {1024, 512}, {8192, 8192}, {1100, 3000}, {129, 257}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int64_t rows = sizes[i][0], columns = sizes[i][1];
        int64_t across = (columns + IMMA_COLUMNS - 1) / IMMA_COLUMNS;
        int64_t tiles = imma_tiles(rows, columns, IMMA_ROWS);
        int *seen = calloc((size_t)tiles, sizeof *seen);
        for (int64_t index = 0; index < tiles; index++) {
            struct imma_tile tile = imma_tile_of(index, rows, columns, IMMA_ROWS);
            assert_true(tile.row < rows && tile.column < columns);
            seen[tile.row / IMMA_ROWS * across + tile.column / IMMA_COLUMNS]++;
        }
        for (int64_t index = 0; index < tiles; index++)
            assert_int_equal(seen[index], 1);
        free(seen);
    }
}
