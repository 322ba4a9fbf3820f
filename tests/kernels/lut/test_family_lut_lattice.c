/*
 * test_family_lut_lattice.c - two texts of one code: what kernels/lattice encodes is what
 * kernels/lut reads, for each lattice and each (q, M) that both have.
 *
 * kernels/lattice has digits in doubled coordinates and fp32, kernels/lut a codebook of points in
 * coordinates of its own and closest points in double; nothing is shared but the definition.
 */
#include "tests/kernels/lattice_shapes.h"

#include "kernels/lut/linear.h"

enum { BLOCKS = 4000 };

static const struct {
    int lattice, q, levels;
} codes[] = {
    {CODE_Q2M1, 2, 1}, {CODE_Q4M1, 4, 1}, {CODE_Q4M2, 4, 2}, {CODE_Q3M2, 3, 2}, {CODE_Q4M3, 4, 3}};

/* Doubled coordinates of kernels/lattice to the whole numbers of codebook.h. */
static int whole_of(int lattice, int doubled)
{
    return lattice == LATTICE_Z2 || lattice == LATTICE_D4 ? doubled / 2 : doubled;
}

/* A coordinate of codebook_closest to them. */
static int whole_of_plain(int lattice, int i, double x)
{
    if (lattice == LATTICE_A2) return (int)rint(i == 0 ? 2 * x : 2 * x / sqrt(3));
    return (int)rint(lattice == LATTICE_E8 ? 2 * x : x);
}

static double plain_of_whole(int lattice, int i, int whole)
{
    if (lattice == LATTICE_A2) return i == 0 ? 0.5 * whole : 0.5 * sqrt(3) * whole;
    return lattice == LATTICE_E8 ? 0.5 * whole : whole;
}

TEST(both_have_the_same_lattices_and_dithers)
{
    assert_int_equal(LATTICES, CODEBOOK_LATTICES);
    for (int lattice = 0; lattice < LATTICES; lattice++) {
        float dither[CODEBOOK_MAX_D];
        assert_string_equal(lattice_names[lattice], codebook_lattice_names[lattice]);
        assert_int_equal(lattice_d(lattice), codebook_lattices[lattice].d);
        codebook_dither(lattice_d(lattice), dither);
        for (int i = 0; i < lattice_d(lattice); i++)
            assert_true(dither[i] == lattice_dither(lattice, i));
    }
}

TEST(an_index_and_its_digits_are_one_point)
{
    for (int lattice = 0; lattice < LATTICES; lattice++)
        for (int q = 2; q <= 4; q++) {
            const struct codebook *codebook = codebook_get(lattice, q);
            for (int64_t index = 0; index < codebook->count; index++) {
                int z[LATTICE_MAX_D];
                uint64_t digits = lattice_unpack(q, codebook->d, (uint64_t)index);
                lattice_unnest(lattice, q, 1, digits, z);
                for (int i = 0; i < codebook->d; i++)
                    assert_int_equal(whole_of(lattice, z[i]),
                                     codebook->left[index * codebook->d + i]);
            }
        }
}

/* The points of a block's levels by codebook_closest alone: g - q Q(g / q). */
static void points_of(int lattice, int q, int levels, const float *x, int out[][CODEBOOK_MAX_D])
{
    int d = lattice_d(lattice), g[CODEBOOK_MAX_D];
    double at[CODEBOOK_MAX_D], point[CODEBOOK_MAX_D];
    for (int i = 0; i < d; i++)
        at[i] = (double)x[i];
    codebook_closest(lattice, at, point);
    for (int i = 0; i < d; i++)
        g[i] = whole_of_plain(lattice, i, point[i]);
    for (int m = 0; m < levels; m++) {
        for (int i = 0; i < d; i++)
            at[i] = plain_of_whole(lattice, i, g[i]) / q;
        codebook_closest(lattice, at, point);
        for (int i = 0; i < d; i++) {
            int next = whole_of_plain(lattice, i, point[i]);
            out[m][i] = g[i] - q * next;
            g[i] = next;
        }
    }
}

/* Blocks in steps of 1/64, ties among them, at the scale that the code is for. */
static void fill_steps(const struct lattice_job *job, float *x)
{
    struct assay_fill fill = {.kind = ASSAY_FILL_NORMAL, .b = 64 * job->sigma};
    for (int64_t i = 0; i < BLOCKS * job->d; i++)
        x[i] = rintf((float)fill_value(&fill, NULL, SEED, i)) / 64;
}

TEST(encoded_bytes_are_indices)
{
    for (int lattice = 0; lattice < LATTICES; lattice++)
        for (size_t c = 0; c < sizeof codes / sizeof *codes; c++) {
            int d = lattice_d(lattice), q = codes[c].q, levels = codes[c].levels;
            struct assay_shape shape = shape_of("lattice_encode", 1, BLOCKS * d, lattice,
                                                codes[c].lattice, OVERLOAD_OFF, TYPE_PACKED, 0);
            shape.value[DIM_SCALING] = SCALING_OFF;
            struct lattice_job job = lattice_job(&shape);
            const struct codebook *codebook = codebook_get(lattice, q);
            float *x = malloc((size_t)(BLOCKS * d) * sizeof *x);
            uint8_t *bytes = calloc((size_t)(BLOCKS * job.block_elements), 1);
            const void *in[ASSAY_MAX_BUFFERS] = {[BUF_IN] = x};
            fill_steps(&job, x);
            assert_int_equal(
                lattice_model_encode(&shape, in, BUF_OUT, 0, BLOCKS * job.block_elements, bytes),
                0);
            for (int64_t block = 0; block < BLOCKS; block++) {
                int points[3][CODEBOOK_MAX_D];
                uint64_t indices = 0;
                memcpy(&indices, bytes + block * job.block_elements, (size_t)job.block_elements);
                points_of(lattice, q, levels, x + block * d, points);
                for (int m = 0; m < levels; m++, indices /= (uint64_t)codebook->count) {
                    int64_t index = (int64_t)(indices % (uint64_t)codebook->count);
                    for (int i = 0; i < d; i++)
                        assert_int_equal(codebook->left[index * d + i], points[m][i]);
                }
            }
            free(bytes);
            free(x);
        }
}

static void expect_levels(const float x[8], int q, int levels, const struct lut_codes *row,
                          int64_t block)
{
    int point[8];
    lut_closest_e8(x, point);
    for (int m = 0; m < levels; m++, lut_next_e8(point, q))
        assert_int_equal(lut_index_e8(point, q), lut_read(row, 0, block * levels + m));
}

/* Where an index takes whole bytes the two store the same bytes. */
TEST(a_row_of_e8_can_be_handed_over)
{
    for (size_t c = 0; c < sizeof codes / sizeof *codes; c++) {
        int q = codes[c].q, levels = codes[c].levels;
        if (q == 3) continue;
        struct assay_shape shape = shape_of("lattice_encode", 1, BLOCKS * 8, LATTICE_E8,
                                            codes[c].lattice, OVERLOAD_OFF, TYPE_PACKED, 0);
        shape.value[DIM_SCALING] = SCALING_OFF;
        struct lattice_job job = lattice_job(&shape);
        float *x = malloc((size_t)(BLOCKS * 8) * sizeof *x);
        int64_t count = (int64_t)BLOCKS * job.block_elements;
        uint8_t *bytes = calloc((size_t)count + 8, 1);
        const void *in[ASSAY_MAX_BUFFERS] = {[BUF_IN] = x};
        struct lut_codes row = {.data = bytes, .rows = 1, .stride_bytes = count};
        row.format = LUT_PACKED;
        row.bits = 8 * job.block_elements / levels;
        fill_steps(&job, x);
        assert_int_equal(lattice_model_encode(&shape, in, BUF_OUT, 0, count, bytes), 0);
        for (int64_t block = 0; block < BLOCKS; block++)
            expect_levels(x + 8 * block, q, levels, &row, block);
        free(bytes);
        free(x);
    }
}
