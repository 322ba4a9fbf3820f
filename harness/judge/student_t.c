#include "judge/student_t.h"

#include <math.h>

/* The continued fraction of the incomplete beta function I_x(a, b), evaluated from the front
 * (Lentz's method: Press et al., Numerical Recipes, 3rd ed., 2007, section 5.2). It converges
 * quickly for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
    enum { MOST_TERMS = 1000 };
    const double tiny = 1e-300, enough = 1e-16;
    double c = 1, d = 1 - (a + b) * x / (a + 1), result;
    if (fabs(d) < tiny) d = tiny;
    d = result = 1 / d;
    for (int m = 1; m < MOST_TERMS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        const double terms[] = {even, odd};
        double step = 1;
        for (int i = 0; i < 2; i++) {
            d = 1 + terms[i] * d;
            c = 1 + terms[i] / c;
            if (fabs(d) < tiny) d = tiny;
            if (fabs(c) < tiny) c = tiny;
            d = 1 / d;
            step = c * d;
            result *= step;
        }
        if (fabs(step - 1) < enough) break;
    }
    return result;
}

/* I_x(a, b), with y = 1 - x given as well: near the ends only one of them is exact. */
static double incomplete_beta(double a, double b, double x, double y)
{
    if (x <= 0) return 0;
    if (y <= 0) return 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y));
    if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, y) / b;
}

double student_t_above(double t, double freedom)
{
    if (isnan(t) || !(freedom > 0)) return NAN;
    if (isinf(t)) return t > 0 ? 0 : 1;
    double all = freedom + t * t;
    double tail = 0.5 * incomplete_beta(freedom / 2, 0.5, freedom / all, t * t / all);
    return t > 0 ? tail : 1 - tail;
}

double student_t_exceeded(double p, double freedom)
{
    enum { HALVINGS = 200 };
    double lo = -1, hi = 1;
    if (!(freedom > 0) || !(p > 0 && p < 1)) return NAN;
    while (student_t_above(lo, freedom) < p)
        lo *= 2;
    while (student_t_above(hi, freedom) > p)
        hi *= 2;
    for (int i = 0; i < HALVINGS && lo < 0.5 * (lo + hi) && 0.5 * (lo + hi) < hi; i++) {
        double middle = 0.5 * (lo + hi);
        if (student_t_above(middle, freedom) > p)
            lo = middle;
        else
            hi = middle;
    }
    return 0.5 * (lo + hi);
}
