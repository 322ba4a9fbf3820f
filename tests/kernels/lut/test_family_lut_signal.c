/*
 * test_family_lut_signal.c - what is left of a normal signal in E8's codes of few levels: says
 * for each code the signal-to-noise ratio at the recommended scale and at the best one, and
 * the share of blocks that overload.
 */
#include "base/fill.h"
#include "tests/kernels/bench.h"
#include "kernels/lut/lut.h"

#include "kernels/lut/linear.h"

enum { BLOCKS = 8192 };

struct signal {
    double db, overloaded;
};

/* Encoded and decoded with the scale beta = 1 / ratio. */
static struct signal measure(float x[BLOCKS][8], int q, int levels, double ratio)
{
    const struct codebook *codebook = codebook_get(CODEBOOK_E8, q);
    double error = 0, power = 0;
    int overloaded = 0;
    for (int64_t block = 0; block < BLOCKS; block++) {
        float rest[8];
        int y[8] = {0}, left[8], weight = 1; /* left: behind the last level */
        bool over = false;
        for (int i = 0; i < 8; i++)
            rest[i] = (float)(x[block][i] * ratio);
        lut_closest_e8(rest, left);
        for (int m = 0; m < levels; m++, weight *= q, lut_next_e8(left, q)) {
            const int8_t *point = codebook->left + 8 * lut_index_e8(left, q);
            for (int i = 0; i < 8; i++)
                y[i] += weight * point[i];
        }
        for (int i = 0; i < 8; i++) {
            double off = x[block][i] * ratio - 0.5 * y[i];
            error += off * off;
            power += x[block][i] * ratio * x[block][i] * ratio;
            over |= left[i] != 0;
        }
        overloaded += over;
    }
    return (struct signal){10 * log10(power / error), (double)overloaded / BLOCKS};
}

/* The best of scales 2^(1/8) apart. */
static double best_db(float x[BLOCKS][8], int q, int levels)
{
    double best = -1000;
    for (int step = -32; step <= 16; step++) {
        double db = measure(x, q, levels, pow(q, levels) * exp2(step / 8.0)).db;
        if (db > best) best = db;
    }
    return best;
}

TEST(levels_of_q_2_carry_no_signal_and_codes_of_q_4_do)
{
    static const struct {
        int q, levels;
        double least_db, most_db; /* at the best scale */
    } codes[] = {{2, 1, -1, 1}, {2, 2, -1, 1},  {2, 4, -1, 1},
                 {4, 1, 6, 7},  {3, 2, 11, 14}, {4, 2, 16, 19}};
    float(*x)[8] = malloc(sizeof *x * BLOCKS);
    for (int64_t i = 0; i < BLOCKS * 8; i++)
        x[i / 8][i % 8] = (float)fill_normal(1, (uint64_t)i);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        int q = codes[i].q, levels = codes[i].levels;
        struct signal at = measure(x, q, levels, 0.1125 * pow(q, levels));
        double best = best_db(x, q, levels);
        print_message("(%d,%d): %.2f bits an entry, %.1f dB, %.1f %% overloaded; %.1f dB at best\n",
                      q, levels, levels * log2(q), at.db, 100 * at.overloaded, best);
        assert_true(best >= codes[i].least_db && best <= codes[i].most_db);
    }
    free(x);
}
