#include <math.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "device/counter_sets.h"
#include "device/profile_rules.h"
#include "show/show_profile.h"

static const struct {
    const char *name;
    int (*show)(FILE *, const struct stored_run *, struct profile *const *);
} formats[] = {{"table", show_profile_text}, {"md", show_profile_md}, {"json", show_profile_json}};
enum { FORMATS = sizeof formats / sizeof *formats };

bool show_profile_knows_format(const char *format)
{
    for (int i = 0; i < FORMATS; i++)
        if (strcmp(formats[i].name, format) == 0) return true;
    assay_error("a profile is shown as table, md or json, not '%s'", format);
    return false;
}

int show_profiles(FILE *out, const struct stored_run *run, struct profile *const *profiles,
                  const char *format)
{
    for (int i = 0; i < FORMATS; i++)
        if (strcmp(formats[i].name, format) == 0) return formats[i].show(out, run, profiles);
    show_profile_knows_format(format);
    return -1;
}

int show_profile_count(const struct stored_run *run, struct profile *const *profiles)
{
    int count = 0;
    for (int i = 0; i < run->case_count; i++)
        count += profiles[i] != NULL;
    return count;
}

/* ------------------------------------------------------------------ words -- */

static void dims_text(char *out, size_t size, const int32_t dims[3])
{
    if (dims[1] == 1 && dims[2] == 1)
        snprintf(out, size, "%d", dims[0]);
    else
        snprintf(out, size, "(%d,%d,%d)", dims[0], dims[1], dims[2]);
}

void profile_shape_text(char *out, size_t size, const struct profile_kernel *kernel)
{
    char grid[48], block[48];
    out[0] = '\0';
    if (kernel->grid[0] < 0) return;
    dims_text(grid, sizeof grid, kernel->grid);
    dims_text(block, sizeof block, kernel->block);
    snprintf(out, size, "%s x %s", grid, block);
}

void profile_traffic_text(char *out, size_t size, const struct profile *profile,
                          const struct case_result *result)
{
    char moved[32], needed[32], ratio[UNITS_MAX];
    double bytes = profile_counter(profile, profile->whole, COUNTER_DRAM_READ) +
                   profile_counter(profile, profile->whole, COUNTER_DRAM_WRITE);
    double least = result->work.read_bytes + result->work.write_bytes;
    out[0] = '\0';
    if (isnan(bytes) || !(least > 0)) return;
    counter_text(moved, sizeof moved, COUNTER_BYTES, bytes);
    counter_text(needed, sizeof needed, COUNTER_BYTES, least);
    units_ratio(ratio, profile_traffic_ratio(profile, &result->work));
    snprintf(out, size, "DRAM moved %s where %s are needed: %s%s", moved, needed, ratio,
             bytes < 0.98 * least ? " (the caches had or kept the rest)" : "");
}

void profile_stalls_text(char *out, size_t size, const struct profile *profile,
                         const double *values)
{
    out[0] = '\0';
    for (int i = 0; i < 3; i++) {
        double cycles;
        const char *stall = profile_top_stall(profile, values, i, &cycles);
        if (stall == NULL || cycles < 0.05) break;
        text_add(out, size, ", ", "%s %.1f", stall, cycles);
    }
}
