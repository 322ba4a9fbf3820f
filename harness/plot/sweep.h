/*
 * sweep.h - chooses the rows of a run for one picture: one operation with one size dim that
 * varies, while the other dims and the temperature are fixed. Pure.
 */
#pragma once

#include "plot/plot_data.h"

enum { SWEEP_MAX_CURVES = 48, SWEEP_MAX_PANEL = RESULT_MAX_SHAPE + 16 };

/* A row as a point of a sweep: points with equal operation, dim and panel are one sweep. */
struct sweep_point {
    const struct view_row *row;
    int swept;                   /* pair of its shape that varies; -1: none */
    double size;                 /* value of that pair */
    char dim[ASSAY_MAX_NAME];    /* name of that pair; "" none */
    char panel[SWEEP_MAX_PANEL]; /* what is fixed: "input=fp32 cold" */
    int curve;
};

/* One variant. */
struct sweep_curve {
    const char *variant;
    int32_t kind;
    double standing; /* geometric mean of its speed relative to the best of each size */
    int count;
    const struct sweep_point *point; /* sorted by size */
};

struct sweep {
    const char *operation, *dim, *panel; /* as of its points */
    int sizes;                           /* number of different values of dim */
    bool by_bytes; /* the axis is bytes, as they grow with the dim; else the dim */
    bool is_ops;   /* most of its rows have rates in operations */
    int count;
    struct sweep_curve curve[SWEEP_MAX_CURVES]; /* baselines, then by standing */
};

/* Choose the sweep with the most sizes, then the most rows, then the first measured, then the
 * first dim, among the ok rows that the request includes; its `only` is a glob on the panel.
 * Rows measured only for their ceiling are left out. The sweep is as long valid as the plot.
 * 1: found, 0: none, -1 with assay_error when out of memory. */
int sweep_make(struct sweep *sweep, struct plot *plot);

/* The position on the horizontal axis: bytes, or the value of the dim. */
double sweep_x(const struct sweep *sweep, const struct sweep_point *point);
