/* store_fields.c - which member of which struct is stored in which column. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "case/registry.h"
#include "store/store_internal.h"

/* -------------------------------------------------------------- tables -- */

#define TEXT(owner, member)        FIELD(#member, FIELD_TEXT, owner, member, NULL)
#define REAL(owner, member)        FIELD(#member, FIELD_REAL, owner, member, NULL)
#define COUNT(owner, member)       FIELD(#member, FIELD_COUNT, owner, member, NULL)
#define COUNT64(owner, member)     FIELD(#member, FIELD_COUNT64, owner, member, NULL)
#define BITS(owner, member)        FIELD(#member, FIELD_BITS, owner, member, NULL)
#define FLAG(owner, member)        FIELD(#member, FIELD_FLAG, owner, member, NULL)
#define WORD(owner, member, words) FIELD(#member, FIELD_WORD, owner, member, &words)
#define CLOCK(owner)               FIELD("clock", FIELD_SOME_WORD, owner, clock, &clock_words)

const struct field program_fields[] = {
    TEXT(program_info, version),    FIELD("git_commit", FIELD_TEXT, program_info, commit, NULL),
    TEXT(program_info, diff_hash),  TEXT(program_info, compiler),
    TEXT(program_info, flags),      TEXT(program_info, nvcc),
    TEXT(program_info, nvcc_flags), {0},
};

const struct field host_fields[] = {
    TEXT(host_info, hostname),        TEXT(host_info, cpu),
    TEXT(host_info, kernel),          TEXT(host_info, os),
    TEXT(host_info, container),       COUNT(host_info, cores),
    COUNT64(host_info, memory_bytes), {0},
};

const struct field object_fields[] = {
    TEXT(object_info, name),
    TEXT(object_info, sha256),
    FIELD("git_commit", FIELD_TEXT, object_info, commit, NULL),
    {0},
};

const struct field run_fields[] = {
    TEXT(run_info, suite),
    TEXT(run_info, label),
    TEXT(run_info, command),
    FLAG(run_info, simulated),
    {0},
};

const struct field shard_fields[] = {
    FIELD("shard_index", FIELD_COUNT, shard, index, NULL),
    FIELD("shard_count", FIELD_COUNT, shard, count, NULL),
    FIELD("shard_group", FIELD_TEXT, shard, group, NULL),
    FIELD("shard_cut", FIELD_TEXT, shard, cut, NULL),
    {0},
};

const struct field device_fields[] = {
    WORD(device_info, place, place_words),
    FLAG(device_info, simulated),
    TEXT(device_info, name),
    TEXT(device_info, uuid),
    TEXT(device_info, vbios),
    COUNT(device_info, compute_capability),
    COUNT(device_info, multiprocessors),
    COUNT64(device_info, l1_bytes),
    COUNT64(device_info, cache_bytes),
    COUNT64(device_info, memory_bytes),
    REAL(device_info, sm_mhz_max),
    REAL(device_info, memory_mhz_max),
    {0},
};

const struct field session_fields[] = {
    TEXT(device_info, spec),
    TEXT(device_info, driver),
    TEXT(device_info, runtime),
    TEXT(device_info, library),
    FIELD("lost", FIELD_LINES, device_info, lost, NULL),
    REAL(device_info, power_limit_w),
    COUNT(device_info, ecc),
    COUNT(device_info, mig),
    CLOCK(device_info),
    WORD(device_info, flush, flush_words),
    REAL(device_info, event_floor_ns),
    REAL(device_info, kernel_floor_ns),
    REAL(device_info, clock_step_ns),
    {0},
};

const struct field launch_fields[] = {
    COUNT(launch_info, number),
    BITS(launch_info, seed),
    {0},
};

#define STATE(when, member, type) FIELD(when #member, type, device_state, member, NULL)
#define STATES(when)                                                                               \
    STATE(when, sm_mhz, FIELD_REAL), STATE(when, memory_mhz, FIELD_REAL),                          \
        STATE(when, temperature_c, FIELD_REAL), STATE(when, power_w, FIELD_REAL),                  \
        STATE(when, energy_mj, FIELD_REAL), STATE(when, clock_reasons, FIELD_BITS),                \
        STATE(when, other_processes, FIELD_COUNT)

const struct field start_fields[] = {STATES("start_"), {0}};
const struct field end_fields[] = {STATES("end_"), {0}};

const struct field health_fields[] = {
    COUNT(card_health, link_width),        COUNT(card_health, link_width_max),
    COUNT(card_health, link_generation),   COUNT(card_health, link_generation_max),
    COUNT64(card_health, ecc_uncorrected), {0},
};

const struct field around_fields[] = {
    COUNT(surroundings, processors), REAL(surroundings, start_load),  REAL(surroundings, end_load),
    REAL(surroundings, other_share), REAL(surroundings, steal_share), {0},
};

const struct field case_fields[] = {
    TEXT(case_id, operation),
    TEXT(case_id, variant),
    WORD(case_id, kind, kind_words),
    WORD(case_id, place, place_words),
    TEXT(case_id, shape),
    WORD(case_id, temperature, temperature_words),
    {0},
};

#define OPS(column, arithmetic) FIELD(column, FIELD_REAL, case_result, work.ops[arithmetic], NULL)

const struct field result_fields[] = {
    WORD(case_result, status, status_words),
    TEXT(case_result, reason),
    TEXT(case_result, note),
    CLOCK(case_result),
    FLAG(case_result, is_baseline),
    REAL(case_result, time_ns),
    REAL(case_result, lo_ns),
    REAL(case_result, hi_ns),
    REAL(case_result, busy_ns),
    REAL(case_result, event_ns),
    REAL(case_result, wall_ns),
    REAL(case_result, first_call_ns),
    FIELD("read_bytes", FIELD_REAL, case_result, work.read_bytes, NULL),
    FIELD("write_bytes", FIELD_REAL, case_result, work.write_bytes, NULL),
    OPS("ops_fp32", ASSAY_FP32),
    OPS("ops_tf32", ASSAY_TF32),
    OPS("ops_bf16", ASSAY_BF16_OPS),
    OPS("ops_fp16", ASSAY_FP16_OPS),
    OPS("ops_int8", ASSAY_INT8_OPS),
    OPS("ops_fp64", ASSAY_FP64),
    COUNT64(case_result, workspace_bytes),
    COUNT(case_result, kernels),
    REAL(case_result, energy_mj),
    REAL(case_result, power_w),
    REAL(case_result, sm_mhz),
    REAL(case_result, temperature_c),
    BITS(case_result, clock_reasons),
    COUNT64(case_result, outputs),
    COUNT64(case_result, checked),
    REAL(case_result, max_abs_error),
    REAL(case_result, max_rel_error),
    REAL(case_result, near_share),
    TEXT(case_result, code_hash),
    COUNT(case_result, registers),
    COUNT(case_result, shared_bytes),
    COUNT(case_result, local_bytes),
    {0},
};

/* ------------------------------------------------------------- binding -- */

static void field_bind(struct query *query, const struct field *field, const void *at)
{
    char name[64];
    snprintf(name, sizeof name, ":%s", field->column);
    switch (field->type) {
    case FIELD_TEXT:
    case FIELD_LINES:
        query_text(query, name, at);
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
    for (const struct field *field = fields; field->column; field++)
        field_bind(query, field, (const char *)base + field->offset);
}

static void word_read(struct query *query, const struct field *field, int32_t *at)
{
    char word[ASSAY_MAX_NAME];
    column_text(query, field->column, word, sizeof word);
    if (query->rc != SQLITE_OK) return;
    *at = words_find(field->words, word);
    if (*at >= 0 || (!*word && field->type == FIELD_SOME_WORD)) return;
    query_refuse(query, "'%s' is no %s that this version knows", word, field->words->what);
}

static void field_read(struct query *query, const struct field *field, void *at)
{
    switch (field->type) {
    case FIELD_TEXT:
        column_text(query, field->column, at, field->size);
        break;
    case FIELD_LINES:
        column_lines(query, field->column, at, field->size);
        break;
    case FIELD_REAL:
        *(double *)at = column_real(query, field->column);
        break;
    case FIELD_COUNT:
        *(int32_t *)at = (int32_t)column_count(query, field->column);
        break;
    case FIELD_COUNT64:
        *(int64_t *)at = column_count(query, field->column);
        break;
    case FIELD_BITS:
        *(uint64_t *)at = (uint64_t)column_integer(query, field->column);
        break;
    case FIELD_FLAG:
        *(bool *)at = column_integer(query, field->column) != 0;
        break;
    case FIELD_WORD:
    case FIELD_SOME_WORD:
        word_read(query, field, at);
        break;
    }
}

void fields_read(struct query *query, const struct field *fields, void *base)
{
    for (const struct field *field = fields; field->column; field++)
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
    for (const struct field *field = fields; field->column; field++) {
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

void row_open(struct query *query, struct store *store, const char *purpose, const char *table,
              const char *conflict)
{
    struct query columns;
    sqlite3_str *names = sqlite3_str_new(NULL), *values = sqlite3_str_new(NULL);
    const char *comma = "";
    query_ask(&columns, store, "read the schema",
              "SELECT name FROM pragma_table_info(:key) ORDER BY cid", table);
    for (; query_step(&columns) == 1; comma = ", ") {
        const char *name = (const char *)sqlite3_column_text(columns.statement, 0);
        sqlite3_str_appendf(names, "%s%s", comma, name);
        sqlite3_str_appendf(values, "%s:%s", comma, name);
    }
    char *of = sqlite3_str_finish(names), *what = sqlite3_str_finish(values);
    char *sql = sqlite3_mprintf("INSERT INTO %s (%s) VALUES (%s) %s", table, of, what, conflict);
    if (query_close(&columns) == 0 && !sql) query_refuse(&columns, "out of memory");
    *query = (struct query){.store = store, .purpose = purpose, .rc = columns.rc};
    if (columns.rc == SQLITE_OK) query_open(query, store, purpose, sql);
    sqlite3_free(of);
    sqlite3_free(what);
    sqlite3_free(sql);
}
