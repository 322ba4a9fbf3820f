/*
 * vq_search.c - operation `vq_search`: the nearest of 256 codewords for every vector of a batch of
 * leaves.
 *
 *   index[i] = argmin over k of |z_i - e_k|^2
 *
 * Bytes per vector: 512 read, 1 written; the codebook, 128 KiB, is read once. Operations per
 * vector: 2 * 256 * 128, of the arithmetic that `type` names. That is 127 operations per byte, so
 * CUDA cores bound the search (64 TFLOP/s on an H200), and so do tf32 tensor cores, by a little;
 * bf16 ones do not. Neither limit is reached: 16384 leaves in tf32 take 411 us, 39 % of the
 * arithmetic's rate and 28 % of the reads'.
 *
 * type       products of                   rivals: d_k - d < t d
 * fp32       fp32, or three of tf32 parts  t = 1e-5
 * tf32       operands rounded to 11 bits   t = 2e-3
 * bf16       operands rounded to 8 bits    t = 1.6e-2
 *
 * t grows with the rounding of operands. A rival of the nearest codeword counts as NEAR; the share
 * of NEAR is the mismatch rate. It is estimated at 5e-4 in tf32 and 4e-3 in bf16 over normal data;
 * an H200 had 0 to 7e-4 in tf32 (bf16 is in the suite codec-long).
 *
 * Among normal codewords no sample of 2000 vectors tells fp32 from tf32, which mistakes one vector
 * in 2000. So the codebook of type fp32 is one of twins: codeword 2 i + 1 is some 2^-10 from
 * codeword 2 i in every coordinate. Their distances differ by 2.4e-2 (a standard deviation), which
 * fp32 sees (it errs by 1e-5, three products by 1e-4) and tf32 does not: it errs by 6e-3, and some
 * 7 vectors in 100 are wrong.
 */
#include <math.h>

#include "base/rng.h"
#include "vq_search.h"

static const char *const types[] = {"fp32", "tf32", "bf16", NULL};

/* Zeros of both signs, denormals, outliers, and NaN, for which no codeword is nearest. */
static const float hard[] = {0.0f, -0.0f, 1e-40f, -1e-40f, 8.0f, -8.0f, NAN};

/* How many vectors the figures of quality are computed from. */
static const int64_t LOOKED_AT = 8192;

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    const struct assay_fill normal = {.kind = ASSAY_FILL_NORMAL, .b = 1};
    out[SEARCH_Z] = (struct assay_buffer){.name = "z",
                                          .role = ASSAY_IN,
                                          .type = ASSAY_F32,
                                          .count = CODEWORD_LENGTH * search_vectors(shape),
                                          .fill = {.kind = ASSAY_FILL_NORMAL,
                                                   .b = 1,
                                                   .hard = hard,
                                                   .hard_count = sizeof hard / sizeof *hard,
                                                   .hard_every = 256,
                                                   .hard_until = 32 * CODEWORD_LENGTH}};
    out[SEARCH_CODEBOOK] =
        (struct assay_buffer){"codebook", ASSAY_IN, ASSAY_F32, CODEWORDS * CODEWORD_LENGTH, normal};
    out[SEARCH_INDEX] = (struct assay_buffer){
        .name = "index", .role = ASSAY_OUT, .type = ASSAY_U8, .count = search_vectors(shape)};
    if (shape->value[SEARCH_TYPE] == SEARCH_FP32)
        out[SEARCH_CODEBOOK].fill.kind = ASSAY_FILL_CUSTOM;
    return 3;
}

/* Standard normal (Box and Muller, "A Note on the Generation of Random Normal Deviates", Ann.
 * Math. Stat. 29, 1958). */
static double normal(uint64_t seed, uint64_t index)
{
    double u = (double)((rng_mix(seed, 2 * index) >> 11) + 1) * 0x1p-53;
    double angle = 2 * M_PI * (double)(rng_mix(seed, 2 * index + 1) >> 11) * 0x1p-53;
    return sqrt(-2 * log(u)) * cos(angle);
}

/* The codebook of type fp32. */
static int fill(const struct assay_shape *shape, int buffer, uint64_t seed, void *host)
{
    float *codebook = host;
    for (int i = 0; i < CODEWORDS * CODEWORD_LENGTH; i++)
        codebook[i] = (float)normal(seed, (uint64_t)i);
    for (int i = 0; i < CODEWORDS * CODEWORD_LENGTH; i++)
        if (i / CODEWORD_LENGTH % 2)
            codebook[i] = codebook[i - CODEWORD_LENGTH] + 0x1p-10f * codebook[i];
    return 0;
}

static struct assay_work work(const struct assay_shape *shape)
{
    static const enum assay_arithmetic arithmetic[SEARCH_TYPES] = {ASSAY_FP32, ASSAY_TF32,
                                                                   ASSAY_BF16_OPS};
    double vectors = (double)search_vectors(shape);
    struct assay_work work = {
        .read_bytes = 4.0 * CODEWORD_LENGTH * (vectors + CODEWORDS),
        .write_bytes = vectors,
    };
    work.ops[arithmetic[shape->value[SEARCH_TYPE]]] = 2.0 * CODEWORDS * CODEWORD_LENGTH * vectors;
    return work;
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    static const double relative[SEARCH_TYPES] = {1e-5, 2e-3, 1.6e-2};
    const float *z = in[SEARCH_Z];
    for (int64_t i = begin; i < end; i++) {
        double distance[CODEWORDS];
        search_distances(z + CODEWORD_LENGTH * i, in[SEARCH_CODEBOOK], distance);
        expected[i - begin] = search_expect(distance, relative[shape->value[SEARCH_TYPE]]);
    }
    return 0;
}

/* In units of a multiply-add: vector units do at least two per step. */
static double reference_cost(const struct assay_shape *shape)
{
    return CODEWORDS * CODEWORD_LENGTH / 2;
}

static enum assay_match match(const struct assay_shape *shape, int buffer, double expected,
                              double got)
{
    return search_match(expected, got);
}

/* mismatch_rate: the share of vectors whose index is not the exact nearest;
 * mse: of a number of z against its codeword; psnr_db: against z's largest
 * magnitude. Vectors with a NaN are left out. */
static int quality(const struct assay_shape *shape, const void *const host[],
                   struct assay_metric out[ASSAY_MAX_METRICS])
{
    const float *z = host[SEARCH_Z];
    const uint8_t *index = host[SEARCH_INDEX];
    int64_t vectors = search_vectors(shape) < LOOKED_AT ? search_vectors(shape) : LOOKED_AT;
    int64_t sound = 0, mismatches = 0;
    double error = 0, peak = 0;
#pragma omp parallel for schedule(static) reduction(+ : sound, mismatches, error) \
    reduction(max : peak)
    for (int64_t i = 0; i < vectors; i++) {
        double distance[CODEWORDS];
        search_distances(z + CODEWORD_LENGTH * i, host[SEARCH_CODEBOOK], distance);
        if (isnan(distance[0])) continue;
        sound++;
        mismatches += search_match(search_expect(distance, 0), index[i]) != ASSAY_EXACT;
        error += distance[index[i]];
        for (int j = 0; j < CODEWORD_LENGTH; j++)
            peak = fmax(peak, fabs((double)z[CODEWORD_LENGTH * i + j]));
    }
    double mse = error / ((double)sound * CODEWORD_LENGTH);
    out[0] = (struct assay_metric){"mismatch_rate", (double)mismatches / (double)sound};
    out[1] = (struct assay_metric){"mse", mse};
    out[2] = (struct assay_metric){"psnr_db", 10 * log10(peak * peak / mse)};
    return 3;
}

static const char *const baselines[] = {"gemm_argmin", "host_gemm_argmin", "host_scalar", NULL};

static const struct assay_operation vq_search = {
    .name = "vq_search",
    .summary = "nearest codeword: index = argmin over 256 of |z - e_k|^2, 64 vectors per leaf",
    .dims = {[SEARCH_LEAVES] = {.name = "leaves",
                                .summary = "leaves of 64 vectors of 128 fp32",
                                .fallback = 64,
                                .min = 1,
                                .max = 1 << 20},
             [SEARCH_TYPE] = {.name = "type",
                              .summary = "arithmetic of the products, and with it the "
                                         "tolerance at near ties",
                              .choices = types,
                              .fallback = SEARCH_FP32}},
    .buffers = buffers,
    .fill = fill,
    .work = work,
    .reference = reference,
    .reference_cost = reference_cost,
    .tolerance = {.near_share = 1e-2},
    .match = match,
    .quality = quality,
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(vq_search);
