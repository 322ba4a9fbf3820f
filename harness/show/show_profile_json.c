/* show_profile_json.c - the profiles of a run as one JSON document. The names are a public
 * contract: format 1 may gain members but never loses or changes one. */
#include <stdio.h>

#include "base/json.h"
#include "case/shape.h"
#include "device/counter_sets.h"
#include "device/profile_rules.h"
#include "show/show_profile.h"

enum { FORMAT = 1 };

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

static void kernel_value(struct json *json, const struct profile *profile,
                         const struct profile_kernel *kernel)
{
    char verdict[PROFILE_MAX_WORDS];
    profile_kernel_verdict(profile, kernel, verdict);
    json_begin_object(json);
    json_text_member(json, "activity", activity_name(kernel->activity));
    json_text_member(json, "name", kernel->name[0] ? kernel->name : NULL);
    json_int_member(json, "count", kernel->count);
    dims_member(json, "grid", kernel->grid);
    dims_member(json, "block", kernel->block);
    json_count_member(json, "registers", kernel->registers);
    json_count_member(json, "static_shared_bytes", kernel->static_shared_bytes);
    json_count_member(json, "dynamic_shared_bytes", kernel->dynamic_shared_bytes);
    json_count_member(json, "local_bytes", kernel->local_bytes);
    json_number_member(json, "busy_ns", kernel->busy_ns);
    json_number_member(json, "min_ns", kernel->min_ns);
    json_number_member(json, "max_ns", kernel->max_ns);
    json_number_member(json, "share", kernel->busy_ns / profile->busy_ns);
    json_text_member(json, "bound", verdict[0] ? verdict : NULL);
    counters_member(json, profile, kernel->counter);
    json_end(json);
}

static void row_value(struct json *json, const struct case_result *result,
                      const struct profile *profile)
{
    json_begin_object(json);
    json_text_member(json, "operation", result->id.operation);
    json_text_member(json, "variant", result->id.variant);
    json_key(json, "shape");
    json_shape(json, result->id.shape);
    json_text_member(json, "temperature",
                     temperature_name((enum assay_temperature)result->id.temperature));
    json_number_member(json, "time_ns", result->time_ns);
    json_number_member(json, "span_ns", profile->span_ns);
    json_number_member(json, "busy_ns", profile->busy_ns);
    json_number_member(json, "idle_ns", profile->idle_ns);
    json_int_member(json, "activities", profile->activities);
    json_int_member(json, "left_out", profile->left_out);
    json_count_member(json, "passes", profile->passes);
    json_text_member(json, "counters_lost",
                     profile->counters_lost[0] ? profile->counters_lost : NULL);
    json_number_member(json, "needed_bytes", result->work.read_bytes + result->work.write_bytes);
    json_number_member(json, "traffic_ratio", profile_traffic_ratio(profile, &result->work));
    counters_member(json, profile, profile->whole);
    json_array_member(json, "kernels");
    for (int i = 0; i < profile->kernel_count; i++)
        kernel_value(json, profile, &profile->kernels[i]);
    json_end(json);
    json_end(json);
}

int show_profile_json(FILE *out, const struct stored_run *run, struct profile *const *profiles)
{
    struct json json;
    json_begin(&json, out, 2);
    json_begin_object(&json);
    json_text_member(&json, "assay", run->program.version);
    json_int_member(&json, "format", FORMAT);
    json_text_member(&json, "run", run->run.id);
    json_text_member(&json, "device", run->launch_count ? run->launches[0].device.name : NULL);
    json_array_member(&json, "rows");
    for (int i = 0; i < run->case_count; i++)
        if (profiles[i]) row_value(&json, &run->cases[i].result, profiles[i]);
    json_end(&json);
    json_end(&json);
    return json_finish(&json);
}
