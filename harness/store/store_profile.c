/* store_profile.c - profiles of results: profile, profile_kernel, profile_counter. */
#include <stdlib.h>
#include <string.h>

#include "device/profile.h"
#include "store/store_internal.h"

static FIELD_TABLE(profile_fields, FIELDS(profile, activities, span_ns, busy_ns, idle_ns, left_out,
                                          passes, counters_lost));

static FIELD_TABLE(kernel_fields, FIELD_OF_WORDS(profile_kernel, activity, activity_words),
                   FIELDS(profile_kernel, name, count), FIELD_AS("grid_x", profile_kernel, grid[0]),
                   FIELD_AS("grid_y", profile_kernel, grid[1]),
                   FIELD_AS("grid_z", profile_kernel, grid[2]),
                   FIELD_AS("block_x", profile_kernel, block[0]),
                   FIELD_AS("block_y", profile_kernel, block[1]),
                   FIELD_AS("block_z", profile_kernel, block[2]),
                   FIELDS(profile_kernel, registers, static_shared_bytes, dynamic_shared_bytes,
                          local_bytes, busy_ns, min_ns, max_ns));

/* -1 with assay_error when there is none. */
static int find_result(struct store *store, const char *launch_id, const struct case_id *id,
                       char result_id[STORE_ID])
{
    int found = store_find_case(store, launch_id, id, result_id);
    if (found != 0) return found < 0 ? -1 : 0;
    return assay_error("%s: there is no case %s/%s to profile", store->path, id->operation,
                       id->variant);
}

static int kernel_write(struct store *store, const char *result_id, int ordinal,
                        const struct profile_kernel *kernel)
{
    struct query query;
    row_open(&query, store, "store a profile", "profile_kernel", "");
    fields_bind(&query, kernel_fields, kernel);
    query_text(&query, ":result_id", result_id);
    query_integer(&query, ":ordinal", ordinal);
    return query_run(&query);
}

static int counters_write(struct store *store, const char *result_id, int kernel,
                          const struct profile *profile, const double *values)
{
    struct query query;
    row_open(&query, store, "store counters", "profile_counter", "");
    for (int i = 0; i < profile->counter_count; i++) {
        query_text(&query, ":result_id", result_id);
        query_integer(&query, ":kernel", kernel);
        query_integer(&query, ":ordinal", i + 1);
        query_text(&query, ":metric", profile->counter[i]);
        query_real(&query, ":value", values[i]);
        if (query_insert(&query) != 0) break;
    }
    return query_close(&query);
}

static int profile_write(struct store *store, const char *result_id, const struct profile *profile)
{
    struct query query;
    row_open(&query, store, "store a profile", "profile", "");
    fields_bind(&query, profile_fields, profile);
    query_text(&query, ":result_id", result_id);
    if (query_run(&query) != 0) return -1;
    for (int i = 0; i < profile->kernel_count; i++)
        if (kernel_write(store, result_id, i + 1, &profile->kernels[i]) != 0) return -1;
    if (profile->passes < 0) return 0;
    if (counters_write(store, result_id, 0, profile, profile->whole) != 0) return -1;
    for (int i = 0; i < profile->kernel_count; i++)
        if (profile->kernels[i].activity == CUPTI_KERNEL &&
            counters_write(store, result_id, i + 1, profile, profile->kernels[i].counter) != 0)
            return -1;
    return 0;
}

int store_profile(struct store *store, const char *launch_id, const struct case_id *id,
                  const struct profile *profile)
{
    static const char purpose[] = "store a profile";
    char result_id[STORE_ID];
    if (find_result(store, launch_id, id, result_id) != 0) return -1;
    if (store_begin(store, purpose) != 0) return -1;
    return store_finish(store, purpose, profile_write(store, result_id, profile));
}

static int read_kernels(struct store *store, const char *result_id, struct profile *profile)
{
    struct query query;
    query_ask(&query, store, "read a profile",
              "SELECT * FROM profile_kernel WHERE result_id = :key ORDER BY ordinal", result_id);
    while (profile->kernel_count < PROFILE_MAX_KERNELS && query_step(&query) == 1)
        fields_read(&query, kernel_fields, &profile->kernels[profile->kernel_count++]);
    return query_close(&query);
}

/* The counters of the whole launch come first and name the rest. */
static void take_counter(struct query *query, struct profile *profile)
{
    char metric[PROFILE_MAX_METRIC];
    int64_t kernel = column_integer(query, "kernel");
    column_text(query, "metric", metric, sizeof metric);
    int at = 0;
    while (at < profile->counter_count && strcmp(profile->counter[at], metric) != 0)
        at++;
    if (at == PROFILE_MAX_COUNTERS || kernel < 0 || kernel > profile->kernel_count) return;
    if (at == profile->counter_count)
        memcpy(profile->counter[profile->counter_count++], metric, sizeof metric);
    double *values = kernel == 0 ? profile->whole : profile->kernels[kernel - 1].counter;
    values[at] = column_real(query, "value");
}

static int read_counters(struct store *store, const char *result_id, struct profile *profile)
{
    struct query query;
    query_ask(&query, store, "read counters",
              "SELECT * FROM profile_counter WHERE result_id = :key"
              " ORDER BY kernel, ordinal",
              result_id);
    while (query_step(&query) == 1)
        take_counter(&query, profile);
    return query_close(&query);
}

int store_read_profile(struct store *store, const char *launch_id, const struct case_id *id,
                       struct profile *profile, bool *found)
{
    char result_id[STORE_ID];
    struct query query;
    profile_init(profile);
    *found = false;
    /* A name that was too long for a field of the case finds nothing: no reason to lose the run. */
    int known = store_find_case(store, launch_id, id, result_id);
    if (known <= 0) return known;
    query_ask(&query, store, "read a profile", "SELECT * FROM profile WHERE result_id = :key",
              result_id);
    *found = query_step(&query) == 1;
    if (*found) fields_read(&query, profile_fields, profile);
    if (query_close(&query) != 0) return -1;
    if (!*found) return 0;
    return read_kernels(store, result_id, profile) || read_counters(store, result_id, profile) ? -1
                                                                                               : 0;
}

int store_read_profiles(struct store *store, struct stored_run *run)
{
    struct profile *profile = malloc(sizeof *profile);
    run->profiles = calloc((size_t)run->case_count + 1, sizeof *run->profiles);
    int status = profile && run->profiles ? 0 : assay_error("out of memory for profiles");
    for (int i = 0; i < run->case_count && status == 0; i++) {
        const struct stored_case *stored = &run->cases[i];
        bool found = false;
        status = store_read_profile(store, stored->launch_id, &stored->result.id, profile, &found);
        if (status != 0 || !found) continue;
        run->profiles[i] = profile;
        profile = malloc(sizeof *profile);
        if (profile == NULL) status = assay_error("out of memory for profiles");
    }
    free(profile);
    return status;
}
