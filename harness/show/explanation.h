/*
 * explanation.h - why cases of two runs take different times (judge/account.h), from what is stored
 * of them: times, clocks and profiles.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "judge/account.h"
#include "judge/comparison.h"

/* The sets of counters that the terms take. */
#define EXPLANATION_COUNTERS "default,work"

/* What warps of a side waited for most; "" not known. */
struct explained_wait {
    char what[ASSAY_MAX_NAME];
    double cycles; /* per instruction */
};

struct explained_case {
    struct case_id id;
    struct account_facts facts[2]; /* base and candidate, as in all that follows */
    double lo_ns[2], hi_ns[2];     /* of the times */
    struct explained_wait wait[2];
    struct account account;
    bool uncountable; /* both sides were taken apart, and neither launches a kernel */
};

struct explanation {
    struct comparison_side side[2];
    struct explained_case *cases;
    int count;
    char difference[ASSAY_MAX_REASON]; /* in the comparability of the sides; "" none */
    /* The command that counts what was not counted, once for each build; "" nothing lacks. */
    char next[1024];
};

/* Explains the cases that the pattern names (case_matches) and that both runs, which have their
 * profiles, have a time of. 0, or -1 with assay_error; explanation_release frees. */
int explanation_make(struct explanation *explanation, const struct stored_run run[2],
                     const char *pattern);
void explanation_release(struct explanation *explanation);

/* Whether a term of any case is known. */
bool explanation_says(const struct explanation *explanation);

/* Format table, md or json, whose names are a public contract. 0, or -1 with assay_error. */
int explanation_write(FILE *out, const struct explanation *explanation, const char *format);
