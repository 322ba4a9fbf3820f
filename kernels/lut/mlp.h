/*
 * mlp.h - quantized_mlp: several quantised layers one after the other, as wide as they are deep.
 *
 *   Y_1 = linear(r_1 X), Y_l = linear(r_2 clip(Y_(l-1))), C = Y_L
 *   linear(V) = beta decode(encode(V)) . decode(W_l)^T, E8, packed
 *
 * where X is [rows, width], each W_l is [width, width / 8] codes, and V is rounded as in linear.h.
 * r_1 brings the standard deviation of X to the recommended 1 / beta (normal data and data with
 * extreme values: 1; rows of unit norm: 1 / sqrt(width)). r_2 is fixed too: 1 / a, where a is
 * the power of two nearest to what a layer of random codes amplifies by, sqrt(width) times a
 * weight's deviation. clip keeps values from -2 a to 2 a (a "hard tanh", an odd function: weights
 * of random codes have a mean, and behind a ReLU it would outweigh the signal).
 * Weights are uniform over the points of a lattice in q^M cells, so that is sqrt(G (q^2M - 1)) with
 * the second moment G = 929/12960 of E8 (Conway and Sloane, Sphere Packings, Lattices and Groups,
 * chapter 21, table 21.2).
 *
 * Every layer is exact as in linear.h, so C is.
 */
#pragma once

#include "linear.h"

enum { MLP_ROWS, MLP_WIDTH, MLP_LAYERS, MLP_CODE, MLP_DATA };
enum { MLP_GAUSSIAN, MLP_UNIT_NORM, MLP_EXTREME };
enum { MLP_MOST_LAYERS = 16 };

/* A shape, worked out. Buffers are LINEAR_X, LINEAR_W (one layer after the other) and LINEAR_C. */
struct mlp {
    struct assay_shape layer; /* of quantized_linear */
    struct lut_geometry geometry;
    int layers;
    int64_t layer_bytes; /* of a layer's codes */
    float r[2];          /* r_1 / beta and r_2 / beta */
    float limit;         /* 2 a */
};

#ifdef __cplusplus
extern "C" {
#endif

/* Of quantized_mlp, or of quantized_linear as one layer, without limit and layer_bytes. */
struct mlp mlp_of(const struct assay_shape *shape);

/* r of layer `layer`, counted from 0, and what its input is clipped at. */
static inline float mlp_r(const struct mlp *mlp, int layer)
{
    return mlp->r[layer > 0];
}

static inline float mlp_limit(const struct mlp *mlp, int layer)
{
    return layer > 0 ? mlp->limit : INFINITY;
}

/* One row through all layers: in whole numbers, or as a network that is not quantised, whose C is
 * off by `deviation` (a standard deviation; may be NULL) in fp32. 0 or -1. */
int mlp_row_exact(const struct mlp *mlp, const void *const in[], int64_t row, double *c);
int mlp_row_plain(const struct mlp *mlp, const float *x, const void *w, double *c,
                  double *deviation);

/* linear.cu, for the library's network. Enqueue: values are clipped in place. */
int mlp_clip(float *values, int64_t count, float limit, void *stream);

#ifdef __cplusplus
}
#endif
