/*
 * student_t.h - Student's t distribution, for estimates whose spread is itself estimated from few
 * values. Degrees of freedom need not be whole.
 *
 * Source: Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 26.7.1 for t by the
 * incomplete beta function and 26.5.8 for its continued fraction.
 */
#pragma once

/* Probability of more than `t`. NAN for NAN, and for no degrees of freedom. */
double student_t_above(double t, double freedom);

/* The t that is exceeded with probability `p`, 0 < p < 1. */
double student_t_exceeded(double p, double freedom);
