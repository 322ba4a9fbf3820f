/*
 * weight_only.h - weight_only_linear: activations in bf16 as they are, weights as codes of E8.
 *
 *   C = beta X decode(W)^T,  X [rows, K] bf16, W [columns, K / 8] codes, C [rows, columns] bf16
 *
 * beta is lut_beta of the code: what weights of standard deviation 1 were divided by when they were
 * encoded. Decoded weights are halves of whole numbers of at most 8 bits, exact in bf16.
 */
#pragma once

#include "lut.h"

/* Buffers: the operation's own names for LUT_A, LUT_B, LUT_C. */
enum { WEIGHT_ONLY_X = LUT_A, WEIGHT_ONLY_W = LUT_B, WEIGHT_ONLY_C = LUT_C };

/* A sum of products of activations and doubled coordinates, times this, is an element of C. */
LUT_FUNCTION float weight_only_scale(const struct lut_geometry *geometry)
{
    return 0.5f * lut_beta(geometry->q, geometry->levels);
}
