/*
 * dims.h - the dims that the three operations have in common, in the order of
 * lattice.h, as initialisers of assay_operation.dims.
 */
#pragma once

#define LATTICE_DIMS                                                                               \
    [DIM_ROWS] = {.name = "rows",                                                                  \
                  .summary = "rows of x",                                                          \
                  .fallback = 256,                                                                 \
                  .min = 1,                                                                        \
                  .max = (int64_t)1 << 24},                                                        \
    [DIM_COLUMNS] = {.name = "columns",                                                            \
                     .summary = "entries per row, cut into blocks of d",                           \
                     .fallback = 4096,                                                             \
                     .min = 1,                                                                     \
                     .max = (int64_t)1 << 24},                                                     \
    [DIM_LATTICE] = {.name = "lattice",                                                            \
                     .summary = "d = 2, 2 (hexagonal), 4 or 8",                                    \
                     .choices = lattice_names,                                                     \
                     .fallback = LATTICE_E8},                                                      \
    [DIM_CODE] = {.name = "code",                                                                  \
                  .summary = "q values per digit, M levels: q^M steps per entry",                  \
                  .choices = lattice_codes,                                                        \
                  .fallback = CODE_Q4M2},                                                          \
    [DIM_SCALING] = {.name = "scaling",                                                            \
                     .summary = "divide by beta, or beta = 1",                                     \
                     .choices = lattice_scalings},                                                 \
    [DIM_OVERLOAD] = {.name = "overload",                                                          \
                      .summary =                                                                   \
                          "double beta until it fits: not at all, per block, for the tensor",      \
                      .choices = lattice_overloads}

#define LATTICE_DIM_TYPE                                                                           \
    {                                                                                              \
        .name = "type", .summary = "of the codes: an integer per block, or a digit per element",   \
        .choices = lattice_types                                                                   \
    }

#define LATTICE_DIM_DATA                                                                           \
    {                                                                                              \
        .name = "data",                                                                            \
        .summary = "normal at the code's scale, sd 1 / sqrt(columns), or with values beyond",      \
        .choices = lattice_datas                                                                   \
    }
