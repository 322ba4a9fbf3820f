/*
 * mlp.c - operation quantized_mlp (mlp.h): the published "MLP" of more than one layer, and
 * quantised products of rows of unit norm and of extreme values (layers = 1).
 *
 * Operations: 2 * rows * width^2 per layer; encoding is not counted. Bytes: 4 per entry of X and C,
 * the codes of all layers. What goes from one layer to the next need not leave the chip.
 *
 * The reference follows a row through all layers, so it costs as much for one element as for its
 * row. A block of 8 takes about as long as one multiply-add of other references.
 */
#include "mlp.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/product.h"

/* The reference's blocks of weights, at most. */
static const double MOST_BLOCKS = 1 << 27;

static const char *const datas[] = {"gaussian", "unit_norm", "extreme", NULL};

/* Beyond the code's range, far beyond it, ties, and what is no number. */
static const float hard[] = {8.5f, -8.5f, 20.0f, -20.0f, 100.0f, -100.0f, NAN,  INFINITY, -INFINITY,
                             1e9f, -1e9f, 3e38f, -3e38f, 1e-40f, -1e-40f, 0.5f, -0.5f,    -0.0f};

static struct mlp one_layer(const struct assay_shape *shape)
{
    struct mlp mlp = {.layer = *shape, .geometry = lut_geometry(shape), .layers = 1};
    mlp.r[0] = lut_inverse_beta(mlp.geometry.q, mlp.geometry.levels);
    return mlp;
}

struct mlp mlp_of(const struct assay_shape *shape)
{
    if (strcmp(shape->operation->name, "quantized_mlp") != 0) return one_layer(shape);
    const int64_t *value = shape->value;
    struct mlp mlp = {.layers = (int)value[MLP_LAYERS]};
    mlp.layer = (struct assay_shape){.operation = &lut_quantized_linear};
    mlp.layer.value[LUT_ROWS] = value[MLP_ROWS];
    mlp.layer.value[LUT_K] = mlp.layer.value[LUT_COLUMNS] = value[MLP_WIDTH];
    mlp.layer.value[LUT_LATTICE] = CODEBOOK_E8;
    mlp.layer.value[LUT_CODE] = value[MLP_CODE];
    mlp.layer.value[LUT_INDEX] = LUT_PACKED;
    mlp.geometry = lut_geometry(&mlp.layer);
    mlp.layer_bytes = mlp.geometry.columns * mlp.geometry.stride_bytes;

    double width = (double)value[MLP_WIDTH];
    double range = (double)lut_weight(mlp.geometry.q, mlp.geometry.levels);
    double weight = sqrt(929.0 / 12960.0 * (range * range - 1.0));
    double inverse = (double)lut_inverse_beta(mlp.geometry.q, mlp.geometry.levels);
    mlp.r[0] = (float)(value[MLP_DATA] == MLP_UNIT_NORM ? inverse * sqrt(width) : inverse);
    double gain = exp2(rint(log2(sqrt(width) * weight)));
    mlp.r[1] = (float)(inverse / gain);
    mlp.limit = (float)(2 * gain);
    return mlp;
}

static const char *supports(const struct assay_shape *shape)
{
    const struct mlp mlp = mlp_of(shape);
    double blocks = (double)mlp.layers * (double)mlp.geometry.columns * (double)mlp.geometry.blocks;
    if (blocks * (double)mlp.geometry.rows > MOST_BLOCKS)
        return "more than 2^30 products of entries: the reference follows each row through all "
               "layers";
    return NULL;
}

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    const struct mlp mlp = mlp_of(shape);
    int64_t data = shape->value[MLP_DATA];
    int64_t rows = mlp.geometry.rows, width = mlp.geometry.columns;
    out[LINEAR_X] = lut_entries_buffer("x", ASSAY_IN, rows, width);
    out[LINEAR_X].fill = (struct assay_fill){
        .kind = ASSAY_FILL_NORMAL, .b = data == MLP_UNIT_NORM ? 1 / sqrt((double)width) : 1};
    if (data == MLP_EXTREME) {
        out[LINEAR_X].fill.hard = hard;
        out[LINEAR_X].fill.hard_count = sizeof hard / sizeof *hard;
        out[LINEAR_X].fill.hard_every = 64;
    }
    out[LINEAR_W] = lut_codes_buffer(&mlp.geometry, "w", mlp.layers * width);
    out[LINEAR_C] = lut_entries_buffer("c", ASSAY_OUT, rows, width);
    return 3;
}

static int fill(const struct assay_shape *shape, int buffer, uint64_t seed, void *host)
{
    (void)buffer; /* only codes are filled here */
    const struct mlp mlp = mlp_of(shape);
    lut_fill_codes(&mlp.geometry, mlp.layers * mlp.geometry.columns, seed, host);
    return 0;
}

static struct assay_work work(const struct assay_shape *shape)
{
    const struct mlp mlp = mlp_of(shape);
    double rows = (double)mlp.geometry.rows, width = (double)mlp.geometry.columns;
    struct assay_work work = {.read_bytes = 4 * rows * width + mlp.layers * (double)mlp.layer_bytes,
                              .write_bytes = 4 * rows * width};
    work.ops[ASSAY_INT8_OPS] = 2 * mlp.layers * rows * width * width;
    return work;
}

/* ------------------------------------------------------------- reference -- */

static struct lut_codes layer_codes(const struct mlp *mlp, const void *w, int layer)
{
    return lut_codes(&mlp->geometry, (const char *)w + layer * mlp->layer_bytes,
                     mlp->geometry.columns);
}

/* C of one layer for the encoded row `x`. */
static void multiply_exact(const struct mlp *mlp, const struct codebook *codebook,
                           const struct lut_codes *w, const struct linear_block *x, float *c)
{
    const struct lut_geometry *geometry = &mlp->geometry;
    for (int64_t column = 0; column < geometry->columns; column++) {
        int64_t sum = 0;
        for (int64_t block = 0; block < geometry->blocks; block++) {
            int y[CODEBOOK_MAX_D];
            lut_decode_block(codebook, geometry, w, true, column, block, y);
            for (int i = 0; i < 8; i++)
                sum += x[block].point[i] * y[i];
        }
        c[column] = (float)(sum / geometry->divisor) * geometry->unit;
    }
}

int mlp_row_exact(const struct mlp *mlp, const void *const in[], int64_t row, double *c)
{
    const struct lut_geometry *geometry = &mlp->geometry;
    const struct codebook *codebook = lut_codebook(&mlp->layer);
    int64_t width = geometry->columns;
    struct linear_block *x = malloc((size_t)geometry->blocks * sizeof *x);
    float *y = malloc((size_t)width * sizeof *y);
    int status = x && y && codebook ? 0 : assay_error("out of host memory for the reference");
    const float *from = (const float *)in[LINEAR_X] + row * width;
    for (int layer = 0; layer < mlp->layers && status == 0; layer++) {
        struct lut_codes w = layer_codes(mlp, in[LINEAR_W], layer);
        for (int64_t i = 0; i < width && layer > 0; i++)
            y[i] = fminf(fmaxf(y[i], -mlp->limit), mlp->limit);
        for (int64_t block = 0; block < geometry->blocks; block++)
            x[block] = linear_nearest(geometry, codebook, mlp_r(mlp, layer), from, block);
        multiply_exact(mlp, codebook, &w, x, y);
        from = y;
    }
    for (int64_t i = 0; i < width && status == 0; i++)
        c[i] = (double)y[i];
    free(y);
    free(x);
    return status;
}

/* Inputs that are off by `off[i]` and a sum of their products with the weights in fp32. */
static double multiply_plain(const struct mlp *mlp, const struct codebook *codebook,
                             const struct lut_codes *w, int64_t column, const double *v,
                             const double *off, double *variance)
{
    struct product_sum sum = {0};
    for (int64_t block = 0; block < mlp->geometry.blocks; block++) {
        int y[CODEBOOK_MAX_D];
        lut_decode_block(codebook, &mlp->geometry, w, true, column, block, y);
        for (int64_t i = 8 * block; i < 8 * block + 8 && i < mlp->geometry.k; i++) {
            product_add(&sum, 0.5 * y[i % 8] * v[i]);
            *variance += 0.25 * y[i % 8] * y[i % 8] * off[i] * off[i];
        }
    }
    double sigma =
        product_sigma(PRODUCT_FP32, (double)mlp->geometry.k, sum.squares + sum.value * sum.value);
    *variance += sigma * sigma;
    return sum.value;
}

int mlp_row_plain(const struct mlp *mlp, const float *x, const void *w, double *c,
                  double *deviation)
{
    const struct codebook *codebook = lut_codebook(&mlp->layer);
    int64_t width = mlp->geometry.columns;
    double beta = (double)lut_beta(mlp->geometry.q, mlp->geometry.levels);
    double *work = calloc(3 * (size_t)width, sizeof *work);
    if (!work || !codebook) {
        free(work);
        return assay_error("out of host memory for a network that is not quantised");
    }
    double *v = work, *off = work + width, *next = work + 2 * width;
    for (int64_t i = 0; i < width; i++)
        c[i] = (double)x[i];
    for (int layer = 0; layer < mlp->layers; layer++) {
        struct lut_codes codes = layer_codes(mlp, w, layer);
        double scale = beta * (double)mlp_r(mlp, layer), limit = (double)mlp_limit(mlp, layer);
        for (int64_t i = 0; i < width; i++) {
            v[i] = scale * (layer > 0 ? fmin(fmax(c[i], -limit), limit) : c[i]);
            off[i] = layer > 0 ? scale * next[i] : 0.0;
        }
#pragma omp parallel for schedule(static) if (width > 256)
        for (int64_t column = 0; column < width; column++) {
            double variance = 0;
            c[column] = multiply_plain(mlp, codebook, &codes, column, v, off, &variance);
            next[column] = sqrt(variance);
        }
    }
    if (deviation) memcpy(deviation, next, (size_t)width * sizeof *deviation);
    free(work);
    return 0;
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    const struct mlp mlp = mlp_of(shape);
    int64_t width = mlp.geometry.columns, kept = -1;
    double *row = malloc((size_t)width * sizeof *row);
    int status = row ? 0 : assay_error("out of host memory for the reference");
    for (int64_t at = begin; at < end && status == 0; at++) {
        if (at / width != kept) status = mlp_row_exact(&mlp, in, kept = at / width, row);
        expected[at - begin] = row[at % width];
        bound[at - begin] = 0;
    }
    free(row);
    return status;
}

static double reference_cost(const struct assay_shape *shape)
{
    const struct mlp mlp = mlp_of(shape);
    return (double)mlp.layers * (double)mlp.geometry.blocks;
}

static int64_t reference_run(const struct assay_shape *shape)
{
    return shape->value[MLP_WIDTH];
}

/* --------------------------------------------------------------- quality -- */

/* Up to 4 rows against the network that is not quantised; rows with values that are no number are
 * left out, and so is sqnr_db where no row is left. */
static int quality(const struct assay_shape *shape, const void *const host[],
                   struct assay_metric out[ASSAY_MAX_METRICS])
{
    enum { LOOKED = 4 };
    const struct mlp mlp = mlp_of(shape);
    int64_t width = mlp.geometry.columns, rows = mlp.geometry.rows;
    double *c = malloc((size_t)width * sizeof *c), error = 0, signal = 0;
    int64_t looked = rows < LOOKED ? rows : LOOKED;
    for (int64_t i = 0; i < looked && c; i++) {
        int64_t row = i * rows / looked;
        const float *got = (const float *)host[LINEAR_C] + row * width;
        if (mlp_row_plain(&mlp, (const float *)host[LINEAR_X] + row * width, host[LINEAR_W], c,
                          NULL))
            break;
        double row_error = 0, row_signal = 0;
        for (int64_t at = 0; at < width; at++) {
            row_error += ((double)got[at] - c[at]) * ((double)got[at] - c[at]);
            row_signal += c[at] * c[at];
        }
        if (!isfinite(row_signal)) continue;
        error += row_error;
        signal += row_signal;
    }
    free(c);
    if (!(error > 0) || !(signal > 0)) return 0;
    out[0] = (struct assay_metric){"sqnr_db", 10.0 * log10(signal / error)};
    return 1;
}

static const char *const baselines[] = {"cublas_fp32", "openblas", "host_scalar", NULL};

static const struct assay_operation operation = {
    .name = "quantized_mlp",
    .summary = "quantised layers, clipped between them: E8 codes, activations encoded in the call",
    .dims = {[MLP_ROWS] =
                 {.name = "rows", .summary = "rows of X", .fallback = 8, .min = 1, .max = 1 << 16},
             [MLP_WIDTH] = {.name = "width",
                            .summary = "entries of a row, in every layer",
                            .fallback = 64,
                            .min = 1,
                            .max = 1 << 13},
             [MLP_LAYERS] = {.name = "layers",
                             .summary = "layers",
                             .fallback = 3,
                             .min = 1,
                             .max = MLP_MOST_LAYERS},
             [MLP_CODE] = {.name = "code",
                           .summary = "nesting ratio q and levels m",
                           .choices = lut_code_names},
             [MLP_DATA] = {.name = "data",
                           .summary = "normal, sd 1 / sqrt(width), or with values beyond the code",
                           .choices = datas}},
    .supports = supports,
    .buffers = buffers,
    .fill = fill,
    .work = work,
    .reference = reference,
    .reference_cost = reference_cost,
    .reference_run = reference_run,
    .quality = quality,
    .baselines = baselines,
    .data_dims = "data",
};
ASSAY_REGISTER_OPERATION(operation);
