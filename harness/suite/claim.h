/*
 * claim.h - a sentence of a published document with a figure, and the two cases
 * that would show it. Claims stand in suites/claims.ini (docs/claims.md has the
 * manual), a section each:
 *
 *   [claim D3-5.50M]
 *   document = int8
 *   says = Custom CUDA vs PyTorch: 7-8x
 *   conditions = RTX 3070, 50M elements
 *   claimed = 7..8
 *   more = int8_quantize/unfused5 n=50M
 *   less = int8_quantize/rcp8_adjacent n=50M
 *
 * `more` is the case of which the document says that it takes more (time, bytes)
 * and `less` the other, so a ratio above 1 is the claimed direction. Every error
 * is one line, "FILE:LINE: what is wrong".
 */
#pragma once

#include "assay.h"
#include "base/units.h"
#include "suite/suite.h"

/* What of a case is compared. */
enum claim_quantity {
    CLAIM_TIME,       /* the case's own clock; the host's for both when these differ */
    CLAIM_WALL,       /* the host's clock, call to completed synchronisation */
    CLAIM_FIRST_CALL, /* setup and first launch */
    CLAIM_BYTES,      /* the least bytes of the operation */
    CLAIM_WORKSPACE,
    CLAIM_LAUNCHES, /* device activities of one call */
    CLAIM_METRIC,   /* a figure of quality, by name */
};

enum claim_rule {
    RULE_RATIO,      /* more over less, against a range of ratios */
    RULE_VALUE,      /* the figure of one case, against a range */
    RULE_DIFFERENCE, /* more less less, against a range; times in ns */
    RULE_NONE,       /* cannot be settled by a measurement; the note says why */
};

/* "operation/variant dim=value ... [cold|hot]"; dims not named have their default. */
struct claim_case {
    int line; /* 0: the claim has no such case */
    char operation[ASSAY_MAX_NAME], variant[ASSAY_MAX_NAME];
    struct suite_group group; /* what a suite would say to measure it */
    struct assay_shape shape; /* operation NULL: not in this program */
    enum assay_temperature temperature;
};

enum { CLAIM_MORE, CLAIM_LESS, CLAIM_SIDES };

struct claim {
    char id[ASSAY_MAX_NAME];
    char file[256];
    int line;
    char document[ASSAY_MAX_NAME];
    char says[SUITE_MAX_VALUE], conditions[SUITE_MAX_VALUE], note[SUITE_MAX_VALUE];
    double least, most; /* the range; NAN: open */
    enum claim_quantity quantity;
    char metric[ASSAY_MAX_NAME];
    enum claim_rule rule;
    bool awaits;                        /* may name what the program does not have yet */
    char missing[2 * ASSAY_MAX_REASON]; /* "" or what it does not have */
    struct claim_case side[CLAIM_SIDES];
};

struct claims {
    struct claim *item; /* in the order of the file */
    int count;
};

/* Read a claims file, by name or path as suite_read does. */
int claims_read(struct claims *claims, const char *name_or_path);
void claims_release(struct claims *claims);

/* Keep those of which a case matches the filter (case/case_name.h; NULL: all). How many. */
int claims_select(struct claims *claims, const char *filter);

/* One section. */
int claim_read(struct claim *claim, const struct suite_group *section);

/* Read side `which` of a claim whose id, file and `awaits` are known (claim_case.c). A case that
 * the program does not have is an error, or claim->missing where the claim awaits it. -1 with
 * assay_error. */
int claim_case_read(struct claim *claim, int which, const struct suite_key *key);

/* The groups that measure its cases, one when both are of one group; returns how
 * many. 0 when the program does not have them. */
int claim_groups(const struct claim *claim, struct suite_group groups[CLAIM_SIDES]);

/* "7 to 8x", "10.0 us to 2.00 ms", "at most 5e-07"; "" for no range. */
void claim_claimed_text(const struct claim *claim, char *out, size_t size);

/* A figure of the claim in its unit: "8x", "1.23 us", "2.00 MiB", "0.0712". */
void claim_figure_text(const struct claim *claim, double figure, char out[UNITS_MAX]);

const char *claim_quantity_name(enum claim_quantity quantity);
