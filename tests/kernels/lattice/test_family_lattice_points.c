/*
 * test_family_lattice_points.c - closest points: the shared arithmetic against double and
 * against what is known of the lattices.
 */
#include "tests/kernels/lattice_shapes.h"

static const double SQRT3 = 1.7320508075688772;

TEST(the_dither_is_its_formula)
{
    static const double primes[] = {2, 3, 5, 7, 11, 13, 17, 19};
    for (int lattice = 0; lattice < LATTICES; lattice++) {
        int d = lattice_d(lattice);
        double u[8], norm = 0;
        for (int i = 0; i < d; i++) {
            u[i] = sqrt(primes[i]) - floor(sqrt(primes[i])) - 0.5;
            norm += u[i] * u[i];
        }
        for (int i = 0; i < d; i++) {
            double exact = u[i] / sqrt(norm) / 1024.0;
            assert_true(lattice_dither(lattice, i) == (float)exact);
            double stretch = lattice == LATTICE_A2 && i == 1 ? SQRT3 : 1.0;
            assert_int_equal(lattice_dither_units(lattice, i),
                             (int)rint((double)(float)exact / stretch * 0x1p22));
        }
    }
}

TEST(the_fast_closest_point_is_as_near_as_the_exact_one)
{
    for (int lattice = 0; lattice < LATTICES; lattice++) {
        int d = lattice_d(lattice);
        int64_t other = 0, count = 100000;
        for (int64_t i = 0; i < count; i++) {
            float x[8], v[8];
            double exact[8], distance[2] = {0, 0};
            int z[2][8];
            normal_block(d, 5.0, i, x);
            for (int j = 0; j < d; j++)
                exact[j] = (double)fmaf(x[j], 1.0f, lattice_dither(lattice, j));
            lattice_scale(lattice, x, 1.0f, v);
            lattice_closest(lattice, v, z[0]);
            lattice_exact_closest(lattice, exact, z[1]);
            other += memcmp(z[0], z[1], sizeof **z * (size_t)d) != 0;
            for (int k = 0; k < 2; k++)
                for (int j = 0; j < d; j++) {
                    double g = 0.5 * z[k][j] * (lattice == LATTICE_A2 && j == 1 ? SQRT3 : 1.0);
                    distance[k] += (exact[j] - g) * (exact[j] - g);
                }
            assert_true(fabs(distance[0] - distance[1]) < 1e-5);
        }
        assert_true((double)other <= 1e-4 * (double)count);
    }
}

/* Every residue of a point mod 2 q, so every quotient there is, up to shifts. */
TEST(quotients_of_whole_points_round_as_in_double_everywhere)
{
    static const int qs[] = {2, 3, 4};
    for (int lattice = 0; lattice < LATTICES; lattice++)
        for (int which = 0; which < 3; which++) {
            int q = qs[which], d = lattice_d(lattice);
            int64_t patterns = 1;
            for (int i = 0; i < d; i++)
                patterns *= q;
            for (int64_t p = 0; p < patterns; p++) {
                int k[8], z[8], got[8], expected[8];
                double v[8];
                int64_t rest = p;
                for (int i = 0; i < d; i++, rest /= q)
                    k[i] = (int)(rest % q) + q * ((int)(p % 7) - 3); /* and some shifts */
                lattice_point(lattice, k, z);
                lattice_closest_quotient(lattice, q, z, got);
                for (int i = 0; i < d; i++) {
                    v[i] = 0.5 * z[i] * (lattice == LATTICE_A2 && i == 1 ? SQRT3 : 1.0) / q;
                    v[i] += (double)lattice_dither(lattice, i);
                }
                lattice_exact_closest(lattice, v, expected);
                for (int i = 0; i < d; i++)
                    assert_int_equal(got[i], expected[i]);
            }
        }
}

TEST(the_basis_and_its_inverse_undo_each_other)
{
    for (int lattice = 0; lattice < LATTICES; lattice++)
        for (uint64_t n = 0; n < 2000; n++) {
            int k[8], z[8], back[8];
            for (int i = 0; i < 8; i++)
                k[i] = (int)(fill_hash(SEED, 8 * n + (uint64_t)i) % 201) - 100;
            lattice_point(lattice, k, z);
            lattice_coordinates(lattice, z, back);
            for (int i = 0; i < lattice_d(lattice); i++)
                assert_int_equal(back[i], k[i]);
        }
}

TEST(second_moments_are_the_lattices_own)
{
    for (int lattice = 0; lattice < LATTICES; lattice++) {
        int d = lattice_d(lattice);
        struct assay_fill fill = {.kind = ASSAY_FILL_UNIFORM, .a = -24.0, .b = 24.0};
        int64_t blocks = 1200000 / d;
        double sum = 0;
        for (int64_t i = 0; i < blocks; i++) {
            float x[8], v[8];
            int z[8];
            for (int j = 0; j < d; j++)
                x[j] = (float)fill_value(&fill, NULL, SEED, i * d + j);
            lattice_scale(lattice, x, 1.0f, v);
            lattice_closest(lattice, v, z);
            for (int j = 0; j < d; j++) {
                double g = 0.5 * z[j] * (lattice == LATTICE_A2 && j == 1 ? SQRT3 : 1.0);
                sum += ((double)x[j] - g) * ((double)x[j] - g);
            }
        }
        double moment = sum / (double)(blocks * d);
        assert_true(fabs(moment / lattice_moment(lattice) - 1.0) < 0.005);
    }
}
