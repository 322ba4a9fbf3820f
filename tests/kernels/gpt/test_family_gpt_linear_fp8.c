/*
 * test_family_gpt_linear_fp8.c - `linear_fp8` on the host: variants at odd shapes, and bounds that
 * pass tensor cores whose sums leave them every 128 terms, and nothing that is less exact.
 */
#include "tests/kernels/fp8_cores.h"
#include "kernels/gpt/linear/linear_fp8.h"

TEST(every_host_variant_is_right_at_odd_shapes)
{
    const int64_t shapes[][3] = {{1, 1, 1},     {1, 7, 3},     {5, 1, 129},
                                 {3, 129, 255}, {130, 3, 128}, {17, 65, 1000}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int64_t scale = LFP8_TENSOR; scale <= LFP8_BLOCK; scale++)
            bench_all(SHAPE("linear_fp8", shapes[i][0], shapes[i][1], shapes[i][2], scale),
                      "host_scalar host_omp");
}

/* ------------------------------------------------------------------ bounds -- */

/* How a product is computed. */
struct cores {
    const char *name;
    int bits;    /* of a step's largest number, to which all are cut off */
    int promote; /* terms after which the sum is added in fp32 */
    int drop;    /* terms that are left out at the end */
    int shift;   /* groups by which the scales of x are off */
};

static double element(const struct bench *bench, const struct cores *cores, int64_t row,
                      int64_t column)
{
    const int64_t k = bench->shape.value[LFP8_K], groups = lfp8_groups(k);
    const float *sx = bench->in[LFP8_X_SCALES], *sw = bench->in[LFP8_W_SCALES];
    float sum = 0;
    double part = 0, term[32];
    for (int64_t first = 0; first < k; first += 32) {
        int count = 0;
        for (int64_t l = first; l < first + 32 && l < k - cores->drop; l++)
            term[count++] = assay_load(ASSAY_E4M3, bench->in[LFP8_X], row * k + l) *
                            assay_load(ASSAY_E4M3, bench->in[LFP8_W], column * k + l);
        part = fp8_step(term, count, part, cores->bits);
        if ((first + 32) % cores->promote != 0 && first + 32 < k) continue;
        int64_t group = first / LFP8_GROUP;
        sum +=
            (float)part * (sx[lfp8_x_scale(&bench->shape, row, (group + cores->shift) % groups)] *
                           sw[lfp8_w_scale(&bench->shape, column, group)]);
        part = 0;
    }
    return (double)sum;
}

/* How many of the seeds it is refused with. */
static int refused_seeds(struct assay_shape shape, const struct cores *cores, int seeds)
{
    int found = 0;
    double rows = 0, worst = 0, near = 0;
    for (bench_seed = 1; bench_seed <= (uint64_t)seeds; bench_seed++) {
        struct bench bench;
        bench_init(&bench, shape);
        int64_t n = shape.value[LFP8_N];
        for (int64_t at = 0; at < shape.value[LFP8_M] * n; at++)
            assay_store(ASSAY_BF16, bench.buffers.data[LFP8_Y], at,
                        element(&bench, cores, at / n, at % n));
        double share = worst_row_share(&bench, LFP8_Y);
        struct check_result result = bench_judge(&bench);
        found += result.reason[0] != '\0' || !(share <= 1);
        rows = fmax(rows, share);
        worst = fmax(worst, worst_share(&bench, LFP8_Y));
        near = fmax(near, result.near_share);
        bench_release(&bench);
    }
    bench_seed = 1;
    if (getenv("MARGINS"))
        printf("%-24s k=%-6d %9.3g %9.3g %9.3g\n", cores->name, (int)shape.value[LFP8_K], worst,
               rows, near);
    return found;
}

TEST(sums_that_leave_the_tensor_cores_pass)
{
    static const struct cores right[] = {{"hopper", 14, 128, 0, 0}, {"exact", 40, 128, 0, 0}};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        for (int64_t scale = LFP8_TENSOR; scale <= LFP8_BLOCK; scale++) {
            assert_int_equal(refused_seeds(SHAPE("linear_fp8", 24, 40, 1, scale), &right[i], 5), 0);
            assert_int_equal(refused_seeds(SHAPE("linear_fp8", 24, 40, 72, scale), &right[i], 5),
                             0);
            assert_int_equal(refused_seeds(SHAPE("linear_fp8", 24, 40, 1024, scale), &right[i], 3),
                             0);
            assert_int_equal(refused_seeds(SHAPE("linear_fp8", 24, 40, 8192, scale), &right[i], 2),
                             0);
        }
}

TEST(what_is_less_exact_is_refused)
{
    const struct {
        int64_t k, scale;
        struct cores cores;
    } wrong[] = {
        {4096, LFP8_TENSOR, {"sums stay", 14, 1 << 30, 0, 0}},
        {16384, LFP8_TENSOR, {"sums stay", 14, 1 << 30, 0, 0}},
        {4096, LFP8_BLOCK, {"11 bits", 11, 128, 0, 0}},
        {1024, LFP8_BLOCK, {"last 16 dropped", 14, 128, 16, 0}},
        {1024, LFP8_BLOCK, {"scales of the next group", 14, 128, 0, 1}},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(refused_seeds(SHAPE("linear_fp8", 24, 40, wrong[i].k, wrong[i].scale),
                                       &wrong[i].cores, 2),
                         2);
}
