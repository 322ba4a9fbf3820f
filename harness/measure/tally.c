#include "measure/tally.h"

#include <math.h>

static void add_value(struct tally_values *values, double expected)
{
    for (int i = 0; i < values->count; i++)
        if (values->value[i] == expected) return;
    if (values->count < TALLY_VALUES) values->value[values->count++] = expected;
}

void tally_values_merge(struct tally_values *into, const struct tally_values *from)
{
    for (int i = 0; i < from->count; i++)
        add_value(into, from->value[i]);
}

void tally_element(struct tally *tally, enum assay_match match, int64_t index, double expected,
                   double bound, double got)
{
    if (match == ASSAY_NEAR) {
        tally->near++;
        add_value(&tally->near_values, expected);
    }
    if (match == ASSAY_WRONG && tally->wrong++ == 0) {
        tally->first_wrong = index;
        tally->first_expected = expected;
        tally->first_got = got;
    }
    double error = fabs(got - expected);
    if (!(error <= tally->max_abs) && isfinite(error)) tally->max_abs = error;
    if (error > 0) tally->squares += error / bound * (error / bound);
    double relative = error / fabs(expected);
    if (!(relative <= tally->max_rel) && isfinite(relative)) tally->max_rel = relative;
}

void tally_merge(struct tally *into, const struct tally *from)
{
    if (from->wrong > 0 && (into->wrong == 0 || from->first_wrong < into->first_wrong)) {
        into->first_wrong = from->first_wrong;
        into->first_expected = from->first_expected;
        into->first_got = from->first_got;
    }
    into->near += from->near;
    tally_values_merge(&into->near_values, &from->near_values);
    into->wrong += from->wrong;
    into->squares += from->squares;
    if (from->max_abs > into->max_abs) into->max_abs = from->max_abs;
    if (from->max_rel > into->max_rel) into->max_rel = from->max_rel;
}
