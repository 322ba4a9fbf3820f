/*
 * proof.h - whether two programs do the same in a case, by their fingerprints. Pure.
 *
 * What is the same is proven: the definition of the case and its inputs, all that was set up and
 * launched in its order, the machine code with all that it refers to, the arguments up to
 * addresses, and the versions of driver and libraries. Where times are made by the host too (a wall
 * clock, a copy to the host that a program may act upon, a variant of the host) the program's code
 * must be the same besides. What is not known is not proven.
 */
#pragma once

#include "case/fingerprint.h"

/* Whether the case is unchanged; if not, `why` is the first difference in words ("launch 2: block
 * 128 1 1, base 256 1 1"), or what is not known. */
bool proof_holds(const struct fingerprint *base, const struct fingerprint *candidate,
                 char why[ASSAY_MAX_REASON]);

/* What a gate does with a case. */
enum proof {
    PROOF_NONE,    /* not proven: measured */
    PROOF_HOLDS,   /* UNCHANGED, and not launched */
    PROOF_AUDITED, /* proven, and measured all the same */
};

struct proven_case {
    struct case_id id;
    enum proof proof;
    bool in_both;               /* programs, neither of which failed in it */
    char why[ASSAY_MAX_REASON]; /* of PROOF_NONE */
};

/* What is known of the cases of two programs, in the order of case_id_order. */
struct proof_plan {
    struct proven_case *cases;
    int count;
    int proven, audited, open; /* of these, by enum proof */
    bool audits_all; /* nothing else is to be measured, and this gate is the one in twenty */
};

/* One proven case in so many is measured all the same, drawn by the seed: each by itself where
 * others are measured too, else all of them or none, since it is the launches that take time. One
 * is where what is open is in one program only, as a launch of the other would have nothing to
 * measure. */
enum { PROOF_AUDIT = 20 };

/* Sorts both lists. A case that one side lacks is open. 0, or -1 with assay_error;
 * proof_plan_release frees. */
int proof_plan_make(struct proof_plan *plan, struct fingerprints *base,
                    struct fingerprints *candidate, uint64_t seed);
void proof_plan_release(struct proof_plan *plan);
/* NULL: the case is in neither list. */
const struct proven_case *proof_plan_find(const struct proof_plan *plan, const struct case_id *id);
