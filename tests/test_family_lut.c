/* test_family_lut.c - the lookup-table family: codebooks, operation, host variants. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fill.h"
#include "kernels/lut/gemv.h"
#include "kernels/lut/gemv_table.h"
#include "kernels/lut/imma.h"
#include "kernels/lut/linear.h"
#include "kernels/lut/lut.h"
#include "registry.h"

/* ------------------------------------------------------------------ cases -- */

struct problem {
    struct assay_shape shape;
    struct assay_call call;
    struct assay_buffer spec[ASSAY_MAX_BUFFERS];
    int count;
};

static void problem_init(struct problem *problem, const char *operation, const int64_t *dims)
{
    memset(problem, 0, sizeof *problem);
    problem->shape.operation = registry_operation(operation);
    assert_non_null(problem->shape.operation);
    memcpy(problem->shape.value, dims, 7 * sizeof *dims);
    problem->call.shape = &problem->shape;
    problem->count = problem->shape.operation->buffers(&problem->shape, problem->spec);
    for (int b = 0; b < problem->count; b++) {
        const struct assay_buffer *spec = &problem->spec[b];
        uint64_t seed = 1000 + (uint64_t)b;
        size_t bytes = (size_t)spec->count * assay_type_bytes(spec->type);
        void *data = problem->call.buffer[b] = aligned_alloc(256, (bytes + 255) / 256 * 256);
        memset(data, 0xff, bytes);
        if (spec->role != ASSAY_IN) continue;
        if (spec->fill.kind == ASSAY_FILL_CUSTOM)
            problem->shape.operation->fill(&problem->shape, b, seed, data);
        else
            for (int64_t i = 0; i < spec->count; i++)
                assay_store(spec->type, data, i, fill_value(&spec->fill, spec->fill.hard, seed, i));
    }
}

static void problem_release(struct problem *problem)
{
    for (int b = 0; b < problem->count; b++)
        free(problem->call.buffer[b]);
}

static int64_t problem_outputs(const struct problem *problem)
{
    return problem->spec[LUT_C].count;
}

/* The output against the reference, and bit for bit against the model. */
static void assert_right(const struct problem *problem, const struct assay_variant *variant)
{
    int64_t count = problem_outputs(problem);
    const void *const *in = (const void *const *)problem->call.buffer;
    const float *got = problem->call.buffer[LUT_C];
    double *expected = malloc((size_t)count * sizeof(double));
    double *bound = malloc((size_t)count * sizeof(double));
    float *model = malloc((size_t)count * sizeof(float));
    assert_int_equal(
        problem->shape.operation->reference(&problem->shape, in, LUT_C, 0, count, expected, bound),
        0);
    for (int64_t i = 0; i < count; i++)
        assert_true(fabs(got[i] - expected[i]) <= bound[i]);
    if (variant->model) {
        assert_int_equal(variant->model(&problem->shape, in, LUT_C, 0, count, model), 0);
        assert_memory_equal(model, got, (size_t)count * sizeof(float));
    }
    free(model);
    free(bound);
    free(expected);
}

static void run(struct problem *problem, const struct assay_variant *variant)
{
    problem->call.state = NULL;
    if (variant->setup) assert_int_equal(variant->setup(&problem->call), 0);
    assert_int_equal(variant->launch(&problem->call), 0);
    if (variant->teardown) variant->teardown(&problem->call);
}

/* Every host variant of an operation that takes this shape. Returns how many ran. */
static int run_host_variants(const char *operation, const int64_t *dims)
{
    const struct assay_variant *variants[64];
    struct problem problem;
    int ran = 0;
    problem_init(&problem, operation, dims);
    const char *why = problem.shape.operation->supports
                          ? problem.shape.operation->supports(&problem.shape)
                          : NULL;
    int count = why ? 0 : registry_variants(operation, variants, 64);
    for (int i = 0; i < count; i++) {
        if (variants[i]->place != ASSAY_HOST) continue;
        if (variants[i]->supports && variants[i]->supports(&problem.shape)) continue;
        memset(problem.call.buffer[LUT_C], 0xff, (size_t)problem_outputs(&problem) * 4);
        run(&problem, variants[i]);
        assert_right(&problem, variants[i]);
        ran++;
    }
    problem_release(&problem);
    return ran;
}

/* -------------------------------------------------------------- codebooks -- */

static void tables_have_the_known_sizes_maxima_and_zeros(void **state)
{
    (void)state;
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

static void dot_products_of_points_are_multiples_of_the_divisor(void **state)
{
    (void)state;
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

static void codewords_are_distinct_and_index_zero_is_the_origin(void **state)
{
    (void)state;
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

static void packed_indices_read_back_over_word_boundaries(void **state)
{
    (void)state;
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

static void indices_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    struct assay_shape shape = {.operation = registry_operation("lut_matmul"),
                                .value = {8, 64, 8, CODEBOOK_E8, 5, LUT_INT8, 0}}; /* q4m2 */
    assert_non_null(shape.operation->supports(&shape));
    assert_non_null(lut_table_unsupported(&shape));
    assert_null(lut_decode_unsupported(&shape));
    shape.value[LUT_CODE] = 6; /* q4m3: 168 is beyond int8 */
    assert_non_null(lut_decode_unsupported(&shape));
}

/* --------------------------------------------------------------- variants -- */

static void host_variants_are_exact_for_every_lattice_code_and_index(void **state)
{
    (void)state;
    int ran = 0;
    for (int lattice = 0; lattice < CODEBOOK_LATTICES; lattice++)
        for (int code = 0; lut_code_names[code]; code++)
            for (int index = 0; index < LUT_FORMATS; index++)
                for (int scaled = 0; scaled < 2; scaled++) {
                    if (lattice == CODEBOOK_E8 && code == 3) continue; /* a 86 MB table */
                    const int64_t dims[] = {3, 37, 5, lattice, code, index, scaled};
                    ran += run_host_variants("lut_matmul", dims);
                }
    assert_true(ran > 300);
}

static void seed_sizes_are_exact(void **state)
{
    (void)state;
    static const int64_t sizes[][3] = {
        {2, 16, 8}, {4, 32, 16}, {8, 64, 32}, {16, 128, 64}, {32, 256, 128}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const int64_t dims[] = {sizes[i][0], sizes[i][1], sizes[i][2], CODEBOOK_E8, 0, LUT_INT8, 0};
        assert_true(run_host_variants("lut_matmul", dims) >= 3);
    }
}

static void encoding_inverts_decoding_for_every_codeword(void **state)
{
    (void)state;
    struct lut_dither dither;
    codebook_dither(8, dither.e);
    for (int q = 2; q <= 4; q++) {
        const struct codebook *codebook = codebook_get(CODEBOOK_E8, q);
        for (int64_t code = 0; code < codebook->count; code++) {
            float x[8];
            for (int i = 0; i < 8; i++)
                x[i] = 0.5f * codebook->left[code * 8 + i];
            assert_int_equal(lut_encode_e8(x, q, &dither), code);
        }
    }
}

static void linear_layers_are_exact_on_the_host(void **state)
{
    (void)state;
    for (int code = 0; lut_code_names[code]; code++) {
        const int64_t dims[] = {5, 203, 7, CODEBOOK_E8, code, LUT_PACKED, 0};
        assert_int_equal(run_host_variants("quantized_linear", dims), 2);
    }
}

/* C of a layer by the reference; the caller frees it. */
static double *layer(const struct problem *problem)
{
    int64_t count = problem_outputs(problem);
    double *expected = calloc((size_t)count, sizeof *expected);
    double *bound = calloc((size_t)count, sizeof *bound);
    assert_int_equal(problem->shape.operation->reference(&problem->shape,
                                                         (const void *const *)problem->call.buffer,
                                                         LINEAR_C, 0, count, expected, bound),
                     0);
    free(bound);
    return expected;
}

static void activations_that_are_no_numbers_are_zeros_to_their_block_alone(void **state)
{
    (void)state;
    static const float hard[] = {NAN, INFINITY, -INFINITY, 3e38f, 2e6f};
    const int64_t dims[] = {3, 203, 7, CODEBOOK_E8, 1, LUT_PACKED, 0};
    struct problem problem;
    problem_init(&problem, "quantized_linear", dims);
    float *x = problem.call.buffer[LINEAR_X];
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) {
        memset(x + 203 + 40, 0, 8 * sizeof *x);
        double *zeros = layer(&problem);
        for (int at = 0; at < 8; at++)
            x[203 + 40 + at] = at == 3 ? hard[i] : 0.75f;
        double *lost = layer(&problem);
        assert_memory_equal(zeros, lost, 3 * 7 * sizeof *lost);
        free(lost);
        free(zeros);
    }
    problem_release(&problem);
}

static void no_number_of_b_stays_in_its_column(void **state)
{
    (void)state;
    const int64_t dims[] = {5, 203, 7, CODEBOOK_E8, 1, LUT_PACKED, 0};
    struct problem problem;
    problem_init(&problem, "lut_matmul_onesided", dims);
    ((float *)problem.call.buffer[LUT_B])[2 * 203 + 100] = NAN;
    ((float *)problem.call.buffer[LUT_B])[4 * 203 + 202] = INFINITY;
    const struct assay_variant *variants[8];
    int count = registry_variants("lut_matmul_onesided", variants, 8);
    for (int i = 0; i < count; i++)
        if (variants[i]->place == ASSAY_HOST)
            assert_int_equal(variants[i]->launch(&problem.call), 0);
    for (int at = 0; at < 5 * 7; at++) {
        bool finite = isfinite(((float *)problem.call.buffer[LUT_C])[at]);
        assert_int_equal(finite, at % 7 != 2 && at % 7 != 4);
    }
    problem_release(&problem);
}

static void one_sided_products_are_within_their_bound(void **state)
{
    (void)state;
    for (int lattice = 0; lattice < CODEBOOK_LATTICES; lattice++) {
        const int64_t dims[] = {5, 203, 7, lattice, 5, LUT_PACKED, 0};
        assert_int_equal(run_host_variants("lut_matmul_onesided", dims), 1);
    }
}

static void row_sums_catch_one_wrong_element(void **state)
{
    (void)state;
    const int64_t dims[] = {5, 200, 33, CODEBOOK_A2, 2, LUT_PACKED, 0};
    struct problem problem;
    problem_init(&problem, "lut_matmul", dims);
    const struct assay_variant *variants[64];
    int count = registry_variants("lut_matmul", variants, 64);
    for (int i = 0; i < count; i++)
        if (strcmp(variants[i]->name, "host_scalar") == 0) run(&problem, variants[i]);
    float *c = problem.call.buffer[LUT_C];
    const int64_t rows[] = {0, 4};
    const float *const row[] = {c, c + 4 * 33};
    const void *a = problem.call.buffer[LUT_A], *b = problem.call.buffer[LUT_B];
    assert_true(lut_row_sum_error(&problem.shape, a, b, rows, 2, row) == 0);
    c[4 * 33 + 17] += 1;
    assert_true(lut_row_sum_error(&problem.shape, a, b, rows, 2, row) == 1);
    c[4 * 33 + 17] = NAN;
    assert_true(isnan(lut_row_sum_error(&problem.shape, a, b, rows, 2, row)));
    problem_release(&problem);
}

/* --------------------------------------------- index rules of the GPU kernels -- */

/* One element as decode_gemv adds it up: chunk, part and step, nibbles and bias. */
static int32_t gemv_element(const struct problem *problem, int64_t row, int64_t column)
{
    struct lut_geometry geometry = lut_geometry(&problem->shape);
    const struct codebook *codebook = lut_codebook(&problem->shape);
    struct lut_codes a = lut_codes(&geometry, problem->call.buffer[LUT_A], geometry.rows);
    const unsigned char *codes =
        (const unsigned char *)problem->call.buffer[LUT_B] + column * geometry.stride_bytes;
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

static void gemv_adds_up_to_the_exact_sum(void **state)
{
    (void)state;
    for (int code = 0; code < 3; code++) /* q2m1, q2m2, q2m4 */
        for (int64_t k = 8; k <= 2072; k += 688) {
            const int64_t dims[] = {3, k, 4, CODEBOOK_E8, code, LUT_PACKED, 0};
            struct problem problem;
            problem_init(&problem, "lut_matmul", dims);
            struct lut_geometry geometry = lut_geometry(&problem.shape);
            for (int64_t at = 0; at < 12; at++)
                assert_int_equal(gemv_element(&problem, at / 4, at % 4),
                                 lut_exact(lut_codebook(&problem.shape), &geometry,
                                           problem.call.buffer[LUT_A], problem.call.buffer[LUT_B],
                                           at / 4, at % 4));
            problem_release(&problem);
        }
}

/* The tables of one part of a row of A, as table_gemv lays them out. */
static void make_tables(const struct problem *problem, int64_t row, int part, char *table)
{
    struct lut_geometry geometry = lut_geometry(&problem->shape);
    const struct codebook *codebook = lut_codebook(&problem->shape);
    struct lut_codes a = lut_codes(&geometry, problem->call.buffer[LUT_A], geometry.rows);
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
static int32_t look_up_part(const struct problem *problem, int64_t column, int part,
                            const char *table)
{
    struct lut_geometry geometry = lut_geometry(&problem->shape);
    int levels = geometry.levels;
    const unsigned char *codes =
        (const unsigned char *)problem->call.buffer[LUT_B] + column * geometry.stride_bytes;
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

static void table_gemv_adds_up_to_the_exact_sum(void **state)
{
    (void)state;
    char *table = malloc(GEMV_TABLE_BYTES);
    for (int code = 0; code < 3; code++) /* q2m1, q2m2, q2m4 */
        for (int64_t k = 8; k <= 8968; k += 2240) {
            const int64_t dims[] = {2, k, 4, CODEBOOK_E8, code, LUT_PACKED, 0};
            struct problem problem;
            problem_init(&problem, "lut_matmul", dims);
            struct lut_geometry geometry = lut_geometry(&problem.shape);
            int32_t sum[2][4] = {{0}};
            for (int64_t row = 0; row < 2; row++)
                for (int part = 0; part < gemv_table_parts(geometry.blocks); part++) {
                    make_tables(&problem, row, part, table);
                    for (int64_t column = 0; column < 4; column++)
                        sum[row][column] += look_up_part(&problem, column, part, table);
                }
            for (int64_t at = 0; at < 8; at++)
                assert_int_equal(sum[at / 4][at % 4],
                                 lut_exact(lut_codebook(&problem.shape), &geometry,
                                           problem.call.buffer[LUT_A], problem.call.buffer[LUT_B],
                                           at / 4, at % 4));
            problem_release(&problem);
        }
    free(table);
}

static void every_piece_of_a_stage_has_a_place_of_its_own(void **state)
{
    (void)state;
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

static void tiles_cover_the_output_once(void **state)
{
    (void)state;
    static const int64_t sizes[][2] = {{1, 1}, {1024, 512}, {8192, 8192}, {1100, 3000}, {129, 257}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int64_t rows = sizes[i][0], columns = sizes[i][1];
        int64_t across = (columns + IMMA_COLUMNS - 1) / IMMA_COLUMNS;
        int64_t tiles = imma_tiles(rows, columns);
        int *seen = calloc((size_t)tiles, sizeof *seen);
        for (int64_t index = 0; index < tiles; index++) {
            struct imma_tile tile = imma_tile_of(index, rows, columns);
            assert_true(tile.row < rows && tile.column < columns);
            seen[tile.row / IMMA_ROWS * across + tile.column / IMMA_COLUMNS]++;
        }
        for (int64_t index = 0; index < tiles; index++)
            assert_int_equal(seen[index], 1);
        free(seen);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_have_the_known_sizes_maxima_and_zeros),
        cmocka_unit_test(dot_products_of_points_are_multiples_of_the_divisor),
        cmocka_unit_test(codewords_are_distinct_and_index_zero_is_the_origin),
        cmocka_unit_test(packed_indices_read_back_over_word_boundaries),
        cmocka_unit_test(indices_that_do_not_fit_are_refused),
        cmocka_unit_test(host_variants_are_exact_for_every_lattice_code_and_index),
        cmocka_unit_test(seed_sizes_are_exact),
        cmocka_unit_test(encoding_inverts_decoding_for_every_codeword),
        cmocka_unit_test(linear_layers_are_exact_on_the_host),
        cmocka_unit_test(activations_that_are_no_numbers_are_zeros_to_their_block_alone),
        cmocka_unit_test(no_number_of_b_stays_in_its_column),
        cmocka_unit_test(one_sided_products_are_within_their_bound),
        cmocka_unit_test(row_sums_catch_one_wrong_element),
        cmocka_unit_test(gemv_adds_up_to_the_exact_sum),
        cmocka_unit_test(table_gemv_adds_up_to_the_exact_sum),
        cmocka_unit_test(every_piece_of_a_stage_has_a_place_of_its_own),
        cmocka_unit_test(tiles_cover_the_output_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
