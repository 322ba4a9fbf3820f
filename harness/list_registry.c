/* list_registry.c - the operations and variants that are built in. */
#include <stdio.h>
#include <string.h>

#include "json_member.h"
#include "list.h"
#include "registry.h"
#include "result.h"
#include "shape.h"
#include "table.h"
#include "terminal.h"

/* ------------------------------------------------------------ operations -- */

static void fallback_text(const struct assay_dim *dim, char *out, size_t size)
{
    if (dim->choices)
        snprintf(out, size, "%s", dim->choices[dim->fallback]);
    else
        snprintf(out, size, "%lld", (long long)dim->fallback);
}

static void write_dim(struct json *json, const struct assay_dim *dim)
{
    json_begin_object(json);
    json_text_member(json, "name", dim->name);
    json_text_member(json, "summary", dim->summary);
    json_key(json, "default");
    if (dim->choices) {
        json_string(json, dim->choices[dim->fallback]);
        json_key(json, "choices");
        json_begin_array(json);
        for (int i = 0; dim->choices[i]; i++)
            json_string(json, dim->choices[i]);
        json_end(json);
    } else {
        int64_t min, max;
        shape_range(dim, &min, &max);
        json_int(json, dim->fallback);
        json_int_member(json, "min", min);
        json_int_member(json, "max", max);
    }
    json_end(json);
}

static void write_operation(struct json *json, const struct assay_operation *operation)
{
    json_begin_object(json);
    json_text_member(json, "operation", operation->name);
    json_text_member(json, "summary", operation->summary);
    json_key(json, "dims");
    json_begin_array(json);
    for (int i = 0; i < shape_dims(operation); i++)
        write_dim(json, &operation->dims[i]);
    json_end(json);
    json_end(json);
}

/* What a dim takes, for people: "a size, the elements" or "fp32|bf16". */
static void tabulate_dim(struct table *table, const struct assay_dim *dim)
{
    char fallback[ASSAY_MAX_NAME], takes[256] = "";
    fallback_text(dim, fallback, sizeof fallback);
    for (int i = 0; dim->choices && dim->choices[i]; i++) {
        size_t used = strlen(takes);
        snprintf(takes + used, sizeof takes - used, "%s%s", i ? "|" : "", dim->choices[i]);
    }
    table_cell(table, "  %s", dim->name);
    table_cell(table, "%s", fallback);
    table_cell(table, "%s%s%s", takes, *takes ? ": " : "", dim->summary);
}

int list_operations(struct json *json, const char *database)
{
    static const char *const headings[] = {"operation, its dims", "default", "what it is"};
    const struct assay_operation *const *operations;
    int count = registry_operations(&operations);
    struct table table;
    (void)database;
    table_init(&table, headings, 3);
    for (int i = 0; i < count; i++) {
        if (json) {
            write_operation(json, operations[i]);
            continue;
        }
        table_cell(&table, "%s", operations[i]->name);
        table_cell(&table, "%s", "");
        table_cell(&table, "%s", operations[i]->summary);
        for (int j = 0; j < shape_dims(operations[i]); j++)
            tabulate_dim(&table, &operations[i]->dims[j]);
    }
    int failed = json ? 0 : table_print(&table, stdout, terminal_columns());
    table_release(&table);
    return failed;
}

/* -------------------------------------------------------------- variants -- */

static void write_variant(struct json *json, const struct assay_variant *variant)
{
    json_begin_object(json);
    json_text_member(json, "operation", variant->operation);
    json_text_member(json, "variant", variant->name);
    json_text_member(json, "kind", kind_name(variant->kind));
    json_text_member(json, "device", place_name(variant->place));
    json_text_member(json, "summary", variant->summary);
    /* Compute capability x 10, null for any. */
    json_count_member(json, "min_sm", variant->min_sm ? variant->min_sm : -1);
    json_count_member(json, "max_sm", variant->max_sm ? variant->max_sm : -1);
    json_end(json);
}

int list_variants(struct json *json, const char *database)
{
    static const char *const headings[] = {"operation", "variant", "kind", "device", "summary"};
    const struct assay_operation *const *operations;
    int count = registry_operations(&operations);
    struct table table;
    (void)database;
    table_init(&table, headings, 5);
    for (int i = 0; i < count; i++) {
        const struct assay_variant *variants[REGISTRY_MAX_VARIANTS];
        int found = registry_variants(operations[i]->name, variants, REGISTRY_MAX_VARIANTS);
        for (int j = 0; j < found; j++) {
            if (json) {
                write_variant(json, variants[j]);
                continue;
            }
            table_cell(&table, "%s", variants[j]->operation);
            table_cell(&table, "%s", variants[j]->name);
            table_cell(&table, "%s", kind_name(variants[j]->kind));
            table_cell(&table, "%s", place_name(variants[j]->place));
            table_cell(&table, "%s", variants[j]->summary);
        }
    }
    int failed = json ? 0 : table_print(&table, stdout, terminal_columns());
    table_release(&table);
    return failed;
}
