#include "judge/comparison.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "judge/timings.h"

const char *evidence_name(enum evidence evidence)
{
    static const char *const names[EVIDENCES] = {"none", "samples", "range", "launches"};
    return names[evidence];
}

void comparison_note(struct comparison *comparison, const char *format, ...)
{
    char text[COMPARISON_NOTE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (int i = 0; i < comparison->note_count; i++)
        if (strcmp(comparison->note[i], text) == 0) return;
    if (comparison->note_count < COMPARISON_NOTES)
        strcpy(comparison->note[comparison->note_count++], text);
}

void comparison_side_of(struct comparison_side *side, const struct stored_run *run)
{
    text_copy(side->id, sizeof side->id, run->run.id);
    text_copy(side->suite, sizeof side->suite, run->run.suite);
    text_copy(side->label, sizeof side->label, run->run.label);
    text_copy(side->version, sizeof side->version, run->program.version);
    text_copy(side->commit, sizeof side->commit, run->program.commit);
    text_copy(side->diff_hash, sizeof side->diff_hash, run->program.diff_hash);
    text_copy(side->started_at, sizeof side->started_at, run->started_at);
    side->launches = run->launch_count;
    side->simulated = run->run.simulated;
    if (run->launch_count == 0) return;
    const struct device_info *device = &run->launches[0].device;
    text_copy(side->device, sizeof side->device, device->name);
    text_copy(side->uuid, sizeof side->uuid, device->uuid);
    text_copy(side->driver, sizeof side->driver, device->driver);
}

/* Order by verdict, then by size of the change. */
static int worst_first(const void *a, const void *b)
{
    const struct comparison_row *x = a, *y = b;
    if (x->verdict != y->verdict) return x->verdict < y->verdict ? -1 : 1;
    double change_x = isnan(x->ratio.mid) ? 0 : fabs(log(x->ratio.mid));
    double change_y = isnan(y->ratio.mid) ? 0 : fabs(log(y->ratio.mid));
    if (change_x != change_y) return change_x > change_y ? -1 : 1;
    return case_id_order(&x->id, &y->id);
}

static int by_operation(const void *a, const void *b)
{
    const struct comparison_family *x = a, *y = b;
    return strcmp(x->operation, y->operation);
}

/* Geometric mean per operation; until the end `ratio` holds the sum of logarithms. */
static int make_families(struct comparison *comparison)
{
    free(comparison->families);
    comparison->family_count = 0;
    comparison->families = calloc((size_t)comparison->count + 1, sizeof *comparison->families);
    if (!comparison->families) return assay_error("out of memory for the families");
    struct comparison_family *family = comparison->families;
    int count = 0;
    for (int i = 0; i < comparison->count; i++) {
        const struct comparison_row *row = &comparison->rows[i];
        if (isnan(row->ratio.mid)) continue;
        strcpy(family[count].operation, row->id.operation);
        family[count++].ratio = log(row->ratio.mid);
    }
    qsort(family, (size_t)count, sizeof *family, by_operation);
    for (int i = 0; i < count; i++) {
        struct comparison_family *to = &family[comparison->family_count - 1];
        if (i == 0 || strcmp(to->operation, family[i].operation) != 0) {
            to = &family[comparison->family_count++];
            *to = family[i];
            to->cases = 1;
        } else {
            to->ratio += family[i].ratio;
            to->cases++;
        }
    }
    for (int i = 0; i < comparison->family_count; i++)
        family[i].ratio = exp(family[i].ratio / family[i].cases);
    return 0;
}

bool comparison_has_common_case(const struct comparison *comparison)
{
    for (int i = 0; i < comparison->count; i++)
        if (comparison->rows[i].verdict != VERDICT_NEW &&
            comparison->rows[i].verdict != VERDICT_MISSING)
            return true;
    return false;
}

static int by_variant(const void *a, const void *b)
{
    const struct case_id *x = &(*(struct comparison_row *const *)a)->id;
    const struct case_id *y = &(*(struct comparison_row *const *)b)->id;
    int order = strcmp(x->operation, y->operation);
    return order ? order : strcmp(x->variant, y->variant);
}

/* `rows` are all rows of one variant. */
static void mark(struct comparison_row **rows, int count)
{
    bool differ = false;
    for (int i = 1; i < count; i++)
        differ |= rows[i]->id.place != rows[0]->id.place;
    for (int i = 0; i < count; i++)
        rows[i]->names_place = differ;
}

/* Set names_place of every row: whether its variant ran on host and on CUDA. */
static int mark_places(struct comparison *comparison)
{
    struct comparison_row **rows = calloc((size_t)comparison->count + 1, sizeof(*rows));
    if (!rows) return assay_error("out of memory for the rows");
    for (int i = 0; i < comparison->count; i++)
        rows[i] = &comparison->rows[i];
    qsort(rows, (size_t)comparison->count, sizeof(*rows), by_variant);
    for (int begin = 0, end; begin < comparison->count; begin = end) {
        end = begin + 1;
        while (end < comparison->count && by_variant(&rows[begin], &rows[end]) == 0)
            end++;
        mark(rows + begin, end - begin);
    }
    free(rows);
    return 0;
}

int comparison_finish(struct comparison *comparison, unsigned fail_on)
{
    int blocking[VERDICTS] = {0};
    memset(comparison->counts, 0, sizeof comparison->counts);
    for (int i = 0; i < comparison->count; i++) {
        const struct comparison_row *row = &comparison->rows[i];
        comparison->counts[row->verdict]++;
        bool blocks = !(row->tags & TAG_ACK);
        if (row->verdict == VERDICT_SUSPECT && (row->tags & TAG_FASTER)) blocks = false;
        blocking[row->verdict] += blocks;
    }
    comparison->exit = verdict_exit(blocking, comparison->counts, fail_on);
    if (comparison->count)
        qsort(comparison->rows, (size_t)comparison->count, sizeof *comparison->rows, worst_first);
    if (mark_places(comparison) != 0) return -1;
    return make_families(comparison);
}

void comparison_release(struct comparison *comparison)
{
    free(comparison->rows);
    free(comparison->families);
    comparison->rows = NULL;
    comparison->families = NULL;
    comparison->count = comparison->family_count = 0;
}

/* ---------------------------------------------------------------- words -- */

void comparison_ratio_text(const struct comparison_row *row, char *out, size_t size)
{
    if (isnan(row->ratio.mid))
        snprintf(out, size, "-");
    else if (isnan(row->ratio.lo))
        snprintf(out, size, "%.3fx", row->ratio.mid);
    else
        snprintf(out, size, "%.3fx [%.3f, %.3f]", row->ratio.mid, row->ratio.lo, row->ratio.hi);
}

void comparison_row_text(const struct comparison_row *row, char out[CASE_TEXT])
{
    case_text(&row->id, out);
    size_t used = strlen(out);
    if (row->names_place)
        snprintf(out + used, CASE_TEXT - used, " %s", place_name((enum assay_place)row->id.place));
}
