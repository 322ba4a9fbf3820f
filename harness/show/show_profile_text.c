/* show_profile_text.c - the profiles of a run for a terminal. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "case/case_name.h"
#include "device/counter_sets.h"
#include "device/profile_rules.h"
#include "show/show_profile.h"

enum { WIDTH = 100, SHOWN_NAME = 96 };

static void head(FILE *out, const struct case_result *result, const struct case_result *before)
{
    char name[CASE_TEXT];
    if (before && strcmp(before->id.operation, result->id.operation) == 0 &&
        strcmp(before->id.shape, result->id.shape) == 0 &&
        before->id.temperature == result->id.temperature)
        return;
    case_group_text(&result->id, name);
    fprintf(out, "%s%s\n", before ? "\n" : "", name);
}

/* Append a figure to the line, or to a new line if it is full. */
static void figure(FILE *out, int *column, const char *label, const char *text)
{
    int length = (int)(strlen(label) + strlen(text)) + 3;
    if (*column > 0 && *column + length > WIDTH) {
        fprintf(out, "\n");
        *column = 0;
    }
    *column += *column == 0 ? fprintf(out, "      %s %s", label, text)
                            : fprintf(out, ", %s %s", label, text);
}

static void counters(FILE *out, const struct profile *profile, const double *values)
{
    char text[48], stalls[160];
    int column = 0;
    for (int i = 0; i < profile->counter_count; i++) {
        struct counter_label label = counter_label(profile->counter[i]);
        if (label.unit == COUNTER_CYCLES || isnan(values[i])) continue;
        counter_text(text, sizeof text, label.unit, values[i]);
        figure(out, &column, label.label, text);
    }
    if (column > 0) fprintf(out, "\n");
    profile_stalls_text(stalls, sizeof stalls, profile, values);
    if (stalls[0]) fprintf(out, "      waits, in cycles per instruction: %s\n", stalls);
}

static void summary(FILE *out, const struct case_result *result, const struct profile *profile)
{
    char span[UNITS_MAX], busy[UNITS_MAX], idle[UNITS_MAX], time[UNITS_MAX], traffic[128],
        verdict[PROFILE_MAX_WORDS];
    units_time(span, profile->span_ns);
    units_time(idle, profile->idle_ns);
    units_time(time, result->time_ns);
    fprintf(out, "\n  %s: %d activit%s in %s", result->id.variant, profile->activities,
            profile->activities == 1 ? "y" : "ies", span);
    if (profile->activities > 1)
        fprintf(out, ", %s of it in gaps (%.1f %%)", idle,
                100 * profile->idle_ns / fmax(profile->span_ns, 1));
    if (profile->busy_ns > 1.02 * profile->span_ns) {
        units_time(busy, profile->busy_ns);
        fprintf(out, ", overlapping (%s together)", busy);
    }
    fprintf(out, "; %s is its time\n", time);
    profile_traffic_text(traffic, sizeof traffic, profile, result);
    if (traffic[0]) fprintf(out, "  %s\n", traffic);
    if (profile->counters_lost[0])
        fprintf(out, "  %s: %s\n", profile->passes < 0 ? "no counters" : "counters",
                profile->counters_lost);
    if (!profile_is_whole(profile)) return;
    profile_verdict(profile, profile->whole, profile->span_ns, verdict);
    fprintf(out, "      %s\n", verdict);
    counters(out, profile, profile->whole);
}

static void resources(FILE *out, const struct profile_kernel *kernel)
{
    char shape[96], shared[UNITS_MAX];
    profile_shape_text(shape, sizeof shape, kernel);
    if (!shape[0]) return;
    units_bytes(shared, (double)kernel->static_shared_bytes + kernel->dynamic_shared_bytes);
    fprintf(out, "      %s, %d registers, %s shared", shape, kernel->registers, shared);
    if (kernel->local_bytes > 0) fprintf(out, ", %d B local", kernel->local_bytes);
    fprintf(out, "\n");
}

static void one_kernel(FILE *out, const struct profile *profile,
                       const struct profile_kernel *kernel)
{
    char time[UNITS_MAX], verdict[PROFILE_MAX_WORDS];
    bool cut = strlen(kernel->name) > SHOWN_NAME;
    units_time(time, kernel->busy_ns);
    fprintf(out, "    %5.1f %%  %s  ", 100 * kernel->busy_ns / profile->busy_ns, time);
    if (kernel->count > 1) fprintf(out, "%d of ", kernel->count);
    if (kernel->activity != CUPTI_KERNEL) {
        fprintf(out, "%s\n", activity_name(kernel->activity));
        return;
    }
    fprintf(out, "%.*s%s\n", SHOWN_NAME, kernel->name, cut ? "..." : "");
    resources(out, kernel);
    profile_kernel_verdict(profile, kernel, verdict);
    if (verdict[0]) fprintf(out, "      %s\n", verdict);
    counters(out, profile, kernel->counter);
}

int show_profile_text(FILE *out, const struct stored_run *run, struct profile *const *profiles)
{
    const struct case_result *before = NULL;
    for (int i = 0; i < run->case_count; i++) {
        const struct profile *profile = profiles[i];
        if (profile == NULL) continue;
        head(out, &run->cases[i].result, before);
        before = &run->cases[i].result;
        summary(out, before, profile);
        for (int k = 0; k < profile->kernel_count; k++)
            one_kernel(out, profile, &profile->kernels[k]);
        if (profile->left_out > 0)
            fprintf(out, "    and %d more, of kernels that differ from these\n", profile->left_out);
    }
    return ferror(out) ? assay_error("writing the profile failed") : 0;
}
