#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "case/case_name.h"
#include "case/registry.h"
#include "judge/timings.h"
#include "plot/plot_rows.h"

bool plot_takes(const struct plot_request *request, const struct case_id *id)
{
    char rest[RESULT_MAX_SHAPE + 16];
    if (request->operation && strcmp(request->operation, id->operation) != 0) return false;
    if (!case_matches(request->cases, id)) return false;
    snprintf(rest, sizeof rest, "%s%s%s", id->shape, id->shape[0] ? " " : "",
             temperature_name(id->temperature));
    return !request->only || text_glob(request->only, rest);
}

bool plot_row_taken(const struct plot_request *request, const struct view_row *row)
{
    return status_has_time(row->result.status) && row->result.time_ns > 0 && !row->is_ceiling &&
           plot_takes(request, &row->result.id);
}

static double row_work(const struct view_row *row)
{
    return view_bytes(&row->result.work) + view_ops(&row->result.work);
}

int plot_keep_group(const struct view_row **row, int count, double widest)
{
    int best = 0, best_end = 0, best_near = 0;
    double best_work = 0;
    for (int from = 0, to; from < count; from = to) {
        int near = 0;
        double work = 0;
        for (to = from; to < count && row[to]->group == row[from]->group; to++) {
            /* The first is the fastest, as rows of a group are by time. */
            if (row[to]->result.time_ns > widest * row[from]->result.time_ns) continue;
            near++;
            work = row_work(row[to]);
        }
        if (near < best_near || (near == best_near && work <= best_work)) continue;
        best = from;
        best_end = to;
        best_near = near;
        best_work = work;
    }
    memmove(row, row + best, (size_t)(best_end - best) * sizeof *row);
    return best_end - best;
}

const char *plot_pair(const char *shape, int index, int *length)
{
    for (shape += strspn(shape, " "); index > 0 && *shape; index--) {
        shape += strcspn(shape, " ");
        shape += strspn(shape, " ");
    }
    *length = (int)strcspn(shape, " ");
    return *length ? shape : NULL;
}

bool plot_pair_is_size(const char *pair, int length)
{
    const char *value = memchr(pair, '=', (size_t)length);
    int digits = value ? (int)strspn(value + 1, "0123456789") : 0;
    return digits > 0 && value + 1 + digits == pair + length;
}

/* Whether a pair ("data=gaussian") is of a dim that is named in `names`. */
static bool is_named(const char *pair, const char *names)
{
    size_t length = strcspn(pair, "= ");
    for (; names && *names; names += strcspn(names, " "), names += strspn(names, " "))
        if (strcspn(names, " ") == length && !strncmp(names, pair, length)) return true;
    return false;
}

/* Where the program lacks the operation, any dim may say what data goes in. */
void plot_task_of(const struct case_id *id, char out[RESULT_MAX_SHAPE])
{
    const struct assay_operation *operation = registry_operation(id->operation);
    int length;
    const char *pair;
    out[0] = '\0';
    for (int i = 0; (pair = plot_pair(id->shape, i, &length)); i++)
        if (!operation || plot_pair_is_size(pair, length) || is_named(pair, operation->data_dims))
            text_add(out, RESULT_MAX_SHAPE, " ", "%.*s", length, pair);
}

struct task {
    char pairs[RESULT_MAX_SHAPE];
    int32_t temperature; /* enum assay_temperature */
    int cases;
    double bytes; /* of the first */
};

/* The entry of the row's task in `list`, which ends with an empty entry. */
static struct task *task_of(struct task *list, const struct view_row *row)
{
    char pairs[RESULT_MAX_SHAPE];
    plot_task_of(&row->result.id, pairs);
    while (list->cases &&
           (strcmp(list->pairs, pairs) != 0 || list->temperature != row->result.id.temperature))
        list++;
    if (!list->cases) {
        memcpy(list->pairs, pairs, sizeof pairs);
        list->temperature = row->result.id.temperature;
        list->bytes = view_bytes(&row->result.work);
    }
    return list;
}

int plot_keep_task(const struct view_row **row, int count)
{
    int kept = 0;
    struct task *list = calloc((size_t)count + 1, sizeof *list), *best = list;
    if (!list) return assay_error("out of memory for the tasks");
    for (int i = 0; i < count; i++)
        task_of(list, row[i])->cases++;
    for (struct task *t = list; t->cases; t++)
        if (t->cases > best->cases || (t->cases == best->cases && t->bytes > best->bytes)) best = t;
    for (int i = 0; i < count; i++)
        if (task_of(list, row[i]) == best) row[kept++] = row[i];
    free(list);
    return kept;
}

/* Whether one of the pairs of a shape that are in `mask` is this one. */
static bool has_pair(const char *shape, unsigned mask, const char *pair, int length)
{
    int other;
    const char *found;
    for (int i = 0; i < 32 && (found = plot_pair(shape, i, &other)); i++)
        if (mask >> i & 1 && other == length && !strncmp(found, pair, (size_t)length)) return true;
    return false;
}

void plot_common_add(struct plot_common *common, const struct case_id *id)
{
    int length;
    const char *pair;
    if (!common->first) *common = (struct plot_common){id, true, true, true, ~0u};
    const struct case_id *first = common->first;
    common->operation &= !strcmp(first->operation, id->operation);
    common->variant &= !strcmp(first->variant, id->variant);
    common->temperature &= first->temperature == id->temperature;
    for (int i = 0; i < 32 && (pair = plot_pair(first->shape, i, &length)); i++)
        if (!has_pair(id->shape, ~0u, pair, length)) common->pairs &= ~(1u << i);
}

/* The words of `id` that are in common, or those that are not. */
static void words(const struct plot_common *common, const struct case_id *id, bool shared,
                  char *out, size_t size)
{
    int length;
    const char *pair;
    bool operation = common->operation == shared, variant = common->variant == shared;
    snprintf(out, size, "%s%s%s", operation ? id->operation : "", operation && variant ? "/" : "",
             variant ? id->variant : "");
    for (int i = 0; (pair = plot_pair(id->shape, i, &length)); i++)
        if (has_pair(common->first->shape, common->pairs, pair, length) == shared)
            text_add(out, size, " ", "%.*s", length, pair);
    if (common->temperature == shared)
        text_add(out, size, " ", "%s", temperature_name(id->temperature));
}

void plot_common_text(const struct plot_common *common, char out[PLOT_MAX_COMMON])
{
    out[0] = '\0';
    if (common->first) words(common, common->first, true, out, PLOT_MAX_COMMON);
}

void plot_common_rest(const struct plot_common *common, const struct case_id *id,
                      char out[PLOT_MAX_NAME])
{
    char all[RESULT_MAX_SHAPE + 3 * ASSAY_MAX_NAME];
    words(common, id, false, all, sizeof all);
    if (!all[0]) snprintf(all, sizeof all, "%s/%s", id->operation, id->variant);
    if (text_copy(out, PLOT_MAX_NAME, all) != 0) {
        text_copy(out, PLOT_MAX_NAME - 3, all);
        strcat(out, "...");
    }
}
