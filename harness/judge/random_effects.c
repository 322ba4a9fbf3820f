#include "judge/random_effects.h"

#include <math.h>

#include "judge/student_t.h"

/* Sums over the nodes without number `left_out` (-1: all), with weights 1 / (variance + between).
 */
struct sums {
    int nodes;
    double weight, square, effect; /* of w, w^2 and w * effect */
    double mean;
    double q; /* of w * (effect - mean)^2 */
};

static struct sums sum_up(const struct node_effect *nodes, int count, int left_out, double between)
{
    struct sums sums = {0};
    for (int i = 0; i < count; i++) {
        double weight = 1 / (nodes[i].variance + between);
        if (i == left_out) continue;
        sums.nodes++;
        sums.weight += weight;
        sums.square += weight * weight;
        sums.effect += weight * nodes[i].effect;
    }
    sums.mean = sums.effect / sums.weight;
    for (int i = 0; i < count; i++) {
        double away = nodes[i].effect - sums.mean;
        if (i != left_out) sums.q += away * away / (nodes[i].variance + between);
    }
    return sums;
}

static struct pooled_effect pool(const struct node_effect *nodes, int count, int left_out)
{
    struct sums fixed = sum_up(nodes, count, left_out, 0);
    struct pooled_effect pooled = {fixed.nodes, fixed.mean, NAN, 0, fixed.q};
    int freedom = fixed.nodes - 1;
    if (freedom < 1) return pooled;
    double scale = fixed.weight - fixed.square / fixed.weight;
    pooled.between = fmax((fixed.q - freedom) / scale, 0);
    struct sums random = sum_up(nodes, count, left_out, pooled.between);
    pooled.effect = random.mean;
    pooled.error = sqrt(fmax(random.q / freedom, 1) / random.weight);
    return pooled;
}

struct pooled_effect random_effects(const struct node_effect *nodes, int count)
{
    return pool(nodes, count, -1);
}

double pooled_margin(const struct pooled_effect *pooled, double confidence)
{
    return pooled->error * student_t_exceeded((1 - confidence) / 2, pooled->nodes - 1);
}

double pooled_p_above(const struct pooled_effect *pooled, double limit)
{
    double p = student_t_above((pooled->effect - limit) / pooled->error, pooled->nodes - 1);
    return isnan(p) ? 1 : p;
}

double pooled_p_below(const struct pooled_effect *pooled, double limit)
{
    double p = student_t_above((limit - pooled->effect) / pooled->error, pooled->nodes - 1);
    return isnan(p) ? 1 : p;
}

double node_p_alike(const struct node_effect *nodes, int count, int which)
{
    enum { LEAST_OTHERS = 3 };
    struct pooled_effect others = pool(nodes, count, which);
    if (others.nodes < LEAST_OTHERS) return 1;
    double spread = nodes[which].variance + others.between + others.error * others.error;
    double away = fabs(nodes[which].effect - others.effect) / sqrt(spread);
    double p = 2 * student_t_above(away, others.nodes - 1);
    return isnan(p) ? 1 : p;
}
