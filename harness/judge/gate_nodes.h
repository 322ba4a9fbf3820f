/*
 * gate_nodes.h - one verdict over nodes that each gated the same two programs. Pure.
 *
 * Of each node the rounds of its screen count: as many for every case, and chosen by nothing that
 * was seen in them. What a node found is the Hodges-Lehmann estimate of its log ratios; how well it
 * knows it, the spread of rounds, taken over all nodes of the case. Nodes are drawn from nodes like
 * them (random_effects.h), so that a verdict holds for the next one too, and not only for these.
 *
 * A case is REGRESSED or IMPROVED if the common change passes Holm's procedure over all cases at
 * `alpha`, against its floor; PASS if it is shown to be less than the floor, and that is one to
 * pass by, as in gate.h. The floor of a case is the largest that any node's own gate had. A node
 * disagrees if its own gate says otherwise and it lies apart from the others by more than chance
 * among as many nodes allows; that needs four nodes.
 */
#pragma once

#include "judge/gate.h"
#include "judge/random_effects.h"

enum { NODES_LEAST = RANDOM_EFFECTS_LEAST };

/* One node and one case. */
struct node_case {
    int node; /* the caller's number */
    struct gate_rounds rounds;
    enum verdict own; /* of its own gate */
    bool disagrees;   /* found */
    double change;    /* found: its log ratio */
};

struct nodes_case {
    /* given */
    struct node_case *nodes; /* those with GATE_LEAST_ROUNDS or more */
    int count;
    double threshold, floor; /* fractions */
    double quantum;          /* the part of the floor that is the clock's steps; 0 or NAN unknown */
    bool settled;            /* has its verdict: a node lost it, say */
    /* found */
    enum verdict verdict;
    const char *reason;     /* "" none */
    struct interval change; /* the common log ratio, with its 95 % interval */
    double p_slower, p_faster;
    double mde; /* a fraction; NAN unknown */
};

/* -1 with assay_error when out of memory. */
int gate_nodes_judge(struct nodes_case *cases, int count, double alpha);
