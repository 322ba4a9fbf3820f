#include <math.h>
#include <string.h>

#include "base/text.h"
#include "plot/plot_data.h"
#include "plot/plot_rows.h"

bool plot_row_taken(const struct plot_request *request, const struct view_row *row)
{
    return row->result.status == STATUS_OK && row->result.time_ns > 0 && !row->is_ceiling &&
           plot_takes(request, &row->result.id);
}

static bool is_same_case(const struct case_id *a, const struct case_id *b)
{
    return a->temperature == b->temperature && a->place == b->place &&
           !strcmp(a->operation, b->operation) && !strcmp(a->variant, b->variant) &&
           !strcmp(a->shape, b->shape);
}

int plot_row_find(const struct view *view, const struct case_id *id)
{
    for (int i = 0; i < view->count; i++)
        if (is_same_case(&view->rows[i].result.id, id)) return i;
    return -1;
}

static double row_work(const struct view_row *row)
{
    return view_bytes(&row->result.work) + view_ops(&row->result.work);
}

int plot_row_group(const struct plot_request *request, const struct view *view, double widest)
{
    int best = -1, best_rows = 0;
    double best_work = 0;
    for (int from = 0, to; from < view->count; from = to) {
        int rows = 0;
        double work = 0, fastest = INFINITY; /* rows of a group are by time */
        for (to = from; to < view->count && view->rows[to].group == view->rows[from].group; to++) {
            const struct view_row *row = &view->rows[to];
            if (!plot_row_taken(request, row)) continue;
            fastest = fmin(fastest, row->result.time_ns);
            if (row->result.time_ns > widest * fastest) continue;
            rows++;
            work = row_work(row);
        }
        if (rows > best_rows || (rows == best_rows && rows > 0 && work > best_work)) {
            best = view->rows[from].group;
            best_rows = rows;
            best_work = work;
        }
    }
    return best;
}

/* ------------------------------------------------------------------- names -- */

/* Pair `index` of a shape, its length in *length; NULL after the last. */
static const char *pair_at(const char *shape, int index, int *length)
{
    for (shape += strspn(shape, " "); index > 0 && *shape; index--) {
        shape += strcspn(shape, " ");
        shape += strspn(shape, " ");
    }
    *length = (int)strcspn(shape, " ");
    return *length ? shape : NULL;
}

static bool has_pair(const char *shape, const char *pair, int length)
{
    int other;
    const char *found;
    for (int i = 0; (found = pair_at(shape, i, &other)); i++)
        if (other == length && !strncmp(found, pair, (size_t)length)) return true;
    return false;
}

static void common_begin(struct plot_common *common, const struct case_id *id)
{
    *common = (struct plot_common){id, true, true, true, ~0u};
}

void plot_common_add(struct plot_common *common, const struct case_id *id)
{
    int length;
    const char *pair;
    if (!common->first) common_begin(common, id);
    const struct case_id *first = common->first;
    common->operation &= !strcmp(first->operation, id->operation);
    common->variant &= !strcmp(first->variant, id->variant);
    common->temperature &= first->temperature == id->temperature;
    for (int i = 0; i < 32 && (pair = pair_at(first->shape, i, &length)); i++)
        if (!has_pair(id->shape, pair, length)) common->pairs &= ~(1u << i);
}

static void add_word(char *out, size_t size, const char *word, int length)
{
    size_t used = strlen(out);
    snprintf(out + used, size - used, "%s%.*s", used ? " " : "", length, word);
}

static bool is_common_pair(const struct plot_common *common, const char *pair, int length)
{
    int other;
    const char *found;
    for (int i = 0; i < 32 && (found = pair_at(common->first->shape, i, &other)); i++)
        if (common->pairs >> i & 1 && other == length && !strncmp(found, pair, (size_t)length))
            return true;
    return false;
}

/* The words of `id` that are in common, or those that are not. */
static void words(const struct plot_common *common, const struct case_id *id, bool shared,
                  char *out, size_t size)
{
    char name[2 * ASSAY_MAX_NAME];
    int length;
    const char *pair;
    bool operation = common->operation == shared, variant = common->variant == shared;
    out[0] = '\0';
    snprintf(name, sizeof name, "%s%s%s", operation ? id->operation : "",
             operation && variant ? "/" : "", variant ? id->variant : "");
    if (name[0]) add_word(out, size, name, (int)strlen(name));
    for (int i = 0; (pair = pair_at(id->shape, i, &length)); i++)
        if (is_common_pair(common, pair, length) == shared) add_word(out, size, pair, length);
    const char *temperature = temperature_name((enum assay_temperature)id->temperature);
    if (common->temperature == shared) add_word(out, size, temperature, (int)strlen(temperature));
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
