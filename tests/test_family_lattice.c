/*
 * test_family_lattice.c - the lattice family on the host: the arithmetic that the GPU
 * kernels share, the reference, the models and the host variants.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fill.h"
#include "kernels/lattice/copy.h"
#include "kernels/lattice/lattice.h"
#include "kernels/lattice/lattice_lookup.h"
#include "kernels/lattice/lattice_points.h"
#include "kernels/lattice/lattice_round.h"
#include "registry.h"

enum { SEED = 11, GUARD = 64, POISON = 0xa5 };

static const double SQRT3 = 1.7320508075688772;

/* A shape of operation `name`; values of dims from the third on. */
static struct assay_shape shape_of(const char *name, int64_t rows, int64_t columns, int lattice,
                                   int code, int overload, int type, int data)
{
    struct assay_shape shape = {.operation = registry_operation(name)};
    assert_non_null(shape.operation);
    shape.value[DIM_ROWS] = rows;
    shape.value[DIM_COLUMNS] = columns;
    shape.value[DIM_LATTICE] = lattice;
    shape.value[DIM_CODE] = code;
    shape.value[DIM_OVERLOAD] = overload;
    if (strcmp(name, "lattice_roundtrip") == 0) {
        shape.value[DIM_ROUNDTRIP_DATA] = data;
        return shape;
    }
    shape.value[DIM_TYPE] = type;
    if (strcmp(name, "lattice_encode") == 0) shape.value[DIM_DATA] = data;
    return shape;
}

static struct lattice_job job_of(int lattice, int code, int overload)
{
    struct assay_shape shape = shape_of("lattice_encode", 1, 8, lattice, code, overload, 0, 0);
    return lattice_job(&shape);
}

/* Block number i of normal entries of standard deviation `sigma`. */
static void normal_block(int d, double sigma, int64_t i, float x[8])
{
    struct assay_fill fill = {.kind = ASSAY_FILL_NORMAL, .b = sigma};
    for (int j = 0; j < d; j++)
        x[j] = (float)fill_value(&fill, NULL, SEED, i * d + j);
}

/* Q(x / beta) as a doubled point; false: lost. */
static bool closest(const struct lattice_job *job, const float x[8], int z[8])
{
    float v[8];
    if (!lattice_scale(job->lattice, x, job->r, v)) return false;
    lattice_closest(job->lattice, v, z);
    return true;
}

#define EACH_CODE(lattice, code)                                                                   \
    for (int lattice = 0; lattice < LATTICES; lattice++)                                           \
        for (int code = 0; code < CODES; code++)

/* --------------------------------------------------------- closest points -- */

static void the_dither_is_its_formula(void **state)
{
    (void)state;
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

static void the_fast_closest_point_is_as_near_as_the_exact_one(void **state)
{
    (void)state;
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
static void quotients_of_whole_points_round_as_in_double_everywhere(void **state)
{
    (void)state;
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

static void the_basis_and_its_inverse_undo_each_other(void **state)
{
    (void)state;
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

/* ----------------------------------------------------------------- codes -- */

static void every_codeword_comes_back_as_itself_without_overload(void **state)
{
    (void)state;
    static const int codes[] = {CODE_Q2M1, CODE_Q4M1}, qs[] = {2, 4};
    for (int lattice = 0; lattice < LATTICES; lattice++)
        for (int c = 0; c < 2; c++) {
            struct lattice_job job = job_of(lattice, codes[c], OVERLOAD_OFF);
            int64_t words = 1;
            for (int i = 0; i < job.d; i++)
                words *= qs[c];
            for (int64_t w = 0; w < words; w++) {
                uint64_t digits = lattice_unpack(qs[c], job.d, (uint64_t)w);
                float y[8];
                bool overload;
                lattice_block_decode(&job, digits, 0, y);
                assert_true(lattice_block_encode_at(&job, y, 0, &overload) == digits);
                assert_false(overload);
            }
        }
    /* q = 3 has no code of one level here: its codewords through nest and unnest. */
    for (int64_t w = 0; w < 6561; w++) {
        uint64_t digits = lattice_unpack(3, 8, (uint64_t)w);
        int z[8];
        bool overload;
        lattice_unnest(LATTICE_E8, 3, 1, digits, z);
        assert_true(lattice_nest(LATTICE_E8, 3, 1, z, &overload) == digits);
        assert_false(overload);
    }
}

static void without_overload_decoding_gives_the_closest_point_bit_for_bit(void **state)
{
    (void)state;
    EACH_CODE(lattice, code)
    {
        struct lattice_job job = job_of(lattice, code, OVERLOAD_OFF);
        int64_t overloaded = 0, count = 50000;
        for (int64_t i = 0; i < count; i++) {
            float x[8], y[8];
            int z[8], back[8];
            bool overload;
            normal_block(job.d, job.sigma, i, x);
            uint64_t digits = lattice_block_encode_at(&job, x, 0, &overload);
            overloaded += overload;
            if (overload) continue;
            assert_true(closest(&job, x, z));
            lattice_unnest(lattice, job.q, job.levels, digits, back);
            lattice_block_decode(&job, digits, 0, y);
            for (int j = 0; j < job.d; j++) {
                float scale = lattice == LATTICE_A2 && j == 1 ? job.half * 0x1.bb67aep0f : job.half;
                assert_int_equal(back[j], z[j]);
                assert_true(y[j] == (float)z[j] * scale);
            }
        }
        assert_true(overloaded < count / 2);
    }
}

/* The seed's rule, for E8: halves towards zero, a dither that fp32 absorbs. */
static float toward_zero(float x)
{
    return x < 0 ? ceilf(x - 0.5f) : ceilf(fabsf(x) - 0.5f);
}

static float seed_even(const float x[8], float shift, float out[8])
{
    float worst = -1, sum = 0, distance = 0;
    int place = 0;
    for (int i = 0; i < 8; i++) {
        float s = x[i] - shift, f = s < 0 ? -toward_zero(-s) : toward_zero(s);
        if (fabsf(s - f) > worst) {
            worst = fabsf(s - f);
            place = i;
        }
        sum += f;
        out[i] = f + shift;
    }
    if (fmodf(sum, 2) != 0) out[place] += x[place] > out[place] ? 1 : -1;
    for (int i = 0; i < 8; i++)
        distance += (x[i] - out[i]) * (x[i] - out[i]);
    return distance;
}

static void seed_closest(const float x[8], float out[8])
{
    float a[8], b[8];
    float to_a = seed_even(x, 0.0f, a), to_b = seed_even(x, 0.5f, b);
    memcpy(out, to_a <= to_b ? a : b, sizeof a);
}

static bool seed_round_trip_fails(const float x[8], bool *overload)
{
    float g[8], first[8], sum[8] = {0}, weight = 1;
    seed_closest(x, g);
    memcpy(first, g, sizeof g);
    for (int m = 0; m < 2; m++) {
        int z[8], k[8];
        float point[8], near[8], quotient[8];
        for (int i = 0; i < 8; i++)
            z[i] = (int)(2 * g[i]);
        lattice_coordinates(LATTICE_E8, z, k);
        for (int i = 0; i < 8; i++)
            k[i] = lattice_mod(k[i], 4);
        lattice_point(LATTICE_E8, k, z);
        for (int i = 0; i < 8; i++) {
            point[i] = 0.5f * (float)z[i];
            quotient[i] = point[i] / 4;
        }
        seed_closest(quotient, near);
        for (int i = 0; i < 8; i++) {
            sum[i] += weight * (point[i] - 4 * near[i]);
            quotient[i] = g[i] / 4;
        }
        seed_closest(quotient, g);
        weight *= 4;
    }
    *overload = false;
    for (int i = 0; i < 8; i++)
        *overload |= g[i] != 0;
    return memcmp(sum, first, sizeof sum) != 0;
}

static void the_seeds_rule_decodes_three_blocks_in_ten_wrongly_and_ours_none(void **state)
{
    (void)state;
    struct lattice_job job = job_of(LATTICE_E8, CODE_Q4M2, OVERLOAD_OFF);
    int64_t count = 50000, sound = 0, wrong = 0, ours = 0;
    for (int64_t i = 0; i < count; i++) {
        float x[8];
        int z[8], back[8];
        bool overload;
        normal_block(8, 1.8, i, x);
        bool fails = seed_round_trip_fails(x, &overload);
        sound += !overload;
        wrong += fails && !overload;

        for (int j = 0; j < 8; j++)
            x[j] /= job.r;
        uint64_t digits = lattice_block_encode_at(&job, x, 0, &overload);
        closest(&job, x, z);
        lattice_unnest(LATTICE_E8, 4, 2, digits, back);
        ours += !overload && memcmp(z, back, sizeof z) != 0;
    }
    double share = (double)wrong / (double)sound;
    assert_true(share > 0.25 && share < 0.35);
    assert_int_equal(ours, 0);
}

static void the_fast_encoder_gives_the_same_codes(void **state)
{
    (void)state;
    static const float hard[] = {0.0f, 0.5f,  -0.5f, 63.0f, 64.0f,    -64.0f,   127.5f,
                                 1e4f, -5e5f, 2e6f,  NAN,   INFINITY, -INFINITY};
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

static void codes_by_one_lookup_are_the_same_codes(void **state)
{
    (void)state;
    static const float hard[] = {0.0f, 0.5f,  -0.5f, 63.0f, 64.0f,    -64.0f,   127.5f,
                                 1e4f, -5e5f, 2e6f,  NAN,   INFINITY, -INFINITY};
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
static void the_lookups_index_is_one_to_one(void **state)
{
    (void)state;
    static const int lattices[] = {LATTICE_D4, LATTICE_A2};
    uint16_t *codes[2];
    for (int fill = 0; fill < 2; fill++) {
        codes[fill] = malloc(LOOKUP_ENTRIES * sizeof **codes);
        assert_non_null(codes[fill]);
    }
    for (size_t which = 0; which < 2; which++) {
        for (int fill = 0; fill < 2; fill++) {
            memset(codes[fill], fill ? POISON : 0, LOOKUP_ENTRIES * sizeof **codes);
            lookup_fill(lattices[which], codes[fill]);
        }
        assert_memory_equal(codes[0], codes[1], LOOKUP_ENTRIES * sizeof **codes);
    }
    free(codes[0]);
    free(codes[1]);
}

/* All packed bytes there are, also those above the last digit. */
static void points_by_table_are_those_of_the_definition(void **state)
{
    (void)state;
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
            float expected[8] = {0}, got[8];
            int z[4];
            for (int k = 0; k < block_bytes * quad_blocks; k++)
                packed |= (uint64_t)fill_value(&bytes, NULL, SEED, 8 * i + k) << (8 * k);
            for (int b = 0; b < quad_blocks; b++) {
                uint64_t one = packed >> (8 * block_bytes * b) & last;
                uint64_t digits = lattice_unpack(job.q, d * job.levels, one);
                lattice_block_decode(&job, digits, 0, expected + b * d);
            }
            for (int half = 0; half < (d == 8 ? 2 : 1); half++) {
                points_quad(lattice, code, table, packed, half, z);
                points_scale(lattice, z, job.half, got + 4 * half);
            }
            assert_memory_equal(got, expected, (d == 8 ? 8 : 4) * sizeof *got);
        }
        free(table);
    }
}

static void a_round_trip_without_digits_is_the_same(void **state)
{
    (void)state;
    static const float hard[] = {0.0f, 0.5f,  -0.5f, 63.0f, 64.0f,    -64.0f,   127.5f,
                                 1e4f, -5e5f, 2e6f,  NAN,   INFINITY, -INFINITY};
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
            uint64_t digits = lattice_block_encode_at(&job, x, 0, NULL);
            lattice_unnest(lattice, job.q, job.levels, digits, expected);
            round_block(lattice, job.q, job.levels, x, job.r, FAST_KEY_MASK, got);
            assert_memory_equal(got, expected, (size_t)job.d * sizeof *got);
            if (!lattice_scale(lattice, x, job.r, v)) continue;
            surely += round_reach(lattice, v) < round_bound(lattice, job.q, job.levels);
        }
        /* Both ways are taken. */
        assert_true(surely > count / 10 && surely < count * 9 / 10);
    }
}

static void packed_codes_hold_what_was_packed_in_the_least_bytes(void **state)
{
    (void)state;
    EACH_CODE(lattice, code)
    {
        int q = code_q(code), count = lattice_d(lattice) * code_levels(code);
        int bytes = lattice_packed_bytes(lattice, code);
        assert_int_equal(bytes, (int)ceil(count * log2(q) / 8.0));
        for (uint64_t n = 0; n < 500; n++) {
            uint64_t digits = 0;
            for (int i = 0; i < count; i++)
                digits |= (n == 0 ? (uint64_t)(q - 1)
                                  : fill_hash(SEED, n * 32 + (uint64_t)i) % (uint64_t)q)
                          << (2 * i);
            uint64_t packed = lattice_pack(q, count, digits);
            assert_true(bytes == 8 || packed >> (8 * bytes) == 0);
            assert_true(lattice_unpack(q, count, packed) == digits);
        }
    }
}

/* ------------------------------------------------------------- statistics -- */

static void second_moments_are_the_lattices_own(void **state)
{
    (void)state;
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

static void overload_flags_are_those_of_double(void **state)
{
    (void)state;
    EACH_CODE(lattice, code)
    {
        struct lattice_job job = job_of(lattice, code, OVERLOAD_BLOCK);
        for (int64_t i = 0; i < 20000; i++) {
            float x[8];
            bool ours, exact, near;
            int t, exact_t;
            normal_block(job.d, 2.0 * job.sigma, i, x);
            lattice_block_encode_at(&job, x, 0, &ours);
            lattice_exact_encode_at(&job, x, 0, &exact, &near);
            assert_true(near || ours == exact);
            uint64_t digits = lattice_block_encode(&job, x, &t);
            uint64_t expected = lattice_exact_encode(&job, x, &exact_t, &near);
            assert_true(near || (t == exact_t && digits == expected));
        }
    }
}

/* ------------------------------------------------- operations and variants -- */

/* The buffers of a shape: inputs filled, outputs poisoned, a guard behind each. */
struct bench {
    struct assay_shape shape;
    int count;
    struct assay_buffer buffer[ASSAY_MAX_BUFFERS];
    void *memory[ASSAY_MAX_BUFFERS];
};

static size_t bytes_of(const struct assay_buffer *buffer)
{
    return (size_t)buffer->count * assay_type_bytes(buffer->type);
}

static void bench_init(struct bench *bench, struct assay_shape shape)
{
    bench->shape = shape;
    bench->count = shape.operation->buffers(&shape, bench->buffer);
    for (int b = 0; b < bench->count; b++) {
        const struct assay_buffer *buffer = &bench->buffer[b];
        bench->memory[b] = malloc(bytes_of(buffer) + GUARD);
        assert_non_null(bench->memory[b]);
        memset(bench->memory[b], POISON, bytes_of(buffer) + GUARD);
        for (int64_t i = 0; buffer->role == ASSAY_IN && i < buffer->count; i++)
            assay_store(buffer->type, bench->memory[b], i,
                        fill_value(&buffer->fill, buffer->fill.hard, SEED + (uint64_t)b, i));
    }
}

static void bench_release(struct bench *bench)
{
    for (int b = 0; b < bench->count; b++) {
        const unsigned char *end = bench->memory[b];
        end += bytes_of(&bench->buffer[b]);
        for (int i = 0; i < GUARD; i++)
            assert_int_equal(end[i], POISON);
        free(bench->memory[b]);
    }
}

static const struct assay_variant *variant_named(const char *operation, const char *name)
{
    const struct assay_variant *list[REGISTRY_MAX_VARIANTS];
    int count = registry_variants(operation, list, REGISTRY_MAX_VARIANTS);
    for (int i = 0; i < count; i++)
        if (strcmp(list[i]->name, name) == 0) return list[i];
    fail_msg("no variant %s of %s", name, operation);
    return NULL;
}

static enum assay_match judge(const struct bench *bench, int b, double expected, double bound,
                              double got)
{
    const struct assay_operation *operation = bench->shape.operation;
    if (operation->match) return operation->match(&bench->shape, b, expected, got);
    if (isnan(bound)) bound = operation->tolerance.rel * fabs(expected);
    return fabs(got - expected) <= bound ? ASSAY_EXACT : ASSAY_WRONG;
}

/* Everything the outputs hold against the reference and the model, in odd pieces. */
static void check_outputs(const struct bench *bench, const struct assay_variant *variant)
{
    const struct assay_operation *operation = bench->shape.operation;
    const void *const *in = (const void *const *)bench->memory;
    const int64_t run = operation->reference_run ? operation->reference_run(&bench->shape) : 1;
    int64_t near = 0, all = 0;
    for (int b = 0; b < bench->count; b++) {
        const struct assay_buffer *buffer = &bench->buffer[b];
        if (buffer->role != ASSAY_OUT) continue;
        int64_t piece = (997 + run - 1) / run * run;
        size_t width = assay_type_bytes(buffer->type);
        double *expected = malloc((size_t)piece * 2 * sizeof *expected);
        void *model = malloc((size_t)piece * width);
        assert_true(expected && model);
        for (int64_t begin = 0; begin < buffer->count; begin += piece) {
            int64_t end = begin + piece < buffer->count ? begin + piece : buffer->count;
            for (int64_t i = 0; i < piece; i++)
                expected[piece + i] = NAN;
            assert_int_equal(
                operation->reference(&bench->shape, in, b, begin, end, expected, expected + piece),
                0);
            for (int64_t i = begin; i < end; i++) {
                double got = assay_load(buffer->type, bench->memory[b], i);
                enum assay_match match =
                    judge(bench, b, expected[i - begin], expected[piece + i - begin], got);
                if (match == ASSAY_WRONG)
                    fail_msg("%s/%s: output %d[%lld] is %g, expected %g", operation->name,
                             variant->name, b, (long long)i, got, expected[i - begin]);
                near += match == ASSAY_NEAR;
                all++;
            }
            if (!variant->model) continue;
            assert_int_equal(variant->model(&bench->shape, in, b, begin, end, model), 0);
            assert_memory_equal((char *)bench->memory[b] + (size_t)begin * width, model,
                                (size_t)(end - begin) * width);
        }
        free(expected);
        free(model);
    }
    assert_true(near <= 2 || (double)near <= operation->tolerance.near_share * (double)all);
}

static void run_both(struct assay_shape shape)
{
    static const char *const names[] = {"host_scalar", "host_omp"};
    if (shape.operation->supports(&shape)) return;
    for (int i = 0; i < 2; i++) {
        const struct assay_variant *variant = variant_named(shape.operation->name, names[i]);
        struct bench bench;
        bench_init(&bench, shape);
        struct assay_call call = {.shape = &bench.shape};
        memcpy(call.buffer, bench.memory, sizeof bench.memory);
        assert_int_equal(variant->launch(&call), 0);
        check_outputs(&bench, variant);
        bench_release(&bench);
    }
}

static void host_variants_are_right_for_every_lattice_code_and_protection(void **state)
{
    (void)state;
    EACH_CODE(lattice, code)
    for (int overload = 0; overload < 3; overload++)
        for (int data = 0; data < 3; data++) {
            run_both(shape_of("lattice_encode", 16, 32, lattice, code, overload, 0, data));
            run_both(shape_of("lattice_decode", 8, 64, lattice, code, overload, 0, 0));
            run_both(shape_of("lattice_roundtrip", 8, 64, lattice, code, overload, 0, data));
        }
}

static void rows_that_no_block_divides_are_filled_up_with_zeros(void **state)
{
    (void)state;
    for (int lattice = 0; lattice < LATTICES; lattice++)
        for (int64_t columns = 1; columns < 20; columns += 3)
            for (int type = 0; type < 4; type++) {
                run_both(shape_of("lattice_encode", 3, columns, lattice, CODE_Q3M2, 1, type, 2));
                run_both(shape_of("lattice_encode", 3, columns, lattice, CODE_Q4M3, 0, type, 0));
                run_both(shape_of("lattice_decode", 3, columns, lattice, CODE_Q4M2, 1, type, 0));
                run_both(shape_of("lattice_roundtrip", 3, columns, lattice, CODE_Q2M1, 0, 0, 0));
            }
}

static void a_padded_block_has_the_code_of_its_entries_and_zeros(void **state)
{
    (void)state;
    struct assay_shape cut = shape_of("lattice_encode", 1, 5, LATTICE_E8, CODE_Q4M2, 0, 0, 0);
    struct assay_shape full = shape_of("lattice_encode", 1, 8, LATTICE_E8, CODE_Q4M2, 0, 0, 0);
    float x[8] = {0.3f, -1.1f, 0.7f, 2.0f, -0.4f, 0, 0, 0};
    uint8_t a[4], b[4];
    const void *in[] = {x};
    assert_int_equal(lattice_model_encode(&cut, in, BUF_OUT, 0, 4, a), 0);
    assert_int_equal(lattice_model_encode(&full, in, BUF_OUT, 0, 4, b), 0);
    assert_memory_equal(a, b, 4);
}

static void rows_of_unit_norm_are_not_all_zeros(void **state)
{
    (void)state;
    EACH_CODE(lattice, code)
    {
        struct bench bench;
        bench_init(&bench, shape_of("lattice_roundtrip", 8, 64, lattice, code, 0, 0, 1));
        struct assay_call call = {.shape = &bench.shape};
        memcpy(call.buffer, bench.memory, sizeof bench.memory);
        assert_int_equal(variant_named("lattice_roundtrip", "host_omp")->launch(&call), 0);
        const float *x = bench.memory[BUF_IN], *y = bench.memory[BUF_OUT];
        double norm = 0;
        int nonzero = 0;
        for (int i = 0; i < 512; i++) {
            nonzero += y[i] != 0;
            norm += (double)x[i] * (double)x[i];
        }
        assert_true(fabs(norm / 8.0 - 1.0) < 0.25);
        assert_true(nonzero > 8); /* one bit an entry leaves most at 0, as it should */
        bench_release(&bench);
    }
}

static void entries_that_are_no_numbers_lose_their_block_and_no_other(void **state)
{
    (void)state;
    static const float bad[] = {NAN, INFINITY, -INFINITY, 3e38f, 1e9f};
    EACH_CODE(lattice, code)
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct lattice_job job = job_of(lattice, code, OVERLOAD_BLOCK);
        float x[8], y[8];
        int t;
        normal_block(job.d, job.sigma, 3, x);
        lattice_block_encode(&job, x, &t);
        assert_true(t <= LATTICE_T_MAX);
        x[job.d - 1] = bad[i];
        assert_true(lattice_block_encode(&job, x, &t) == 0);
        assert_int_equal(t, LATTICE_LOST);
        lattice_block_decode(&job, 0, t, y);
        for (int j = 0; j < job.d; j++)
            assert_true(y[j] == 0.0f);
        job.overload = OVERLOAD_OFF;
        assert_true(lattice_block_encode(&job, x, &t) == 0);
        assert_int_equal(t, 0);
    }
}

static void the_tensors_t_is_the_largest_of_its_blocks(void **state)
{
    (void)state;
    struct assay_shape shape = shape_of("lattice_encode", 1, 64, LATTICE_E8, CODE_Q4M2, 2, 0, 0);
    struct lattice_job job = lattice_job(&shape);
    float x[64] = {0};
    x[20] = 40.0f / job.r;
    x[50] = 90.0f / job.r;
    x[63] = NAN;
    int t = lattice_tensor_t(&job, x);
    assert_in_range(t, 3, 4);
    float scaled[8] = {0};
    bool overload;
    scaled[2] = x[50];
    lattice_block_encode_at(&job, scaled, t, &overload);
    assert_false(overload);
    lattice_block_encode_at(&job, scaled, t - 1, &overload);
    assert_true(overload);
}

static void what_cannot_be_is_refused_with_the_reason(void **state)
{
    (void)state;
    struct assay_shape shape = shape_of("lattice_encode", 8, 64, 3, 2, 0, 0, DATA_UNIT_NORM);
    assert_null(lattice_supports(&shape));
    shape.value[DIM_SCALING] = SCALING_OFF;
    assert_non_null(lattice_supports(&shape));
    shape = shape_of("lattice_encode", 4096, 4096, 3, 2, OVERLOAD_TENSOR, 0, 0);
    assert_non_null(lattice_supports(&shape));
    shape = shape_of("lattice_roundtrip", 8, 64, 3, 2, OVERLOAD_TENSOR, 0, 0);
    assert_non_null(lattice_supports(&shape));
}

static void quality_says_the_lattices_moment_and_the_size_of_the_codes(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, shape_of("lattice_encode", 64, 4096, LATTICE_E8, CODE_Q4M2, 1, 0, 0));
    struct assay_call call = {.shape = &bench.shape};
    memcpy(call.buffer, bench.memory, sizeof bench.memory);
    assert_int_equal(variant_named("lattice_encode", "host_omp")->launch(&call), 0);
    struct assay_metric metric[ASSAY_MAX_METRICS];
    int count =
        bench.shape.operation->quality(&bench.shape, (const void *const *)bench.memory, metric);
    assert_int_equal(count, 6);
    assert_true(fabs(metric[1].value - 1.0) < 0.01);   /* mse_ratio */
    assert_true(metric[2].value > 15.0);               /* sqnr_db */
    assert_true(metric[3].value < 0.01);               /* overload_rate */
    assert_true(metric[4].value == 5.0);               /* bits_per_entry: 4 and T's 1 */
    assert_true(metric[5].value == 64 * 4096 * 0.625); /* code_bytes */
    bench_release(&bench);
}

static void copies_write_what_their_model_says(void **state)
{
    (void)state;
    static const char *const operations[] = {"lattice_encode", "lattice_decode",
                                             "lattice_roundtrip"};
    static const char *const names[] = {"host_copy_encode", "host_copy_decode",
                                        "host_copy_roundtrip"};
    EACH_CODE(lattice, code)
    for (int i = 0; i < 3; i++) {
        struct bench bench;
        bench_init(&bench, shape_of(operations[i], 8, 64, lattice, code, 0, 0, 0));
        const struct assay_variant *variant = variant_named(operations[i], names[i]);
        struct assay_call call = {.shape = &bench.shape};
        memcpy(call.buffer, bench.memory, sizeof bench.memory);
        assert_null(variant->supports(&bench.shape));
        assert_int_equal(variant->launch(&call), 0);
        size_t bytes = bytes_of(&bench.buffer[BUF_OUT]);
        char *model = malloc(bytes);
        assert_non_null(model);
        assert_int_equal(variant->model(&bench.shape, (const void *const *)bench.memory, BUF_OUT, 0,
                                        bench.buffer[BUF_OUT].count, model),
                         0);
        assert_memory_equal(model, bench.memory[BUF_OUT], bytes);
        free(model);
        bench_release(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_dither_is_its_formula),
        cmocka_unit_test(the_fast_closest_point_is_as_near_as_the_exact_one),
        cmocka_unit_test(quotients_of_whole_points_round_as_in_double_everywhere),
        cmocka_unit_test(the_basis_and_its_inverse_undo_each_other),
        cmocka_unit_test(every_codeword_comes_back_as_itself_without_overload),
        cmocka_unit_test(without_overload_decoding_gives_the_closest_point_bit_for_bit),
        cmocka_unit_test(the_seeds_rule_decodes_three_blocks_in_ten_wrongly_and_ours_none),
        cmocka_unit_test(the_fast_encoder_gives_the_same_codes),
        cmocka_unit_test(codes_by_one_lookup_are_the_same_codes),
        cmocka_unit_test(the_lookups_index_is_one_to_one),
        cmocka_unit_test(points_by_table_are_those_of_the_definition),
        cmocka_unit_test(a_round_trip_without_digits_is_the_same),
        cmocka_unit_test(packed_codes_hold_what_was_packed_in_the_least_bytes),
        cmocka_unit_test(second_moments_are_the_lattices_own),
        cmocka_unit_test(overload_flags_are_those_of_double),
        cmocka_unit_test(host_variants_are_right_for_every_lattice_code_and_protection),
        cmocka_unit_test(rows_that_no_block_divides_are_filled_up_with_zeros),
        cmocka_unit_test(a_padded_block_has_the_code_of_its_entries_and_zeros),
        cmocka_unit_test(rows_of_unit_norm_are_not_all_zeros),
        cmocka_unit_test(entries_that_are_no_numbers_lose_their_block_and_no_other),
        cmocka_unit_test(the_tensors_t_is_the_largest_of_its_blocks),
        cmocka_unit_test(what_cannot_be_is_refused_with_the_reason),
        cmocka_unit_test(quality_says_the_lattices_moment_and_the_size_of_the_codes),
        cmocka_unit_test(copies_write_what_their_model_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
