/* show_profile_md.c - the profiles of a run as Markdown. */
#include <stdio.h>

#include "base/markup.h"
#include "base/units.h"
#include "case/case_name.h"
#include "device/counter_sets.h"
#include "device/profile_rules.h"
#include "show/show_profile.h"

static void one_kernel(FILE *out, const struct profile *profile,
                       const struct profile_kernel *kernel)
{
    static const char *const shown[] = {COUNTER_DRAM, COUNTER_L2, COUNTER_SM, COUNTER_TENSOR,
                                        COUNTER_OCCUPANCY};
    char shape[96], time[UNITS_MAX], verdict[PROFILE_MAX_WORDS], text[48];
    profile_shape_text(shape, sizeof shape, kernel);
    units_time(time, kernel->busy_ns);
    profile_kernel_verdict(profile, kernel, verdict);
    md_print(out, "| %s | %d | %s | %s | %.1f %% ",
             kernel->activity == CUPTI_KERNEL ? kernel->name : activity_name(kernel->activity),
             kernel->count, shape, time, 100 * kernel->busy_ns / profile->busy_ns);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        counter_text(text, sizeof text, counter_label(shown[i]).unit,
                     profile_counter(profile, kernel->counter, shown[i]));
        md_print(out, "| %s ", text);
    }
    md_print(out, "| %s |\n", verdict);
}

int show_profile_md(FILE *out, const struct stored_run *run, struct profile *const *profiles)
{
    for (int i = 0; i < run->case_count; i++) {
        const struct case_result *result = &run->cases[i].result;
        char traffic[128], name[CASE_TEXT];
        if (profiles[i] == NULL) continue;
        case_text(&result->id, name);
        fprintf(out, "### %s\n\n", name);
        profile_traffic_text(traffic, sizeof traffic, profiles[i], result);
        if (traffic[0]) fprintf(out, "%s.\n\n", traffic);
        if (profiles[i]->counters_lost[0]) fprintf(out, "%s\n\n", profiles[i]->counters_lost);
        fputs("| kernel | count | grid x block | time | share | DRAM | L2 | SM | tensor |"
              " occupancy | bound |\n|---|--:|---|--:|--:|--:|--:|--:|--:|--:|---|\n",
              out);
        for (int k = 0; k < profiles[i]->kernel_count; k++)
            one_kernel(out, profiles[i], &profiles[i]->kernels[k]);
        fputc('\n', out);
    }
    return ferror(out) ? assay_error("writing the profile failed") : 0;
}
