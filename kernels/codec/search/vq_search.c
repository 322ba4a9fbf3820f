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
 * fp32       fp32, or three of tf32 parts  t = 2e-5
 * tf32       operands rounded to 11 bits   t = 2e-3
 * bf16       operands rounded to 8 bits    t = 1.6e-2
 *
 * t grows with the rounding of operands. In fp32, u = 2^-24, a sum of n = 128 products in any order
 * is off by at most 4 sqrt(n) u of its largest part (Higham and Mary, "A new approach to
 * probabilistic rounding error analysis", SIAM J. Sci. Comput. 41, 2019): 4e-6 of a distance, and
 * by as much where tensor cores truncate a sum 48 times. A rival of the nearest codeword counts as
 * NEAR; the share of NEAR is the mismatch rate. It is estimated at 5e-4 in tf32 and 4e-3 in bf16
 * over normal data; an H200 had 0 to 7e-4 in tf32 (bf16 is in the suite codec-long).
 *
 * Over normal data a search in tf32 finds a wrong codeword so seldom that it would pass for fp32.
 * So with type fp32 one vector in TIE_STEP lies between two codewords, nearer to one by 4e-5
 * to 8e-5 of the distance: fp32 tells them apart, and tf32 takes the other one for a third of
 * them. The codewords that it lies between are the same in every run, because a buffer's fill knows
 * no other buffer. The figures of quality leave these vectors out.
 */
#include <math.h>

#include "base/fill.h"
#include "vq_search.h"

enum {
    TIE_STEP = 15,     /* no multiple of a lane's */
    FIXED_STEP = 32,   /* one codeword in so many is the same in every run, */
    FIXED_OFFSET = 11, /* from this one on */
};

static const char *const types[] = {"fp32", "tf32", "bf16", NULL};

/* Zeros of both signs, a denormal, what is far out, and what has no answer. */
static const float hard[] = {0.0f, -0.0f, 1e-40f, -1e-40f, 8.0f, -8.0f, NAN};

/* Vectors that the figures of quality look at. */
static const int64_t LOOKED_AT = 8192;

static const struct assay_fill normal = {.kind = ASSAY_FILL_NORMAL, .b = 1};
static const struct assay_fill vectors = {.kind = ASSAY_FILL_NORMAL,
                                          .b = 1,
                                          .hard = hard,
                                          .hard_count = sizeof hard / sizeof *hard,
                                          .hard_every = 256,
                                          .hard_until = 32 * CODEWORD_LENGTH};

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    const bool ties = shape->value[SEARCH_TYPE] == SEARCH_FP32;
    const struct assay_fill custom = {.kind = ASSAY_FILL_CUSTOM};
    out[SEARCH_Z] = (struct assay_buffer){
        "z", ASSAY_IN, ASSAY_F32, CODEWORD_LENGTH * search_vectors(shape), ties ? custom : vectors};
    out[SEARCH_CODEBOOK] = (struct assay_buffer){
        "codebook",      ASSAY_IN, ASSAY_F32, CODEWORDS * CODEWORD_LENGTH, ties ? custom : normal,
        .constant = true};
    out[SEARCH_INDEX] = (struct assay_buffer){
        .name = "index", .role = ASSAY_OUT, .type = ASSAY_U8, .count = search_vectors(shape)};
    return 3;
}

/* ------------------------------------------------------------------- fill -- */

static bool is_tie(const struct assay_shape *shape, int64_t vector)
{
    return shape->value[SEARCH_TYPE] == SEARCH_FP32 && vector % TIE_STEP == TIE_STEP / 2;
}

/* Number j of a codeword that is the same in every run. */
static double fixed_number(int64_t codeword, int64_t j)
{
    return fill_normal(1, (uint64_t)(codeword * CODEWORD_LENGTH + j));
}

static void fill_codeword(uint64_t seed, int64_t codeword, float *out)
{
    for (int64_t j = 0; j < CODEWORD_LENGTH; j++)
        out[j] = (float)(codeword % FIXED_STEP == FIXED_OFFSET
                             ? fixed_number(codeword, j)
                             : fill_normal(seed, (uint64_t)(codeword * CODEWORD_LENGTH + j)));
}

/* Between two of the fixed codewords, nearer to the first: with z = b + (1 / 2 + e) (a - b) the
 * distances differ by 8 e of them. */
static void fill_tie(uint64_t seed, int64_t vector, float *z)
{
    const uint64_t fixed = CODEWORDS / FIXED_STEP, bits = fill_hash(~seed, (uint64_t)vector);
    const uint64_t first = bits % fixed, second = (first + 1 + (bits >> 8) % (fixed - 1)) % fixed;
    const int64_t a = (int64_t)first * FIXED_STEP + FIXED_OFFSET;
    const int64_t b = (int64_t)second * FIXED_STEP + FIXED_OFFSET;
    const double nearer = 5e-6 + 5e-6 * (double)(bits >> 32) * 0x1p-32;
    for (int64_t j = 0; j < CODEWORD_LENGTH; j++) {
        const double from = fixed_number(b, j), step = fixed_number(a, j) - from;
        z[j] = (float)(from + (0.5 + nearer) * step);
    }
}

static void fill_vector(uint64_t seed, int64_t vector, float *z)
{
    for (int64_t j = 0; j < CODEWORD_LENGTH; j++)
        z[j] = (float)fill_value(&vectors, hard, seed, vector * CODEWORD_LENGTH + j);
}

/* With type fp32 only. */
static int fill(const struct assay_shape *shape, int buffer, uint64_t seed, void *host)
{
    float *out = host;
    const int64_t count = buffer == SEARCH_Z ? search_vectors(shape) : CODEWORDS;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++) {
        if (buffer == SEARCH_CODEBOOK)
            fill_codeword(seed, i, out + i * CODEWORD_LENGTH);
        else if (is_tie(shape, i))
            fill_tie(seed, i, out + i * CODEWORD_LENGTH);
        else
            fill_vector(seed, i, out + i * CODEWORD_LENGTH);
    }
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
    static const double relative[SEARCH_TYPES] = {2e-5, 2e-3, 1.6e-2};
    const float *z = in[SEARCH_Z];
    (void)buffer;
    (void)bound;
    for (int64_t i = begin; i < end; i++) {
        double distance[CODEWORDS];
        search_distances(z + CODEWORD_LENGTH * i, in[SEARCH_CODEBOOK], distance);
        expected[i - begin] = search_expect(distance, relative[shape->value[SEARCH_TYPE]]);
    }
    return 0;
}

/* The sums run in vector units, at least two per step. */
static double reference_cost(const struct assay_shape *shape)
{
    (void)shape;
    return CODEWORDS * CODEWORD_LENGTH / 2;
}

static enum assay_match match(const struct assay_shape *shape, int buffer, double expected,
                              double got)
{
    (void)shape;
    (void)buffer;
    return search_match(expected, got);
}

/* mismatch_rate: the share of vectors whose index is not the exact nearest;
 * mse: of a number of z against its codeword; psnr_db: against z's largest
 * magnitude. Vectors with a NaN, and those between two codewords, are left out. */
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
        if (isnan(distance[0]) || is_tie(shape, i)) continue;
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
