/*
 * random_effects.h - one estimate from the estimates of several nodes, where the nodes themselves
 * may differ: each node's true effect is drawn around the common one. Pure.
 *
 * Sources: DerSimonian and Laird, Controlled Clinical Trials 7 (1986), for the variance between
 * nodes by the method of moments; Hartung and Knapp, Statistics in Medicine 20 (2001), for the
 * error of the mean and its t distribution, never below the usual one (Roever, Knapp and Friede,
 * BMC Medical Research Methodology 15 (2015)); Viechtbauer and Cheung, Research Synthesis Methods
 * 1 (2010), for the deleted residual that tells a node which differs from the others.
 */
#pragma once

enum { RANDOM_EFFECTS_LEAST = 2 }; /* nodes */

/* What one node found. */
struct node_effect {
    double effect;
    double variance; /* of that estimate, above 0 */
};

struct pooled_effect {
    int nodes;
    double effect;  /* common mean; NAN without a node */
    double error;   /* its standard error by Hartung and Knapp; NAN with fewer than two nodes */
    double between; /* variance between nodes, 0 or more */
    double q;       /* Cochran's Q: chi-square of nodes - 1 where nodes do not differ */
};

struct pooled_effect random_effects(const struct node_effect *nodes, int count);

/* Half the width of the interval with this confidence; NAN unknown. */
double pooled_margin(const struct pooled_effect *pooled, double confidence);

/* p-value of "the common effect is above `limit`"; of "below": 1 less. 1 where it is unknown. */
double pooled_p_above(const struct pooled_effect *pooled, double limit);
double pooled_p_below(const struct pooled_effect *pooled, double limit);

/* Two-sided p-value that node `which` is drawn as the others are: its distance from what they say
 * without it. 1 with fewer than three others. */
double node_p_alike(const struct node_effect *nodes, int count, int which);
