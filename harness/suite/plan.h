/*
 * plan.h - what a run will measure: a suite's groups, on one device, as data.
 *
 * A suite (suite.h) names operations, dims and variants with lists, ranges and
 * size classes; the plan is all of that multiplied out and solved for a device.
 */
#pragma once

#include "assay.h"
#include "case/result.h"
#include "case/twins.h"
#include "suite/suite.h"

enum { PLAN_MAX_VARIANTS = 128 }; /* of one device; a group has a reason for each */

enum group_purpose { PURPOSE_CASE, PURPOSE_CEILING };
extern const struct words purpose_words;

/* One operation, shape and temperature: all its variants, measured together. */
struct group {
    struct assay_shape shape;
    enum assay_temperature temperature;
    enum group_purpose purpose;
    char label[ASSAY_MAX_NAME];    /* the suite's name for it, "[group LABEL]" */
    double budget_s;               /* sampling time a case */
    double precision_pct;          /* half width of the interval, of the median */
    double energy_s;               /* 0: only blocks that are long enough anyway */
    double timeout_s;              /* a step of a case (setup, check, block) */
    double threshold_pct;          /* smallest change that counts; 0: by the clocks */
    struct twin_goal twins;        /* of each variant and its twins; floor 0: there are none */
    char baseline[ASSAY_MAX_NAME]; /* the variant of the suite's choice; "": the operation's */
    int variant_count;
    const struct assay_variant *variant[PLAN_MAX_VARIANTS];
    char skip[PLAN_MAX_VARIANTS][ASSAY_MAX_REASON]; /* "" or why it is not run */
    bool expect_wrong[PLAN_MAX_VARIANTS];           /* it is there to show a mistake */
};

struct plan_options {
    const char *filter;   /* a pattern of cases (case_name.h), or NULL */
    double budget_s;      /* 0: the suite's */
    double precision_pct; /* 0: the suite's */
    bool with_ceilings;   /* put the ceilings that the groups need in front */
};

struct plan {
    char suite[ASSAY_MAX_NAME];
    struct group *groups; /* in the order measured */
    int count;
};

/* Multiply out `suite` for `device`. -1 with assay_error("file:line: ...") when
 * a dim is impossible or nothing is selected. plan_release frees. */
int plan_make(struct plan *plan, const struct suite *suite, const struct device_info *device,
              const struct plan_options *options);
void plan_release(struct plan *plan);

/* What identifies variant number `variant` of a group. */
void group_case_id(const struct group *group, int variant, struct case_id *id);

/* Put the twins of all variants beside them, in an order drawn by the seed. -1 with assay_error. */
int plan_add_twins(struct plan *plan, const struct device_info *device, uint64_t seed);
/* How many variants of the group can run beside a twin of the base that can run as well. */
int group_pairs(const struct group *group);

/* Add the groups of the suite `ceilings` whose ceiling the plan's groups need, in front. */
int plan_add_own_ceilings(struct plan *plan, const struct device_info *device);
