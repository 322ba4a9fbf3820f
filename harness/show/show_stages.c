#include "show/show_stages.h"

#include <math.h>
#include <string.h>

/* In the order in which a batch passes them. */
static const struct {
    const char *name, *total, *each;
} stages[SHOW_STAGES] = {
    {"alloc", "alloc_ns", "alloc_each_ns"}, {"staging", "staging_ns", "staging_each_ns"},
    {"h2d", "h2d_ns", "h2d_each_ns"},       {"compute", "compute_ns", "compute_each_ns"},
    {"d2h", "d2h_ns", "d2h_each_ns"},
};

/* A metric by name; NAN if the case has none. */
static double figure(const struct case_result *result, const char *name)
{
    for (int i = 0; i < result->metric_count; i++)
        if (strcmp(result->metrics[i].name, name) == 0) return result->metrics[i].value;
    return NAN;
}

int show_stages(const struct case_result *result, struct show_stage out[SHOW_STAGES])
{
    int count = 0;
    double calls = figure(result, "calls");
    if (result->status != STATUS_OK || !(calls > 0)) return 0;
    for (int i = 0; i < SHOW_STAGES; i++) {
        double total_ns = figure(result, stages[i].total), each_ns = figure(result, stages[i].each);
        if (!(total_ns >= 0)) continue; /* no such stage, or too short to be measured */
        struct show_stage *stage = &out[count++];
        *stage = (struct show_stage){stages[i].name, (int64_t)calls, "", ""};
        units_time(stage->total, total_ns);
        units_time(stage->each, isnan(each_ns) ? total_ns / calls : each_ns);
    }
    return count;
}
