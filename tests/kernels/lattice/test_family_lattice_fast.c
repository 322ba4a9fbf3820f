/*
 * test_family_lattice_fast.c - the faster ways of `lookup` and `closest`: bit for bit those of
 * the definition.
 */
#include "tests/kernels/lattice_shapes.h"

#include "kernels/lattice/lattice_lookup.h"
#include "kernels/lattice/lattice_points.h"
#include "kernels/lattice/lattice_round.h"

/* Ties, the ends of ranges, beyond them, and what is no number. */
static const float hard[] = {0.0f, 0.5f,  -0.5f, 63.0f, 64.0f,    -64.0f,   127.5f,
                             1e4f, -5e5f, 2e6f,  NAN,   INFINITY, -INFINITY};

TEST(the_fast_encoder_gives_the_same_codes)
{
    for (int lattice = 0; lattice < LATTICES; lattice++) {
        int d = lattice_d(lattice);
        uint16_t *table = calloc((size_t)1 << (2 * d), sizeof *table);
        assert_non_null(table);
        for (uint32_t i = 0; i < 1u << (2 * d); i++)
            table[i] = (uint16_t)fast_carry(lattice, i);
        for (int code = 0; code <= CODE_Q4M2; code++) {
            struct lattice_job job = job_of(lattice, code, OVERLOAD_OFF);
            for (int64_t i = 0; i < 60000; i++) {
                float x[8];
                double spread = i % 3 == 0 ? 1.0 : i % 3 == 1 ? 8.0 : 300.0;
                normal_block(d, spread * job.sigma, i, x);
                if (i % 10 == 0)
                    x[i / 10 % d] = hard[(size_t)(i / 10) % (sizeof hard / sizeof *hard)];
                uint64_t digits = lattice_block_encode_at(&job, x, 0, NULL);
                uint64_t expected = lattice_pack(job.q, d * job.levels, digits);
                uint64_t got = lattice == LATTICE_E8
                                   ? fast_encode_e8(code, x, job.r, table, FAST_KEY_MASK)
                                   : fast_encode(lattice, code, x, job.r, table);
                assert_true(got == expected);
                if (lattice != LATTICE_D4) continue;
                /* Two blocks at once; the other one may be lost. */
                float pair[8], other[8];
                int width = 8 * lattice_packed_bytes(lattice, code);
                memcpy(pair, x, 4 * sizeof *pair);
                normal_block(4, job.sigma, i + 7, other);
                if (i % 2) other[0] = hard[i % 13];
                memcpy(pair + 4, other, 4 * sizeof *pair);
                digits = lattice_block_encode_at(&job, other, 0, NULL);
                expected |= lattice_pack(job.q, d * job.levels, digits) << width;
                got = fast_encode_d4(code, pair, job.r, table, FAST_KEY_MASK);
                assert_true(got == expected);
            }
        }
        free(table);
    }
}

TEST(codes_by_one_lookup_are_the_same_codes)
{
    static const int lattices[] = {LATTICE_D4, LATTICE_A2};
    uint16_t *codes = malloc(LOOKUP_ENTRIES * sizeof *codes);
    assert_non_null(codes);
    for (size_t which = 0; which < 2; which++) {
        int lattice = lattices[which], d = lattice_d(lattice);
        struct lattice_job job = job_of(lattice, CODE_Q4M2, OVERLOAD_OFF);
        lookup_fill(lattice, codes);
        for (int64_t i = 0; i < 100000; i++) {
            float x[8];
            uint64_t expected = 0;
            double spread = i % 3 == 0 ? 1.0 : i % 3 == 1 ? 8.0 : 300.0;
            normal_block(8, spread * job.sigma, i, x);
            if (i % 5 == 0) x[i / 5 % 8] = hard[(size_t)(i / 40) % (sizeof hard / sizeof *hard)];
            for (int b = 0; b < 8 / d; b++)
                expected |= lattice_block_encode_at(&job, x + b * d, 0, NULL) << (4 * d * b);
            assert_true(lookup_encode(lattice, x, job.r, codes, FAST_KEY_MASK) == expected);
        }
    }
    free(codes);
}

/* Every index is some point's: none keeps what the table was filled with before. */
TEST(the_lookups_index_is_one_to_one)
{
    static const int lattices[] = {LATTICE_D4, LATTICE_A2};
    uint16_t *codes[2];
    for (int fill = 0; fill < 2; fill++) {
        codes[fill] = malloc(LOOKUP_ENTRIES * sizeof **codes);
        assert_non_null(codes[fill]);
    }
    for (size_t which = 0; which < 2; which++) {
        for (int fill = 0; fill < 2; fill++) {
            memset(codes[fill], fill ? 0xa5 : 0, LOOKUP_ENTRIES * sizeof **codes);
            lookup_fill(lattices[which], codes[fill]);
        }
        assert_memory_equal(codes[0], codes[1], LOOKUP_ENTRIES * sizeof **codes);
    }
    free(codes[0]);
    free(codes[1]);
}

/* All packed bytes there are, also those above the last digit. */
TEST(points_by_table_are_those_of_the_definition)
{
    struct assay_fill bytes = {.kind = ASSAY_FILL_INTEGER, .a = 0.0, .b = 255.0};
    EACH_CODE(lattice, code)
    {
        struct lattice_job job = job_of(lattice, code, OVERLOAD_OFF);
        int d = job.d, quad_blocks = d == 2 ? 2 : 1;
        int block_bytes = lattice_packed_bytes(lattice, code);
        uint8_t *table = calloc(1, (size_t)points_bytes(lattice, code));
        assert_non_null(table);
        assert_int_equal(points_block_bytes(lattice, code), block_bytes);
        points_fill(lattice, code, table);
        for (int64_t i = 0; i < 70000; i++) {
            uint64_t packed = 0, last = ~(uint64_t)0 >> (64 - 8 * block_bytes);
            float expected[8] = {0}, got[8], own[2];
            int z[4];
            for (int k = 0; k < block_bytes * quad_blocks; k++)
                packed |= (uint64_t)fill_value(&bytes, NULL, SEED, 8 * i + k) << (8 * k);
            for (int b = 0; b < quad_blocks; b++) {
                uint64_t one = packed >> (8 * block_bytes * b) & last;
                uint64_t digits = lattice_unpack(job.q, d * job.levels, one);
                int t = (int)((i + 5 * b) % (LATTICE_T_MAX + 3)); /* beyond: lost */
                own[b] = lattice_half(job.half, t);
                lattice_block_decode(&job, digits, t, expected + b * d);
            }
            for (int half = 0; half < (d == 8 ? 2 : 1); half++) {
                points_quad(lattice, code, table, packed, half, z);
                points_scale_each(lattice, z, own, got + 4 * half);
            }
            assert_memory_equal(got, expected, (d == 8 ? 8 : 4) * sizeof *got);
        }
        free(table);
    }
}

TEST(a_round_trip_without_digits_is_the_same)
{
    EACH_CODE(lattice, code)
    {
        struct lattice_job job = job_of(lattice, code, OVERLOAD_OFF);
        int64_t surely = 0, count = 60000;
        for (int64_t i = 0; i < count; i++) {
            float x[8], v[8];
            int expected[8], got[8];
            double spread = i % 3 == 0 ? 1.0 : i % 3 == 1 ? 2.0 : 300.0;
            normal_block(job.d, spread * job.sigma, i, x);
            if (i % 10 == 0)
                x[i / 10 % job.d] = hard[(size_t)(i / 10) % (sizeof hard / sizeof *hard)];
            bool overload;
            uint64_t digits = lattice_block_encode_at(&job, x, 0, &overload);
            lattice_unnest(lattice, job.q, job.levels, digits, expected);
            round_block(lattice, job.q, job.levels, x, job.r, FAST_KEY_MASK, got);
            assert_memory_equal(got, expected, (size_t)job.d * sizeof *got);
            if (!lattice_scale(lattice, x, job.r, v)) continue;
            bool fits = round_fits(lattice, job.q, job.levels, v);
            assert_false(fits && overload);
            if (lattice == LATTICE_Z2) assert_true(fits == !overload);
            surely += fits;
        }
        /* Both ways are taken. */
        assert_true(surely > count / 10 && surely < count * 9 / 10);
    }
}
