/*
 * dims.h - the dims that every operation on lattice codes has, in the order of
 * LUT_ROWS ... LUT_INDEX. For designated initialisers; the sizes are the defaults.
 */
#pragma once

#include "lut.h"

#define LUT_DIMS(default_rows, default_k, default_columns)                                         \
    [LUT_ROWS] = {.name = "rows",                                                                  \
                  .summary = "rows of the left operand and of C",                                  \
                  .fallback = (default_rows),                                                      \
                  .min = 1,                                                                        \
                  .max = 1 << 20},                                                                 \
    [LUT_K] = {.name = "k",                                                                        \
               .summary = "entries of a row of either operand",                                    \
               .fallback = (default_k),                                                            \
               .min = 1,                                                                           \
               .max = 1 << 16},                                                                    \
    [LUT_COLUMNS] = {.name = "columns",                                                            \
                     .summary = "rows of the right operand, columns of C",                         \
                     .fallback = (default_columns),                                                \
                     .min = 1,                                                                     \
                     .max = 1 << 20},                                                              \
    [LUT_LATTICE] = {.name = "lattice",                                                            \
                     .summary = "lattice of the code",                                             \
                     .choices = codebook_lattice_names,                                            \
                     .fallback = CODEBOOK_E8},                                                     \
    [LUT_CODE] = {.name = "code",                                                                  \
                  .summary = "nesting ratio q and levels m",                                       \
                  .choices = lut_code_names},                                                      \
    [LUT_INDEX] = {.name = "index",                                                                \
                   .summary = "type of the indices as stored",                                     \
                   .choices = lut_index_names,                                                     \
                   .fallback = LUT_PACKED}
#define LUT_DIM_SCALED                                                                             \
    [LUT_SCALED] = {.name = "scaled",                                                              \
                    .summary = "a scale per block, from overload protection",                      \
                    .choices = lut_scaled_names}
