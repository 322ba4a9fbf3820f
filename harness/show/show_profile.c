/* show_profile.c - the profiles of a run for a terminal, as Markdown and as one JSON document. The
 * names in JSON are a public contract: format 1 may gain members but never loses or changes one. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/field.h"
#include "base/json.h"
#include "base/markup.h"
#include "base/text.h"
#include "base/units.h"
#include "case/case_name.h"
#include "case/shape.h"
#include "device/counter_sets.h"
#include "device/profile_rules.h"
#include "show/show.h"

static void dims_text(char *out, size_t size, const int32_t dims[3])
{
    if (dims[1] == 1 && dims[2] == 1)
        snprintf(out, size, "%d", dims[0]);
    else
        snprintf(out, size, "(%d,%d,%d)", dims[0], dims[1], dims[2]);
}

void show_grid(char *out, size_t size, const struct profile_kernel *kernel)
{
    char grid[48], block[48];
    out[0] = '\0';
    if (kernel->grid[0] < 0) return;
    dims_text(grid, sizeof grid, kernel->grid);
    dims_text(block, sizeof block, kernel->block);
    snprintf(out, size, "%s x %s", grid, block);
}

/* "DRAM moved 250 MB where 250 MB are needed: 1.00x"; "" if unknown. */
static void traffic_text(char *out, size_t size, const struct profile *profile,
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
    snprintf(out, size, "DRAM moved %s where %s are needed: %s%s", moved, needed,
             units_ratio(ratio, profile_traffic_ratio(profile, &result->work)),
             bytes < 0.98 * least ? " (the caches had or kept the rest)" : "");
}

/* The three largest stalls, in cycles per instruction: "memory 12.1, fixed latency 3.0"; ""
 * if unknown. */
static void stalls_text(char *out, size_t size, const struct profile *profile, const double *values)
{
    out[0] = '\0';
    for (int i = 0; i < 3; i++) {
        double cycles;
        const char *stall = profile_top_stall(profile, values, i, &cycles);
        if (stall == NULL || cycles < 0.05) break;
        text_add(out, size, ", ", "%s %.1f", stall, cycles);
    }
}

/* --------------------------------------------------------------- terminal -- */

enum { LINE = 2048 }; /* bytes of a line before it is wrapped */

static void head(FILE *out, const struct case_result *result, const struct case_result *before,
                 int width)
{
    char name[CASE_TEXT];
    if (before && strcmp(before->id.operation, result->id.operation) == 0 &&
        strcmp(before->id.shape, result->id.shape) == 0 &&
        before->id.temperature == result->id.temperature)
        return;
    case_group_text(&result->id, name);
    if (before) fputc('\n', out);
    text_line(out, 0, width, "%s", name);
}

/* Append a figure to the line, or to a new line if it is full. */
static void figure(FILE *out, int *column, int width, const char *label, const char *text)
{
    int length = (int)(strlen(label) + strlen(text)) + 3;
    if (*column > 0 && *column + length > width) {
        fprintf(out, "\n");
        *column = 0;
    }
    *column += *column == 0 ? fprintf(out, "      %s %s", label, text)
                            : fprintf(out, ", %s %s", label, text);
}

static void counters(FILE *out, const struct profile *profile, const double *values, int width)
{
    char text[48], stalls[160];
    int column = 0;
    for (int i = 0; i < profile->counter_count; i++) {
        struct counter_label label = counter_label(profile->counter[i]);
        if (label.unit == COUNTER_CYCLES || isnan(values[i])) continue;
        counter_text(text, sizeof text, label.unit, values[i]);
        figure(out, &column, width, label.label, text);
    }
    if (column > 0) fprintf(out, "\n");
    stalls_text(stalls, sizeof stalls, profile, values);
    if (stalls[0]) text_line(out, 6, width, "waits, in cycles per instruction: %s", stalls);
}

static void summary(FILE *out, const struct case_result *result, const struct profile *profile,
                    int width)
{
    char text[LINE] = "", span[UNITS_MAX], busy[UNITS_MAX], idle[UNITS_MAX], time[UNITS_MAX],
         traffic[128], verdict[PROFILE_MAX_WORDS];
    text_add(text, sizeof text, "", "%s: %d activit%s in %s", result->id.variant,
             profile->activities, profile->activities == 1 ? "y" : "ies",
             units_time(span, profile->span_ns));
    if (profile->activities > 1)
        text_add(text, sizeof text, ", ", "%s of it in gaps (%.1f %%)",
                 units_time(idle, profile->idle_ns),
                 100 * profile->idle_ns / fmax(profile->span_ns, 1));
    if (profile->busy_ns > 1.02 * profile->span_ns)
        text_add(text, sizeof text, ", ", "overlapping (%s together)",
                 units_time(busy, profile->busy_ns));
    text_add(text, sizeof text, "; ", "%s is its time", units_time(time, result->time_ns));
    fputc('\n', out);
    text_line(out, 2, width, "%s", text);
    traffic_text(traffic, sizeof traffic, profile, result);
    text_line(out, 2, width, "%s", traffic);
    if (profile->counters_lost[0])
        text_line(out, 2, width, "%s: %s", profile->passes < 0 ? "no counters" : "counters",
                  profile->counters_lost);
    if (!profile_is_whole(profile)) return;
    profile_verdict(profile, profile->whole, profile->span_ns, verdict);
    text_line(out, 6, width, "%s", verdict);
    counters(out, profile, profile->whole, width);
}

static void resources(FILE *out, const struct profile_kernel *kernel, int width)
{
    char text[LINE] = "", shape[96], shared[UNITS_MAX];
    show_grid(shape, sizeof shape, kernel);
    if (!shape[0]) return;
    units_bytes(shared, (double)kernel->static_shared_bytes + kernel->dynamic_shared_bytes);
    text_add(text, sizeof text, "", "%s, %d registers, %s shared", shape, kernel->registers,
             shared);
    if (kernel->local_bytes > 0)
        text_add(text, sizeof text, ", ", "%d B local", kernel->local_bytes);
    text_line(out, 6, width, "%s", text);
}

static void kernel_lines(FILE *out, const struct profile *profile,
                         const struct profile_kernel *kernel, int width)
{
    char text[LINE] = "", time[UNITS_MAX], verdict[PROFILE_MAX_WORDS];
    bool is_kernel = kernel->activity == CUPTI_KERNEL;
    text_add(text, sizeof text, "", "%5.1f %%  %s  ", 100 * kernel->busy_ns / profile->busy_ns,
             units_time(time, kernel->busy_ns));
    if (kernel->count > 1) text_add(text, sizeof text, "", "%d of ", kernel->count);
    text_add(text, sizeof text, "", "%s",
             is_kernel ? kernel->name : activity_name(kernel->activity));
    text_line(out, 4, width, "%s", text);
    if (!is_kernel) return;
    resources(out, kernel, width);
    profile_kernel_verdict(profile, kernel, verdict);
    text_line(out, 6, width, "%s", verdict);
    counters(out, profile, kernel->counter, width);
}

static int write_text(FILE *out, const struct stored_run *run, struct profile *const *profiles,
                      int width)
{
    const struct case_result *before = NULL;
    for (int i = 0; i < run->case_count; i++) {
        const struct profile *profile = profiles[i];
        if (profile == NULL) continue;
        head(out, &run->cases[i].result, before, width);
        before = &run->cases[i].result;
        summary(out, before, profile, width);
        for (int k = 0; k < profile->kernel_count; k++)
            kernel_lines(out, profile, &profile->kernels[k], width);
        if (profile->left_out > 0)
            fprintf(out, "    and %d more, of kernels that differ from these\n", profile->left_out);
    }
    return ferror(out) ? assay_error("writing the profile failed") : 0;
}

/* --------------------------------------------------------------- Markdown -- */

static void kernel_row(FILE *out, const struct profile *profile,
                       const struct profile_kernel *kernel)
{
    static const char *const shown[] = {COUNTER_DRAM, COUNTER_L2, COUNTER_SM, COUNTER_TENSOR,
                                        COUNTER_OCCUPANCY};
    char shape[96], time[UNITS_MAX], verdict[PROFILE_MAX_WORDS], text[48];
    show_grid(shape, sizeof shape, kernel);
    profile_kernel_verdict(profile, kernel, verdict);
    md_print(out, "| %s | %d | %s | %s | %.1f %% ",
             kernel->activity == CUPTI_KERNEL ? kernel->name : activity_name(kernel->activity),
             kernel->count, shape, units_time(time, kernel->busy_ns),
             100 * kernel->busy_ns / profile->busy_ns);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        counter_text(text, sizeof text, counter_label(shown[i]).unit,
                     profile_counter(profile, kernel->counter, shown[i]));
        md_print(out, "| %s ", text);
    }
    md_print(out, "| %s |\n", verdict);
}

static int write_md(FILE *out, const struct stored_run *run, struct profile *const *profiles,
                    int width)
{
    (void)width; /* lines of a table must be whole */
    for (int i = 0; i < run->case_count; i++) {
        const struct case_result *result = &run->cases[i].result;
        char traffic[128], name[CASE_TEXT];
        if (profiles[i] == NULL) continue;
        case_text(&result->id, name);
        md_print(out, "### %s\n\n", name);
        traffic_text(traffic, sizeof traffic, profiles[i], result);
        if (traffic[0]) fprintf(out, "%s.\n\n", traffic);
        if (profiles[i]->counters_lost[0]) md_print(out, "%s\n\n", profiles[i]->counters_lost);
        fputs("| kernel | count | grid x block | time | share | DRAM | L2 | SM | tensor |"
              " occupancy | bound |\n|---|--:|---|--:|--:|--:|--:|--:|--:|--:|---|\n",
              out);
        for (int k = 0; k < profiles[i]->kernel_count; k++)
            kernel_row(out, profiles[i], &profiles[i]->kernels[k]);
        fputc('\n', out);
    }
    return ferror(out) ? assay_error("writing the profile failed") : 0;
}

/* ------------------------------------------------------------------- JSON -- */

static void dims_member(struct json *json, const char *key, const int32_t dims[3])
{
    json_key(json, key);
    if (dims[0] < 0) {
        json_null(json);
        return;
    }
    json_begin_array(json);
    for (int i = 0; i < 3; i++)
        json_int(json, dims[i]);
    json_end(json);
}

static void counters_member(struct json *json, const struct profile *profile, const double *values)
{
    json_object_member(json, "counters");
    for (int i = 0; i < profile->counter_count; i++)
        json_number_member(json, profile->counter[i], values[i]);
    json_end(json);
}

static FIELD_TABLE(kernel_fields,
                   FIELDS(profile_kernel, registers, static_shared_bytes, dynamic_shared_bytes,
                          local_bytes, busy_ns, min_ns, max_ns));
static FIELD_TABLE(profile_fields, FIELDS(profile, span_ns, busy_ns, idle_ns, activities, left_out,
                                          passes, counters_lost));

static void kernel_value(struct json *json, const struct profile *profile,
                         const struct profile_kernel *kernel)
{
    char verdict[PROFILE_MAX_WORDS];
    profile_kernel_verdict(profile, kernel, verdict);
    json_begin_object(json);
    json_text_member(json, "activity", activity_name(kernel->activity));
    json_known_member(json, "name", kernel->name);
    json_int_member(json, "count", kernel->count);
    dims_member(json, "grid", kernel->grid);
    dims_member(json, "block", kernel->block);
    json_fields(json, kernel_fields, kernel);
    json_number_member(json, "share", kernel->busy_ns / profile->busy_ns);
    json_known_member(json, "bound", verdict);
    counters_member(json, profile, kernel->counter);
    json_end(json);
}

static void row_value(struct json *json, const struct case_result *result,
                      const struct profile *profile)
{
    char verdict[PROFILE_MAX_WORDS] = "";
    if (profile_is_whole(profile))
        profile_verdict(profile, profile->whole, profile->span_ns, verdict);
    json_begin_object(json);
    json_text_member(json, "operation", result->id.operation);
    json_text_member(json, "variant", result->id.variant);
    json_text_member(json, "device", place_name(result->id.place));
    json_key(json, "shape");
    json_shape(json, result->id.shape);
    json_text_member(json, "temperature", temperature_name(result->id.temperature));
    json_number_member(json, "time_ns", result->time_ns);
    json_fields(json, profile_fields, profile);
    json_number_member(json, "needed_bytes", result->work.read_bytes + result->work.write_bytes);
    json_number_member(json, "traffic_ratio", profile_traffic_ratio(profile, &result->work));
    json_known_member(json, "bound", verdict);
    counters_member(json, profile, profile->whole);
    json_array_member(json, "kernels");
    for (int i = 0; i < profile->kernel_count; i++)
        kernel_value(json, profile, &profile->kernels[i]);
    json_end(json);
    json_end(json);
}

/* Whether a profile before this one has the counter too. */
static bool is_labelled(struct profile *const *profiles, int before, const char *metric)
{
    for (int i = 0; i < before; i++)
        for (int c = 0; profiles[i] && c < profiles[i]->counter_count; c++)
            if (!strcmp(profiles[i]->counter[c], metric)) return true;
    return false;
}

/* Name and unit of each counter that some profile has. */
static void labels_member(struct json *json, const struct stored_run *run,
                          struct profile *const *profiles)
{
    json_object_member(json, "labels");
    for (int i = 0; i < run->case_count; i++)
        for (int c = 0; profiles[i] && c < profiles[i]->counter_count; c++) {
            const struct counter_label label = counter_label(profiles[i]->counter[c]);
            if (is_labelled(profiles, i, label.metric)) continue;
            json_object_member(json, label.metric);
            json_text_member(json, "label", label.label);
            json_text_member(json, "unit", counter_unit_name(label.unit));
            json_end(json);
        }
    json_end(json);
}

static int write_json(FILE *out, const struct stored_run *run, struct profile *const *profiles,
                      int width)
{
    (void)width;
    struct json json;
    json_begin(&json, out, 2);
    json_begin_object(&json);
    json_text_member(&json, "assay", run->program.version);
    json_int_member(&json, "format", 1);
    json_text_member(&json, "run", run->run.id);
    json_text_member(&json, "device", run->launch_count ? run->launches[0].device.name : NULL);
    labels_member(&json, run, profiles);
    json_array_member(&json, "rows");
    for (int i = 0; i < run->case_count; i++)
        if (profiles[i]) row_value(&json, &run->cases[i].result, profiles[i]);
    return json_finish(&json);
}

/* ---------------------------------------------------------------- formats -- */

int show_profile_count(const struct stored_run *run, struct profile *const *profiles)
{
    int count = 0;
    for (int i = 0; i < run->case_count; i++)
        count += profiles[i] != NULL;
    return count;
}

static const struct {
    const char *name;
    int (*show)(FILE *, const struct stored_run *, struct profile *const *, int width);
} formats[] = {{"table", write_text}, {"md", write_md}, {"json", write_json}};
enum { FORMATS = sizeof formats / sizeof *formats };

static int format_of(const char *name)
{
    for (int i = 0; i < FORMATS; i++)
        if (strcmp(formats[i].name, name) == 0) return i;
    return assay_error("a profile is shown as table, md or json, not '%s'", name);
}

bool show_profile_knows_format(const char *format)
{
    return format_of(format) >= 0;
}

int show_profiles(FILE *out, const struct stored_run *run, struct profile *const *profiles,
                  const char *format, int width)
{
    int which = format_of(format);
    return which < 0 ? -1 : formats[which].show(out, run, profiles, width);
}
