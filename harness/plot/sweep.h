/*
 * sweep.h - the rows of a run that belong in one picture: one operation whose
 * one size dim changes, while the other dims and the temperature stay. Pure.
 */
#ifndef SWEEP_H
#define SWEEP_H

#include "show/view.h"

enum { SWEEP_MAX_CURVES = 48, SWEEP_MAX_PANEL = RESULT_MAX_SHAPE + 16 };

/* One variant. */
struct sweep_curve {
    const char *variant;
    int32_t kind;
    double standing; /* geometric mean of its speed over the best of each size */
    int count;
    const struct view_row **rows; /* by size */
};

struct sweep {
    const char *operation;
    char dim[ASSAY_MAX_NAME];    /* that changes; "" none does */
    char panel[SWEEP_MAX_PANEL]; /* what stays: "input=fp32 cold" */
    int sizes;                   /* different values of dim */
    bool by_bytes;               /* the axis is bytes; else the dim: sizes move like bytes */
    bool is_ops;                 /* its rates are operations, for the most of its rows */
    int count;
    struct sweep_curve curve[SWEEP_MAX_CURVES]; /* baselines, then the best standing first */
};

/* Which rows may take part; NULL: any. */
struct sweep_filter {
    const char *operation;
    const char *cases; /* pattern of cases (case_name.h) */
    const char *only;  /* glob on the panel */
};

/* Choose the sweep with the most sizes, then the most rows, then the first
 * measured, among the ok rows that the filter takes. Rows measured for their
 * ceiling only are left out. sweep_release frees; the view must outlive it. -1
 * with assay_error when memory ends, 0 for none, 1 for one. */
int sweep_make(struct sweep *sweep, const struct view *view, const struct sweep_filter *filter);
void sweep_release(struct sweep *sweep);

/* A row's place on the axis: bytes, or the value of the dim. */
double sweep_x(const struct sweep *sweep, const struct view_row *row);

/* The rate of a row in the sweep's unit, for a time of `time_ns`. */
double sweep_rate(const struct sweep *sweep, const struct view_row *row, double time_ns);

#endif
