/*
 * test_family_lattice_codes.c - nested codes: what is encoded comes back, overloads are
 * known, and the published rule's mistakes are not made.
 */
#include "tests/kernels/lattice_shapes.h"

TEST(every_codeword_comes_back_as_itself_without_overload)
{
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
        assert_true(lattice_nest(LATTICE_E8, 3, 1, z, true, &overload) == digits);
        assert_false(overload);
    }
}

TEST(without_overload_decoding_gives_the_closest_point_bit_for_bit)
{
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

TEST(the_seeds_rule_decodes_three_blocks_in_ten_wrongly_and_ours_none)
{
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

TEST(packed_codes_hold_what_was_packed_in_the_least_bytes)
{
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

TEST(overload_flags_are_those_of_double)
{
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
