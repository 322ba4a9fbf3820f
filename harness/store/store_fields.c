/* store_fields.c - which member of which struct is stored in which column. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "case/registry.h"
#include "store/store_internal.h"

/* -------------------------------------------------------------- tables -- */

#define CLOCK(owner) FIELD("clock", FIELD_SOME_WORD, owner, clock, &clock_words)

FIELD_TABLE(program_fields, FIELDS(program_info, version),
            FIELD_AS("git_commit", program_info, commit),
            FIELDS(program_info, diff_hash, compiler, flags, nvcc, nvcc_flags));

FIELD_TABLE(host_fields,
            FIELDS(host_info, hostname, cpu, kernel, os, container, cores, memory_bytes));

FIELD_TABLE(object_fields, FIELDS(object_info, name, sha256),
            FIELD_AS("git_commit", object_info, commit));

FIELD_TABLE(run_fields, FIELDS(run_info, suite, label, command, simulated));

FIELD_TABLE(shard_fields, FIELD_AS("shard_index", shard, index),
            FIELD_AS("shard_count", shard, count), FIELD_AS("shard_group", shard, group),
            FIELD_AS("shard_cut", shard, cut));

FIELD_TABLE(device_fields, FIELD_OF_WORDS(device_info, place, place_words),
            FIELDS(device_info, simulated, name, uuid, vbios, compute_capability, multiprocessors,
                   l1_bytes, cache_bytes, memory_bytes, sm_mhz_max, memory_mhz_max));

FIELD_TABLE(session_fields, FIELDS(device_info, spec, driver, runtime, library),
            FIELD("lost", FIELD_LINES, device_info, lost, NULL),
            FIELDS(device_info, power_limit_w, ecc, mig), CLOCK(device_info),
            FIELD_OF_WORDS(device_info, flush, flush_words),
            FIELDS(device_info, event_floor_ns, kernel_floor_ns, clock_step_ns));

FIELD_TABLE(launch_fields, FIELDS(launch_info, number, seed));

#define STATE(when, member) FIELD_AS(when #member, device_state, member)
#define STATES(when)                                                                               \
    STATE(when, sm_mhz), STATE(when, memory_mhz), STATE(when, temperature_c),                      \
        STATE(when, power_w), STATE(when, energy_mj), STATE(when, clock_reasons),                  \
        STATE(when, other_processes)

FIELD_TABLE(start_fields, STATES("start_"));
FIELD_TABLE(end_fields, STATES("end_"));

FIELD_TABLE(health_fields, FIELDS(card_health, link_width, link_width_max, link_generation,
                                  link_generation_max, ecc_uncorrected));

FIELD_TABLE(around_fields,
            FIELDS(surroundings, processors, start_load, end_load, other_share, steal_share));

FIELD_TABLE(case_fields, FIELDS(case_id, operation, variant),
            FIELD_OF_WORDS(case_id, kind, kind_words), FIELD_OF_WORDS(case_id, place, place_words),
            FIELDS(case_id, shape), FIELD_OF_WORDS(case_id, temperature, temperature_words));

#define OPS(name, arithmetic) FIELD_AS(name, case_result, work.ops[arithmetic])

FIELD_TABLE(result_fields, FIELD_OF_WORDS(case_result, status, status_words),
            FIELDS(case_result, reason, note), CLOCK(case_result),
            FIELDS(case_result, is_baseline, time_ns, lo_ns, hi_ns, busy_ns, event_ns, wall_ns,
                   first_call_ns),
            FIELD_AS("read_bytes", case_result, work.read_bytes),
            FIELD_AS("write_bytes", case_result, work.write_bytes), OPS("ops_fp32", ASSAY_FP32),
            OPS("ops_tf32", ASSAY_TF32), OPS("ops_bf16", ASSAY_BF16_OPS),
            OPS("ops_fp16", ASSAY_FP16_OPS), OPS("ops_int8", ASSAY_INT8_OPS),
            OPS("ops_fp64", ASSAY_FP64), OPS("ops_fp8", ARITHMETIC_FP8),
            FIELDS(case_result, workspace_bytes, kernels, energy_mj, power_w, sm_mhz, temperature_c,
                   clock_reasons, outputs, checked, max_abs_error, max_rel_error, near_share,
                   code_hash, registers, shared_bytes, local_bytes));

FIELD_TABLE(span_fields, FIELDS(stage_span, lane, name, begin_ns, end_ns));

FIELD_TABLE(time_fields, FIELDS(stored_run, started_at, ended_at, status));

/* ------------------------------------------------------------- binding -- */

static void field_bind(struct query *query, const struct field *field, const void *at)
{
    char name[64];
    snprintf(name, sizeof name, ":%s", field->name);
    switch (field->type) {
    case FIELD_TEXT:
    case FIELD_LINES:
        query_text(query, name, at);
        break;
    case FIELD_POINTER:
        query_text(query, name, *(const char *const *)at);
        break;
    case FIELD_REAL:
        query_real(query, name, *(const double *)at);
        break;
    case FIELD_COUNT:
        query_count(query, name, *(const int32_t *)at);
        break;
    case FIELD_COUNT64:
        query_count(query, name, *(const int64_t *)at);
        break;
    case FIELD_BITS:
        query_integer(query, name, (int64_t) * (const uint64_t *)at);
        break;
    case FIELD_FLAG:
        query_integer(query, name, *(const bool *)at);
        break;
    case FIELD_WORD:
    case FIELD_SOME_WORD:
        if (*(const int32_t *)at >= 0)
            query_text(query, name, words_name(field->words, *(const int32_t *)at));
        break;
    }
}

void fields_bind(struct query *query, const struct field *fields, const void *base)
{
    for (const struct field *field = fields; field->name; field++)
        field_bind(query, field, (const char *)base + field->offset);
}

static void word_read(struct query *query, const struct field *field, int32_t *at)
{
    char word[ASSAY_MAX_NAME];
    column_text(query, field->name, word, sizeof word);
    if (query->rc != SQLITE_OK) return;
    *at = words_find(field->words, word);
    if (*at >= 0 || (!*word && field->type == FIELD_SOME_WORD)) return;
    query_refuse(query, "'%s' is no %s that this version knows", word, field->words->what);
}

static void field_read(struct query *query, const struct field *field, void *at)
{
    switch (field->type) {
    case FIELD_TEXT:
        column_text(query, field->name, at, field->size);
        break;
    case FIELD_LINES:
        column_lines(query, field->name, at, field->size);
        break;
    case FIELD_POINTER: /* nobody would own it */
        query_refuse(query, "%s is only written", field->name);
        break;
    case FIELD_REAL:
        *(double *)at = column_real(query, field->name);
        break;
    case FIELD_COUNT:
        *(int32_t *)at = (int32_t)column_count(query, field->name);
        break;
    case FIELD_COUNT64:
        *(int64_t *)at = column_count(query, field->name);
        break;
    case FIELD_BITS:
        *(uint64_t *)at = (uint64_t)column_integer(query, field->name);
        break;
    case FIELD_FLAG:
        *(bool *)at = column_integer(query, field->name) != 0;
        break;
    case FIELD_WORD:
    case FIELD_SOME_WORD:
        word_read(query, field, at);
        break;
    }
}

void fields_read(struct query *query, const struct field *fields, void *base)
{
    for (const struct field *field = fields; field->name; field++)
        field_read(query, field, (char *)base + field->offset);
}

void case_read(struct query *query, struct case_id *id)
{
    const struct assay_variant *known[REGISTRY_MAX_VARIANTS];
    fields_read(query, case_fields, id);
    if (query->rc != SQLITE_OK || id->kind != ASSAY_BASELINE) return;
    int count = registry_variants(id->operation, known, REGISTRY_MAX_VARIANTS);
    for (int i = 0; i < count; i++)
        if (known[i]->kind == ASSAY_BOUND && (int32_t)known[i]->place == id->place &&
            strcmp(known[i]->name, id->variant) == 0)
            id->kind = ASSAY_BOUND;
}

void fields_hash(struct id_hash *hash, const struct field *fields, const void *base)
{
    for (const struct field *field = fields; field->name; field++) {
        const void *at = (const char *)base + field->offset;
        if (field->type == FIELD_TEXT || field->type == FIELD_LINES)
            id_hash_text(hash, at);
        else if (field->words)
            id_hash_text(hash, words_name(field->words, *(const int32_t *)at));
        else if (field->type == FIELD_REAL && isnan(*(const double *)at))
            id_hash_text(hash, ""); /* the bits of a NAN say nothing */
        else
            id_hash_bytes(hash, at, field->size);
    }
}

/* ------------------------------------------------------------- inserts -- */

int table_columns_read(struct table_columns *table, struct store *store, const char *name)
{
    struct query query;
    const int most = sizeof table->column / sizeof *table->column;
    table->name = name;
    table->count = 0;
    query_ask(&query, store, "read the schema",
              "SELECT name, type FROM pragma_table_info(:key) ORDER BY cid", name);
    while (table->count < most && query_step(&query) == 1) {
        char type[16];
        column_text(&query, "name", table->column[table->count].name, sizeof table->column->name);
        column_text(&query, "type", type, sizeof type);
        table->column[table->count++].type = type[0];
    }
    return query_close(&query);
}

void insert_open(struct query *query, struct store *store, const char *purpose,
                 const struct table_columns *columns, const char *conflict)
{
    sqlite3_str *names = sqlite3_str_new(NULL), *values = sqlite3_str_new(NULL);
    for (int i = 0; i < columns->count; i++) {
        sqlite3_str_appendf(names, "%s%s", i ? ", " : "", columns->column[i].name);
        sqlite3_str_appendf(values, "%s:%s", i ? ", " : "", columns->column[i].name);
    }
    char *of = sqlite3_str_finish(names), *what = sqlite3_str_finish(values);
    char *sql =
        sqlite3_mprintf("INSERT INTO %s (%s) VALUES (%s) %s", columns->name, of, what, conflict);
    query_open(query, store, purpose, sql ? sql : "");
    sqlite3_free(of);
    sqlite3_free(what);
    sqlite3_free(sql);
}

void row_open(struct query *query, struct store *store, const char *purpose, const char *table,
              const char *conflict)
{
    struct table_columns columns;
    *query = (struct query){.store = store, .purpose = purpose, .rc = SQLITE_ERROR};
    if (table_columns_read(&columns, store, table) == 0)
        insert_open(query, store, purpose, &columns, conflict);
}
