/*
 * test_family_gpt_attention_fp8.c - `attention_fp8` on the host: variants at odd shapes, and bounds
 * that pass weights in e4m3 and tensor cores whose sums leave them every 128 keys, and nothing that
 * is less exact or leaves something out.
 */
#include "tests/kernels/fp8_cores.h"
#include "kernels/gpt/attention/attention_fp8.h"

TEST(every_host_variant_is_right_at_odd_shapes)
{
    const int64_t shapes[][4] = {{1, 1, 1, 1}, {2, 3, 5, 7}, {1, 2, 65, 33}, {1, 1, 130, 256}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int64_t mask = AFP8_CAUSAL; mask <= AFP8_FULL; mask++)
            bench_all(SHAPE("attention_fp8", shapes[i][0], shapes[i][1], shapes[i][2], shapes[i][3],
                            mask),
                      "host_scalar host_omp");
}

TEST(a_causal_mask_halves_the_work)
{
    struct assay_shape causal = SHAPE("attention_fp8", 2, 3, 99, 64, AFP8_CAUSAL);
    struct assay_shape full = SHAPE("attention_fp8", 2, 3, 99, 64, AFP8_FULL);
    const struct assay_operation *operation = causal.operation;
    assert_true(operation->fp8_ops(&full) == 4.0 * 64 * 2 * 3 * 99 * 99);
    assert_true(operation->fp8_ops(&causal) == 4.0 * 64 * 2 * 3 * 99 * 50);
    assert_true(operation->work(&full).read_bytes == 3.0 * 64 * 2 * 3 * 99 + 4 * 9);
    assert_true(operation->work(&full).write_bytes == 2.0 * 64 * 2 * 3 * 99);
}

/* ------------------------------------------------------------------ bounds -- */

/* How attention is computed. */
struct method {
    const char *name;
    int bits;      /* of a step's largest number, to which all are cut off */
    int promote;   /* keys after which sums are added in fp32 */
    double lift;   /* the largest weight */
    int mantissa;  /* bits of a weight's fraction; 0: not rounded */
    int skip;      /* a tile of so many keys in the middle is left out */
    int heads_off; /* heads by which the scales are off */
};

enum { STEP = 32, TILE = 128 };

/* To so many bits of fraction, as e4m3 with 3: normal from 2^-6 on. */
static double rounded_weight(double p, int mantissa)
{
    if (mantissa == 0 || p == 0) return p;
    int exponent;
    frexp(p, &exponent);
    double quantum = ldexp(1, (exponent < -5 ? -5 : exponent) - 1 - mantissa);
    return nearbyint(p / quantum) * quantum;
}

static double number(const struct bench *bench, int64_t at)
{
    return assay_load(ASSAY_E4M3, bench->in[AFP8_QKV], at);
}

static double score(const struct bench *bench, const struct attention_fp8_query *query, int64_t key,
                    int bits)
{
    double sum = 0, term[STEP];
    for (int64_t first = 0; first < query->size; first += STEP) {
        int count = 0;
        for (int64_t i = first; i < first + STEP && i < query->size; i++)
            term[count++] =
                number(bench, query->q + i) * number(bench, query->k + key * query->stride + i);
        sum = fp8_step(term, count, sum, bits);
    }
    return sum;
}

/* A row of y: tiles of keys from the first one on, against the largest score so far. */
static void attend(const struct bench *bench, const struct method *method, int64_t index)
{
    const struct attention_fp8_query query = attention_fp8_query(&bench->shape, index);
    const float *scales = bench->in[AFP8_SCALES];
    const int64_t head = (query.head + method->heads_off) % query.heads;
    const double factor =
        (double)scales[head] * (double)scales[query.heads + query.head] / sqrt((double)query.size);
    const int64_t left_out = method->skip ? query.keys / 2 : query.keys;
    static double weight[TILE], sum[AFP8_MAX_HEAD], part[AFP8_MAX_HEAD];
    double peak = -INFINITY, total = 0;
    memset(sum, 0, sizeof sum);
    memset(part, 0, sizeof part);
    for (int64_t first = 0; first < query.keys; first += TILE) {
        const int count = (int)(query.keys - first < TILE ? query.keys - first : TILE);
        double older = peak;
        for (int j = 0; j < count; j++) {
            weight[j] = factor * score(bench, &query, first + j, method->bits);
            peak = fmax(peak, weight[j]);
        }
        double keep = exp(older - peak);
        total *= keep;
        for (int64_t i = 0; i < query.size; i++)
            sum[i] *= keep, part[i] *= keep;
        for (int j = 0; j < count; j++) {
            bool out = first + j >= left_out && first + j < left_out + method->skip;
            double p = out ? 0 : method->lift * exp(weight[j] - peak);
            total += p;
            weight[j] = rounded_weight(p, method->mantissa);
        }
        for (int64_t i = 0; i < query.size; i++) {
            double term[STEP];
            for (int step = 0; step < count; step += STEP) {
                int terms = 0;
                for (int j = step; j < step + STEP && j < count; j++)
                    term[terms++] =
                        weight[j] * number(bench, query.v + (first + j) * query.stride + i);
                part[i] = fp8_step(term, terms, part[i], method->bits);
            }
            if ((first + TILE) % method->promote != 0 && first + TILE < query.keys) continue;
            sum[i] += part[i];
            part[i] = 0;
        }
    }
    double scale = (double)scales[2 * query.heads + query.head] / total;
    for (int64_t i = 0; i < query.size; i++)
        assay_store(ASSAY_BF16, bench->buffers.data[AFP8_Y], index * query.size + i,
                    sum[i] * scale);
}

/* How many of the seeds it is refused with. */
static int refused_seeds(struct assay_shape shape, const struct method *method, int seeds)
{
    int found = 0;
    double worst = 0;
    for (bench_seed = 1; bench_seed <= (uint64_t)seeds; bench_seed++) {
        struct bench bench;
        bench_init(&bench, shape);
        const int64_t *value = shape.value;
        for (int64_t i = 0; i < value[AFP8_BATCH] * value[AFP8_TOKENS] * value[AFP8_HEADS]; i++)
            attend(&bench, method, i);
        struct check_result result = bench_judge(&bench);
        found += result.reason[0] != '\0';
        worst = fmax(worst, worst_share(&bench, AFP8_Y));
        if (getenv("MARGINS"))
            printf("%-20s tokens=%-6d size=%-4d %9.3g rms %9.3g %s\n", method->name,
                   (int)value[AFP8_TOKENS], (int)value[AFP8_HEAD_SIZE], worst, result.rms,
                   result.reason);
        bench_release(&bench);
    }
    bench_seed = 1;
    return found;
}

TEST(weights_in_e4m3_and_sums_that_leave_the_tensor_cores_pass)
{
    static const struct method right[] = {{"hopper", 14, 128, 256, 3, 0, 0},
                                          {"448", 14, 128, 448, 3, 0, 0},
                                          {"exact", 40, 128, 256, 0, 0, 0}};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        for (int64_t mask = AFP8_CAUSAL; mask <= AFP8_FULL; mask++) {
            assert_int_equal(refused_seeds(SHAPE("attention_fp8", 1, 2, 9, 64, mask), &right[i], 5),
                             0);
            assert_int_equal(
                refused_seeds(SHAPE("attention_fp8", 1, 2, 150, 64, mask), &right[i], 2), 0);
            assert_int_equal(
                refused_seeds(SHAPE("attention_fp8", 1, 1, 600, 128, mask), &right[i], 1), 0);
        }
}

TEST(what_is_less_exact_is_refused)
{
    static const struct method wrong[] = {{"2 bits of weights", 14, 128, 256, 2, 0, 0},
                                          {"weights up to 1 / 64", 14, 128, 1.0 / 64, 3, 0, 0},
                                          {"half a block left out", 14, 128, 256, 3, 32, 0},
                                          {"scales of the next", 14, 128, 256, 3, 0, 1},
                                          {"9 bits of sums", 9, 128, 256, 3, 0, 0}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(
            refused_seeds(SHAPE("attention_fp8", 1, 2, 600, 32, AFP8_FULL), &wrong[i], 1), 1);
}
